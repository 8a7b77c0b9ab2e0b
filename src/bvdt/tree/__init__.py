"""Cluster trees: the arrays (``Tree``) and the ways to build them from lifted data."""

from .adding import with_points_beside
from .anchor import anchor_tree
from .balance import limit_depth
from .builders import BUILDERS, tree_builder
from .chunking import Clusters, cut_into_chunks, split_levels
from .structure import Tree
from .ward import varied, ward_tree, ward_tree_of_means

__all__ = [
    "BUILDERS",
    "Clusters",
    "Tree",
    "anchor_tree",
    "cut_into_chunks",
    "limit_depth",
    "split_levels",
    "tree_builder",
    "varied",
    "ward_tree",
    "ward_tree_of_means",
    "with_points_beside",
]
