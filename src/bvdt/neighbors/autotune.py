"""Autotune: the least search budget of a ladder that reaches a recall, by sampled queries with ground truth.

One half of the queries tunes, the other is held out: it measures what was reached, and more is spent where it
falls short. Nothing is timed, so the same points, seed and recall give the same parameters, and so the same
lists, on every machine; where two ways lead to the recall, the one with fewer comparisons is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Index, Int
from ..lifting import Lifted
from .differences import ROUNDING
from .exact import exact_lists
from .ivf import N_CANDIDATES, InvertedLists
from .nn_descent import Read
from .params import SearchParams
from .postings import LADDER, PostingIndex
from .projection import Projection
from .recall import Recall, count_hits, recall_lower_bound, sure_share

SAMPLE = 256  # queries in each half
START = 0.85  # recall of the lists that NN-descent begins with
MOST_ITERATIONS = 6
_RERANKED = 12_000  # coordinates compared in registers that take as long as one candidate's re-rank
_JOINED = 20  # comparisons of a search that take as long as all local joins do per pair of neighbors
_LINKS = 0.15  # neighbors that lead on, beyond those asked for, times the misses that are allowed
_REPRESENTATIVES = 15_000  # points that directions are tried on
_LITTLE = 0.1  # more budget where a search falls short; the least gain of an iteration, of the misses


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """Sampled queries and their exact lists."""

    rows: Index  # (m,) points
    indices: Int  # (m, k)
    divergences: Float  # (m, k)
    rounding: Float  # (m, 1) of these
    ranks: Int | None = None  # (m, k) how many others an estimate puts before each, where there is one

    @classmethod
    def of(cls, points: Lifted, k: int, rng: np.random.Generator, n_queries: int = 2 * SAMPLE) -> GroundTruth:
        """By comparing all pairs."""
        rows = rng.choice(points.n_points, min(n_queries, points.n_points), replace=False)
        lists = exact_lists(points, points, k, rows, rows)
        return cls(rows, *lists, _rounding(points, rows, lists[0]))

    @classmethod
    def by_lists(cls, index: InvertedLists, k: int, rng: np.random.Generator) -> GroundTruth:
        """The same by probing all lists, which is faster.

        An estimate that no divergence is below makes a list complete where its k-th is below the last
        candidate re-ranked; the queries of others, and those of other estimates, are compared with all.
        """
        n = index.points.n_points
        rows = rng.choice(n, min(2 * SAMPLE, n), replace=False)
        if index.projection is None:
            found = index.search_own(rows, k, SearchParams(n))
            return cls(rows, *found, _rounding(index.points, rows, found[0]))
        width = min(4 * SAMPLE, n - 1)  # among which all of a query's nearest are as a rule
        estimates = replace(index, points=index.compared, projection=None)
        listed, estimate = estimates.search_own(rows, width, SearchParams(n))
        found = index.reranked(rows, listed, estimate, k)
        short = np.flatnonzero(found[1][:, -1] >= estimate[:, -1]) if index.is_bound else np.arange(len(rows))
        if len(short):
            exact = exact_lists(index.points, index.points, k, rows[short], rows[short])
            found[0][short], found[1][short] = exact
        at = found[0][:, :, None] == listed[:, None, :]
        ranks = np.where(at.any(axis=2), at.argmax(axis=2), n)
        return cls(rows, *found, _rounding(index.points, rows, found[0]), ranks)

    @property
    def k(self) -> int:
        return int(self.indices.shape[1])

    def hits(self, divergences: Float) -> NDArray[np.intp]:  # (m, k) -> (m,)
        """How many of each query's true neighbors lists of these queries hold."""
        return np.minimum(count_hits(divergences - self.rounding, self.divergences), self.k)


def _rounding(points: Lifted, rows: Index, listed: Int) -> Float:  # (m, 1)
    """By how much a divergence may differ where it is added up in another order."""
    return np.asarray(ROUNDING * (np.abs(points.u[rows]) + np.abs(points.w[listed]).max(axis=1))[:, None])


