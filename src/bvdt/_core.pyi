"""Kernels: functions of C-contiguous arrays; malformed ones raise ValueError before a kernel runs.

Written by .ci/stubs.py from the compiled core; what each kernel computes stands in cpp/kernels, its shapes in
cpp/bindings. The number of threads never changes a result.
"""

from typing import Annotated, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

Float32Matrix = Annotated[NDArray[np.float32], "(n, m)"]
Float32MatrixOut = Annotated[NDArray[np.float32], "(n, m), written"]
Float32Vector = Annotated[NDArray[np.float32], "(n,)"]
Float64Matrix = Annotated[NDArray[np.float64], "(n, m)"]
Float64MatrixOut = Annotated[NDArray[np.float64], "(n, m), written"]
Float64Vector = Annotated[NDArray[np.float64], "(n,)"]
Float64VectorOut = Annotated[NDArray[np.float64], "(n,), written"]
Int32Matrix = Annotated[NDArray[np.int32], "(n, m)"]
Int32MatrixOut = Annotated[NDArray[np.int32], "(n, m), written"]
Int32Vector = Annotated[NDArray[np.int32], "(n,)"]
Int32VectorOut = Annotated[NDArray[np.int32], "(n,), written"]
Int64Vector = Annotated[NDArray[np.int64], "(n,)"]
Int64VectorOut = Annotated[NDArray[np.int64], "(n,), written"]
RealMatrix = Annotated[NDArray[np.float32 | np.float64], "(n, m)"]
RealMatrixOut = Annotated[NDArray[np.float32 | np.float64], "(n, m), written"]
RealVector = Annotated[NDArray[np.float32 | np.float64], "(n,)"]

class BuildInfo(TypedDict):
    version: str
    compiler: str  # name and version
    openmp: bool  # without it there is one thread
    openmp_version: str  # year and month of the specification, or empty
    simd: str  # the level in use: baseline, avx2 or avx512
    max_threads: int  # that OpenMP would start of its own accord; 1 without it

