"""One valid call of every compiled function, as keyword arguments, and ways to spoil it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bvdt import _core
from helpers.engine_cases import random_lifted, random_partition, random_tree

N, D, K = 12, 4, 3  # points, features, neighbors
NODES = 2 * N - 1
Arguments = dict[str, Any]


class Call(NamedTuple):
    """How to call a function, and the arguments of a valid call, made anew each time."""

    run: Callable[..., Any]
    arguments: Callable[[], Arguments]


def int32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def _lifted(as_sparse: bool) -> Any:
    return random_lifted("gid", N, np.random.default_rng(0), n_features=D, as_sparse=as_sparse)


def _points(as_sparse: bool) -> Arguments:
    names = ("indptr", "indices", "x", "h", "d") if as_sparse else ("x", "h")
    arrays = (a.copy() if isinstance(a, np.ndarray) else a for a in _lifted(as_sparse).arrays)
    return dict(zip(names, arrays, strict=True))


def _levels(as_sparse: bool) -> Arguments:
    lifted = _lifted(as_sparse)
    return {"u": lifted.u.copy(), "w": lifted.w.copy()}


def _tree() -> Any:
    return random_tree(N, np.random.default_rng(1))


def _nodes(*names: str) -> Arguments:
    return {name: getattr(_tree(), name).copy() for name in names}


def _lists() -> Arguments:
    return {"index": np.full((N, K), -1, np.int32), "divergence": np.full((N, K), np.inf)}


def _chunks() -> Arguments:
    return {"order": np.arange(N, dtype=np.int32), "bounds": np.array([0, 5, N])}


def _blocks() -> tuple[Arguments, int]:
    partition = random_partition(_tree(), 15, np.random.default_rng(2))
    return {"first": partition.first.copy(), "cols": partition.cols.copy()}, partition.n_blocks


def _solution(n_blocks: int) -> Arguments:
    return {"q": np.zeros(n_blocks), "log_value": np.zeros(NODES), "mass_below": np.zeros(NODES)}


# -- anchors -----------------------------------------------------------------------------------------------


def anchor_steal(as_sparse: bool) -> Arguments:
    state = {"distance": np.full(N, np.inf), "owner": np.zeros(N, np.int32)}
    anchor = {"threshold": np.zeros(1), "pivot": 2, "anchor": 1, "threads": 2}
    points = {"points": np.arange(N, dtype=np.int32)}
    return _points(as_sparse) | _levels(as_sparse) | points | state | anchor


def anchor_grow(as_sparse: bool) -> Arguments:
    state = {"distance": np.full(N, np.inf), "owner": np.zeros(N, np.int32)}
    segments = {"offsets": np.array([0, 5, N]), "first": np.array([1, 0])}
    segments["pivot_offsets"] = np.array([0, 2, 5])
    grown = {"pivots": np.full(5, -1, np.int32), "grown": np.zeros(2, np.int32), "threads": 2}
    points = {"points": np.arange(N, dtype=np.int32)}
    return _points(as_sparse) | _levels(as_sparse) | points | state | segments | grown


# -- blocks, sums, bound -----------------------------------------------------------------------------------


def coarsest(as_sparse: bool) -> Arguments:
    names = ("size", "start", "order") if as_sparse else ("size", "order")
    sums = {"U": np.ones(NODES), "W": np.ones(NODES)}
    return _points(as_sparse) | sums | _nodes(*names) | {"out": np.zeros(NODES), "threads": 2}


def pair_dots_dense() -> Arguments:
    pairs = {"a": int32(0, 3, 3), "b": int32(1, 11, 0), "out": np.zeros(3), "threads": 2}
    return _points(False) | pairs


def pair_dots_sparse() -> Arguments:
    points = _points(True)
    x = {"x_indptr": points["indptr"], "x_indices": points["indices"], "x": points["x"]}
    h = {"h_indptr": points["indptr"].copy(), "h_indices": points["indices"].copy(), "h": points["h"]}
    pairs = {"a": int32(0, 3, 3), "b": int32(1, 11, 0), "out": np.zeros(3), "threads": 2}
    return x | h | {"d": D} | pairs


def node_sums() -> Arguments:
    return {"values": np.ones(N)} | _nodes("size", "order") | {"threads": 2}


def path_sums() -> Arguments:
    return {"values": np.ones(NODES)} | _nodes("size", "order") | {"threads": 2}


def curve_coarsest() -> Arguments:
    divergence = {"mean_divergence": np.ones(NODES - 1), "bandwidth": 1.0}
    return _nodes("size", "parent") | divergence | {"threads": 2}


def curve_blocks() -> Arguments:
    blocks, n_blocks = _blocks()
    divergence = {"mean_divergence": np.ones(n_blocks), "bandwidth": 1.0}
    return _nodes("size", "parent") | blocks | divergence | {"threads": 2}


def optimum_coarsest() -> Arguments:
    return curve_coarsest() | _solution(NODES - 1)


def optimum_blocks() -> Arguments:
    return curve_blocks() | _solution(_blocks()[1])


# -- products ----------------------------------------------------------------------------------------------


def coarsest_product() -> Arguments:
    return _nodes("size", "order") | {"q": np.full(NODES - 1, 0.1), "subtree_points": 4}


def columns() -> Arguments:
    return {"v": np.ones((N, 2)), "out": np.zeros((N, 2)), "threads": 2}


def apply_coarsest(**arguments: Any) -> None:
    _core.CoarsestProduct(**coarsest_product()).apply(**arguments)


def apply_symmetric(**arguments: Any) -> None:
    _core.CoarsestProduct(**coarsest_product()).symmetric().apply(**arguments)


def far_product() -> Arguments:
    far = _core.CoarsestProduct(**coarsest_product())
    return columns() | {"far": far, "near": None, "own_order": True}


def weigh_lists() -> Arguments:
    divergences = np.sort(np.random.default_rng(0).random((N, K)), axis=1)
    out = {"weights": np.zeros((N, K), np.int32), "cost": np.zeros(N), "logs": np.zeros(N)}
    return {"divergences": divergences, "fall": 3.0, "total": 1000} | out | {"threads": 2}


def linked_parts() -> Arguments:
    return {"listed": links()["listed"], "part": np.zeros(N, np.int32)}


def links() -> Arguments:
    index = np.stack([(np.arange(N) + step) % N for step in (1, 2, 5)], axis=1).astype(np.int32)
    index[3, 1:] = -1
    weights = np.full((N, K), 10, np.int32)
    return {"listed": index, "weights": weights, "unit": 0.01, "threads": 2} | _nodes("order")


def _walk() -> Arguments:
    return {"far": _core.CoarsestProduct(**coarsest_product()), "near": _core.Links(**links())}


def walk_product() -> Arguments:
    scales = {name: np.ones(N) for name in ("near_in", "near_out", "far_in", "far_out")}
    settings = {"own": 1.0, "transpose": False, "dots": np.zeros((2, 2))}
    return columns() | _walk() | scales | settings


def walk_step() -> Arguments:
    scales = {"near_times": 0.9, "far_times": 0.1, "by": np.ones(N)}
    row = np.full(N, -1, np.int32)
    row[1] = 0
    settings = {"row": row, "given": np.ones((1, 2)), "share": 0.1, "sums": np.zeros((3, 2))}
    settings["weights"] = np.ones((3, 2))
    return columns() | _walk() | scales | settings


def links_mean(**arguments: Any) -> None:
    _core.Links(**links()).mean(**arguments)


def column_dots() -> Arguments:
    return {"a": np.ones((N, 2)), "b": np.ones((N, 2)), "out": np.zeros(2), "threads": 2}


def conjugate_step() -> Arguments:
    step = {name: np.ones((N, 2)) for name in ("f", "r", "p", "ap")}
    return step | {"step_size": np.ones(2), "beta": np.ones(2), "squares": np.zeros(2), "threads": 2}


def take_rows() -> Arguments:
    return columns() | {"order": np.arange(N, dtype=np.int32)[::-1].copy(), "factor": 2.0}


def put_rows() -> Arguments:
    return columns() | {"order": np.arange(N, dtype=np.int32)[::-1].copy(), "factor": np.ones(N)}


def cut_below_zero() -> Arguments:
    return {"v": np.full((N, 2), -1.0), "threads": 2}


def count_classes() -> Arguments:
    count = np.zeros(2, np.int64)
    return {"scores": np.ones((N, 2)), "divisor": np.ones(2), "count": count, "threads": 2}


def distribute_rows() -> Arguments:
    given = {"scores": np.ones((N, 2)), "divisor": np.ones(2), "prior": np.ones(2)}
    return given | {"best": np.zeros(N, np.int32), "threads": 2}


def blend_rows() -> Arguments:
    given = {name: np.ones((N, 2)) for name in ("step", "before", "given")}
    sums = {"change": np.zeros(2), "total": np.zeros(2)}
    return (
        given
        | sums
        | {"order": np.arange(N, dtype=np.int32), "alpha": 0.9}
        | {
            "tol": 0.0,
            "rounding": 0.0,
            "threads": 2,
        }
    )


def product_blocks() -> Arguments:
    blocks, n_blocks = _blocks()
    blocks["other"] = blocks.pop("cols")
    return _nodes("size", "parent", "order") | blocks | {"q": np.full(n_blocks, 0.1)} | columns()


def product_sparse() -> Arguments:
    points = _points(True)
    csr = {"indptr": points["indptr"], "indices": points["indices"], "value": points["x"]}
    return csr | {"v": np.ones((D, 2)), "out": np.zeros((N, 2)), "threads": 2}


# -- maps --------------------------------------------------------------------------------------------------


def _mesh() -> Arguments:
    return {
        "y": np.linspace(0, 3, 2 * N, dtype=np.float32).reshape(N, 2),
        "low0": 0.0,
        "low1": 0.0,
        "unit": 1.0,
    }


def spread_points() -> Arguments:
    return _mesh() | {"mass": np.zeros((5, 6), np.float32), "threads": 2}


def read_potential() -> Arguments:
    read = {"potential": np.ones((5, 6), np.float32), "out": np.zeros((N, 3), np.float32)}
    return _mesh() | read | {"threads": 2}


def move_points() -> Arguments:
    links = product_sparse()
    csr = {"indptr": links["indptr"], "indices": links["indices"], "value": links["value"].astype(np.float32)}
    places = {"others": np.ones((D, 2), np.float32), "y": _mesh()["y"]}
    places["potential"] = np.zeros((N, 3), np.float32)
    motion = {"pull": 1.0, "push": 0.5, "rate": 1.0, "momentum": 0.5}
    kept = {name: np.ones((N, 2), np.float32) for name in ("velocity", "gain", "moved")}
    return csr | places | motion | kept | {"threads": 2}


# -- regions -----------------------------------------------------------------------------------------------


def find_regions() -> Arguments:
    planes = {name: np.random.default_rng(3).normal(size=(3, D)) for name in ("plane_x", "plane_h")}
    ways = {"border": np.zeros(3), "child": np.array([[1, 2], [-1, -2], [-3, -4]], np.int32)}
    return _points(False) | planes | ways | {"region": np.zeros(N, np.int32), "threads": 2}


# -- Ward trees --------------------------------------------------------------------------------------------


def split_levels(as_sparse: bool) -> Arguments:
    levels = {"smallest_side": np.array([0.05, 0.5]), "seed": np.array([7, 8])}
    options = {"cap": 3, "threads": 2} | levels
    return _points(as_sparse) | {"weight": np.ones(N)} | _chunks() | options


def ward_chunks(as_sparse: bool) -> Arguments:
    merges = {"pairs": np.zeros((N - 2, 2), np.int32), "costs": np.zeros(N - 2), "threads": 2}
    arguments = _points(as_sparse) | {"weight": np.ones(N)} | _chunks() | merges
    if as_sparse:
        return arguments
    near = np.array([[(i + 1) % N, (i + 2) % N] for i in range(N)], np.int32)
    return arguments | {"near": near, "limit": np.ones(N)}


def apply_merges() -> Arguments:
    clusters = {"cluster": np.arange(N, dtype=np.int32), "group": np.zeros(N, np.int32), "first_new": N}
    pairs = [
        [0, 1],
        [3, 2],
        [0, 3],
        *([4, place] for place in range(5, N)),
    ]  # of the places 0 … 3 and the rest
    merges = {"pairs": np.array(pairs, np.int32), "costs": np.arange(len(pairs), dtype=float), "count": 2}
    chunks = {"order": np.arange(N, dtype=np.int32)[::-1].copy(), "bounds": np.array([0, 4, N])}
    return merges | chunks | clusters | {"linkage": np.zeros((len(pairs), 2), np.int32), "threads": 2}


def tree_depth() -> Arguments:
    return {"size": np.array([3, 2, 1, 1, 1], np.int32)}


def pre_order() -> Arguments:
    linkage = np.array([[0, 1], [2, 3], [4, 5]], np.int32)
    names = ("size", "left", "right", "parent", "start")
    return {"linkage": linkage, "order": np.zeros(4, np.int32), "threads": 2} | {
        name: np.zeros(7, np.int32) for name in names
    }


def dense_group_means() -> Arguments:
    groups = {"weight": np.ones(N), "group": np.arange(N, dtype=np.int32) % 3}
    filled = {"means": np.zeros((3, D)), "total": np.zeros(3)}
    return {"x": _points(False)["x"], "threads": 2} | filled | groups


def group_means() -> Arguments:
    groups = {"weight": np.ones(N), "group": np.arange(N, dtype=np.int32) % 3, "n_groups": 3}
    return _points(True) | groups | {"threads": 2}


# -- neighbor search ---------------------------------------------------------------------------------------

CANDIDATES = 4  # of a query


def inverted_lists() -> Arguments:
    return _points(False) | _levels(False) | _chunks() | {"threads": 2}


def lists_search() -> Arguments:
    """As many queries as points, and another lift of both to be ranked by."""
    queries = {name: value for name, value in (_points(False) | _levels(False)).items() if name != "w"}
    groups = {
        "own": np.arange(N, dtype=np.int32),
        "order": np.arange(N, dtype=np.int32),
        "bounds": np.array([0, 5, N]),
        "assigned": np.array([1, 0], np.int32),
    }
    effort = {"n_candidates": 6, "rerank": CANDIDATES, "is_bound": True}
    exact = {
        "exact_x": np.ones((N, 2)),
        "exact_h": np.ones((N, 2)),
        "exact_u": np.ones(N),
        "exact_w": np.ones(N),
    }
    return queries | groups | effort | exact | _lists() | {"threads": 2}


def search_lists(**arguments: Any) -> None:
    _core.InvertedLists(**inverted_lists()).search(**arguments)


def lists_candidates() -> Arguments:
    index = np.full((N, CANDIDATES), -1, np.int32)
    return {"first": 0, "last": 2, "n_candidates": 6, "index": index, "threads": 2}


def list_candidates(**arguments: Any) -> None:
    _core.InvertedLists(**inverted_lists()).candidates(**arguments)


def _given() -> Arguments:
    """Lists to begin with, some of them shorter."""
    given = np.stack([np.roll(np.arange(N), s) for s in (1, 2, 5)], axis=1).astype(np.int32)
    given[3, 1:] = -1
    return {"given": given, "n_forward": 2, "threads": 2}


def dense_descent() -> Arguments:
    return {"lists": _core.InvertedLists(**inverted_lists())} | _given()


def sparse_descent() -> Arguments:
    order = {"order": np.arange(N, dtype=np.int32)[::-1].copy()}
    return _points(True) | _levels(True) | order | _given()


def _descent(as_sparse: bool) -> Any:
    return _core.SparseDescent(**sparse_descent()) if as_sparse else _core.DenseDescent(**dense_descent())


def descent_join() -> Arguments:
    return {"first": 0, "last": N, "threads": 2}


def descent_read() -> Arguments:
    lists = {"index": np.empty((N, K), np.int32), "estimate": np.empty((N, K))}
    return {"chosen": np.arange(N, dtype=np.int32)} | lists | {"threads": 2}


def _linked(as_sparse: bool) -> Any:
    descent = _descent(as_sparse)
    descent.link(2)
    return descent


def _descent_calls(name: str, as_sparse: bool) -> dict[str, Call]:
    """Its methods."""
    return {
        f"{name}.link": Call(lambda **given: _descent(as_sparse).link(**given), lambda: {"threads": 2}),
        f"{name}.join": Call(lambda **given: _linked(as_sparse).join(**given), descent_join),
        f"{name}.read": Call(lambda **given: _descent(as_sparse).read(**given), descent_read),
    }


def postings() -> Arguments:
    return _points(True) | {"w": _levels(True)["w"], "threads": 2}


def postings_search() -> Arguments:
    rows = {name: value for name, value in _points(True).items() if name not in ("h", "d")}
    queries = rows | {"u": _levels(True)["u"], "own": np.full(N, -1, np.int32)}
    effort = {"chosen": np.arange(N, dtype=np.int32), "n_postings": 20, "rerank": 5}
    return queries | effort | _lists() | {"threads": 2}


def search_postings(**arguments: Any) -> None:
    _core.Postings(**postings()).search(**arguments)


def compare_chunks() -> Arguments:
    return _points(True) | _levels(True) | _chunks() | _lists() | {"threads": 2}


def rerank() -> Arguments:
    candidates = np.stack([np.roll(np.arange(N), s) for s in range(1, CANDIDATES + 1)], axis=1)
    found = {"candidates": candidates.astype(np.int32), "estimates": np.zeros((N, CANDIDATES))}
    return _points(False) | _levels(False) | found | {"is_bound": True} | _lists() | {"threads": 2}


def _both(run: Callable[..., Any], arguments: Callable[[bool], Arguments]) -> dict[str, Call]:
    """The dense and the sparse form of one function."""
    name = run.__name__
    return {
        f"{name} dense": Call(run, lambda: arguments(False)),
        f"{name} sparse": Call(run, lambda: arguments(True)),
    }


CALLS: dict[str, Call] = {
    **_both(_core.anchor_steal, anchor_steal),
    **_both(_core.anchor_grow, anchor_grow),
    "coarsest_dense": Call(_core.coarsest_dense, lambda: coarsest(False)),
    "coarsest_sparse": Call(_core.coarsest_sparse, lambda: coarsest(True)),
    "pair_dots_dense": Call(_core.pair_dots_dense, pair_dots_dense),
    "pair_dots_sparse": Call(_core.pair_dots_sparse, pair_dots_sparse),
    "node_sums": Call(_core.node_sums, node_sums),
    "path_sums": Call(_core.path_sums, path_sums),
    "curve_coarsest": Call(_core.curve_coarsest, curve_coarsest),
    "curve_blocks": Call(_core.curve_blocks, curve_blocks),
    "optimum_coarsest": Call(_core.optimum_coarsest, optimum_coarsest),
    "optimum_blocks": Call(_core.optimum_blocks, optimum_blocks),
    "CoarsestProduct": Call(_core.CoarsestProduct, coarsest_product),
    "weigh_lists": Call(_core.weigh_lists, weigh_lists),
    "linked_parts": Call(_core.linked_parts, linked_parts),
    "Links": Call(_core.Links, links),
    "CoarsestProduct.apply": Call(apply_coarsest, lambda: columns() | {"transpose": True}),
    "CoarsestProduct.symmetric": Call(apply_symmetric, lambda: columns() | {"transpose": True}),
    "walk_product": Call(_core.walk_product, walk_product),
    "walk_product of a tree": Call(_core.walk_product, far_product),
    "walk_step": Call(_core.walk_step, walk_step),
    "Links.mean": Call(links_mean, lambda: {"threads": 2}),
    "column_dots": Call(_core.column_dots, column_dots),
    "conjugate_step": Call(_core.conjugate_step, conjugate_step),
    "take_rows": Call(_core.take_rows, take_rows),
    "put_rows": Call(_core.put_rows, put_rows),
    "cut_below_zero": Call(_core.cut_below_zero, cut_below_zero),
    "count_classes": Call(_core.count_classes, count_classes),
    "distribute_rows": Call(_core.distribute_rows, distribute_rows),
    "blend_rows": Call(_core.blend_rows, blend_rows),
    "product_blocks": Call(_core.product_blocks, product_blocks),
    "product_sparse": Call(_core.product_sparse, product_sparse),
    "spread_points": Call(_core.spread_points, spread_points),
    "read_potential": Call(_core.read_potential, read_potential),
    "move_points": Call(_core.move_points, move_points),
    "find_regions": Call(_core.find_regions, find_regions),
    **_both(_core.split_levels, split_levels),
    **_both(_core.ward_chunks, ward_chunks),
    "apply_merges": Call(_core.apply_merges, apply_merges),
    "tree_depth": Call(_core.tree_depth, tree_depth),
    "pre_order": Call(_core.pre_order, pre_order),
    "dense_group_means": Call(_core.dense_group_means, dense_group_means),
    "group_means": Call(_core.group_means, group_means),
    "InvertedLists": Call(_core.InvertedLists, inverted_lists),
    "InvertedLists.search": Call(search_lists, lists_search),
    "InvertedLists.candidates": Call(list_candidates, lists_candidates),
    "DenseDescent": Call(_core.DenseDescent, dense_descent),
    **_descent_calls("DenseDescent", False),
    "SparseDescent": Call(_core.SparseDescent, sparse_descent),
    **_descent_calls("SparseDescent", True),
    "Postings": Call(_core.Postings, postings),
    "Postings.search": Call(search_postings, postings_search),
    "compare_chunks": Call(_core.compare_chunks, compare_chunks),
    "rerank": Call(_core.rerank, rerank),
}
