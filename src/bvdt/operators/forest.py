"""A forest: the weighted mean of several trees' matrices (theory: A forest), optionally with a near field."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import special

from .._support.arrays import Float, Int, checked_integer
from .._support.progress import Progress
from .._support.running import generator
from ..lifting import Lifted
from ..neighbors import NeighborIndex, Recall
from ..tree import BUILDERS, Tree, varied
from .near_field import NearField
from .single_tree import TransitionOperator
from .walk import WalkOperator, check_dtype


class ForestOperator(WalkOperator):
    """Row-stochastic N×N matrix Q = Σ_t weights[t]·Q_t of several trees over the same points.

    KL(· ‖ P_i) is convex, so KL(Q_i ‖ P_i) ≤ Σ_t weights[t]·KL(Q_t,i ‖ P_i): no further from P than the
    members are in the mean. With a near field, Q_i = λ_i·S_i + (1 − λ_i)·Σ_t weights[t]·Q_t,i.

    Attributes
    ----------
    members, trees : each tree's operator, all at one bandwidth (the first tree's), and the trees.
    weights : (n_trees,), sum 1; ``weighting`` is how they were asked for.
    near_field : the near field, or None.
    neighbors : (indices, divergences), both (N, k): approximate nearest centers; None without a near field.
        The divergences of dense points are found anew each time.
    lower_bound : the same mean of the members' bounds (and the near rows'); by convexity a bound for Q.
    seed, kind : tree t is the ``kind`` tree of seed (seed, t), so that ``add_trees`` goes on where it ended.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, n_trees=2, n_neighbors=1)
    >>> op.n_trees, op.weights
    (2, array([0.5, 0.5]))
    >>> op.neighbors[0].ravel()
    array([1, 0, 3, 2], dtype=int32)
    """

    def __init__(
        self,
        members: Sequence[TransitionOperator],
        *,
        weights: str | ArrayLike = "uniform",
        near_field: NearField | None = None,
        seed: int = 0,
        kind: str = "ward",
    ) -> None:
        first = members[0]
        super().__init__(first.dtype, first.shape)
        self._members = tuple(members)
        self.weighting = weights
        self.weights = resolve_weights(weights, self._members)
        self.near_field, self.seed, self.kind = near_field, seed, kind
        self.tree, self.lifted, self.n_jobs = first.tree, first.lifted, first.n_jobs
        self.bandwidth = first.bandwidth
        self._cache: dict[str, object] = {}

    @cached_property
    def lower_bound(self) -> float:  # type: ignore[override]  # asked for by few, so found when it is
        bounds = [member.lower_bound for member in self._members]
        return float(self.weights @ bounds) if self.near_field is None else float(self.row_values().sum())

    @property
    def members(self) -> tuple[TransitionOperator, ...]:  # type: ignore[override]
        return self._members

    @property
    def trees(self) -> tuple[Tree, ...]:
        return tuple(member.tree for member in self._members)

    @property
    def n_trees(self) -> int:
        return len(self._members)

    @property
    def n_blocks(self) -> int:
        return sum(member.n_blocks for member in self._members)

    @property
    def neighbors(self) -> tuple[Int, Float] | None:
        return None if self.near_field is None else (self.near_field.indices, self.near_field.divergences)

    @property
    def _built_index(self) -> NeighborIndex | None:
        return None if self.near_field is None else self.near_field.index

    # -- entries ------------------------------------------------------------------------------------------

    def row(self, i: int) -> Float:  # (N,)
        """Row i of Q, dense."""
        i = self._checked_row(i)
        row = sum(weight * member.row(i) for weight, member in zip(self.weights, self._members, strict=True))
        if self.near_field is None:
            return np.asarray(row)
        row *= self.near_field.far_share[i]
        columns, entries = self.near_field.row(i)
        row[columns] += entries
        return np.asarray(row)

    def row_values(self) -> Float:  # (N,)
        """Each row's share of ``lower_bound``."""
        values: Float = sum(
            weight * member.row_values() for weight, member in zip(self.weights, self._members, strict=True)
        )
        if self.near_field is None:
            return values
        far = self.near_field.far_share
        return np.asarray(far * values + (1 - far) * self.near_field.row_values(self.bandwidth, self.n_jobs))

    # -- new operators ------------------------------------------------------------------------------------

    def astype(self, dtype: DTypeLike) -> ForestOperator:
        """The same operator with results in float32 for float32 vectors; a tree's sums stay in float64."""
        other = copy.copy(self)
        other.dtype = check_dtype(dtype)
        other._members = tuple(member.astype(dtype) for member in self._members)
        return other

    def add_trees(
        self, n_trees: int, random_state: Any = None, *, progress: Progress = False
    ) -> ForestOperator:
        """A forest with that many trees more, the old ones not rebuilt, at the same bandwidth.

        Equals the forest built with as many trees at once. ``random_state`` is for a new series of trees.
        """
        n_trees = checked_integer(n_trees, "n_trees", 0)
        seed = self.seed if random_state is None else seed_from(random_state)
        numbers = range(self.n_trees, self.n_trees + n_trees)
        grown = [self._grow(_rng(seed, number), progress) for number in numbers]
        weights = self.weighting if isinstance(self.weighting, str) else "uniform"
        return ForestOperator(
            (*self._members, *grown), weights=weights, near_field=self.near_field, seed=seed, kind=self.kind
        )

    def _grow(self, rng: np.random.Generator, progress: Progress) -> TransitionOperator:
        options: dict[str, Any] = {}
        if self.kind == "ward":
            options |= varied(self.lifted.n_points, rng) | _known(self.near_field)
        options |= {"random_state": rng, "n_jobs": self.n_jobs, "progress": progress}
        tree = BUILDERS[self.kind](self.lifted, **options)
        return TransitionOperator(
            self.lifted, tree, bandwidth=self.bandwidth, dtype=self.dtype, n_jobs=self.n_jobs
        )

    def refine(self, n_blocks: int) -> ForestOperator:
        """A forest with that many blocks in all, spread evenly over the members."""
        least = self.n_trees * max(member.n_blocks for member in self._members)
        if checked_integer(n_blocks, "n_blocks", least) == self.n_blocks:
            return self
        shares = [len(part) for part in np.array_split(np.empty(n_blocks, bool), self.n_trees)]
        members = [member.refine(share) for member, share in zip(self._members, shares, strict=True)]
        return ForestOperator(
            members, weights=self.weighting, near_field=self.near_field, seed=self.seed, kind=self.kind
        )

    def __repr__(self) -> str:
        near_field = [] if self.near_field is None else [f"n_neighbors={self.near_field.k}"]
        return self._describe("ForestOperator", f"n_trees={self.n_trees}", *near_field)


