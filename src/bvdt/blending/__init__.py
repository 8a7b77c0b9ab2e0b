"""Several experts on the same few labels, blended by what they say of labels that were hidden from them."""

from .blend import softmax
from .folds import Folds, wilson_interval
from .labeller import Blended, Decided, Labeller, Start
from .new_points import NewPoints, blended_new_points
from .outcome import Accuracy, Blend, CurvePoint
from .rows import FeatureScale, rows_of_lifted

__all__ = [
    "Accuracy",
    "Blend",
    "Blended",
    "CurvePoint",
    "Decided",
    "FeatureScale",
    "Folds",
    "Labeller",
    "NewPoints",
    "Start",
    "blended_new_points",
    "rows_of_lifted",
    "softmax",
    "wilson_interval",
]
