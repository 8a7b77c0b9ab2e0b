"""Random walks over N points without the N×N matrix, for any Bregman divergence."""

from importlib import import_module
from typing import TYPE_CHECKING

from . import divergences, neighbors
from .blocks import BlockPartition
from .operators import (
    ForestOperator,
    TransitionOperator,
    WalkOperator,
    exact_transition_matrix,
    transition_matrix,
)
from .tree import Tree
from .walks import pagerank, propagate_labels, stationary_distribution

if TYPE_CHECKING:
    __version__: str
    from . import datasets, report
    from ._support.config import show_config
    from .estimators import (
        KNeighborsTransformer,
        LabelPropagation,
        Map,
        NearestNeighbors,
        SpectralClustering,
        SpectralEmbedding,
        text_pipeline,
    )
    from .operators.storage import load

__all__ = [
    "BlockPartition",
    "ForestOperator",
    "KNeighborsTransformer",
    "LabelPropagation",
    "Map",
    "NearestNeighbors",
    "SpectralClustering",
    "SpectralEmbedding",
    "TransitionOperator",
    "Tree",
    "WalkOperator",
    "__version__",
    "datasets",
    "divergences",
    "exact_transition_matrix",
    "load",
    "neighbors",
    "pagerank",
    "propagate_labels",
    "report",
    "show_config",
    "stationary_distribution",
    "text_pipeline",
    "transition_matrix",
]

_ROOMS_ON_FIRST_USE = ("stacking", "dask", "datasets", "documents", "estimators", "report")
_NAMES_ON_FIRST_USE = {
    "KNeighborsTransformer": "estimators",
    "LabelPropagation": "estimators",
    "Map": "estimators",
    "NearestNeighbors": "estimators",
    "SpectralClustering": "estimators",
    "SpectralEmbedding": "estimators",
    "load": "operators.storage",
    "show_config": "_support.config",
    "text_pipeline": "estimators",
}


def __getattr__(name: str) -> object:
    """Estimators, storage, reports and data sets on first use: they import scikit-learn and more."""
    if name == "__version__":
        return import_module("importlib.metadata").version("bvdt")
    if name in _ROOMS_ON_FIRST_USE:
        return import_module(f".{name}", __name__)
    if name in _NAMES_ON_FIRST_USE:
        return getattr(import_module(f".{_NAMES_ON_FIRST_USE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
