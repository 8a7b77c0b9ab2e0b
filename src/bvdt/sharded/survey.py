"""What all slabs together must tell before a point can be lifted: extremes, means, the data's middle, a
sample.

The facts are exactly those that ``bvdt.lifting.lift`` finds on an array: sums over slabs in their order,
the same rows for the middle. Only what has no sum is taken from the sample, of up to ``SAMPLE`` rows: the
covariance of ``mahalanobis`` and the columns of sparse data to be centered; and beyond ``SIZES`` rows, which
of them are out of the ordinary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._support.arrays import Float, Index, Long
from .._support.robust import ordinary_limits
from ..divergences import BregmanDivergence
from ..lifting import (
    MANY,
    Columns,
    Lifting,
    as_points,
    extremes,
    lifting_from_rows,
    middle_rows,
    smoothing_from,
)
from .executors import Executor, Reference

SAMPLE = 65_536
SIZES = 1 << 22


@dataclass(frozen=True, eq=False)
class SlabFacts:
    """Facts of one slab."""

    n_features: int
    is_sparse: bool
    stored: int
    nonzero: int
    extremes: tuple[float, float] | None  # None for a slab without rows
    used: Index | None  # features that occur, of sparse data with very many
    sizes: Float  # Σ|x| of the rows asked for
    rows: list[Any]  # for each list of rows asked for, these rows, as float64


@dataclass(frozen=True, eq=False)
class Survey:
    """What all slabs tell, and the rows taken from them."""

    lifting: Lifting
    sample: Any  # (≤ SAMPLE, d), as given
    n_points: int
    width: float  # stored numbers per row


def survey_slab(
    X: Any, first: int, divergence: BregmanDivergence, wanted: list[Long], sized: Long | None
) -> SlabFacts:
    """Facts of one slab whose first row is ``first``; ``wanted`` and ``sized`` are places in the slab."""
    with rows_from(first):
        points = slab_points(X)
        if points.shape[0] == 0:
            empty = [points[:0] for _ in wanted]
            return SlabFacts(points.shape[1], sparse.issparse(points), 0, 0, None, None, np.zeros(0), empty)
        rows = [points[places] for places in wanted]
        if not divergence.translation_invariant:
            _, points = divergence.prepare(points)
    is_sparse = bool(sparse.issparse(points))
    nonzero = points.count_nonzero() if is_sparse else np.count_nonzero(points)
    stored = points.nnz if is_sparse else points.size
    sizes = np.asarray(abs(points).sum(axis=1), float).ravel()
    sizes = sizes if sized is None else sizes[sized]
    used = np.unique(points.indices).astype(np.intp) if is_sparse and points.shape[1] >= MANY else None
    gathered = int(stored), int(nonzero), extremes(points), used
    return SlabFacts(points.shape[1], is_sparse, *gathered, sizes, rows)


def slab_means(
    X: Any, divergence: BregmanDivergence, low: float, high: float, columns: Columns | None
) -> tuple[int, Float]:
    """How many rows have a size from ``low`` to ``high``, and their sum, of the columns in use."""
    points = slab_points(X)
    points = points if columns is None else columns.kept(points)
    if points.shape[0] == 0:
        return 0, np.zeros(points.shape[1])
    _, points = divergence.prepare(points)
    sizes = np.asarray(abs(points).sum(axis=1), float).ravel()
    kept = np.flatnonzero((sizes >= low) & (sizes <= high))
    return len(kept), np.asarray(points[kept].sum(axis=0), float).ravel()


def slab_points(X: Any) -> Any:
    """A slab as float64 points; a slab may have no rows."""
    return as_points(X.to_numpy() if hasattr(X, "to_numpy") else X, minimum=0)


@contextmanager
def rows_from(first: int) -> Iterator[None]:
    """Errors name rows of the whole data instead of the slab's."""
    try:
        yield
    except ValueError as error:

        def moved(match: re.Match[str]) -> str:
            return f"{match[1]}{int(match[2]) + first}"

        raise ValueError(re.sub(r"(X\[|\brow )(\d+)", moved, str(error))) from None


