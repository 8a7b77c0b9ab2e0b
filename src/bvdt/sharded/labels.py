"""Label propagation on columns that stay where the points are: the walks of ``bvdt.walks``, shard by shard.

Between two products only sums over the shards come to the driver: the columns' sums for the top tree, inner
products for conjugate gradients, changes for the end. Every step is one call per shard; it returns its
columns and what it tells of them as one tuple, which the next step reads; the driver picks what is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float
from ..walks import HiddenLabels, class_balance, class_distributions, count_balanced, to_power
from ..walks.inputs import warn_unconverged
from ..walks.spreading import LARGEST
from . import near_field, shard
from .columns import Columns
from .executors import Reference, Spent
from .operator import ShardedOperator
from .solving import solve
from .spreading import SpreadingOverShards, now
from .symmetrized import Ascent, Sent, Symmetrized, ascent, descent, moving


def propagate(
    op: ShardedOperator, Y0: Columns, alpha: float = 0.01, n_iter: int = 300, tol: float = 0.0
) -> Columns:
    """Label propagation, Eq. (29): y ← α·Q·y + (1 − α)·y⁰, ``n_iter`` times; as ``bvdt.propagate_labels``."""
    _check(alpha, n_iter)
    Y, sums = Spent(Y0.parts), op.sums(Y0, "forward")
    for _ in range(n_iter):
        Y, told = _walked(op, Y, Y0, sums, alpha, tol)
        if not any(step.changed for step in told):
            return _columns(op, Y, Y0)
        sums = np.stack([step.sums for step in told])
    if tol > 0:
        warn_unconverged("propagate_labels", n_iter, tol)
    return _columns(op, Y, Y0) if n_iter else Y0


def walk_scores(
    op: ShardedOperator, Y0: Columns, alpha: float, n_iter: int, tol: float
) -> tuple[Columns, int]:  # scores, products
    """The same until no column changes by more than ``tol`` of its sum; as ``label_scores(mode="walk")``."""
    _check(alpha, n_iter)
    Y, sums = Spent(Y0.parts), op.sums(Y0, "forward")
    for step in range(1, n_iter + 1):
        Y, told = _walked(op, Y, Y0, sums, alpha, tol)
        if np.all(_share_changed(told) <= tol):
            return _columns(op, Y, Y0), step
        sums = np.stack([t.sums for t in told])
    if tol > 0:
        warn_unconverged("label propagation", n_iter, tol)
    return _columns(op, Y, Y0) if n_iter else Y0, n_iter


def spread_scores(
    op: ShardedOperator, Y0: Columns, alpha: float, n_iter: int, tol: float
) -> tuple[Columns, int]:  # scores, products
    """Label spreading on the symmetrised walk; as ``label_scores(mode="spread")``, by the same method."""
    _check(alpha, n_iter)
    if alpha >= 1 or not tol > 0:
        raise ValueError(f"spreading needs alpha below 1 and tol > 0; got {alpha} and {tol}")
    S, each = Symmetrized(op), op.shards.each
    if alpha <= LARGEST:
        work = SpreadingOverShards(S, Y0, alpha)
        work.until(n_iter, tol)
        found = Columns(op.map("propagation", now, work.state), Y0.width, Y0.dtype)
        return S.extended(found, Y0, alpha), work.products
    products, share, start = 1, tol, None
    while True:
        F, ascents, more = solve(S, Y0, alpha, share, n_iter - 1 - products, start)
        given = (F, Y0.parts, S.held(F), S.sent(ascents), each(alpha), each(tol))
        F = Spent(op.map("propagation", spread_step, *given))
        told = op.told(F, 1)
        products += more + 1
        done = bool(np.max(_share_changed([step for step, _ in told]), initial=0.0) <= tol)
        if not done and products >= n_iter - 1:
            warn_unconverged("label propagation", n_iter, tol)
            done = True
        if done:
            return S.extended(_columns(op, F, Y0), Y0, alpha), products
        share, start = share / 10, (F, [up for _, up in told])


def hidden_by_halves(
    op: ShardedOperator, labels: Columns, seen: Columns, scores: Columns, half: Columns
) -> HiddenLabels:  # (N, k) ×4
    """``HiddenLabels.by_halves``, for scores of all labels and of the half that is ``seen``."""
    counts, half_counts = (np.sum(op.tell("classes", column_sums, Y.parts), axis=0) for Y in (labels, seen))
    each, columns = op.shards.each, (labels, seen, scores, half)
    parts = [c.parts for c in columns]
    return HiddenLabels.joined(op.tell("classes", hidden_labels, *parts, each(counts), each(half_counts)))


def distributions(
    op: ShardedOperator,
    scores: Columns,
    counts: Float,
    balance: bool,
    hidden: Callable[[], HiddenLabels] | None = None,
) -> tuple[Columns, Columns]:  # probabilities (N, k), classes (N, 1)
    """Class probabilities of every row, and the most probable class's number."""
    each = op.shards.each
    weight = np.ones(len(counts))
    if balance and np.count_nonzero(counts) > 1:
        found = np.sum(op.tell("classes", count_balanced, scores.parts, each(counts)), axis=0)
        weight = 1.0 / to_power(counts, class_balance(counts, found, hidden)[0])
    parts = op.map("classes", probabilities, scores.parts, each(weight), each(counts / counts.sum()))
    P = Columns(parts, scores.width, scores.dtype)
    best = op.map("classes", most_probable, P.parts)
    return P, Columns(best, 1, np.dtype(np.int32))


