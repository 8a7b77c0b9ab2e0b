"""Tables, texts and workers that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is in the extra dask")

import dask.bag as db

import bvdt.dask as bd
from bvdt.dask.executor import check_workers

LIMIT = {"memory_limit": "64MiB", "random_state": 0}


def test_texts_are_hashed_counts():
    words = {"sport": "ball goal team", "money": "bank stock price"}
    texts = [f"{words['sport' if i % 2 else 'money']} number {i % 7}" for i in range(60)]
    X = bd.text_features(db.from_sequence(texts, npartitions=3), n_features=256)
    assert X.shape == (60, 256)
    y = np.full(60, -1)
    y[:4] = [0, 1, 0, 1]
    model = bd.LabelPropagation("gid", n_neighbors=5, **LIMIT).fit(X, y)
    assert np.array_equal(model.transduction_.compute(scheduler="synchronous"), np.arange(60) % 2)
    with pytest.raises(TypeError, match="needs a Dask bag or Series"):
        bd.text_features(texts)


def test_frames_of_numbers():
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    given = frames.from_pandas(table, npartitions=3)
    op = bd.transition_matrix(given, "squared_euclidean", **LIMIT)
    same = bd.transition_matrix(table.to_numpy(), "squared_euclidean", **LIMIT)
    assert np.array_equal(op.q, same.q)
    with pytest.raises(TypeError, match="columns of numbers; column 'd'"):
        bd.transition_matrix(given.assign(d="x"), "squared_euclidean", **LIMIT)


@pytest.mark.slow
def test_another_version_on_a_worker_is_named(client, monkeypatch):
    monkeypatch.setattr("bvdt.dask.executor.this_version", lambda: "99.0")
    with pytest.raises(RuntimeError, match=r"needs bvdt 99.0 on every worker; tcp://\S+ has "):
        check_workers(client)
