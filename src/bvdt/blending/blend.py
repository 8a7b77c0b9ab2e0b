"""The log-linear blend softmax(Σ_e w_e·z_e) of experts' scores, its weights fitted to hidden labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Index
from .folds import Folds, Single


@dataclass(frozen=True)
class Habit:
    """Weights to start from, and how far a penalty of ½((w − mean)/spread)² nats lets them go.

    One Gaussian prior for all numbers of labels: with five the habit rules, with a thousand the data do.
    """

    mean: tuple[float, ...]
    spread: tuple[float, ...]


# Chosen on labelings 0 to 2 of five corpora; docs/decisions.md has the figures, of labelings 100 to 104.
WALK = Habit((1.5,), (1.0,))
LINEAR = Habit((0.0,), (3.0,))  # margins
NAIVE_BAYES = Habit((0.0,), (1.0,))
OUTSIDE = Habit((0.0,), (1.0,))  # log-probabilities of a user's classifier, out of fold
GIVEN = Habit((1.0,), (1.0,))  # a user's probabilities count as they are until labels speak against them
BAYES_STUDENT = Habit((0.7, 0.7), (0.5, 0.5))  # first blend, naive Bayes taught by it
RIDGE_STUDENT = Habit((1.0, 4.0), (0.5, 2.0))  # second blend, least squares taught by it
# Of dense columns a line is often a poor picture: two moons lose up to 2 points by a mean of 4.
DENSE_STUDENT = Habit((1.0, 0.0), (0.5, 2.0))
TEMPERATURE = Habit((1.2,), (0.5,))
MOST = 2000  # hidden labels that a fit of one to three weights looks at; for time, not measured otherwise


def joined(habits: Sequence[Habit]) -> Habit:
    """The habit of several experts side by side."""
    return Habit(sum((h.mean for h in habits), ()), sum((h.spread for h in habits), ()))


def fit_weights(
    Z: Any, codes: Index, habit: Habit, label_weight: Float
) -> Float:  # (e, n, k), (n,) ×2 -> (e,)
    """Minimiser w ≥ 0 of Σ_i −v_i·log softmax(Σ_e w_e·z_ei)[code_i] + ½Σ_e((w_e − mean_e)/spread_e)²."""
    from scipy.optimize import minimize  # slow to import
    from scipy.special import logsumexp

    mean, spread = np.array(habit.mean), np.array(habit.spread)
    if not len(codes):
        return mean
    Z, codes, label_weight = _thinned(np.asarray(Z), codes, label_weight)
    rows = np.arange(len(codes))
    right = np.einsum("en,n->e", Z[:, rows, codes], label_weight)

    def loss(w: Float) -> tuple[float, Float]:
        scores = np.einsum("e,enk->nk", w, Z)
        total = logsumexp(scores, axis=1, keepdims=True)
        P = np.exp(scores - total) * label_weight[:, None]
        away = (w - mean) / spread
        value = (label_weight * (total[:, 0] - scores[rows, codes])).sum() + 0.5 * (away * away).sum()
        return float(value), np.einsum("nk,enk->e", P, Z) - right + away / spread

    bounds = [(0, None)] * len(mean)
    return np.asarray(minimize(loss, mean, jac=True, method="L-BFGS-B", bounds=bounds).x)


def _thinned(Z: NDArray[Any], codes: Index, label_weight: Float) -> tuple[Float, Index, Float]:
    """Every second, third, … label where there are many, weighing as much as all of them."""
    every = max(1, len(codes) // MOST)
    return Z[:, ::every].astype(np.float64), codes[::every], label_weight[::every] * every


def label_weights(folds: Folds, class_weight: Float, class_share: Float) -> Float:  # (n_tested,)
    """Weights of the hidden labels: mean 1, less where they stand for part of the classes, 0 for one alone.

    A class's only label is never hidden, so the hidden ones may tell nothing about telling classes apart.
    """
    codes = folds.hidden_codes()
    tested = np.unique(codes)
    if len(tested) < 2:
        return np.zeros(len(codes))
    v = class_weight[codes]
    return np.asarray(v / v.mean() * class_share[tested].sum())


def blend(
    folds: Folds, scores: Sequence[Single], habit: Habit, label_weight: Float
) -> tuple[Single, Float]:  # (N, n_slices, k), (e,)
    """The weighted sum of the experts' scores in every slice, and the weights."""
    w = fit_weights([folds.hidden(Z) for Z in scores], folds.hidden_codes(), habit, label_weight)
    total = np.float32(w[0]) * scores[0]
    for weight, Z in zip(w[1:], scores[1:], strict=True):
        total += np.float32(weight) * Z
    return total, w


def softmax(Z: NDArray[Any]) -> NDArray[Any]:  # (…, k)
    """Rows of positive numbers that sum to 1."""
    E = np.exp(Z - Z.max(axis=-1, keepdims=True))
    E /= E.sum(axis=-1, keepdims=True)
    return np.asarray(E)


def centred(Z: NDArray[Any]) -> NDArray[Any]:  # (…, k)
    """Rows with mean 0: what a softmax does not see is taken off."""
    return np.asarray(Z - Z.mean(axis=-1, keepdims=True))


def log_loss(Z: NDArray[Any], codes: Index, label_weight: Float) -> float:  # (n, k), (n,) ×2
    """Σ −v·log softmax(Z)[code]; 0 without labels."""
    from scipy.special import logsumexp

    return float((label_weight * (logsumexp(Z, axis=1) - Z[np.arange(len(codes)), codes])).sum())
