"""Model files: arrays, header and bytes changed; refused by name, or what is loaded is a walk."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

import bvdt
from bvdt import divergences
from bvdt.documents.features import learn_features
from bvdt.documents.files import Documents
from bvdt.documents.model import Model, load_model, save_model
from fuzz.damage import (
    ArrayEdit,
    ByteEdit,
    JsonEdit,
    array_edits,
    byte_edits,
    damaged_arrays,
    damaged_bytes,
    damaged_json,
    json_edits,
)
from fuzz.engine import Refused, Target
from fuzz.walks import check_rows, check_walk, may_refuse

N, D = 40, 6


@dataclass(frozen=True)
class Tampered:
    """A sound file and what is done to it."""

    kind: str
    arrays: list[ArrayEdit]
    header: list[JsonEdit]
    bytes: list[ByteEdit]


def _points() -> Any:
    return np.random.default_rng(0).gamma(1.0, size=(N, D)) + 0.01


def _sparse_points() -> Any:
    return sparse.csr_array(_points() * (np.random.default_rng(1).random((N, D)) < 0.5))


def _operator(kind: str) -> Any:
    if kind == "mahalanobis":
        cov = np.eye(D) + 0.1
        return bvdt.transition_matrix(_points(), divergences.Mahalanobis(covariance=cov), random_state=0)
    X = _sparse_points() if "sparse" in kind else _points()
    divergence = "squared_euclidean" if "plain" in kind else "gid"
    options = {"n_trees": 2, "n_neighbors": 4} if "forest" in kind else {}
    op = bvdt.transition_matrix(X, divergence, random_state=0, **options)
    op = op.refine(op.n_blocks + 50) if "refined" in kind else op
    return op.astype(np.float32) if "single" in kind else op


def _texts() -> Documents:
    words = [["apple", "pie", "oven"], ["engine", "wheel", "road"]]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words[i % 2], 4)) for i in range(N)]
    return Documents(Path("docs.csv"), [str(i) for i in range(N)], texts)


def _save_documents(path: Path, prior: str | None) -> None:
    documents = _texts()
    features, X = learn_features(documents)
    labels = np.where(np.arange(N) < 20, np.arange(N) % 2, -1)
    fitted = bvdt.LabelPropagation("squared_euclidean", random_state=0, blend=prior).fit(X, labels)
    save_model(path, Model(features, fitted, ["food", "cars"]))


KINDS = (
    "tree plain",
    "tree sparse",
    "tree single refined",
    "forest plain",
    "forest sparse refined",
    "mahalanobis",
    "documents",
    "documents with a blend",
)


@cache
def sound(kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of a file of that kind."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sound.bvdt"
        if kind.startswith("documents"):
            _save_documents(path, "linear" if "blend" in kind else None)
        else:
            _operator(kind).save(path)
        with np.load(path) as stored:
            arrays = {name: stored[name] for name in stored.files}
    return json.loads(arrays.pop("header").tobytes()), arrays


def write(recipe: Tampered, path: Path) -> None:
    """The tampered file."""
    header, arrays = sound(recipe.kind)
    text = json.dumps(damaged_json(header, recipe.header))
    arrays = damaged_arrays(arrays, recipe.arrays)
    packed = io.BytesIO()
    np.savez(packed, header=np.frombuffer(text.encode(), np.uint8), **arrays)
    path.write_bytes(damaged_bytes(packed.getvalue(), recipe.bytes))


def attempt(recipe: Tampered, folder: Path) -> None:
    path = folder / "m.bvdt"
    write(recipe, path)
    with may_refuse(path):
        op = bvdt.load(path)
    check_walk(op, _sparse_points()[:3] if "sparse" in recipe.kind else _points()[:3])
    if recipe.kind.startswith("documents"):
        with may_refuse(path):
            model = load_model(path)
        try:
            with may_refuse():
                predicted = model.predict_proba(_texts())
        except Refused:
            return
        check_rows(predicted, "the prediction")


_few = st.lists(array_edits, min_size=1, max_size=3)
MODELS = Target(
    "models",
    st.one_of(
        st.builds(Tampered, st.sampled_from(KINDS), _few, st.just([]), st.just([])),
        st.builds(
            Tampered,
            st.sampled_from(KINDS),
            st.just([]),
            st.lists(json_edits, min_size=1, max_size=3),
            st.just([]),
        ),
        st.builds(
            Tampered,
            st.sampled_from(KINDS),
            st.just([]),
            st.just([]),
            st.lists(byte_edits, min_size=1, max_size=4),
        ),
    ),
    attempt,
)
