"""From data to the lifted form d_ij = u_i + w_j − ⟨x_i, h_j⟩, which spares the other packages φ."""

from .columns import MANY, Columns
from .hashes import row_hashes
from .lifted import Lifted, Lifting, lift, lifting_from_rows, middle_rows, shifted
from .pairs import pair_divergences, pair_dots
from .points import as_points, check_readable, extremes, refuse_entry
from .rounding import refuse_rounding
from .scales import warn_of_one_column
from .sketch import sketch
from .smoothing import Facts, smoothing_from
from .views import Views, ViewsLifting, views_lifting

__all__ = [
    "MANY",
    "Columns",
    "Facts",
    "Lifted",
    "Lifting",
    "Views",
    "ViewsLifting",
    "as_points",
    "check_readable",
    "extremes",
    "lift",
    "lifting_from_rows",
    "middle_rows",
    "pair_divergences",
    "pair_dots",
    "refuse_entry",
    "refuse_rounding",
    "row_hashes",
    "shifted",
    "sketch",
    "smoothing_from",
    "views_lifting",
    "warn_of_one_column",
]
