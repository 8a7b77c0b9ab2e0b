"""The search against all pairs: its recall is what it says, whatever the data, the side and the threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bvdt.lifting import lift, pair_divergences
from bvdt.neighbors import NeighborIndex, checked_recall, nearest_centres, search, swapped
from bvdt.neighbors.cells import CellIndex, Effort
from bvdt.neighbors.dial import Truth, needed_pairs
from bvdt.neighbors.exact import exact_lists, sampled_lists
from bvdt.neighbors.projection import principal
from bvdt.neighbors.recall import count_hits
from helpers.engine_cases import DIVERGENCES, random_lifted


def groups(n_points, n_features, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(8, n_features))
    return centres[rng.integers(8, size=n_points)] + 0.7 * rng.normal(size=(n_points, n_features))


def true_recall(lifted, index):
    rows = np.arange(lifted.n_points)
    exact = exact_lists(lifted, lifted, index.k, rows)[1]
    return count_hits(index.own_lists()[1], exact).mean() / index.k


def test_exact_lists_are_all_pairs_sorted():
    lifted = random_lifted("gid", 120, np.random.default_rng(0))
    d = lifted.divergences(slice(None), slice(None))
    np.fill_diagonal(d, np.inf)
    index, found = exact_lists(lifted, lifted, 6, np.arange(120))
    assert_array_equal(index, np.argsort(d, axis=1, kind="stable")[:, :6])
    assert_allclose(found, np.take_along_axis(d, index.astype(int), 1), rtol=1e-12)


@pytest.mark.parametrize("far", [0.0, 3e3])
def test_sampled_lists_are_exact_even_where_single_precision_is_not_enough(far):
    X = groups(400, 70)
    X[:200] += far
    lifted = lift(X, "squared_euclidean")
    rows = np.array([3, 250, 17])
    index, d = sampled_lists(lifted, rows, 9)
    expected = exact_lists(lifted, lifted, 9, rows, rows)
    assert_array_equal(index, expected[0])
    assert_allclose(d, expected[1], rtol=1e-9, atol=1e-15 * far**2 * 70)  # the rounding of u + w


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("side", ["right", "left"])
def test_few_points_are_exact(divergence, side):
    lifted = random_lifted(divergence, 300, np.random.default_rng(0))
    lifted = lifted if side == "right" else swapped(lifted)
    index = NeighborIndex(lifted, 5, np.random.default_rng(0))
    assert true_recall(lifted, index) == 1
    assert index.recall.low == 1


@pytest.mark.parametrize("k", [3, 15, 20])
@pytest.mark.parametrize("n_features", [1, 2, 9, 33])
@pytest.mark.parametrize("kind", ["groups", "one", "ties", "far"])
def test_points_that_are_passed_over_together_are_far(kind, n_features, k):
    rng = np.random.default_rng(n_features)
    X = rng.normal(size=(700, n_features))
    if kind == "groups":
        X += 30 * rng.normal(size=(9, n_features))[rng.integers(9, size=700)]
    elif kind == "ties":
        X = rng.integers(0, 4, size=(700, n_features)).astype(float)
    elif kind == "far":
        X[:3] *= 1e5
    lifted = lift(X, "squared_euclidean")
    index, divergence, _ = nearest_centres(lifted, k, rng, 2)
    expected = exact_lists(lifted, lifted, k, np.arange(700))
    size = np.abs(lifted.w).max()
    np.testing.assert_allclose(divergence, expected[1], rtol=1e-9, atol=1e-14 * size * n_features)
    if kind != "far":
        assert (index == expected[0]).mean() > 0.999  # all but ties by rounding


def test_the_left_side_is_the_divergence_the_other_way_round():
    lifted = random_lifted("gid", 40, np.random.default_rng(0))
    d = lifted.divergences(slice(None), slice(None))
    assert_allclose(swapped(lifted).divergences(slice(None), slice(None)), d.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_features", [6, 80])
@pytest.mark.parametrize("recall", [0.8, 0.95, 0.99])
def test_dense_points_reach_the_recall_asked_for(n_features, recall, monkeypatch):
    monkeypatch.setattr(search, "ALL_PAIRS", 1000)
    lifted = lift(groups(4000, n_features), "squared_euclidean")
    index = NeighborIndex(lifted, 10, np.random.default_rng(0), recall=recall)
    true = true_recall(lifted, index)
    assert true >= recall - 0.01
    assert index.recall.low - 0.01 <= true <= index.recall.high + 0.01
    assert index.recall.n_rows == 256


@pytest.mark.parametrize("as_sparse", [False, True])
def test_recall_1_is_exact(as_sparse, monkeypatch):
    monkeypatch.setattr(search, "ALL_PAIRS", 100)
    lifted = random_lifted("gid", 700, np.random.default_rng(0), as_sparse=as_sparse)
    index = NeighborIndex(lifted, 6, np.random.default_rng(0), recall=1)
    assert true_recall(lifted, index) == 1
    assert index.recall.estimate == 1


@pytest.mark.parametrize("n_features", [6, 80])
def test_threads_do_not_matter(n_features, monkeypatch):
    monkeypatch.setattr(search, "ALL_PAIRS", 500)
    lifted = lift(groups(2000, n_features), "squared_euclidean")
    one, two = (NeighborIndex(lifted, 7, np.random.default_rng(3), n_jobs=jobs) for jobs in (1, 2))
    assert_array_equal(one.own_lists()[0], two.own_lists()[0])
    assert_array_equal(one.own_lists()[1], two.own_lists()[1])
    assert one.recall == two.recall


@pytest.mark.parametrize("n_features", [6, 80])
def test_new_points_find_theirs(n_features, monkeypatch):
    monkeypatch.setattr(search, "ALL_PAIRS", 500)
    X = groups(3000, n_features)
    lifted = lift(X[:2500], "squared_euclidean")
    index = NeighborIndex(lifted, 8, np.random.default_rng(0), recall=0.95)
    new = lifted.lifting.transform(X[2500:])
    found = index.lists_of(new, 8)
    exact = exact_lists(new, lifted, 8)
    assert count_hits(found[1], exact[1]).mean() / 8 > 0.93
    row = np.repeat(np.arange(500), 8)
    assert_allclose(found[1].ravel(), pair_divergences(new, lifted, row, found[0].ravel()), rtol=1e-8)


def test_the_sampled_rows_are_searched_as_all_are():
    lifted = lift(groups(1500, 5), "squared_euclidean")
    cells = CellIndex.of(lifted, None, np.random.default_rng(0), 2)
    rows = np.array([900, 3, 77])
    effort = Effort(200, 6)
    for some, every in zip(cells.search_own(rows, 6, effort), cells.search_all(6, effort), strict=True):
        assert_array_equal(some, every[rows])


@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid"])
@pytest.mark.parametrize("cell", [15, 250])
def test_needed_pairs_foretell_what_a_search_finds(divergence, cell, monkeypatch):
    """A row misses none that is promised, even where cells are small and its own cell tells little of it."""
    monkeypatch.setattr("bvdt.neighbors.cells.CELL", cell)
    lifted = lift(np.abs(groups(3000, 8)), divergence)
    rng = np.random.default_rng(0)
    cells = CellIndex.of(lifted, None, rng, 2)
    truth = Truth.by_cells(cells, 10, rng)
    needed = needed_pairs(cells, truth)
    for pairs in (100, 400, 1200):
        hits = truth.hits(cells.search_own(truth.rows, 10, Effort(pairs, 10))[1])
        promised = (needed <= pairs).sum(axis=1)
        assert (hits >= promised).mean() > 0.99  # a score may be rounded
        assert (hits - promised).mean() / 10 < 0.05


def test_what_was_foretold_is_spent_without_a_trial(monkeypatch):
    monkeypatch.setattr(search, "ALL_PAIRS", 1000)
    monkeypatch.setattr(search, "tried_effort", lambda *_: pytest.fail("a trial"))
    lifted = lift(groups(4000, 6), "squared_euclidean")
    index = NeighborIndex(lifted, 8, np.random.default_rng(0), recall=0.95)
    assert index.plan is None
    assert true_recall(lifted, index) >= 0.94
    telling = index._sampled[0][1]
    assert index.recall.estimate == telling.hits(index.own_lists()[1][telling.rows]).mean() / 8


def test_what_was_foretold_wrongly_is_raised(monkeypatch):
    monkeypatch.setattr(search, "ALL_PAIRS", 1000)
    monkeypatch.setattr(search, "foretold_effort", lambda *_: Effort(20, 8))
    lifted = lift(groups(4000, 6), "squared_euclidean")
    index = NeighborIndex(lifted, 8, np.random.default_rng(0), recall=0.95)
    index.plan = None
    assert true_recall(lifted, index) >= 0.94
    assert index._tried_effort()[0].pairs > 100
    telling = index._sampled[0][1]
    assert index.recall.estimate == telling.hits(index.own_lists()[1][telling.rows]).mean() / 8


@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid"])
def test_all_directions_keep_every_divergence(divergence):
    lifted = random_lifted(divergence, 60, np.random.default_rng(0), n_features=7)
    projected = principal(lifted, 7, np.random.default_rng(0))(lifted)
    some, d = slice(0, 20), lifted.divergences(slice(0, 20), slice(None))
    assert_allclose(projected.divergences(some, slice(None)), d, rtol=1e-8, atol=1e-9)


def test_the_leading_directions_are_the_principal_components():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(90, 90)))[0]
    X = rng.normal(size=(500, 90)) * np.r_[10.0, 8, 6, np.full(87, 0.1)] @ turn
    found = principal(lift(X, "squared_euclidean"), 3, rng).directions
    assert_allclose(np.linalg.svd(turn[:3] @ found)[1], 1, atol=1e-3)


def test_sparse_points_reach_or_tell(monkeypatch):
    monkeypatch.setattr(search, "ALL_PAIRS", 500)
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(300, 0.05), 12)
    X = sparse.csr_array(np.stack([rng.multinomial(60, topics[k]) for k in rng.integers(12, size=2500)]))
    lifted = lift(X, "gid")
    index = NeighborIndex(lifted, 8, np.random.default_rng(0), recall=0.95)
    true = true_recall(lifted, index)
    assert index.recall.low - 0.01 <= true <= index.recall.high + 0.01
    assert true > 0.9


@pytest.mark.parametrize("recall", [0, 1.5, -1, "much", None, True, float("nan")])
def test_a_recall_that_is_none_is_refused(recall):
    with pytest.raises(ValueError, match="recall needs a number above 0 and at most 1; got"):
        checked_recall(recall)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_lists_through_all_cells_are_exact_from_wherever_they_set_out(divergence):
    lifted = random_lifted(divergence, 1500, np.random.default_rng(0))
    cells = CellIndex.of(lifted, None, np.random.default_rng(0), 2)
    truth = Truth.by_cells(cells, 7, np.random.default_rng(1))
    exact = exact_lists(lifted, lifted, 7, truth.rows, truth.rows)
    assert_allclose(truth.divergences, exact[1], rtol=1e-8, atol=1e-12)
