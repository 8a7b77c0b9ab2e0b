"""Estimators on neighbor lists and graphs made elsewhere."""

import numpy as np
import pytest
from sklearn.neighbors import kneighbors_graph

import bvdt


@pytest.fixture(scope="module")
def blobs():
    """Three groups of 60 points that hardly overlap."""
    y = np.repeat(np.arange(3), 60)
    return np.random.default_rng(0).normal(size=(180, 4)) + 5.0 * np.eye(4)[y], y


def test_a_graph_of_affinities_is_clustered(blobs):
    X, y = blobs
    graph = kneighbors_graph(X, 8)
    labels = bvdt.SpectralClustering(3, random_state=0).fit(operator=graph).labels_
    assert len({*zip(labels.tolist(), y.tolist(), strict=True)}) == 3
