"""Which values are ordinary: what is learnt from the data is learnt from these, not from a few far ones."""

from __future__ import annotations

import numpy as np

from .arrays import Float, Mask
from .sparse import Points, is_sparse

_SHARE = 0.98  # of the values are ordinary at any rate
_FAR = 10.0  # times their distance from the median


def ordinary(values: Float) -> Mask:  # (N,) or (N, d), shape kept
    """Whether a value is at most ten times as far from its column's median as 98 % of them are.

    Where 98 % are equal, all are ordinary: a rare value cannot be distinguished from a far one.
    """
    away = np.abs(values - np.median(values, axis=0))
    limit = _FAR * np.quantile(away, _SHARE, axis=0, method="inverted_cdf")
    return np.asarray((away <= limit) | (limit == 0))


def ordinary_range(values: Float) -> tuple[Float, Float]:  # (N, d) -> (d,) ×2
    """Between which values those of each column are ``ordinary``."""
    middle = np.median(values, axis=0)
    limit = _FAR * np.quantile(np.abs(values - middle), _SHARE, axis=0, method="inverted_cdf")
    limit = np.where(limit > 0, limit, np.inf)
    return middle - limit, middle + limit


def ordinary_limits(values: Float) -> tuple[float, float]:  # (N,)
    """Between which values one is ``ordinary``: a rule that can be taken to others."""
    middle = float(np.median(values))
    limit = _FAR * float(np.quantile(np.abs(values - middle), _SHARE, method="inverted_cdf"))
    return (middle - limit, middle + limit) if limit > 0 else (-np.inf, np.inf)


def ordinary_rows(X: Points) -> Points:
    """X without the rows whose sum of sizes is out of the ordinary; X itself if there is none."""
    sizes = np.asarray(abs(X).sum(axis=1), float).ravel() if is_sparse(X) else np.abs(X).sum(axis=1)
    kept = ordinary(sizes)
    return X if kept.all() else X[np.flatnonzero(kept)]
