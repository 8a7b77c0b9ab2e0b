"""Clusters put in order and described by their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def by_size(labels: ArrayLike) -> NDArray[np.intp]:  # (N,)
    """Cluster numbers from 1, the largest first."""
    _, code, count = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(len(count), np.intp)
    rank[np.argsort(-count, kind="stable")] = np.arange(1, len(count) + 1)
    return np.asarray(rank[code])


def heaviest_terms(X: Any, number: NDArray[np.intp], names: Sequence[str], n: int = 5) -> list[list[str]]:
    """Of each cluster, numbered from 1, up to n terms of largest mean weight in the rows of X (N, d)."""
    found = []
    for k in range(1, int(number.max()) + 1):
        mean = np.asarray(X[np.flatnonzero(number == k)].mean(axis=0)).ravel()
        found.append([names[j] for j in np.argsort(-mean, kind="stable")[:n] if mean[j] > 0])
    return found