def grow_forest(
    lifted: Lifted,
    kind: str,
    n_trees: int,
    near_field: int | NearField,
    *,
    recall: float | None,
    bandwidth: float | str,
    weights: str | ArrayLike,
    random_state: Any,
    n_jobs: int | None,
    progress: Progress,
) -> ForestOperator:
    """A forest of ``n_trees`` trees from one lifted copy; the bandwidth is resolved on the first tree."""
    seed = seed_from(random_state)
    if isinstance(near_field, NearField):
        field: NearField | None = near_field
    else:
        field = _near_field(lifted, near_field, seed, n_jobs, progress, recall) if near_field else None
    known = _known(field) if kind == "ward" else {}
    tree = BUILDERS[kind](lifted, random_state=_rng(seed, 0), n_jobs=n_jobs, progress=progress, **known)
    first = TransitionOperator(lifted, tree, bandwidth=bandwidth, n_jobs=n_jobs)
    one = ForestOperator((first,), near_field=field, seed=seed, kind=kind)
    forest = one.add_trees(n_trees - 1, progress=progress)
    if isinstance(weights, str) and weights == "uniform":
        return forest
    return ForestOperator(forest.members, weights=weights, near_field=field, seed=seed, kind=kind)


def _near_field(
    lifted: Lifted, near: int, seed: int, n_jobs: int | None, progress: Progress, recall: float | None
) -> NearField:
    return NearField.of(lifted, near, np.random.default_rng(seed), n_jobs, progress, recall)


def _known(field: NearField | None) -> dict[str, Any]:
    """What a near field spares Ward's agglomeration, if its lists are exact."""
    if field is None or field.recall != Recall.exact():
        return {}
    return {"nearest": (field.indices, field.divergences)}


def resolve_weights(weights: str | ArrayLike, members: Sequence[TransitionOperator]) -> Float:  # (n_trees,)
    """Weights that sum to 1: "uniform"; "bound", ∝ exp(bound per row); or values ≥ 0."""
    if isinstance(weights, str):
        if weights == "uniform":
            return np.full(len(members), 1.0 / len(members))
        if weights == "bound":
            return np.asarray(special.softmax([member.lower_bound / member.shape[0] for member in members]))
        raise ValueError(f'weights needs "uniform", "bound" or an array; got {weights!r}')
    values = np.asarray(weights, np.float64)
    if values.shape != (len(members),) or not (np.isfinite(values) & (values >= 0)).all() or not values.any():
        raise ValueError(f"weights needs {len(members)} values ≥ 0 with a positive sum; got {weights!r}")
    return np.asarray(values / values.sum())


def seed_from(random_state: Any) -> int:
    """One number from which the whole forest follows."""
    return int(generator(random_state).integers(2**63))


def _rng(seed: int, number: int) -> np.random.Generator:
    """Generator of tree ``number``, the same however many trees there are."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
