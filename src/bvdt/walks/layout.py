"""A 2-D layout of the points for the map: t-SNE's forces on the links of the walk, O(N) per step.

Every point is drawn to its neighbors in the (reversible) near field and pushed off by all others, with the
forces of t-SNE (van der Maaten and Hinton 2008); the pull is a little exaggerated to the end, which sets
groups apart (Böhm et al. 2022). Few steps suffice, since the start is the walk's two leading
eigenvectors: they keep a group in one piece. Their values are replaced by ranks, so that far outliers do not
squeeze the rest together. The forces are in ``cpp/kernels/layout.hpp``, the push in :mod:`.repulsion`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array

from .. import _core
from .._support.arrays import Float
from .._support.running import generator, n_threads
from ..operators import ForestOperator, NearField, RealOperator
from .eigenvectors import leading_eigenvectors
from .inputs import as_square, operator_of
from .repulsion import Potential, Single

NEAR = 10
START = 0.01  # standard deviation of the first places
SERIAL = 100_000  # points below which threads would cost more than they bring
_BATCH = 256  # columns of an unknown operator at once


@dataclass(frozen=True)
class Phase:
    """Some steps of gradient descent, alike."""

    steps: int
    pull: float  # beside a push of 1
    rate: float
    momentum: float


# Measured on images, texts and Gaussian groups: docs/benchmarks/maps.md. A rate of 4/pull in the second, as
# is usual, flings groups that no link holds; twice the steps bring nothing.
PHASES = (Phase(100, 12.0, 1 / 3, 0.5), Phase(200, 1.5, 1.0, 0.8))
PLACING = Phase(50, 1.5, 0.3, 0.5)  # of new points, whose neighbors stand still


def map_coordinates(op: Any, *, random_state: Any = None) -> Float:  # (N, 2)
    """Coordinates for the map: near each other are points that the walk links; axes have no meaning.

    ``op`` is any walk operator; one without near field gets one first, which takes longer than the map. Of
    another matrix the strongest entries are taken. The same seed gives the same map on any number of threads.
    """
    n_points = int(op.shape[0])
    if n_points < 3:
        return np.column_stack([np.arange(n_points, dtype=float), np.zeros(n_points)])
    rng = generator(random_state)
    op = _linked(operator_of(as_square(op)), rng)
    threads = _threads(n_points, op)
    Y = _laid_out(_links(op), _start(op, rng), PHASES, threads)
    return rotate_to_landscape(_outliers_drawn_in(Y.astype(float)))


def placed_among(
    coordinates: Float, neighbors: NDArray[Any], weights: Float, n_jobs: int | None = None
) -> Float:  # (N, 2), (n, k) ×2 -> (n, 2)
    """Places of new points on a finished map: from one of their neighbors' on by the map's own forces.

    The start is the neighbor about which the others lie thickest; a mean would lie between two groups, in
    neither of them. ``weights`` sum to 1 per row; −1 stands for no neighbor.
    """
    found = neighbors >= 0
    weights = np.where(found, weights, 0.0)
    Y = _thickest(coordinates[np.maximum(neighbors, 0)], weights)
    if not len(Y):
        return Y
    first = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    shape = (len(neighbors), len(coordinates))
    links = sparse.csr_array((weights[found], neighbors[found], first), shape=shape)
    fitted = np.ascontiguousarray(coordinates, np.float32)
    moved = _laid_out(links, Y, (PLACING,), n_threads(n_jobs), fitted)
    return moved.astype(float)


def _thickest(places: Float, weights: Float) -> Float:  # (n, k, 2), (n, k) -> (n, 2)
    """Of k places per row, the one with the largest Σ_j weight_j / (1 + distance²)."""
    density = np.zeros_like(weights)
    for j in range(weights.shape[1]):
        r = places - places[:, j : j + 1]
        density += weights[:, j : j + 1] / (1.0 + (r**2).sum(axis=2))
    best = np.where(weights > 0, density, -1.0).argmax(axis=1)
    return np.asarray(places[np.arange(len(places)), best])


def _laid_out(
    links: Any, start: Float, phases: tuple[Phase, ...], threads: int, fitted: Single | None = None
) -> Single:  # (n, 2)
    """Places after all steps; among ``fitted`` points that stand still, or each other."""
    arrays = (links.indptr.astype(np.int64), links.indices.astype(np.int32), links.data.astype(np.float32))
    Y = np.ascontiguousarray(start, np.float32)
    velocity, gain = np.zeros_like(Y), np.ones_like(Y)
    field = None if fitted is None else Potential.of(fitted, threads)
    total = None if fitted is None or field is None else _pairs(field.at(fitted, threads))
    for phase in phases:
        for _ in range(phase.steps):
            here = (field or Potential.of(Y, threads)).at(Y, threads)
            push = 0.5 / (total or _pairs(here))
            motion = (phase.pull, push, phase.rate, phase.momentum)
            moved = np.empty_like(Y)
            others = Y if fitted is None else fitted
            _core.move_points(*arrays, others, Y, here, *motion, velocity, gain, moved, threads)
            Y = moved
    return Y


def _pairs(potential: Single) -> float:
    """Mean over the points i of Σ_{j≠i} 1/(1 + ‖y_i − y_j‖²), by which t-SNE divides the push."""
    return max(float(potential[:, 0].mean(dtype=np.float64)) - 1.0, 1e-3)


def _threads(n_points: int, op: Any) -> int:
    return 1 if n_points < SERIAL else n_threads(getattr(op, "n_jobs", None))


def _linked(op: RealOperator, rng: np.random.Generator) -> RealOperator:
    """The operator with a near field: blocks alone tie the points of a group together on one spot."""
    if not op.members or op.near_field is not None:
        return op
    field = NearField.of(op.members[0].lifted, min(NEAR, op.shape[0] - 1), rng, op.n_jobs)
    return ForestOperator(op.members, weights=op.weights, near_field=field)


def _links(op: RealOperator) -> csr_array:  # (N, N)
    """Symmetric weights between points, 1 per row in the mean."""
    W = op.links if op.near_field is not None else None
    W = _strongest(op) if W is None else W
    return W * (W.shape[0] / max(float(W.sum()), 1e-300))


def _strongest(op: RealOperator) -> csr_array:  # (N, N)
    """The mean of a matrix and its transpose, of a sparse one all entries, else each column's largest."""
    M = op.links
    if M is None:
        columns = range(0, op.shape[0], _BATCH)
        M = sparse.hstack([_largest(op, first, min(first + _BATCH, op.shape[0])) for first in columns])
        M = (M + M.T) / 2
    M = M.tocoo()
    off = M.row != M.col
    return csr_array((M.data[off], (M.row[off], M.col[off])), shape=M.shape)


