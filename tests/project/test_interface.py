"""The public names and their parameters are those of the reference's table, docs/reference/interface.md."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import scale

import bvdt
from bvdt._support import defaults
from bvdt.documents.settings import WalkSettings, propagation
from bvdt.lifting import lift

pytest.importorskip("distributed")  # of bvdt.dask, whose defaults are compared

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "interface.md"
ROWS = dict(re.findall(r"^\| `bvdt\.([\w.]+)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def parameters(found: object) -> str:
    """``(X, divergence='gid', *, n_neighbors=0)`` without annotations."""
    signature = inspect.signature(found)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def test_the_names_are_those_of_the_table_and_no_others():
    top = {name for name in ROWS if "." not in name}
    assert top == set(bvdt.__all__) == set(dir(bvdt))


@pytest.mark.parametrize("name", [name for name, cell in ROWS.items() if cell.startswith("`")])
def test_parameters_and_defaults_are_those_of_the_table(name):
    found = bvdt
    for part in name.split("."):
        found = getattr(found, part)
    assert f"`{parameters(found)}`" == ROWS[name]


ENTRIES = {
    "labels": bvdt.LabelPropagation,
    "embedding": bvdt.SpectralEmbedding,
    "clusters": bvdt.SpectralClustering,
    "map": bvdt.Map,
    "walk": bvdt.transition_matrix,
    "exact": bvdt.exact_transition_matrix,
    "Dask labels": bvdt.dask.LabelPropagation,
    "Dask walk": bvdt.dask.transition_matrix,
    "lift": lift,
}
SHARED = {
    "divergence": defaults.DIVERGENCE,
    "n_neighbors": defaults.N_NEIGHBORS,
    "n_trees": defaults.N_TREES,
    "alpha": defaults.ALPHA,
    "blend": defaults.BLEND,
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_point_has_the_same_defaults(entry):
    """But for the paper's walk, one tree alone."""
    found = inspect.signature(ENTRIES[entry]).parameters
    for name, value in SHARED.items():
        if name in found and not (name == "n_neighbors" and "walk" in entry):
            assert found[name].default == value, name


@pytest.mark.parametrize("kind", ["text", "columns"])
def test_the_shell_has_the_defaults_of_python(kind):
    features = SimpleNamespace(kind=kind, scale="tfidf" if kind == "text" else "standard")
    shell = propagation(features, WalkSettings()).get_params()
    python = (bvdt.text_pipeline("text")[-1] if kind == "text" else bvdt.LabelPropagation()).get_params()
    shell["divergence"] = shell["divergence"].name
    assert {name: shell[name] for name in SHARED} == {name: python[name] for name in SHARED}


def counts() -> tuple[sparse.csr_array, np.ndarray]:
    corpus = bvdt.datasets.make_documents(200, n_classes=3, random_state=0)
    return corpus.counts, corpus.labels


FIRST = {
    "digits": lambda: load_digits(return_X_y=True),
    "standardized": lambda: (scale(load_breast_cancer().data), load_breast_cancer().target),
    "counts": counts,
    "tf-idf": lambda: (TfidfTransformer().fit_transform(counts()[0]), counts()[1]),
    "float32": lambda: (load_wine().data.astype(np.float32), load_wine().target),
}


@pytest.mark.parametrize("kind", FIRST)
def test_any_finite_numbers_fit_with_the_defaults(kind):
    X, y = FIRST[kind]()
    few = np.where(np.random.default_rng(0).random(len(y)) < 0.1, y, -1)
    found = bvdt.LabelPropagation().fit(X, few)
    assert found.transduction_.shape == y.shape
    bvdt.Map().fit(X), bvdt.SpectralEmbedding().fit(X), bvdt.transition_matrix(X)
