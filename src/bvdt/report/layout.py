"""A 2-D layout of the points for the map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spectral import diffusion_coordinates

Float = NDArray[np.float64]


def map_coordinates(op: Any, *, random_state: Any = None) -> Float:  # (N, 2)
    """Coordinates for the map: two diffusion coordinates, each scaled by rank."""
    n_points = op.shape[0]
    coordinates, _ = diffusion_coordinates(op, min(2, n_points - 1), random_state=random_state)
    ranks = coordinates.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") / max(n_points - 1, 1)
    return np.asarray(np.column_stack([ranks, np.zeros((n_points, 2 - ranks.shape[1]))]))
