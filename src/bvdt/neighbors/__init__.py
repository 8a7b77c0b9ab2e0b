"""The search for nearest centres: as exact as one asks for, by its own measurement."""

from .audit import audit
from .exact import exact_lists
from .given import NeighborLists
from .joining import joined_lists
from .recall import Recall
from .search import NeighborIndex, checked_recall, nearest_centres
from .sides import swapped

__all__ = [
    "NeighborIndex",
    "NeighborLists",
    "Recall",
    "audit",
    "checked_recall",
    "exact_lists",
    "joined_lists",
    "nearest_centres",
    "swapped",
]
