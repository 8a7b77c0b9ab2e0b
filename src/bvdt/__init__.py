"""Random walks over N points without the N×N matrix, for any Bregman divergence."""

from . import divergences
from .exact import exact_transition_matrix
from .tree import Tree

__all__ = ["Tree", "divergences", "exact_transition_matrix"]
