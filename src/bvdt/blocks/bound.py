"""The bound of Eq. (18) as a function of the bandwidth."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .. import _core
from .._support.arrays import Float, Int
from .._support.running import n_threads
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
