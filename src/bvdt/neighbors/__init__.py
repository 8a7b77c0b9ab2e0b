"""Neighbor search for any Bregman divergence: one index, exact, inverted lists or postings, and autotune."""

from .audit import audit, ranking_divergence
from .autotune import Tuned, autotuned, checked_recall, for_new_points, neighbor_graph
from .differences import clamp_rounding
from .exact import dual_points, exact_lists
from .given import NeighborLists
from .index import NeighborIndex
from .joining import joined_lists
from .params import IndexParams, SearchParams
from .recall import Recall

__all__ = [
    "IndexParams",
    "NeighborIndex",
    "NeighborLists",
    "Recall",
    "SearchParams",
    "Tuned",
    "audit",
    "autotuned",
    "checked_recall",
    "clamp_rounding",
    "dual_points",
    "exact_lists",
    "for_new_points",
    "joined_lists",
    "neighbor_graph",
    "ranking_divergence",
]
