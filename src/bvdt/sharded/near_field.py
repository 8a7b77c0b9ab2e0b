"""The near field over shards: each row's nearest centers among its own shard's points and those lent to it.

Lists are searched among a shard's points and the points of the regions nearest to its own, which other
shards lend once. What the lists then hold of other shards' points is the shard's *halo*: a product needs
the columns' values there, and these alone travel, from the same places each time. The transpose needs the
rows that list a shard's points, so the halo holds those too, and both products are one sparse matrix times
the shard's own and its halo's values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .. import _core
from .._support.arrays import Float, Index, Int, Long, Numbers
from .._support.running import n_threads
from ..lifting import Lifted, Lifting
from ..neighbors import IndexParams, NeighborIndex, neighbor_graph
from ..operators import Side, near_weights
from ..operators.near_field import SHARE, UNIT, whole_weights
from .building import Shards
from .executors import Executor, Place, Reference
from .regions import RegionMeans
from .shard import Grown, Origin, Product, stacked
from .sizing import Sized

# Points that the regions nearest to a region hold, among which its points' neighbors are sought.
_REACH = 18_000


class Loan(NamedTuple):
    """Points that one shard lends to another."""

    place: Index  # (m,) in the lending shard
    row: Long  # (m,) in the whole data
    X: Any  # (m, d) as given


class Back(NamedTuple):
    """Entries λS of a borrower's rows in columns of the lender: its part of the transpose."""

    place: Index  # (e,) in the lender
    row: Index  # (e,) in the borrower
    weight: Float  # (e,)


@dataclass(frozen=True, eq=False)
class Lists(Sized):
    """A shard's neighbor lists: columns below n are its own points, others its loans', lender by lender."""

    index: Int  # (n, k), −1 for none
    divergence: Float  # (n, k)
    lent: list[tuple[Index, Long]]  # per lender: places and rows of the points that are listed


@dataclass(frozen=True, eq=False)
class Matrices(Sized):
    """λS and its transpose, the shard's rows of both: columns are its own points, then its halo."""

    forward: Any  # CSR (n, n + m)
    transpose: Any  # CSR (n, n + m)
    far: Float  # (n,) 1 − λ
    divergence: Float  # (n, k)
    index: Long  # (n, k) rows of the whole data, −1 for none


@dataclass(frozen=True, eq=False)
class ShardedNearField:
    """What the driver holds of it."""

    k: int
    matrices: list[Reference]
    links: list[list[tuple[int, Reference]]]  # per shard: where its halo lies, a shard and places there
    halo: list[int]  # per shard: points of its halo
    even: bool  # whether all rows have one share of the far field


def find(shards: Shards, k: int) -> ShardedNearField:
    """The near field of k centers per row."""
    executor, n_shards = shards.executor, shards.layout.n_shards
    wanted = _wanted(shards)
    pairs = [(p, s) for p in range(n_shards) for s in sorted(wanted[p])]
    loans = executor.map(
        "loans",
        lend,
        [shards.origins[s] for _, s in pairs],
        [shards.points[s] for _, s in pairs],
        [wanted[p][s] for p, s in pairs],
    )
    lent: list[list[Reference]] = [[] for _ in range(n_shards)]
    for (p, _), loan in zip(pairs, loans, strict=True):
        lent[p].append(loan)
    each = shards.each
    given = (shards.points, lent, each(shards.lifted_by), each(k), each(executor.n_jobs))
    searched = executor.map("nearest centers", search, *given)
    items = executor.unpack(searched, [1 + len(wanted[p]) for p in range(n_shards)])
    del lent, loans, searched
    back: list[dict[int, Reference]] = [{} for _ in range(n_shards)]  # per lender: what each borrower returns
    for p in range(n_shards):
        for s, item in zip(sorted(wanted[p]), items[p][1:], strict=True):
            back[s][p] = item
    sources = [sorted({*wanted[p], *back[p]}) for p in range(n_shards)]
    built = executor.map(
        "near field",
        assemble,
        shards.origins,
        [items[p][0] for p in range(n_shards)],
        [sorted(wanted[p]) for p in range(n_shards)],
        sources,
        [[back[p][s] for s in sorted(back[p])] for p in range(n_shards)],
        [sorted(back[p]) for p in range(n_shards)],
        [[shards.origins[s] for s in sources[p]] for p in range(n_shards)],
    )
    parts = executor.unpack(built, [2 + len(source) for source in sources])
    gathered = executor.gather([part[1] for part in parts])
    links = [
        [(s, places) for s, places, count in zip(sources[p], parts[p][2:], halo, strict=True) if count]
        for p, (_, halo) in enumerate(gathered)
    ]
    even = all(alike for alike, _ in gathered)
    return ShardedNearField(k, [part[0] for part in parts], links, [sum(halo) for _, halo in gathered], even)


def regions_nearby(shards: Shards) -> list[Index]:
    """For every region those nearest to it, itself first, whose points are searched for its points'."""
    counts = np.zeros(shards.regions.n_regions, np.int64)
    for regions, count in shards.regions_of:
        counts[regions] += count
    return _nearest_regions(shards.means, counts)


