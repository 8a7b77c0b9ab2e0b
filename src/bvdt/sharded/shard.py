"""Pure functions of slabs and shards: everything that runs where the points are.

Slab by slab: ``assign`` finds every row's region, ``place`` its shard, ``deal`` cuts the slab into pieces.
Shard by shard: ``grow`` joins the pieces, lifts them and builds the shard's own tree and blocks;
``curve_of`` and ``solve`` are one shard's part of the bandwidth and of the optimum; ``column_sums`` and
``push_down`` that of a product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._support.arrays import Float, Index, Int, Long, Numbers
from ..blocks import (
    BlockPartition,
    Curve,
    DistinctTree,
    block_divergences,
    coarsest_curve,
    distinct_tree,
    n_nonzero,
    optimum,
)
from ..lifting import Lifted, Lifting, row_hashes
from ..operators import CoarsestProduct, Side
from ..tree import Tree, ward_tree
from .regions import Plan, Regions
from .sizing import Sized, n_bytes
from .survey import rows_from, slab_points
from .top import Sums

# -- slabs --------------------------------------------------------------------------------------------------


def assign(X: Any, first: int, lifting: Lifting, regions: Regions) -> Int:  # (n,)
    """The region of every row of a slab."""
    points = slab_points(X)
    if points.shape[0] == 0:
        return np.zeros(0, np.int32)
    with rows_from(first):
        return regions.find(lifting.transform(points))


def count(region: Int, n_regions: int) -> Long:  # (n_regions,)
    return np.bincount(region, minlength=n_regions)


def place(region: Int, first: int, plan: Plan) -> tuple[Int, Long]:  # (n,), (n_shards,)
    """The shard of every row of a slab, and how many rows each shard gets."""
    where = plan.place(region, first)
    return where, np.bincount(where, minlength=plan.n_shards)


def renumber(where: Int, number: Int) -> Int:
    """Shards without any point left out of the count."""
    return number[where]


class Piece(NamedTuple):
    """What one slab gives to one shard."""

    row: Long  # (n,) number of the row in the whole data, ascending
    region: Int  # (n,)
    X: Any  # (n, d) as given


def deal(X: Any, first: int, where: Int, region: Int) -> tuple[Piece, ...]:
    """The slab's pieces, one per shard that gets any, in the order of the shards."""
    given = X.to_numpy() if hasattr(X, "to_numpy") else X
    given = sparse.csr_array(given) if sparse.issparse(given) else np.asarray(given)
    parts = pieces_of(where)
    return tuple(Piece(first + places, region[places], given[places]) for places in parts)


def pieces_of(where: Int) -> list[Index]:
    """The rows of a slab, shard by shard, ascending in each; shards without any are left out."""
    by_shard = np.argsort(where, kind="stable")
    cuts = np.flatnonzero(np.diff(where[by_shard])) + 1
    return [part for part in np.split(by_shard, cuts) if len(part)]


# -- shards -------------------------------------------------------------------------------------------------


class Origin(NamedTuple):
    """Where a shard's points come from, ascending, and their regions."""

    row: Long  # (n,)
    region: Int  # (n,)


@dataclass(frozen=True, eq=False)
class Grown(Sized):
    """A shard's own tree and the divergences of its coarsest blocks."""

    size: Int  # (2n−1,) in pre-order
    order: Int  # (n,)
    mean_divergence: Float  # (2n−2,)
    distinct: DistinctTree | None

    @property
    def n_points(self) -> int:
        return len(self.order)

    @property
    def parents(self) -> Int:  # (2n−1,)
        """Of every node, −1 for the root; made anew as the tree is."""
        inner = np.flatnonzero(self.size > 1).astype(np.int32)
        out = np.full(len(self.size), -1, np.int32)
        out[inner + 1] = inner
        out[inner + 2 * self.size[inner + 1]] = inner
        return out

    @property
    def tree(self) -> Tree:
        """Made anew each time: it would take more memory than all that is kept here."""
        return Tree.from_sizes(self.size, self.order)


class Summary(NamedTuple):
    """What a shard reports to the driver once it is built."""

    sums: Sums
    stored: int  # numbers of X
    nonzero: int  # those of the data that are not 0
    distinct: int  # different points
    key: tuple[float, float, int]  # of its first point, equal for equal points
    least: float  # positive d̄ of a block between different points, +∞ without any
    least_of_all: float  # positive d̄ of any block, also of equal points' rounding errors
    greatest: float  # d̄
    middle: float  # median of the positive d̄, 0 without any


def grow(
    pieces: list[Piece], lifting: Lifting, seed: int, n_jobs: int | None
) -> tuple[Origin, Any, Grown, Summary]:
    """A shard's points joined, as they were given; its tree, and what the top needs of it.

    Lifting is repeated where points are needed again: they take half of the memory as given, or less.
    """
    row, region = (np.concatenate([piece[k] for piece in pieces]) for k in range(2))
    X = stacked([piece.X for piece in pieces])
    lifted = lifting.transform(X)
    if lifted.n_points == 1:
        grown = Grown(np.ones(1, np.int32), np.zeros(1, np.int32), np.zeros(0), None)
    else:
        tree = ward_tree(lifted, random_state=seed, n_jobs=n_jobs)
        dbar = block_divergences(lifted, tree, BlockPartition.coarsest(tree), n_jobs)
        grown = Grown(tree.size, tree.order, dbar, distinct_tree(lifted, tree))
    return Origin(row, region), X, grown, _summary(lifted, grown)


