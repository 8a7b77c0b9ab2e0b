"""The tree above the shards, and what it adds to each of the stages (theory: Two levels).

A shard p is a tree of its own over n_p points. The top tree has the shards as its leaves; put in place of
these leaves, the shards' trees make one tree over all points. Its blocks are those inside shards and those
between siblings of the top tree, whose divergences follow from five sums per shard. With k_p = c_root of
shard p alone,

    c_p = log(z_p + exp(k_p)),   z_p = |B|·exp(−d̄_pB / β)   for the sibling B of p
    q inside p = σ_p · (q of shard p alone),   σ_p = s_p·exp(k_p − c_p)

and Q·v inside p is σ_p·(Q_p·v_p) plus one number per column, which the blocks above p add to all its
points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._support.arrays import Float, Int
from ..blocks import Curve
from ..operators import Side
from ..tree import Tree, ward_tree_of_means

_LARGEST = 1e300  # d̄/β, as in the kernels


class Sums(NamedTuple):
    """Sums over the points of a shard."""

    n_points: int
    u: float
    w: float
    x: Float  # (d,)
    h: Float  # (d,)


@dataclass(frozen=True, eq=False)
class Top:
    """The top tree over P shards with the mean divergences of its 2(P − 1) blocks."""

    tree: Tree | None  # None for one shard, which has nothing above it
    n_points: Float  # (2P−1,) of every node, in pre-order
    mean_divergence: Float  # (2P−1,) of (node, its sibling); 0 for the root
    sibling: Int  # (2P−1,)
    shard: Int  # (2P−1,) of a leaf, −1 for the others

    @classmethod
    def of(cls, sums: Sequence[Sums], seed: int = 0) -> Top:
        """Ward's tree over the shards' means, its blocks by Eq. (20)."""
        n = np.array([s.n_points for s in sums], float)
        if len(sums) == 1:
            return cls(None, n, np.zeros(1), np.full(1, -1, np.int32), np.zeros(1, np.int32))
        x, h = np.stack([s.x for s in sums]), np.stack([s.h for s in sums])
        tree = ward_tree_of_means(x / n[:, None], h / n[:, None], n, random_state=seed)
        N, U, W, X, H = (_upward(tree, v) for v in (n, *np.array([(s.u, s.w) for s in sums]).T, x, h))
        a = np.arange(1, tree.n_nodes)
        b = tree.siblings()[1:]
        inner = np.einsum("ij,ij->i", X[a], H[b])
        dbar = np.zeros(tree.n_nodes)
        dbar[1:] = np.maximum(U[a] / N[a] + W[b] / N[b] - inner / (N[a] * N[b]), 0.0)  # Eq. (20), lifted
        shard = np.full(tree.n_nodes, -1, np.int32)
        shard[tree.leaf_nodes()] = np.arange(tree.n_points)
        return cls(tree, N, dbar, tree.siblings(), shard)

    @property
    def n_nodes(self) -> int:
        return len(self.n_points)

    def children(self, node: int) -> tuple[int, int]:
        assert self.tree is not None
        return int(self.tree.left[node]), int(self.tree.right[node])

    # -- the optimum ----------------------------------------------------------------------------------------

    def solve(self, log_values: Sequence[float], bandwidth: float) -> TopSolution:
        """Probabilities of the blocks above, and the mass σ_p that is left for each shard's own."""
        below, value = np.empty(self.n_nodes), np.empty(self.n_nodes)
        log_z = self._log_z(bandwidth, self.n_points)
        for node in range(self.n_nodes - 1, -1, -1):
            below[node] = self._below(node, value, log_values)
            value[node] = np.logaddexp(log_z[node], below[node])
        q, mass = np.zeros(self.n_nodes), np.ones(self.n_nodes)  # mass: of a node's children, or its shard
        for node in range(self.n_nodes):
            parent = 0 if self.tree is None or node == 0 else int(self.tree.parent[node])
            mass[node] = (1.0 if node == 0 else mass[parent]) * np.exp(below[node] - value[node])
            if node > 0:
                own = mass[parent] * np.exp(log_z[node] - value[node])
                q[node] = own / self.n_points[self.sibling[node]]
        shares = np.empty(len(log_values))
        leaves = self.shard >= 0
        shares[self.shard[leaves]] = mass[leaves]
        return TopSolution(self, q, shares, float(value[0]))

    def _below(self, node: int, value: Float, log_values: Sequence[float]) -> float:
        if self.shard[node] >= 0:
            return float(log_values[self.shard[node]])
        left, right = self.children(node)
        n_left, n_right = self.n_points[left], self.n_points[right]
        return float((n_left * value[left] + n_right * value[right]) / (n_left + n_right))

    def _log_z(self, bandwidth: float, n_points: Float) -> Float:  # (2P−1,)
        log_z = np.full(self.n_nodes, -np.inf)
        if self.n_nodes > 1:
            scaled = np.minimum(self.mean_divergence[1:] / bandwidth, _LARGEST)
            log_z[1:] = np.log(n_points[self.sibling[1:]]) - scaled
        return log_z

    # -- the bound as a function of the bandwidth ---------------------------------------------------------

    def curve(self, inside: Sequence[Curve | None], weights: Distinct, bandwidth: float) -> Curve:
        """The whole tree's curve from those of the shards alone; None for a shard without blocks."""
        joined: dict[int, _Terms | None] = {}
        for node in range(self.n_nodes - 1, -1, -1):
            if not weights.kept[node]:
                continue
            below = self._terms_below(node, joined, inside, weights)
            own = None if node == 0 else self._terms_of_block(node, weights.count, bandwidth)
            joined[node] = _either(own, below)
        terms = joined[0] or _Terms(0.0, 0.0, 0.0, 0.0)
        return Curve(bandwidth, *terms)

    def _terms_below(
        self, node: int, joined: dict[int, _Terms | None], inside: Sequence[Curve | None], weights: Distinct
    ) -> _Terms | None:
        if weights.alike[node]:
            return None
        if self.shard[node] >= 0:
            curve = inside[self.shard[node]]
            return None if curve is None else _Terms(*curve[1:])
        left, right = self.children(node)
        a, b = joined[left], joined[right]
        assert a is not None  # both have a block, with each other
        assert b is not None
        n, m = weights.count[left], weights.count[right]
        return _Terms(*((n * x + m * y) / (n + m) for x, y in zip(a, b, strict=True)))

    def _terms_of_block(self, node: int, count: Float, bandwidth: float) -> _Terms:
        entropy = float(np.log(count[self.sibling[node]]))
        d = float(self.mean_divergence[node])
        return _Terms(entropy - d / bandwidth, entropy, d, 0.0)

    def distinct(self, counts: Sequence[int], keys: Sequence[Any]) -> Distinct:
        """How many different points each node has; ``keys`` tell those of shards of one point apart."""
        count, alike = np.zeros(self.n_nodes), np.zeros(self.n_nodes, bool)
        key: list[Any] = [None] * self.n_nodes
        for node in range(self.n_nodes - 1, -1, -1):
            if self.shard[node] >= 0:
                p = self.shard[node]
                count[node], alike[node], key[node] = counts[p], counts[p] == 1, keys[p]
                continue
            left, right = self.children(node)
            alike[node] = alike[left] and alike[right] and key[left] == key[right]
            key[node] = key[left]
            count[node] = 1 if alike[node] else count[left] + count[right]
        kept = np.ones(self.n_nodes, bool)
        if self.tree is not None:
            for node in range(1, self.n_nodes):
                parent = self.tree.parent[node]
                kept[node] = kept[parent] and not alike[parent]
        return Distinct(count, alike, kept)


