"""Estimates by fewer coordinates: what they promise, and what is made of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bvdt import _core
from bvdt.lifting import lift
from bvdt.neighbors.cells import CellIndex, ranked_again
from bvdt.neighbors.dial import Space, Truth, choose_space
from bvdt.neighbors.exact import exact_lists
from bvdt.neighbors.projection import Estimates, Growing, principal
from helpers.engine_cases import DIVERGENCES, random_lifted


def images(n, d, seed=0):
    """Points whose spread falls from one direction to the next."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return (rng.normal(size=(n, d)) * np.exp(-np.arange(d) / 12)) @ turn + rng.normal(size=d)


def space_of(lifted, r, seed=0):
    growing = Growing(principal(lifted, r, np.random.default_rng(seed)), lifted)
    return Space(growing, r, Estimates(growing, r))


def test_no_squared_distance_is_below_its_estimate():
    lifted = lift(images(300, 40), "squared_euclidean")
    everything = np.arange(300)
    exact = lifted.divergences(everything, everything)
    last = np.inf
    for r in (3, 10, 25, 39):
        projected = principal(lifted, r, np.random.default_rng(0))(lifted)
        estimate = projected.divergences(everything, everything)
        assert (estimate <= exact * (1 + 1e-9) + 1e-12).all()
        assert (exact - estimate).mean() < last
        last = (exact - estimate).mean()


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_a_projection_in_steps_is_that_at_once(divergence):
    lifted = random_lifted(divergence, 60, np.random.default_rng(1))
    d = lifted.n_features
    whole = principal(lifted, d - 1, np.random.default_rng(0))
    growing = Growing(whole, lifted)
    for r in (1, 2, d - 1):
        leading, points = growing.points(r)
        at_once = whole.leading(r)(lifted)
        assert leading.directions.shape == (d, r)
        for name in ("X", "H", "u", "w"):
            assert_allclose(getattr(points, name), getattr(at_once, name), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("is_bound", [False, True])
@pytest.mark.parametrize("n_features", [1, 7, 40])
def test_lists_ranked_again_are_those_of_the_slow_way(n_features, is_bound):
    rng = np.random.default_rng(2)
    lifted = lift(rng.normal(size=(90, n_features)), "squared_euclidean")
    found = np.argsort(rng.random((90, 90)), axis=1)[:, :23].astype(np.int32)
    found[5, 3:] = -1
    estimate = np.where(found < 0, np.inf, 0.9 * lifted.divergences(np.arange(90), np.arange(90))[
        np.arange(90)[:, None], found
    ])  # fmt: skip
    order = np.argsort(estimate, axis=1)
    found, estimate = (np.take_along_axis(part, order, 1) for part in (found, estimate))
    index, divergence = np.full((90, 6), -1, np.int32), np.full((90, 6), np.inf)
    arrays = (lifted.X, lifted.H, lifted.u, lifted.w, rng.permutation(90).astype(np.int32))
    _core.rank_exactly(*arrays, found, estimate, is_bound, index, divergence, 2)
    slow = ranked_again(lifted, lifted, found, 6, 1)
    assert_array_equal(index[:5], slow[0][:5])
    assert_array_equal(index[6:], slow[0][6:])
    assert_allclose(divergence, slow[1], rtol=1e-12, atol=1e-12)


def test_ranks_are_how_many_the_estimate_puts_before():
    lifted = lift(images(400, 30), "squared_euclidean")
    rows = np.arange(0, 400, 9)
    truth = Truth(rows, *exact_lists(lifted, lifted, 5, rows, rows))
    space = space_of(lifted, 8)
    estimate = space.growing.points(8)[1].divergences(rows, np.arange(400))
    estimate[np.arange(len(rows)), rows] = np.inf
    true = np.take_along_axis(estimate, truth.indices.astype(int), 1)
    slow = (estimate[:, None, :] < true[:, :, None]).sum(axis=2)
    assert (space.ranks(truth) == slow).mean() > 0.99  # but for single precision


@pytest.mark.parametrize("r", [2, 12])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_lists_by_bounds_are_exact(r, far):
    X = images(4000, 30)
    X[0] += far
    lifted = lift(X, "squared_euclidean")
    space = space_of(lifted, r)
    index = space.indexed(np.random.default_rng(0), 2)
    truth = Truth.by_bounds(index, 9, np.random.default_rng(3))
    slow = exact_lists(lifted, lifted, 9, truth.rows, truth.rows)
    assert_allclose(truth.divergences, slow[1], rtol=1e-9, atol=1e-12)
    assert (truth.indices == slow[0]).mean() > 0.999
    estimate = space.growing.points(r)[1].divergences(truth.rows, np.arange(4000))
    estimate[np.arange(len(truth.rows)), truth.rows] = np.inf
    true = np.take_along_axis(estimate, truth.indices.astype(int), 1)
    ranks = np.minimum((estimate[:, None, :] < true[:, :, None]).sum(axis=2), 1000)  # as long as lists are
    assert (truth.ranks == ranks).mean() > 0.99  # but for rounding


def test_a_search_for_long_lists_is_exact_through_all_cells():
    lifted = lift(images(1500, 6), "squared_euclidean")
    index = CellIndex.of(lifted, None, np.random.default_rng(0), 2)
    for k in (31, 33, 80):
        found = index.compare_all(k, 1500)
        slow = exact_lists(lifted, lifted, k, np.arange(1500))
        assert_array_equal(found[0], slow[0])
        assert_allclose(found[1], slow[1], rtol=1e-9, atol=1e-12)


def test_points_that_few_directions_tell_apart_are_compared_in_few():
    lifted = lift(images(5000, 150), "squared_euclidean")
    rng = np.random.default_rng(0)
    space = choose_space(lifted, Truth.of_few(lifted, 10, rng), 0.95, rng)
    assert space is not None
    assert space.directions <= 63
    spread = lift(np.random.default_rng(0).normal(size=(4000, 150)), "squared_euclidean")
    assert choose_space(spread, Truth.of_few(spread, 10, rng), 0.95, rng) is None


@pytest.mark.parametrize("rank", [400, 40])
def test_directions_of_many_columns_are_orthonormal_and_lead(rank):
    rng = np.random.default_rng(4)
    X = images(2000, 400)[:, :rank] @ rng.normal(size=(rank, 400))
    found = principal(lift(X, "squared_euclidean"), 60, np.random.default_rng(0))
    assert_allclose(found.directions.T @ found.directions, np.eye(60), atol=1e-9)
    centred = X - X.mean(axis=0)
    exact = np.linalg.svd(centred, full_matrices=False)[2][:20].T
    kept, best = (np.square(centred @ part).sum() for part in (found.directions[:, :20], exact))
    assert kept > 0.999 * best
