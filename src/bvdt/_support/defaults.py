"""Defaults that Python, the shell and Dask share; docs/reference/interface.md has their table.

Chosen by the mean accuracy over eleven data sets, 1 to 10 labels per class (benchmarks/defaults.py).
"""

from __future__ import annotations

DIVERGENCE = "squared_euclidean"  # takes any finite numbers
N_NEIGHBORS = 15
N_TREES = 1
ALPHA = 0.9
BLEND = "auto"
TEXT_DIVERGENCE = "cosine"  # of tf-idf
TEXT_TREES = 2