def _largest(op: RealOperator, first: int, last: int) -> sparse.coo_array:  # (N, last − first)
    """The largest entries of each of some columns, but for the diagonal."""
    n_points, column = op.shape[0], np.arange(last - first)
    if op.graph is not None:
        values = op.graph[:, first:last].toarray().astype(float)
    else:
        unit = np.zeros((n_points, last - first))
        unit[first + column, column] = 1.0
        values = np.asarray(op @ unit)
    values[first + column, column] = 0.0
    kept = min(NEAR, n_points - 1)
    row = np.argpartition(values, n_points - kept, axis=0)[n_points - kept :]  # (kept, columns)
    entry = (np.take_along_axis(values, row, axis=0).ravel(), (row.ravel(), np.tile(column, kept)))
    return sparse.coo_array(entry, shape=values.shape)


def _start(op: Any, rng: np.random.Generator) -> Float:  # (N, 2)
    """The walk's two leading eigenvectors but the constant one, as ranks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start need not have converged
        found = leading_eigenvectors(op, 3, rng)
    vectors = found.vectors[:, 1:] / np.sqrt(np.maximum(found.degrees, 1e-300))[:, None]
    places = vectors.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    ranks = (places + 0.5) / len(places) - 0.5
    return np.asarray(START * ranks / ranks.std())


def rotate_to_landscape(Y: Float) -> Float:
    """Turned so that it is wider than high, as screens are."""
    _, axes = np.linalg.eigh(np.cov(Y.T))
    return np.asarray(Y @ axes[:, ::-1])


def _outliers_drawn_in(Y: Float) -> Float:
    """Beyond the radius that holds 99 % of the points, distances from the middle grow as a logarithm."""
    Y = Y - np.median(Y, axis=0)
    length = np.linalg.norm(Y, axis=1, keepdims=True)
    usual = max(float(np.quantile(length, 0.99)), 1e-300)
    times = np.maximum(length / usual, 1.0)
    return np.asarray(Y / times * (1.0 + np.log(times)))
