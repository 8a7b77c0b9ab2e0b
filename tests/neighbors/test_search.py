"""The index against all pairs: its recall is what it says, whatever the data, the side and the threads."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bvdt.lifting import lift, pair_divergences
from bvdt.neighbors import (
    IndexParams,
    NeighborIndex,
    SearchParams,
    autotuned,
    checked_recall,
    dual_points,
    index,
    neighbor_graph,
)
from bvdt.neighbors.exact import exact_lists
from bvdt.neighbors.ivf import InvertedLists, candidates_needed
from bvdt.neighbors.recall import Recall, count_hits
from helpers.engine_cases import DIVERGENCES, random_lifted


def groups(n_points, n_features, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(8, n_features))
    return centers[rng.integers(8, size=n_points)] + 0.7 * rng.normal(size=(n_points, n_features))


def true_recall(lifted, lists):
    k = lists[1].shape[1]
    return count_hits(lists[1], exact_lists(lifted, lifted, k, np.arange(lifted.n_points))[1]).mean() / k


def test_exact_lists_are_all_pairs_sorted():
    lifted = random_lifted("gid", 120, np.random.default_rng(0))
    d = lifted.divergences(slice(None), slice(None))
    np.fill_diagonal(d, np.inf)
    index, found = exact_lists(lifted, lifted, 6, np.arange(120))
    assert_array_equal(index, np.argsort(d, axis=1, kind="stable")[:, :6])
    assert_allclose(found, np.take_along_axis(d, index.astype(int), 1), rtol=1e-12)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("side", ["right", "left"])
def test_few_points_are_exact(divergence, side, as_sparse):
    if as_sparse and divergence == "itakura_saito":
        pytest.skip("zeros are outside its domain")
    lifted = random_lifted(divergence, 300, np.random.default_rng(0), as_sparse=as_sparse)
    lifted = lifted if side == "right" else dual_points(lifted)
    tuned = autotuned(lifted, 5, 0.9, 0)
    lists, reached = tuned.knn_graph()
    assert true_recall(lifted, lists) == 1
    assert reached == tuned.index.recall == Recall.exact()


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
    found, divergence = NeighborIndex.build(lifted, n_jobs=2).knn_graph(k)
    expected = exact_lists(lifted, lifted, k, np.arange(700))
    size = np.abs(lifted.w).max()
    np.testing.assert_allclose(divergence, expected[1], rtol=1e-9, atol=1e-14 * size * n_features)
    if kind != "far":
        assert (found == expected[0]).mean() > 0.999  # all but ties by rounding


def test_the_left_side_is_the_divergence_the_other_way_round():
    lifted = random_lifted("gid", 40, np.random.default_rng(0))
    d = lifted.divergences(slice(None), slice(None))
    assert_allclose(dual_points(lifted).divergences(slice(None), slice(None)), d.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_features", [6, 80])
@pytest.mark.parametrize("recall", [0.8, 0.95, 0.99])
def test_dense_points_reach_the_recall_asked_for(n_features, recall, monkeypatch):
    monkeypatch.setattr(index, "ALL_PAIRS", 1000)
    lifted = lift(groups(4000, n_features), "squared_euclidean")
    lists, reached = autotuned(lifted, 10, recall, 0).knn_graph()
    true = true_recall(lifted, lists)
    assert true >= recall - 0.01
    assert reached.low - 0.01 <= true <= reached.high + 0.01
    assert reached.n_rows == 256


@pytest.mark.parametrize("as_sparse", [False, True])
def test_recall_1_is_exact(as_sparse, monkeypatch):
    monkeypatch.setattr(index, "ALL_PAIRS", 100)
    lifted = random_lifted("gid", 700, np.random.default_rng(0), as_sparse=as_sparse)
    built, lists, reached = neighbor_graph(lifted, 6, np.random.default_rng(0), recall=1)
    assert true_recall(lifted, lists) == 1
    assert reached == Recall.exact()
    assert built.params.strategy == "exact"


@pytest.mark.parametrize("recall", [None, 0.95])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("n_features", [6, 80])
def test_threads_and_pickles_do_not_matter(n_features, as_sparse, recall, monkeypatch):
    monkeypatch.setattr(index, "ALL_PAIRS", 500)
    X = np.maximum(groups(2000, n_features), 0) if as_sparse else groups(2000, n_features)
    lifted = lift(sparse.csr_array(X) if as_sparse else X, "squared_euclidean")
    one, two = (neighbor_graph(lifted, 7, np.random.default_rng(3), jobs, recall=recall) for jobs in (1, 2))
    for mine, other in zip(one[1], two[1], strict=True):
        assert_array_equal(mine, other)
    assert one[2] == two[2]
    copy = pickle.loads(pickle.dumps(one[0]))
    assert (copy.params, copy.search_params) == (two[0].params, two[0].search_params)
    queries = lifted.take(np.arange(50))
    for mine, other in zip(copy.search(queries, 5), two[0].search(queries, 5), strict=True):
        assert_array_equal(mine, other)


def test_the_same_parameters_give_the_same_lists(monkeypatch):
    monkeypatch.setattr(index, "ALL_PAIRS", 500)
    lifted = lift(groups(3000, 90), "squared_euclidean")
    tuned = autotuned(lifted, 8, 0.95, 5).index
    again = NeighborIndex.build(lifted, tuned.params, search_params=tuned.search_params)
    assert_array_equal(again.knn_graph(8)[0], tuned.knn_graph(8)[0])


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("n_features", [6, 80])
def test_new_points_find_theirs(n_features, as_sparse, monkeypatch):
    monkeypatch.setattr(index, "ALL_PAIRS", 500)
    X = np.maximum(groups(3000, n_features), 0) if as_sparse else groups(3000, n_features)
    X = sparse.csr_array(X) if as_sparse else X
    lifted = lift(X[:2500], "squared_euclidean")
    built = autotuned(lifted, 8, 0.95, 0).index
    new = lifted.lifting.transform(X[2500:])
    found = built.search(new, 8)
    share = count_hits(found[1], exact_lists(new, lifted, 8)[1]).mean() / 8
    assert share > 0.93
    assert built.recall.low - 0.02 <= share <= built.recall.high + 0.02
    row = np.repeat(np.arange(500), 8)
    assert_allclose(
        found[1].ravel(), pair_divergences(new, lifted, row, found[0].ravel()), rtol=1e-8, atol=1e-12
    )
    again, d = built.search(lifted.take(np.arange(40)), 1)
    assert_array_equal(d, 0.0)  # an equal point is at distance 0
    assert_array_equal(again[:, 0], np.arange(40))


@pytest.mark.parametrize("list_size", [15, 250])
def test_some_points_are_searched_as_all_are(list_size):
    lifted = lift(groups(1500, 5), "squared_euclidean")
    built = NeighborIndex.build(lifted, IndexParams("ivf", list_size=list_size), n_jobs=2)
    rows, params = np.array([900, 3, 77]), SearchParams(200)
    for some, every in zip(built.search_own(rows, 6, params), built.knn_graph(6, params), strict=True):
        assert_array_equal(some, every[rows])


@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid"])
@pytest.mark.parametrize("list_size", [15, 250])
def test_candidates_needed_predict_what_a_search_finds(divergence, list_size):
    """A query misses none that is promised, even where lists are small and its own says little of it."""
    lifted = lift(np.abs(groups(3000, 8)), divergence)
    lists = InvertedLists.build(lifted, IndexParams("ivf", list_size=list_size), 2)
    truth = lists.ground_truth(10, np.random.default_rng(0))
    needed = candidates_needed(lists, truth)
    for n_candidates in (100, 400, 1200):
        hits = truth.hits(lists.search_own(truth.rows, 10, SearchParams(n_candidates))[1])
        promised = (needed <= n_candidates).sum(axis=1)
        assert (hits >= promised).mean() > 0.99  # a score may be rounded
        assert (hits - promised).mean() / 10 < 0.05


def test_a_prediction_that_falls_short_is_raised(monkeypatch):
    monkeypatch.setattr(index, "ALL_PAIRS", 1000)
    monkeypatch.setattr(
        "bvdt.neighbors.ivf.candidates_needed", lambda _, truth: np.full(truth.indices.shape, 20)
    )
    lifted = lift(groups(4000, 6), "squared_euclidean")
    tuned = autotuned(lifted, 8, 0.95, 0)
    assert tuned.index.search_params.n_candidates > 100
    lists, reached = tuned.knn_graph()
    assert true_recall(lifted, lists) >= 0.94
    assert reached.estimate >= 0.95


def test_indices_and_budgets_that_are_none():
    lifted = lift(groups(50, 3), "squared_euclidean")
    with pytest.raises(ValueError, match="strategy needs one of auto, exact, ivf, postings; got 'lsh'"):
        IndexParams("lsh")
    with pytest.raises(ValueError, match='strategy "postings" does not take dense points; "auto" does'):
        NeighborIndex.build(lifted, IndexParams("postings"))


@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_recall_that_no_sample_can_show_is_not_paid_for_by_all_pairs(as_sparse, monkeypatch):
    """256 queries that all hit say 0.988 of one neighbor, and equal points are hits whatever the rounding."""
    monkeypatch.setattr(index, "ALL_PAIRS", 500)
    X = np.maximum(groups(3000, 6), 0)[np.random.default_rng(0).integers(0, 2500, 3000)]
    lifted = lift(sparse.csr_array(X) if as_sparse else X, "gid")
    tuned = autotuned(lifted, 1, 0.995, 0)
    assert max(tuned.index.search_params.n_candidates, tuned.index.search_params.n_postings) < (
        200_000 if as_sparse else 2500
    )
    found, d = tuned.knn_graph()[0]
    assert true_recall(lifted, (found, np.maximum(d - 1e-12, 0))) > 0.98


def test_longer_lists_than_tuned_for_take_more(monkeypatch):
    monkeypatch.setattr(index, "ALL_PAIRS", 500)
    lifted = lift(groups(4000, 6), "squared_euclidean")
    built = autotuned(lifted, 5, 0.95, 0).index
    rows = np.arange(0, 4000, 13)
    found, exact = built.search_own(rows, 60)[1], exact_lists(lifted, lifted, 60, rows, rows)[1]
    assert count_hits(found, exact).mean() / 60 > 0.93


@pytest.mark.parametrize("budget", [None, SearchParams(4), SearchParams(10**9)])
def test_lists_are_as_long_as_can_be(budget):
    lifted = lift(groups(60, 3), "squared_euclidean")
    for strategy in ("ivf", "exact"):
        built = NeighborIndex.build(lifted, IndexParams(strategy, list_size=7))
        found, d = built.search(lifted.take(np.arange(5)), 60, budget)
        assert_array_equal(np.sort(found, axis=1), np.tile(np.arange(60), (5, 1)))
        assert (np.diff(d, axis=1) >= 0).all()


def test_sparse_points_reach_or_tell(monkeypatch):
    monkeypatch.setattr(index, "ALL_PAIRS", 500)
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(300, 0.05), 12)
    X = sparse.csr_array(np.stack([rng.multinomial(60, topics[k]) for k in rng.integers(12, size=2500)]))
    lifted = lift(X, "gid")
    tuned = autotuned(lifted, 8, 0.95, 0)
    lists, reached = tuned.knn_graph()
    true = true_recall(lifted, lists)
    assert reached.low - 0.01 <= true <= reached.high + 0.01
    assert true > 0.9
    assert tuned.index.recall.estimate > 0.93


@pytest.mark.parametrize("recall", [0, 1.5, -1, "much", None, True, float("nan")])
def test_a_recall_that_is_none_is_refused(recall):
    with pytest.raises(ValueError, match="recall needs a number above 0 and at most 1; got"):
        checked_recall(recall)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_ground_truth_by_all_lists_is_exact(divergence):
    lifted = random_lifted(divergence, 1500, np.random.default_rng(0))
    truth = InvertedLists.build(lifted, IndexParams(), 2).ground_truth(7, np.random.default_rng(1))
    exact = exact_lists(lifted, lifted, 7, truth.rows, truth.rows)
    assert_allclose(truth.divergences, exact[1], rtol=1e-8, atol=1e-12)