def _wanted(shards: Shards) -> list[dict[int, Int]]:
    """Per shard, from which other shards it borrows which regions."""
    near, out = regions_nearby(shards), []
    for p, (own, _) in enumerate(shards.regions_of):
        reach = np.unique(np.concatenate([near[r] for r in own]))
        lenders = (
            (s, np.intersect1d(reach, held)) for s, (held, _) in enumerate(shards.regions_of) if s != p
        )
        out.append({s: regions.astype(np.int32) for s, regions in lenders if len(regions)})
    return out


def _nearest_regions(means: RegionMeans, counts: Long) -> list[Index]:
    """For every region those nearest to it, itself first, that together hold ``_REACH`` points."""
    own = np.einsum("ij,ij->i", means.x, means.h)
    out = []
    for r in range(len(counts)):
        # einsum, not @: the order of regions is not to depend on BLAS.
        away = (
            own
            + own[r]
            - np.einsum("ij,j->i", means.x, means.h[r])
            - np.einsum("ij,j->i", means.h, means.x[r])
        )
        away[r] = -np.inf
        order = np.argsort(away, kind="stable")
        enough = int(np.searchsorted(np.cumsum(counts[order]), _REACH)) + 1
        out.append(order[:enough])
    return out


# -- on shards ----------------------------------------------------------------------------------------------


def lend(origin: Origin, X: Any, regions: Int) -> Loan:
    """The points of some regions."""
    place = np.flatnonzero(np.isin(origin.region, regions))
    return Loan(place, origin.row[place], X[place])


def search(X: Any, loans: list[Loan], lifting: Lifting, k: int, n_jobs: int | None) -> tuple[Any, ...]:
    """The shard's lists, and for each lender the entries in its columns."""
    n = X.shape[0]
    together = lifting.transform(stacked([X, *(loan.X for loan in loans)]))
    index, divergence = _searched(together, n, k, n_jobs)
    weight = UNIT * whole_weights(divergence, n_jobs=n_jobs)[0]
    bounds = n + np.concatenate([[0], np.cumsum([len(loan.place) for loan in loans])]).astype(np.int64)
    compact, used_before = index.astype(np.int32), n
    lent, back = [], []
    for loan, first, last in zip(loans, bounds[:-1], bounds[1:], strict=True):
        here = (index >= first) & (index < last)
        row = np.nonzero(here)[0]
        listed, number = np.unique(index[here] - first, return_inverse=True)
        compact[here] = used_before + number
        used_before += len(listed)
        lent.append((loan.place[listed], loan.row[listed]))
        back.append(Back(loan.place[listed][number], row, weight[here]))
    return (Lists(compact, divergence, lent), *back)


def _searched(together: Lifted, n: int, k: int, n_jobs: int | None) -> tuple[Int, Float]:
    """Lists of the shard's n points among its own and those lent; −1 where there are too few."""
    index, divergence = np.full((n, k), -1, np.int32), np.full((n, k), np.inf)
    possible = min(k, together.n_points - 1)
    if possible:
        if together.is_sparse:  # lists grow by those of others
            _, found, _ = neighbor_graph(together, possible, np.random.default_rng(0), n_jobs, recall=None)
        else:
            found = NeighborIndex.build(together, IndexParams(), n_jobs=n_jobs).search_own(
                np.arange(n), possible
            )
        index[:, :possible], divergence[:, :possible] = (part[:n] for part in found)
    return index, divergence


def assemble(
    origin: Origin,
    lists: Lists,
    lenders: list[int],
    sources: list[int],
    back: list[Back],
    borrowers: list[int],
    origins: list[Origin],
) -> tuple[Any, ...]:
    """Both matrices over the shard's own points and its halo; per source, which points of it the halo is."""
    n = len(lists.index)
    lent, given = dict(zip(lenders, lists.lent, strict=True)), dict(zip(borrowers, back, strict=True))
    column = np.arange(n + sum(len(place) for place, _ in lists.lent), dtype=np.int64)  # by compact number
    halo, first = [], n
    rows, columns, weights = [], [], []
    firsts = dict(zip(lenders, np.cumsum([n] + [len(place) for place, _ in lists.lent])[:-1], strict=True))
    for s in sources:
        listed = lent[s][0] if s in lent else np.zeros(0, np.intp)
        listing = given[s].row if s in given else np.zeros(0, np.intp)
        place = np.union1d(listed, listing)
        if s in lent:
            column[firsts[s] : firsts[s] + len(listed)] = first + np.searchsorted(place, listed)
        if s in given:
            rows.append(given[s].place)
            columns.append(first + np.searchsorted(place, listing))
            weights.append(given[s].weight)
        halo.append(place)
        first += len(place)
    found = lists.index >= 0
    far = np.where(found[:, 0], 1.0 - SHARE, 1.0)
    weight: Float = UNIT * whole_weights(lists.divergence, n_jobs=1)[0].astype(np.float64)
    row, entry = np.nonzero(found)[0], lists.index[found]
    forward = _csr(weight[found], row, column[entry], (n, first))
    own = entry < n
    transpose = _csr(
        np.concatenate([weight[found][own], *weights]),
        np.concatenate([entry[own], *rows]),
        np.concatenate([row[own], *columns]),
        (n, first),
    )
    whole = np.concatenate([origin.row, *(h.row[place] for h, place in zip(origins, halo, strict=True))])
    index = np.where(found, whole[column[np.where(found, lists.index, 0)]], -1)
    gathered = bool((far == 1.0 - SHARE).all()), [len(place) for place in halo]
    return Matrices(forward, transpose, far, lists.divergence, index), gathered, *halo


