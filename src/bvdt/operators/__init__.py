"""Transition matrices as linear operators: one tree, a forest, a near field, the exact matrix, new points."""

from .base import RealOperator
from .build import transition_matrix
from .exact import exact_rows, exact_transition_matrix
from .forest import ForestOperator
from .near_field import NearField, near_weights
from .ordered import OrderedWalk, in_tree_order, ordered_walk
from .ordered_symmetrized import OrderedSymmetrized, symmetrized_in_order
from .products import CoarsestProduct
from .single_tree import TransitionOperator
from .symmetrized import SymmetrizedOperator
from .walk import WalkOperator

__all__ = [
    "CoarsestProduct",
    "ForestOperator",
    "NearField",
    "OrderedSymmetrized",
    "OrderedWalk",
    "RealOperator",
    "SymmetrizedOperator",
    "TransitionOperator",
    "WalkOperator",
    "exact_rows",
    "exact_transition_matrix",
    "in_tree_order",
    "near_weights",
    "ordered_walk",
    "symmetrized_in_order",
    "transition_matrix",
]
