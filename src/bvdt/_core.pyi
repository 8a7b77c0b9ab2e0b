"""Kernels: stateless functions of C-contiguous arrays; bad sizes raise ValueError.

Shapes: N points, d features, 2N − 1 nodes in pre-order, k columns; n points in play, S segments. The number
of threads never changes a result.
"""

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_F = NDArray[np.float64]
_I = NDArray[np.int32]
_L = NDArray[np.int64]

# -- anchor.cpp: Eq. (7) and Proposition 1 -----------------------------------------------------------------

@overload
def anchor_steal(
    X: _F,  # (N, d)
    H: _F,  # (N, d)
    u: _F,  # (N,)
    w: _F,  # (N,)
    points: _I,  # (n,)
    distance: _F,  # (n,) to its pivot, changed
    owner: _I,  # (n,) its anchor, changed
    threshold: _F,  # (anchors so far,), or empty for no pruning
    pivot: int,  # the new one's position in points
    anchor: int,  # the new one's number
    num_threads: int,
    /,
) -> tuple[int, int]:
    """Gives a new anchor what is nearer to its pivot: (divergences evaluated, farthest position or −1)."""

@overload
def anchor_steal(
    indptr: _L,  # (N+1,)
    indices: _I,  # (nnz,)
    x: _F,  # (nnz,)
    h: _F,  # (nnz,)
    d: int,
    u: _F,
    w: _F,
    points: _I,
    distance: _F,
    owner: _I,
    threshold: _F,
    pivot: int,
    anchor: int,
    num_threads: int,
    /,
) -> tuple[int, int]: ...
@overload
def anchor_grow(
    X: _F,  # (N, d)
    H: _F,  # (N, d)
    u: _F,  # (N,)
    w: _F,  # (N,)
    points: _I,  # (n,)
    distance: _F,  # (n,) filled
    owner: _I,  # (n,) filled, from 0 in each segment
    offsets: _L,  # (S+1,) into points
    first: _L,  # (S,) the first pivot's position in its segment
    pivot_offsets: _L,  # (S+1,) into pivots; the differences are the anchors wanted
    pivots: _I,  # (pivot_offsets[S],) filled
    grown: _I,  # (S,) filled: anchors grown
    num_threads: int,
    /,
) -> int:
    """All anchors of S segments, without pruning; returns the divergences evaluated."""

@overload
def anchor_grow(
    indptr: _L,
    indices: _I,
    x: _F,
    h: _F,
    d: int,
    u: _F,
    w: _F,
    points: _I,
    distance: _F,
    owner: _I,
    offsets: _L,
    first: _L,
    pivot_offsets: _L,
    pivots: _I,
    grown: _I,
    num_threads: int,
    /,
) -> int: ...

# -- split.cpp and ward.cpp: 2-means and Ward's criterion in the lifted form ---------------------------------

@overload
def split_level(
    x: _F,  # (N, d)
    h: _F,  # (N, d)
    weight: _F,  # (N,)
    order: _I,  # (N,) changed: both halves of a segment stay in their old order
    bounds: _L,  # (S+1,) into order
    cap: int,
    smallest_side: float,
    seed: int,
    threads: int,
    /,
) -> _L:  # (S'+1,)
    """Cuts every segment of more than ``cap`` points in two; returns the new bounds."""

@overload
def split_level(
    indptr: _L,
    indices: _I,
    x: _F,
    h: _F,
    d: int,
    weight: _F,
    order: _I,
    bounds: _L,
    cap: int,
    smallest_side: float,
    seed: int,
    threads: int,
    /,
) -> _L: ...
@overload
def ward_chunks(
    x: _F,  # (N, d)
    h: _F,  # (N, d)
    weight: _F,  # (N,)
    order: _I,  # (N,)
    bounds: _L,  # (S+1,) into order
    pairs: _I,  # (n_merges, 2) filled, children before parents in each chunk
    costs: _F,  # (n_merges,) filled, ascending from child to parent
    threads: int,
    /,
) -> None:
    """Ward's merges inside each chunk order[bounds[c] : bounds[c + 1]]; n_merges = points − chunks."""