@dataclass(frozen=True, eq=False)
class Distinct:
    """The top tree over different points: nodes whose points are all equal count as one."""

    count: Float  # (2P−1,)
    alike: Any  # (2P−1,) whether all points of the node are equal
    kept: Any  # (2P−1,) whether the node has a place in the tree over different points


class _Terms(NamedTuple):
    """c, entropy, divergence and variance of a choice (theory: The bound and the bandwidth)."""

    value: float
    entropy: float
    divergence: float
    variance: float


def _either(a: _Terms | None, b: _Terms | None) -> _Terms | None:
    """Two alternatives, of which the walk takes one in proportion to e^c."""
    if a is None or b is None:
        return b if a is None else a
    c = float(np.logaddexp(a.value, b.value))
    p, r = float(np.exp(a.value - c)), float(np.exp(b.value - c))
    choice = -sum(x * np.log(x) for x in (p, r) if x > 0)
    m = p * a.divergence + r * b.divergence
    v = p * a.variance + r * b.variance + p * r * (a.divergence - b.divergence) ** 2
    return _Terms(c, p * a.entropy + r * b.entropy + float(choice), m, v)


@dataclass(frozen=True, eq=False)
class TopSolution:
    """The optimum above the shards, and its part of products."""

    top: Top
    q: Float  # (2P−1,) of the block (node, sibling); 0 for the root
    shares: Float  # (P,) σ_p, the mass that shard p's own blocks have in each of its rows
    log_value: float  # c_root, the bound per row

    def product(self, sums: Float, side: Side) -> Float:  # (P, k) -> (P, k)
        """What the blocks above add to every point of a shard, from the shards' sums of the columns."""
        top = self.top
        if top.tree is None:
            return np.zeros_like(sums)
        v, g = _upward(top.tree, sums), np.zeros((top.n_nodes, sums.shape[1]))
        weight = self._weights(side)
        for node in range(1, top.n_nodes):
            g[node] = g[top.tree.parent[node]] + weight[node] * v[top.sibling[node]]
        out = np.empty_like(sums)
        leaves = top.shard >= 0
        out[top.shard[leaves]] = g[leaves]
        return out

    def _weights(self, side: Side) -> Float:  # (2P−1,)
        other = np.where(self.top.sibling >= 0, self.q[self.top.sibling], 0.0)
        return {"forward": self.q, "transpose": other, "mean": (self.q + other) / 2}[side]

    def row_values(self, bandwidth: float) -> Float:  # (P,)
        """−Σ |B|·q·(d̄/β + log q) over the blocks above a shard: their part of the bound per row."""
        top, q = self.top, self.q
        log_q = np.log(q, out=np.zeros_like(q), where=q > 0)
        here = np.zeros(top.n_nodes)
        for node in range(1, top.n_nodes):
            assert top.tree is not None
            size = top.n_points[top.sibling[node]]
            term = -size * q[node] * (top.mean_divergence[node] / bandwidth + log_q[node])
            here[node] = here[top.tree.parent[node]] + term
        out = np.empty(len(self.shares))
        leaves = top.shard >= 0
        out[top.shard[leaves]] = here[leaves]
        return out


