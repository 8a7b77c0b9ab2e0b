"""Conjugate gradients (Hestenes and Stiefel 1952) for many right-hand sides at once.

Every column has its own step length; a column that is solved stands still while the others go on. The
textbook's step needs two sums over all points, one after the other: ⟨P, A·P⟩ for the length, then the new
residual's square for the next direction. With ‖A·P‖² beside the first the new square is known before the
residual is, since ⟨R, A·P⟩ = ⟨P, A·P⟩ = ‖R‖²/λ for conjugate directions:

    ‖R − λ·A·P‖² = λ²·‖A·P‖² − ‖R‖²

so residual, solution and direction move in one pass (Chronopoulos and Gear 1989). It serves for the direction
only; the next step length and the end are decided by the residual's own square.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._support.arrays import Float


class System(Protocol):
    """A·F = B with A symmetric and positive, and columns F, R = B − A·F and P, wherever they are kept."""

    def product(self) -> tuple[Float, Float]:  # (k,) ×2
        """Makes A·P; ⟨P, A·P⟩ and ‖A·P‖² of the columns."""

    def advance(self, step: Float, beta: Float) -> Float:  # (k,) ×2 -> (k,)
        """F += step·P, R −= step·A·P, P ← R + beta·P; the columns' ‖R‖²."""


def conjugate_gradients(system: System, residual: Float, stop: Float, max_products: int) -> int:
    """Solves from R = P, of squares ``residual``, until these are at most ``stop``; the products it took."""
    products = 0
    while products < max_products and (residual > stop).any():
        along, square = system.product()
        products += 1
        going = residual > stop
        step = np.where(going, _ratio(residual, along), 0.0)
        new = np.maximum(step**2 * square - residual, 0.0)
        residual = system.advance(step, np.where(going, _ratio(new, residual), 0.0))
    return products


def _ratio(a: Float, b: Float) -> Float:
    """a/b, and 0 where b is 0: a column that is solved, or empty."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
