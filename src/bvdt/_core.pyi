"""Kernels: functions of C-contiguous arrays. Malformed shapes and contents raise ValueError before one runs.

Shapes: N points, d features, 2N − 1 nodes in pre-order, k columns; n points in play, S segments. The number
of threads never changes a result. All of it is C++ in ``cpp/kernels``, checked by ``cpp/bindings``.
"""

from typing import Any, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

_F = NDArray[np.float64]
_I = NDArray[np.int32]
_L = NDArray[np.int64]
_S = NDArray[np.float32]

class BuildInfo(TypedDict):
    version: str
    compiler: str  # name and version
    openmp: bool  # without it there is one thread
    openmp_version: str  # year and month of the specification, or empty
    simd: str  # the level in use: baseline, avx2 or avx512
    max_threads: int  # that OpenMP would start of its own accord; 1 without it

def build_info() -> BuildInfo: ...

# -- anchors: Eq. (7) and Proposition 1 --------------------------------------------------------------------

@overload
def anchor_steal(
    x: _F,  # (N, d)
    h: _F,  # (N, d)
    u: _F,  # (N,)
    w: _F,  # (N,)
    points: _I,  # (n,)
    distance: _F,  # (n,) to its pivot, changed
    owner: _I,  # (n,) its anchor, changed
    threshold: _F,  # (anchors so far,), or empty for no pruning
    pivot: int,  # the new one's position in points
    anchor: int,  # the new one's number
    threads: int,
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
    threads: int,
) -> tuple[int, int]: ...
@overload
def anchor_grow(
    x: _F,  # (N, d)
    h: _F,  # (N, d)
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
    threads: int,
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
    threads: int,
) -> int: ...

# -- Ward trees: 2-means and Ward's criterion in the lifted form -------------------------------------------

@overload
def split_levels(
    x: _F,  # (N, d)
    h: _F,  # (N, d)
    weight: _F,  # (N,)
    order: _I,  # (N,) changed: both halves of a segment stay in their old order
    bounds: _L,  # (S+1,) into order
    cap: int,
    smallest_side: _F,  # (levels,)
    seed: _L,  # (levels,)
    threads: int,
) -> tuple[_L, int]:  # (S'+1,)
    """Cuts every segment of more than ``cap`` points in two, level by level.

    Returns the new bounds and how many levels were needed.
    """

@overload
def split_levels(
    indptr: _L,
    indices: _I,
    x: _F,
    h: _F,
    d: int,
    weight: _F,
    order: _I,
    bounds: _L,
    cap: int,
    smallest_side: _F,
    seed: _L,
    threads: int,
) -> tuple[_L, int]: ...
@overload
def ward_chunks(
    x: _F,  # (N, d)
    h: _F,  # (N, d)
    weight: _F,  # (N,)
    order: _I,  # points
    bounds: _L,  # (S+1,) into order
    pairs: _I,  # (n_merges, 2) filled: places in order, children before parents in each chunk
    costs: _F,  # (n_merges,) filled, ascending from child to parent
    threads: int,
    near: _I | None = None,  # (N, k) nearest others of every point, −1 for nobody, if x is h
    limit: _F | None = None,  # (N,) a cost that no point beyond them is below
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
) -> None: ...
def apply_merges(
    pairs: _I,  # (n_merges, 2) places in order; the first stands for both from then on
    costs: _F,  # (n_merges,) not less for a parent than for its child
    order: _I,  # (n,) items
    bounds: _L,  # (n_chunks+1,) into order
    count: int,
    cluster: _I,  # (n,) number of each item's cluster, changed
    first_new: int,
    linkage: _I,  # (≥ n_merges, 2) filled with the merged clusters' numbers, as far as there are merges
    group: _I,  # (n,) filled: each item's place among the remaining clusters
    threads: int,
) -> tuple[int, _I]:  # (n_groups,)
    """Carries out the ``count`` cheapest merges, with those that cost the same as the last.

    Returns their number and the remaining clusters' numbers.
    """

def pre_order(
    linkage: _I,  # (N−1, 2)
    size: _I,  # (2N−1,) filled
    order: _I,  # (N,) filled
    left: _I,  # (2N−1,) filled, and so are the others
    right: _I,
    parent: _I,
    start: _I,
    threads: int,
) -> int:
    """Pre-order sizes, leaf order and links of the tree that the merges make; returns its depth."""

def tree_depth(size: _I) -> int:  # (2N−1,)
    """Edges from the root to the deepest leaf."""