def _upward(tree: Tree, values: Float) -> Float:  # (P, …) -> (2P−1, …)
    """Sums over the leaves below every node."""
    out = np.zeros((tree.n_nodes, *values.shape[1:]))
    out[tree.leaf_nodes()] = values
    for node in range(tree.n_nodes - 1, 0, -1):
        out[tree.parent[node]] += out[node]
    return out


def whole_sizes(top: Top, sizes: Sequence[Int]) -> Int:  # (2N−1,)
    """Pre-order sizes of the one tree, from those of the shards' trees."""
    parts = [
        sizes[top.shard[k]] if top.shard[k] >= 0 else np.array([top.n_points[k]], np.int32)
        for k in range(top.n_nodes)
    ]
    return np.concatenate(parts).astype(np.int32)


def whole_blocks(top: Top, above: Float, inside: Sequence[Float]) -> Float:  # (2N−2,)
    """One value per block of the one tree: ``above`` by top node, ``inside`` by the shards' own blocks."""
    parts = []
    for node in range(top.n_nodes):
        if node > 0:
            parts.append(above[[node]])
        if top.shard[node] >= 0:
            parts.append(inside[top.shard[node]])
    return np.concatenate(parts)


def leaf_order(top: Top) -> list[int]:
    """The shards from left to right."""
    return [int(p) for p in top.shard if p >= 0]
