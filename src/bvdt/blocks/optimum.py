"""The q that maximise Eq. (18) under Eq. (3), in closed form (theory: The optimum in two passes).

Every leaf below A has the same mass s_A left when the walk from the root reaches A, so the problem nests: the
best value of A's subtree is |A|·(s_A·c_A − s_A·log s_A) with

    c_A = log( Σ_B |B|·exp(−d̄_AB / bandwidth) + exp(k_A) ),      k_A = (|L|·c_L + |R|·c_R) / |A|

found from the leaves up; q_AB = s_A·exp(−d̄_AB / bandwidth − c_A) from the root down. Exact, O(n_blocks), as
the algorithm of Thiesson and Kim 2012 that the paper cites for Eq. (4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import _core
from .._support.arrays import Float
from .._support.running import n_threads
from ..tree import Tree
from .partition import BlockPartition


@dataclass(frozen=True, eq=False)
class Optimum:
    """Solution of Eq. (18): ``q`` by block, ``log_value`` (c_A) and the mass s_A by node."""

    q: Float  # (n_blocks,)
    log_value: Float  # (2N−1,) c_A
    mass_below: Float  # (2N−1,) mass s of the children of each node, 0 for leaves

    @property
    def lower_bound(self) -> float:
        """Eq. (18) without its constant c, summed over all rows: N·c_root."""
        return float(self.log_value[0]) * ((len(self.log_value) + 1) // 2)

    def log_mass(self, tree: Tree) -> Float:  # (2N−1,)
        """log s_A, the log of what a row has left for the blocks at A and below; −∞ if it underflows."""
        mass = np.ones(tree.n_nodes)
        mass[1:] = self.mass_below[tree.parent[1:]]
        with np.errstate(divide="ignore"):
            return np.log(mass)


def optimum(
    mean_divergence: Float,
    tree: Tree,
    partition: BlockPartition,
    bandwidth: float = 1.0,
    n_jobs: int | None = None,
) -> Optimum:
    """Maximiser of Eq. (18) under Eq. (3) for any valid partition, with d̄ divided by ``bandwidth``."""
    dbar, bandwidth = checked_problem(mean_divergence, bandwidth)
    q, value, below = np.empty(partition.n_blocks), np.empty(tree.n_nodes), np.empty(tree.n_nodes)
    blocks = () if partition.is_coarsest else (partition.first, partition.cols)
    kernel: Callable[..., None] = _core.optimum_coarsest if partition.is_coarsest else _core.optimum_blocks
    threads = n_threads(n_jobs, 32 * len(dbar))
    kernel(tree.size, tree.parent, *blocks, dbar, bandwidth, q, value, below, threads)
    return Optimum(q, value, below)


def checked_problem(mean_divergence: Float, bandwidth: float) -> tuple[Float, float]:
    if not (np.isfinite(bandwidth) and bandwidth > 0):
        raise ValueError(f"bandwidth needs a finite value > 0; got {bandwidth}")
    dbar = np.ascontiguousarray(mean_divergence, np.float64)
    if not np.isfinite(dbar).all():
        b = int(np.flatnonzero(~np.isfinite(dbar))[0])
        raise ValueError(f"block divergences need to be finite; block {b} has {dbar[b]}")
    return dbar, float(bandwidth)