@dataclass(frozen=True, eq=False)
class Target:
    """A recall to be reached; the first half of the ground truth tunes, the second checks and measures."""

    recall: float
    truth: GroundTruth

    @property
    def k(self) -> int:
        return self.truth.k

    @property
    def rows(self) -> Index:
        return self.truth.rows

    def halves(self, hits: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:  # (m,)
        """Of tuning and of held-out queries."""
        middle = len(hits) // 2
        return hits[:middle], hits[middle:]

    def enough(self, hits: NDArray[np.intp]) -> bool:  # (m,)
        """Whether it is reached: surely on the tuning queries, if so few can show it, and on the others."""
        tuning, held_out = self.halves(hits)
        most = recall_lower_bound(np.full_like(tuning, self.k), self.k)  # if all were hits
        sure = recall_lower_bound(tuning, self.k) >= min(self.recall, most)
        return sure and bool(held_out.mean() >= self.recall * self.k)

    def is_met(self, divergences: Float) -> bool:
        """Whether lists of ``rows`` show it on both halves."""
        return all(half.mean() >= self.recall * self.k for half in self.halves(self.truth.hits(divergences)))

    def measured(self, divergences: Float) -> Recall:
        """By the held-out queries."""
        return Recall.of(self.halves(self.truth.hits(divergences))[1], self.k)

    def stop(self) -> Callable[[Read, bool], bool]:
        """For NN-descent: when it is reached, or an iteration gains little."""
        last = [-np.inf]

        def is_enough(read: Read, at_end: bool) -> bool:
            hits = self.truth.hits(read(self.rows)[1])
            if self.enough(hits):
                return True
            mean = float(self.halves(hits)[0].mean())
            gained, missing = mean - last[0], self.k - last[0]
            if at_end:
                last[0] = mean
            return at_end and gained < _LITTLE * missing

        return is_enough


def choose_directions(
    points: Lifted, projection: Projection, k: int, recall: float, rng: np.random.Generator
) -> int:
    """How many principal directions to compare dense points in; 0 for all coordinates.

    The estimate ranks true neighbors behind others; how long lists have to be that are re-ranked is tried on
    some points that stand for all.
    """
    n, d = points.n_points, points.n_features
    truth = GroundTruth.of(points, k, rng, SAMPLE // 8)
    drawn = rng.choice(n, min(n, _REPRESENTATIVES), replace=False)
    some = np.unique(np.concatenate([truth.rows, truth.indices.ravel(), drawn]))
    sample, rows, true = points.take(some), *(np.searchsorted(some, i) for i in (truth.rows, truth.indices))
    allowed = (1 - sure_share(recall, SAMPLE, k)) / 2  # half of the misses are the estimate's
    guess = N_CANDIDATES // 2
    best, least, projected = 0, float(guess * d), projection(sample)
    for r in _ladder(projection.directions.shape[1]):
        if (guess + d) * r + _RERANKED * k >= least:
            break  # however short the lists were
        estimate = projection.shortened(projected, r).divergences(rows, slice(None))
        estimate[np.arange(len(rows)), rows] = np.inf
        of_true = np.take_along_axis(estimate, true, axis=1)
        before = (estimate[:, None, :] < of_true[:, :, None]).sum(axis=2)
        among = (of_true[:, None, :] < of_true[:, :, None]).sum(axis=2)
        ranks = among + n / len(some) * (before - among)
        rerank = int(np.quantile(ranks, 1 - allowed, method="higher")) + 1
        cost = (guess + d) * r + _RERANKED * max(k, rerank)
        if cost < least:
            best, least = r, cost
    return best


def _ladder(most: int) -> list[int]:
    """Numbers of directions from 32 on, each √2 times the last, less the one coordinate of what is left."""
    return [r for r in (round(32 * 2 ** (rung / 2)) - 1 for rung in range(12)) if r <= most]


def candidates_needed(index: InvertedLists, truth: GroundTruth) -> Index:  # (m, k)
    """How many points the lists hold that are probed until that of each true neighbor is.

    It is probed if it is near to the query and, ``reach`` times as far, to the query's own list.
    """
    size, list_of = np.diff(index.bounds).astype(float), index.list_of
    from_query = index.scores(index.compared.take(truth.rows), slice(None))
    from_home = index.scores_from(list_of[truth.rows])
    per_list = len(list_of) / len(size) / index.lists.reach
    needed = np.empty(truth.indices.shape, np.intp)
    for row, (score, home) in enumerate(zip(from_query, from_home, strict=True)):
        true = list_of[truth.indices[row]]
        before = np.count_nonzero(home < home[true][:, None], axis=1) * per_list
        needed[row] = np.maximum((score < score[true][:, None]) @ size, before) + 1
    return needed


def tune_lists(index: InvertedLists, target: Target) -> tuple[SearchParams, Recall]:
    """The least budget that promises the recall, by where the true neighbors lie; and what it reaches.

    A true neighbor is found if its list is probed and if its estimate is among those re-ranked. More is spent
    while a search of the queries falls short.
    """
    n, k, truth = index.points.n_points, target.k, target.truth
    needed = candidates_needed(index, truth)
    ranks = np.zeros_like(needed) if truth.ranks is None else truth.ranks
    shares = np.linspace(target.recall, 1, 20)
    lengths = np.unique(np.maximum(np.quantile(ranks, shares, method="higher") + 1, k))
    ladder = np.unique(np.quantile(needed, shares, method="higher"))
    best, least = SearchParams(n, int(lengths[-1])), np.inf
    for rerank in lengths:
        for n_candidates in ladder:
            cost = n_candidates * index.compared.n_features + (
                _RERANKED * rerank if truth.ranks is not None else 0
            )
            if cost < least and target.enough(((needed <= n_candidates) & (ranks < rerank)).sum(axis=1)):
                best, least = SearchParams(int(n_candidates), int(rerank)), cost
    while True:
        divergences = index.search_own(target.rows, k, best)[1]
        if target.is_met(divergences) or best.n_candidates >= n:
            return best, target.measured(divergences)
        rerank = k if truth.ranks is None else int((1 + _LITTLE) * best.rerank) + 1
        best = SearchParams(min(int((1 + _LITTLE) * best.n_candidates) + 1, n), min(rerank, n - 1))


def tune_graph(index: InvertedLists, target: Target, alone: SearchParams) -> SearchParams:
    """Whether a poorer search and NN-descent take less than the search that reaches the recall alone."""
    k = target.k
    # The more links, the closer NN-descent comes to all neighbors before it stands still.
    n_links = min(k + min(k, round(_LINKS / (1 - target.recall))), index.points.n_points - 1)
    worthwhile = alone.n_candidates - _JOINED * n_links**2
    start = int(np.quantile(candidates_needed(index, target.truth), START, method="higher"))
    if max(start, 4 * k) > worthwhile:
        return alone
    return SearchParams(max(start, 4 * k), alone.rerank, MOST_ITERATIONS, n_links)


def tune_postings(index: PostingIndex, target: Target) -> tuple[SearchParams, Recall]:
    """The first rung of the ladder that reaches the recall, or all postings; and what it reaches."""
    k = target.k
    ladder = [SearchParams(n_postings, max(rerank, k)) for n_postings, rerank in LADDER]
    ladder.append(SearchParams(max(1, index.points.n_values), index.points.n_points))
    for params in ladder:
        divergences = index.search_own(target.rows, k, params)[1]
        if target.enough(target.truth.hits(divergences)):
            break
    return params, target.measured(divergences)
