"""Whether divergences are more than rounding: far from 0, u + w − ⟨x, h⟩ may cancel to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from .lifted import Lifted

_SAMPLE = 48  # rows that are looked at, against as many
_MOST = 0.05  # of a typical divergence that rounding may take: from about there on neighbors change


def refuse_rounding(lifted: Lifted, name: str) -> None:
    """ValueError if between most of the points that differ the divergence is lost in rounding."""
    if lifted.n_points < 4:
        return
    some = np.random.default_rng(0).permutation(lifted.n_points)[: 2 * _SAMPLE]
    rows, centers = some[::2], some[1::2]
    noise = np.finfo(float).eps * (np.abs(lifted.u[rows])[:, None] + np.abs(lifted.w[centers]))
    divergence = lifted.divergences(rows, centers)
    if not (noise > _MOST * divergence).mean() > 0.5:
        return
    X, Y = (lifted.X[k].toarray() if sparse.issparse(lifted.X) else lifted.X[k] for k in (rows, centers))
    differs = np.array([(x != Y).any(axis=1) for x in X])
    if differs.any() and (noise[differs] > _MOST * divergence[differs]).mean() > 0.5:
        raise ValueError(
            f"{name} needs points whose differences exceed rounding; between typical rows the divergence is "
            f"{np.median(divergence[differs]):.2g}, its rounding error {np.median(noise[differs]):.2g} "
            "(far from 0, squared_euclidean keeps differences)"
        )