def survey(
    executor: Executor,
    slabs: Sequence[Reference],
    lengths: Sequence[int],
    divergence: BregmanDivergence,
    smoothing: float | str | ArrayLike,
    rng: np.random.Generator,
) -> Survey:
    """One pass over the slabs, a second where the smoothing needs means of ordinary rows."""
    divergence = divergence.over_parts()
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n_points = int(starts[-1])
    if n_points < 2:
        raise ValueError(f"X needs at least 2 points; it has {n_points}")
    sampled = np.arange(n_points) if n_points <= SAMPLE else np.sort(_chosen(rng, n_points, SAMPLE))
    middle = middle_rows(n_points)
    wanted = [[_inside(rows, *span) for rows in (sampled, np.sort(middle))] for span in _spans(starts)]
    sized = [None if n_points <= SIZES else places[0] for places in wanted]
    each = [divergence] * len(slabs)
    found: list[SlabFacts] = executor.gather(
        executor.map("survey", survey_slab, slabs, list(starts[:-1]), each, wanted, sized)
    )
    facts = _AllFacts(executor, slabs, found, n_points, divergence, np.ndim(smoothing) == 0)
    sample, rows = (_stacked([slab.rows[k] for slab in found if slab.extremes]) for k in range(2))
    columns = facts.columns
    divergence, prepared = divergence.prepare(sample if columns is None else columns.kept(sample))
    baseline = smoothing_from(facts, divergence, smoothing)
    few = columns is not None or 3 * facts.stored <= 2 * n_points * facts.width
    is_sparse = facts.is_sparse and divergence.separable and few
    rows = rows.toarray() if sparse.issparse(rows) and not is_sparse else rows
    rows = prepared if is_sparse else divergence.prepare(rows)[1]
    lifting = lifting_from_rows(divergence, baseline, is_sparse, rows, columns)
    return Survey(lifting, sample, n_points, facts.stored / n_points)


class _AllFacts:
    """``bvdt.lifting.Facts`` of all slabs."""

    def __init__(
        self,
        executor: Executor,
        slabs: Sequence[Reference],
        found: list[SlabFacts],
        n_points: int,
        divergence: BregmanDivergence,
        same_smoothing: bool,
    ) -> None:
        self._executor, self._slabs, self._found, self._divergence = executor, slabs, found, divergence
        self._means: Float | None = None
        self.n_points = n_points
        widths = [slab.n_features for slab in found]
        if len(set(widths)) > 1:
            at = next(k for k, width in enumerate(widths) if width != widths[0])
            raise ValueError(f"X needs {widths[0]} features in every part; part {at} has {widths[at]}")
        kinds = [slab.is_sparse for slab in found if slab.extremes]
        if len(set(kinds)) > 1:
            at = next(k for k, slab in enumerate(found) if slab.extremes and slab.is_sparse != kinds[0])
            names = {True: "sparse", False: "dense"}
            raise ValueError(
                f"X needs parts that are all dense or all sparse; the first is {names[kinds[0]]}, "
                f"part {at} is {names[not kinds[0]]}"
            )
        self.is_sparse, self.width = kinds[0], widths[0]
        self.stored = sum(slab.stored for slab in found)
        self.columns = self._in_use() if divergence.separable and same_smoothing else None
        self.n_features = self.width if self.columns is None else len(self.columns.used) + 1
        self.n_features += divergence.n_added

    def _in_use(self) -> Columns | None:
        used = [slab.used for slab in self._found if slab.used is not None]
        return Columns.among(np.unique(np.concatenate(used)), self.width) if used else None

    def extremes(self) -> tuple[float, float]:
        ends = [slab.extremes for slab in self._found if slab.extremes]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def nonzero_share(self) -> float:
        return sum(slab.nonzero for slab in self._found) / (self.n_points * self.width)

    def ordinary_means(self) -> Float:  # (d,)
        if self._means is None:
            low, high = ordinary_limits(np.concatenate([slab.sizes for slab in self._found]))
            count = len(self._slabs)
            each = [[given] * count for given in (self._divergence, low, high, self.columns)]
            sums = self._executor.gather(self._executor.map("means", slab_means, self._slabs, *each))
            self._means = np.sum([total for _, total in sums], axis=0) / sum(n for n, _ in sums)
        return self._means


def _chosen(rng: np.random.Generator, n_points: int, count: int) -> Long:
    return rng.choice(n_points, count, replace=False, shuffle=False)


def _spans(starts: Long) -> Iterator[tuple[int, int]]:
    return zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)


def _inside(rows: Long, first: int, last: int) -> Long:
    """Which of the ascending rows lie in a slab, as places in it."""
    return rows[np.searchsorted(rows, first) : np.searchsorted(rows, last)] - first


def _stacked(parts: list[Any]) -> Any:
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)
