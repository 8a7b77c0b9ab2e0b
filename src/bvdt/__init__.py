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
from .storage import load
from .tree import Tree
from .walks import pagerank, propagate_labels, stationary_distribution

if TYPE_CHECKING:
    from . import datasets
    from .estimators import LabelPropagation, SpectralClustering, SpectralEmbedding
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


def __getattr__(name: str) -> Any:
    """Estimators and data sets on first use: they import scikit-learn and more, the rest does not."""
    if name == "datasets":
        return import_module(".datasets", __name__)
    if name in ("LabelPropagation", "SpectralClustering", "SpectralEmbedding"):
        from . import estimators

        return getattr(estimators, name)
    if name == "text_pipeline":
        from .text import text_pipeline

        return text_pipeline
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
