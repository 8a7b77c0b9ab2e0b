"""What one does with a transition matrix: functions of any linear operator, sparse matrix or array."""

from .choosing import choose_alpha
from .class_balance import (
    HiddenLabels,
    balance_divisor,
    class_balance,
    count_balanced,
    labels_look_random,
    to_power,
    uneven,
)
from .class_scores import (
    class_distributions,
    distribute,
    match_class_mass,
    suggestion_scores,
)
from .contributions import label_contributions, largest_contributions
from .inputs import as_square, looks_like_graph, symmetrized, warn_of_distances
from .pagerank import pagerank, stationary_distribution
from .propagation import METHODS, label_scores, propagate_labels
from .solving import solve_singular, solve_spread
from .suggesting import suggest_points

__all__ = [
    "METHODS",
    "HiddenLabels",
    "as_square",
    "balance_divisor",
    "choose_alpha",
    "class_balance",
    "class_distributions",
    "count_balanced",
    "distribute",
    "label_contributions",
    "label_scores",
    "labels_look_random",
    "largest_contributions",
    "looks_like_graph",
    "match_class_mass",
    "pagerank",
    "propagate_labels",
    "solve_singular",
    "solve_spread",
    "stationary_distribution",
    "suggest_points",
    "suggestion_scores",
    "symmetrized",
    "to_power",
    "uneven",
    "warn_of_distances",
]
