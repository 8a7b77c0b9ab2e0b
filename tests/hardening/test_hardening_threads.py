"""Many threads read the same fitted objects: answers are those of one thread, to the byte."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bvdt

METRIC = "squared_euclidean"
THREADS = 32
ROUNDS = int(os.environ.get("BVDT_THREAD_ROUNDS", 3))


def points(n=3300, d=6):
    rng = np.random.default_rng(0)
    return 4 * rng.normal(size=(12, d))[rng.integers(12, size=n)] + rng.normal(size=(n, d))


def fitted_objects(X):
    y = np.full(len(X), -1)
    y[:60] = np.arange(60) % 3
    few = X[:400]
    walk = bvdt.LabelPropagation(METRIC, n_neighbors=6, random_state=0)
    return {
        "nearest": bvdt.NearestNeighbors(5, random_state=0).fit(X),
        "op": bvdt.transition_matrix(X, METRIC, n_neighbors=5, n_trees=2, random_state=0),
        "tree": bvdt.transition_matrix(X, METRIC, random_state=0),
        "walk": walk.fit(few, y[:400]),
        "blend": bvdt.LabelPropagation(METRIC, n_neighbors=6, random_state=0, blend="linear").fit(
            few, y[:400]
        ),
        "embedding": bvdt.SpectralEmbedding(2, divergence=METRIC, random_state=0).fit(few),
        "clusters": bvdt.SpectralClustering(3, divergence=METRIC, random_state=0).fit(few),
        "map": bvdt.Map(divergence=METRIC, random_state=0).fit(few),
        "graph": bvdt.KNeighborsTransformer(n_neighbors=5, random_state=0).fit(X),
    }


def calls(X):
    Q, V = X[5:25] + 0.1, np.random.default_rng(1).random((len(X), 3))
    return [
        lambda o: o["nearest"].kneighbors(),
        lambda o: o["nearest"].kneighbors(Q),
        lambda o: o["nearest"].kneighbors(Q, 7),
        lambda o: o["nearest"].kneighbors(n_neighbors=7),
        lambda o: o["nearest"].recall_ and [],
        lambda o: o["graph"].transform(Q).data,
        lambda o: o["op"] @ V,
        lambda o: o["op"].T @ V,
        lambda o: o["op"].mean_with_transpose(V),
        lambda o: o["op"].neighbors,
        lambda o: o["op"].nearest(Q, 3),
        lambda o: o["op"].extend(Q) @ V,
        lambda o: o["op"].row(7),
        lambda o: o["op"].quality(8, random_state=0)["kl"],
        lambda o: o["op"].add_trees(1) @ V,
        lambda o: o["tree"].refine(o["tree"].n_blocks + 50) @ V,
        lambda o: o["tree"].mean_with_transpose(V),
        lambda o: (o["tree"].mean_divergence, o["tree"].tree.parent, o["tree"].partition.q),
        lambda o: o["walk"].predict_proba(Q),
        lambda o: o["walk"].explain(300),
        lambda o: o["walk"].suggest(3),
        lambda o: o["blend"].predict_proba(Q),
        lambda o: o["blend"].hidden_labels(3).P,
        lambda o: o["embedding"].transform(Q),
        lambda o: o["clusters"].predict(Q),
        lambda o: o["map"].transform(Q),
    ]


def as_bytes(value):
    return [np.ascontiguousarray(v).tobytes() for v in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.slow
def test_32_threads_share_fitted_objects():
    X = points()
    asked = calls(X)
    alone = fitted_objects(X)
    expected = [as_bytes(ask(alone)) for ask in asked]
    for seed in range(ROUNDS):
        shared, start = fitted_objects(X), threading.Barrier(THREADS)

        def work(number, shared=shared, start=start, seed=seed):
            order = np.random.default_rng((seed, number)).permutation(len(asked))[:8]
            start.wait()
            return [(int(i), as_bytes(asked[i](shared))) for i in order]

        with ThreadPoolExecutor(THREADS) as pool:
            for answers in pool.map(work, range(THREADS)):
                assert [i for i, found in answers if found != expected[i]] == []


@pytest.mark.slow
def test_new_and_fitted_points_are_searched_at_once():
    """One of six threads without X: lists by links, while others search in the same cells."""
    X = points(66_000, 64)
    alone = bvdt.NearestNeighbors(5, random_state=0).fit(X)
    own, new = as_bytes(alone.kneighbors()), as_bytes(alone.kneighbors(X[:500] + 0.1))
    shared = bvdt.NearestNeighbors(5, random_state=0).fit(X)
    with ThreadPoolExecutor(6) as pool:
        found = list(
            pool.map(lambda t: as_bytes(shared.kneighbors(None if t == 2 else X[:500] + 0.1)), range(6))
        )
    assert [lists == (own if t == 2 else new) for t, lists in enumerate(found)] == [True] * 6