def stacked(parts: list[Any]) -> Any:
    """Points of several places below each other, dense or sparse."""
    if len(parts) == 1:
        return parts[0]
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def _summary(lifted: Lifted, grown: Grown) -> Summary:
    x, h = (np.asarray(values.sum(axis=0), float).ravel() for values in (lifted.X, lifted.H))
    sums = Sums(lifted.n_points, float(lifted.u.sum()), float(lifted.w.sum()), x, h)
    dbar, n_distinct = grown.mean_divergence, lifted.n_points
    least_of_all = float(dbar[dbar > 0].min(initial=np.inf))
    if grown.distinct is not None:
        dbar, n_distinct = dbar[grown.distinct.nodes[1:] - 1], int(grown.distinct.size[0])
    positive = dbar[dbar > 0]
    first = Lifted(lifted.u[:1], lifted.w[:1], lifted.X[:1], lifted.H[:1])
    key = (float(lifted.u[0]), float(lifted.w[0]), int(row_hashes(first)[0]))
    least = float(positive.min(initial=np.inf))
    middle = float(np.median(positive)) if positive.size else 0.0
    greatest = float(dbar.max(initial=0.0))
    return Summary(
        sums, lifted.n_values, n_nonzero(lifted), n_distinct, key, least, least_of_all, greatest, middle
    )


def curve_of(
    grown: Grown, unit: float, bandwidth: float, distinct_only: bool, n_jobs: int | None
) -> Curve | None:
    """The bound of the shard alone, in divergences of ``unit``; None where it has no block."""
    if grown.n_points == 1:
        return None
    if distinct_only and grown.distinct is not None:
        if len(grown.distinct.nodes) == 1:
            return None
        dbar = grown.mean_divergence[grown.distinct.nodes[1:] - 1] / unit
        return coarsest_curve(grown.distinct.size, grown.distinct.parent, dbar, bandwidth, n_jobs)
    return coarsest_curve(grown.size, grown.parents, grown.mean_divergence / unit, bandwidth, n_jobs)


@dataclass(frozen=True, eq=False)
class Product(CoarsestProduct):
    """Q of the shard alone, ready for products; a copy in another place prepares its own."""

    @property
    def more_bytes(self) -> int:
        """What a prepared one takes besides its arrays."""
        return 16 * len(self.q)

    def __sizeof__(self) -> int:
        return n_bytes([self.size, self.order, self.q]) + self.more_bytes

    def times(self, v: Numbers, side: Side, n_jobs: int | None) -> Numbers:  # (n, k)
        return np.zeros_like(v) if len(v) == 1 else self.apply(v, side, np.empty_like(v), n_jobs)


def solve(grown: Grown, bandwidth: float, n_jobs: int | None) -> tuple[Product, float]:
    """The optimum of the shard alone, and its bound per row: −∞ where it has one point."""
    if grown.n_points == 1:
        return Product(grown.size, grown.order, np.zeros(0)), -np.inf
    tree = grown.tree
    partition = BlockPartition.coarsest(tree)
    found = optimum(grown.mean_divergence, tree, partition, bandwidth, n_jobs)
    # Copies: what is kept is not to hold the file that the tree may be mapped from.
    return Product(grown.size.copy(), grown.order.copy(), found.q), float(found.log_value[0])


def regions_in(origin: Origin) -> tuple[Long, Long]:
    """The regions of a shard's points, and how many lie in each."""
    found, points = np.unique(origin.region, return_counts=True)
    return found.astype(np.int64), points


def probabilities(product: Product, share: float) -> Float:  # (2n−2,)
    """q of the shard's own blocks in the whole walk."""
    return share * product.q


def leaves(origin: Origin, grown: Grown) -> tuple[Int, Long]:  # (2n−1,), (n,)
    """Sizes of the shard's tree, and the rows of the whole data in the order of its leaves."""
    return grown.size, origin.row[grown.order]


# -- columns ------------------------------------------------------------------------------------------------


def column_sums(v: Numbers) -> Float:  # (n, k) -> (k,)
    """Up: v(A) of the shard's root."""
    return np.asarray(v.sum(axis=0, dtype=np.float64))


def push_down(
    product: Product, v: Numbers, share: float, above: Float, side: Side, n_jobs: int | None
) -> Numbers:  # (n, k)
    """Down: σ_p·(Q_p v) and what the blocks above add to each point."""
    out = product.times(np.ascontiguousarray(v), side, n_jobs)
    out *= v.dtype.type(share)
    out += above.astype(v.dtype)
    return out


def cut(v: Numbers, places: list[Index]) -> tuple[Numbers, ...]:
    """Rows of a slab's columns by shard."""
    return tuple(v[rows] for rows in places)


def deal_columns(v: Any, where: Int) -> tuple[Numbers, ...]:
    """A slab's columns in pieces, one per shard that gets any."""
    v = np.asarray(v)
    return cut(v, pieces_of(where))


def join(pieces: list[Numbers]) -> Numbers:
    return np.ascontiguousarray(np.concatenate(pieces))


def collect(where: Int, pieces: list[Numbers], template: Numbers) -> Numbers:
    """A slab's columns from the shards' pieces, in its order; ``template`` is for a slab of no rows."""
    if not pieces:
        return template
    out = np.empty((len(where), *pieces[0].shape[1:]), pieces[0].dtype)
    for rows, piece in zip(pieces_of(where), pieces, strict=True):
        out[rows] = piece
    return out


def rows_between(v: Numbers, first: int, last: int) -> Numbers:
    """What a shard's columns hold of one slab: a range, since its rows ascend."""
    return v[first:last]
