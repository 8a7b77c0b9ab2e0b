"""Refinement: more blocks where the bound gains most (theory: Refinement).

A block (A, B) can be split in B, in A, or in both. With the mass s_A that reaches A held, the value of A's
subtree changes by |A|·s_A·(c_A' − c_A), and c_A' is known in closed form from the four divergences between
the children:

    B-split   c_A' = log(e^{c_A} − |B|e^{−d̄_AB} + Σ_r |B_r|e^{−d̄_ABr})
    A-split   the terms |B|e^{−d̄_AaB} move into c_Aa, hence into k_A by Δk; e^{c_A} loses |B|e^{−d̄_AB}

An A-split is credited with its own exact gain, so it need not be judged by a look
ahead. Each round splits the blocks with the largest gain per added block, at most a seventh of them, and
solves for the optimum again, which can only rise: every solution of the old blocks is one of the new blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._support import memory
from .._support.arrays import Float, Int, checked_integer
from ..lifting import Lifted
from ..tree import Tree
from .optimum import Optimum, optimum
from .partition import BlockPartition
from .sums import NodeSums

SHARE_PER_ROUND = 1 / 7
ADDED = np.array([1, 1, 3])  # blocks added by a split in B, in A, in both


@dataclass(eq=False)
class _Blocks:
    """Blocks with their divergences and those of their (up to) four children (A_a, B_r), a-major."""

    rows: Int  # (n,)
    cols: Int  # (n,)
    dbar: Float  # (n,)
    child_dbar: Float  # (n, 2, 2); 0 where there is no such child

    def take(self, chosen: NDArray[np.bool_]) -> _Blocks:
        return _Blocks(self.rows[chosen], self.cols[chosen], self.dbar[chosen], self.child_dbar[chosen])

    def partition(self, tree: Tree) -> BlockPartition:
        return BlockPartition(self.rows, self.cols, tree.n_nodes)


@memory.explain_memory_error("refining the blocks")
def refined_blocks(
    lifted: Lifted,
    tree: Tree,
    partition: BlockPartition,
    mean_divergence: Float,
    bandwidth: float,
    n_blocks: int,
    n_jobs: int | None = None,
) -> tuple[BlockPartition, Float]:
    """Exactly ``n_blocks`` blocks, from those of ``partition``, and their mean divergences."""
    least, most = partition.n_blocks, tree.n_points * (tree.n_points - 1)
    n_blocks = checked_integer(n_blocks, "n_blocks")
    if not least <= n_blocks <= most:
        raise ValueError(
            f"n_blocks needs {least} (those there are) to {most} (every pair its own) "
            f"for {tree.n_points} points; got {n_blocks}"
        )
    sums = NodeSums.of(lifted, tree)
    rows, cols = partition.rows, partition.cols
    blocks = _Blocks(rows, cols, mean_divergence, _child_divergences(sums, tree, rows, cols, n_jobs))
    while len(blocks.rows) < n_blocks:
        solution = optimum(blocks.dbar, tree, blocks.partition(tree), bandwidth, n_jobs)
        kind = _choose(_gains(blocks, tree, solution, bandwidth), n_blocks - len(blocks.rows))
        if (kind < 0).all():
            raise ValueError(
                f"refine needs divergences that are numbers; {len(blocks.rows)} blocks cannot be split"
            )
        blocks = _split(blocks, kind, sums, tree, n_jobs)
    return blocks.partition(tree).known_for(tree), blocks.dbar


# -- the children of blocks ----------------------------------------------------------------------------------


def _children(tree: Tree, nodes: Int) -> tuple[Int, NDArray[np.bool_]]:  # (n, 2), (n, 2)
    """Left and right child, and which exist; a leaf counts as its own only child."""
    is_leaf = tree.left[nodes] < 0
    children = np.where(
        is_leaf[:, None], nodes[:, None], np.stack([tree.left[nodes], tree.right[nodes]], axis=1)
    )
    return children.astype(np.int32), np.stack([np.ones_like(is_leaf), ~is_leaf], axis=1)


def _child_divergences(
    sums: NodeSums, tree: Tree, rows: Int, cols: Int, n_jobs: int | None
) -> Float:  # (n, 2, 2)
    a, has_a = _children(tree, rows)
    b, has_b = _children(tree, cols)
    exists = has_a[:, :, None] & has_b[:, None, :]
    pairs = (
        np.broadcast_to(a[:, :, None], exists.shape)[exists],
        np.broadcast_to(b[:, None], exists.shape)[exists],
    )
    dbar = np.zeros(exists.shape)
    dbar[exists] = sums.mean_divergences(*pairs, n_jobs)
    return dbar


def _marginals(blocks: _Blocks, tree: Tree) -> tuple[Float, Float, Float, Float]:
    """Sizes |A_a|, |B_r| (0 where missing) and the mean divergences of (A, B_r) and (A_a, B), each (n, 2)."""
    (a, has_a), (b, has_b) = _children(tree, blocks.rows), _children(tree, blocks.cols)
    n_a, n_b = tree.size[a] * has_a.astype(float), tree.size[b] * has_b.astype(float)
    total = n_a[:, :, None] * n_b[:, None, :] * blocks.child_dbar
    n_rows, n_cols = tree.size[blocks.rows][:, None], tree.size[blocks.cols][:, None]
    of_cols = total.sum(axis=1) / np.maximum(n_rows * n_b, 1)
    of_rows = total.sum(axis=2) / np.maximum(n_cols * n_a, 1)
    return n_a, n_b, of_cols, of_rows


# -- gains ---------------------------------------------------------------------------------------------------


def _gains(blocks: _Blocks, tree: Tree, solution: Optimum, bandwidth: float) -> Float:  # (n, 3)
    """Rise of the bound by a split in B, in A, in both; −∞ where a leaf cannot be split."""
    c, size = solution.log_value, tree.size
    rows, cols = blocks.rows, blocks.cols
    n_a, n_b, of_cols, of_rows = _marginals(blocks, tree)
    a, _ = _children(tree, rows)
    with np.errstate(divide="ignore"):
        log_n_b = np.log(n_b)
        log_share = np.log(size[cols]) - blocks.dbar / bandwidth - c[rows]  # of A's value, by this block
        split_b = np.logaddexp.reduce(log_n_b - of_cols / bandwidth, axis=1) - c[rows]
        terms = log_n_b[:, None, :] - blocks.child_dbar / bandwidth  # (n, a, r)
    moved = np.log(size[cols])[:, None] - of_rows / bandwidth
    moved_split = np.logaddexp(terms[:, :, 0], terms[:, :, 1])
    weights = n_a / size[rows][:, None]
    under = np.sum(weights * c[a], axis=1) - c[rows]  # k_A − c_A
    log_added = np.stack(
        [split_b] + [_log_rise(weights, m - c[a], under) for m in (moved, moved_split)], axis=1
    )
    mass = np.exp(solution.log_mass(tree)[rows])
    gain = (size[rows] * mass)[:, None] * _log_change(log_share, log_added)
    gain[size[cols] == 1, 0] = -np.inf
    gain[size[rows] == 1, 1] = -np.inf
    gain[(size[cols] == 1) | (size[rows] == 1), 2] = -np.inf
    return gain


def _log_rise(weights: Float, log_new: Float, under: Float) -> Float:  # (n, 2) ×2, (n,) -> (n,)
    """log(e^{k_A'} − e^{k_A}) − c_A when A's children's values grow by log(1 + e^{log_new})."""
    rise = np.sum(weights * np.logaddexp(0.0, log_new), axis=1)  # Δk
    with np.errstate(divide="ignore"):
        return np.asarray(under + rise + np.log(-np.expm1(-rise)))


def _log_change(log_share: Float, log_added: Float) -> Float:  # (n,), (n, 3) -> (n, 3)
    """c_A' − c_A = log(1 − share + added), without overflow and exact for small changes."""
    small = np.exp(np.minimum(log_added, 30.0)) - np.exp(np.minimum(log_share, 0.0))[:, None]
    with np.errstate(divide="ignore"):
        return np.where(log_added < 30.0, np.log1p(np.maximum(small, -1.0)), log_added)


# -- rounds --------------------------------------------------------------------------------------------------


def _choose(gain: Float, missing: int) -> NDArray[np.intp]:  # (n, 3) -> (n,)
    """Split of each block: 0 in B, 1 in A, 2 in both, −1 none; never more than ``missing`` added blocks."""
    rate = gain / ADDED
    if missing < 3:
        rate[:, 2] = -np.inf
    kind = rate.argmax(axis=1)
    best = rate[np.arange(len(rate)), kind]
    order = np.argsort(-best, kind="stable")[: max(1, int(SHARE_PER_ROUND * len(rate)))]
    order = order[best[order] > -np.inf]
    chosen = order[np.cumsum(ADDED[kind[order]]) <= missing]
    result = np.full(len(rate), -1)
    result[chosen] = kind[chosen]
    return result


def _split(
    blocks: _Blocks, kind: NDArray[np.intp], sums: NodeSums, tree: Tree, n_jobs: int | None
) -> _Blocks:
    """The blocks after their splits, sorted by row node, then by column node."""
    kept = blocks.take(kind < 0)
    rows, cols, dbar = [], [], []
    for split in range(3):
        old = blocks.take(kind == split)
        (a, _), (b, _) = _children(tree, old.rows), _children(tree, old.cols)
        _, _, of_cols, of_rows = _marginals(old, tree)
        new_rows = (
            a if split == 1 else np.repeat(a, 2, axis=1) if split == 2 else np.stack([old.rows] * 2, axis=1)
        )
        new_cols = b if split == 0 else np.tile(b, 2) if split == 2 else np.stack([old.cols] * 2, axis=1)
        rows.append(new_rows.ravel())
        cols.append(new_cols.ravel())
        dbar.append((of_cols, of_rows, old.child_dbar)[split].ravel())
    new_rows, new_cols = np.concatenate(rows).astype(np.int32), np.concatenate(cols).astype(np.int32)
    by_row = np.argsort(new_rows, kind="stable")
    new_rows, new_cols = new_rows[by_row], new_cols[by_row]
    children = _child_divergences(sums, tree, new_rows, new_cols, n_jobs)
    all_rows, all_cols = np.concatenate([kept.rows, new_rows]), np.concatenate([kept.cols, new_cols])
    order = np.lexsort((all_cols, all_rows))
    return _Blocks(
        all_rows[order],
        all_cols[order],
        np.concatenate([kept.dbar, np.concatenate(dbar)[by_row]])[order],
        np.concatenate([kept.child_dbar, children])[order],
    )