def dense_group_means(
    x: _F,  # (N, d)
    weight: _F,  # (N,)
    group: _I,  # (N,)
    means: _F,  # (n_groups, d) filled
    total: _F,  # (n_groups,) filled
    threads: int,
) -> None:
    """Weighted mean of each group's rows, and each group's weight."""

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
) -> tuple[_L, _I, _F, _F]:
    """Weighted mean of each group's sparse points: (indptr, indices, x, h)."""

# -- neighbor search ---------------------------------------------------------------------------------------

class InvertedLists:
    """Dense points in inverted lists; keeps x, h, u and w, copies the rest; see cpp/kernels/ivf.hpp."""

    def __init__(
        self,
        x: _F,  # (N, d)
        h: _F,  # (N, d)
        u: _F,  # (N,)
        w: _F,  # (N,)
        order: _I,  # (N,)
        bounds: _L,  # (n_lists + 1,) list c is order[bounds[c] : bounds[c + 1]]
        threads: int,
    ) -> None: ...
    def search(
        self,
        x: _F,  # (n, d) queries, lifted as the points
        h: _F,  # (n, d)
        u: _F,  # (n,)
        own: _I,  # (n,) the point that a query is, which its list leaves out, or −1
        order: _I,  # queries, each once at most
        bounds: _L,  # (n_groups + 1,) into order
        home: _I,  # (n_groups,) the list that a group's queries are nearest to
        n_candidates: int,  # points, at least, that a query is compared with
        rerank: int,  # of them, ranked by the divergence
        is_bound: bool,  # whether no divergence is below that of the points as they are compared
        exact_x: _F,  # (n, d') queries and points by which candidates are ranked
        exact_h: _F,  # (N, d')
        exact_u: _F,  # (n,)
        exact_w: _F,  # (N,)
        index: _I,  # (n, k) changed
        divergence: _F,  # (n, k) changed
        threads: int,
    ) -> None: ...
    def candidates(
        self,
        first: int,  # lists first … last − 1, whose points are the queries
        last: int,
        n_candidates: int,
        index: _I,  # (N, width) written: the best by estimates, in any order, −1 after them
        threads: int,
    ) -> None: ...
    def means(self) -> tuple[_F, _F]:
        """h̄ above x̄, (2d·n_lists,), and ⟨x̄, h̄⟩, (n_lists,)."""

    @property
    def reach(self) -> int:
        """Points of the lists near to a query's own, over those that are candidates."""

class _Descent:
    """Lists that grow by NN-descent; see cpp/kernels/nn_descent.hpp."""

    def link(self, threads: int) -> None:
        """Takes the neighbors of the next iteration from the lists."""

    def join(
        self,
        first: int,  # places first … last − 1 in the points' order, whose neighbors are compared
        last: int,
        threads: int,
    ) -> None: ...
    def read(
        self,
        chosen: _I,  # (n,) points
        index: _I,  # (n, k) written: their lists, −1 after the last
        estimate: _F,  # (n, k) written, ascending: of dense points no divergence is below it
        threads: int,
    ) -> None: ...

class DenseDescent(_Descent):
    def __init__(
        self,
        lists: InvertedLists,
        given: _I,  # (N, k) the lists to begin with, −1 after the last
        n_forward: int,  # of a list, the neighbors that lead on
        threads: int,
    ) -> None: ...

class SparseDescent(_Descent):
    def __init__(
        self,
        indptr: _L,
        indices: _I,
        x: _F,
        h: _F,
        d: int,
        u: _F,
        w: _F,
        order: _I,  # (N,) the places' points, near ones side by side
        given: _I,  # (N, k)
        n_forward: int,
        threads: int,
    ) -> None: ...

class Postings:
    """An inverted index over the features of sparse points; see cpp/kernels/postings.hpp."""

    def __init__(self, indptr: _L, indices: _I, x: _F, h: _F, d: int, w: _F, threads: int) -> None: ...
    def search(
        self,
        indptr: _L,  # of the queries
        indices: _I,
        x: _F,
        u: _F,  # (n,)
        own: _I,  # (n,) the point that a query is, which its list leaves out, or −1
        chosen: _I,  # queries, each once at most, whose lists are filled
        n_postings: int,  # that a query reads
        rerank: int,  # candidates that are ranked by the divergence
        index: _I,  # (n, k) changed
        divergence: _F,  # (n, k) changed
        threads: int,
    ) -> None: ...

def compare_chunks(
    indptr: _L,
    indices: _I,
    x: _F,
    h: _F,
    d: int,
    u: _F,
    w: _F,
    order: _I,  # points, each once at most
    bounds: _L,  # (n_chunks + 1,) into order
    index: _I,  # (N, k) changed
    divergence: _F,  # (N, k) changed
    threads: int,
) -> None:
    """Offers each point of a chunk order[bounds[c] : bounds[c + 1]] all others of it."""

