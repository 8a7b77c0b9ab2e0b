"""The walk over shards as a linear operator: products on columns that stay where the points are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._support import memory
from .._support.arrays import Float, Numbers, checked_integer
from .._support.defaults import DIVERGENCE
from ..divergences import BregmanDivergence
from ..lifting import Lifted
from ..operators import ForestOperator, NearField, RealOperator, Side, TransitionOperator, WalkOperator
from ..tree import Tree
from . import columns as column
from . import near_field, shard
from .building import Shards, build_shards, resolve, solve_shards
from .columns import Columns
from .executors import Donated, Executor, Reference
from .top import Top, leaf_order, whole_blocks, whole_sizes

_MOST = 2**30  # points of a tree on one machine, whose nodes are 32-bit numbers


class ShardedOperator(RealOperator):
    """Row-stochastic N×N matrix Q over points in many places; one tree of two levels (theory: Two levels).

    ``op @ v`` and ``op.T @ v`` take and give arrays on the driver; ``times`` takes and gives ``Columns``,
    which stay where the points are: one number per shard and column travels each way.

    Attributes
    ----------
    bandwidth : β of p_ij ∝ exp(−d_ij / β).
    lower_bound : Eq. (18) without its constant, summed over the rows.
    n_shards, shard_sizes : in how many places the points are, and how many in each.
    n_blocks : 2(N − 1), the coarsest partition.
    """

    rows_sum_to_one = True

    def __init__(self, shards: Shards, bandwidth: float | str, n_neighbors: int = 0) -> None:
        n_points = shards.layout.n_points
        super().__init__(np.dtype(np.float64), (n_points, n_points))
        self.shards = shards
        self.top = Top.of([summary.sums for summary in shards.summaries])
        self.bandwidth = resolve(shards, self.top, bandwidth)
        self.products, self.solution = solve_shards(shards, self.top, self.bandwidth)
        self.places = shards.executor.places(self.products)
        n_neighbors = checked_integer(n_neighbors, "n_neighbors", 0, n_points - 1)
        self.near_lists = near_field.find(shards, n_neighbors) if n_neighbors else None
        self.lower_bound = n_points * self.solution.log_value
        if self.near_lists is not None:
            self.lower_bound = self._bound_with_near()

    @property
    def n_shards(self) -> int:
        return self.shards.layout.n_shards

    @property
    def shard_sizes(self) -> list[int]:
        return [summary.sums.n_points for summary in self.shards.summaries]

    @property
    def n_blocks(self) -> int:
        return 2 * (int(self.shape[0]) - 1)

    @property
    def _executor(self) -> Executor:
        return self.shards.executor

    # -- products -----------------------------------------------------------------------------------------

    def times(self, v: Columns, side: Side = "forward", *, spent: bool = False) -> Columns:
        """Q v, Qᵀ v ("transpose") or (Q + Qᵀ)/2 v ("mean"); v takes no memory once it is ``spent``."""
        return self.times_summed(v, self.sums(v, side), side, spent)

    def sums(self, v: Columns, side: Side) -> Float:  # (P, k)
        """What the shards send up for a product: the columns' sums."""
        if self.near_lists is not None and side != "forward":
            return np.stack(
                self.map_gather("product", near_field.far_sums, v.parts, self.near_lists.matrices)
            )
        return np.stack(self.map_gather("product", shard.column_sums, v.parts))

    def map_gather(self, title: str, function: Any, *arguments: Sequence[Any]) -> list[Any]:
        """Small results of a quick function of every shard."""
        return self._executor.map_gather(title, function, *arguments, at=self.places)

    def gather_item(self, references: Sequence[Reference], number: int) -> list[Any]:
        """One small item of what every shard's call returned."""
        return self._executor.gather_item(references, number, self.places)

    def _gather(self, function: Any, *arguments: Sequence[Reference]) -> list[Any]:
        return self._executor.gather(self.map("product", function, *arguments))

    def map(self, title: str, function: Any, *arguments: Sequence[Any]) -> list[Reference]:
        """A function of every shard, at the shard's place: its columns stay with it."""
        return self._executor.map(title, function, *arguments, at=self.places)

    def times_summed(self, v: Columns, sums: Float, side: Side = "forward", spent: bool = False) -> Columns:
        """The product where the columns' sums are known already."""
        above = self.solution.product(sums, side)
        each = self.shards.each
        shares, jobs = self.solution.shares.tolist(), each(self._executor.n_jobs)
        if self.near_lists is None:
            arguments = (self.products, _taken(v, spent), shares, list(above), each(side), jobs)
            return Columns(self.map("product", shard.push_down, *arguments), v.width, v.dtype)
        if side == "mean" and not self.near_lists.even:
            return self._mean_of_both(v)
        halo = near_field.exchange(self._executor, self.near_lists, self.places, near_field.send, v.parts)
        with_halo = (
            self.products,
            _taken(v, spent),
            halo,
            self.near_lists.matrices,
            shares,
            list(above),
            each(side),
            jobs,
        )
        return Columns(self.map("product", near_field.push_down, *with_halo), v.width, v.dtype)

    def _mean_of_both(self, v: Columns) -> Columns:
        """Rows without neighbors have another share of the far field: the two products apart."""
        forward, transpose = self.times(v, "forward"), self.times(v, "transpose")
        parts = self.map("product", near_field.mean, forward.parts, transpose.parts)
        return Columns(parts, v.width, v.dtype)

    def columns(self, V: Numbers) -> Columns:  # (N,) or (N, k)
        """An array of the driver, dealt to the shards."""
        V = np.asarray(V)
        dtype = np.float32 if V.dtype == np.float32 else np.float64
        return column.from_array(
            self._executor, self.shards.layout, V.astype(dtype).reshape(len(V), -1), self.places
        )

    def to_array(self, v: Columns) -> Numbers:  # (N, k)
        """Columns on the driver, in the order of X."""
        return column.to_array(self._executor, self.shards.layout, v)

    def apply(self, V: Numbers, side: Side, out: Numbers | None = None) -> Numbers:
        """See the base; columns are dealt to the shards and gathered."""
        return self.to_array(self.times(self.columns(V), side))

    # -- on one machine -----------------------------------------------------------------------------------

    @cached_property
    def tree(self) -> Tree:  # type: ignore[override]  # gathered when it is asked for
        """The one tree over all points, gathered on the driver."""
        n_points = int(self.shape[0])
        if n_points > _MOST:
            raise ValueError(f"tree needs at most {_MOST} points to be gathered; there are {n_points}")
        memory.require(120.0 * n_points, f"the tree of {n_points} points")
        gathered = self._gather(shard.leaves, self.shards.origins, self.shards.grown)
        order = np.concatenate([gathered[p][1] for p in leaf_order(self.top)])
        return Tree.from_sizes(whole_sizes(self.top, [sizes for sizes, _ in gathered]), order)

    @property
    def q(self) -> Float:  # (2N−2,)
        """Probability of each block of the tree, gathered: block k − 1 is (k, sibling of k)."""
        inside = self._gather(shard.probabilities, self.products, self.solution.shares.tolist())
        return whole_blocks(self.top, self.solution.q, inside)

    def to_local(self) -> WalkOperator:
        """The same walk as an operator of this machine, if its points fit into the memory."""
        lifted = self._gathered_points()
        op = TransitionOperator(lifted, self.tree, bandwidth=self.bandwidth)
        if self.near_lists is None:
            return op
        field = near_field.gathered(self.shards, self.near_lists)
        return ForestOperator((op,), near_field=NearField(*field))

    def _gathered_points(self) -> Lifted:
        gathered = self.shards.summaries
        numbers = sum(s.stored for s in gathered)
        memory.require(3 * 8.0 * 2 * numbers, f"the {self.shape[0]} points on this machine")
        origins = self._executor.gather(self.shards.origins)
        X = shard.stacked(self._executor.gather(self.shards.points))
        place = np.argsort(np.concatenate([origin.row for origin in origins]), kind="stable")
        return self.shards.lifting.transform(X[place])

    def _bound_with_near(self) -> float:
        assert self.near_lists is not None
        each = self.shards.each
        above = self.solution.row_values(self.bandwidth).tolist()
        gathered = self._gather(
            near_field.bound,
            self.shards.grown,
            self.products,
            self.near_lists.matrices,
            self.solution.shares.tolist(),
            above,
            each(self.bandwidth),
            each(self._executor.n_jobs),
        )
        return float(sum(gathered))

    def __repr__(self) -> str:
        near = "" if self.near_lists is None else f", n_neighbors={self.near_lists.k}"
        kind, name = type(self).__name__, self.shards.lifting.divergence.name
        return (
            f"{kind}(n_points={self.shape[0]}, n_shards={self.n_shards}, n_blocks={self.n_blocks}"
            f"{near}, divergence={name!r}, bandwidth={self.bandwidth:.4g})"
        )


def _taken(v: Columns, spent: bool) -> list[Reference]:
    """The parts of columns; those that are spent leave them."""
    if not spent:
        return v.parts
    parts = Donated(v.parts)
    v.parts.clear()
    return parts


def build_operator(
    executor: Executor,
    slabs: Sequence[Reference],
    lengths: Sequence[int],
    divergence: str | BregmanDivergence = DIVERGENCE,
    *,
    bandwidth: float | str = "auto",
    smoothing: float | str | ArrayLike = "auto",
    n_neighbors: int = 0,
    shard_points: int | None = None,
    random_state: Any = None,
    kind: type[ShardedOperator] = ShardedOperator,
) -> ShardedOperator:
    """Data in slabs in, the walk over them out; ``kind`` is the caller's own kind of operator."""
    shards = build_shards(
        executor,
        slabs,
        lengths,
        divergence,
        smoothing=smoothing,
        n_neighbors=n_neighbors,
        shard_points=shard_points,
        random_state=random_state,
    )
    return kind(shards, bandwidth, n_neighbors)
