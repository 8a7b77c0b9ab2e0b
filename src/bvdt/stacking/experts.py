"""Experts: class scores of every point in every slice of the folds, (N, n_slices, k), rows centered.

Each also gives what new points need: weights (d, k) and constants (k,) of the slice that sees all labels, or,
for the walk, nothing but its own scores, which new points take from their neighbors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Real
from ..walks.class_balance import HiddenLabels, class_balance
from ..walks.solving import solve_spread
from .blend import centered
from .folds import Folds, Single
from .linear import ridge_steps, squared_hinge
from .rows import Table

if TYPE_CHECKING:
    from ..operators import SymmetrizedOperator

# As in the prototype, tuned on labelings 0 to 2 only.
SHARED = 0.1  # labels added to those of every class before their shares are taken
FLOOR = 0.01  # of a class's share in the walk, over all classes, before the logarithm
SMOOTHING = 0.01  # naive Bayes: added to each term's tf-idf sum per class
COST = 1.0  # LinearSVC's default
RIDGE, RIDGE_STEPS = 1.0, 5  # stopping early is part of the penalty
WALK_TOL = 1e-3  # of each column's length: scores go into a logarithm with the floor above
LARGEST_ALPHA = 0.999  # at 1 the labels would count for nothing


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Scores ⟨x, weights⟩ + constant of the points; weights and constant are the last slice's."""

    scores: Single  # (N, n_slices, k)
    weights: Single  # (d, k)
    constant: Single  # (k,)


@dataclass(frozen=True, eq=False)
class WalkScores:
    """Scores of the points; ``own``, each fold's labels alone, is where the next labels start from."""

    scores: Single  # (N, n_slices, k)
    own: Single  # (N, n_slices, k)
    class_share: Float  # (k,) of the points, found by the balanced walk
    class_weight: Float  # (k,) of hidden labels
    unequal: bool  # whether classes are of unequal size, by labels drawn at random
    power: float  # of the classes' label counts, by which scores were divided
    products: int  # that they took


def walk_expert(
    S: SymmetrizedOperator,
    folds: Folds,
    alpha: float,
    start: Single | None = None,
    decided: tuple[float, bool] | None = None,
) -> WalkScores:
    """Label spreading of each fold's labels alone; a slice is the sum of the others: the walk is linear.

    ``decided``: the power and whether classes are unequal, where that is known.
    """
    N, k = folds.n_points, folds.n_classes
    Y = np.zeros((N, folds.n_slices, k), np.float32)
    Y[folds.labeled, np.where(folds.tested, folds.fold, folds.n_folds), folds.codes] = folds.weight
    begin = None if start is None else start.reshape(N, -1)
    alpha, given = min(alpha, LARGEST_ALPHA), Y.reshape(N, -1)
    found, products = solve_spread(S, given, alpha, tol=WALK_TOL, start=begin)
    own = np.asarray(S.extended(found, alpha, given), np.float32).reshape(N, folds.n_slices, k)
    total = own.sum(axis=1, keepdims=True)
    F = np.concatenate([total - own[:, :-1], total], axis=1)
    power, class_share, class_weight, unequal = balance(F, folds)
    power, unequal = (power, unequal) if decided is None else decided
    F /= (folds.class_counts() ** power).astype(np.float32)
    return WalkScores(walk_log(F), own, class_share, class_weight, unequal, power, products)


def walk_log(F: NDArray[Real]) -> NDArray[Real]:  # (…, k)
    """Centered log shares; a floor keeps a class that no label reaches finite."""
    F = np.maximum(F, 0)
    total = F.sum(axis=-1, keepdims=True)
    return centered(np.log(F / np.where(total > 0, total, 1) + np.float32(FLOOR / F.shape[-1])))


def balance(
    F: Single, folds: Folds
) -> tuple[float, Float, Float, bool]:  # (N, n_slices, k) -> γ, (k,) ×2, whether classes are unequal
    """``class_balance`` in the folds, each class's share of the points, and its hidden labels' weight."""
    counts = folds.class_counts()
    labels = counts[-1] / counts[-1].sum()
    found = np.bincount((F[:, -1] / counts[-1]).argmax(axis=1), minlength=len(labels))
    hidden = (lambda: _hidden(F, counts, folds)) if folds.n_folds else None
    power, unequal = class_balance(counts[-1], found.astype(float), hidden)
    if unequal:
        return power, labels, np.ones(len(labels)), True
    share = (found + 1.0) / (found + 1.0).sum()
    # Hidden labels stand for the points, so under skewed labels each class weighs as it was found.
    return power, share, np.clip(share / labels, 0.1, 10.0) ** (2 * power - 1), False