def _csr(data: Float, row: Any, column: Any, shape: tuple[int, int]) -> Any:
    out = sparse.csr_array((data, (row, column)), shape=shape)
    out.sort_indices()
    return out


# -- products -----------------------------------------------------------------------------------------------


def exchange(
    executor: Executor,
    near: ShardedNearField,
    places: Sequence[Place],
    function: Callable[..., Numbers],
    *sources: Sequence[Reference],
) -> list[list[Reference]]:
    """Per shard, its halo's values, one reference per source: function(places there, …) of every source."""
    pairs = [(p, s, rows) for p, link in enumerate(near.links) for s, rows in link]
    given = [[source[s] for _, s, _ in pairs] for source in sources]
    where = [places[s] for _, s, _ in pairs]
    sent = executor.map("halo", function, [rows for _, _, rows in pairs], *given, at=where)
    out: list[list[Reference]] = [[] for _ in near.links]
    for (p, _, _), piece in zip(pairs, sent, strict=True):
        out[p].append(piece)
    return out


def send(places: Index, v: Any) -> Numbers:
    """What one shard gives to another's halo; v may be the first of what a call returned."""
    return np.asarray((v[0] if isinstance(v, tuple) else v)[places])


def far_sums(v: Numbers, near: Matrices) -> Float:  # (n, k) -> (k,)
    """Sums of (1 − λ)∘v, which the transpose of the far field multiplies."""
    return np.asarray((near.far[:, None] * v).sum(axis=0))


def push_down(
    product: Product,
    v: Numbers,
    halo: list[Numbers],
    near: Matrices,
    share: float,
    above: Float,
    side: Side,
    n_jobs: int | None,
) -> Numbers:  # (n, k)
    """The far field's product and the near field's."""
    far = near.far[:, None].astype(v.dtype)
    out = product.times(np.ascontiguousarray(v if side == "forward" else far * v), side, n_jobs)
    out *= v.dtype.type(share)
    out += above.astype(v.dtype)
    if side == "forward":
        out *= far
    everything, each = np.concatenate([v, *halo]), 0.5 if side == "mean" else 1.0
    if side != "transpose":
        out += (near.forward @ everything) * each
    if side != "forward":
        out += (near.transpose @ everything) * each
    return out


def mean(a: Numbers, b: Numbers) -> Numbers:
    return np.asarray((a + b) / 2)


# -- the bound, and all of it on one machine ----------------------------------------------------------------


def bound(
    grown: Grown,
    product: Product,
    near: Matrices,
    share: float,
    above: float,
    bandwidth: float,
    n_jobs: int | None,
) -> float:
    """The shard's part of the lower bound: its rows' values, far and near, by their shares."""
    far_values = np.full(len(near.far), above)
    if grown.n_points > 1 and share > 0:
        far_values += share * (_row_values(grown, product.q, bandwidth, n_jobs) - np.log(share))
    S = near_weights(near.divergence)
    logs = np.log(S, out=np.zeros_like(S), where=S > 0)
    d = np.where(np.isfinite(near.divergence), near.divergence, 0.0)
    near_values = -(S * (d / bandwidth + logs)).sum(axis=1)
    return float((near.far * far_values + (1 - near.far) * near_values).sum())


def _row_values(grown: Grown, q: Float, bandwidth: float, n_jobs: int | None) -> Float:  # (n,)
    """Each row's share of the bound of the shard alone."""
    size = grown.size[grown.tree.siblings()[1:]]
    log_q = np.log(q, out=np.zeros_like(q), where=q > 0)
    at_node = np.zeros(len(grown.size))
    at_node[1:] = -size * q * (grown.mean_divergence / bandwidth + log_q)
    return _core.path_sums(at_node, grown.size, grown.order, n_threads(n_jobs))


def gathered(shards: Shards, near: ShardedNearField) -> tuple[Int, Float]:  # (N, k) ×2
    """The lists of all rows, in the order of X."""
    origins: Sequence[Origin] = shards.executor.gather(shards.origins)
    parts: Sequence[Matrices] = shards.executor.gather(near.matrices)
    place = np.argsort(np.concatenate([origin.row for origin in origins]), kind="stable")
    index = np.concatenate([part.index for part in parts])[place].astype(np.int32)
    return index, np.concatenate([part.divergence for part in parts])[place]
