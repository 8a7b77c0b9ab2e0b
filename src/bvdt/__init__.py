"""Random walks over N points without the N×N matrix, for any Bregman divergence."""

from . import divergences
from .build import transition_matrix
from .exact import exact_transition_matrix
from .forest import ForestOperator
from .linear import WalkOperator
from .operator import TransitionOperator
from .partition import BlockPartition
from .storage import load
from .tree import Tree
from .walks import pagerank, propagate_labels, stationary_distribution

__all__ = [
    "BlockPartition",
    "ForestOperator",
    "TransitionOperator",
    "Tree",
    "WalkOperator",
    "divergences",
    "exact_transition_matrix",
    "load",
    "pagerank",
    "propagate_labels",
    "stationary_distribution",
    "transition_matrix",
]
