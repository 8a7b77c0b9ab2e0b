"""Malformed arguments of every compiled function: refused in words, before anything is read or written.

Run under the sanitizers, a value that a check lets through by mistake would be seen.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from bvdt import _core
from helpers.binding_calls import CALLS, NODES, D, K, N, int32
from helpers.properties import examples

BIG, HUGE = 2**31 - 1, 2**62
# These take no argument.
NOT_COVERED = {"build_info", "InvertedLists.means", "Links.transposed"}


def put(place, value):
    """The array with one entry changed."""

    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


def repeated(array):
    """The last entry there twice."""
    return put(0, array[-1])(array)


def shorter(array):
    return array[:-1].copy()


def narrower(array):
    return np.ascontiguousarray(array[:, :-1])


def always(value):
    return lambda _: value


# Ways to spoil an argument; first those for all functions that take it.
COMMON = {
    "indptr": [put(0, 1), put(1, -1), put(2, HUGE), put(-1, 3), shorter, always(np.zeros(0, np.int64))],
    "indices": [put(0, -1), put(0, D), put(-1, BIG), shorter],
    "d": [always(-1), always(D - 1)],
    "h": [shorter],
    "size": [put(0, 5), put(1, 0), put(1, -3), put(1, BIG), put(-1, 2), put(-1, BIG), shorter],
    "parent": [put(1, -1), put(1, 1), put(NODES - 1, BIG), put(4, -BIG), shorter],
    "start": [put(0, -1), put(1, BIG), put(NODES - 1, N), shorter],
    "first": [put(0, 1), put(0, -1), put(1, HUGE), put(-1, HUGE), put(2, -5), shorter],
    "weight": [put(0, 0.0), put(1, -1.0), put(2, np.nan), put(3, np.inf), put(4, 1e300), shorter],
    "threads": [always(0), always(-1)],
}
ORDER = [put(0, -1), put(-1, N), put(5, BIG), shorter]
TWICE = [repeated]
BOUNDS = [put(0, -1), put(1, 0), put(1, HUGE), put(1, -HUGE), put(-1, N + 1), always(np.zeros(0, np.int64))]
LISTS = {"index": [shorter, always(np.zeros((N, 0), np.int32)), narrower], "divergence": [shorter, narrower]}
PER_POINT = {"u": [shorter], "w": [shorter]}
PER_NODE = {"U": [shorter], "W": [shorter], "out": [shorter]}
PAIRS = {"a": [put(0, -1), put(2, N), put(1, BIG), shorter], "b": [put(0, -1), put(2, N), shorter]}
STATE = {"points": [put(0, -1), put(3, N), put(-1, BIG), shorter], "distance": [shorter], "owner": [shorter]}
CSR_PAIRS = {
    f"{side}_{name}": COMMON[name] for side in ("x", "h") for name in ("indptr", "indices")
} | {"x": [shorter]}  # fmt: skip
BANDWIDTH = {"bandwidth": [always(0.0), always(-1.0), always(np.nan)], "mean_divergence": [shorter]}
SOLUTION = {"q": [shorter], "log_value": [shorter], "mass_below": [shorter]}
COLUMNS = {"v": [shorter, narrower], "out": [shorter, narrower]}
GROUPS = {"group": [put(0, -1), put(1, 3), put(-1, BIG), shorter]}
STEAL = STATE | {
    "owner": [put(0, -1), put(1, 1), put(-1, BIG), shorter],
    "pivot": [always(-1), always(N), always(HUGE)],
}
GROW = STATE | {
    "offsets": [put(0, -1), put(1, 0), put(-1, N + 1), put(1, HUGE), shorter],
    "first": [put(0, -1), put(0, 5), put(1, HUGE), shorter],
    "pivot_offsets": [put(0, -1), put(1, 0), put(-1, 6), put(1, HUGE), shorter],
    "grown": [shorter],
    "pivots": [shorter],
}
SPLIT = {
    "order": ORDER,
    "bounds": [*BOUNDS, put(0, 1), put(-1, N - 1)],
    "cap": [always(0), always(-HUGE)],
    "smallest_side": [put(0, -0.1), put(1, 0.6), put(1, np.nan), shorter],
    "seed": [shorter],
}
WARD = {"order": ORDER, "bounds": BOUNDS, "pairs": [shorter, narrower], "costs": [shorter]}
MESH = {
    "y": [narrower],
    "unit": [always(0.0), always(-1.0), always(np.nan), always(np.inf)],
    "low0": [always(np.nan)],
    "low1": [always(-np.inf)],
}
CUT = {"order": ORDER + TWICE, "bounds": [put(0, -1), *BOUNDS[2:]]}
FINITE = [put((0, 0), np.nan), put((1, 1), np.inf), put((-1, 0), -np.inf)]
DENSE = {name: [*FINITE, shorter, narrower] for name in ("x", "h")}
CUT_WHOLLY = {"order": ORDER + TWICE, "bounds": [*BOUNDS, put(0, 1), put(-1, N - 1), put(1, N)]}
GIVEN = {
    "given": [
        *(put((0, 0), -2), put((1, 1), N), put((-1, 2), BIG), shorter),
        *(always(np.zeros((N, 0), np.int32)), always(np.zeros((N, N + 1), np.int32))),
    ],
    "n_forward": [always(0), always(-HUGE)],
}
JOIN = {"first": [always(-1), always(N + 1), always(HUGE)], "last": [always(-1), always(N + 1), always(HUGE)]}
READ = {
    "chosen": [put(0, -1), put(1, N), put(-1, BIG), shorter],
    "index": [shorter, narrower],
    "estimate": [shorter, narrower],
}

OWN = {
    "anchor_steal dense": PER_POINT | STEAL,
    "anchor_steal sparse": PER_POINT | STEAL,
    "anchor_grow dense": PER_POINT | GROW,
    "anchor_grow sparse": PER_POINT | GROW,
    "coarsest_dense": PER_NODE | {"order": ORDER + TWICE, "x": [shorter, narrower]},
    "coarsest_sparse": PER_NODE | {"order": ORDER + TWICE},
    "pair_dots_dense": PAIRS | {"out": [shorter], "x": [narrower], "h": [narrower]},
    "pair_dots_sparse": PAIRS | {"out": [shorter]} | CSR_PAIRS,
    "node_sums": {"values": [shorter], "order": ORDER + TWICE},
    "path_sums": {"values": [shorter], "order": ORDER + TWICE},
    "curve_coarsest": BANDWIDTH,
    "curve_blocks": BANDWIDTH | {"cols": [put(0, -1), put(1, NODES), put(-1, BIG), shorter]},
    "optimum_coarsest": BANDWIDTH | SOLUTION,
    "optimum_blocks": BANDWIDTH | SOLUTION | {"cols": [put(0, -1), put(1, NODES), put(-1, BIG), shorter]},
    "CoarsestProduct": {
        "order": ORDER + TWICE,
        "q": [shorter],
        "subtree_points": [always(0), always(-1), always(HUGE), always(32_769)],
    },
    "weigh_lists": {
        "total": [always(-1), always(1 << 30)],
        "weights": [shorter, narrower],
        "cost": [shorter],
        "logs": [shorter],
    },
    "linked_parts": {
        "listed": [put((0, 0), -2), put((1, 2), N), put((2, 1), BIG)],
        "part": [shorter],
    },
    "Links": {
        "listed": [put((0, 0), -2), put((1, 2), N), put((2, 1), BIG), shorter],
        "weights": [put((0, 0), -1), put((1, 2), 1 << 30), shorter, narrower],
        "order": ORDER + TWICE,
    },
    "CoarsestProduct.apply": COLUMNS,
    "CoarsestProduct.symmetric": COLUMNS,
    "walk_product of a tree": COLUMNS | {"far": [always(None)]},
    "walk_product": COLUMNS
    | {name: [shorter] for name in ("near_in", "near_out", "far_in", "far_out")}
    | {"dots": [shorter, narrower]},
    "walk_step": COLUMNS
    | {name: [shorter] for name in ("by", "sums", "weights")}
    | {"row": [put(0, -2), put(1, 1), put(-1, BIG), shorter], "given": [narrower]},
    "Links.mean": {},
    "column_dots": {"b": [shorter, narrower], "out": [shorter]},
    "conjugate_step": {name: [shorter, narrower] for name in ("f", "r", "p", "ap")}
    | {name: [shorter] for name in ("step_size", "beta", "squares")},
    "take_rows": COLUMNS | {"order": ORDER},
    "put_rows": COLUMNS | {"order": ORDER, "factor": [shorter]},
    "cut_below_zero": {},
    "count_classes": {"divisor": [shorter], "count": [shorter]},
    "distribute_rows": {"divisor": [shorter], "prior": [shorter], "best": [shorter]},
    "blend_rows": {"order": ORDER, "change": [shorter], "total": [shorter]}
    | {name: [shorter, narrower] for name in ("step", "before", "given")},
    "product_blocks": COLUMNS
    | {"order": ORDER, "other": [put(0, -1), put(1, NODES), put(-1, BIG), shorter], "q": [shorter]},
    "product_sparse": {"value": [shorter], "v": [shorter, narrower], "out": [shorter, narrower]},
    "spread_points": MESH | {"mass": [always(np.zeros((3, 9), np.float32))]},
    "read_potential": MESH
    | {"potential": [always(np.zeros((9, 3), np.float32))], "out": [shorter, narrower]},
    "move_points": {
        "value": [shorter],
        "others": [shorter, narrower],
        "y": [shorter, narrower],
        "potential": [shorter, narrower],
        "velocity": [shorter, narrower],
        "gain": [shorter, narrower],
        "moved": [shorter, narrower],
    },
    "find_regions": {
        "x": [narrower],
        "plane_x": [shorter, narrower],
        "plane_h": [shorter, narrower],
        "border": [shorter],
        "child": [put((0, 0), 0), put((1, 1), 1), put((2, 0), 3), put((0, 1), BIG), shorter, narrower],
        "region": [shorter],
    },
    "split_levels dense": SPLIT,
    "split_levels sparse": SPLIT,
    "ward_chunks dense": WARD
    | {"near": [put((0, 0), -2), put((1, 1), N), put((-1, 0), BIG), shorter], "limit": [shorter]},
    "ward_chunks sparse": WARD,
    "apply_merges": {
        "pairs": [
            *(put((0, 0), -1), put((1, 1), N), put((2, 1), 1), put((2, 0), 2), put((0, 1), 0)),
            *(put((2, 1), 4), put((3, 0), 3), shorter, narrower),
        ],
        "costs": [shorter],
        "order": [*ORDER, repeated],
        "bounds": [*BOUNDS, put(0, 1), put(-1, N - 1)],
        "count": [always(0), always(-HUGE)],
        "linkage": [shorter, narrower],
        "group": [shorter],
        "cluster": [shorter, put(0, -1), put(1, N)],
        "first_new": [always(-1), always(BIG)],
    },
    "tree_depth": {},
    "pre_order": {
        "linkage": [put((0, 0), bad) for bad in (-1, 1, 4, BIG)] + [put((1, 0), 0), put((2, 0), 6), narrower],
        "size": [shorter, always(int32(0, 0, 0, 0, 0))],
        "order": [shorter],
        **{name: [shorter] for name in ("left", "right", "parent", "start")},
    },
    "dense_group_means": GROUPS
    | {"means": [always(np.zeros((0, D))), always(np.zeros((N + 1, D))), narrower], "total": [shorter]},
    "group_means": GROUPS | {"n_groups": [always(0), always(-1), always(2), always(N + 1), always(HUGE)]},
    "InvertedLists": PER_POINT | CUT_WHOLLY | DENSE,
    "InvertedLists.search": LISTS
    | CUT
    | DENSE
    | {"u": [shorter], "own": [shorter]}
    | {"assigned": [put(0, -1), put(1, 2), put(0, BIG), shorter]}
    | {"n_candidates": [always(4), always(0), always(-HUGE)]}
    | {"rerank": [always(K - 1), always(0), always(-HUGE), always(6), always(HUGE)]}
    | {f"exact_{name}": [shorter, narrower] for name in ("x", "h")}
    | {f"exact_{name}": [shorter] for name in ("u", "w")},
    "InvertedLists.candidates": {
        "first": [always(-1), always(3), always(HUGE)],
        "last": [always(-1), always(3), always(HUGE)],
        "n_candidates": [always(4), always(0), always(-HUGE)],
        "index": [shorter, always(np.zeros((N, 0), np.int32)), always(np.zeros((N, 6), np.int32))],
    },
    "DenseDescent": GIVEN,
    "DenseDescent.link": {},
    "DenseDescent.join": JOIN,
    "DenseDescent.read": READ,
    "SparseDescent": PER_POINT | GIVEN | {"order": ORDER + TWICE},
    "SparseDescent.link": {},
    "SparseDescent.join": JOIN,
    "SparseDescent.read": READ,
    "Postings": {"w": [shorter]},
    "Postings.search": LISTS
    | {"x": [shorter], "u": [shorter], "own": [shorter], "chosen": ORDER[:3] + TWICE}
    | {"n_postings": [always(0), always(-HUGE)], "rerank": [always(0), always(-HUGE)]},
    "compare_chunks": PER_POINT | LISTS | CUT,
    "rerank": PER_POINT
    | LISTS
    | {"candidates": [put((0, 0), -2), put((1, 1), N), put((-1, 1), BIG), shorter]}
    | {"estimates": [shorter, narrower], "x": [shorter, narrower], "h": [narrower, shorter]},
}  # fmt: skip
SHARED_NAMES = {"first": ("curve_blocks", "optimum_blocks", "product_blocks")}  # elsewhere it means another


def spoilings(name):
    """(argument, change) of a call: its own, and those that all calls with such an argument share."""
    own = OWN[name]
    arguments = CALLS[name].arguments()
    shared = {
        argument: changes
        for argument, changes in COMMON.items()
        if argument in arguments and name in SHARED_NAMES.get(argument, CALLS)
    }
    if name == "pre_order":
        shared = {}  # all are filled there
    return [(argument, change) for argument, changes in (shared | own).items() for change in changes]


CASES = [(name, *spoiling) for name in CALLS for spoiling in spoilings(name)]
IDS = [f"{name}-{argument}-{i}" for i, (name, argument, _) in enumerate(CASES)]


@pytest.mark.kernel
@pytest.mark.parametrize("name", CALLS)
def test_the_calls_are_valid_as_they_are(name):
    CALLS[name].run(**CALLS[name].arguments())


@pytest.mark.slow
@pytest.mark.kernel
@pytest.mark.parametrize(("name", "argument", "change"), CASES, ids=IDS)
def test_malformed_arguments_are_refused_before_anything_is_written(name, argument, change):
    arguments = CALLS[name].arguments()
    arguments[argument] = change(arguments[argument])
    before = {key: np.copy(value) for key, value in arguments.items() if isinstance(value, np.ndarray)}
    with pytest.raises(ValueError, match=r"need|is not|names an item"):
        CALLS[name].run(**arguments)
    for key, value in before.items():
        assert_array_equal(arguments[key], value)


def public_names():
    """Functions of the compiled module, and methods of its classes."""
    for name, value in vars(_core).items():
        if name.startswith("_"):
            continue
        yield name
        if isinstance(value, type):
            yield from (f"{name}.{method}" for method in vars(value) if callable(getattr(value, method)))


def test_every_public_function_has_malformed_cases():
    covered = {name.split()[0] for name, *_ in CASES}
    public = {name for name in public_names() if "._" not in name}
    assert public - NOT_COVERED == covered
    with_both = {f"{name} {form}" for name in _core_overloads() for form in ("dense", "sparse")}
    assert with_both <= set(OWN)


def _core_overloads():
    """Functions with a dense and a sparse form, as their docstrings list them."""
    for name in public_names():
        text = getattr(getattr(_core, name, None), "__doc__", None) or ""
        forms = {"indptr" in line for line in text.splitlines() if line.startswith(f"{name}(")}
        if len(forms) == 2:
            yield name


INTEGERS = (-HUGE, -BIG - 1, -N, -2, -1, 0, 1, 2, N - 1, N, NODES - 1, NODES, BIG, HUGE)
FLOATS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e-320, 1e-30, 1e30, 1e308, -1e308)


def spoilable(kind):
    """(call, argument) of all array arguments of that kind of number."""
    for name, call in CALLS.items():
        for argument, value in call.arguments().items():
            if isinstance(value, np.ndarray) and np.issubdtype(value.dtype, kind) and value.size:
                yield name, argument


def call_with(name, argument, place, value):
    arguments = CALLS[name].arguments()
    array = arguments[argument].reshape(-1)
    limits = np.iinfo(array.dtype) if array.dtype.kind == "i" else np.finfo(array.dtype)
    if array.dtype.kind == "i":
        value = max(limits.min, min(limits.max, value))
    array[place % array.size] = value
    try:
        CALLS[name].run(**arguments)
    except ValueError:
        return


@pytest.mark.kernel
@examples(1500)
@given(st.sampled_from(sorted(spoilable(np.integer))), st.integers(0, 10**6), st.sampled_from(INTEGERS))
def test_one_wrong_integer_is_refused_or_harmless(call, place, value):
    call_with(*call, place, value)


@pytest.mark.kernel
@examples(700)
@given(st.sampled_from(sorted(spoilable(np.floating))), st.integers(0, 10**6), st.sampled_from(FLOATS))
def test_one_wrong_number_is_refused_or_harmless(call, place, value):
    with np.errstate(over="ignore"):  # what is too large for single precision becomes infinite
        call_with(*call, place, value)


WRITTEN = {"out", "log_value", "mass_below", "costs", "means", "distance", "divergence", "estimate"} | {
    *("owner", "pivots", "grown", "index", "cluster", "squares", "cost", "logs", "dots")
}


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("name", "argument"),
    [(name, argument) for name in CALLS for argument in sorted(WRITTEN & set(CALLS[name].arguments()))],
)
def test_arrays_to_write_to_are_not_converted(name, argument):
    """An array of another type would be copied, and what is written into the copy be lost."""
    arguments = CALLS[name].arguments()
    is_integer = arguments[argument].dtype.kind == "i"
    arguments[argument] = arguments[argument].astype(np.int64 if is_integer else np.longdouble)
    with pytest.raises(TypeError):
        CALLS[name].run(**arguments)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "name",
    [
        *("anchor_grow sparse", "coarsest_sparse", "pair_dots_sparse", "split_levels sparse", "group_means"),
        *("ward_chunks sparse", "compare_chunks", "SparseDescent", "Postings"),
    ],
)
def test_memory_that_is_not_there_is_an_exception(name, threads):
    """Scratch of the size of d, asked for by each thread: MemoryError, not the end of the process."""
    with pytest.raises(MemoryError):
        CALLS[name].run(**CALLS[name].arguments() | {"d": 2**58, "threads": threads})


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("InvertedLists.search", {"rerank": 2**63 - 2, "n_candidates": 2**63 - 1}),
        ("InvertedLists.candidates", {"n_candidates": 2**63 - 1}),
        ("DenseDescent", {"n_forward": 2**63 - 1}),
        ("SparseDescent", {"n_forward": 2**63 - 1}),
        ("Postings.search", {"n_postings": 2**63 - 1, "rerank": 2**63 - 1}),
    ],
)
def test_more_than_there_is_may_be_asked_for(name, most):
    CALLS[name].run(**CALLS[name].arguments() | most)


def test_build_info():
    info = _core.build_info()
    assert set(info) == {"version", "compiler", "openmp", "openmp_version", "simd", "max_threads"}
    assert info["simd"] in ("baseline", "avx2", "avx512")
    assert info["max_threads"] >= 1
    assert info["openmp"] == bool(info["openmp_version"])
