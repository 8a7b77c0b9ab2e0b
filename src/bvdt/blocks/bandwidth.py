"""Choice of the bandwidth β in p_ij ∝ exp(−d_ij / β); each trial is one pass up the tree, O(N).

"auto"   β at which the rows of Q have, in the mean, the entropy of a uniform choice among
         ``NEIGHBORS`` points. Equal points count as one, as rows and as neighbors: a point with a thousand
         copies has one neighbor there, and β follows the distances between different points.
         Entropy never falls as β grows (the bound is a maximum of lines in 1/β), so this is a root of a
         monotone function, found by Newton's steps of its logarithm in log β that a bracket holds.
"learn"  β that maximizes the likelihood's bound, Eq. (18) with its constant. Where a family has a density at
         any β, that is the maximum itself: for the squared Euclidean and Mahalanobis divergences
         β = (2/d)·Σ_AB q_AB·D_AB/N, the paper's σ²; for Itakura–Saito 1/β is the shape of a gamma
         distribution. Other families have none: there β^{−d/2}·exp(−d_φ/β) stands for it, the saddle-point
         form (Jørgensen 1987), and d is the mean number of nonzero values per row, since a coordinate that is
         zero in both points carries no dispersion.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from .._support.arrays import Float
from ..divergences import BregmanDivergence
from ..divergences.family import GAUSSIAN, Dispersion
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
    dimension, dispersion = effective_dimension(lifted)
    return resolve_bandwidth_of(bandwidth, dimension, mean_divergence, curve, dispersion)


def resolve_bandwidth_of(
    bandwidth: float | str,
    dimension: float,
    mean_divergence: Float,
    curve: Callable[[float], Curve],
    dispersion: Dispersion = GAUSSIAN,
) -> float:
    """``resolve_bandwidth`` without the points; of the divergences the least and greatest will do."""
    if isinstance(bandwidth, str):
        if bandwidth not in ("auto", "learn"):
            raise ValueError(f'bandwidth needs a number > 0, "auto" or "learn"; got {bandwidth!r}')
        if not (mean_divergence > 0).any():
            return 1.0  # all points alike: every bandwidth gives the same matrix
        if bandwidth == "auto":
            return bandwidth_for_entropy(np.log(NEIGHBORS), mean_divergence, curve)
        return learned_bandwidth(dimension, mean_divergence, curve, dispersion)
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


def learned_bandwidth(
    dimension: float,
    mean_divergence: Float,
    curve: Callable[[float], Curve],
    dispersion: Dispersion = GAUSSIAN,
) -> float:
    """β that maximizes the bound with its constant: the best of a grid, improved by its fixed point.

    A maximum is where β is the dispersion fitted to the mean divergence D(β) under the optimum, for the
    Gaussian (2/d)·D(β). Both grow, so all maxima lie between the values of the cheapest walk and of the
    uniform one. There may be several.
    """

    def fitted(at: float) -> float:
        return max(dispersion.fitted(curve(at).divergence / dimension), smallest)

    # A copy of every point would send β to 0 and the likelihood to infinity: stop far below any real scale.
    smallest = 1e-6 * float(mean_divergence[mean_divergence > 0].min())
    low, high = (fitted(at) for at in (smallest, 1e300))
    grid = np.geomspace(low, high, 2 + int(np.log(high / low) / _GRID)) if low > smallest else [high]
    beta = float(
        max(grid, key=lambda at: curve(float(at)).value + dimension * dispersion.log_scale(float(at)))
    )
    for _ in range(_LEARN_STEPS):
        new = fitted(beta)
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


def effective_dimension(lifted: Lifted) -> tuple[float, Dispersion]:
    """d and the form of the dispersion that "learn" takes."""
    divergence = None if lifted.lifting is None else lifted.lifting.divergence
    return dimension_of(divergence, lifted.dimension, n_nonzero(lifted) / lifted.n_points)


def dimension_of(
    divergence: BregmanDivergence | None, n_features: int, nonzero: float
) -> tuple[float, Dispersion]:
    """The family's own dispersion, or the saddle-point form of so many nonzero values per row."""
    family = None if divergence is None else divergence.family
    if family is not None and family.dispersion is not None:
        return float(n_features), family.dispersion
    return max(nonzero, 1.0), GAUSSIAN


def n_nonzero(lifted: Lifted) -> int:
    """Values of the data that are not 0."""
    if lifted.is_mixed:
        return sum(n_nonzero(block) for block in lifted.blocks)
    if lifted.is_sparse:
        return int(np.count_nonzero(lifted.X.data))
    baseline = 0.0 if lifted.lifting is None else lifted.lifting.smoothing
    return int(np.count_nonzero(baseline != lifted.X))
