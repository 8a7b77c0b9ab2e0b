"""Points and groups that the examples compare on: handwritten digits, or cells that were drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """1 797 scanned digits of 64 pixels, from scikit-learn."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X.astype(np.float64), y


def cells(
    n: int = 6000, n_genes: int = 600, n_types: int = 8, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Poisson counts of cells: types differ in a tenth of the genes, depths by a factor of e^±0.5."""
    rng = np.random.default_rng(seed)
    usual = rng.gamma(0.3, 1, n_genes)
    changed = rng.random((n_types, n_genes)) < 0.1
    profile = usual * np.exp(1.2 * rng.normal(size=(n_types, n_genes)) * changed)
    kind = rng.integers(0, n_types, n)
    depth = 1500 * np.exp(0.5 * rng.normal(size=n))
    share = profile / profile.sum(axis=1, keepdims=True)
    return rng.poisson(share[kind] * depth[:, None]).astype(np.float64), kind