def rerank(
    x: _F,  # (n, d) queries
    h: _F,  # (N, d) points
    u: _F,  # (n,)
    w: _F,  # (N,)
    candidates: _I,  # (n, width) points, ascending by an estimate; −1 after the last
    estimates: _F,  # (n, width)
    is_bound: bool,  # no divergence is below its estimate
    index: _I,  # (n, k) written
    divergence: _F,  # (n, k) written
    threads: int,
) -> None:
    """The k best of each query's candidates by d_ij = u_i + w_j − ⟨x_i, h_j⟩ itself."""

# -- sums over the tree, and blocks: Eq. (20) --------------------------------------------------------------

def node_sums(
    values: _F,  # (N,)
    size: _I,  # (2N−1,)
    order: _I,  # (N,)
    threads: int,
) -> _F:  # (2N−1,)
    """Sum of the values over the points of every node."""

def path_sums(
    values: _F,  # (2N−1,)
    size: _I,  # (2N−1,)
    order: _I,  # (N,)
    threads: int,
) -> _F:  # (N,)
    """Sum of the values over the nodes from the root to every point's leaf."""

def coarsest_dense(
    x: _F,  # (N, d)
    h: _F,  # (N, d)
    U: _F,  # (2N−1,)
    W: _F,  # (2N−1,)
    size: _I,  # (2N−1,)
    order: _I,  # (N,)
    out: _F,  # (2N−1,) d̄ of (node, sibling); the root's entry is left alone
    threads: int,
) -> None: ...
def coarsest_sparse(
    indptr: _L,  # (N+1,)
    indices: _I,  # (nnz,)
    x: _F,  # (nnz,)
    h: _F,  # (nnz,)
    d: int,
    U: _F,  # (2N−1,)
    W: _F,  # (2N−1,)
    size: _I,  # (2N−1,)
    start: _I,  # (2N−1,)
    order: _I,  # (N,)
    out: _F,  # (2N−1,)
    threads: int,
) -> None: ...
def pair_dots_dense(
    x: _F,  # (n, d)
    h: _F,  # (m, d)
    a: _I,  # (p,)
    b: _I,  # (p,)
    out: _F,  # (p,) ⟨x[a], h[b]⟩
    threads: int,
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
) -> None: ...

# -- the bound per row as a function of θ = 1/β: (c, entropy, −dc/dθ, d²c/dθ²) -----------------------------

def curve_coarsest(
    size: _I,  # (2N−1,)
    parent: _I,  # (2N−1,)
    mean_divergence: _F,  # (2N−2,)
    bandwidth: float,
    threads: int,
) -> tuple[float, float, float, float]: ...
def curve_blocks(
    size: _I,  # (2N−1,)
    parent: _I,  # (2N−1,)
    first: _L,  # (2N,)
    cols: _I,  # (n_blocks,)
    mean_divergence: _F,  # (n_blocks,)
    bandwidth: float,
    threads: int,
) -> tuple[float, float, float, float]: ...

# -- the optimum: Eq. (18) under Eq. (3) -------------------------------------------------------------------

def optimum_coarsest(
    size: _I,  # (2N−1,)
    parent: _I,  # (2N−1,)
    mean_divergence: _F,  # (2N−2,)
    bandwidth: float,
    q: _F,  # out (2N−2,)
    log_value: _F,  # out (2N−1,)
    mass_below: _F,  # out (2N−1,)
    threads: int,
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
) -> None: ...

# -- Points and the planes between regions ------------------------------------------------------------------

def find_regions(
    x: _F,  # (N, d)
    h: _F,  # (N, d)
    plane_x: _F,  # (P, d)
    plane_h: _F,  # (P, d)
    border: _F,  # (P,)
    child: _I,  # (P, 2) a later plane, or −1 − r for region r
    region: _I,  # (N,) written
    threads: int,
) -> None: ...

# -- Q v and Qᵀ v ------------------------------------------------------------------------------------------

class CoarsestProduct:
    """Q of the coarsest partition, prepared; owns all it reads."""

    def __init__(
        self,
        size: _I,  # (2N−1,)
        order: _I,  # (N,)
        q: _F,  # (2N−2,) q[k − 1] belongs to the block of node k and its sibling
        subtree_points: int,
        bucket_points: int,
    ) -> None: ...
    def symmetric(self) -> CoarsestProduct:
        """(Q + Qᵀ)/2, by the same arrays."""

    def probabilities(
        self,
        size: _I,  # (2N−1,) of its tree
    ) -> _F:  # (2N−2,)
        """q as it was given."""

    def apply(
        self,
        v: NDArray[Any],  # (N, k) float32 or float64
        out: NDArray[Any],  # (N, k) as v
        transpose: bool,
        threads: int,
    ) -> None: ...
    @property
    def nbytes(self) -> int: ...

