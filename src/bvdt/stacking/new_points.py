"""Labels of new points: neighbors stand in for the walk, the linear experts answer themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.arrays import Float, Numbers, Real
from .._support.sparse import OperatorLike, Points
from ..lifting import Lifting, Views
from .blend import centered, softmax
from .folds import Single
from .outside import OutsideExpert
from .rows import FeatureScale, rows_of_lifted

if TYPE_CHECKING:
    from ..stacking.rows import Rows

LEAST = 1e-4  # probability before its logarithm


@dataclass(frozen=True, eq=False)
class NewPoints:
    """What the last blend needs of new points, and of the fitted ones that are their neighbors."""

    walk: Single  # (N, k) the part of the scores that a point takes from its neighbors
    unstepped: Single  # (N, k) distributions before the last step, given labels in them
    share: float  # taken from the neighbors in the last step
    power: float  # of the probabilities at the end: 1/temperature
    weights: Single | None = None  # (d, k) all linear experts in one; None for none
    constant: Single | None = None  # (k,) the same for every point, class shares in it
    scale: FeatureScale | None = None  # of the features that the linear experts saw
    through: Lifting | None = None  # where these were recovered from lifted points
    outside: tuple[OutsideExpert, float] | None = None  # a user's classifier and its weight
    given: Single | None = None  # (N, k) what a user's probabilities have in ``walk``

    def own_scores(self, X_new: Points) -> Numbers | float:  # (n_new, k) or 0.0
        """Scores of the experts that need no neighbors."""
        own: Numbers | float = self.outside_scores(X_new)
        if self.weights is not None:
            own = own + self.rows(X_new) @ self.weights
        return own if self.constant is None else own + self.constant

    def rows(self, X_new: Points) -> Rows:  # (n_new, d), CSR or array
        """As the linear experts take them."""
        assert self.scale is not None
        return self.scale.rows(self._recovered(X_new))

    def outside_scores(self, X_new: Points) -> Single | float:  # (n_new, k) or 0.0
        """Scores of a user's classifier."""
        if self.outside is None:
            return 0.0
        expert, weight = self.outside
        X = X_new.matrix() if isinstance(X_new, Views) else self._recovered(X_new)
        return weight * expert.scores_of(X)

    def _recovered(self, X_new: Points) -> Points:
        return X_new if self.through is None else rows_of_lifted(self.through.transform(X_new))


def blended_new_points(walk_part: OperatorLike, X_new: Points, state: NewPoints) -> Float:  # (n_new, k)
    """Calibrated probabilities of new points.

    ``walk_part`` is an n_new × N matrix or operator with rows that sum to 1: how much a new point takes from
    each fitted one, such as ``op.extend(X_new)`` or the k nearest fitted points' weights.
    """
    k = state.walk.shape[1]
    taken = np.asarray(walk_part @ np.hstack([state.walk, state.unstepped]).astype(np.float64))
    own = softmax(taken[:, :k] + state.own_scores(X_new))
    return calibrated(mixed(state.share, own, taken[:, k:]), state.power)


def mixed(share: float, own: NDArray[Real], stepped: NDArray[Real]) -> NDArray[Real]:  # (…, k)
    """Centered logs of the distributions after the last step."""
    return centered(np.log((1 - share) * own + share * stepped + np.float32(LEAST)))


def calibrated(logs: ArrayLike, power: float) -> Float:  # (n, k)
    """Probabilities from centered logs, at the temperature 1/power; rows sum to 1 in double precision."""
    return softmax(power * np.asarray(logs, np.float64))
