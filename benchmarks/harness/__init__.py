"""The side-by-side benchmark that ``benchmarks/run.py`` runs: data, methods, measurement, tables."""
