"""One draw of points for every divergence."""

from __future__ import annotations

import numpy as np

from bvdt import divergences as dv


def covariance(d: int) -> np.ndarray:
    """A fixed, well-conditioned covariance matrix."""
    A = np.random.default_rng(d).normal(size=(d, d))
    return A @ A.T / d + np.eye(d)


def make(name: str, d: int) -> dv.BregmanDivergence:
    """The divergence of that name for points with d features."""
    if name == "mahalanobis":
        return dv.Mahalanobis(covariance=covariance(d))
    if name == "negative_binomial":
        return dv.NegativeBinomial(0.5)
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
