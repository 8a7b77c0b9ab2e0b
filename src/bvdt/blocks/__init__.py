"""Blocks of the matrix: partitions, their divergences, the best probabilities, finer partitions."""

from .bandwidth import (
    dimension_of,
    effective_dimension,
    learned_bandwidth,
    n_nonzero,
    resolve_bandwidth,
    resolve_bandwidth_of,
)
from .bound import Curve, bound_curve, coarsest_curve
from .distinct import DistinctTree, distinct_tree
from .optimum import Optimum, optimum
from .partition import BlockPartition
from .refinement import refined_blocks
from .sums import NodeSums, block_divergences, sums_by_node

__all__ = [
    "BlockPartition",
    "Curve",
    "DistinctTree",
    "NodeSums",
    "Optimum",
    "block_divergences",
    "bound_curve",
    "coarsest_curve",
    "dimension_of",
    "distinct_tree",
    "effective_dimension",
    "learned_bandwidth",
    "n_nonzero",
    "optimum",
    "refined_blocks",
    "resolve_bandwidth",
    "resolve_bandwidth_of",
    "sums_by_node",
]