def walk_product_exact(
    indptr: NDArray[np.int64],  # (N + 1,)
    indices: _I,
    value: _F,
    trees: list[CoarsestProduct],
    share: _F,  # (n_trees,)
    scale: _F,  # (N,)
    v: _F,  # (N, m)
    out: _F,  # (N, m)
    threads: int,
) -> None:
    """out ← S·v, the S of ``walk_recurrence``, in double precision."""

def walk_recurrence(
    indptr: NDArray[np.int64],  # (N + 1,)
    indices: _I,
    value: NDArray[np.float32],
    trees: list[CoarsestProduct],
    share: NDArray[np.float32],  # (n_trees,)
    scale: NDArray[np.float32],  # (N,)
    centre: float,
    radius: float,
    a: NDArray[np.float32],  # (steps, m)
    b: NDArray[np.float32],  # (steps, m)
    start: _F,  # (N, m), or (0, m) for zeros
    rest: _F,  # (N, m), or (0, m) for zeros
    y: _F,  # (N, m) written: the last
    threads: int,
) -> None:
    """Y_(n+1) = a_n·(S·Y_n − centre·Y_n + rest)/radius − b_n·Y_(n−1) from Y_(−1) = 0, Y_0 = start on."""

def weigh_lists(
    divergences: _F,  # (N, k)
    fall: float,
    total: int,
    weights: _I,  # out (N, k)
    cost: _F,  # out (N,)
    logs: _F,  # out (N,)
    threads: int,
) -> None:
    """weights ← total·S_ij in whole numbers that sum to the total; Σ_j S_ij·d_ij and Σ_j S_ij·log S_ij."""

def linked_parts(
    listed: _I,  # (N, k), −1 for nobody
    part: _I,  # out (N,)
) -> int:
    """part ← number of each point's connected part, by its first point; returns how many there are."""

class Links:
    """The near field's sparse matrix in a tree's order; owns all it reads."""

    def __init__(
        self,
        listed: _I,  # (N, k) −1 for nobody
        weights: _I,  # (N, k)
        unit: float,
        order: _I,  # (N,)
        threads: int,
    ) -> None: ...
    def transposed(self) -> Links: ...
    def heads(
        self,
        first: int,
        out: _I,  # out (m, k)
    ) -> None:
        """out ← the first k columns of rows first … first + m − 1, −1 where a row has fewer."""

    def multiply(
        self,
        far: CoarsestProduct | None,
        v: NDArray[Any],  # (N, k) float32 or float64
        out: NDArray[Any],  # (N, k) as v
        near_in: _F | None = None,  # (N,) each, by place in the tree's order
        near_out: _F | None = None,
        far_in: _F | None = None,
        far_out: _F | None = None,
        *,
        own: float,
        transpose: bool,
        ordered: bool,
        dots: _F | None = None,  # out (k,)
        threads: int,
    ) -> None:
        """out ← own·v and both fields' products, each with its diagonals; dots ← Σ_i v_i·out_i."""

    def step(
        self,
        far: CoarsestProduct | None,
        v: NDArray[Any],  # (N, k) float32 or float64, in the tree's order
        out: NDArray[Any],  # (N, k) as v
        *,
        near_times: float,
        far_times: float,
        row: _I,  # (N,) by place: row of ``given``, −1 for none
        given: NDArray[Any],  # (m, k) as v
        by: _F,  # (N,) above 0
        share: float,
        turn: float,
        sums: _F,  # out (3, k) Σ|r|, Σ|g/by|, Σr² with r = (g − v)/by
        threads: int,
    ) -> None:
        """out ← turn·g + (1 − turn)·out, g = by·(by·(both fields by their factors) + share·given[row])."""

    @property
    def unit(self) -> float: ...
    @property
    def order(self) -> _I: ...  # (N,)
    @property
    def first(self) -> _L: ...  # (N + 1,)
    @property
    def column(self) -> _I: ...  # (n_entries,)
    @property
    def weight(self) -> _I: ...  # (n_entries,) in units

class MeanLinks:
    """Makes the mean of links and their transpose, weights being told in slices of rows."""

    def __init__(
        self,
        listed: _I,  # (N, k) in the tree's order and numbers; −1 for nobody, at the ends of rows only
        unit: float,
        order: _I,  # (N,)
        threads: int,
    ) -> None: ...
    def weigh(
        self,
        first: int,
        weights: _I,  # (m, k) of rows first … first + m − 1
    ) -> None: ...
    def heads(
        self,
        first: int,
        out: _I,  # out (m, k)
    ) -> None:
        """As those of the links to be."""

    def finished(self, threads: int) -> Links:
        """The links, once; their rows begin with the lists."""

