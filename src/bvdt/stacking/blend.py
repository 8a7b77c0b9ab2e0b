"""The log-linear blend softmax(Σ_e w_e·z_e) of experts' scores, its weights fitted to hidden labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.arrays import Float, Index, Numbers, Real
from .folds import Folds, Single


@dataclass(frozen=True)
class GaussianPrior:
    """Weights to start from, and how far a penalty of ½((w − mean)/std)² nats lets them go.

    One Gaussian prior for all numbers of labels: with five the prior rules, with a thousand the data do.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]


# Chosen on labelings 0 to 2 of five corpora (the temperature on 0 to 10); docs/choices.md has others.
WALK = GaussianPrior((1.5,), (1.0,))
LINEAR = GaussianPrior((0.0,), (3.0,))  # margins
NAIVE_BAYES = GaussianPrior((0.0,), (1.0,))
CLASS_SHARES = GaussianPrior((1.0,), (1.0,))  # log-shares of the labels, as in Bayes' rule
OUTSIDE = GaussianPrior((0.0,), (1.0,))  # log-probabilities of a user's classifier, out of fold
GIVEN = GaussianPrior((1.0,), (1.0,))  # a user's probabilities, as they are until labels contradict them
BAYES_STUDENT = GaussianPrior((0.7, 0.7), (0.5, 0.5))  # first blend, naive Bayes taught by it
RIDGE_STUDENT = GaussianPrior((1.0, 4.0), (0.5, 2.0))  # second blend, least squares taught by it
# Of dense columns a line is often a poor picture: two moons lose up to 2 points by a mean of 4.
DENSE_STUDENT = GaussianPrior((1.0, 0.0), (0.5, 2.0))
ALONE = GaussianPrior((1.0,), (1.0,))
TEMPERATURE = GaussianPrior((1.1,), (0.25,))
MOST = 2000  # hidden labels that a fit of one to three weights looks at; for time, not measured otherwise
FEW_CLASSES = 12  # beyond, NumPy's own sums over a row are as fast
MOST_STEPS, TOLERANCE = 50, 1e-6  # of Newton's method; five to eight steps are usual


def joined(priors: Sequence[GaussianPrior]) -> GaussianPrior:
    """The prior of several experts side by side."""
    return GaussianPrior(sum((h.mean for h in priors), ()), sum((h.std for h in priors), ()))


def fit_weights(
    Z: ArrayLike, codes: Index, prior: GaussianPrior, label_weight: Float
) -> Float:  # (e, n, k), (n,) ×2 -> (e,)
    """Minimiser w ≥ 0 of Σ_i −v_i·log softmax(Σ_e w_e·z_ei)[code_i] + ½Σ_e((w_e − mean_e)/spread_e)².

    By Newton steps over the weights that are not held at 0 (Bertsekas 1982): the loss is convex, a step costs
    one look at the scores.
    """
    w = np.array(prior.mean)
    if not len(codes):
        return w
    loss = _Loss(*_thinned(np.asarray(Z), codes, label_weight), prior)
    value, gradient, curvature = loss.at(w)
    for _ in range(MOST_STEPS):
        free = (w > 0) | (gradient < 0)
        step = np.zeros_like(w)
        step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        found = _shortened(loss, w, step, value, gradient)
        if found is None:
            break
        new, (value, gradient, curvature) = found
        done = np.abs(new - w).max() <= TOLERANCE * (1 + np.abs(w).max())
        w = new
        if done:
            break
    return w


def _shortened(
    loss: _Loss, w: Float, step: Float, value: float, gradient: Float
) -> tuple[Float, tuple[float, Float, Float]] | None:
    """Weights after the step, or a half, a quarter … of it, that lower the loss as promised; or None."""
    for share in 0.5 ** np.arange(30):
        new = np.maximum(w + share * step, 0.0)
        found = loss.at(new)
        if found[0] <= value + 1e-4 * (gradient * (new - w)).sum():
            return new, found
    return None


