"""Data that are wide beside their gaps: distances come from differences, and lists are right."""

import numpy as np
import pytest

import bvdt


def true_lists(X, k):
    """Distances of the k nearest others in long double."""
    X = X.astype(np.longdouble)
    d = np.empty((len(X), k), np.longdouble)
    for i, x in enumerate(X):
        others = np.square(X - x).sum(axis=1)
        others[i] = np.inf
        d[i] = np.sqrt(np.sort(np.partition(others, k)[:k]))
    return d


def distances(X, index):
    X = X.astype(np.longdouble)
    return np.sqrt(np.square(X[:, None] - X[index]).sum(axis=2))


def check(X, k=5, recall=1.0, **options):
    search = bvdt.NearestNeighbors(k, random_state=0, **options).fit(X)
    d, index = search.kneighbors()
    real, true = distances(X, index), true_lists(X, k)
    rounding = 4 * np.finfo(float).eps * np.abs(X).max()  # of centered values
    np.testing.assert_allclose(d, real.astype(float), rtol=1e-6, atol=rounding)
    assert (real <= true[:, -1:] * (1 + 1e-6) + rounding).mean() >= recall
    query_d, query = search.kneighbors(X[:20])
    assert (query[:, 0] == np.arange(20)).all()
    assert (query_d[:, 0] == 0).all()


def bursts(rng, n, d, scale, gap):
    """Groups of eight points, gap wide, that are spread over the scale."""
    return scale * rng.uniform(-1, 1, (n // 8, 1, d)) + gap * rng.random((n // 8, 8, d))


@pytest.mark.parametrize("seed", range(100))
def test_distances_and_lists_are_right_at_any_scale_and_gap(seed):
    rng = np.random.default_rng(seed)
    d, scale = int(rng.integers(1, 9)), 10.0 ** rng.uniform(-6, 12)
    gap = scale * 10.0 ** rng.uniform(-8, 0)  # 10⁷ times what float64 tells apart
    X = bursts(rng, 320, d, scale, gap).reshape(-1, d)
    check(X)


@pytest.mark.slow
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("n_points", [1608, 4800])  # all pairs, and cells
def test_timestamps_in_bursts(n_points, side):
    rng = np.random.default_rng(0)
    X = (
        1.6e9
        + np.repeat(rng.integers(0, 3e8, n_points // 12), 12)[:, None]
        + 0.01 * rng.random((n_points, 1))
    )
    check(X, recall=0.95, side=side)


def test_what_cannot_be_told_apart_is_refused():
    rng = np.random.default_rng(0)
    X = np.repeat([[-1e12], [1e12]], 1000, axis=0) + rng.random((2000, 1))
    search = bvdt.NearestNeighbors(5).fit(X)
    with pytest.raises(ValueError, match="squared_euclidean needs neighbors that float64 can tell apart; of"):
        search.kneighbors()
