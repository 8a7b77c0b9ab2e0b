"""Which given labels are hidden together, to be predicted from the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.running import generator


def label_folds(
    codes: NDArray[np.intp], n_folds: int, random_state: Any = None
) -> tuple[NDArray[np.intp], int]:  # (N,), number
    """Fold of each labeled point, −1 for points never hidden; every class is spread over the folds.

    Two labels of a class are in different folds, so that no fold hides a whole class; a class's only label
    is never hidden. Never more folds than labels.
    """
    rng = generator(random_state)
    members = [np.flatnonzero(codes == k) for k in range(int(codes.max(initial=-1)) + 1)]
    shuffled = [rng.permutation(points) for points in members if len(points) >= 2]
    order = np.concatenate([*shuffled, np.empty(0, np.intp)]).astype(np.intp)
    n_folds = max(2, min(n_folds, len(order)))
    fold = np.full(len(codes), -1, np.intp)
    fold[order] = np.arange(len(order)) % n_folds  # class after class: each class's labels go round
    return fold, n_folds
