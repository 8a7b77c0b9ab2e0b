"""Neighbor lists made elsewhere (faiss, hnswlib, pynndescent, scikit-learn), checked and in one form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .._support import memory
from .._support.arrays import Float, Index, Int, Integers, Long
from .._support.sparse import Sparse, is_sparse
from ..lifting import check_readable

_FORMS = "an integer array (N, k), a tuple (indices, distances), or a sparse matrix of distances (N, N)"
_ROUNDING = 1e-6  # of the largest distance: how far below 0 float32 may round one, as 1 − cosine does


@dataclass(frozen=True, eq=False)
class NeighborLists:
    """Every point's neighbors without itself, each once, by index; −1 and +∞ at the end of short rows."""

    indices: Int  # (N, k)
    distances: Float | None  # (N, k), as they were given
    width: int  # places of a list as given; the point's own is not counted where most lists have it
    repeated: Index  # (r, 2) row and index of every entry that its row had before: left out

    @classmethod
    def of(cls, neighbors: object, n_points: int | None = None) -> NeighborLists:
        """From index arrays, with distances or without, or a sparse graph of distances; n_points, if known.

        −1, or the largest value of an unsigned type, stands for none.
        """
        if isinstance(neighbors, NeighborLists):
            return neighbors
        raw, distances = _arrays(neighbors)
        indices = _checked_indices(raw, n_points)
        n = len(indices)
        own = indices == np.arange(n)[:, None]
        width = own.shape[1] - bool(2 * own.any(axis=1).sum() > n)
        indices = np.where(own | (indices < 0), n, indices)  # missing entries come last
        indices, distances = _by_index(indices, distances)
        again = np.zeros(indices.shape, bool)
        again[:, 1:] = (indices[:, 1:] == indices[:, :-1]) & (indices[:, 1:] < n)
        row, place = np.nonzero(again)
        repeated = np.stack([row, indices[row, place]], axis=1)
        if len(repeated):
            indices[again] = n
            indices, distances = _by_index(indices, distances)
        k = int((indices < n).sum(axis=1).max())
        if k == 0:
            raise ValueError(
                "neighbors needs other points in its lists; they hold −1 and the points themselves"
            )
        found = np.where(indices < n, indices, -1)[:, :k].astype(np.int32)
        distances = None if distances is None else _checked_distances(distances[:, :k], found)
        return cls(found, distances, width, repeated)

    @property
    def n_points(self) -> int:
        return len(self.indices)

    @property
    def empty(self) -> Index:
        """Rows that are empty."""
        return np.flatnonzero(self.indices[:, 0] < 0)

    def warn_of_repeats(self) -> NeighborLists:
        """These lists; a warning where some held a point twice."""
        if len(self.repeated):
            row, index = self.repeated[0]
            warnings.warn(
                f"neighbors lists {len(self.repeated)} points more than once, row {row} point {index}: "
                "each counts once",
                UserWarning,
                stacklevel=4,
            )
        return self


def _arrays(neighbors: object) -> tuple[Integers, Float | None]:  # (N, k) ×2
    """Indices, of any type, and distances as numbers."""
    if is_sparse(neighbors):
        return _rows_of(neighbors)
    indices, distances = (
        neighbors if isinstance(neighbors, tuple) and len(neighbors) == 2 else (neighbors, None)
    )
    try:
        indices = np.asarray(indices)
        distances = None if distances is None else np.asarray(distances)
    except ValueError:
        raise ValueError("neighbors needs lists of one length; −1 fills short ones up") from None
    if indices.dtype.kind == "f" and indices.ndim == 2:
        hint = "kneighbors of scikit-learn and search of faiss give (distances, indices): turn them around"
        raise ValueError(f"neighbors needs integers as indices; their type is {indices.dtype} ({hint})")
    if indices.dtype.kind not in "iu" or indices.ndim != 2 or 0 in indices.shape:
        raise ValueError(f"neighbors needs {_FORMS}; got {_described(neighbors, indices)}")
    if distances is None:
        return indices, None
    if distances.shape != indices.shape or distances.dtype.kind not in "iuf":
        raise ValueError(
            f"neighbors needs real distances of the indices' shape, {indices.shape}; they are "
            f"{distances.dtype} of shape {distances.shape}"
        )
    return indices, distances.astype(np.float64)


def _described(neighbors: object, indices: Integers) -> str:
    if indices.dtype.kind in "iu":
        return f"shape {indices.shape}"
    return f"{type(neighbors).__name__} of {indices.dtype}"


def _rows_of(graph: Sparse) -> tuple[Integers, Float]:  # (N, k) ×2
    """Each row's stored entries side by side, zeros among them; −1 after the last."""
    check_readable(graph)
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise ValueError(f"neighbors needs a square graph; its shape is {graph.shape}")
    if graph.dtype.kind not in "biuf":
        raise ValueError(f"neighbors needs real distances; their type is {graph.dtype}")
    entries = sparse.coo_array(graph)
    order = np.argsort(entries.row, kind="stable")
    row, column, distance = entries.row[order], entries.col[order], entries.data[order]
    counts = np.bincount(row, minlength=graph.shape[0])
    shape = graph.shape[0], max(int(counts.max(initial=0)), 1)
    memory.require(
        64.0 * shape[0] * shape[1], f"a graph of {shape[0]} points with up to {shape[1]} neighbors"
    )
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    indices, distances = np.full(shape, -1, np.int64), np.full(shape, np.inf)
    indices[row, place], distances[row, place] = column, distance
    return indices, distances


def _checked_indices(indices: Integers, n_points: int | None) -> Long:  # (N, k)
    n = len(indices)
    if n_points is not None and n != n_points:
        raise ValueError(f"neighbors needs one list per point, {n_points}; it has {n}")
    if n < 2:
        raise ValueError(f"neighbors needs at least 2 points; it has {n}")
    largest = np.iinfo(indices.dtype).max
    none = indices == (largest if indices.dtype.kind == "u" and largest >= n else -1)
    outside = ~none & ((indices < 0) | (indices >= n))
    if outside.any():
        row, place = (int(part) for part in np.argwhere(outside)[0])
        raise ValueError(
            f"neighbors needs indices from 0 to {n - 1}, or −1 for none; "
            f"row {row} lists {indices[row, place]}"
        )
    return np.where(none, -1, indices.astype(np.int64))


def _by_index(indices: Long, distances: Float | None) -> tuple[Long, Float | None]:
    """Each row's entries ascending by index; of equal ones the first given stays first."""
    order = np.argsort(indices, axis=1, kind="stable")
    there = None if distances is None else np.take_along_axis(distances, order, axis=1)
    return np.take_along_axis(indices, order, axis=1), there


def _checked_distances(distances: Float, indices: Int) -> Float:  # (N, k)
    """Finite and ≥ 0, but +∞ where none is listed; what is no more below 0 than rounding is 0."""
    found = indices >= 0
    largest = np.max(np.abs(distances), initial=0.0, where=found & np.isfinite(distances))
    bad = found & ~(np.isfinite(distances) & (distances >= -_ROUNDING * largest))
    if bad.any():
        row, place = (int(part) for part in np.argwhere(bad)[0])
        raise ValueError(
            f"neighbors needs finite distances ≥ 0; that of row {row} to {indices[row, place]} is "
            f"{distances[row, place]:g}"
        )
    return np.where(found, np.maximum(distances, 0.0), np.inf)
