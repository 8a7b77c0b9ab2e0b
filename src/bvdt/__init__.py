"""Random walks over N points without the N×N matrix, for any Bregman divergence."""

from .tree import Tree

__all__ = ["Tree"]
