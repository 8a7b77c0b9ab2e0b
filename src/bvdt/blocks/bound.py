"""The bound of Eq. (18) as a function of the bandwidth, and the constant of Eq. (19)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import _core
from .._support.arrays import Float, Int
from .._support.running import n_threads
from ..lifting import Lifted
from ..tree import Tree
from .optimum import checked_problem
from .partition import BlockPartition


class Curve(NamedTuple):
    """The bound of Eq. (18) per row at a bandwidth β, and how it changes with θ = 1/β."""

    bandwidth: float
    value: float  # c = lower_bound / N
    entropy: float  # mean of the rows of Q, in nats: c − θ·dc/dθ
    divergence: float  # −dc/dθ, the mean of d̄ under the optimum
    variance: float  # d²c/dθ², never negative: c is a maximum of lines in θ

    @property
    def entropy_slope(self) -> float:
        """d entropy / d log β = θ²·d²c/dθ²."""
        return self.variance / self.bandwidth / self.bandwidth  # the square may overflow


def bound_curve(
    mean_divergence: Float,
    tree: Tree,
    partition: BlockPartition,
    bandwidth: float,
    n_jobs: int | None = None,
) -> Curve:
    """The bound and its first two derivatives, without the optimum that reaches it: half its time."""
    dbar, bandwidth = checked_problem(mean_divergence, bandwidth)
    blocks = () if partition.is_coarsest else (partition.first, partition.cols)
    kernel: Callable[..., tuple[float, float, float, float]] = (
        _core.curve_coarsest if partition.is_coarsest else _core.curve_blocks
    )
    threads = n_threads(n_jobs, 32 * len(dbar))
    return Curve(bandwidth, *kernel(tree.size, tree.parent, *blocks, dbar, bandwidth, threads))


def coarsest_curve(size: Int, parent: Int, dbar: Float, bandwidth: float, n_jobs: int | None) -> Curve:
    """``bound_curve`` of the coarsest partition, from the tree's arrays alone."""
    dbar, bandwidth = checked_problem(dbar, bandwidth)
    threads = n_threads(n_jobs, 32 * len(dbar))
    return Curve(bandwidth, *_core.curve_coarsest(size, parent, dbar, bandwidth, threads))


def bound_constant(lifted: Lifted, bandwidth: float = 1.0) -> float | None:
    """The constant c of Eq. (19), −N log(N − 1) + Σ_i φ(x_i) + log p_0(x_i); None without a family.

    The x_i are the smoothed points, of which the divergences are taken. A bandwidth β ≠ 1 adds −(N d/2)·log
    β: exact for the Gaussian families, the saddle-point form of a dispersion model for the others. O(N d),
    also for sparse data.
    """
    lifting = lifted.lifting
    if lifting is None or lifting.divergence.family is None:
        return None
    divergence, family = lifting.divergence, lifting.divergence.family
    n_points, total = lifted.n_points, 0.0
    step = max(1, (1 << 20) // lifted.n_features)
    for start in range(0, n_points, step):
        X = lifted.X[start : start + step]
        X = X.toarray() + lifted.base if lifted.is_sparse else X
        X = X if lifting.offset is None else X + lifting.offset
        total += float((divergence.phi_sum(X) + family.log_base_measure(X)).sum())
    if lifted.base is not None and lifted.dimension > lifted.n_features:  # those that the last stands for
        elsewhere = lifted.base[-1:][None]
        each = float((divergence.phi_sum(elsewhere) + family.log_base_measure(elsewhere)).sum())
        total += n_points * (lifted.dimension - lifted.n_features) * each
    dispersion = 0.5 * n_points * lifted.dimension * np.log(bandwidth)
    return float(total - n_points * np.log(n_points - 1) - dispersion)
