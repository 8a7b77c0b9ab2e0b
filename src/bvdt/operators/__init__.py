"""Transition matrices as linear operators: one tree, a forest, a near field, the exact matrix, new points."""

from .base import MatrixOperator, RealOperator, Side
from .build import transition_matrix
from .exact import exact_rows, exact_transition_matrix
from .forest import ForestOperator
from .near_field import NearField, near_weights
from .ordered import OrderedWalk
from .single_tree import TransitionOperator
from .symmetrized import SymmetrizedOperator
from .tree_product import CoarsestProduct
from .walk import WalkOperator

__all__ = [
    "CoarsestProduct",
    "ForestOperator",
    "MatrixOperator",
    "NearField",
    "OrderedWalk",
    "RealOperator",
    "Side",
    "SymmetrizedOperator",
    "TransitionOperator",
    "WalkOperator",
    "exact_rows",
    "exact_transition_matrix",
    "near_weights",
    "transition_matrix",
]
