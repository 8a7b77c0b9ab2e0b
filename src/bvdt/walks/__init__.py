"""What one does with a transition matrix: functions of any linear operator, sparse matrix or array."""

from .choosing import choose_alpha
from .class_scores import (
    balance_divisor,
    balance_power,
    balanced_scores,
    class_distributions,
    distribute,
    labels_look_random,
    match_class_mass,
    power_of_half,
    suggestion_scores,
    uneven,
)
from .contributions import label_contributions, largest_contributions
from .inputs import as_square, symmetrized, warn_of_distances
from .pagerank import pagerank, stationary_distribution
from .propagation import label_scores, propagate_labels
from .solving import solve_singular, solve_spread
from .suggesting import suggest_points

__all__ = [
    "as_square",
    "balance_divisor",
    "balance_power",
    "balanced_scores",
    "choose_alpha",
    "class_distributions",
    "distribute",
    "label_contributions",
    "label_scores",
    "labels_look_random",
    "largest_contributions",
    "match_class_mass",
    "pagerank",
    "power_of_half",
    "propagate_labels",
    "solve_singular",
    "solve_spread",
    "stationary_distribution",
    "suggest_points",
    "suggestion_scores",
    "symmetrized",
    "uneven",
    "warn_of_distances",
]
