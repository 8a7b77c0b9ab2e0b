"""Large points that are read where the user keeps them, and how a change of them is noticed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._support.arrays import Float
from ..divergences import BregmanDivergence

SHARED = 1 << 22  # values, 32 MiB, from which on the user's own array may be read where it is
NEAR_ORIGIN = 8.0  # length of the data's middle over that of the usual centred row, at most
_NEAR = 1 << 15  # values handled several times while the CPU keeps them near


def stays_as_it_is(some: Float, middle: Float | None, divergence: BregmanDivergence, n_values: int) -> bool:
    """Whether x is the point itself, the data are large, and centring them would hardly spare digits.

    ``some`` of their rows tell. Uncentred, d_ij has a rounding error in proportion to ‖x‖², at most 65 times
    that of centred points: two digits of 16.
    """
    if not divergence.self_dual or middle is None or n_values < SHARED:
        return False
    usual = np.median(np.linalg.norm(some - middle, axis=1))
    return bool(np.linalg.norm(middle) <= NEAR_ORIGIN * usual)


def near_rows(X: Float) -> Iterator[slice]:
    """Slices of rows that the CPU keeps near."""
    step = max(1, _NEAR // X.shape[1])
    return (slice(first, min(first + step, len(X))) for first in range(0, len(X), step))


def phi_of_rows(X: Float, divergence: BregmanDivergence) -> Float:  # (N, d) -> (N,)
    """φ of every row, without a temporary of X's size."""
    u = np.empty(len(X))
    for rows in near_rows(X):
        u[rows] = divergence.phi_sum(X[rows])
    return u


def refuse_change(X: Float, u: Float, divergence: BregmanDivergence) -> None:
    """ValueError unless ``phi_of_rows`` of X is still u."""
    for rows in near_rows(X):
        if not np.array_equal(u[rows], divergence.phi_sum(X[rows])):
            raise ValueError(
                f"X needs the values that it was lifted with, as {X.nbytes >> 20} MiB are not copied; "
                f"rows {rows.start} to {rows.stop - 1} have others "
                "(pass X.copy() where X is to change later)"
            )
