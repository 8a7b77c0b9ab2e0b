"""Choice of the bandwidth β in p_ij ∝ exp(−d_ij / β); each trial is one pass up the tree, O(N).

"auto"   β at which the rows of Q have, in the mean, the entropy of a uniform choice among
         ``NEIGHBORS`` points. Equal points count as one, as rows and as neighbors: a point with a thousand
         copies has one neighbor there, and β follows the distances between different points.
         Entropy never falls as β grows (the bound is a maximum of lines in 1/β), so this is a root of a
         monotone function, found by Newton's steps of its logarithm in log β that a bracket holds.
"learn"  β that maximizes the bound of Eq. (18) together with its constant. As a dispersion model
         (Jørgensen 1987) the kernel of Eq. (15) is  β^{−d/2}·exp(−d_φ(x, μ)/β)·a(x): exact for the squared
         Euclidean and Mahalanobis divergences, where β is the paper's σ², the saddle-point form for the
         others. So  β = (2/d)·Σ_AB q_AB·D_AB / N, for the Gaussian Σ q_AB·‖·‖²_AB / (N·d). For sparse data d
         is the mean number of stored values per row: a coordinate that is zero in both points carries no
         dispersion.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from .._support.arrays import Float
from ..lifting import Lifted
from .bound import Curve

# Target of "auto": effective neighbors per row, measured on digits and four corpora (docs/choices.md).
NEIGHBORS = 5.0

_LEARN_STEPS = 500
_GRID = 0.25  # of log β
_LARGEST = 1e140  # mean divergence over bandwidth: its square, in a variance, stays finite
_CLOSE = 1e-3  # a Newton step in log β that small leaves an error of about its square


def resolve_bandwidth(
    bandwidth: float | str, lifted: Lifted, mean_divergence: Float, curve: Callable[[float], Curve]
) -> float:
    """The bandwidth as a number, from a number, "auto" or "learn"; ``curve`` gives the bound at one."""
    return resolve_bandwidth_of(bandwidth, effective_dimension(lifted), mean_divergence, curve)


def resolve_bandwidth_of(
    bandwidth: float | str, dimension: float, mean_divergence: Float, curve: Callable[[float], Curve]
) -> float:
    """``resolve_bandwidth`` without the points; of the divergences the least and greatest will do."""
    if isinstance(bandwidth, str):
        if bandwidth not in ("auto", "learn"):
            raise ValueError(f'bandwidth needs a number > 0, "auto" or "learn"; got {bandwidth!r}')
        if not (mean_divergence > 0).any():
            return 1.0  # all points alike: every bandwidth gives the same matrix
        if bandwidth == "auto":
            return bandwidth_for_entropy(np.log(NEIGHBORS), mean_divergence, curve)
        return learned_bandwidth(dimension, mean_divergence, curve)
    if isinstance(bandwidth, bool) or np.ndim(bandwidth) != 0 or not 0 < bandwidth < np.inf:
        raise ValueError(f'bandwidth needs a finite number > 0, "auto" or "learn"; got {bandwidth!r}')
    least = max(float(mean_divergence.max(initial=0.0)) / _LARGEST, np.finfo(float).tiny)
    if bandwidth < least:
        raise ValueError(
            f"bandwidth needs at least {least:.3g} for divergences up to {mean_divergence.max():.3g}, "
            f"whose quotient overflows below; got {bandwidth!r}"
        )
    return float(bandwidth)


def bandwidth_for_entropy(target: float, mean_divergence: Float, curve: Callable[[float], Curve]) -> float:
    """β at which the mean row entropy of Q is ``target`` nats.

    The blocks bound what can be reached from both sides: a target outside is moved inside by a twentieth of
    the range.
    """
    positive = mean_divergence[mean_divergence > 0]
    high = np.log(positive.max()) + 5.0
    low = max(np.log(positive.min()) - 5.0, high - 650.0)  # d̄/β stays far from overflow
    least, most = curve(float(np.exp(low))), curve(float(np.exp(high)))
    reach = most.entropy - least.entropy
    if reach < 1e-9:
        return float(positive.mean())
    target = float(np.clip(target, least.entropy + 0.05 * reach, most.entropy - 0.05 * reach))
    # From the divergences that a row meets at the least bandwidth, those of its nearest points.
    at = float(np.clip(np.log(max(least.divergence, 1e-300)) - 2.0, low, high))
    while True:
        here = curve(float(np.exp(at)))
        low, high = (low, at) if here.entropy > target else (at, high)
        # By the logarithm: entropy grows like a power of β where it is small.
        entropy = max(here.entropy, 1e-300)
        step = np.log(target / entropy) * entropy / max(here.entropy_slope, 1e-300)
        if abs(step) < _CLOSE or high - low < _CLOSE:
            return float(np.exp(np.clip(at + step, low, high)))
        at = at + step if low < at + step < high else (low + high) / 2


def learned_bandwidth(dimension: float, mean_divergence: Float, curve: Callable[[float], Curve]) -> float:
    """β that maximizes the bound with its constant: the best of a grid, improved by its fixed point.

    A maximum is at β = (2/d)·D(β) with the mean divergence D under the optimum, which grows with β: so all
    lie between the values of the cheapest walk and of the uniform one. There may be several.
    """
    # A copy of every point would send β to 0 and the likelihood to infinity: stop far below any real scale.
    smallest = 1e-6 * float(mean_divergence[mean_divergence > 0].min())
    low, high = (max(2.0 * curve(at).divergence / dimension, smallest) for at in (smallest, 1e300))
    grid = np.geomspace(low, high, 2 + int(np.log(high / low) / _GRID)) if low > smallest else [high]
    beta = max(grid, key=lambda at: curve(float(at)).value - dimension / 2 * np.log(at))
    beta = float(beta)
    for _ in range(_LEARN_STEPS):
        new = max(2.0 * curve(beta).divergence / dimension, smallest)  # σ² = Σ q D / (N d)
        if abs(np.log(new / beta)) < 1e-6:
            return new
        beta = new
    from sklearn.exceptions import ConvergenceWarning  # here, so that ``import bvdt`` stays light

    warnings.warn(
        f'bandwidth="learn" still changed after {_LEARN_STEPS} steps; it is {beta:.6g}',
        ConvergenceWarning,
        stacklevel=4,
    )
    return beta


def effective_dimension(lifted: Lifted) -> float:
    """d of the dispersion model: the number of features, for sparse data the mean stored values per row."""
    if lifted.is_sparse:
        return max(float(lifted.X.nnz) / lifted.n_points, 1.0)
    return float(lifted.dimension)
