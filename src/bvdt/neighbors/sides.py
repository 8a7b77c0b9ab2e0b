"""Both sides of a divergence: nearest centres to a point, or nearest points to a centre."""

from __future__ import annotations

from ..lifting import Lifted


def swapped(lifted: Lifted) -> Lifted:
    """The points with rows and centres exchanged: d_ji = w_i + u_j − ⟨h_i, x_j⟩, in the same form."""
    if lifted.lifting is not None and lifted.lifting.divergence.name == "squared_euclidean":
        return lifted  # symmetric
    return Lifted(lifted.w, lifted.u, lifted.H, lifted.X)
