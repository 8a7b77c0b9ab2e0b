"""A user's sparse data: broken indptr, indices and values in every format and call."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

import bvdt
from fuzz.damage import ArrayEdit, array_edits, damaged_arrays
from fuzz.engine import Target
from fuzz.walks import check_rows, check_walk, may_refuse

DIVERGENCES = ("squared_euclidean", "gid", "kl", "logistic", "itakura_saito")
CALLS = ("build", "n_neighbors", "anchor", "exact", "extend", "nearest", "fit", "predict")
PARTS = ("data", "indices", "indptr")


@dataclass(frozen=True)
class Broken:
    """A sound matrix, what is done to its arrays, and the call that is given it."""

    seed: int
    shape: tuple[int, int]
    density: float
    format: str
    wide: bool  # 64-bit indices
    claims: bool  # to be sorted, without duplicates
    edits: list[ArrayEdit]
    divergence: str
    call: str


def matrix(recipe: Broken) -> Any:
    """The matrix as the user holds it."""
    rng = np.random.default_rng(recipe.seed)
    dense = rng.gamma(0.7, size=recipe.shape) * (rng.random(recipe.shape) < recipe.density)
    dense = _inside(dense, recipe.divergence)
    X = getattr(sparse, f"{recipe.format}_array")(dense)
    if recipe.format == "coo":
        parts = {"row": X.coords[0], "col": X.coords[1], "data": X.data}
        parts = {**parts, **damaged_arrays(parts, recipe.edits)}
        X.data, X.coords = parts["data"], (parts["row"], parts["col"])
        return X
    index = np.int64 if recipe.wide else np.int32
    parts = {"data": X.data, "indices": X.indices.astype(index), "indptr": X.indptr.astype(index)}
    parts = {**parts, **damaged_arrays(parts, recipe.edits)}
    for name in PARTS:
        setattr(X, name, parts[name])
    if recipe.claims and recipe.format != "bsr":
        X.has_sorted_indices = X.has_canonical_format = True
    return X


def _inside(dense: Any, divergence: str) -> Any:
    """The points, moved into the domain."""
    if divergence == "logistic":
        return (dense > 0).astype(float)
    if divergence == "kl":
        dense[:, 0] += 0.1
        return dense / dense.sum(axis=1, keepdims=True)
    return dense + 0.01 if divergence == "itakura_saito" else dense


@cache
def _fitted(divergence: str, n_features: int) -> Any:
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(30, n_features)) * (rng.random((30, n_features)) < 0.6)
    model = bvdt.LabelPropagation(divergence, random_state=0)
    return model.fit(sparse.csr_array(_inside(X, divergence)), np.arange(30) % 2)


def attempt(recipe: Broken, folder: Path) -> None:
    X, divergence = matrix(recipe), recipe.divergence
    if recipe.call in ("extend", "nearest", "predict"):
        _new_points(recipe, X)
        return
    n_points, made = X.shape[0], {"random_state": 0, "n_jobs": 2}
    with may_refuse():
        if recipe.call == "exact":
            check_rows(bvdt.exact_transition_matrix(X, divergence), "the exact matrix")
            return
        if recipe.call == "fit":
            fitted = bvdt.LabelPropagation(divergence, random_state=0).fit(X, np.arange(n_points) % 2)
            check_rows(fitted.label_distributions_, "the labels")
            return
        options = {"n_neighbors": {"n_neighbors": 2}, "anchor": {"tree": "anchor"}}.get(recipe.call, {})
        op = bvdt.transition_matrix(X, divergence, **made, **options)
    check_walk(op)


def _new_points(recipe: Broken, X: Any) -> None:
    model = _fitted(recipe.divergence, recipe.shape[1])
    with may_refuse():
        if recipe.call == "predict":
            check_rows(model.predict_proba(X), "the prediction")
        elif recipe.call == "nearest":
            model.operator_.nearest(X, 3)
        else:
            check_rows(model.operator_.extend(X).toarray(), "the walk of new points")


CSR = Target(
    "csr",
    st.builds(
        Broken,
        st.integers(0, 2**32 - 1),
        st.tuples(st.integers(2, 30), st.integers(1, 40)),
        st.sampled_from([0.05, 0.3, 0.7, 1.0]),
        st.sampled_from(["csr", "csr", "csr", "csc", "bsr", "coo"]),
        st.booleans(),
        st.booleans(),
        st.lists(array_edits.filter(lambda edit: edit.how not in ("drop", "shape")), max_size=3),
        st.sampled_from(DIVERGENCES),
        st.sampled_from(CALLS),
    ),
    attempt,
)
