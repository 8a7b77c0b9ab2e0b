"""Rows for points outside the tree.

A new point x is placed at its nearest training point ℓ, its twin, and walks as the twin does, or to the twin
itself:

    row(x) = (1 − m)·Q_ℓ + m·δ_ℓ,      m = e^{−d(x, ℓ)/β} / (e^{−d(x, ℓ)/β} + e^{r_ℓ})

where r_ℓ, the twin's share of the bound, stands for the log of Σ_j e^{−d_ℓj/β} over the others: m is the
softmax weight of the one centre that the twin's own row lacks. So a product costs one product of Q and a
gather.

Finding the twin. Preparation, once per operator, O(nnz·depth): the mean point, as a centre, of every node
whose parent has more than ``SCANNED`` points, and a hash of every training point. A query goes down from the
root, at every level with the ``BEAM`` nodes whose means are nearest, then reads the points below them:
O(BEAM·(depth + SCANNED)) divergences, and those from the ``UPPER`` largest nodes, whose means are the
fullest, at once in one product. It may miss the nearest point; the hash finds a training point that is
queried back. ``nearest`` keeps the k best of all the points that were read instead of one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from .._support import memory
from .._support.arrays import Float, Int, checked_integer
from ..lifting import Lifted, pair_divergences, pair_dots, row_hashes
from ..tree import Tree, limit_depth
from .base import RealOperator

if TYPE_CHECKING:
    from .single_tree import TransitionOperator
    from .walk import WalkOperator

SCANNED = 256
BEAM = 8  # measured: docs/decisions.md
UPPER = 1024
_BATCH = 1 << 20  # pairs at once


class ExtendedOperator(RealOperator):
    """Rows of n_new points over the N training points; each sums to 1. ``weight`` is the ``twin``'s m."""

    def __init__(self, operator: WalkOperator, twin: NDArray[np.intp], weight: Float) -> None:
        super().__init__(operator.dtype, (len(twin), operator.shape[0]))
        self.operator, self.twin, self.weight = operator, twin, weight

    def _apply(self, V: NDArray[Any], transpose: bool) -> NDArray[Any]:
        m = self._weights(V)
        if not transpose:
            return np.asarray((1 - m) * (self.operator @ V)[self.twin] + m * V[self.twin])
        to_walk = np.zeros((self.shape[1], *V.shape[1:]), np.result_type(self.dtype, V.dtype))
        to_stay = np.zeros_like(to_walk)
        np.add.at(to_walk, self.twin, (1 - m) * V)
        np.add.at(to_stay, self.twin, m * V)
        return np.asarray(self.operator.T @ to_walk + to_stay)

    def _weights(self, V: NDArray[Any]) -> NDArray[Any]:
        dtype = np.result_type(self.dtype, V.dtype)
        return self.weight.reshape(-1, *[1] * (V.ndim - 1)).astype(dtype, copy=False)

    def row(self, i: int) -> Float:  # (N,)
        """Row of new point i, dense."""
        row = (1 - self.weight[i]) * self.operator.row(int(self.twin[i]))
        row[self.twin[i]] += self.weight[i]
        return np.asarray(row)

    def toarray(self) -> Float:  # (n_new, N)
        """All rows, dense; refuses with a MemoryError that names the GiB when they would not fit."""
        memory.require(8.0 * self.shape[0] * self.shape[1], f"a dense matrix of {self.shape[0]} new rows")
        return np.stack([self.row(i) for i in range(self.shape[0])])

    def __repr__(self) -> str:
        return f"ExtendedOperator(n_new={self.shape[0]}, n_points={self.shape[1]}, dtype={self.dtype})"


@memory.telling("placing new points")
def extend(op: WalkOperator, X_new: Any) -> ExtendedOperator:
    """Operator of the rows of new points; see the module's head."""
    new = _lifted_new(op, X_new, "extend")
    twin, divergence = _nearest(op, new)
    # e^{−d}/(e^{−d} + e^{r}) is the logistic function of −d − r.
    weight = special.expit(-divergence / op.bandwidth - op.row_values()[twin])
    return ExtendedOperator(op, twin, weight)


