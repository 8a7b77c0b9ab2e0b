"""The fixed point F = α·M·F + (1 − α)·Y⁰ of label propagation and label spreading.

Plain steps; or, for a symmetric M with eigenvalues in [−1, 1], Chebyshev's (Golub and Varga 1961), two
vectors and one pass over memory per product:

    F_(k+1) = ω_(k+1)·(α·M·F_k + (1 − α)·Y⁰) + (1 − ω_(k+1))·F_(k−1),      ω_(k+1) = 1 / (1 − α²·ω_k/4)

Their error falls by (1 − √(1 − α²))/α per product: conjugate gradients' own bound, by half their memory and
without their inner products. Nearer to α = 1 those need fewer products than their bound says, and are used.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Literal, Protocol

import numpy as np

from .._support.arrays import Float

CHEBYSHEV_MOST = 0.95  # α up to which its steps take no longer than conjugate gradients
Outcome = Literal["converged", "stopped", "imprecise"]


class Spreading(Protocol):
    """Columns F, wherever they are kept, of which the first is (1 − α)·Y⁰ and the one before it 0.

    Attributes
    ----------
    alpha : α.
    products : with M, so far.
    sums : (3, k) of the last step, by column: Σ|R|, Σ|G| and ΣR², R = G − F with G the plain step.
    right : (k,) squares of (1 − α)·Y⁰, summed.
    """

    alpha: float
    products: int
    sums: Float
    right: Float

    def step(self, weight: float) -> None:
        """F ← weight·G + (1 − weight)·(F before), one product more."""

    def clip(self) -> None:
        """Scores below 0 are set to 0."""

    def solve(self, tol: float, max_products: int) -> None:
        """F by conjugate gradients from F on, until residuals are at most that share of their right side."""


def iterate(columns: Spreading, max_iter: int, tol: float) -> Outcome:
    """Plain steps until no column changes by more than ``tol`` of its sum."""
    for _ in range(max_iter):
        columns.step(1.0)
        if changes_less(columns, tol):
            return "converged"
    return "stopped"


def spread(columns: Spreading, max_iter: int, tol: float, finest: float = 0.0) -> Outcome:
    """Solves the fixed point, then takes one step of the equation itself.

    Residuals are above and below 0, and so may the smallest scores be, far from all labels. Cut off at 0 and
    stepped once, every score is a mean of scores ≥ 0 again. Where the step still changes more than ``tol``,
    it is solved further: many tiny residuals are short in length, but not in sum. "imprecise" where that
    would have to be solved to a tolerance below ``finest``.
    """
    share = tol
    while True:
        most = max_iter - 1 - columns.products
        if columns.alpha <= CHEBYSHEV_MOST:
            chebyshev(columns, most, share)
        else:
            columns.solve(share, most)
        columns.clip()
        columns.step(1.0)
        if changes_less(columns, tol):
            return "converged"
        share /= 10
        if share < finest:
            return "imprecise"
        if columns.products >= max_iter - 1:
            return "stopped"


def chebyshev(columns: Spreading, max_products: int, tol: float) -> None:
    """Chebyshev's steps until columns change by less, and residuals are at most ``tol`` of the right side."""
    weights = _weights(columns.alpha)
    if not columns.products:
        next(weights)  # the first F is a step from 0 already
    for weight in itertools.islice(weights, max_products):
        columns.step(weight)
        if changes_less(columns, tol) and np.all(columns.sums[2] <= tol**2 * columns.right):
            return


def changes_less(columns: Spreading, tol: float) -> bool:
    """Whether the plain step changed no column by more than that share of its sum."""
    change, size, _ = columns.sums
    return bool(np.all(change <= tol * size))


def _weights(alpha: float) -> Iterator[float]:
    """ω_1 = 1, ω_2 = 1 / (1 − α²/2), and so on."""
    yield 1.0
    weight = 2.0  # in the place of ω_1: so the formula gives ω_2
    while True:
        weight = 1 / (1 - alpha**2 * weight / 4)
        yield weight
