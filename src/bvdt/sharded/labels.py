"""Label propagation on columns that stay where the points are: the walks of ``bvdt.walks``, shard by shard.

Between two products only sums over the shards come to the driver: the columns' sums for the top tree, inner
products for conjugate gradients, changes for the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float
from ..walks import balance_power, class_distributions
from ..walks.inputs import warn_unconverged
from .columns import Columns
from .operator import ShardedOperator


def propagate(
    op: ShardedOperator, Y0: Columns, alpha: float = 0.01, n_iter: int = 300, tol: float = 0.0
) -> Columns:
    """Label propagation, Eq. (29): y ← α·Q·y + (1 − α)·y⁰, ``n_iter`` times; as ``bvdt.propagate_labels``."""
    _check(alpha, n_iter)
    Y, sums = Y0, op.sums(Y0, "forward")
    for _ in range(n_iter):
        Y, told = _stepped(op, op.times_summed(Y, sums), Y, Y0, alpha, tol)
        if not any(step.changed for step in told):
            return Y
        sums = np.stack([step.sums for step in told])
    if tol > 0:
        warn_unconverged("propagate_labels", n_iter, tol)
    return Y


def walk_scores(
    op: ShardedOperator, Y0: Columns, alpha: float, n_iter: int, tol: float
) -> tuple[Columns, int]:  # scores, products
    """The same until no column changes by more than ``tol`` of its sum; as ``label_scores(mode="walk")``."""
    _check(alpha, n_iter)
    Y, sums = Y0, op.sums(Y0, "forward")
    for step in range(1, n_iter + 1):
        Y, told = _stepped(op, op.times_summed(Y, sums), Y, Y0, alpha, tol)
        change, total = (np.sum([getattr(t, name) for t in told], axis=0) for name in ("change", "total"))
        if np.all(change <= tol * total):
            return Y, step
        sums = np.stack([t.sums for t in told])
    if tol > 0:
        warn_unconverged("label propagation", n_iter, tol)
    return Y, n_iter


def spread_scores(
    op: ShardedOperator, Y0: Columns, alpha: float, n_iter: int, tol: float
) -> tuple[Columns, int]:  # scores, products
    """Label spreading on the symmetrised walk, by conjugate gradients; as ``label_scores(mode="spread")``."""
    _check(alpha, n_iter)
    if alpha >= 1 or not tol > 0:
        raise ValueError(f"spreading needs alpha below 1 and tol > 0; got {alpha} and {tol}")
    scale = _mapped(op, _inverse_root, op.times(_ones(op), "both"))
    F: Columns | None = None
    products, share = 1, tol
    while True:
        F, more = _solve(op, scale, Y0, alpha, share, n_iter - 1 - products, F)
        product = _symmetrized(op, scale, F)
        F, told = _stepped(op, product, F, Y0, alpha, tol)
        products += more + 1
        change, total = (np.sum([getattr(t, name) for t in told], axis=0) for name in ("change", "total"))
        if np.max(change / np.where(total > 0, total, 1.0), initial=0.0) <= tol:
            return F, products
        if products >= n_iter - 1:
            warn_unconverged("label propagation", n_iter, tol)
            return F, products
        share /= 10


def distributions(
    op: ShardedOperator, scores: Columns, counts: Float, balance: bool
) -> tuple[Columns, Columns]:  # probabilities (N, k), classes (N, 1)
    """Class probabilities of every row, and the most probable class's number."""
    known = np.flatnonzero(counts > 0)
    weight = np.ones(len(counts))
    if balance and len(known) > 1:
        found = np.sum(_gathered(op, count_best, scores, known, counts), axis=0)
        weight = 1.0 / np.where(counts > 0, counts, 1.0) ** balance_power(found, counts[known])
    P = _mapped(op, probabilities, scores, weight, counts / counts.sum())
    best = op.map("classes", most_probable, P.parts)
    return P, Columns(best, 1, np.dtype(np.int32))


# -- conjugate gradients ------------------------------------------------------------------------------------


def _solve(
    op: ShardedOperator,
    scale: Columns,
    Y0: Columns,
    alpha: float,
    tol: float,
    max_products: int,
    start: Columns | None,
) -> tuple[Columns, int]:
    """F ≥ 0 with (I − α·S)·F = (1 − α)·Y⁰, and the products it took; theory and stops of ``solve_spread``."""
    B = _mapped(op, scaled_by, Y0, 1 - alpha)
    if start is None:
        F, R, products = _mapped(op, np.zeros_like, B), B, 0
    else:
        F, products = start, 1
        R = _mapped(op, residual, B, _symmetrized(op, scale, F), F, alpha)
    P = R
    rho, stop = _dots(op, R, R), tol**2 * _dots(op, B, B)
    while products < max_products and (rho > stop).any():
        AP, dots = _unpacked(op, shifted_product, P, _symmetrized(op, scale, P), alpha)
        products += 1
        going = rho > stop
        length = np.where(going, _ratio(rho, np.sum(dots, axis=0)), 0.0)
        F = _mapped(op, moved, F, P, length)
        R, squares = _unpacked(op, reduced, R, AP, length)
        new = np.sum(squares, axis=0)
        P = _mapped(op, moved, R, P, np.where(going, _ratio(new, rho), 0.0))
        rho = new
    return _mapped(op, at_least_zero, F), products


