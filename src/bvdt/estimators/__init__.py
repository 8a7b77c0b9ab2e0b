"""scikit-learn estimators on a transition operator: they validate and delegate, and hold no mathematics."""

from .label_propagation import LabelPropagation
from .map import Map
from .spectral import SpectralClustering, SpectralEmbedding
from .text import text_pipeline

__all__ = ["LabelPropagation", "Map", "SpectralClustering", "SpectralEmbedding", "text_pipeline"]