def _walked(
    op: ShardedOperator, Y: Spent, Y0: Columns, sums: Float, alpha: float, tol: float
) -> tuple[Spent, list[Step]]:
    """α·Q·Y + (1 − α)·Y⁰, and what the shards tell of it; Y is used up."""
    executor, each = op.shards.executor, op.shards.each
    above, shares = op.solution.product(sums, "forward"), op.solution.shares.tolist()
    near, halo = each(None), each([])
    if op.near is not None:
        near, halo = op.near.matrices, near_field.exchange(executor, op.near, op.places, near_field.send, Y)
    held = [list(parts) for parts in zip(op.products, near, halo, strict=True)]
    more = (shares, list(above), each(alpha), each(tol), each(executor.n_jobs))
    Y = Spent(op.map("propagation", walk_step, Y, Y0.parts, held, *more))
    return Y, op.told(Y, 1)


def _columns(op: ShardedOperator, pairs: list[Reference], like: Columns) -> Columns:
    """Columns of calls that returned them first."""
    return Columns(op.shards.executor.pick(pairs, 0), like.width, like.dtype)


def _share_changed(told: list[Step]) -> Float:  # (k,)
    """Of every column's sum, how much a step changed."""
    change, total = (np.sum([getattr(t, name) for t in told], axis=0) for name in ("change", "total"))
    return np.asarray(change / np.where(total > 0, total, 1.0))


def _check(alpha: float, n_iter: int) -> None:
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha needs a value from 0 to 1; got {alpha}")
    if n_iter < 0:
        raise ValueError(f"n_iter needs a value ≥ 0; got {n_iter}")


# -- on shards ----------------------------------------------------------------------------------------------


class Step:
    """What a shard tells of a step, per column."""

    def __init__(self, new: NDArray[Any], old: NDArray[Any], tol: float) -> None:
        difference = np.abs(new - old)
        self.sums: Float = new.sum(axis=0, dtype=np.float64)
        self.change: Float = difference.sum(axis=0, dtype=np.float64)
        size = np.abs(new)
        self.total: Float = size.sum(axis=0, dtype=np.float64)
        rounding = 2 * np.finfo(new.dtype).eps
        self.changed = bool(np.any(difference > np.maximum(tol, rounding * size)))


def walk_step(
    given: Any,
    Y0: NDArray[Any],
    held: list[Any],
    share: float,
    above: Float,
    alpha: float,
    tol: float,
    n_jobs: int | None,
) -> tuple[NDArray[Any], Step]:
    """α·Q·y + (1 − α)·y⁰, Eq. (29)."""
    Y, (product, near, halo) = moving(given), held
    if near is None:
        new = shard.push_down(product, Y, share, above, "forward", n_jobs)
    else:
        new = near_field.push_down(product, Y, halo, near, share, above, "forward", n_jobs)
    new *= new.dtype.type(alpha)
    new += new.dtype.type(1 - alpha) * Y0
    return new, Step(new, Y, tol)


def spread_step(
    given: Any, Y0: NDArray[Any], held: list[Any], sent: Sent, alpha: float, tol: float
) -> tuple[NDArray[Any], tuple[Step, Ascent]]:
    """α·S·f + (1 − α)·y⁰."""
    new = descent(given, held, sent)
    new *= new.dtype.type(alpha)
    new += new.dtype.type(1 - alpha) * Y0
    return new, (Step(new, moving(given), tol), ascent(new, held[0], held[2]))


def hidden_labels(
    Y0: Float, seen: Float, scores: Float, half: Float, counts: Float, half_counts: Float
) -> HiddenLabels:  # (n, k) ×4, (k,) ×2
    codes = np.where(Y0.any(axis=1), Y0.argmax(axis=1), -1)
    fold = np.where(seen.any(axis=1), np.where(counts[codes] > 1, 1, -1), 0)
    return HiddenLabels.by_halves(scores, half, counts, half_counts, codes, fold)


def column_sums(Y: Float) -> Float:  # (n, k) -> (k,)
    return np.asarray(Y.sum(axis=0))


def probabilities(scores: Float, weight: Float, prior: Float) -> Float:  # (n, k)
    return class_distributions(scores * weight, prior)


def most_probable(P: Float) -> NDArray[np.int32]:  # (n, 1)
    return np.asarray(P.argmax(axis=1)[:, None], np.int32)
