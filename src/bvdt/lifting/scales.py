"""Columns in units of their own: a warning where one of them dominates squared distances."""

from __future__ import annotations

import warnings

import numpy as np

from .._support.sparse import Points, is_sparse

_SAMPLE = 2000  # rows
_NEARLY_ALL = 0.9999  # of the squared distances: a hundred times as wide as all other columns together


def warn_of_one_column(X: Points, divergence: str) -> None:
    """A warning where one dense column's squared width, between its deciles, is nearly the sum of all.

    Of two columns it may well be, as of points along a line.
    """
    if divergence != "squared_euclidean" or is_sparse(X) or len(X) < 20:
        return
    low, high = np.quantile(X[:: -(-len(X) // _SAMPLE)], (0.1, 0.9), axis=0)
    squares = np.square(high - low)
    if (squares > 0).sum() < 3 or squares.max() <= _NEARLY_ALL * squares.sum():
        return
    warnings.warn(
        f"column {int(squares.argmax())} of X is nearly all of the squared distances, and the other "
        f"{len(squares) - 1} hardly count; where columns have units of their own, standardise them first "
        "(sklearn.preprocessing.StandardScaler)",
        UserWarning,
        stacklevel=4,
    )
