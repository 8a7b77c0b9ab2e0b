"""What speaks for a point's class in a blend: its parts, and of the linear part the features.

The blend's log-odds of a class against the mean class are Σ_e w_e·z_e, the scores being centered, and linear
experts' are sums over features; the last step takes the rest of the class from the neighbors (theory:
Blending experts).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .._support.arrays import Float, Index, Numbers
from .._support.mixed import blocks_of
from .._support.sparse import CSR, is_sparse
from .new_points import NewPoints
from .rows import Rows

WALK, LINEAR, PRIOR, CONSTANT, NEIGHBORS = "walk", "linear", "prior", "class shares", "neighbors"
_BATCH = 1 << 18  # values looked at together


@dataclass(frozen=True, eq=False)
class Reasons:
    """What led to each point's class; ``parts`` sum to 1, points and features are shares of the same whole.

    Parts: "walk", which the labeled points explain; "linear", all linear models and naive Bayes, which the
    features explain; "prior", a user's; "class shares", what speaks for a class at every point; "neighbors",
    what the last step took from them. What speaks against the class has no share.
    """

    parts: dict[str, Float]  # (n,) each
    points: Index  # (n, n_kept) labeled points, −1 for none, the largest share first
    point_shares: Float  # (n, n_kept) all of them sum to the walk's part
    features: Index  # (n, n_kept) columns of X, −1 for none
    feature_shares: Float  # (n, n_kept) all of them sum to the linear part


@dataclass(frozen=True, eq=False)
class Scored:
    """Points as a blend sees them, fitted or new."""

    label: Index  # (n,) the class to be explained
    walk: Numbers  # (n, k) the part of the scores that is taken from fitted points
    given: Numbers | float  # (n, k) or 0.0: of a user's prior
    rows: Rows | None  # (n, d) CSR or array, as the linear experts take them; None for none
    own: Numbers  # (n, k) distributions before the last step
    stepped: Numbers  # (n, k) the neighbors'


def blend_parts(
    state: NewPoints, scored: Scored, n_kept: int
) -> tuple[dict[str, Float], Index, Float]:  # (n,) each, (n, n_kept) ×2
    """The parts, and the linear part's features with their shares."""
    label = scored.label
    given = np.broadcast_to(scored.given, scored.walk.shape)
    linear, features, shares = _linear_part(state, scored, n_kept)
    scores = {
        WALK: _at(scored.walk - (0.0 if state.given is None else given), label),
        LINEAR: linear,
        PRIOR: _at(given, label),
        CONSTANT: np.zeros(len(label)) if state.constant is None else state.constant[label].astype(float),
    }
    found = {name: np.maximum(values, 0.0) for name, values in scores.items()}
    total = np.asarray(sum(found.values()))
    own, taken = (1 - state.share) * _at(scored.own, label), state.share * _at(scored.stepped, label)
    neighbors = taken / np.maximum(own + taken, 1e-300)
    silent = total <= 0  # no expert speaks for the class: its neighbors do, or nothing does
    neighbors = np.where(silent & (taken > 0), 1.0, neighbors)
    found[CONSTANT] = np.where(silent, 1.0, found[CONSTANT])
    factor = (1 - neighbors) / np.where(silent, 1.0, total)
    parts = {name: values * factor for name, values in found.items()} | {NEIGHBORS: neighbors}
    return parts, features, shares * parts[LINEAR][:, None]


def _at(Z: Numbers, label: Index) -> Float:  # (n, k) -> (n,)
    return np.take_along_axis(np.asarray(Z, np.float64), label[:, None], axis=1)[:, 0]


def _linear_part(state: NewPoints, scored: Scored, n_kept: int) -> tuple[Float, Index, Float]:
    """⟨x, weights of the class⟩, the features that add most to it, and their shares of all that add."""
    n = len(scored.label)
    sums = np.zeros(n)
    features, shares = np.full((n, n_kept), -1, np.intp), np.zeros((n, n_kept))
    if state.weights is None or scored.rows is None:
        return sums, features, shares
    for first, rows in _batches(scored.rows):
        part = slice(first, first + rows.shape[0])
        point = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        value = rows.data.astype(np.float64) * state.weights[rows.indices, scored.label[part][point]]
        sums[part] = np.bincount(point, value, rows.shape[0])
        adding = np.bincount(point, np.maximum(value, 0.0), rows.shape[0])
        order = np.lexsort((-value, point))
        place = np.arange(len(order)) - rows.indptr[point]
        kept = (place < n_kept) & (value[order] > 0)
        where, order = (point[kept] + first, place[kept]), order[kept]
        features[where] = rows.indices[order]
        shares[where] = value[order] / adding[point[kept]]
    return sums, features, shares


def _batches(rows: Rows) -> Iterator[tuple[int, CSR]]:
    """Some rows at a time, as CSR."""
    n = rows.shape[0]
    values = sum(
        block.nnz // max(n, 1) + 1 if is_sparse(block) else block.shape[1] for block in blocks_of(rows)
    )
    step = max(1, _BATCH // max(values, 1))
    for first in range(0, n, step):
        blocks = [sparse.csr_array(block) for block in blocks_of(rows[first : first + step])]
        yield first, sparse.csr_array(sparse.hstack(blocks, format="csr"))