@overload
def anchor_steal(
    x: Float64Matrix,
    h: Float64Matrix,
    u: Float64Vector,
    w: Float64Vector,
    points: Int32Vector,
    distance: Float64VectorOut,
    owner: Int32VectorOut,
    threshold: Float64Vector,
    pivot: int,
    anchor: int,
    threads: int,
) -> tuple[int, int]: ...
@overload
def anchor_steal(
    indptr: Int64Vector,
    indices: Int32Vector,
    x: Float64Vector,
    h: Float64Vector,
    d: int,
    u: Float64Vector,
    w: Float64Vector,
    points: Int32Vector,
    distance: Float64VectorOut,
    owner: Int32VectorOut,
    threshold: Float64Vector,
    pivot: int,
    anchor: int,
    threads: int,
) -> tuple[int, int]: ...
@overload
def anchor_grow(
    x: Float64Matrix,
    h: Float64Matrix,
    u: Float64Vector,
    w: Float64Vector,
    points: Int32Vector,
    distance: Float64VectorOut,
    owner: Int32VectorOut,
    offsets: Int64Vector,
    first: Int64Vector,
    pivot_offsets: Int64Vector,
    pivots: Int32VectorOut,
    grown: Int32VectorOut,
    threads: int,
) -> int: ...
@overload
def anchor_grow(
    indptr: Int64Vector,
    indices: Int32Vector,
    x: Float64Vector,
    h: Float64Vector,
    d: int,
    u: Float64Vector,
    w: Float64Vector,
    points: Int32Vector,
    distance: Float64VectorOut,
    owner: Int32VectorOut,
    offsets: Int64Vector,
    first: Int64Vector,
    pivot_offsets: Int64Vector,
    pivots: Int32VectorOut,
    grown: Int32VectorOut,
    threads: int,
) -> int: ...
def coarsest_dense(
    x: Float64Matrix,
    h: Float64Matrix,
    U: Float64Vector,
    W: Float64Vector,
    size: Int32Vector,
    order: Int32Vector,
    out: Float64VectorOut,
    threads: int,
) -> None: ...
def coarsest_sparse(
    indptr: Int64Vector,
    indices: Int32Vector,
    x: Float64Vector,
    h: Float64Vector,
    d: int,
    U: Float64Vector,
    W: Float64Vector,
    size: Int32Vector,
    start: Int32Vector,
    order: Int32Vector,
    out: Float64VectorOut,
    threads: int,
) -> None: ...
def pair_dots_dense(
    x: Float64Matrix, h: Float64Matrix, a: Int32Vector, b: Int32Vector, out: Float64VectorOut, threads: int
) -> None: ...
def pair_dots_sparse(
    x_indptr: Int64Vector,
    x_indices: Int32Vector,
    x: Float64Vector,
    h_indptr: Int64Vector,
    h_indices: Int32Vector,
    h: Float64Vector,
    d: int,
    a: Int32Vector,
    b: Int32Vector,
    out: Float64VectorOut,
    threads: int,
) -> None: ...
def optimum_coarsest(
    size: Int32Vector,
    parent: Int32Vector,
    mean_divergence: Float64Vector,
    bandwidth: float,
    q: Float64VectorOut,
    log_value: Float64VectorOut,
    mass_below: Float64VectorOut,
    threads: int,
) -> None: ...
def optimum_blocks(
    size: Int32Vector,
    parent: Int32Vector,
    first: Int64Vector,
    cols: Int32Vector,
    mean_divergence: Float64Vector,
    bandwidth: float,
    q: Float64VectorOut,
    log_value: Float64VectorOut,
    mass_below: Float64VectorOut,
    threads: int,
) -> None: ...
def curve_coarsest(
    size: Int32Vector, parent: Int32Vector, mean_divergence: Float64Vector, bandwidth: float, threads: int
) -> tuple[float, float, float, float]: ...
def curve_blocks(
    size: Int32Vector,
    parent: Int32Vector,
    first: Int64Vector,
    cols: Int32Vector,
    mean_divergence: Float64Vector,
    bandwidth: float,
    threads: int,
) -> tuple[float, float, float, float]: ...
def build_info() -> BuildInfo: ...
def count_classes(
    scores: Float64Matrix, divisor: Float64Vector, count: Int64VectorOut, threads: int
) -> None: ...
def distribute_rows(
    scores: Float64MatrixOut, divisor: Float64Vector, prior: Float64Vector, best: Int32VectorOut, threads: int
) -> None: ...
def column_dots(a: RealMatrix, b: RealMatrix, out: Float64VectorOut, threads: int) -> None: ...
def take_rows(v: RealMatrix, order: Int32Vector, factor: float, out: RealMatrixOut, threads: int) -> None: ...
def put_rows(
    v: RealMatrix, order: Int32Vector, factor: Float64Vector | None, out: RealMatrixOut, threads: int
) -> None: ...
def cut_below_zero(v: RealMatrixOut, threads: int) -> None: ...
def blend_rows(
    step: RealMatrixOut,
    before: RealMatrix,
    given: RealMatrix,
    order: Int32Vector | None,
    alpha: float,
    tol: float,
    rounding: float,
    change: Float64VectorOut,
    total: Float64VectorOut,
    threads: int,
) -> bool: ...
def conjugate_step(
    f: RealMatrixOut,
    r: RealMatrixOut,
    p: RealMatrixOut,
    ap: RealMatrix,
    step_size: RealVector,
    beta: RealVector,
    squares: Float64VectorOut,
    threads: int,
) -> None: ...
def spread_points(
    y: Float32Matrix, low0: float, low1: float, unit: float, mass: Float32MatrixOut, threads: int
) -> None: ...
def read_potential(
    y: Float32Matrix,
    low0: float,
    low1: float,
    unit: float,
    potential: Float32Matrix,
    out: Float32MatrixOut,
    threads: int,
) -> None: ...
def move_points(
    indptr: Int64Vector,
    indices: Int32Vector,
    value: Float32Vector,
    others: Float32Matrix,
    y: Float32Matrix,
    potential: Float32Matrix,
    pull: float,
    push: float,
    rate: float,
    momentum: float,
    velocity: Float32MatrixOut,
    gain: Float32MatrixOut,
    moved: Float32MatrixOut,
    threads: int,
) -> None: ...
def weigh_lists(
    divergences: Float64Matrix,
    fall: float,
    total: int,
    weights: Int32MatrixOut,
    cost: Float64VectorOut,
    logs: Float64VectorOut,
    threads: int,
) -> None: ...
def linked_parts(listed: Int32Matrix, part: Int32VectorOut) -> int: ...

