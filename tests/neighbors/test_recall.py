"""The recall's estimate and interval."""

import numpy as np
import pytest

from bvdt.neighbors.recall import Recall, count_hits, recall_lower_bound, sure_share


def test_exact_lists_hit_everything():
    d = np.sort(np.random.default_rng(0).random((50, 6)), axis=1)
    hits = count_hits(d, d)
    assert (hits == 6).all()
    reached = Recall.of(hits, 6)
    assert reached.estimate == reached.high == 1
    assert 0.9 < reached.low < 1


def test_a_neighbor_as_near_as_the_last_true_one_counts():
    exact = np.array([[1.0, 2.0, 2.0]])
    assert count_hits(np.array([[1.0, 2.0, 2.0]]), exact) == 3
    assert count_hits(np.array([[1.0, 2.0, np.inf]]), exact) == 2
    assert count_hits(np.array([[2.0, 2.1, 3.0]]), exact) == 1


@pytest.mark.parametrize("share", [0.6, 0.9, 0.97, 0.995])
@pytest.mark.parametrize("alike", [0.0, 0.4])
def test_the_interval_covers(share, alike):
    """Rows of 15 hits that depend on each other: a row misses by a rate of its own."""
    rng = np.random.default_rng(0)
    inside, below, runs, k = 0, 0, 400, 15
    for _ in range(runs):
        spread = (1 - alike) / max(alike, 1e-9)
        rate = rng.beta(share * spread, (1 - share) * spread, 256) if alike else np.full(256, share)
        hits = rng.binomial(k, rate)
        reached = Recall.of(hits, k)
        inside += reached.low <= share <= reached.high
        below += recall_lower_bound(hits, k) <= share
        assert reached.low <= reached.estimate <= reached.high
    assert inside / runs > 0.93
    assert below / runs > 0.93


@pytest.mark.parametrize("k", [5, 15, 30])
def test_the_interval_covers_rows_that_miss_everything(k):
    """A tenth of the rows, as where part of an index is lost."""
    rng = np.random.default_rng(0)
    runs = [Recall.of(k * (rng.random(300) > 0.1), k) for _ in range(400)]
    assert np.mean([reached.low <= 0.9 <= reached.high for reached in runs]) > 0.94


def test_the_recall_prints_its_interval():
    assert str(Recall(0.961, 0.95, 0.97, 256)) == "0.961 (0.950 to 0.970)"


@pytest.mark.parametrize("recall", [0.9, 0.95, 0.99])
def test_a_sure_share_is_about_what_rows_must_show(recall):
    share = sure_share(recall, 256, 15)
    rng = np.random.default_rng(0)
    hits = 15 - np.where(rng.random(256) < (1 - share) * 5, 3, 0)  # misses come three at a time
    assert recall < share < 1
    assert abs(recall_lower_bound(hits, 15) - recall) < 0.3 * (1 - recall)
