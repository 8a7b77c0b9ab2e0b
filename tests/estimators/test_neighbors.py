"""NearestNeighbors and KNeighborsTransformer against scikit-learn's, and in its pipelines."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE, Isomap
from sklearn.neighbors import KNeighborsTransformer as Theirs
from sklearn.neighbors import NearestNeighbors as TheirNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import bvdt
from bvdt.neighbors import index as search

DIGITS = load_digits().data[:500]
APART = DIGITS + np.random.default_rng(0).random(DIGITS.shape) / 10  # whole numbers have ties
CHECKED = [
    kind(metric=metric, random_state=0, n_jobs=1)
    for kind in (bvdt.NearestNeighbors, bvdt.KNeighborsTransformer)
    for metric in ("euclidean", "gid", "cosine")
]


@parametrize_with_checks(CHECKED)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
def test_distances_are_scikit_learns(metric, as_sparse):
    X = sparse.csr_array(DIGITS) if as_sparse else DIGITS
    ours = bvdt.NearestNeighbors(7, metric=metric).fit(X)
    theirs = TheirNeighbors(n_neighbors=7, metric=metric, algorithm="brute").fit(DIGITS)
    assert_allclose(ours.kneighbors()[0], theirs.kneighbors()[0], rtol=1e-6, atol=1e-7)
    assert_allclose(ours.kneighbors(X[:20])[0], theirs.kneighbors(DIGITS[:20])[0], rtol=1e-6, atol=1e-7)
    assert (ours.kneighbors()[1] != np.arange(500)[:, None]).all()


@pytest.mark.parametrize("side", ["right", "left"])
def test_both_sides_of_a_divergence(side):
    X = DIGITS[:120] + 0.5
    nearest = bvdt.NearestNeighbors(4, metric="gid", side=side).fit(X)
    d = bvdt.divergences.get("gid").pairwise(X, X)
    d = d if side == "right" else d.T
    np.fill_diagonal(d, np.inf)
    found, index = nearest.kneighbors()
    assert_allclose(found, np.sort(d, axis=1)[:, :4], rtol=1e-9)
    assert_allclose(found, np.take_along_axis(d, index, axis=1), rtol=1e-9)


def test_zero_rows_are_far_by_cosine():
    X = np.vstack([np.zeros(3), np.eye(3), 5 * np.eye(3)])
    found, index = bvdt.NearestNeighbors(1, metric="cosine").fit(X).kneighbors()
    assert_array_equal(index[1:].ravel(), [4, 5, 6, 1, 2, 3])
    assert_allclose(found.ravel(), [1, 0, 0, 0, 0, 0, 0], atol=1e-15)


def test_cosine_is_the_von_mises_fisher_kernel():
    X = DIGITS[:60]
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    P = bvdt.exact_transition_matrix(X, "cosine", bandwidth=0.2)
    kernel = np.exp(U @ U.T / 0.2)
    np.fill_diagonal(kernel, 0)
    assert_allclose(P, kernel / kernel.sum(axis=1, keepdims=True), rtol=1e-9)


@pytest.mark.parametrize("method", ["distance", "connectivity"])
def test_the_graph_is_scikit_learns(method):
    ours = bvdt.KNeighborsTransformer(mode=method, n_neighbors=6).fit_transform(APART)
    theirs = Theirs(mode=method, n_neighbors=6).fit_transform(APART)
    assert ours.shape == theirs.shape
    assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-6, atol=1e-5)  # theirs is not 0 at itself
    if method == "distance":
        assert (np.diff(ours.data.reshape(500, -1), axis=1) >= 0).all()
        again = bvdt.KNeighborsTransformer(mode=method, n_neighbors=6).fit(APART).transform(APART)
        assert_allclose(again.toarray(), ours.toarray(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "last",
    [Isomap(n_neighbors=9, metric="precomputed"), DBSCAN(eps=20, metric="precomputed")],
    ids=lambda last: type(last).__name__,
)
def test_in_a_pipeline_as_scikit_learns_own(last):
    def run(kind):
        pipeline = make_pipeline(kind(n_neighbors=15), last)
        return pipeline.fit_predict(APART) if isinstance(last, DBSCAN) else pipeline.fit_transform(APART)

    ours, theirs = run(bvdt.KNeighborsTransformer), run(Theirs)
    assert_allclose(np.abs(ours), np.abs(theirs), rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_tsne_takes_the_graph():
    layout = TSNE(perplexity=8, metric="precomputed", init="random", random_state=0, max_iter=250)
    pipeline = make_pipeline(bvdt.KNeighborsTransformer(n_neighbors=30), layout)
    assert pipeline.fit_transform(DIGITS).shape == (500, 2)


def test_longer_lists_than_fitted_and_graphs_of_new_points(monkeypatch):
    monkeypatch.setattr(search, "ALL_PAIRS", 100)
    nearest = bvdt.NearestNeighbors(3, random_state=0).fit(DIGITS[:400])
    found, index = nearest.kneighbors(n_neighbors=12)
    assert found.shape == index.shape == (400, 12)
    graph = nearest.kneighbors_graph(DIGITS[400:], mode="distance")
    assert graph.shape == (100, 400)
    assert (np.diff(graph.indptr) == 3).all()
    assert 0.9 <= nearest.recall_.estimate <= 1


def test_what_is_refused_is_named():
    nearest = bvdt.NearestNeighbors(5).fit(DIGITS[:10])
    with pytest.raises(ValueError, match="n_neighbors needs at most 9, the other fitted points; got 10"):
        nearest.kneighbors(n_neighbors=10)
    with pytest.raises(ValueError, match='side needs "right" or "left"'):
        bvdt.NearestNeighbors(side="up").fit(DIGITS)
    with pytest.raises(ValueError, match='mode needs "distance" or "connectivity"'):
        bvdt.KNeighborsTransformer(mode="far").fit_transform(DIGITS)
    with pytest.raises(ValueError, match="recall needs a number above 0"):
        bvdt.NearestNeighbors(recall=2).fit(DIGITS)


@pytest.mark.parametrize("n_features", [5, 80])  # compared as they are, and projected
def test_a_fitted_search_is_stored(n_features, monkeypatch):
    monkeypatch.setattr(search, "ALL_PAIRS", 1000)
    X = np.random.default_rng(0).normal(size=(3000, n_features))
    model = bvdt.NearestNeighbors(5, recall=0.9, random_state=0).fit(X)
    before, after = pickle.dumps(model), (model.kneighbors(), pickle.dumps(model))[1]
    for stored in (before, after):
        copy = pickle.loads(stored)
        for query in (None, X[:20] + 0.1):
            for mine, other in zip(copy.kneighbors(query), model.kneighbors(query), strict=True):
                assert_array_equal(mine, other)
        assert copy.recall_ == model.recall_
