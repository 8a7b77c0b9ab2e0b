"""The anchor agglomeration phase: k anchors merge pair by pair, the cheapest first, into one binary tree.

Segments with the same number of anchors run in lock-step: arrays have a leading axis S, and each segment
merges its own cheapest pair in each of the k − 1 steps. A merged cluster takes the slot of its first part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._support.arrays import Float, Long
from ..._support.sparse import CSR
from ...lifting import Lifted
from .jensen import Baselined, SparseRows, baseline_of, divergence_of, mixture_sums

Merge = Literal["bregman", "radius"]

_BATCH_NUMBERS = 1 << 20  # pivots' coordinates held at once
_SPARSE_FROM = 40  # anchors from which sparse pivots are merged on their supports


class Clusters(Protocol):
    """The current clusters of S segments, k slots each."""

    size: Float  # (S, k)

    def cost(self, a: Long, others: Long) -> Float:  # (S,), (S, m) -> (S, m)
        """Cost of merging slot a with each of the others."""

    def merge(self, a: Long, b: Long) -> None:  # (S,), (S,)
        """Puts the union of slots a and b into slot a."""


def agglomerate(clusters: Clusters) -> Long:  # (S, k − 1, 2), k ≥ 3
    """Slots (a, b) merged at each step, a < b; ties go to the lowest slots."""
    S, k = clusters.size.shape
    segment, alive = np.arange(S), np.tile(np.arange(k), (S, 1))
    cost = _all_costs(clusters)
    merges = np.empty((S, k - 1, 2), np.int64)
    for step in range(k - 1):
        a, b = np.divmod(cost.reshape(S, k * k).argmin(axis=1), k)
        merges[:, step, 0], merges[:, step, 1] = a, b
        alive = alive[alive != b[:, None]].reshape(S, -1)
        if alive.shape[1] == 2:  # no choice is left
            merges[:, step + 1] = alive
            break
        clusters.merge(a, b)
        others = alive[alive != a[:, None]].reshape(S, -1)
        cost[segment, b, :] = cost[segment, :, b] = np.inf
        renewed = clusters.cost(a, others)
        cost[segment[:, None], a[:, None], others] = renewed
        cost[segment[:, None], others, a[:, None]] = renewed
    return merges


def _all_costs(clusters: Clusters) -> Float:  # (S, k, k), inf on the diagonal
    S, k = clusters.size.shape
    cost = np.full((S, k, k), np.inf)
    for a in range(k - 1):
        others = np.broadcast_to(np.arange(a + 1, k), (S, k - a - 1))
        cost[:, a, a + 1 :] = clusters.cost(np.full(S, a), others)
        cost[:, a + 1 :, a] = cost[:, a, a + 1 :]
    return cost


def place(
    merges: Long, size: Long, node: Long, start: Long, node_size: NDArray[np.int32]
) -> tuple[Long, Long]:  # (S, k − 1, 2), (S, k), (S,), (S,), (2N − 1,) -> (S, k), (S, k)
    """Pre-order node and first position of every anchor; writes the sizes of the nodes above the anchors."""
    S, k = size.shape
    s, size = np.arange(S), size.copy()
    left = np.empty((S, k - 1), np.int64)
    for step in range(k - 1):
        a, b = merges[:, step].T
        left[:, step] = size[s, a]
        size[s, a] += size[s, b]
    at, first = np.repeat(node[:, None], k, axis=1), np.repeat(start[:, None], k, axis=1)
    for step in range(k - 2, -1, -1):  # the last merge is the segment's own node
        a, b = merges[:, step].T
        node_size[at[s, a]] = left[:, step] + size[s, b]
        at[s, b] = at[s, a] + 2 * left[:, step]
        first[s, b] = first[s, a] + left[:, step]
        at[s, a] += 1
    return at, first


class Agglomeration:
    """How a batch of segments is merged: by which cost, dense or on supports, within bounded memory."""

    def __init__(self, lifted: Lifted, merge: Merge) -> None:
        self.lifted, self.merge = lifted, merge
        divergence = divergence_of(lifted)
        self.phi_sum: Callable[[Float], Float] = divergence.phi_sum
        if lifted.is_sparse:
            self.f = Baselined.of(divergence.phi, baseline_of(lifted))

    def merges(self, pivots: Long, size: Float, radius: Float) -> Long:  # (S, k) ×3 -> (S, k − 1, 2)
        """Merges of S segments with k anchors each; radii are divergences."""
        S, k = pivots.shape
        if k == 2:
            return np.broadcast_to(np.array([0, 1]), (S, 1, 2))
        merges = np.empty((S, k - 1, 2), np.int64)
        for part in self._batches(pivots):
            merges[part] = agglomerate(self._clusters(pivots[part], size[part], radius[part]))
        return merges

    def _batches(self, pivots: Long) -> list[Long]:
        """Rows of ``pivots`` to merge together: as many as fit, sparse ones with like numbers of entries."""
        S, k = pivots.shape
        if not self.lifted.is_sparse:
            rows = max(1, _BATCH_NUMBERS // (k * max(k, self.lifted.n_features)))
            return np.split(np.arange(S), np.arange(rows, S, rows))
        if k >= _SPARSE_FROM:
            return np.split(np.arange(S), np.arange(1, S))
        width = np.maximum(np.diff(self.lifted.X.indptr)[pivots].sum(axis=1), k)
        by_width = np.argsort(-width, kind="stable")
        batches, done = [], 0
        while done < S:
            rows = max(1, int(_BATCH_NUMBERS // (k * width[by_width[done]])))
            batches.append(by_width[done : done + rows])
            done += rows
        return batches

    def _clusters(self, pivots: Long, size: Float, radius: Float) -> Clusters:  # (S, k) each
        on_supports = self.lifted.is_sparse and pivots.shape[1] >= _SPARSE_FROM
        if self.merge == "radius":
            return Covers(self._squared(pivots, on_supports), size, np.sqrt(2.0 * radius))  # d = ½‖·‖²
        if on_supports:
            return SparseMeans(self.lifted.X[pivots[0]], size, self.f)
        return Means(self._dense(pivots), size, self.phi_sum)

    def _squared(self, pivots: Long, on_supports: bool) -> Float:  # (S, k, k)
        """‖A_p − B_p‖²"""
        if on_supports:
            return 2.0 * self.lifted.divergences(pivots[0], pivots[0])[None]
        X = self._dense(pivots)
        inner = X @ X.swapaxes(1, 2)
        norms = np.diagonal(inner, axis1=1, axis2=2)
        return np.asarray(norms[:, :, None] + norms[:, None, :] - 2.0 * inner)

    def _dense(self, pivots: Long) -> Float:  # (S, k) -> (S, k, D)
        """The pivots as dense points; sparse ones on the columns that occur in their segment, padded."""
        if not self.lifted.is_sparse:
            return np.asarray(self.lifted.X[pivots])
        S, k = pivots.shape
        X, base = self.lifted.X[pivots.ravel()], baseline_of(self.lifted)
        row = np.repeat(np.arange(S * k), np.diff(X.indptr))
        segment = row // k
        key, column = np.unique(segment * X.shape[1] + X.indices, return_inverse=True)
        begin = np.searchsorted(key, np.arange(S + 1) * X.shape[1])
        local = column - begin[segment]
        points = np.empty((S, k, max(1, int(np.diff(begin).max()))))
        points[...] = base[0]  # equal in all pivots of a segment, so a padded column costs nothing
        owner = key // X.shape[1]
        points[owner, :, np.arange(len(key)) - begin[owner]] = base[key % X.shape[1]][:, None]
        points[segment, row % k, local] += X.data
        return points


class Means:
    """Dense pivots, merged by Eq. (22) as |A|φ(A_p) + |B|φ(B_p) − |C|φ(C_p) (Telgarsky and Dasgupta 2012)."""

    def __init__(self, pivots: Float, size: Float, phi_sum: Callable[[Float], Float]) -> None:
        self.pivots = pivots  # (S, k, d)
        self.size = size
        self.phi_sum = phi_sum
        self.value = size * phi_sum(pivots)  # (S, k), |A| φ(A_p)
        self.segment = np.arange(len(size))[:, None]

    def _means(self, a: Long, others: Long) -> tuple[Float, Float]:
        """|C| and C_p of slot a with each of the others, Eq. (9)."""
        s, first = self.segment, a[:, None]
        total = self.size[s, first] + self.size[s, others]
        share = self.size[s, first] / total
        means = (1.0 - share)[..., None] * self.pivots[s, others]
        means += share[..., None] * self.pivots[s, first]
        return total, means

    def cost(self, a: Long, others: Long) -> Float:
        total, means = self._means(a, others)
        return (
            self.value[self.segment, a[:, None]]
            + self.value[self.segment, others]
            - total * self.phi_sum(means)
        )

    def merge(self, a: Long, b: Long) -> None:
        total, means = self._means(a, b[:, None])
        s = self.segment[:, 0]
        self.size[s, a], self.pivots[s, a] = total[:, 0], means[:, 0]
        self.value[s, a] = total[:, 0] * self.phi_sum(means[:, 0])


class SparseMeans:
    """As :class:`Means` for one segment of many sparse pivots: O(support) per merge, never O(k·d)."""

    def __init__(self, pivots: CSR, size: Float, f: Baselined) -> None:  # pivots: (k, d) CSR, size: (1, k)
        bounds = zip(pivots.indptr[:-1], pivots.indptr[1:], strict=True)
        self.rows = [(pivots.indices[i:j], pivots.data[i:j]) for i, j in bounds]
        self.size = size
        self.f = f
        self.value = size * SparseRows.stack(self.rows).sums(f)
        self.scratch = np.zeros(pivots.shape[1])

    def cost(self, a: Long, others: Long) -> Float:
        first, rest = int(a[0]), others[0]
        total = self.size[0, first] + self.size[0, rest]
        stacked = SparseRows.stack([self.rows[x] for x in rest])
        at_mean = mixture_sums(self.f, self.rows[first], stacked, self.size[0, first] / total, self.scratch)
        return np.asarray(self.value[0, first] + self.value[0, rest] - total * at_mean)[None]

    def merge(self, a: Long, b: Long) -> None:
        first, second = int(a[0]), int(b[0])
        total = self.size[0, first] + self.size[0, second]
        share = self.size[0, first] / total
        columns = np.union1d(self.rows[first][0], self.rows[second][0])
        for slot, weight in ((first, share), (second, 1.0 - share)):  # Eq. (9)
            self.scratch[self.rows[slot][0]] += weight * self.rows[slot][1]
        values = self.scratch[columns]
        self.scratch[columns] = 0.0
        self.rows[first] = (columns, values)
        self.size[0, first] = total
        self.value[0, first] = total * self.f(values, columns).sum()


class Covers:
    """Euclidean pivots merged by the smallest covering radius, Eq. (10): the original VDT's rule."""

    def __init__(self, squared: Float, size: Float, radius: Float) -> None:
        self.squared = squared  # (S, k, k), ‖A_p − B_p‖²
        self.size = size
        self.radius = radius  # (S, k), A_r
        self.segment = np.arange(len(size))[:, None]

    def cost(self, a: Long, others: Long) -> Float:
        s, first = self.segment, a[:, None]
        apart = np.sqrt(np.maximum(self.squared[s, first, others], 0.0))
        return (self.radius[s, first] + self.radius[s, others] + apart) / 2.0  # C_r, Eq. (10)

    def merge(self, a: Long, b: Long) -> None:
        s = self.segment[:, 0]
        self.radius[s, a] = self.cost(a, b[:, None])[:, 0]
        share = self.size[s, a] / (self.size[s, a] + self.size[s, b])
        self.size[s, a] += self.size[s, b]
        # Distances from the mean of Eq. (9), by Lance and Williams' centroid update.
        spread = (share * (1.0 - share) * self.squared[s, a, b])[:, None]
        t = share[:, None]
        centroid = t * self.squared[s, a] + (1.0 - t) * self.squared[s, b] - spread
        self.squared[s, a, :] = self.squared[s, :, a] = centroid