def _symmetrized(op: ShardedOperator, scale: Columns, V: Columns) -> Columns:
    """S V = D^(−1/2)·(Q + Qᵀ)/2·D^(−1/2)·V."""
    inner = op.times(_mapped(op, times, V, scale), "both")
    return _mapped(op, times, inner, scale)


def _ones(op: ShardedOperator) -> Columns:
    sizes = op.shard_sizes
    parts = op.map("columns", ones, sizes)
    return Columns(parts, 1, np.dtype(np.float64))


def _dots(op: ShardedOperator, A: Columns, B: Columns) -> Float:
    return np.asarray(np.sum(_gathered(op, dots, A, B), axis=0))


def _stepped(
    op: ShardedOperator, product: Columns, Y: Columns, Y0: Columns, alpha: float, tol: float
) -> tuple[Columns, list[Step]]:
    return _unpacked(op, stepped, product, Y, Y0, alpha, tol)


def _spread_out(op: ShardedOperator, arguments: Sequence[Any]) -> list[list[Any]]:
    """Columns by their parts, everything else the same for every shard."""
    return [a.parts if isinstance(a, Columns) else op.shards.each(a) for a in arguments]


def _mapped(op: ShardedOperator, function: Any, *arguments: Any) -> Columns:
    first = next(a for a in arguments if isinstance(a, Columns))
    parts = op.map("propagation", function, *_spread_out(op, arguments))
    return Columns(parts, first.width, first.dtype)


def _gathered(op: ShardedOperator, function: Any, *arguments: Any) -> list[Any]:
    executor = op.shards.executor
    return executor.gather(op.map("propagation", function, *_spread_out(op, arguments)))


def _unpacked(op: ShardedOperator, function: Any, *arguments: Any) -> tuple[Columns, list[Any]]:
    """Columns, and what the shards tell with them."""
    executor = op.shards.executor
    pairs = executor.unpack(op.map("propagation", function, *_spread_out(op, arguments)), op.shards.each(2))
    told = executor.gather([pair[1] for pair in pairs])
    first = next(a for a in arguments if isinstance(a, Columns))
    return Columns([pair[0] for pair in pairs], first.width, first.dtype), told


def _ratio(a: Float, b: Float) -> Float:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


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
        rounding = 2 * np.finfo(new.dtype).eps
        self.changed = bool(np.any(difference > np.maximum(tol, rounding * np.abs(new))))
        self.change: Float = difference.sum(axis=0, dtype=np.float64)
        self.total: Float = np.abs(new).sum(axis=0, dtype=np.float64)
        self.sums: Float = new.sum(axis=0, dtype=np.float64)


def stepped(
    product: NDArray[Any], Y: NDArray[Any], Y0: NDArray[Any], alpha: float, tol: float
) -> tuple[NDArray[Any], Step]:
    """α·product + (1 − α)·y⁰."""
    new = alpha * product
    new += (1 - alpha) * Y0
    return new, Step(new, Y, tol)


def ones(n: int) -> Float:
    return np.ones((n, 1))


def _inverse_root(degrees: Float) -> Float:
    return np.asarray(1.0 / np.sqrt(degrees))


def times(V: NDArray[Any], scale: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(V * scale)


def scaled_by(V: NDArray[Any], factor: float) -> NDArray[Any]:
    return np.asarray(V * factor)


def moved(V: NDArray[Any], direction: NDArray[Any], length: Float) -> NDArray[Any]:
    """V + length·direction."""
    return np.asarray(V + direction * length)


def reduced(R: NDArray[Any], AP: NDArray[Any], length: Float) -> tuple[NDArray[Any], Float]:
    """The residual after a step, and its squares."""
    new = R - AP * length
    return new, dots(new, new)


def shifted_product(P: NDArray[Any], SP: NDArray[Any], alpha: float) -> tuple[NDArray[Any], Float]:
    """(I − α·S)·P from S·P, and its inner products with P."""
    AP = P - alpha * SP
    return AP, dots(P, AP)


def residual(B: NDArray[Any], SF: NDArray[Any], F: NDArray[Any], alpha: float) -> NDArray[Any]:
    return np.asarray(B - (F - alpha * SF))


def at_least_zero(F: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.maximum(F, 0.0))


def dots(A: NDArray[Any], B: NDArray[Any]) -> Float:  # (n, k) ×2 -> (k,)
    return np.asarray(np.einsum("ij,ij->j", A, B, dtype=np.float64))


def count_best(scores: Float, known: NDArray[np.intp], counts: Float) -> Float:  # (n_known,)
    """How many rows each labelled class has, scores divided by the numbers of labels."""
    reached = scores[scores.any(axis=1)][:, known]
    return np.bincount((reached / counts[known]).argmax(axis=1), minlength=len(known)).astype(float)


def probabilities(scores: Float, weight: Float, prior: Float) -> Float:  # (n, k)
    return class_distributions(scores * weight, prior)


def most_probable(P: Float) -> NDArray[np.int32]:  # (n, 1)
    return np.asarray(P.argmax(axis=1)[:, None], np.int32)
