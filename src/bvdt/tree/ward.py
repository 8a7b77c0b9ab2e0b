"""The default tree: Ward's agglomeration in rounds over chunks.

A round cuts the current clusters into chunks by top-down 2-means, agglomerates each chunk by Ward's
criterion, and carries out the cheapest merges over all chunks. The next round cuts the merged clusters anew,
so a point whose neighbors fell into another chunk waits, unmerged, for a round in which they do not. When
one chunk is left, all its merges are carried out. Time O(N·chunk), memory O(N).

The merging cost is |A||B|/(|A|+|B|)·⟨x̄_A − x̄_B, h̄_A − h̄_B⟩, that of Ward 1963 for the symmetrised divergence.
It needs the lifted form alone, so a user's own φ runs at full speed.
Differs from Eq. (22): means of x and of h instead of pivots and φ; a far better bound (docs/decisions.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from .. import _core
from .._support import memory
from .._support.arrays import Float, Int, Long
from .._support.progress import Progress, stage
from .._support.running import RandomState, generator, n_threads
from ..lifting import Lifted, sketch
from .balance import limit_depth
from .chunking import Clusters, split
from .structure import Tree

# Chunk of the first round, the largest of later ones, and shrink; why: docs/decisions.md.
_DENSE, _SPARSE = (300, 300, 3.0), (1000, 2000, 6.0)
_SMALL = 3000  # so many points are one chunk: Ward's tree itself
_LISTED = 16  # of a point's nearest that are looked at before all others
_MEANS = 32  # features up to which no matrix of costs is made, as in cpp/kernels/ward.cpp
_ASKED = 1 << 26  # bytes from which on it is asked how many are left, which takes 0.5 ms
_WORK = 1 << 30  # products of a thread in one kernel call, about 0.1 s


def ward_tree(
    lifted: Lifted,
    *,
    chunk: int | None = None,
    shrink: float | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = False,
    nearest: tuple[Int, Float] | None = None,
) -> Tree:
    """Ward tree of the lifted points.

    Parameters
    ----------
    chunk
        Most clusters agglomerated together; time grows with it, quality too. ``None``: all up to 3000 points;
        beyond, 300 for dense data and 1000, growing to 2000 in later rounds, for sparse.
    shrink
        Clusters before a round over clusters after it; > 1. Nearer to 1: more rounds, a better tree.
        ``None``: 3 for dense data, 6 for sparse.
    random_state
        Seeds of 2-means; ``None``, an int, or NumPy's ``Generator`` or ``RandomState``.
    n_jobs
        Threads; ``None`` and −1 are all cores. The tree does not depend on it.
    progress
        Shows a bar of the merges carried out.
    nearest
        Each point's nearest centers and their divergences, (N, k) both, ascending, if known exactly.
        The tree is the same, found sooner; used for dense points and squared Euclidean distances only.
    """
    lifted, n_points = sketch(lifted), lifted.n_points
    if n_points < 2:
        raise ValueError(f"ward_tree needs at least 2 points; there are {n_points}")
    *chunks, usual = _SPARSE if lifted.is_sparse else _DENSE
    shrink = usual if shrink is None else shrink
    if chunk is not None or n_points <= _SMALL:
        chunks = [_SMALL if chunk is None else chunk] * 2
    if chunks[0] < 2 or not shrink > 1:
        raise ValueError(f"ward_tree needs chunk >= 2 and shrink > 1; they are {chunk} and {shrink}")
    # A point is compared with all others of its chunk, several times.
    rng, threads = (
        generator(random_state),
        n_threads(n_jobs, 4.0 * lifted.n_values * min(chunks[0], n_points)),
    )
    _require_memory(min(max(chunks), n_points), lifted, threads)
    linkage = np.empty((n_points - 1, 2), np.int32)
    with stage(progress, "ward tree", n_points - 1) as advance:
        clusters = Clusters(lifted.arrays, np.ones(n_points))
        fits = not lifted.is_sparse and lifted.X is lifted.H
        known = _limited(lifted, *nearest) if nearest is not None and fits else None
        _agglomerate(clusters, linkage, chunks, shrink, rng, threads, advance, known)
    return limit_depth(Tree.from_merges(linkage, n_jobs=n_jobs), most=int(4 * math.log2(n_points) + 50))


def ward_tree_of_means(
    x: Float,  # (n, d)
    h: Float,  # (n, d)
    weight: Float,  # (n,)
    *,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Tree:
    """Ward tree whose leaves are clusters, known by their means in lifted form and their weights."""
    linkage = np.empty((len(weight) - 1, 2), np.int32)
    clusters = Clusters((np.ascontiguousarray(x), np.ascontiguousarray(h)), np.asarray(weight, float))
    chunks = [_SMALL, _SMALL]
    _agglomerate(clusters, linkage, chunks, _DENSE[2], generator(random_state), n_threads(n_jobs), _untold)
    return Tree.from_merges(linkage)


def _limited(lifted: Lifted, indices: Int, divergences: Float) -> tuple[Int, Float]:  # (N, k), (N,)
    """Lists of at most ``_LISTED`` others, and what merging with one beyond them costs at least.

    Two points cost their divergence, known but for the rounding of u + w − ⟨x, h⟩.
    """
    last = divergences[:, :_LISTED][:, -1]
    rounding = 64 * np.finfo(np.float64).eps * (1 + math.sqrt(lifted.n_features))
    limit = np.where(np.isfinite(last), last, 0.0)
    limit = np.where(np.isfinite(last), limit - rounding * (np.abs(lifted.u) + limit), -np.inf)
    return np.ascontiguousarray(indices[:, :_LISTED]), limit


def _untold(_: int) -> None:
    """Progress of work too short to be reported."""


def _require_memory(largest: int, lifted: Lifted, threads: int) -> None:
    """MemoryError unless every thread can agglomerate a chunk of the largest size."""
    each = 0.0 if lifted.is_sparse else 24.0 * largest * lifted.n_features
    if lifted.is_sparse or lifted.n_features > _MEANS:
        each += 12.0 * largest**2
    if threads * each > _ASKED:
        memory.require(threads * each, f"agglomerating {largest} clusters at once on {threads} threads")


def varied(n_points: int, rng: np.random.Generator) -> dict[str, int]:
    """Options for one more tree over the same points: small data, one chunk by default, are cut as well.

    Larger data need none: the seeds of 2-means make their trees differ.
    """
    if n_points > _SMALL or n_points < 8:
        return {}
    return {"chunk": int(rng.integers(n_points // 4, n_points // 2 + 1))}


def _agglomerate(
    clusters: Clusters,
    linkage: Int,
    chunks: list[int],
    shrink: float,
    rng: np.random.Generator,
    threads: int,
    advance: Callable[[int], None],
    known: tuple[Int, Float] | None = None,
) -> None:
    """Rounds of splitting and merging until one cluster is left; fills ``linkage`` (N − 1, 2)."""
    chunk, largest = chunks
    name = np.arange(len(linkage) + 1, dtype=np.int32)  # number of each cluster in the linkage
    done = 0
    while done < len(linkage):
        # Fewer clusters afford larger chunks for the same work.
        cap = int(min(largest, chunk * (len(linkage) + 1) / len(name)))
        order, bounds = split(clusters, cap, rng, threads)
        pairs, costs = _merge_chunks(clusters, order, bounds, threads, known)
        known = None  # of single points
        count = len(name) - int(len(name) / shrink) if len(bounds) > 2 else len(pairs)
        merges = (pairs, costs, order, bounds, count)
        n_made, name, group = _carry_out(merges, name, linkage, done, threads)
        done += n_made
        advance(n_made)
        del order, pairs, costs, merges  # the means are about to be held twice
        if len(name) > 1:
            clusters = clusters.merged(group, len(name), threads)


def _merge_chunks(
    clusters: Clusters, order: Int, bounds: Long, threads: int, known: tuple[Int, Float] | None
) -> tuple[Int, Float]:  # (n_merges, 2), (n_merges,)
    """Ward's merges inside every chunk, of places in ``order``, children before parents; with their costs."""
    n_merges = len(order) - (len(bounds) - 1)
    pairs, costs = np.empty((n_merges, 2), np.int32), np.empty(n_merges)
    largest = int(np.diff(bounds).max())
    work = largest**2 * (clusters.n_features + 40)
    for first, last in _slices(len(bounds) - 1, threads * max(16, _WORK // work)):
        made = slice(bounds[first] - first, bounds[last] - last)
        chunks = (order, bounds[first : last + 1], pairs[made], costs[made], threads)
        call = (*clusters.arrays, clusters.weight, *chunks, *(known or ()))
        _core.ward_chunks(*call)
    return pairs, costs


def _carry_out(
    merges: tuple[Int, Float, Int, Long, int], name: Int, linkage: Int, done: int, threads: int
) -> tuple[int, Int, Int]:  # number of merges, (n_groups,), (n,)
    """Writes the cheapest merges into ``linkage``; the clusters left, and each old one's place among them."""
    group = np.empty(len(name), np.int32)
    clusters = (name, len(linkage) + 1 + done, linkage[done:], group)
    n_made, left = _core.apply_merges(*merges, *clusters, threads)
    return n_made, left, group


def _slices(count: int, step: int) -> Iterator[tuple[int, int]]:
    """Short kernel calls, so that Ctrl-C is answered between them."""
    for first in range(0, count, step):
        yield first, min(first + step, count)
