"""scikit-learn estimators on a transition operator: they validate and delegate, and hold no mathematics."""

from .label_propagation import LabelPropagation
from .map import Map
from .neighbors import KNeighborsTransformer, NearestNeighbors
from .spectral import SpectralClustering, SpectralEmbedding
from .text import text_pipeline

__all__ = [
    "KNeighborsTransformer",
    "LabelPropagation",
    "Map",
    "NearestNeighbors",
    "SpectralClustering",
    "SpectralEmbedding",
    "text_pipeline",
]