class Links:
    def __init__(
        self, listed: Int32Matrix, weights: Int32Matrix, unit: float, order: Int32Vector, threads: int
    ) -> None: ...
    def transposed(self) -> Links: ...
    def mean(self, threads: int) -> Links: ...
    @property
    def unit(self) -> float: ...
    @property
    def first(self) -> Int64Vector: ...
    @property
    def column(self) -> Int32Vector: ...
    @property
    def weight(self) -> Int32Vector: ...
    @property
    def order(self) -> Int32Vector: ...

class InvertedLists:
    def __init__(
        self,
        x: Float64Matrix,
        h: Float64Matrix,
        u: Float64Vector,
        w: Float64Vector,
        order: Int32Vector,
        bounds: Int64Vector,
        threads: int,
    ) -> None: ...
    def search(
        self,
        x: Float64Matrix,
        h: Float64Matrix,
        u: Float64Vector,
        own: Int32Vector,
        order: Int32Vector,
        bounds: Int64Vector,
        assigned: Int32Vector,
        n_candidates: int,
        rerank: int,
        is_bound: bool,
        exact_x: Float64Matrix,
        exact_h: Float64Matrix,
        exact_u: Float64Vector,
        exact_w: Float64Vector,
        index: Int32MatrixOut,
        divergence: Float64MatrixOut,
        threads: int,
    ) -> None: ...
    def candidates(
        self, first: int, last: int, n_candidates: int, index: Int32MatrixOut, threads: int
    ) -> None: ...
    def means(self) -> tuple[Float64Vector, Float64Vector]: ...
    @property
    def reach(self) -> int: ...

class DenseDescent:
    def __init__(self, lists: InvertedLists, given: Int32Matrix, n_forward: int, threads: int) -> None: ...
    def link(self, threads: int) -> None: ...
    def join(self, first: int, last: int, threads: int) -> None: ...
    def read(
        self, chosen: Int32Vector, index: Int32MatrixOut, estimate: Float64MatrixOut, threads: int
    ) -> None: ...

class SparseDescent:
    def __init__(
        self,
        indptr: Int64Vector,
        indices: Int32Vector,
        x: Float64Vector,
        h: Float64Vector,
        d: int,
        u: Float64Vector,
        w: Float64Vector,
        order: Int32Vector,
        given: Int32Matrix,
        n_forward: int,
        threads: int,
    ) -> None: ...
    def link(self, threads: int) -> None: ...
    def join(self, first: int, last: int, threads: int) -> None: ...
    def read(
        self, chosen: Int32Vector, index: Int32MatrixOut, estimate: Float64MatrixOut, threads: int
    ) -> None: ...

class Postings:
    def __init__(
        self,
        indptr: Int64Vector,
        indices: Int32Vector,
        x: Float64Vector,
        h: Float64Vector,
        d: int,
        w: Float64Vector,
        threads: int,
    ) -> None: ...
    def search(
        self,
        indptr: Int64Vector,
        indices: Int32Vector,
        x: Float64Vector,
        u: Float64Vector,
        own: Int32Vector,
        chosen: Int32Vector,
        n_postings: int,
        rerank: int,
        index: Int32MatrixOut,
        divergence: Float64MatrixOut,
        threads: int,
    ) -> None: ...

def compare_chunks(
    indptr: Int64Vector,
    indices: Int32Vector,
    x: Float64Vector,
    h: Float64Vector,
    d: int,
    u: Float64Vector,
    w: Float64Vector,
    order: Int32Vector,
    bounds: Int64Vector,
    index: Int32MatrixOut,
    divergence: Float64MatrixOut,
    threads: int,
) -> None: ...
def rerank(
    x: Float64Matrix,
    h: Float64Matrix,
    u: Float64Vector,
    w: Float64Vector,
    candidates: Int32Matrix,
    estimates: Float64Matrix,
    is_bound: bool,
    index: Int32MatrixOut,
    divergence: Float64MatrixOut,
    threads: int,
) -> None: ...
def find_regions(
    x: Float64Matrix,
    h: Float64Matrix,
    plane_x: Float64Matrix,
    plane_h: Float64Matrix,
    border: Float64Vector,
    child: Int32Matrix,
    region: Int32VectorOut,
    threads: int,
) -> None: ...

class CoarsestProduct:
    def __init__(
        self, size: Int32Vector, order: Int32Vector, q: Float64Vector, subtree_points: int
    ) -> None: ...
    def symmetric(self) -> CoarsestProduct: ...
    def apply(self, v: RealMatrix, out: RealMatrixOut, transpose: bool, threads: int) -> None: ...
    @property
    def nbytes(self) -> int: ...

