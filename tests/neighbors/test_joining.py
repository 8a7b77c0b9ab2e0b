"""Neighbor lists of points that others have joined."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bvdt.lifting import lift
from bvdt.neighbors import NeighborIndex, joined_lists
from helpers.engine_cases import DIVERGENCES, random_data

pytestmark = pytest.mark.kernel


def exact(lifted, k):
    return NeighborIndex.build(lifted).knn_graph(k)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("n_new", [1, 70])
def test_exact_lists_become_those_of_a_search_among_all_points(divergence, as_sparse, n_new):
    if as_sparse and divergence == "itakura_saito":
        pytest.skip("zeros are outside its domain")
    X = random_data(divergence, 150 + n_new, np.random.default_rng(3), as_sparse=as_sparse)
    lifted = lift(X[:150], divergence, 0.1 if as_sparse and divergence != "squared_euclidean" else "auto")
    both = lifted.joined(X[150:])
    index, d = joined_lists(both, *exact(lifted, 6))
    expected = exact(both, 6)
    assert_allclose(d, expected[1], rtol=1e-9, atol=1e-12)
    different = index != expected[0]  # equal points may change places
    assert_allclose(d[different], expected[1][different], rtol=1e-9, atol=1e-12)
    assert different.mean() < 0.02


def test_places_that_nobody_has_are_filled():
    X = np.random.default_rng(0).normal(size=(12, 2))
    both = lift(X[:8], "squared_euclidean").joined(X[8:])
    none = np.full((8, 3), -1, np.int32), np.full((8, 3), np.inf)
    index, d = joined_lists(both, *none)
    assert (index[:8] >= 8).all()
    assert_array_equal(index[8:], exact(both, 3)[0][8:])
    assert np.isfinite(d).all()


def test_points_in_bursts_are_told_apart_by_differences():
    steps = np.random.default_rng(1).permutation(200) * 1e-7
    X = np.column_stack([1e4 + steps, np.zeros(200)])
    X[0] = -1e4
    lifted = lift(X[:150], "squared_euclidean")
    both = lifted.joined(X[150:])
    index, _ = joined_lists(both, *exact(lifted, 2))
    away = np.abs(both.X[:, None, 0] - both.X[None, :, 0])
    np.fill_diagonal(away, np.inf)
    nearest = np.sort(away, axis=1)[:, :2]
    assert_allclose(away[np.arange(200)[:, None], index][1:], nearest[1:], atol=1e-11)
