"""Estimators on neighbor lists and graphs made elsewhere."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors, kneighbors_graph

import bvdt

K = 8
SEED = {"random_state": 0, "n_jobs": 1}
EUCLIDEAN = {"divergence": "squared_euclidean", "n_neighbors": K, **SEED}


@pytest.fixture(scope="module")
def blobs():
    """Three groups of 60 points that hardly overlap."""
    y = np.repeat(np.arange(3), 60)
    return np.random.default_rng(0).normal(size=(180, 4)) + 5.0 * np.eye(4)[y], y


@pytest.fixture(scope="module")
def few(blobs):
    return np.where(np.arange(180) % 60 < 3, blobs[1], -1)


@pytest.fixture(scope="module")
def graph(blobs):
    return KNeighborsTransformer(n_neighbors=K).fit_transform(blobs[0])


def same_groups(labels, y):
    return len({*zip(labels.tolist(), y.tolist(), strict=True)}) == len(set(y))


# -- beside points, what the same lists give when found by us ----------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"method": "walk"}, {"n_trees": 2}, {"blend": "linear"}])
def test_labels(blobs, few, graph, parameters):
    X, _ = blobs
    ours = bvdt.LabelPropagation(**EUCLIDEAN, **parameters).fit(X, few)
    given = bvdt.LabelPropagation(**EUCLIDEAN, **parameters).fit(X, few, neighbors=graph)
    assert_allclose(given.label_distributions_, ours.label_distributions_, atol=1e-7)
    assert_allclose(given.predict_proba(X[:9] + 0.1), ours.predict_proba(X[:9] + 0.1), atol=1e-7)


def test_an_update_takes_the_lists_on(blobs, few, graph):
    X, _ = blobs
    models = [
        bvdt.LabelPropagation(**EUCLIDEAN).fit(X, few, **options) for options in ({}, {"neighbors": graph})
    ]
    ours, given = (model.update(X[:9] + 0.1).label_distributions_ for model in models)
    assert_allclose(given, ours, atol=1e-7)


def test_embedding(blobs, graph):
    X, _ = blobs
    ours = bvdt.SpectralEmbedding(3, **EUCLIDEAN).fit_transform(X)
    assert_allclose(bvdt.SpectralEmbedding(3, **EUCLIDEAN).fit_transform(X, neighbors=graph), ours, atol=1e-6)


def test_clusters(blobs, graph):
    X, _ = blobs
    ours = bvdt.SpectralClustering(3, **EUCLIDEAN).fit_predict(X)
    assert_array_equal(bvdt.SpectralClustering(3, **EUCLIDEAN).fit_predict(X, neighbors=graph), ours)


def test_map(blobs, graph):
    X, y = blobs
    places = bvdt.Map(**EUCLIDEAN).fit_transform(X, neighbors=graph)
    vote = NearestNeighbors(n_neighbors=1).fit(places).kneighbors(return_distance=False)[:, 0]
    assert (y[vote] == y).mean() > 0.95


# -- a graph alone -----------------------------------------------------------------------------------------


def test_labels_of_a_graph_alone(blobs, few, graph):
    X, y = blobs
    model = bvdt.LabelPropagation(random_state=0).fit(None, few, neighbors=graph)
    assert (model.transduction_ == y).mean() > 0.95
    assert not hasattr(model, "n_features_in_")
    pair = graph.tocoo()
    lists = pair.col.reshape(180, -1), pair.data.reshape(180, -1)
    same = bvdt.LabelPropagation(random_state=0).fit(None, few, neighbors=lists)
    assert_allclose(same.label_distributions_, model.label_distributions_)
    with pytest.raises(ValueError, match="new points need an operator with extend"):
        model.predict(X)


def test_places_and_groups_of_a_graph_alone(blobs, graph):
    _, y = blobs
    assert same_groups(bvdt.SpectralClustering(3, random_state=0).fit_predict(None, neighbors=graph), y)
    assert bvdt.SpectralEmbedding(2, random_state=0).fit_transform(None, neighbors=graph).shape == (180, 2)
    assert bvdt.Map(random_state=0).fit_transform(None, neighbors=graph).shape == (180, 2)


def test_a_graph_of_affinities_is_clustered(blobs):
    X, y = blobs
    model = bvdt.SpectralClustering(3, random_state=0).fit(operator=kneighbors_graph(X, 8))
    assert same_groups(model.labels_, y)


def test_lists_and_an_operator_exclude_each_other(few, graph):
    with pytest.raises(ValueError, match="fit needs operator or neighbors, not both"):
        bvdt.LabelPropagation().fit(None, few, operator=graph, neighbors=graph)
    with pytest.raises(ValueError, match="fit needs X, operator or neighbors; all are None"):
        bvdt.LabelPropagation().fit(None, few)
