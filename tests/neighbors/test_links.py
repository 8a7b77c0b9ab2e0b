"""Links of links against their definition, and the lists that they lead to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bvdt.lifting import lift
from bvdt.neighbors import NeighborIndex, links, search
from bvdt.neighbors.cells import CellIndex
from bvdt.neighbors.dial import Truth
from bvdt.neighbors.links import LinkedLists, Plan, linked_lists
from helpers.engine_cases import random_lifted
from neighbors.test_search import groups, true_recall


@pytest.fixture
def links_are_cheap(monkeypatch):
    """So that few points are enough for passes to be planned."""
    monkeypatch.setattr(search, "ALL_PAIRS", 1000)
    monkeypatch.setattr(links, "_cost", lambda plan, d, pair, passes: plan.pairs * pair + passes)
    monkeypatch.setattr("bvdt.neighbors.cells.CELL", 40)


def slow_pass(lifted, listed):
    """The best of each list and of whom a point's links, list or listed by, bring together."""
    n, k = listed.shape
    linked = np.eye(n, dtype=bool)
    linked[np.repeat(np.arange(n), k), listed.ravel()] = True
    linked |= linked.T
    met = linked.astype(int) @ linked.astype(int) > 0
    np.fill_diagonal(met, False)
    d = np.where(met, lifted.divergences(slice(None), slice(None)), np.inf)
    return np.sort(d, axis=1)[:, :k]


@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid"])
def test_a_pass_finds_what_links_lead_to(divergence, monkeypatch):
    monkeypatch.setattr("bvdt.neighbors.cells.CELL", 20)
    lifted = random_lifted(divergence, 500, np.random.default_rng(0), n_features=4)
    cells = CellIndex.of(lifted, None, np.random.default_rng(0), 2)
    lists = LinkedLists(cells, 12, 12, 40)
    listed, _ = lists.result(12)
    assert_array_equal(np.sort(listed, axis=1), np.sort(cells.compare_all(12, 40)[0], axis=1))
    popularity = np.bincount(listed.ravel(), minlength=500)
    expected = slow_pass(lifted, listed)
    lists.join()
    _, divergences = lists.result(12)
    # Of those who list a point, the twin takes all and the kernel 11.
    exact = np.isclose(divergences, expected, rtol=1e-9, atol=1e-12).all(axis=1)
    assert exact.mean() > 0.99
    assert (divergences >= expected - 1e-12).all()
    assert popularity.max() > 12


def test_estimates_ascend_and_no_divergence_is_below():
    lifted = lift(1000 + groups(3000, 6), "squared_euclidean")
    cells = CellIndex.of(lifted, None, np.random.default_rng(0), 2)
    lists = LinkedLists(cells, 9, 5, 100)
    lists.join()
    rows = np.arange(3000)
    index, estimate = lists.listed(rows)
    exact = np.stack([lifted.divergences([i], centres)[0] for i, centres in enumerate(index)])
    assert (estimate <= exact + 1e-12).all()
    assert_allclose(estimate, exact, atol=1e-4 * exact.max())
    assert (np.diff(estimate, axis=1) >= 0).all()


def test_far_points_do_not_spoil_the_lists_of_others(links_are_cheap):
    """Single precision is not enough beside points so far away; what it cannot tell is found otherwise."""
    X = groups(4000, 6)
    X[:3] = 1e7 * np.random.default_rng(0).normal(size=(3, 6))
    lifted = lift(X, "squared_euclidean")
    for recall in (0.9, 0.99):
        index = NeighborIndex(lifted, 10, np.random.default_rng(0), recall=recall)
        assert index.plan.passes > 0
        assert true_recall(lifted, index) >= recall - 0.01


@pytest.mark.parametrize("n_features", [6, 80])
@pytest.mark.parametrize("recall", [0.9, 0.97])
def test_links_reach_the_recall_asked_for(n_features, recall, links_are_cheap):
    lifted = lift(groups(4000, n_features), "squared_euclidean")
    index = NeighborIndex(lifted, 10, np.random.default_rng(0), recall=recall)
    assert index.plan.passes > 0
    assert index.plan.pairs < index.effort.pairs
    true = true_recall(lifted, index)
    assert true >= recall - 0.01
    assert index.recall.low - 0.01 <= true <= index.recall.high + 0.01
    own, d = index.own_lists()
    assert own.shape == (4000, 10)
    assert (np.diff(d, axis=1) >= 0).all()
    assert_allclose(d[7], lifted.divergences([7], own[7])[0], rtol=1e-8)


