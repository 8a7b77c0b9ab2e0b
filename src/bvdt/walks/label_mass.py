"""How much of the labels reaches a point, whatever their class, and how much without the point's own label.

    s = D^(−½)·F,   (I − α·S)·F = (1 − α)·Y⁰

One column of Y⁰ per class. α·D⁻¹W·s + (1 − α)·D^(−½)·y⁰ = s: up to the last term each point has the mean
of its neighbors', so s falls with the number of steps to the labels, and a dense region has no more of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.arrays import Float, Index, Single
from .inputs import symmetrized
from .solving import solve_spread

ALPHA = 0.99  # mean walk of 100 steps: 0.97 to 0.998 differ by up to 0.02 of AUROC
PROBES = 32  # columns for the labels' own parts: exact for as many labels
TOL = 1e-4  # of the length of each column


def label_mass(
    op: Any, points: Index, codes: Index, weight: Float, n_classes: int
) -> tuple[Float, Float]:  # (N, k), (n,)
    """Mass from each class's labels at every point, and each label's own part of the mass at its point.

    Parameters
    ----------
    op : the points' walk: any square operator, sparse matrix or array with entries ≥ 0.
    points, codes, weight : (n,) labeled points, their classes and weights > 0.
    """
    S = symmetrized(op)
    column, sign = _probes(codes)
    Y = np.zeros((S.shape[0], n_classes + column.max(initial=-1) + 1), np.float32)
    Y[points, codes] = weight
    Y[points, n_classes + column] = sign
    F, _ = solve_spread(S, Y, ALPHA, tol=TOL)
    own = F[points, n_classes + column] * sign * S.scale[points] * weight
    mass = np.array(F[:, :n_classes] * S.scale[:, None], np.float64)
    return np.maximum(S.extended(mass), 0.0), np.maximum(own, 0.0).astype(np.float64)


def _probes(codes: Index) -> tuple[Index, Single]:  # (n,) -> (n,) ×2
    """Column and sign of each label.

    Labels of a class, which are near each other, share a column only where they are more than the columns;
    what one adds to the other's part then has a random sign, and is 0 in the mean.
    """
    column = np.empty(len(codes), np.intp)
    column[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % PROBES
    return column, np.random.default_rng(0).choice(np.array([-1, 1], np.float32), size=len(codes))


def mass_left_out(
    mass: Float, own: Float, points: Index, codes: Index, weight: Float
) -> Float:  # (N, k), (n,) ×4 -> (n,)
    """Mass at each label's point without that label, as an unlabeled point of its class would have it.

    Such a point is near all W of its class's labels, by weight, and this one near W − w of them: their part
    counts W/(W − w) times. NaN for a class's only label.
    """
    total = np.bincount(codes, weight, mass.shape[1])[codes]
    others = total - weight
    from_class = mass[points, codes]
    factor = np.divide(total, others, out=np.full(len(codes), np.nan), where=others > 0)
    return np.asarray(mass[points].sum(axis=1) - from_class + np.maximum(from_class - own, 0.0) * factor)
