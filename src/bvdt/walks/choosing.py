"""alpha="auto": chosen on labels that are hidden from the walk, by products only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

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
_POWERS = tuple(2.0 ** np.arange(-2, 4.5, 0.5))
_FLOOR = 0.01  # shared by all classes, so that no hidden label costs infinitely much


def choose_alpha(
    op: Any,
    Y0: Float,
    *,
    method: str = "spread",
    max_iter: int = 300,
    candidates: tuple[float, ...] = ALPHAS,
    random_state: Any = 0,
    folds: tuple[NDArray[np.intp], int] | None = None,
) -> float:
    """The α whose walk gives hidden labels the least log-loss, each hidden once, in five folds.

    ``op`` is the walk, or its symmetrised form; ``Y0`` holds the labels' weights, one column per class. 0.9
    stays unless another is better by more than the standard error of the difference; and wherever a class has
    fewer than two labels, since hiding it would hide the class.

    The folds' labels are columns of one solve per α, which starts from the last: the walk is linear, so what
    the other folds give is the sum of all less the fold's own.

    ``folds``: which labels are hidden together, and their number, as ``label_folds`` gives; drawn where None.
    """
    labeled = np.flatnonzero(Y0.any(axis=1))
    codes = np.full(len(Y0), -1, np.intp)
    codes[labeled] = Y0[labeled].argmax(axis=1)
    count = np.bincount(codes[labeled], minlength=Y0.shape[1])
    if len(count) < 2 or count.min() < 2:
        return DEFAULT_ALPHA
    fold, n_folds = label_folds(codes, _FOLDS, random_state) if folds is None else folds
    Y = np.zeros((len(Y0), n_folds, Y0.shape[1]))
    Y[labeled, fold[labeled]] = Y0[labeled]
    S, F = (symmetrized(op) if method == "spread" else None), None
    losses = []
    for alpha in candidates:
        if S is not None:
            F, _ = solve_spread(S, Y.reshape(len(Y), -1), alpha, tol=_TOL, max_products=max_iter, start=F)
        else:
            F, _ = label_scores(
                op, Y.reshape(len(Y), -1), method=method, alpha=alpha, max_iter=10 * max_iter, tol=_TOL
            )
        losses.append(_hidden_losses(np.asarray(F, float).reshape(Y.shape), Y0, codes, fold))
    return _best(candidates, np.array(losses))


def _hidden_losses(
    F: Float, Y0: Float, codes: NDArray[np.intp], fold: NDArray[np.intp]
) -> Float:  # (N, n_folds, k) -> (n_labels,)
    """−log p of every hidden label, from the other folds' labels, p at the power that suits them best.

    Scores at a large α are flat and at a small one sharp, whoever they are right about: without the power
    the sharp ones would win (10 % of BBC's labels: α = 0.5 and 0.943, where 0.9 has 0.964).
    """
    labeled = np.flatnonzero(codes >= 0)
    at = F[labeled]
    others = np.maximum(at.sum(axis=1) - at[np.arange(len(at)), fold[labeled]], 0.0)
    counts = Y0.sum(axis=0)
    P = class_distributions(others / np.sqrt(counts), counts / counts.sum())
    log_p = np.log(P + _FLOOR / P.shape[1])
    given = log_p[np.arange(len(at)), codes[labeled]]
    losses = [logsumexp(power * log_p, axis=1) - power * given for power in _POWERS]
    return np.asarray(min(losses, key=np.mean))


def _best(candidates: tuple[float, ...], losses: Float) -> float:  # (n_candidates, n_labels)
    best = int(losses.mean(axis=1).argmin())
    if DEFAULT_ALPHA not in candidates:
        return candidates[best]
    gain = losses[candidates.index(DEFAULT_ALPHA)] - losses[best]
    sure = gain.mean() > gain.std() / np.sqrt(len(gain))
    return candidates[best] if sure else DEFAULT_ALPHA
