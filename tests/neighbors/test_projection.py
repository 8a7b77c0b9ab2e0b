"""Estimates by fewer coordinates: what they promise, and what is made of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bvdt.lifting import lift
from bvdt.neighbors import IndexParams, NeighborIndex, SearchParams
from bvdt.neighbors.autotune import choose_directions
from bvdt.neighbors.exact import exact_lists, reranked
from bvdt.neighbors.ivf import InvertedLists
from bvdt.neighbors.projection import Projection, principal
from helpers.engine_cases import DIVERGENCES, random_lifted


def images(n, d, seed=0):
    """Points whose spread falls from one direction to the next."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return (rng.normal(size=(n, d)) * np.exp(-np.arange(d) / 12)) @ turn + rng.normal(size=d)


def test_no_squared_distance_is_below_its_estimate():
    lifted = lift(images(300, 40), "squared_euclidean")
    everything = np.arange(300)
    exact = lifted.divergences(everything, everything)
    last = np.inf
    for r in (3, 10, 15, 20):
        projected = principal(lifted, 0).leading(r)(lifted)
        estimate = projected.divergences(everything, everything)
        assert (estimate <= exact * (1 + 1e-9) + 1e-12).all()
        assert (exact - estimate).mean() < last
        last = (exact - estimate).mean()


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_a_projection_shortened_is_that_along_the_leading_directions(divergence):
    lifted = random_lifted(divergence, 60, np.random.default_rng(1), n_features=12)
    whole = principal(lifted, 0)
    for r in (1, 2, 6):
        shortened, at_once = whole.shortened(whole(lifted), r), whole.leading(r)(lifted)
        for name in ("X", "H", "u", "w"):
            assert_allclose(getattr(shortened, name), getattr(at_once, name), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid"])
def test_all_directions_keep_every_divergence(divergence):
    lifted = random_lifted(divergence, 60, np.random.default_rng(0), n_features=7)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(7, 7)))[0]
    share = 1.0 if divergence == "squared_euclidean" else 0.5
    projected = Projection(turn, lifted.X.mean(axis=0), lifted.H.mean(axis=0), share)(lifted)
    some, d = slice(0, 20), lifted.divergences(slice(0, 20), slice(None))
    assert_allclose(projected.divergences(some, slice(None)), d, rtol=1e-8, atol=1e-9)


def test_the_leading_directions_are_the_principal_components():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(90, 90)))[0]
    X = rng.normal(size=(500, 90)) * np.r_[10.0, 8, 6, np.full(87, 0.1)] @ turn
    found = principal(lift(X, "squared_euclidean"), 0).leading(3).directions
    assert_allclose(np.linalg.svd(turn[:3] @ found)[1], 1, atol=1e-3)


@pytest.mark.parametrize("n_features", [1, 7, 40])
def test_candidates_are_reranked_as_in_the_slow_way(n_features):
    rng = np.random.default_rng(2)
    lifted = lift(rng.normal(size=(90, n_features)), "squared_euclidean")
    found = np.argsort(rng.random((90, 90)), axis=1)[:, :23].astype(np.int32)
    found[5, 3:] = -1
    every = np.arange(90)
    estimate = np.where(found < 0, np.inf, 0.9 * lifted.divergences(every, every)[every[:, None], found])
    order = np.argsort(estimate, axis=1)
    found, estimate = (np.take_along_axis(part, order, 1) for part in (found, estimate))
    lists = InvertedLists.build(lifted, IndexParams(), 2)
    fast, slow = lists.reranked(every, found, estimate, 6), reranked(lifted, lifted, found, 6, 1)
    assert_array_equal(fast[0][:5], slow[0][:5])
    assert_array_equal(fast[0][6:], slow[0][6:])
    assert_allclose(fast[1], slow[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_directions", [2, 12])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_ground_truth_by_estimates_is_exact(n_directions, far):
    X = images(4000, 30)
    X[0] += far
    lifted = lift(X, "squared_euclidean")
    lists = InvertedLists.build(lifted, IndexParams("ivf", n_directions), 2)
    truth = lists.ground_truth(9, np.random.default_rng(3))
    slow = exact_lists(lifted, lifted, 9, truth.rows, truth.rows)
    assert_allclose(truth.divergences, slow[1], rtol=1e-9, atol=1e-12)
    assert (truth.indices == slow[0]).mean() > 0.999
    estimate = lists.compared.divergences(truth.rows, np.arange(4000))
    estimate[np.arange(len(truth.rows)), truth.rows] = np.inf
    true = np.take_along_axis(estimate, truth.indices.astype(int), 1)
    ranks = (estimate[:, None, :] < true[:, :, None]).sum(axis=2)
    listed = truth.ranks < 4000
    assert (truth.ranks[listed] == ranks[listed]).mean() > 0.99  # but for rounding
    assert (ranks[~listed] >= 999).all()


def test_long_lists_through_all_inverted_lists_are_exact():
    lifted = lift(images(1500, 6), "squared_euclidean")
    index = NeighborIndex.build(lifted, IndexParams("ivf"))
    for k in (31, 33, 80):
        found = index.knn_graph(k, SearchParams(1500))
        slow = exact_lists(lifted, lifted, k, np.arange(1500))
        assert_array_equal(found[0], slow[0])
        assert_allclose(found[1], slow[1], rtol=1e-9, atol=1e-12)


def test_points_that_few_directions_tell_apart_are_compared_in_few():
    def chosen(X):
        lifted = lift(X, "squared_euclidean")
        return choose_directions(lifted, principal(lifted, 0), 10, 0.95, np.random.default_rng(0))

    assert 0 < chosen(images(5000, 150)) <= 63
    assert chosen(np.random.default_rng(0).normal(size=(4000, 150))) == 0


@pytest.mark.parametrize("rank", [400, 40])
def test_directions_of_many_columns_are_orthonormal_and_lead(rank):
    rng = np.random.default_rng(4)
    X = images(2000, 400)[:, :rank] @ rng.normal(size=(rank, 400))
    found = principal(lift(X, "squared_euclidean"), 0).leading(min(rank, 60))
    assert_allclose(found.directions.T @ found.directions, np.eye(min(rank, 60)), atol=1e-9)
    centered = X - X.mean(axis=0)
    exact = np.linalg.svd(centered, full_matrices=False)[2][:20].T
    kept, best = (np.square(centered @ part).sum() for part in (found.directions[:, :20], exact))
    assert kept > 0.999 * best
