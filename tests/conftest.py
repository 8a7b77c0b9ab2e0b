"""What the tests share: the folder of labelled count data, and one draw of points for every divergence."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before bvdt: threads that spin slow a busy machine down

import numpy as np
import pytest
from hypothesis import settings

from bvdt import divergences as dv

settings.register_profile("bvdt", deadline=None, derandomize=True)  # no verdict by the clock or by luck
settings.load_profile("bvdt")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder with bbc.npz and its like: $BVDT_DATA, or shared/data beside the repository."""
    folder = Path(os.environ.get("BVDT_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not (folder / "bbcsport.npz").exists():
        pytest.skip(
            f"no labelled count data in {folder}; set BVDT_DATA to the folder that holds bbcsport.npz"
        )
    return folder


def covariance(d: int) -> np.ndarray:
    """A fixed, well-conditioned covariance matrix."""
    A = np.random.default_rng(d).normal(size=(d, d))
    return A @ A.T / d + np.eye(d)


def make(name: str, d: int) -> dv.BregmanDivergence:
    """The divergence of that name for points with d features."""
    if name == "mahalanobis":
        return dv.Mahalanobis(covariance=covariance(d))
    if name == "custom":  # φ = x⁴/4 + x²/2: zero is inside the domain, its gradient is zero there
        return dv.BregmanDivergence(phi=lambda x: x**4 / 4 + x**2 / 2, grad=lambda x: x**3 + x)
    return dv.get(name)


def draw(name: str, rng: np.random.Generator, n: int = 12, d: int = 5) -> np.ndarray:
    """Points strictly inside the domain of the divergence."""
    if name in ("squared_euclidean", "mahalanobis", "custom"):
        return rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 1)
    if name == "logistic":
        return rng.uniform(1e-3, 1 - 1e-3, size=(n, d))
    X = rng.gamma(0.5, size=(n, d)) + 1e-6
    if name == "kl":
        return X / X.sum(axis=1, keepdims=True)
    if name == "multinomial":
        return 40 * X / X.sum(axis=1, keepdims=True)
    return X * 10 ** rng.uniform(-2, 2)


def draw_with_zeros(name: str, rng: np.random.Generator, n: int = 12, d: int = 9) -> np.ndarray:
    """Points with many zeros, as the divergence's raw data may have."""
    if name == "multinomial":
        return rng.multinomial(20, rng.dirichlet(np.full(d, 0.3)), size=n).astype(float)
    if name == "logistic":
        return (rng.random((n, d)) < 0.3).astype(float)
    X = rng.poisson(0.5, size=(n, d)).astype(float)
    if name == "kl":
        X[:, 0] += 1
        return X / X.sum(axis=1, keepdims=True)
    return X