def _hidden(F: Single, counts: Float, folds: Folds) -> HiddenLabels:  # (N, n_slices, k), (n_slices, k)
    unlabeled = np.ones(folds.n_points, bool)
    unlabeled[folds.labeled] = False
    best = (F[unlabeled, :-1] / np.maximum(counts[:-1], 1e-300)).argmax(axis=-1)
    return HiddenLabels(
        folds.hidden_codes(),
        folds.hidden(F),
        counts[folds.fold[folds.tested]],
        np.bincount(best.ravel(), minlength=folds.n_classes) / folds.n_folds,
        np.bincount(folds.codes[~folds.tested], minlength=folds.n_classes).astype(float),
    )


def class_shares(folds: Folds) -> Single:  # (N, n_slices, k), the same for every point
    """Logarithms of the classes' shares of the labels that a slice sees."""
    counts = folds.class_counts() + SHARED
    Z = centered(np.log(counts / counts.sum(axis=1, keepdims=True)).astype(np.float32))
    return np.broadcast_to(Z, (folds.n_points, *Z.shape))


def linear_expert(
    rows: Table, folds: Folds, start: Single | None = None
) -> tuple[LinearScores, Single]:  # and (d + 1, n_slices·m)
    """One-against-rest squared hinge on the labeled rows, as LinearSVC; in a fold hidden rows weigh 0.

    Also gives all slices' weights, the constant last, from which the next labels may start.
    """
    labeled, used = rows.with_constant(folds.labeled)
    signs = np.where(folds.codes[:, None] == np.arange(folds.n_classes), 1, -1).astype(np.float32)
    signs = signs[:, 1:] if folds.n_classes == 2 else signs  # the first column would be the second's negative
    m = signs.shape[1]
    sees = np.repeat((folds.sees() * folds.weight[:, None]).astype(np.float32), m, axis=1)
    begin = start[used] if start is not None and len(start) == rows.shape[1] + 1 else None
    W = squared_hinge(labeled, np.tile(signs, (1, folds.n_slices)), sees, COST, begin)
    weights = np.zeros((rows.shape[1] + 1, W.shape[1]), np.float32)
    weights[used] = W
    Z = (rows.times(weights[:-1]) + weights[-1]).reshape(folds.n_points, folds.n_slices, m)
    last = rows.on_columns(weights[:-1, -m:])
    return LinearScores(_both(Z), *_both_weights(last, weights[-1, -m:])), weights


def naive_bayes_expert(rows: Table, targets: Single) -> LinearScores:  # (N, n_slices, k)
    """Multinomial naive Bayes without class frequencies, tempered by rows ≥ 0 of length 1; soft targets."""
    N, n_slices, k = targets.shape
    counts = rows.transposed(targets.reshape(N, -1))  # (d, n_slices·k)
    total = counts.sum(axis=0, dtype=np.float64) + SMOOTHING * len(counts)
    theta = np.log(counts + np.float32(SMOOTHING)) - np.log(total).astype(np.float32)
    theta = centered(theta.reshape(-1, n_slices, k))
    columns = theta[:, :, 1:] if k == 2 else theta  # centered: the first is the second's negative
    Z = rows.times(np.ascontiguousarray(columns.reshape(len(theta), -1))).reshape(N, n_slices, -1)
    return LinearScores(_both(Z), rows.on_columns(theta[:, -1]), np.zeros(k, np.float32))


def bayes_of_stored(rows: Table, targets: Single) -> LinearScores:
    """``naive_bayes_expert`` of the sparse features alone; dense ones before them have weights 0."""
    found, before = naive_bayes_expert(rows.stored, targets), rows.shape[1] - rows.stored.shape[1]
    if not before:
        return found
    none = np.zeros((before, found.weights.shape[1]), np.float32)
    return LinearScores(found.scores, np.vstack([none, found.weights]), found.constant)


def ridge_expert(rows: Table, targets: Single) -> LinearScores:  # (N, n_slices, k)
    """Least squares from the features to soft targets of all points, a few steps of conjugate gradients.

    Always from 0: stopping early is part of the penalty, and a slice's earlier weights may have seen a label
    that its fold hides now.
    """
    N, n_slices, k = targets.shape
    B = 2 * targets - 1
    B = np.ascontiguousarray(B[:, :, 1:]) if k == 2 else B
    m = B.shape[2]
    W = ridge_steps(rows, B.reshape(N, -1), RIDGE, RIDGE_STEPS)
    Z = rows.times(W).reshape(N, n_slices, m)
    return LinearScores(_both(Z), *_both_weights(rows.on_columns(W[:, -m:]), np.zeros(m, np.float32)))


def _both(Z: Single) -> Single:  # (N, n_slices, 1 or k) -> centered (N, n_slices, k)
    return np.concatenate([-Z, Z], axis=-1) if Z.shape[-1] == 1 else centered(Z)


def _both_weights(W: Single, constant: Single) -> tuple[Single, Single]:  # (d, 1 or k), (1 or k,)
    if W.shape[1] == 1:
        return np.hstack([-W, W]), np.concatenate([-constant, constant])
    return centered(W), centered(constant)
