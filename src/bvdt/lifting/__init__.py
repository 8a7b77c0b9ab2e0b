"""From data to the lifted form d_ij = u_i + w_j − ⟨x_i, h_j⟩, which spares the other rooms φ."""

from .hashes import row_hashes
from .lifted import Lifted, Lifting, lift, shifted
from .pairs import pair_divergences, pair_dots
from .points import check_readable

__all__ = [
    "Lifted",
    "Lifting",
    "check_readable",
    "lift",
    "pair_divergences",
    "pair_dots",
    "row_hashes",
    "shifted",
]
