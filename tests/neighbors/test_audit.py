"""The recall of lists made elsewhere, on sampled rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

import bvdt
from bvdt.lifting import lift
from bvdt.neighbors import audit, exact_lists
from helpers.points import draw, make

K = 10


def exact(X, metric="squared_euclidean", k=K):
    lifted = lift(X, metric)
    return exact_lists(lifted, lifted, k, np.arange(lifted.n_points))[0]


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("name", ["squared_euclidean", "cosine", "gid", "kl", "mahalanobis", "custom"])
def test_exact_lists_have_recall_one(name, as_sparse):
    rng = np.random.default_rng(0)
    X = draw(name, rng, n=200)
    X = sparse.csr_array(X) if as_sparse else X
    divergence = make(name, X.shape[1])
    indices = exact(X, divergence)
    recall = audit(X, indices, metric=divergence, n_rows=50, random_state=0)
    assert recall.estimate == recall.high == 1
    assert 0.8 < recall.low < 1
    assert recall.n_rows == 50
    assert audit(X, rng.permuted(indices, axis=1), metric=divergence, n_rows=200).estimate == 1


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
def test_the_names_of_scikit_learn(metric):
    X = np.random.default_rng(0).normal(size=(120, 4))
    search = NearestNeighbors(n_neighbors=K, metric=metric).fit(X)
    distances, indices = search.kneighbors(X)
    assert audit(X, indices, metric=metric, n_rows=120).estimate == 1
    assert audit(X, (indices, distances), metric=metric, n_rows=120).estimate == 1
    graph = KNeighborsTransformer(n_neighbors=K, metric=metric).fit_transform(X)
    assert audit(X, graph, metric=metric, n_rows=120).estimate == 1
    with pytest.raises(ValueError, match=r"metric needs a divergence or a name of .*; got 'manhattan'"):
        audit(X, indices, metric="manhattan")


def test_nobody_and_points_that_come_again_are_misses():
    X = np.random.default_rng(0).normal(size=(100, 3))
    indices = exact(X)
    indices[:, 0] = -1
    indices[:50, 2] = indices[:50, 1]
    recall = audit(X, indices, n_rows=100)
    assert recall.estimate == recall.low == recall.high == pytest.approx(0.85)


def test_a_row_that_lists_itself_here_and_there_has_missed():
    X = np.random.default_rng(0).normal(size=(100, 3))
    indices = exact(X)
    indices[:20, -1] = np.arange(20)
    assert audit(X, indices, n_rows=100).estimate == pytest.approx(0.98)


def test_rows_without_themselves_among_rows_with_are_not_paid_twice():
    """Of equal points a search may list another in the place of the row itself."""
    X = np.repeat(np.random.default_rng(0).normal(size=(50, 3)), 2, axis=0)
    indices = np.hstack([np.arange(100)[:, None], exact(X)])
    indices[:40] = np.hstack([exact(X, k=K + 1)[:40]])
    assert audit(X, indices, n_rows=100).estimate == 1


def test_of_equally_near_points_any_will_do():
    X = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), -1).reshape(-1, 2)
    d = ((X[:, None] - X) ** 2).sum(axis=2) + np.random.default_rng(0).random((144, 144)) / 10
    np.fill_diagonal(d, np.inf)
    for scale, shift in ((1.0, 0.0), (0.1, 1e3), (1e-6, 1.0)):
        assert audit(scale * X + shift, d.argsort(axis=1)[:, :3], n_rows=144).estimate == 1


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-5])
def test_moments_in_bursts_are_told_apart(gap):
    """Data that are wide beside their gaps: u + w − ⟨x, h⟩ cancels to nothing."""
    rng = np.random.default_rng(0)
    moments = rng.uniform(0, 3e7, (30, 1)) + gap * rng.permuted(
        np.tile(2.0 ** np.arange(12), (30, 1)), axis=1
    )
    X = moments.reshape(-1, 1)
    d = np.abs(X - X.T)
    np.fill_diagonal(d, np.inf)
    order = d.argsort(axis=1, kind="stable")
    assert audit(X, order[:, :5], n_rows=360).estimate == 1
    assert audit(X, order[:, 5:10], n_rows=360).estimate < 0.01


def test_wide_lists_hold_all_points():
    X = np.random.default_rng(0).normal(size=(6, 2))
    everyone = np.tile(np.arange(6), (6, 1))
    assert audit(X, everyone).estimate == 1


def test_the_same_seed_takes_the_same_rows():
    X = np.random.default_rng(0).normal(size=(300, 3))
    indices = exact(X)
    indices[::3] = -1
    one = audit(X, indices, n_rows=60, random_state=1)
    assert one == audit(X, indices, n_rows=60, random_state=1, n_jobs=1)
    assert one != audit(X, indices, n_rows=60, random_state=2)


def test_more_rows_than_points_are_all_of_them():
    X = np.random.default_rng(0).normal(size=(30, 3))
    assert audit(X, exact(X)).n_rows == 30
    with pytest.raises(ValueError, match="n_rows needs an integer ≥ 1; got 0"):
        audit(X, exact(X), n_rows=0)


def test_lists_of_other_points_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match="one list per point, 30; it has 29"):
        audit(X, exact(X)[:29])


# -- the interval ------------------------------------------------------------------------------------------


def in_a_region(X, indices, rng):
    """A tenth of the rows, side by side, spoilt together."""
    rows = np.argsort(X @ rng.normal(size=X.shape[1]))[: len(X) // 10]
    indices[rows] = rng.integers(0, len(X), indices[rows].shape)


def with_repeats(X, indices, rng):
    again, none = rng.random((2, *indices.shape)) < 0.06
    indices[again] = np.broadcast_to(indices[:, :1], indices.shape)[again]
    indices[none] = -1


def at_random(X, indices, rng):
    missed = rng.random(indices.shape) < rng.choice([0.003, 0.03, 0.3])
    indices[missed] = rng.integers(0, len(X), missed.sum())


def on_the_border(X, indices, rng):
    """Rows near a cut lose what lies beyond it, as a search by cells does."""
    side = np.sign(X[:, 0])
    indices[side[:, None] != side[indices]] = -1


FAMILIES = {
    "Gaussian": lambda rng, n: rng.normal(size=(n, 8)),
    "blobs": lambda rng, n: 4 * rng.normal(size=(9, 6))[rng.integers(0, 9, n)] + rng.normal(size=(n, 6)),
    "log-normal": lambda rng, n: np.exp(rng.normal(size=(n, 10))),
}


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [in_a_region, with_repeats, at_random, on_the_border])
def test_the_interval_holds(spoil):
    runs, n, inside = 100, 1500, 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        X = list(FAMILIES.values())[run % len(FAMILIES)](rng, n)
        indices = exact(X, k=int(rng.choice([5, 15])))
        spoil(X, indices, rng)
        recall = audit(X, indices, n_rows=150, random_state=run)
        inside += recall.low <= audit(X, indices, n_rows=n).estimate <= recall.high
    assert inside >= 93


def test_the_estimate_is_the_share_of_hits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    indices = exact(X)
    at_random(X, indices, np.random.default_rng(3))
    true, listed = exact(X), indices
    share = np.mean([len(set(a) & set(b)) for a, b in zip(true, listed, strict=True)]) / K
    assert_allclose(audit(X, indices, n_rows=400).estimate, share)
    assert bvdt.neighbors.audit is audit
