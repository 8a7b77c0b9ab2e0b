"""NN-descent against its definition, and the lists that it leads to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bvdt import _core
from bvdt.lifting import lift
from bvdt.neighbors import IndexParams, NeighborIndex, SearchParams, autotuned, index, ivf
from bvdt.neighbors.exact import reranked
from bvdt.neighbors.ivf import InvertedLists
from bvdt.neighbors.nn_descent import descend, never, read_lists
from helpers.engine_cases import random_lifted
from neighbors.test_search import groups, true_recall


@pytest.fixture
def joins_are_cheap(monkeypatch):
    """So that few points are enough for NN-descent to pay."""
    monkeypatch.setattr(index, "ALL_PAIRS", 1000)
    monkeypatch.setattr(ivf, "_JOIN_COST", 0)


def slow_iteration(lifted, listed, place):
    """The best of each list and of whom local joins bring together.

    At most k − 1 reverse neighbors that a list lacks, those in whose lists the point has the best rank; of
    equal ranks the first by place.
    """
    n, k = listed.shape
    met = np.zeros((n, n), bool)
    met[np.repeat(np.arange(n), k), listed.ravel()] = True
    reverse = [[] for _ in range(n)]
    for i, row in enumerate(listed):
        for rank, j in enumerate(row):
            if i not in listed[j]:
                reverse[j].append((rank, place[i], i))
    for point in range(n):
        members = [*listed[point], *(i for *_, i in sorted(reverse[point])[: k - 1]), point]
        met[np.ix_(members, members)] = True
    np.fill_diagonal(met, False)
    d = np.where(met, lifted.divergences(slice(None), slice(None)), np.inf)
    return np.sort(d, axis=1)[:, :k]


def started(lifted, given, n_forward, threads=2):
    """Lists of NN-descent that begin with those given, and the points in the order of their places."""
    n = lifted.n_points
    if lifted.is_sparse:
        order = np.arange(n, dtype=np.int32)
        arrays = (*lifted.arrays, lifted.u, lifted.w)
        return _core.SparseDescent(*arrays, order, given, n_forward, threads), order
    index = InvertedLists.build(lifted, IndexParams(list_size=20), 1)
    return _core.DenseDescent(index.kernel, given, n_forward, threads), index.order


def read(lifted, lists, k):
    rows = np.arange(lifted.n_points)
    return reranked(lifted, lifted, read_lists(lists, rows, k, 1)[0], k, 1)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid"])
def test_an_iteration_finds_what_neighbors_lead_to(divergence, as_sparse):
    lifted = random_lifted(divergence, 500, np.random.default_rng(0), n_features=6, as_sparse=as_sparse)
    other = lift(np.abs(np.asarray(lifted.X @ np.diag([1, 1, 1, 1, 0, 0]))), "squared_euclidean")
    given = NeighborIndex.build(other).knn_graph(12)[0]  # by some of the features
    lists, order = started(lifted, given, 12)
    begun = read(lifted, lists, 12)[0]
    assert_array_equal(np.sort(begun, axis=1), np.sort(given, axis=1))
    lists.link(2)
    lists.join(0, 500, 2)
    found = read(lifted, lists, 12)[1]
    assert_allclose(found, slow_iteration(lifted, begun, np.argsort(order)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_threads_and_parts_do_not_matter(as_sparse):
    lifted = random_lifted("gid", 600, np.random.default_rng(1), n_features=5, as_sparse=as_sparse)
    given = (
        np.random.default_rng(2).permuted(np.tile(np.arange(600), (600, 1)), axis=1)[:, :9].astype(np.int32)
    )
    lists = [started(lifted, given, 7, threads)[0] for threads in (1, 2)]
    found = [
        descend(each, 600, lambda rows, each=each: read_lists(each, rows, 9, 1), 9, 4, never, jobs, False)
        for jobs, each in enumerate(lists, 1)
    ]
    for one, two in zip(*found, strict=True):
        assert_array_equal(one, two)


def test_estimates_ascend_and_no_divergence_is_below():
    lifted = lift(1000 + groups(3000, 6), "squared_euclidean")
    given = np.random.default_rng(0).permuted(np.tile(np.arange(3000), (3000, 1)), axis=1)[:, :9]
    lists, _ = started(lifted, given.astype(np.int32), 5)
    lists.link(2)
    lists.join(0, 3000, 2)
    found, estimate = read_lists(lists, np.arange(3000), 9, 2)
    exact = np.stack([lifted.divergences([i], centers)[0] for i, centers in enumerate(found)])
    assert (estimate <= exact + 1e-12).all()
    assert_allclose(estimate, exact, atol=1e-4 * exact.max())
    assert (np.diff(estimate, axis=1) >= 0).all()


def test_far_points_do_not_spoil_the_lists_of_others(joins_are_cheap):
    """Single precision is not enough beside points so far away; what it cannot rank is found otherwise."""
    X = groups(4000, 6)
    X[:3] = 1e7 * np.random.default_rng(0).normal(size=(3, 6))
    lifted = lift(X, "squared_euclidean")
    for recall in (0.9, 0.99):
        lists, _ = autotuned(lifted, 10, recall, 0).knn_graph()
        assert true_recall(lifted, lists) >= recall - 0.01


@pytest.mark.parametrize("n_features", [6, 80])
@pytest.mark.parametrize("recall", [0.9, 0.97])
def test_nn_descent_reaches_the_recall_asked_for(n_features, recall, joins_are_cheap):
    lifted = lift(groups(4000, n_features), "squared_euclidean")
    tuned = autotuned(lifted, 10, recall, 0)
    params = tuned.index.strategy.graph_params(tuned.target, tuned.index.search_params)[0]
    assert params.n_iter > 0
    assert params.n_candidates < tuned.index.search_params.n_candidates
    lists, reached = tuned.knn_graph()
    true = true_recall(lifted, lists)
    assert true >= recall - 0.01
    assert reached.low - 0.01 <= true <= reached.high + 0.01
    assert (np.diff(lists[1], axis=1) >= 0).all()
    assert_allclose(lists[1][7], lifted.divergences([7], lists[0][7])[0], rtol=1e-8)


def test_where_neighbors_lead_nowhere_the_search_goes_on_alone(joins_are_cheap, monkeypatch):
    """Lists that stay as poor as they begin."""
    monkeypatch.setattr("bvdt.neighbors.nn_descent._iterate", lambda *_: False)
    lifted = lift(groups(4000, 6), "squared_euclidean")
    lists, _ = autotuned(lifted, 10, 0.97, 0).knn_graph()
    assert true_recall(lifted, lists) >= 0.96


def test_an_iteration_ends_when_it_is_enough():
    """After a part of the places, spread over all; whole iterations find more."""
    lifted = lift(groups(3000, 8), "squared_euclidean")
    strategy = InvertedLists.build(lifted, IndexParams(list_size=40), 2)
    params, found = SearchParams(60, 10, n_iter=1, n_forward=16), []
    for parts in (1, 4, 8):
        asked = iter(range(1, 100))
        stop = lambda read, at_end, asked=asked, parts=parts: next(asked) >= parts  # noqa: E731
        found.append(true_recall(lifted, strategy.knn_graph(10, params, stop=stop)))
    assert found[0] < found[1] < found[2]
    assert found[1] - found[0] > found[2] - found[1]
    assert found[2] == true_recall(lifted, strategy.knn_graph(10, params))
