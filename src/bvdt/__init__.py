"""Labels for many points from a few, embeddings and clusters, by random walks in O(N) memory."""

from importlib import import_module
from typing import TYPE_CHECKING

from . import divergences, operators, walks
from .lifting import Views
from .operators import exact_transition_matrix, transition_matrix
from .tree import Tree
from .walks import propagate_labels

if TYPE_CHECKING:
    __version__: str
    from . import dask, datasets
    from ._support.versions import show_versions
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
    "KNeighborsTransformer",
    "LabelPropagation",
    "Map",
    "NearestNeighbors",
    "SpectralClustering",
    "SpectralEmbedding",
    "Tree",
    "Views",
    "__version__",
    "dask",
    "datasets",
    "divergences",
    "exact_transition_matrix",
    "load",
    "operators",
    "propagate_labels",
    "show_versions",
    "text_pipeline",
    "transition_matrix",
    "walks",
]

# Estimators, storage, reports and data sets are imported on first use: they import scikit-learn and more.
_PACKAGES = (
    "dask",
    "datasets",
    "documents",
    "estimators",
    "labeling",
    "neighbors",
    "report",
    "solvers",
    "stacking",
)
_NAMES = {
    "KNeighborsTransformer": "estimators",
    "LabelPropagation": "estimators",
    "Map": "estimators",
    "NearestNeighbors": "estimators",
    "SpectralClustering": "estimators",
    "SpectralEmbedding": "estimators",
    "load": "operators.storage",
    "show_versions": "_support.versions",
    "text_pipeline": "estimators",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("bvdt")
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
