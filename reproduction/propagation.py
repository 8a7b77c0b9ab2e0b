"""Section 4.2: which documents are labeled, Eq. (29), and one-vs-all."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bvdt._support.arrays import Float, Index, Mask
from bvdt._support.sparse import OperatorLike

__all__ = ["Labeling", "draw_labeled", "literal", "one_vs_all", "settled", "vote"]

NOTHING = 1e-300  # smaller scores are 0: a little further down numbers lose digits, flicker and are slow
_ENTRIES = 1 << 24  # of the label columns that are propagated at once


class Labeling(NamedTuple):
    """Predicted classes of all documents, and which of them a label reached."""

    classes: Index
    reached: Mask


def draw_labeled(y: Index, share: float, rng: np.random.Generator) -> Mask:
    """Documents whose label is given: a share drawn uniformly, and one of each class that got none.

    At least one document stays unlabeled, so that there is something to predict.
    """
    known = np.zeros(len(y), bool)
    known[rng.choice(len(y), min(round(share * len(y)), len(y) - 1), replace=False)] = True
    for label in np.setdiff1d(y, y[known]):
        known[rng.choice(np.flatnonzero(y == label))] = True
    if known.all():
        raise ValueError(f"{len(y)} documents of {y.max() + 1} classes leave none to predict; give more")
    return known


def literal(M: OperatorLike, Y0: Float, alpha: float, n_iter: int) -> Float:  # (N, k) -> (N, k)
    """Eq. (29), every step of it; scores below 1e-300 are 0."""
    Y = Y0
    for _ in range(n_iter):
        Y = alpha * np.asarray(M @ Y) + (1 - alpha) * Y0
        Y[Y < NOTHING] = 0.0
    return Y


def settled(M: OperatorLike, Y0: Float, alpha: float, n_iter: int) -> Float:  # (N, k) -> (N, k)
    """Eq. (29) ``n_iter`` times, ended early where further steps could change no entry by a share of 1e-12.

    When no entry changes by more than a share ε, the next change is at most α·ε·(M y)_i ≤ ε·y_i, and so on:
    300 steps change it by a share of 300·ε at most. Here ε is 8 units of rounding; scores below 1e-300
    are 0. Columns do not meet, so each ends by itself: most do after a dozen steps.
    """
    result, moving = Y0.copy(), np.arange(Y0.shape[1])
    for _ in range(n_iter):
        former = result[:, moving]
        new = alpha * np.asarray(M @ former) + (1 - alpha) * Y0[:, moving]
        new[new < NOTHING] = 0.0
        result[:, moving] = new
        moving = moving[(np.abs(new - former) > 8 * np.finfo(float).eps * new).any(axis=0)]
        if not len(moving):
            break
    return result


def vote(M: OperatorLike, y: Index, masks: list[Mask], alpha: float, n_iter: int) -> list[Labeling]:
    """Labels of all documents by Eq. (29), for each mask of labeled ones."""
    return one_vs_all(lambda Y0: settled(M, Y0, alpha, n_iter), y, masks)


def one_vs_all(scores: Callable[[Float], Float], y: Index, masks: list[Mask]) -> list[Labeling]:
    """Labels of all documents, for each mask of labeled ones.

    The classes' columns of many masks go through ``scores`` together. A document that no label reaches (all
    its scores are below 1e-300) gets the class that is most frequent among the labeled ones.
    """
    n_classes = int(y.max()) + 1
    at_once = max(1, _ENTRIES // (len(y) * n_classes))
    found = []
    for first in range(0, len(masks), at_once):
        batch = masks[first : first + at_once]
        Y0 = np.zeros((len(y), len(batch), n_classes))
        for k, known in enumerate(batch):
            Y0[known, k, y[known]] = 1.0
        F = scores(Y0.reshape(len(y), -1)).reshape(Y0.shape)
        found += [_largest(F[:, k], y[known]) for k, known in enumerate(batch)]
    return found


def _largest(scores: Float, given: Index) -> Labeling:  # (N, n_classes)
    classes, reached = scores.argmax(axis=1), scores.max(axis=1) > 0
    classes[~reached] = np.bincount(given).argmax()
    return Labeling(classes, reached)
