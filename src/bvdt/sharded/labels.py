"""Label propagation on columns that stay where the points are: the walks of ``bvdt.walks``, shard by shard.

Between two products only sums over the shards come to the driver: the columns' sums for the top tree, inner
products for conjugate gradients, changes for the end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._support.arrays import Float, Int
from ..solvers import iterate, spread
from ..walks import HiddenLabels, class_balance, class_distributions, count_balanced, to_power
from ..walks.inputs import warn_unconverged
from .columns import Columns
from .operator import ShardedOperator
from .solving import ShardedSpreading
from .symmetrized import Symmetrized, View


def propagate(
    op: ShardedOperator, Y0: Columns, alpha: float = 0.01, max_iter: int = 300, tol: float = 0.0
) -> Columns:
    """Label propagation, Eq. (29): y ← α·Q·y + (1 − α)·y⁰, as ``bvdt.propagate_labels``."""
    _check(alpha, max_iter)
    columns = ShardedSpreading(View(op), Y0, alpha, first=1.0, entry_tol=tol)
    for _ in range(max_iter):
        columns.step(1.0)
        if not columns.changed:
            return columns.scores()
    if tol > 0:
        warn_unconverged("propagate_labels", max_iter, tol)
    return columns.scores()


def walk_scores(
    op: ShardedOperator, Y0: Columns, alpha: float, max_iter: int, tol: float
) -> tuple[Columns, int]:  # scores, products
    """Until no column changes by more than ``tol`` of its sum; as ``label_scores(method="walk")``."""
    _check(alpha, max_iter)
    columns = ShardedSpreading(View(op), Y0, alpha, first=1.0)
    if iterate(columns, max_iter, tol) == "stopped" and tol > 0:
        warn_unconverged("label propagation", max_iter, tol)
    return columns.scores(), columns.products


def spread_scores(
    op: ShardedOperator, Y0: Columns, alpha: float, max_iter: int, tol: float
) -> tuple[Columns, int]:  # scores, products
    """Label spreading on the symmetrised walk; as ``label_scores(method="spread")``, by the same solver."""
    _check(alpha, max_iter)
    if alpha >= 1 or not tol > 0:
        raise ValueError(f"spreading needs alpha below 1 and tol > 0; got {alpha} and {tol}")
    S = Symmetrized(op)
    columns = ShardedSpreading(S, Y0, alpha)
    if spread(columns, max_iter, tol) == "stopped":
        warn_unconverged("label propagation", max_iter, tol)
    return S.extended(columns.scores(), Y0, alpha), columns.products


def hidden_by_halves(
    op: ShardedOperator, labels: Columns, seen: Columns, scores: Columns, half: Columns
) -> HiddenLabels:  # (N, k) ×4
    """``HiddenLabels.by_halves``, for scores of all labels and of the half that is ``seen``."""
    counts, half_counts = (
        np.sum(op.map_gather("classes", column_sums, Y.parts), axis=0) for Y in (labels, seen)
    )
    each, columns = op.shards.each, (labels, seen, scores, half)
    parts = [c.parts for c in columns]
    return HiddenLabels.joined(
        op.map_gather("classes", hidden_labels, *parts, each(counts), each(half_counts))
    )


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
        found = np.sum(op.map_gather("classes", count_balanced, scores.parts, each(counts)), axis=0)
        weight = 1.0 / to_power(counts, class_balance(counts, found, hidden)[0])
    parts = op.map("classes", probabilities, scores.parts, each(weight), each(counts / counts.sum()))
    P = Columns(parts, scores.width, scores.dtype)
    best = op.map("classes", most_probable, P.parts)
    return P, Columns(best, 1, np.dtype(np.int32))


def _check(alpha: float, max_iter: int) -> None:
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha needs a value from 0 to 1; got {alpha}")
    if max_iter < 0:
        raise ValueError(f"max_iter needs a value ≥ 0; got {max_iter}")


# -- on shards ----------------------------------------------------------------------------------------------


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


def most_probable(P: Float) -> Int:  # (n, 1)
    return np.asarray(P.argmax(axis=1)[:, None], np.int32)