def _lifted_new(op: WalkOperator, X_new: Any, name: str) -> Lifted:
    lifting = op.lifted.lifting
    if lifting is None:
        raise ValueError(
            f"{name} needs the divergence that lifted the data; this operator has none "
            "(a loaded custom phi: set it with bvdt.load(path, divergence=...))"
        )
    return lifting.transform(X_new)


@memory.telling("finding the nearest points")
def nearest(op: WalkOperator, X_new: Any, k: int = 15) -> tuple[NDArray[np.intp], Float]:  # (n_new, k) ×2
    """The k nearest fitted points of each new one, as centres, and the divergences from them, ascending.

    Exact among the points that are read: those that the search of every tree ends at, see the module's head;
    or, with a near field, those of the first tree's and what their near lists name. −1 and +∞ where fewer
    were read. Up to ``SCANNED`` points all are.
    """
    k = checked_integer(k, "k", 1, op.shape[0])
    new = _lifted_new(op, X_new, "nearest")
    lists = getattr(op, "neighbors", None)
    # The first tree and the near lists find more of the nearest than two trees do (20 Newsgroups:
    # 0.86 against 0.77 of 15), in about two thirds of the time.
    finders = [_finder(member) for member in (op.members if lists is None else op.members[:1])]
    index = np.full((new.n_points, k), -1, np.intp)
    divergence = np.full((new.n_points, k), np.inf)
    same = finders[0].same_point(new)
    step = max(1, _BATCH // (BEAM * SCANNED))
    for start in range(0, new.n_points, step):
        rows = np.arange(start, min(start + step, new.n_points))
        offers = [(same[0][rows, None], same[1][rows, None])]
        offers += [finder.best_scanned(new, rows, k) for finder in finders]
        found = _best_distinct(offers, k)
        if lists is not None and op.shape[0] > SCANNED:
            found = _best_distinct([found, _joined(op, new, rows, lists[0][found[0]])], k)
        index[rows], divergence[rows] = found
    return index, divergence


def _joined(
    op: WalkOperator, new: Lifted, rows: NDArray[Any], lists: NDArray[Any]
) -> tuple[NDArray[np.intp], Float]:  # (m, ·) ×2
    """What the near lists (m, k, near) of the points found so far name: one step of NN-descent."""
    points = np.sort(lists.reshape(len(rows), -1), axis=1).astype(np.intp)
    points[:, 1:][points[:, 1:] == points[:, :-1]] = -1  # each once
    d = np.full(points.shape, np.inf)
    row, column = np.nonzero(points >= 0)
    d[row, column] = pair_divergences(new, op.lifted, rows[row], points[row, column], op.n_jobs)
    return points, d


def _best_distinct(
    offers: list[tuple[NDArray[np.intp], Float]], k: int
) -> tuple[NDArray[np.intp], Float]:  # (m, k) ×2
    """The k least of each row of all the offers, each point once; ascending by divergence, then by index."""
    points, d = (np.hstack(part) for part in zip(*offers, strict=True))
    order = np.lexsort((d, points), axis=1)
    points, d = np.take_along_axis(points, order, 1), np.take_along_axis(d, order, 1)
    d[:, 1:][points[:, 1:] == points[:, :-1]] = np.inf
    points = np.where(d < np.inf, points, -1)
    order = np.lexsort((points, d), axis=1)[:, :k]
    found = np.full((len(points), k), -1, np.intp), np.full((len(points), k), np.inf)
    found[0][:, : order.shape[1]] = np.take_along_axis(points, order, 1)
    found[1][:, : order.shape[1]] = np.take_along_axis(d, order, 1)
    return found


def _finder(member: TransitionOperator) -> TwinFinder:
    finder: TwinFinder = member._cached("finder", partial(TwinFinder.of, member))
    return finder


def _nearest(op: WalkOperator, new: Lifted) -> tuple[NDArray[np.intp], Float]:  # (n_new,) ×2
    """Each new point's twin, the nearest that any of the trees leads to, and the divergence from it."""
    twin, divergence = np.zeros(new.n_points, np.intp), np.full(new.n_points, np.inf)
    for member in op.members:
        other, d = _finder(member).find(new)
        nearer = d < divergence
        twin[nearer], divergence[nearer] = other[nearer], d[nearer]
    return twin, divergence


@dataclass(frozen=True, eq=False)
class TwinFinder:
    """What a query needs beside the tree and the data."""

    lifted: Lifted
    tree: Tree
    slot: Int  # (2N−1,) row of a node in w, the largest first; −1 below nodes of at most SCANNED points
    w: Float  # (n_slots,) of the node's mean point, as a centre
    H_upper: Any  # (d, n_upper) of the first slots
    H_lower: Any  # (n_slots − n_upper, d) of the others
    key: NDArray[np.uint64]  # (N,) sorted hashes
    key_point: NDArray[np.intp]  # (N,)
    n_jobs: int | None

    @classmethod
    def of(cls, op: TransitionOperator) -> TwinFinder:
        """Prepared for an operator; see the module's head for the cost."""
        lifted = op.lifted
        # Any tree over the points finds a twin; of a chain, each level would be a step.
        tree = limit_depth(op.tree, most=int(4 * math.log2(op.tree.n_points) + 50))
        nodes = 1 + np.flatnonzero(tree.size[tree.parent[1:]] > SCANNED)
        nodes = nodes[np.argsort(-tree.size[nodes], kind="stable")]
        memory.require(16.0 * float(tree.size[nodes].sum()), "extend on a tree this deep")
        slot = np.full(tree.n_nodes, -1, np.int32)
        slot[nodes] = np.arange(len(nodes))
        w, H = lifted.centres_of(_membership(tree, nodes) @ lifted.X)
        key = row_hashes(lifted)
        by_key = np.argsort(key, kind="stable")
        H_upper = H[:UPPER].T.tocsr() if lifted.is_sparse else H[:UPPER].T
        return cls(lifted, tree, slot, w, H_upper, H[UPPER:], key[by_key], by_key, op.n_jobs)

    def find(self, new: Lifted) -> tuple[NDArray[np.intp], Float]:  # (n_new,) ×2
        """Each new point's twin, and the divergence from it."""
        twin, divergence = np.empty(new.n_points, np.intp), np.empty(new.n_points)
        step = max(1, _BATCH // (BEAM * SCANNED))
        for start in range(0, new.n_points, step):
            rows = np.arange(start, min(start + step, new.n_points))
            query, node = self._descend(new, rows)
            point, d = self._scan(new, query, node)
            nearest = np.lexsort((d, query))[np.searchsorted(query, rows)]
            twin[rows], divergence[rows] = point[nearest], d[nearest]
        same, d = self.same_point(new)
        twin[same >= 0], divergence[same >= 0] = same[same >= 0], d[same >= 0]
        return twin, divergence

    def same_point(self, new: Lifted) -> tuple[NDArray[np.intp], Float]:  # (n_new,) ×2
        """The training point that a new one is, and 0; −1 and +∞ if it is none."""
        same, divergence = self._same(new), np.full(new.n_points, np.inf)
        known = np.flatnonzero(same >= 0)
        if known.size:
            exact = self._divergences(new, known, same[known]) <= 1e-9 * (1 + np.abs(new.u[known]))
            same[known[~exact]] = -1  # another point with the same hash
            divergence[known[exact]] = 0.0
        return same, divergence

    def best_scanned(self, new: Lifted, rows: NDArray[Any], k: int) -> tuple[NDArray[np.intp], Float]:
        """The k nearest, in no order, of the points below the nodes where descents end; (m, ≤ k) ×2."""
        query, node = self._descend(new, rows)
        points, size = self._points_below(node)
        owner = np.repeat(query, size)
        d = self._divergences(new, owner, points)
        first = np.searchsorted(owner, rows)
        width = int(np.diff(np.append(first, len(owner))).max())
        table, at = np.full((len(rows), width), np.inf), np.arange(len(owner)) - first[owner - rows[0]]
        table[owner - rows[0], at] = d
        column = (
            np.argpartition(table, k - 1, axis=1)[:, :k]
            if k < width
            else np.tile(np.arange(width), (len(rows), 1))
        )
        d = np.take_along_axis(table, column, 1)
        at = np.minimum(first[:, None] + column, len(points) - 1)
        return np.where(d < np.inf, points[at], -1), d

    def _divergences(self, new: Lifted, a: NDArray[Any], points: NDArray[Any]) -> Float:  # (n,) ×2 -> (n,)
        """d(x_a, training point) for chosen pairs."""
        return pair_divergences(new, self.lifted, a, points, self.n_jobs)

    def _descend(
        self, new: Lifted, rows: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:  # (m,) ×2
        """Rows, in order, each up to BEAM times, and where they end: nodes of at most SCANNED points."""
        upper = new.X[rows] @ self.H_upper
        upper = self.w[: upper.shape[1]] - (upper.toarray() if sparse.issparse(upper) else upper)
        node, score = np.zeros((len(rows), 1), np.intp), np.zeros((len(rows), 1))
        while (wide := (self.tree.size[node] > SCANNED) & (score < np.inf)).any():
            query = np.nonzero(wide)[0]
            left, right = node.copy(), node.copy()
            left[wide], right[wide] = self.tree.left[node[wide]], self.tree.right[node[wide]]
            left_score, right_score = score.copy(), np.full_like(score, np.inf)  # a small node stays, once
            left_score[wide] = self._mean_scores(new, rows, upper, query, left[wide])
            right_score[wide] = self._mean_scores(new, rows, upper, query, right[wide])
            node, score = np.hstack([left, right]), np.hstack([left_score, right_score])
            best = np.argsort(score, axis=1, kind="stable")[:, :BEAM]
            node, score = np.take_along_axis(node, best, 1), np.take_along_axis(score, best, 1)
        found = score < np.inf
        return rows[np.nonzero(found)[0]], node[found]

    def _mean_scores(
        self, new: Lifted, rows: NDArray[Any], upper: Float, query: NDArray[Any], node: NDArray[Any]
    ) -> Float:  # (m,)
        """d(x, mean point of the node) less what depends on x alone, for x = rows[query]."""
        slot, n_upper = self.slot[node], upper.shape[1]
        scores = upper[query, np.minimum(slot, n_upper - 1)]
        low = np.flatnonzero(slot >= n_upper)
        if low.size:
            inner = pair_dots(new.X, self.H_lower, rows[query[low]], slot[low] - n_upper, self.n_jobs)
            scores[low] = self.w[slot[low]] - inner
        return np.asarray(scores)

    def _scan(self, new: Lifted, rows: NDArray[np.intp], node: NDArray[np.intp]) -> tuple[Any, Float]:
        """Nearest point of the node where each row's descent ended."""
        points, size = self._points_below(node)
        first = np.concatenate([[0], np.cumsum(size)])
        d = self._divergences(new, np.repeat(rows, size), points)
        least = np.minimum.reduceat(d, first[:-1])
        hits = np.flatnonzero(d == np.repeat(least, size))
        at = hits[np.searchsorted(hits, first[:-1])]
        return points[at], least

    def _points_below(self, node: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The points of all the nodes, one node after the other, and how many each has."""
        size = self.tree.size[node].astype(np.intp)
        first = np.cumsum(size) - size
        within = np.arange(int(size.sum())) - np.repeat(first, size)
        return self.tree.order[np.repeat(self.tree.start[node], size) + within].astype(np.intp), size

    def _same(self, new: Lifted) -> NDArray[np.intp]:  # (n_new,)
        """A training point with the same hash, or −1."""
        key = row_hashes(new)
        at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[at] == key, self.key_point[at], -1)


def _membership(tree: Tree, nodes: NDArray[np.intp]) -> Any:  # CSR (n_nodes, N)
    """Rows that average over the points of each node."""
    size = tree.size[nodes].astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(size)])
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], size)
    points = tree.order[np.repeat(tree.start[nodes], size) + within]
    return sparse.csr_array((np.repeat(1.0 / size, size), points, indptr), shape=(len(nodes), tree.n_points))
