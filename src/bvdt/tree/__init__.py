"""Cluster trees: the arrays (``Tree``) and the two ways to build them from lifted data."""

from .anchor import anchor_tree
from .structure import Tree
from .ward import ward_tree

__all__ = ["Tree", "anchor_tree", "ward_tree"]
