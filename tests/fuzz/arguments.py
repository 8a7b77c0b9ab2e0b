"""Arguments of operators, walks, trees and estimators: refused in words, or the answer is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import bvdt
from bvdt import walks
from bvdt.blocks import BlockPartition
from fuzz.damage import ArrayEdit, array_edits, damaged_arrays, numbers
from fuzz.engine import Target
from fuzz.walks import check_rows, check_walk, may_refuse, require

N, D = 30, 4
ODD = [None, True, "auto", "two", "", [], [1, 2], {}, 1j, b"x", (), object]
NAMES = [
    "squared_euclidean",
    "gid",
    "kl",
    "logistic",
    "itakura_saito",
    "mahalanobis",
    "no such",
    "ward",
    "anchor",
]
WORDS = ["auto", "learn", "background", "uniform", "bound", "walk", "spread", "poisson", "linear"]
small = st.integers(-3, 60)
values = st.one_of(small, numbers, st.sampled_from(ODD), st.sampled_from(NAMES), st.sampled_from(WORDS))


@dataclass(frozen=True)
class Call:
    """A function, one of the data, and named arguments."""

    function: str
    data: str
    arguments: dict[str, Any]
    edits: list[ArrayEdit]


def _data(name: str) -> Any:
    X = np.random.default_rng(0).gamma(1.0, size=(N, D)) + 0.01
    kinds: dict[str, Callable[[], Any]] = {
        "plain": lambda: X,
        "lists": lambda: X.tolist(),
        "integers": lambda: np.ceil(X).astype(np.int16),
        "single": lambda: X.astype(np.float32),
        "columns first": lambda: np.asfortranarray(X),
        "every other": lambda: np.repeat(X, 2, axis=1)[:, ::2],
        "objects": lambda: X.astype(object),
        "equal": lambda: np.ones((N, D)),
        "zeros": lambda: np.zeros((N, D)),
        "two": lambda: X[:2],
        "one": lambda: X[:1],
        "none": lambda: X[:0],
        "no features": lambda: X[:, :0],
        "huge": lambda: 1e150 * X,
        "tiny": lambda: 1e-300 * X,
        "complex": lambda: X + 1j,
        "one axis": lambda: X[0],
        "three axes": lambda: X[None],
        "text": lambda: np.array([["a", "b"]] * N),
        "NaN": lambda: np.where(X > 2, np.nan, X),
        "masked": lambda: np.ma.masked_greater(X, 2),
    }
    return kinds[name]()


DATA = (
    "plain", "plain", "plain", "lists", "integers", "single", "columns first", "every other", "objects",
    "equal", "zeros", "two", "one", "none", "no features", "huge", "tiny", "complex", "one axis",
    "three axes", "text", "NaN", "masked",
)  # fmt: skip


@cache
def _operators() -> tuple[Any, Any]:
    X = _data("plain")
    one = bvdt.transition_matrix(X, random_state=0)
    return one, bvdt.transition_matrix(X, n_trees=2, n_neighbors=3, random_state=0)


def _build(call: Call) -> None:
    with may_refuse():
        op = bvdt.transition_matrix(_data(call.data), **call.arguments)
    check_walk(op)


def _fit(call: Call) -> None:
    X = _data(call.data)
    with may_refuse():
        fitted = bvdt.LabelPropagation(**call.arguments).fit(X, np.arange(len(X)) % 3 - 1)
        proba = fitted.predict_proba(X)
    check_rows(fitted.label_distributions_, "the labels")
    check_rows(proba, "the prediction")


def _method(name: str) -> Callable[[Call], None]:
    def run(call: Call) -> None:
        op = _operators()[len(call.edits) % 2]
        given = dict(call.arguments)
        with may_refuse():
            if name in ("extend", "nearest"):
                given["X_new"] = _data(call.data)
            found = getattr(op, name)(**given)
        if name in ("refine", "add_trees", "astype"):
            check_walk(found)
        elif name == "extend":
            check_rows(found.toarray(), "the walk of new points")
        elif name == "row":
            check_rows(found[None], "a row")

    return run


def _product(call: Call) -> None:
    op = _operators()[len(call.edits) % 2]
    V = np.random.default_rng(0).random((N, 3))
    V = damaged_arrays({"V": V}, [e for e in call.edits if e.how != "drop"])["V"]
    finite = (
        V.dtype.kind in "biuf"
        and np.isfinite(V.astype(float)).all()
        and np.abs(V.astype(float)).max(initial=0) < 1e300
    )
    for transpose in (False, True):
        with may_refuse():
            out = (op.T if transpose else op) @ V
        require(out.shape == V.shape, f"a product of shape {out.shape} for {V.shape}")
        if finite:
            require(np.isfinite(out).all(), "a product that is not finite")


def _tree(call: Call) -> None:
    good = _operators()[0].tree
    names = ("left", "right", "parent", "size", "start", "order")
    arrays = {name: np.array(getattr(good, name)) for name in names}
    arrays = {**arrays, **damaged_arrays(arrays, call.edits)}
    with may_refuse():
        op = bvdt.operators.TransitionOperator(_operators()[0].lifted, bvdt.Tree(**arrays))
    check_walk(op)


def _partition(call: Call) -> None:
    op = _operators()[0].refine(100)
    arrays = {"rows": np.array(op.partition.rows), "cols": np.array(op.partition.cols)}
    arrays = {**arrays, **damaged_arrays(arrays, call.edits)}
    with may_refuse():
        made = BlockPartition(arrays["rows"], arrays["cols"], op.tree.n_nodes)
        op = bvdt.operators.TransitionOperator(op.lifted, op.tree, partition=made)
    check_walk(op)


def _linkage(call: Call) -> None:
    Z = damaged_arrays({"Z": _operators()[0].tree.to_linkage()}, [e for e in call.edits if e.how != "drop"])[
        "Z"
    ]
    with may_refuse():
        op = bvdt.transition_matrix(_data("plain"), tree=bvdt.Tree.from_linkage(Z))
    check_walk(op)


def _pagerank(call: Call) -> None:
    with may_refuse():
        found = bvdt.walks.pagerank(_operators()[1], **call.arguments)
    check_rows(np.asarray(found)[None], "the ranks")


def _labels(call: Call) -> None:
    with may_refuse():
        found = walks.propagate_labels(_operators()[1], np.arange(N) % 3 - 1, **call.arguments)
    require(np.shape(found)[0] == N, f"labels of shape {np.shape(found)}")


PARAMETERS: dict[str, tuple[Callable[[Call], None], dict[str, st.SearchStrategy[Any]]]] = {
    "build": (
        _build,
        {
            "divergence": st.sampled_from(NAMES[:7]),
            "bandwidth": values,
            "smoothing": values,
            "tree": values,
            "n_blocks": values,
            "n_trees": st.one_of(st.integers(-2, 4), st.sampled_from(ODD)),
            "n_neighbors": values,
            "weights": values,
            "random_state": values,
            "n_jobs": values,
        },
    ),
    "fit": (
        _fit,
        {
            "divergence": st.sampled_from(NAMES[:7]),
            "alpha": values,
            "method": values,
            "max_iter": st.one_of(small, st.sampled_from(ODD)),
            "tol": values,
            "bandwidth": values,
            "blend": values,
            "n_neighbors": values,
            "random_state": values,
        },
    ),
    "row": (_method("row"), {"i": values}),
    "refine": (_method("refine"), {"n_blocks": values}),
    "quality": (_method("quality"), {"n_rows": values, "random_state": values}),
    "astype": (_method("astype"), {"dtype": values}),
    "add_trees": (_method("add_trees"), {"n_trees": st.one_of(st.integers(-2, 3), st.sampled_from(ODD))}),
    "extend": (_method("extend"), {}),
    "nearest": (_method("nearest"), {"k": values}),
    "product": (_product, {}),
    "Tree": (_tree, {}),
    "BlockPartition": (_partition, {}),
    "linkage": (_linkage, {}),
    "pagerank": (_pagerank, {"alpha": values, "tol": values}),
    "propagate_labels": (_labels, {"alpha": values, "method": values}),
}
_REQUIRED = {"row": ("i",), "refine": ("n_blocks",), "astype": ("dtype",), "add_trees": ("n_trees",)}


def _arguments(function: str) -> st.SearchStrategy[dict[str, Any]]:
    named = PARAMETERS[function][1]
    needed = {name: named[name] for name in _REQUIRED.get(function, ())}
    rest = {name: strategy for name, strategy in named.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=rest)


def attempt(call: Call, folder: Path) -> None:
    PARAMETERS[call.function][0](call)


ARGUMENTS = Target(
    "arguments",
    st.sampled_from(sorted(PARAMETERS)).flatmap(
        lambda function: st.builds(
            Call,
            st.just(function),
            st.sampled_from(DATA),
            _arguments(function),
            st.lists(array_edits, max_size=3),
        )
    ),
    attempt,
)
