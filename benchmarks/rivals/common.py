"""What every method shares: the data, and tf-idf. SciPy is imported for sparse data only."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

THREADS = int(os.environ.get("BENCH_THREADS", "2"))


@dataclass(frozen=True)
class Data:
    """Points, dense or CSR, and their classes with −1 for those that are to be found."""

    X: Any  # (N, d)
    labels: np.ndarray  # (N,)

    @property
    def n_classes(self) -> int:
        return int(self.labels.max()) + 1

    def one_hot(self) -> np.ndarray:  # (N, n_classes)
        """1 at the class of every labeled point, 0 elsewhere."""
        Y0 = np.zeros((len(self.labels), self.n_classes))
        known = np.flatnonzero(self.labels >= 0)
        Y0[known, self.labels[known]] = 1.0
        return Y0

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "labels.npy", self.labels)
        if isinstance(self.X, np.ndarray):
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
        from scipy import sparse

        return cls(sparse.csr_array((data, indices, indptr), shape=tuple(shape)), labels)


def tf_idf(counts: Any) -> Any:
    """Sublinear tf-idf, smoothed idf, rows of length 1: what scikit-learn's TfidfTransformer computes."""
    from scipy import sparse

    n_points, n_terms = counts.shape
    frequency = np.bincount(counts.indices, minlength=n_terms)
    idf = np.log((1 + n_points) / (1 + frequency)) + 1.0
    weights = (1.0 + np.log(counts.data)) * idf[counts.indices]
    row = np.repeat(np.arange(n_points), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(row, weights**2, n_points))
    return sparse.csr_array((weights / length[row], counts.indices, counts.indptr), shape=counts.shape)
