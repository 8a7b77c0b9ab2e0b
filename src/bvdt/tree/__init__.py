"""Cluster trees: the arrays (``Tree``) and the ways to build them from lifted data."""

from .anchor import anchor_tree
from .balance import limit_depth
from .builders import BUILDERS, tree_builder
from .chunking import cut_into_chunks
from .structure import Tree
from .ward import varied, ward_tree

__all__ = [
    "BUILDERS",
    "Tree",
    "anchor_tree",
    "cut_into_chunks",
    "limit_depth",
    "tree_builder",
    "varied",
    "ward_tree",
]