@overload
def ward_chunks(
    indptr: _L,
    indices: _I,
    x: _F,
    h: _F,
    d: int,
    weight: _F,
    order: _I,
    bounds: _L,
    pairs: _I,
    costs: _F,
    threads: int,
    /,
) -> None: ...

# -- merges.cpp ------------------------------------------------------------------------------------------

def apply_merges(
    pairs: _I,  # (n_merges, 2) items; the first stands for both from then on
    cluster: _I,  # (n,) number of each item's cluster, changed: the remaining ones come first
    first_new: int,
    linkage: _I,  # (n_merges, 2) filled with the merged clusters' numbers
    group: _I,  # (n,) filled: each item's place among the remaining clusters
) -> int:
    """Carries out merges; returns how many clusters remain."""

def pre_order(
    linkage: _I,  # (N−1, 2)
    size: _I,  # (2N−1,) filled
    order: _I,  # (N,) filled
) -> None:
    """Pre-order sizes and leaf order of the tree that the merges make."""

def dense_group_means(
    x: _F,  # (N, d)
    weight: _F,  # (N,)
    group: _I,  # (N,)
    means: _F,  # (n_groups, d) filled
    threads: int,
    /,
) -> None:
    """Weighted mean of each group's rows."""

def group_means(
    indptr: _L,
    indices: _I,
    x: _F,
    h: _F,
    d: int,
    weight: _F,  # (N,)
    group: _I,  # (N,)
    n_groups: int,
    threads: int,
    /,
) -> tuple[_L, _I, _F, _F]:
    """Weighted mean of each group's sparse points: (indptr, indices, x, h)."""

# -- neighbors.cpp: nearest centres --------------------------------------------------------------------------

def chunk_neighbors(*args: Any) -> None:
    """Arguments: (x, h) or (indptr, indices, x, h, d); u, w (N,); order, bounds: chunks of points; index,
    divergence (N, k): the lists, to which each point of a chunk offers all others; threads."""

def join_neighbors(*args: Any) -> None:
    """As chunk_neighbors, for sparse points, with listed (N, k), a copy of index, in place of order, bounds:
    each point is offered those listed by the points that it lists."""

# -- cells.cpp: nearest centres of dense points --------------------------------------------------------------

class Cells:
    """Dense points packed cell by cell."""

    def __init__(
        self,
        x: _F,  # (N, d)
        h: _F,  # (N, d)
        u: _F,  # (N,)
        w: _F,  # (N,)
        order: _I,  # (N,)
        bounds: _L,  # (n_cells + 1,) cell c is order[bounds[c] : bounds[c + 1]]
        threads: int,
    ) -> None: ...
    def search(
        self,
        first: int,  # cells first … last − 1, whose points' lists are written
        last: int,
        pairs: int,  # centres, at least, that a point is compared with
        index: _I,  # (N, k)
        divergence: _F,  # (N, k)
        threads: int,
    ) -> None: ...

# -- blocks.cpp: Eq. (20) ------------------------------------------------------------------------------------

def coarsest_dense(
    X: _F,  # (N, d)
    H: _F,  # (N, d)
    U: _F,  # (2N−1,)
    W: _F,  # (2N−1,)
    size: _I,  # (2N−1,)
    order: _I,  # (N,)
    out: _F,  # (2N−1,) d̄ of (node, sibling); the root's entry is left alone
    threads: int,
    /,
) -> None: ...
def coarsest_sparse(
    indptr: _L,  # (N+1,)
    indices: _I,  # (nnz,)
    X: _F,  # (nnz,)
    H: _F,  # (nnz,)
    d: int,
    U: _F,  # (2N−1,)
    W: _F,  # (2N−1,)
    size: _I,  # (2N−1,)
    start: _I,  # (2N−1,)
    order: _I,  # (N,)
    out: _F,  # (2N−1,)
    threads: int,
    /,
) -> None: ...
def pair_dots_dense(
    X: _F,  # (n, d)
    H: _F,  # (m, d)
    a: _I,  # (p,)
    b: _I,  # (p,)
    out: _F,  # (p,) ⟨X[a], H[b]⟩
    threads: int,
    /,
) -> None: ...
def pair_dots_sparse(
    x_indptr: _L,
    x_indices: _I,
    x: _F,
    h_indptr: _L,
    h_indices: _I,
    h: _F,
    d: int,
    a: _I,  # (p,)
    b: _I,  # (p,)
    out: _F,  # (p,)
    threads: int,
    /,
) -> None: ...

