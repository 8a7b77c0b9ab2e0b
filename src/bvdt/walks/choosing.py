"""alpha="auto": chosen on labels that are hidden from the walk, by products only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float
from .class_scores import class_distributions
from .folds import label_folds
from .inputs import symmetrized
from .propagation import label_scores
from .solving import solve_spread

ALPHAS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
DEFAULT_ALPHA = 0.9
_FOLDS = 5
_TOL = 1e-3
_FLOOR = 0.01  # spread over all classes, so that no hidden label costs infinitely much


def choose_alpha(
    op: Any,
    Y0: Float,
    *,
    mode: str = "spread",
    n_iter: int = 300,
    candidates: tuple[float, ...] = ALPHAS,
    random_state: Any = 0,
) -> float:
    """The α whose walk gives hidden labels the least log-loss, each hidden once, in five folds.

    ``Y0`` holds the labels' weights, one column per class. 0.9 stays unless another is better by more than
    the standard error of the difference; and wherever a class has fewer than two labels, since hiding it
    would hide the class.

    The folds' labels are columns of one solve per α, which starts from the last: the walk is linear, so what
    the other folds give is the sum of all less the fold's own.
    """
    labelled = np.flatnonzero(Y0.any(axis=1))
    codes = np.full(len(Y0), -1, np.intp)
    codes[labelled] = Y0[labelled].argmax(axis=1)
    count = np.bincount(codes[labelled], minlength=Y0.shape[1])
    if len(count) < 2 or count.min() < 2:
        return DEFAULT_ALPHA
    fold, n_folds = label_folds(codes, _FOLDS, random_state)
    Y = np.zeros((len(Y0), n_folds, Y0.shape[1]))
    Y[labelled, fold[labelled]] = Y0[labelled]
    S, F = symmetrized(op) if mode == "spread" else None, None
    losses = []
    for alpha in candidates:
        if S is not None:
            F, _ = solve_spread(S, Y.reshape(len(Y), -1), alpha, tol=_TOL, max_products=n_iter, start=F)
        else:
            F, _ = label_scores(
                op, Y.reshape(len(Y), -1), mode=mode, alpha=alpha, n_iter=10 * n_iter, tol=_TOL
            )
        losses.append(_hidden_losses(F.reshape(Y.shape), Y0, codes, fold))
    return _best(candidates, np.array(losses))


def _hidden_losses(
    F: Float, Y0: Float, codes: NDArray[np.intp], fold: NDArray[np.intp]
) -> Float:  # (N, n_folds, k) -> (n_labels,)
    """−log p of every hidden label, from the labels of the other folds."""
    labelled = np.flatnonzero(codes >= 0)
    at = F[labelled]
    others = np.maximum(at.sum(axis=1) - at[np.arange(len(at)), fold[labelled]], 0.0)
    P = class_distributions(others, Y0.sum(axis=0) / Y0.sum())
    P = (1 - _FLOOR) * P + _FLOOR / P.shape[1]
    return np.asarray(-np.log(P[np.arange(len(at)), codes[labelled]]))


def _best(candidates: tuple[float, ...], losses: Float) -> float:  # (n_candidates, n_labels)
    best = int(losses.mean(axis=1).argmin())
    if DEFAULT_ALPHA not in candidates:
        return candidates[best]
    gain = losses[candidates.index(DEFAULT_ALPHA)] - losses[best]
    sure = gain.mean() > gain.std() / np.sqrt(len(gain))
    return candidates[best] if sure else DEFAULT_ALPHA
