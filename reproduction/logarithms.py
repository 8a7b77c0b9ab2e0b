"""Eq. (29) in logarithms: what it gives in exact numbers, where scores in double precision fall to 0.

Sums are taken relative to their largest term, so a score may be any power of ten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bvdt._support.arrays import Float, Index, Mask
from bvdt.lifting import Lifted
from bvdt.operators import TransitionOperator
from bvdt.tree import Tree

from .propagation import Labeling

__all__ = ["LogExact", "LogTree", "log_vote"]

LogProduct = Callable[[Float], Float]  # log Y (N, k) -> log(M @ Y)


def log_vote(product: LogProduct, y: Index, masks: list[Mask], alpha: float, n_iter: int) -> list[Labeling]:
    """Labels of all documents by Eq. (29), for each mask of labeled ones."""
    n_classes, found = int(y.max()) + 1, []
    for known in masks:
        Y0 = np.full((len(y), n_classes), -np.inf)
        Y0[known, y[known]] = 0.0
        Y = Y0
        for _ in range(n_iter):
            former, Y = Y, np.logaddexp(np.log(alpha) + product(Y), np.log1p(-alpha) + Y0)
            if np.allclose(Y, former, rtol=0, atol=1e-12):
                break
        found.append(Labeling(Y.argmax(axis=1), Y.max(axis=1) > -np.inf))
    return found


class LogExact:
    """log P and its product, O(N²) per mask."""

    def __init__(self, lifted: Lifted, bandwidth: float) -> None:
        every = np.arange(lifted.n_points)
        L = lifted.divergences(every, slice(None)) / -bandwidth
        np.fill_diagonal(L, -np.inf)
        L -= L.max(axis=1, keepdims=True)
        self.log_p: Float = L - np.log(np.exp(L).sum(axis=1, keepdims=True))  # (N, N)

    def __call__(self, log_Y: Float) -> Float:
        scale = log_Y.max(axis=1)
        shares = np.exp(log_Y - np.where(scale > -np.inf, scale, 0.0)[:, None])
        terms = self.log_p + scale
        most = terms.max(axis=1, keepdims=True)
        most[most == -np.inf] = 0.0
        with np.errstate(divide="ignore"):  # log 0 = −∞: no label yet
            return np.asarray(np.log(np.exp(terms - most) @ shares) + most)


class LogTree:
    """log q of the coarsest partition and log(Q @ Y) by sweeps over the tree's levels.

    With the sibling Y of X, e_X = log|Y| − d̄_XY/β and g_X the mean of f over the children of X weighted by
    their sizes, f_X = log(exp(e_X) + exp(g_X)) is the bound of a row below X; the share exp(e_X − f_X) of the
    mass that reaches X goes to its block, the rest to its children.
    """

    def __init__(self, op: TransitionOperator) -> None:
        tree = op.tree
        self.tree, self.leaf, self.levels = tree, tree.leaf_nodes(), list(_levels(tree))
        nodes = np.arange(1, tree.n_nodes)
        self.sibling = np.zeros(tree.n_nodes, int)
        self.sibling[nodes] = tree.left[tree.parent[nodes]] + tree.right[tree.parent[nodes]] - nodes
        size = tree.size.astype(float)
        log_size = np.log(size[self.sibling])
        e = log_size - np.concatenate([[0.0], op.mean_divergence / op.bandwidth])
        f, g = e.copy(), np.full(tree.n_nodes, -np.inf)
        for inner in reversed(self.levels):
            left, right = tree.left[inner], tree.right[inner]
            g[inner] = (size[left] * f[left] + size[right] * f[right]) / size[inner]
            f[inner] = np.logaddexp(e[inner], g[inner])
        mass = np.zeros(tree.n_nodes)
        for inner in self.levels:
            below = mass[inner] + np.where(inner > 0, g[inner] - f[inner], 0.0)
            mass[tree.left[inner]] = mass[tree.right[inner]] = below
        self.log_q: Float = mass + e - f - log_size  # (n_nodes,), of the block (X, sibling); not the root's

    def __call__(self, log_Y: Float) -> Float:
        tree, sums = self.tree, np.full((self.tree.n_nodes, log_Y.shape[1]), -np.inf)
        sums[self.leaf] = log_Y
        for inner in reversed(self.levels):
            sums[inner] = np.logaddexp(sums[tree.left[inner]], sums[tree.right[inner]])
        from_block = self.log_q[:, None] + sums[self.sibling]
        reached = np.full_like(sums, -np.inf)
        for inner in self.levels:
            for child in (tree.left[inner], tree.right[inner]):
                reached[child] = np.logaddexp(reached[inner], from_block[child])
        return reached[self.leaf]


def _levels(tree: Tree) -> Iterator[Index]:
    """Inner nodes by depth, the root first."""
    inner = np.zeros(1, int)
    while len(inner):
        yield inner
        children = np.concatenate([tree.left[inner], tree.right[inner]])
        inner = children[tree.left[children] >= 0]
