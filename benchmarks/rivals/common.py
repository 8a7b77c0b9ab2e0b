"""What every method shares: the data, tf-idf, and label spreading on a 10-NN graph. NumPy and SciPy only."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

K = 10  # neighbours of a point, itself not counted
THREADS = int(os.environ.get("BENCH_THREADS", "2"))
ALPHA, TOL, MOST_STEPS = 0.9, 1e-4, 300


@dataclass(frozen=True)
class Data:
    """Points, dense or CSR, and their classes with −1 for those that are to be found."""

    X: Any  # (N, d)
    labels: np.ndarray  # (N,)

    @property
    def n_classes(self) -> int:
        return int(self.labels.max()) + 1

    def one_hot(self) -> np.ndarray:  # (N, n_classes)
        """1 at the class of every labelled point, 0 elsewhere."""
        Y0 = np.zeros((len(self.labels), self.n_classes))
        known = np.flatnonzero(self.labels >= 0)
        Y0[known, self.labels[known]] = 1.0
        return Y0

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "labels.npy", self.labels)
        if not sparse.issparse(self.X):
            np.save(folder / "X.npy", self.X)
            return
        for part in ("data", "indices", "indptr"):
            np.save(folder / f"{part}.npy", getattr(self.X, part))
        np.save(folder / "shape.npy", self.X.shape)

    @classmethod
    def load(cls, folder: Path) -> Data:
        labels = np.load(folder / "labels.npy")
        if (folder / "X.npy").exists():
            return cls(np.load(folder / "X.npy"), labels)
        data, indices, indptr, shape = (
            np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr", "shape")
        )
        return cls(sparse.csr_array((data, indices, indptr), shape=tuple(shape)), labels)


def tf_idf(counts: Any) -> Any:
    """Sublinear tf-idf, smoothed idf, rows of length 1: what scikit-learn's TfidfTransformer computes."""
    n_points, n_terms = counts.shape
    frequency = np.bincount(counts.indices, minlength=n_terms)
    idf = np.log((1 + n_points) / (1 + frequency)) + 1.0
    weights = (1.0 + np.log(counts.data)) * idf[counts.indices]
    row = np.repeat(np.arange(n_points), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(row, weights**2, n_points))
    return sparse.csr_array((weights / length[row], counts.indices, counts.indptr), shape=counts.shape)


def without_self(indices: np.ndarray, k: int = K) -> np.ndarray:  # (N, ≥ k + 1) -> (N, k)
    """The first k neighbours that are not the point itself, which a search need not return first."""
    other = indices != np.arange(len(indices))[:, None]
    first = np.argsort(~other, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(indices, first, axis=1)


def graph(indices: np.ndarray) -> Any:  # (N, k) -> CSR (N, N)
    """W with 1 for each neighbour, made symmetric by (W + Wᵀ)/2; −1, not found, is left out."""
    n_points, k = indices.shape
    found = indices.ravel() >= 0
    rows, cols = np.repeat(np.arange(n_points), k)[found], indices.ravel()[found]
    W = sparse.csr_array((np.ones(len(rows)), (rows, cols)), shape=(n_points, n_points))
    return ((W + W.T) / 2).tocsr()


def normalized(W: Any) -> Any:
    """S = D^(−1/2)·W·D^(−1/2)."""
    scale = sparse.diags_array(1.0 / np.sqrt(np.maximum(W.sum(axis=1), 1e-300)))
    return (scale @ W @ scale).tocsr()


def spread(S: Any, Y0: np.ndarray) -> np.ndarray:  # (N, N), (N, k) -> (N,)
    """Label spreading (Zhou et al. 2003), α = 0.9, until no column changes by 1e-4 of its sum."""
    Y = Y0
    for _ in range(MOST_STEPS):
        previous, Y = Y, ALPHA * (S @ Y) + (1 - ALPHA) * Y0
        if (np.abs(Y - previous).sum(axis=0) <= TOL * Y.sum(axis=0)).all():
            break
    return Y.argmax(axis=1)


def spread_over(indices: np.ndarray, data: Data) -> np.ndarray:  # (N, ≥ 11), with the points themselves
    """Classes of all points from the neighbours that a search found."""
    return spread(normalized(graph(without_self(np.asarray(indices, np.int64)))), data.one_hot())
