"""The likelihood of Eq. (17) itself, on some rows: which family, smoothing and bandwidth describe the data.

Only the centers are smoothed: a row stays the observation that Eq. (15) gives a density to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from .._support.arrays import Float
from .._support.sparse import CSR, Points, is_sparse
from .base import BregmanDivergence

ROWS = 1000  # on which the likelihood is found
SMOOTHINGS = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)  # among which smoothing="likelihood" chooses
_BANDWIDTHS = 16  # of a grid that the best is refined in
_CHUNK = 1 << 22  # values of dense rows at once


@dataclass(frozen=True, eq=False)
class Fit:
    """Kernels of a family at each row, with the smoothing and bandwidth that make rows left out likeliest."""

    divergence: BregmanDivergence
    smoothing: float
    bandwidth: float
    rows: Float  # (n,) log p(x_i) without x_i

    @property
    def value(self) -> float:
        return float(self.rows.mean())


def some_rows(X: Points, n_rows: int = ROWS) -> Points:
    """At most so many rows, drawn at random."""
    if X.shape[0] <= n_rows:
        return X
    return X[np.sort(np.random.default_rng(0).choice(X.shape[0], n_rows, replace=False))]


def log_base_rows(divergence: BregmanDivergence, X: Points, bandwidth: float = 1.0) -> Float:  # (N,)
    """``log_base`` of each row; of sparse rows by their stored values, O(nnz).

    A separable ψ makes the coordinates independent, so that log p_0 is a sum over them and a constant.
    """
    if not is_sparse(X):
        return divergence.log_base(X, bandwidth)
    log_scale, family = divergence.log_scale(bandwidth), divergence.family
    assert family is not None
    constant = float(family.log_base_measure(np.empty(0)))

    def terms(x: Float) -> Float:  # (m,) -> (m,)
        return divergence.phi(x) + family.log_base_measure(x[:, None]) - constant

    zero = float(terms(np.zeros(1))[0]) if X.nnz < X.shape[0] * X.shape[1] else 0.0
    return np.asarray(_summed(X, terms(X.data) - zero) + constant + X.shape[1] * (zero + log_scale))


def center_divergences(
    divergence: BregmanDivergence, X: Points, centers: Points, smoothing: float
) -> Float:  # (n, d), (m, d) -> (n, m)
    """Divergences of the observations x_i from the smoothed centers s·y_j + e, as their density has them."""
    n_features = X.shape[1]
    e = np.full(n_features, smoothing)
    s = divergence.smoothing_scale(e)
    if is_sparse(X):
        d = _sparse_divergences(divergence, X, centers, e, np.broadcast_to(s, (n_features,)))
    else:
        if divergence.translation_invariant:  # far from the origin the terms cancel
            middle = np.median(centers, axis=0)
            X, centers = X - middle, centers - middle
        means = s * centers + e
        T = divergence.grad(means)
        conjugate = (means * T).sum(axis=1) - divergence.phi_sum(means)  # φ*(∇φ(m))
        d = np.asarray(divergence.phi_sum(X)[:, None] + conjugate - X @ T.T)
    return np.asarray(np.maximum(d, 0.0) - divergence.off_plane(n_features * smoothing))


def _sparse_divergences(divergence: BregmanDivergence, X: CSR, centers: CSR, e: Float, s: Float) -> Float:
    """The same from stored values, relative to centers of zeros."""
    columns, at_e, zero = centers.indices, divergence.grad(e), divergence.phi(np.zeros(1))[0]
    means = s[columns] * centers.data + e[columns]
    slope, value_e = divergence.grad(means), e * at_e - divergence.phi(e)
    conjugate = _summed(centers, means * slope - divergence.phi(means) - value_e[columns]) + value_e.sum()
    own = _summed(X, divergence.phi(X.data) - zero) + zero * X.shape[1] - X @ at_e
    T = sparse.csr_array((slope - at_e[columns], columns, centers.indptr), shape=centers.shape)
    return np.asarray(own[:, None] + conjugate - (X @ T.T).toarray())


def left_out(divergences: Float, bandwidth: float = 1.0) -> Float:  # (N, N) -> (N,)
    """log of the mean of exp(−d_ij/β) over the other rows j: Eq. (17) without ``log_base``."""
    logs = -divergences / bandwidth
    np.fill_diagonal(logs, -np.inf)
    return np.asarray(logsumexp(logs, axis=1) - np.log(len(logs) - 1))


def smoothings(divergence: BregmanDivergence, X: Points) -> tuple[float, ...]:
    """The baselines to try: none for data inside the domain.

    Shares of every feature's mean are likelier still, but draw all centers to one: they label worse.
    """
    if divergence.translation_invariant or divergence.domain.contains([float(X.min()), float(X.max())]).all():
        return (0.0,)
    return tuple(e for e in SMOOTHINGS if e < 0.5 * divergence.domain.high)


def kernels(divergence: BregmanDivergence, X: Points) -> Fit:
    """The smoothing and bandwidth with the largest leave-one-out likelihood of the rows of X."""
    fits = [_at(divergence, X, smoothing) for smoothing in smoothings(divergence, X)]
    return max(fits, key=lambda fit: fit.value)


def _at(divergence: BregmanDivergence, X: Points, smoothing: float) -> Fit:
    d = center_divergences(divergence, X, X, smoothing)
    beta = _likeliest_bandwidth(divergence, d, X.shape[1])
    return Fit(divergence, smoothing, beta, left_out(d, beta) + log_base_rows(divergence, X, beta))


def _likeliest_bandwidth(divergence: BregmanDivergence, d: Float, n_features: int) -> float:
    from scipy.optimize import minimize_scalar  # here, so that ``import bvdt`` stays light

    family, usual = divergence.family, float(d.mean())
    if family is None or family.dispersion is None or not usual > 0:
        return 1.0
    dispersion = family.dispersion
    others = np.where(d > 1e-12 * usual, d, np.inf)  # copies of a row have no distance
    np.fill_diagonal(others, np.inf)
    nearest = others.min(axis=1)
    nearest = float(np.median(nearest[np.isfinite(nearest)]))
    ends = (max(0.3 * nearest, 1e-6 * usual), 3.0 * usual)
    low, high = (np.log(dispersion.fitted(end / n_features)) for end in ends)

    def loss(log_beta: float) -> float:
        beta = float(np.exp(log_beta))
        return -float(left_out(d, beta).mean()) - n_features * dispersion.log_scale(beta)

    grid = np.linspace(low, high, _BANDWIDTHS)
    best, step = min(grid, key=loss), grid[1] - grid[0]
    return float(np.exp(minimize_scalar(loss, bounds=(best - step, best + step), method="bounded").x))


def likeliest(candidates: Sequence[BregmanDivergence], X: Points) -> BregmanDivergence:
    """The candidate under which the rows are likeliest, each left out, at its own best smoothing.

    The smoothing is chosen for the middle one, the candidates compared at it, and both once more.
    """
    best = candidates[len(candidates) // 2]
    for _ in range(2):
        smoothing = kernels(best, X).smoothing
        best = max(candidates, key=lambda candidate: _at(candidate, X, smoothing).value)
    return best


def likeliest_smoothing(divergence: BregmanDivergence, X: Points) -> float:
    """e under which the rows are likeliest, each left out; ValueError where there is no density."""
    divergence.log_scale(1.0)
    return kernels(divergence, some_rows(X)).smoothing


def dense_chunks(X: Points) -> list[Float]:
    """The rows, dense, so many at a time."""
    step = max(1, _CHUNK // X.shape[1])
    parts = [X[first : first + step] for first in range(0, X.shape[0], step)]
    return [part.toarray() if is_sparse(part) else part for part in parts]


def _summed(X: CSR, values: Float) -> Float:  # (nnz,) -> (N,)
    return np.asarray(sparse.csr_array((values, X.indices, X.indptr), shape=X.shape).sum(axis=1)).ravel()
