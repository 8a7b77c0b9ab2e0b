"""Several experts on the same few labels, blended by what they say of labels that were hidden from them."""

from .blend import softmax
from .expectation import Estimate, LearningCurve, expected_accuracy
from .folds import Folds
from .labeler import Blended, Decided, Labeler, Start, reversible_step
from .new_points import NewPoints, blended_new_points
from .outcome import Blend
from .reasons import Reasons, Scored, blend_parts
from .rows import FeatureScale, rows_of_lifted

__all__ = [
    "Blend",
    "Blended",
    "Decided",
    "Estimate",
    "FeatureScale",
    "Folds",
    "Labeler",
    "LearningCurve",
    "NewPoints",
    "Reasons",
    "Scored",
    "Start",
    "blend_parts",
    "blended_new_points",
    "expected_accuracy",
    "reversible_step",
    "rows_of_lifted",
    "softmax",
]
