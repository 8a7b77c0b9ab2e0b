"""Divergences and log densities written out, or by scipy.stats: nothing here comes from bvdt."""

from __future__ import annotations

import numpy as np
from scipy import special, stats

COVARIANCE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.7]])
PRECISION = np.linalg.inv(COVARIANCE)

# Right-hand sides of Table 1, of points on the last axis; Mahalanobis with the ½ of the row above it.
TABLE_1 = {
    "squared_euclidean": lambda x, y: ((x - y) ** 2).sum(-1) / 2,
    "mahalanobis": lambda x, y: ((x - y) @ PRECISION * (x - y)).sum(-1) / 2,
    "gid": lambda x, y: (special.xlogy(x, x / y) - x + y).sum(-1),
    "kl": lambda x, y: special.xlogy(x, x / y).sum(-1),
    "multinomial": lambda x, y: special.xlogy(x, x / y).sum(-1),
    "itakura_saito": lambda x, y: (x / y - np.log(x / y) - 1).sum(-1),
    "logistic": lambda x, y: (special.xlogy(x, x / y) + special.xlogy(1 - x, (1 - x) / (1 - y))).sum(-1),
}

LENGTH = 12  # of the multinomial's rows

# log p(x | mean m)
LOG_DENSITY = {
    "squared_euclidean": lambda x, m: stats.norm.logpdf(x, m).sum(-1),
    "mahalanobis": lambda x, m: stats.multivariate_normal.logpdf(x - m, np.zeros(3), COVARIANCE),
    "gid": lambda x, m: stats.poisson.logpmf(x, m).sum(-1),
    "multinomial": lambda x, m: stats.multinomial.logpmf(x, LENGTH, m / LENGTH),
    "itakura_saito": lambda x, m: stats.expon.logpdf(x, scale=m).sum(-1),
}


def observations(name: str, rng: np.random.Generator, n: int = 9) -> np.ndarray:  # (n, 3)
    """Points of the family that can be centers, too: no count is 0."""
    if name == "gid":
        return 1.0 + rng.poisson(3.0, (n, 3))
    if name == "multinomial":
        return 1.0 + rng.multinomial(LENGTH - 3, [0.5, 0.3, 0.2], n)
    if name == "kl":
        return rng.dirichlet([1.0, 2.0, 3.0], n)
    if name == "logistic":
        return rng.uniform(0.02, 0.98, (n, 3))
    return (
        rng.normal(size=(n, 3))
        if name in ("squared_euclidean", "mahalanobis")
        else rng.gamma(2.0, size=(n, 3))
    )


def all_pairs(function, X: np.ndarray) -> np.ndarray:  # (n, d) -> (n, n)
    return np.array([[function(x, y) for y in X] for x in X])


def log_densities(name: str, X: np.ndarray) -> np.ndarray:  # (n, n)
    """log p(x_i | m_j), −∞ on the diagonal: a point is no center of its own."""
    found = all_pairs(LOG_DENSITY[name], X)
    np.fill_diagonal(found, -np.inf)
    return found
