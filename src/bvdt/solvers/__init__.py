"""Solvers, each written once for columns in memory and over shards; none knows a kind of operator."""

from .arrays import ArraySpreading, ArraySystem, LabelRows, three_terms
from .conjugate_gradients import System, conjugate_gradients
from .lobpcg import Recurrence, Space, Tolerance, amplified, leading_space, recurrence
from .stepping import CHEBYSHEV_MOST, Outcome, Spreading, chebyshev, iterate, spread

__all__ = [
    "CHEBYSHEV_MOST",
    "ArraySpreading",
    "ArraySystem",
    "LabelRows",
    "Outcome",
    "Recurrence",
    "Space",
    "Spreading",
    "System",
    "Tolerance",
    "amplified",
    "chebyshev",
    "conjugate_gradients",
    "iterate",
    "leading_space",
    "recurrence",
    "spread",
    "three_terms",
]