# -- curve.cpp: the bound a row as a function of θ = 1/β -----------------------------------------------------

def curve_coarsest(
    size: _I,  # (2N−1,)
    parent: _I,  # (2N−1,)
    mean_divergence: _F,  # (2N−2,)
    bandwidth: float,
    threads: int,
    /,
) -> tuple[float, float, float, float]: ...  # c, entropy, −dc/dθ, d²c/dθ²
def curve_blocks(
    size: _I,  # (2N−1,)
    parent: _I,  # (2N−1,)
    first: _L,  # (2N,)
    cols: _I,  # (n_blocks,)
    mean_divergence: _F,  # (n_blocks,)
    bandwidth: float,
    threads: int,
    /,
) -> tuple[float, float, float, float]: ...

# -- optimum.cpp: Eq. (18) under Eq. (3) ---------------------------------------------------------------------

def optimum_coarsest(
    size: _I,  # (2N−1,)
    parent: _I,  # (2N−1,)
    mean_divergence: _F,  # (2N−2,)
    bandwidth: float,
    q: _F,  # out (2N−2,)
    log_value: _F,  # out (2N−1,)
    mass_below: _F,  # out (2N−1,)
    threads: int,
    /,
) -> None: ...
def optimum_blocks(
    size: _I,  # (2N−1,)
    parent: _I,  # (2N−1,)
    first: _L,  # (2N,) blocks of row node k: first[k] : first[k + 1]
    cols: _I,  # (n_blocks,)
    mean_divergence: _F,  # (n_blocks,)
    bandwidth: float,
    q: _F,  # out (n_blocks,)
    log_value: _F,  # out (2N−1,)
    mass_below: _F,  # out (2N−1,)
    threads: int,
    /,
) -> None: ...

# -- product.cpp: Q v and Qᵀ v -------------------------------------------------------------------------------

def product_coarsest(
    order: _I,  # (N,)
    first_leaf: _I,  # (n_chunks + 1,)
    chunk: _I,  # (N,)
    child: NDArray[np.uint16],  # (N − n_chunks, 2)
    weight: _F,  # (N − n_chunks, 2)
    top_child: _I,  # (n_chunks − 1, 2)
    top_weight: _F,  # (n_chunks − 1, 2)
    v: NDArray[Any],  # (N, k) float32 or float64
    out: NDArray[Any],  # (N, k) as v
    transpose: bool,
    threads: int,
    /,
) -> None: ...
def product_column(
    first_leaf: _I,  # (n_chunks + 1,)
    chunk: _I,  # (N,)
    child: NDArray[np.uint16],  # (N − n_chunks, 2)
    weight: _F,  # (N − n_chunks, 2)
    top_child: _I,  # (n_chunks − 1, 2)
    top_weight: _F,  # (n_chunks − 1, 2)
    bucket: NDArray[np.uint16],  # (N,)
    slot: NDArray[np.uint16],  # (N,)
    first_chunk: _I,  # (n_buckets + 1,)
    start: _I,  # (n_ranges, n_buckets)
    v: NDArray[Any],  # (N,) float32 or float64
    out: NDArray[Any],  # (N,) as v
    transpose: bool,
    threads: int,
    /,
) -> None: ...
def product_blocks(
    size: _I,  # (2N−1,)
    parent: _I,  # (2N−1,)
    order: _I,  # (N,)
    first: _L,  # (2N,)
    other: _I,  # (n_blocks,)
    q: _F,  # (n_blocks,)
    v: NDArray[Any],  # (N, k) float32 or float64
    out: NDArray[Any],  # (N, k) as v
    threads: int,
    /,
) -> None: ...
