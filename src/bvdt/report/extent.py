"""Where a picture of points ends, so that a few far ones do not shrink the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MIDDLE = (0.005, 0.995)  # shares of the points, along an axis, between which the picture's middle lies
ROOM = 0.5  # of the middle's length, on either side, within which points keep their places
EDGE = 0.1  # of the middle's length, beyond that: what lies further out is drawn in here


def drawn_in(points: NDArray[np.float64]) -> NDArray[np.float64]:  # (N, d)
    """The points, with those far out on an axis drawn in to the edge, in their order.

    The outermost point of either side is never part of the middle, however few there are.
    """
    if not len(points):
        return points
    low = np.quantile(points, MIDDLE[0], axis=0, method="higher")
    high = np.quantile(points, MIDDLE[1], axis=0, method="lower")
    length = np.maximum(high - low, 0.0)
    length = np.where(length > 0, length, length.max())
    if not length.any():  # too few points, or nearly all in one place
        return points
    inside = np.clip(points, low - ROOM * length, high + ROOM * length)
    beyond = points - inside
    return np.asarray(inside + EDGE * length * beyond / (np.abs(beyond) + length))


def map_places(coordinates: NDArray[np.float64]) -> NDArray[np.uint16]:  # (N, 2)
    """Places for map.js, 0…65535: one scale for both axes; the shorter side is centered."""
    points = drawn_in(coordinates)
    low, high = points.min(axis=0), points.max(axis=0)
    side = max(float((high - low).max()), 1e-300)
    return np.asarray(np.round(((points - (low + high) / 2) / side + 0.5) * 65535)).astype("<u2")
