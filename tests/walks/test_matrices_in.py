"""What walks take as a matrix: affinities, and neither distances nor negative entries."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import kneighbors_graph

import bvdt
from bvdt.walks import as_square

X, y = load_digits(return_X_y=True)
X, y = X[:500], y[:500]
FEW = np.where(np.arange(500) < 50, y, -1)


def labels(op):
    return bvdt.LabelPropagation().fit(y=FEW, operator=op).transduction_


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "manhattan", "chebyshev"])
@pytest.mark.parametrize("points", [X, load_iris().data], ids=["digits", "iris"])
def test_distances_are_not_taken_for_affinities_in_silence(metric, points):
    D = pairwise_distances(points, metric=metric)
    n = len(D)
    with pytest.warns(UserWarning, match=r"op looks like distances: .* give np.exp\(-\(\(D / D.mean\(\)\)"):
        bvdt.propagate_labels(D, np.eye(n)[:, :2], max_iter=1)
    few = np.where(np.arange(n) < 10, np.arange(n) % 2, -1)
    estimators = [
        (bvdt.LabelPropagation(), {"y": few}),
        (bvdt.SpectralEmbedding(random_state=0), {}),
    ]
    for model, more in estimators:
        with pytest.warns(UserWarning, match="op looks like distances") as told:
            model.fit(operator=sparse.csr_array(D), **more)
        assert len(told) == 1


def test_the_fix_that_the_warning_names_labels_well():
    D = pairwise_distances(X)
    with pytest.warns(UserWarning, match="op looks like distances"):
        wrong = (labels(D) == y).mean()
    right = (labels(np.exp(-((D / D.mean()) ** 2))) == y).mean()
    assert wrong < 0.5 < right


def affinities():
    D = pairwise_distances(X)
    for name, W in [
        ("narrow", np.exp(-((D / D.mean() / 0.3) ** 2))),
        ("wide", np.exp(-((D / D.mean() / 3) ** 2))),
        ("inverse", 1 / (1 + D)),
        ("cosine", cosine_similarity(X)),
        ("random", sum((R := np.random.default_rng(0).random((500, 500)), R.T))),
        ("graph", kneighbors_graph(X, 10).toarray()),
    ]:
        yield pytest.param(W, id=name)
        yield pytest.param(W * (1 - np.eye(len(W))), id=f"{name}, zero diagonal")


@pytest.mark.parametrize("W", list(affinities()))
def test_affinities_are_taken_without_a_word(W):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bvdt.propagate_labels(W, np.eye(500)[:, :2], max_iter=1)
        bvdt.LabelPropagation().fit(y=FEW, operator=W)


@pytest.mark.parametrize(
    "make", [np.asarray, sparse.csr_array, sparse.coo_array, sparse.lil_array, sparse.dok_array]
)
def test_negative_entries_are_refused(make):
    W = np.ones((6, 6))
    W[3, 5] = -0.25
    message = r"op needs affinities, entries ≥ 0; op\[3, 5\] = -0.25: .* np.maximum\(op, 0\)"
    with pytest.raises(ValueError, match=message):
        bvdt.propagate_labels(make(W), np.eye(6)[:, :2])
    with pytest.raises(ValueError, match=message):
        bvdt.SpectralEmbedding().fit(operator=make(W))
    W[3, 5] = -1e-16  # rounding
    assert as_square(make(W)).shape == (6, 6)


@pytest.mark.parametrize("make", [sparse.csr_array, np.asarray])
def test_a_graph_that_is_given_as_points_is_told(make):
    graph = kneighbors_graph(X, 10)
    graph = make((graph + graph.T).toarray())
    with pytest.warns(UserWarning, match=r"as graphs .* goes in as SpectralEmbedding.fit\(operator=X\)"):
        wrong = bvdt.SpectralEmbedding(4, divergence="squared_euclidean", random_state=0).fit_transform(graph)
    right = bvdt.SpectralEmbedding(4, random_state=0).fit(operator=graph).embedding_
    assert wrong.shape == right.shape
    nearest = "square with 10 entries in every row, as graphs of nearest neighbors are"
    with pytest.warns(UserWarning, match=f"{nearest}.*goes in as Map.fit"):
        bvdt.Map(random_state=0).fit(kneighbors_graph(X, 10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bvdt.SpectralEmbedding(random_state=0).fit(np.eye(20))  # points, each of one feature of its own
