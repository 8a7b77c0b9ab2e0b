"""Random walks over N points without the N×N matrix, for any Bregman divergence."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import divergences
from .build import transition_matrix
from .exact import exact_transition_matrix
from .forest import ForestOperator
from .linear import WalkOperator
from .operator import TransitionOperator
from .partition import BlockPartition
from .tree import Tree
from .walks import pagerank, propagate_labels, stationary_distribution

if TYPE_CHECKING:
    from . import datasets
    from .estimators import LabelPropagation, SpectralClustering, SpectralEmbedding
    from .storage import load
    from .text import text_pipeline

__all__ = [
    "BlockPartition",
    "ForestOperator",
    "LabelPropagation",
    "SpectralClustering",
    "SpectralEmbedding",
    "TransitionOperator",
    "Tree",
    "WalkOperator",
    "datasets",
    "divergences",
    "exact_transition_matrix",
    "load",
    "pagerank",
    "propagate_labels",
    "stationary_distribution",
    "text_pipeline",
    "transition_matrix",
]


_ON_FIRST_USE = {
    "LabelPropagation": "estimators",
    "SpectralClustering": "estimators",
    "SpectralEmbedding": "estimators",
    "load": "storage",
    "text_pipeline": "text",
}


def __getattr__(name: str) -> Any:
    """Estimators, storage and data sets on first use: they import scikit-learn and more."""
    if name == "datasets":
        return import_module(".datasets", __name__)
    if name in _ON_FIRST_USE:
        return getattr(import_module(f".{_ON_FIRST_USE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
