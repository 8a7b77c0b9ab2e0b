"""Large points are read where the user keeps them: same answers, and a change of them is told."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bvdt
from bvdt.lifting import lift, sharing


@pytest.fixture(autouse=True)
def small_counts_as_large(monkeypatch):
    monkeypatch.setattr(sharing, "SHARED", 1000)


def blobs(n=400, d=5, away=0.0):
    rng = np.random.default_rng(0)
    return 3 * rng.integers(0, 4, (n, 1)) + rng.normal(size=(n, d)) + away


def shares(X, divergence="squared_euclidean", may_share=True):
    lifted = lift(X, divergence, may_share=may_share)
    assert lifted.shared == (np.shares_memory(lifted.X, X))
    return lifted.shared


def test_only_what_may_stay_as_it_is_is_shared():
    X = blobs()
    assert shares(X)
    assert not shares(X, may_share=False)
    assert not shares(X[:100])  # small
    assert not shares(X.astype(np.float32))  # converted, so it is ours
    assert not shares(np.asfortranarray(X))
    assert not shares(blobs(away=1e4))  # far from the origin: centred, for the digits
    assert not shares(X, "mahalanobis")
    assert not shares(np.abs(X) + 1, "gid")


@pytest.mark.parametrize("away", [0.0, 15.0])
def test_uncentred_points_lose_two_digits_at_most(away):
    X = blobs(away=away)
    shared, centred = lift(X, "squared_euclidean", may_share=True), lift(X, "squared_euclidean")
    assert shared.shared
    assert not centred.shared
    exact = np.square(X[:, None].astype(np.longdouble) - X[None].astype(np.longdouble)).sum(axis=2) / 2
    everyone = np.arange(len(X))
    error = np.abs(shared.divergences(everyone, everyone) - exact).max()
    usual = np.median(centred.u)
    assert error < 10 * 65 * np.finfo(float).eps * usual


@pytest.mark.kernel
@pytest.mark.parametrize("near", [0, 6])
def test_the_walk_of_shared_points_is_that_of_their_copy(near):
    X = blobs()
    shared = bvdt.transition_matrix(X, "squared_euclidean", near=near, random_state=0)
    copied = bvdt.transition_matrix(X.astype(object), "squared_euclidean", near=near, random_state=0)
    assert shared.lifted.shared
    assert_array_equal(shared.tree.order, copied.tree.order)
    assert_allclose(shared.bandwidth, copied.bandwidth, rtol=1e-9)
    assert_allclose(shared.row(7), copied.row(7), rtol=1e-8)
    assert_allclose(shared.extend(X[:3] + 0.1).toarray(), copied.extend(X[:3] + 0.1).toarray(), rtol=1e-8)


@pytest.mark.kernel
def test_a_change_is_told_by_whatever_reads_the_points_again(tmp_path):
    X = blobs()
    op = bvdt.transition_matrix(X, "squared_euclidean", near=4, random_state=0)
    one = bvdt.transition_matrix(X, "squared_euclidean", random_state=0)
    before = one @ np.arange(len(X), dtype=float)
    X[17, 2] += 1.0
    for ask in (
        lambda: op @ np.ones(len(X)),  # whose near field's weights were not needed before
        lambda: op.neighbors,
        lambda: op.extend(X[:2]),
        lambda: op.nearest(X[:2]),
        lambda: op.add_trees(1),
        lambda: op.quality(),
        lambda: op.save(tmp_path / "walk.bvdt"),
        lambda: one.refine(one.n_blocks + 10),
    ):
        with pytest.raises(ValueError, match=r"X needs the values that it was lifted with.*rows 0 to 399"):
            ask()
    assert_array_equal(one @ np.arange(len(X), dtype=float), before)


@pytest.mark.kernel
def test_a_stored_operator_has_points_of_its_own(tmp_path):
    X = blobs()
    op = bvdt.transition_matrix(X, "squared_euclidean", near=4, random_state=0)
    op.save(tmp_path / "walk.bvdt")
    expected, query = op.extend(X[:2] + 0.1).toarray(), X[:2] + 0.1
    X *= 2
    assert_array_equal(bvdt.load(tmp_path / "walk.bvdt").extend(query).toarray(), expected)


@pytest.mark.parametrize("n_points", [400, 4000])  # all pairs, and cells
@pytest.mark.parametrize("side", ["right", "left"])
def test_neighbours_of_shared_points(n_points, side):
    X = blobs(n_points)
    shared, copied = (bvdt.NearestNeighbors(5, side=side, random_state=0) for _ in range(2))
    shared.fit(X), copied.fit(np.asfortranarray(X))
    assert shared._index.lifted.shared
    assert not copied._index.lifted.shared
    query = X[:50] + 0.1
    before = shared.kneighbors()
    assert_allclose(before[0], copied.kneighbors()[0], rtol=1e-6)
    assert_allclose(shared.kneighbors(query)[0], copied.kneighbors(query)[0], rtol=1e-6)
    X *= 3  # points were copied for the query
    assert_allclose(shared.kneighbors(query)[0], copied.kneighbors(query)[0], rtol=1e-6)
    assert_array_equal(shared.kneighbors()[1], before[1])


@pytest.mark.parametrize("n_points", [400, 4000])
@pytest.mark.parametrize("ask", ["own", "new", "longer"])
def test_neighbours_of_points_that_were_changed_are_refused(n_points, ask):
    X = blobs(n_points)
    nearest = bvdt.NearestNeighbors(5, random_state=0).fit(X)
    if ask == "longer":
        nearest.kneighbors()
    X[17, 2] += 1.0
    with pytest.raises(ValueError, match=r"X needs the values that it was lifted with.*rows 0 to"):
        nearest.kneighbors(*{"own": (None,), "new": (X[:2],), "longer": (None, 9)}[ask])
