"""The paper's anchor tree: anchors grow, merge, and are split again."""

from .building import AnchorStats, anchor_tree

__all__ = ["AnchorStats", "anchor_tree"]
