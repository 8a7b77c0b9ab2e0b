"""Links of links against their definition, and the lists that they lead to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bvdt.lifting import lift
from bvdt.neighbours import NeighbourIndex, links, search
from bvdt.neighbours.cells import CellIndex
from bvdt.neighbours.dial import Truth
from bvdt.neighbours.links import LinkedLists, Plan, linked_lists
from helpers.engine_cases import random_lifted
from neighbours.test_search import groups, true_recall


@pytest.fixture
def links_are_cheap(monkeypatch):
    """So that few points are enough for passes to be planned."""
    monkeypatch.setattr(search, "ALL_PAIRS", 1000)
    monkeypatch.setattr(links, "_PASS", 0.0)
    monkeypatch.setattr(links, "_PASS_COORDINATE", 0.0)
    monkeypatch.setattr(links, "_BEGINNING", 0.0)
    monkeypatch.setattr(links, "_LEAST", 2)
    monkeypatch.setattr("bvdt.neighbours.cells.CELL", 40)


def slow_pass(lifted, listed):
    """The best of each list and of what its links list or are listed by; no list here is longer than k."""
    n, k = listed.shape
    linked = np.zeros((n, n), bool)
    linked[np.repeat(np.arange(n), k), listed.ravel()] = True
    linked |= linked.T
    met = linked | (linked.astype(int) @ linked.astype(int) > 0)
    np.fill_diagonal(met, False)
    d = np.where(met, lifted.divergences(slice(None), slice(None)), np.inf)
    return np.sort(d, axis=1)[:, :k]


@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid"])
def test_a_pass_finds_what_links_lead_to(divergence, monkeypatch):
    monkeypatch.setattr("bvdt.neighbours.cells.CELL", 20)
    lifted = random_lifted(divergence, 500, np.random.default_rng(0), n_features=4)
    cells = CellIndex.of(lifted, None, np.random.default_rng(0), 2)
    lists = LinkedLists(cells, 12, 12, 40)
    listed = lists.index.copy()
    popularity = np.bincount(listed.ravel(), minlength=500)
    expected = slow_pass(lifted, listed)
    lists.join()
    # Of those who list a point, the twin takes all and the kernel 12.
    exact = np.isclose(lists.divergence, expected, rtol=1e-9, atol=1e-12).all(axis=1)
    assert exact.mean() > 0.9
    assert (lists.divergence >= expected - 1e-12).all()
    assert popularity.max() > 12


@pytest.mark.parametrize("n_features", [6, 80])
@pytest.mark.parametrize("recall", [0.9, 0.97])
def test_links_reach_the_recall_asked_for(n_features, recall, links_are_cheap):
    lifted = lift(groups(4000, n_features), "squared_euclidean")
    index = NeighbourIndex(lifted, 10, np.random.default_rng(0), recall=recall)
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
    one, two = (NeighbourIndex(lifted, 7, np.random.default_rng(3), n_jobs=jobs) for jobs in (1, 2))
    for mine, other in zip(one.own_lists(), two.own_lists(), strict=True):
        assert_array_equal(mine, other)
    assert one.recall == two.recall


def test_links_that_lead_nowhere_are_given_up(links_are_cheap, monkeypatch):
    """Lists that stay as poor as they begin: the search compares as many as it takes without links."""
    monkeypatch.setattr(LinkedLists, "join", lambda self, progress=False: None)
    lifted = lift(groups(4000, 6), "squared_euclidean")
    index = NeighbourIndex(lifted, 10, np.random.default_rng(0), recall=0.97)
    assert true_recall(lifted, index) >= 0.96


def test_few_points_need_no_links():
    lifted = lift(groups(4000, 6), "squared_euclidean")
    assert NeighbourIndex(lifted, 10, np.random.default_rng(0)).plan is None


def test_what_was_reached_is_told_by_rows_that_did_not_choose():
    lifted = lift(groups(3000, 6), "squared_euclidean")
    rng = np.random.default_rng(0)
    cells = CellIndex.of(lifted, None, rng, 2)
    choosing, telling = Truth.by_cells(cells, 8, rng).halves()
    lists, recall = linked_lists(cells, Plan(300, 2), 17, (choosing, telling), 0.9)
    assert recall.n_rows == len(telling.rows)
    assert recall.estimate == telling.hits(lists[1][telling.rows]).mean() / 8


def test_the_trial_of_a_pass_is_not_above_what_it_finds(monkeypatch):
    monkeypatch.setattr("bvdt.neighbours.cells.CELL", 20)
    lifted = lift(groups(3000, 8), "squared_euclidean")
    cells = CellIndex.of(lifted, None, np.random.default_rng(0), 2)
    truth = Truth.by_cells(cells, 10, np.random.default_rng(1))
    for pairs in (60, 150):
        lists = LinkedLists(cells, 16, 16, pairs)
        before = lists.hits(truth)[: links.TRIED].mean() / 10
        foretold = links.found_by_a_pass(cells, truth, 16, pairs)
        lists.join()
        after = lists.hits(truth)[: links.TRIED].mean() / 10
        assert before < foretold <= after + 0.005
