"""For every package: array types, checked integers, threads, seeds, progress, memory, whole files."""