def test_threads_do_not_matter(links_are_cheap):
    lifted = lift(groups(3000, 6), "squared_euclidean")
    one, two = (NeighborIndex(lifted, 7, np.random.default_rng(3), n_jobs=jobs) for jobs in (1, 2))
    for mine, other in zip(one.own_lists(), two.own_lists(), strict=True):
        assert_array_equal(mine, other)
    assert one.recall == two.recall


def test_links_that_lead_nowhere_are_given_up(links_are_cheap, monkeypatch):
    """Lists that stay as poor as they begin: the search compares as many as it takes without links."""
    monkeypatch.setattr(LinkedLists, "join", lambda *_: None)
    lifted = lift(groups(4000, 6), "squared_euclidean")
    index = NeighborIndex(lifted, 10, np.random.default_rng(0), recall=0.97)
    assert true_recall(lifted, index) >= 0.96


def test_a_pass_ends_when_it_is_enough(monkeypatch):
    """After a part of the points, spread over all cells; whole passes find more, and its parts the same."""
    monkeypatch.setattr("bvdt.neighbors.cells.CELL", 10)
    lifted = lift(groups(3000, 8), "squared_euclidean")
    cells = CellIndex.of(lifted, None, np.random.default_rng(0), 2)
    truth = Truth.by_cells(cells, 10, np.random.default_rng(1))
    found, parts = {}, (1, 4, links._PARTS)
    for n_parts in parts:
        lists, asked = LinkedLists(cells, 16, 16, 60), iter(range(1, links._PARTS))
        before = lists.hits(truth).mean()
        lists.join(False, lambda asked=asked, n_parts=n_parts: next(asked) == n_parts)
        found[n_parts] = lists.hits(truth).mean()
    assert before < found[1] < found[4] < found[links._PARTS]
    whole = LinkedLists(cells, 16, 16, 60)
    whole.join()
    assert whole.hits(truth).mean() == found[links._PARTS]
    assert found[4] - before > 0.6 * (found[links._PARTS] - before)


def test_few_points_need_no_links():
    lifted = lift(groups(4000, 6), "squared_euclidean")
    assert NeighborIndex(lifted, 10, np.random.default_rng(0)).plan is None


def test_what_was_reached_is_told_by_rows_that_did_not_choose():
    lifted = lift(groups(3000, 6), "squared_euclidean")
    rng = np.random.default_rng(0)
    cells = CellIndex.of(lifted, None, rng, 2)
    choosing, telling = Truth.by_cells(cells, 8, rng).halves()
    lists, recall = linked_lists(cells, Plan(300, 2, 17, 17), (choosing, telling), 0.9)
    assert recall.n_rows == len(telling.rows)
    assert recall.estimate == telling.hits(lists[1][telling.rows]).mean() / 8


def test_the_trial_of_a_pass_is_not_above_what_it_finds(monkeypatch):
    monkeypatch.setattr("bvdt.neighbors.cells.CELL", 20)
    lifted = lift(groups(3000, 8), "squared_euclidean")
    cells = CellIndex.of(lifted, None, np.random.default_rng(0), 2)
    truth = Truth.by_cells(cells, 10, np.random.default_rng(1))
    for pairs in (60, 150):
        lists = LinkedLists(cells, 16, 16, pairs)
        before = lists.hits(truth)[: links.TRIED].mean() / 10
        own, (few, many) = links.found_by_a_pass(cells, truth, None, pairs, [8, 16])
        lists.join()
        after = lists.hits(truth)[: links.TRIED].mean() / 10
        assert own == pytest.approx(before)
        assert before < few < many <= after + 0.005


def test_neighbours_beyond_the_lists_do_not_count_in_a_trial():
    lifted = lift(groups(3000, 8), "squared_euclidean")
    cells = CellIndex.of(lifted, None, np.random.default_rng(0), 2)
    truth = Truth.by_cells(cells, 10, np.random.default_rng(1))
    ranks = np.where(np.isin(np.arange(10), [2, 5]), 100, 0) * np.ones((len(truth.rows), 1), int)
    wrong = Truth(truth.rows, np.where(ranks == 100, -1, truth.indices), truth.divergences)
    assert links.found_by_a_pass(cells, wrong, ranks, 3000, [12])[0] == 1
    assert links.found_by_a_pass(cells, wrong, None, 3000, [12])[0] == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("before", "after", "allowed", "passes"),
    [(0.3, 0.1, 0.05, 1), (0.3, 0.1, 0.01, 2), (0.3, 0.1, 0.003, 3), (0.3, 0.3, 0.01, None), (0, 0, 0.1, 1)],
)
def test_passes_are_foretold_by_the_share_that_a_trial_leaves(before, after, allowed, passes):
    assert links._passes_needed(before, after, allowed, 4) == passes