class _Loss:
    """The penalised loss of ``fit_weights``, its gradient and its second derivatives."""

    def __init__(self, Z: Float, codes: Index, label_weight: Float, prior: GaussianPrior) -> None:
        self.Z, self.label_weight = Z, label_weight  # (e, n, k), (n,)
        self.rows, self.codes = np.arange(len(codes)), codes
        self.mean, self.std = np.array(prior.mean), np.array(prior.std)
        self.right = np.einsum("en,n->e", Z[:, self.rows, codes], label_weight)

    def at(self, w: Float) -> tuple[float, Float, Float]:  # value, (e,), (e, e)
        scores = np.einsum("e,enk->nk", w, self.Z)
        peak = scores.max(axis=1)
        P = np.exp(scores - peak[:, None])
        total = P.sum(axis=1)
        P *= (self.label_weight / total)[:, None]
        away = (w - self.mean) / self.std
        given = peak + np.log(total) - scores[self.rows, self.codes]
        value = (self.label_weight * given).sum() + 0.5 * (away * away).sum()
        weighted = P * self.Z  # (e, n, k)
        expected = weighted.sum(axis=2)  # (e, n)
        gradient = expected.sum(axis=1) - self.right + away / self.std
        per_label = expected / np.sqrt(np.maximum(self.label_weight, 1e-300))
        curvature = np.einsum("enk,fnk->ef", weighted, self.Z) - np.einsum("en,fn->ef", per_label, per_label)
        return float(value), gradient, curvature + np.diag(1.0 / self.std**2)


def _thinned(Z: Numbers, codes: Index, label_weight: Float) -> tuple[Float, Index, Float]:
    """Every second, third, … label where there are many, weighing as much as all of them."""
    every = max(1, len(codes) // MOST)
    return Z[:, ::every].astype(np.float64), codes[::every], label_weight[::every] * every


def label_weights(folds: Folds, class_weight: Float, class_share: Float) -> Float:  # (n_tested,)
    """Weights of the hidden labels: in the mean those given, less where they stand for part of the classes, 0
    for one alone.

    A class's only label is never hidden, so hidden labels may say nothing about separating classes.
    """
    codes, given = folds.hidden_codes(), folds.weight[folds.tested]
    tested = np.unique(codes)
    if len(tested) < 2:
        return np.zeros(len(codes))
    v = class_weight[codes]
    return np.asarray(given * v / np.average(v, weights=given) * class_share[tested].sum())


def blend(
    folds: Folds,
    scores: Sequence[Single],
    prior: GaussianPrior,
    label_weight: Float,
    decided: Float | None = None,
) -> tuple[Single, Float]:  # (N, n_slices, k), (e,)
    """The weighted sum of the experts' scores in every slice, and its weights: ``decided``, or fitted."""
    w = decided
    if w is None:
        w = fit_weights([folds.hidden(Z) for Z in scores], folds.hidden_codes(), prior, label_weight)
    return weighted(scores, w), w


def weighted(scores: Sequence[Single], w: Float) -> Single:
    """Σ_e w_e·z_e."""
    total = np.float32(w[0]) * scores[0]
    for weight, Z in zip(w[1:], scores[1:], strict=True):
        total += np.float32(weight) * Z
    return total


def softmax(Z: NDArray[Real]) -> NDArray[Real]:  # (…, k)
    """Rows of positive numbers that sum to 1."""
    E = np.exp(Z - _over_classes(np.maximum, Z))
    E /= _over_classes(np.add, E)
    return np.asarray(E)


def centered(Z: NDArray[Real]) -> NDArray[Real]:  # (…, k)
    """Rows with mean 0: what a softmax does not see is taken off."""
    return np.asarray(Z - _over_classes(np.add, Z) / Z.dtype.type(Z.shape[-1]))


def _over_classes(combine: np.ufunc, Z: NDArray[Real]) -> NDArray[Real]:  # (…, k) -> (…, 1)
    """The classes of every row combined; of a few one after the other, since NumPy is slow on short rows."""
    if Z.shape[-1] > FEW_CLASSES:
        return np.asarray(combine.reduce(Z, axis=-1, keepdims=True))
    total = Z[..., :1].copy()
    for c in range(1, Z.shape[-1]):
        combine(total, Z[..., c : c + 1], out=total)
    return total


def log_loss(Z: Numbers, codes: Index, label_weight: Float) -> float:  # (n, k), (n,) ×2
    """Σ −v·log softmax(Z)[code]; 0 without labels."""
    from scipy.special import logsumexp

    return float((label_weight * (logsumexp(Z, axis=1) - Z[np.arange(len(codes)), codes])).sum())