def product_blocks(
    size: Int32Vector,
    parent: Int32Vector,
    order: Int32Vector,
    first: Int64Vector,
    other: Int32Vector,
    q: Float64Vector,
    v: RealMatrix,
    out: RealMatrixOut,
    threads: int,
) -> None: ...
def product_sparse(
    indptr: Int64Vector,
    indices: Int32Vector,
    value: RealVector,
    v: RealMatrix,
    out: RealMatrixOut,
    threads: int,
) -> None: ...
def node_sums(
    values: Float64Vector, size: Int32Vector, order: Int32Vector, threads: int
) -> Float64Vector: ...
def path_sums(
    values: Float64Vector, size: Int32Vector, order: Int32Vector, threads: int
) -> Float64Vector: ...
def walk_product(
    far: CoarsestProduct | None,
    near: Links | None,
    v: RealMatrix,
    out: RealMatrixOut,
    *,
    near_in: Float64Vector | None = None,
    near_out: Float64Vector | None = None,
    far_in: Float64Vector | None = None,
    far_out: Float64Vector | None = None,
    near_times: float = 1.0,
    far_times: float = 1.0,
    own: float = 0.0,
    transpose: bool = False,
    own_order: bool = False,
    dots: Float64MatrixOut | None = None,
    threads: int,
) -> None: ...
def walk_step(
    far: CoarsestProduct | None,
    near: Links | None,
    v: RealMatrix,
    out: RealMatrixOut,
    near_times: float,
    far_times: float,
    row: Int32Vector,
    given: RealMatrix,
    by: Float64Vector,
    share: float,
    weights: RealMatrix,
    sums: Float64MatrixOut | None,
    threads: int,
) -> None: ...
@overload
def split_levels(
    x: Float64Matrix,
    h: Float64Matrix,
    weight: Float64Vector,
    order: Int32VectorOut,
    bounds: Int64Vector,
    cap: int,
    smallest_side: Float64Vector,
    seed: Int64Vector,
    threads: int,
) -> tuple[Int64Vector, int]: ...
@overload
def split_levels(
    indptr: Int64Vector,
    indices: Int32Vector,
    x: Float64Vector,
    h: Float64Vector,
    d: int,
    weight: Float64Vector,
    order: Int32VectorOut,
    bounds: Int64Vector,
    cap: int,
    smallest_side: Float64Vector,
    seed: Int64Vector,
    threads: int,
) -> tuple[Int64Vector, int]: ...
@overload
def ward_chunks(
    x: Float64Matrix,
    h: Float64Matrix,
    weight: Float64Vector,
    order: Int32Vector,
    bounds: Int64Vector,
    pairs: Int32MatrixOut,
    costs: Float64VectorOut,
    threads: int,
    near: Int32Matrix | None = None,
    limit: Float64Vector | None = None,
) -> None: ...
@overload
def ward_chunks(
    indptr: Int64Vector,
    indices: Int32Vector,
    x: Float64Vector,
    h: Float64Vector,
    d: int,
    weight: Float64Vector,
    order: Int32Vector,
    bounds: Int64Vector,
    pairs: Int32MatrixOut,
    costs: Float64VectorOut,
    threads: int,
) -> None: ...
def apply_merges(
    pairs: Int32Matrix,
    costs: Float64Vector,
    order: Int32Vector,
    bounds: Int64Vector,
    count: int,
    cluster: Int32VectorOut,
    first_new: int,
    linkage: Int32MatrixOut,
    group: Int32VectorOut,
    threads: int,
) -> tuple[int, Int32Vector]: ...
def pre_order(
    linkage: Int32Matrix,
    size: Int32VectorOut,
    order: Int32VectorOut,
    left: Int32VectorOut,
    right: Int32VectorOut,
    parent: Int32VectorOut,
    start: Int32VectorOut,
    threads: int,
) -> int: ...
def tree_depth(size: Int32Vector) -> int: ...
def dense_group_means(
    x: Float64Matrix,
    weight: Float64Vector,
    group: Int32Vector,
    means: Float64MatrixOut,
    total: Float64VectorOut,
    threads: int,
) -> None: ...
def group_means(
    indptr: Int64Vector,
    indices: Int32Vector,
    x: Float64Vector,
    h: Float64Vector,
    d: int,
    weight: Float64Vector,
    group: Int32Vector,
    n_groups: int,
    threads: int,
) -> tuple[Int64Vector, Int32Vector, Float64Vector, Float64Vector]: ...