def column_dots(
    a: NDArray[Any],  # (N, k) float32 or float64
    b: NDArray[Any],  # (N, k) as a
    out: _F,  # out (k,)
    threads: int,
) -> None: ...
def reduce_columns(
    r: NDArray[Any],  # (N, k) float32 or float64
    ap: NDArray[Any],  # (N, k) as r
    length: NDArray[Any],  # (k,) as r
    squares: _F,  # out (k,)
    threads: int,
) -> None:
    """r −= length·ap; squares ← Σ_i r_i²."""

def advance_columns(
    f: NDArray[Any],  # (N, k) float32 or float64
    p: NDArray[Any],  # (N, k) as f
    r: NDArray[Any],  # (N, k) as f
    length: NDArray[Any],  # (k,) as f
    turn: NDArray[Any],  # (k,) as f
    threads: int,
) -> None:
    """f += length·p; p ← r + turn·p."""

def take_rows(
    v: NDArray[Any],  # (N, k) float32 or float64
    order: _I,  # (N,)
    factor: float,
    out: NDArray[Any],  # (N, k) as v
    threads: int,
) -> None:
    """out[i] ← factor·v[order[i]]."""

def count_classes(
    scores: _F,  # (N, k)
    divisor: _F,  # (k,) above 0
    count: NDArray[np.int64],  # out (k,)
    threads: int,
) -> None:
    """How many rows, but those of zeros, have the largest of scores/divisor in each column."""

def distribute_rows(
    scores: _F,  # (N, k) in and out
    divisor: _F,  # (k,) above 0
    prior: _F,  # (k,)
    best: _I,  # out (N,)
    threads: int,
) -> None:
    """Rows divided by ``divisor`` and scaled to sum to 1, or the prior where nothing is above 0."""

def cut_below_zero(v: NDArray[Any], threads: int) -> None: ...  # (N, k) float32 or float64, in and out
def put_rows(
    v: NDArray[Any],  # (N, k) float32 or float64
    order: _I,  # (N,)
    factor: _F | None,  # (N,)
    out: NDArray[Any],  # (N, k) as v
    threads: int,
) -> None:
    """out[order[i]] ← factor[i]·v[i]."""

def blend_rows(
    step: NDArray[Any],  # (N, k) float32 or float64
    before: NDArray[Any],  # (N, k) as step
    given: NDArray[Any],  # (N, k) as step
    order: _I | None,  # (N,)
    alpha: float,
    tol: float,
    rounding: float,
    change: _F,  # out (k,)
    total: _F,  # out (k,)
    threads: int,
) -> bool:
    """step ← α·step + (1 − α)·given[order]; Σ|step − before| and Σ|step| of every column.

    True if an entry changed by more than tol and more than rounding·|entry|.
    """

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
) -> None: ...
def product_sparse(
    indptr: _L,  # (n+1,)
    indices: _I,  # (nnz,)
    value: NDArray[Any],  # (nnz,) float32 or float64
    v: NDArray[Any],  # (d, k) as value
    out: NDArray[Any],  # (n, k) as value
    threads: int,
) -> None:
    """out ← A·v for a CSR matrix A."""

def spread_points(
    y: _S,  # (N, 2)
    low0: float,
    low1: float,
    unit: float,
    mass: _S,  # (rows, columns) of the mesh
    threads: int,
) -> None:
    """mass ← Σ_i B(y_i − node), cubic B-splines; node (a, b) lies at low + unit·(a, b)."""

def read_potential(
    y: _S,  # (N, 2)
    low0: float,
    low1: float,
    unit: float,
    potential: _S,  # (rows, columns) of the mesh
    out: _S,  # (N, 3)
    threads: int,
) -> None:
    """out ← the potential and its two slopes at every point."""

def move_points(
    indptr: _L,  # (n+1,)
    indices: _I,  # (nnz,)
    value: _S,  # (nnz,)
    others: _S,  # (m, 2)
    y: _S,  # (n, 2)
    potential: _S,  # (n, 3)
    pull: float,
    push: float,
    rate: float,
    momentum: float,
    velocity: _S,  # (n, 2), changed
    gain: _S,  # (n, 2), changed
    moved: _S,  # (n, 2), the new places
    threads: int,
) -> None:
    """One step of every point towards the others it is linked with, and down the potential."""
