"""Changes of variables after which data may be Gaussian, with their Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._support.arrays import Float
from .._support.sparse import Points, is_sparse


@dataclass(frozen=True)
class Transform:
    """A change of variables after which the data are Gaussian, and the log of its Jacobian per row."""

    family: str
    requirement: str
    of: str
    apply: Callable[[Float], Float]
    log_jacobian: Callable[[Float], Float]


def on_plane(X: Points) -> Float:  # (n, d) -> (n, d − 1)
    """Rows of one sum in orthonormal coordinates of their plane."""
    X = X.toarray() if is_sparse(X) else X
    d = X.shape[1]
    basis = np.tril(np.ones((d - 1, d)), 0)
    basis[np.arange(d - 1), np.arange(1, d)] = -np.arange(1, d)
    return np.asarray(X @ (basis / np.linalg.norm(basis, axis=1, keepdims=True)).T)


TRANSFORMS = {
    "log_normal": Transform(
        "log-normal",
        "measurements > 0",
        "the logarithms of X",
        np.log,
        lambda X: np.asarray(-np.log(X).sum(axis=1)),
    ),
    "log_ratio": Transform(
        "logistic normal",
        "rows of numbers > 0 that sum to 1",
        "the log-ratios of X",
        lambda X: on_plane(np.log(X)),
        lambda X: np.asarray(-np.log(X).sum(axis=1) - np.log(X.shape[1])),
    ),
}
