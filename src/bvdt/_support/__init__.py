"""What every room may use: array types, checked integers, threads, seeds, progress, memory, whole files."""
