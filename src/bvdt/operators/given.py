"""The near field of neighbor lists made elsewhere, and the walk over a graph alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from .._support.arrays import Int
from ..lifting import Lifted, pair_divergences
from ..neighbors import NeighborLists
from .near_field import NearField, near_weights


def given_near_field(lifted: Lifted, neighbors: Any, n_jobs: int | None) -> NearField:
    """That of lists made elsewhere: only their indices are read, the divergences are those of the points."""
    lists = NeighborLists.of(neighbors, lifted.n_points).warn_of_repeats()
    if len(lists.empty):
        warnings.warn(
            f"neighbors lists no point in {len(lists.empty)} of {lists.n_points} rows, first in row "
            f"{lists.empty[0]}: these follow the tree alone",
            UserWarning,
            stacklevel=4,
        )
    return listed_near_field(lifted, lists.indices, n_jobs)


def listed_near_field(lifted: Lifted, indices: Int, n_jobs: int | None) -> NearField:
    """That of the centers listed, −1 for none, with the divergences of the points."""
    missing = indices < 0
    row = np.repeat(np.arange(len(indices), dtype=np.int32), indices.shape[1])
    d = pair_divergences(lifted, lifted, row, np.maximum(indices, 0).ravel(), n_jobs)
    d = np.where(missing | np.isnan(d).reshape(missing.shape), np.inf, d.reshape(missing.shape))
    order = np.lexsort((d, missing), axis=1)  # of equal divergences the smaller index comes first
    indices, d = np.take_along_axis(indices, order, 1), np.take_along_axis(d, order, 1)
    return NearField(indices, d, lifted=None if lifted.is_sparse or lifted.is_mixed else lifted)


def graph_walk(neighbors: Any) -> sparse.csr_array:  # (N, N)
    """The walk S_ij ∝ exp(−d_ij/β_i) over given distances d alone with λ = 1 (theory: Near and far field)."""
    lists = NeighborLists.of(neighbors).warn_of_repeats()
    if lists.distances is None:
        raise ValueError(
            "neighbors needs distances where there is no X: (indices, distances), or a sparse graph of them"
        )
    if len(lists.empty):
        raise ValueError(
            f"neighbors needs another point in every row where there is no X; row {lists.empty[0]} has none"
        )
    found, first = lists.indices >= 0, np.zeros(lists.n_points + 1, np.int64)
    np.cumsum(found.sum(axis=1), out=first[1:])
    weight = near_weights(lists.distances)
    return sparse.csr_array((weight[found], lists.indices[found], first), shape=(lists.n_points,) * 2)
