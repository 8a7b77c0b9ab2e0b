"""The ward tree against SciPy's Ward linkage, its kernels against NumPy, and the data that break trees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from bvdt import Tree, _core
from bvdt.lifting.lifted import lift
from bvdt.neighbors import NeighborIndex
from bvdt.tree import ward_tree
from bvdt.tree.balance import limit_depth
from bvdt.tree.chunking import Clusters, split, split_levels
from helpers.points import draw, draw_with_zeros, make

pytestmark = pytest.mark.kernel

NAMES = [
    "squared_euclidean",
    "mahalanobis",
    "gid",
    "kl",
    "multinomial",
    "itakura_saito",
    "logistic",
    "negative_binomial",
    "custom",
]
SPARSE = ["squared_euclidean", "gid", "kl", "multinomial", "logistic", "negative_binomial", "custom"]


def nodes(tree):
    """Every node as a set of points."""
    return {frozenset(tree.members(k).tolist()) for k in range(tree.n_nodes)}


def lifted_dense(name, rng, n, d=5):
    return lift(draw(name, rng, n, d), make(name, d))


def lifted_sparse(name, rng, n, d=9):
    X = draw_with_zeros(name, rng, n, d) + 0.01 * rng.random((n, d)) * (rng.random((n, d)) < 0.3)
    if name == "kl":
        X /= X.sum(axis=1, keepdims=True)
    if name == "multinomial":
        X *= 20 / X.sum(axis=1, keepdims=True)
    if name == "logistic":
        X = np.minimum(X, 1)
    return lift(sparse.csr_array(X), make(name, d), 0.05 if name != "custom" else 0.0)


def scipy_ward(lifted):
    """Lance–Williams on the roots of the symmetrised divergences; needs every pair."""
    every = np.arange(lifted.n_points)
    D = lifted.divergences(every, every)
    J = D + D.T
    np.fill_diagonal(J, 0)
    return linkage(squareform(np.sqrt(J), checks=False), "ward")


# -- one chunk is Ward itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_one_chunk_is_scipy_ward(name):
    rng = np.random.default_rng(1)
    for _ in range(5):
        lifted = lifted_dense(name, rng, 60)
        assert nodes(ward_tree(lifted)) == nodes(Tree.from_linkage(scipy_ward(lifted)))


@pytest.mark.parametrize("name", SPARSE)
def test_one_chunk_is_scipy_ward_on_sparse_data(name):
    rng = np.random.default_rng(2)
    lifted = lifted_sparse(name, rng, 60)
    # Single precision orders near ties differently: compare the costs, merge by merge.
    Z = scipy_ward(lifted)
    pairs, costs = np.empty((59, 2), np.int32), np.empty(59)
    order, bounds = np.arange(60, dtype=np.int32), np.array([0, 60])
    _core.ward_chunks(*lifted.arrays, np.ones(60), order, bounds, pairs, costs, 1)
    np.testing.assert_allclose(np.sort(costs), Z[:, 2] ** 2 / 2, rtol=1e-4, atol=1e-6 * Z[-1, 2] ** 2)
    assert ward_tree(lifted).validate().n_points == 60


@given(
    st.integers(2, 70), st.integers(1, 20), st.sampled_from(["squared_euclidean", "gid"]), st.integers(0, 99)
)
def test_any_size_of_chunk_costs_as_scipy_ward(n, d, name, seed):
    """Kernels work in tiles: every remainder of points and of coordinates."""
    lifted = lifted_dense(name, np.random.default_rng(seed), n, d)
    pairs, costs = np.empty((n - 1, 2), np.int32), np.empty(n - 1)
    order, bounds = np.arange(n, dtype=np.int32), np.array([0, n])
    _core.ward_chunks(*lifted.arrays, np.ones(n), order, bounds, pairs, costs, 1)
    heights = scipy_ward(lifted)[:, 2]
    np.testing.assert_allclose(np.sort(costs), heights**2 / 2, rtol=1e-4, atol=1e-6 * heights[-1] ** 2)


def test_merges_of_weighted_clusters_cost_as_their_points():
    """Clusters of equal points cost what Ward's linkage of the points themselves costs."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 3))
    times = rng.integers(1, 5, size=12)
    lifted, repeated = lift(X, "squared_euclidean"), lift(np.repeat(X, times, axis=0), "squared_euclidean")
    pairs, costs = np.empty((11, 2), np.int32), np.empty(11)
    order, bounds = np.arange(12, dtype=np.int32), np.array([0, 12])
    _core.ward_chunks(*lifted.arrays, times.astype(float), order, bounds, pairs, costs, 1)
    heights = scipy_ward(repeated)[:, 2]
    np.testing.assert_allclose(np.sort(costs), np.sort(heights)[-11:] ** 2 / 2, rtol=1e-5)


@pytest.mark.parametrize("d", [1, 2, 10, 32])
@pytest.mark.parametrize("kind", ["groups", "one", "ties", "twins", "far"])
def test_known_neighbors_give_the_same_tree(d, kind):
    """Sooner: candidates and limits take the place of scans, whatever the ties."""
    _compare_with_known(d, kind)


def test_known_neighbors_give_the_same_tree_in_place_of_a_matrix():
    _compare_with_known(40, "groups")
    _compare_with_known(100, "one")


def _compare_with_known(d, kind):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(400, d))
    if kind == "groups":
        X += 20 * rng.normal(size=(8, d))[rng.integers(8, size=400)]
    elif kind == "ties":
        X = rng.integers(0, 3, size=(400, d)).astype(float)
    elif kind == "twins":
        X[200:] = X[:200]
    elif kind == "far":
        X[:5] += 1e6
    lifted = lift(X, "squared_euclidean")
    expected = ward_tree(lifted)
    for k in (1, 10, 50):
        near = NeighborIndex.build(lifted).knn_graph(k)
        found = ward_tree(lifted, nearest=near)
        np.testing.assert_array_equal(found.order, expected.order)
        np.testing.assert_array_equal(found.size, expected.size)


# -- several chunks and rounds -----------------------------------------------------------------------------


@given(
    st.sampled_from(NAMES),
    st.integers(2, 150),
    st.integers(2, 20),
    st.floats(1.1, 5),
    st.integers(0, 2**32 - 1),
)
def test_any_chunk_and_shrink_give_a_tree(name, n, chunk, shrink, seed):
    lifted = lifted_dense(name, np.random.default_rng(seed), n)
    ward_tree(lifted, chunk=chunk, shrink=shrink, random_state=seed).validate()


@given(st.sampled_from(SPARSE), st.integers(2, 150), st.integers(2, 20), st.integers(0, 2**32 - 1))
def test_any_sparse_data_give_a_tree(name, n, chunk, seed):
    lifted = lifted_sparse(name, np.random.default_rng(seed), n)
    ward_tree(lifted, chunk=chunk, random_state=seed).validate()


@pytest.mark.parametrize("make_lifted", [lifted_dense, lifted_sparse])
def test_threads_do_not_change_the_tree(make_lifted):
    lifted = make_lifted("gid", np.random.default_rng(4), 3000)
    one, two, again, other = (
        ward_tree(lifted, chunk=100, random_state=seed, n_jobs=jobs)
        for seed, jobs in [(7, 1), (7, 2), (7, 2), (8, 2)]
    )
    for name in ("left", "right", "parent", "size", "start", "order"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        np.testing.assert_array_equal(getattr(one, name), getattr(again, name))
    assert not np.array_equal(one.order, other.order)


def test_separated_clusters_are_subtrees():
    """However the chunks fall, points of one tight cluster are merged before clusters are."""
    rng = np.random.default_rng(5)
    label = rng.integers(12, size=900)
    X = 100 * rng.normal(size=(12, 4))[label] + rng.normal(size=(900, 4))
    found = nodes(ward_tree(lift(X, "squared_euclidean"), chunk=120, random_state=0))
    assert all(frozenset(np.flatnonzero(label == c).tolist()) in found for c in range(12))


@given(st.integers(20, 300), st.integers(5, 40), st.integers(0, 2**32 - 1))
def test_split_keeps_every_point_once(n, cap, seed):
    lifted = lifted_dense("gid", np.random.default_rng(seed), n)
    order, bounds = np.arange(n, dtype=np.int32), np.array([0, n])
    for _ in range(60):
        before = bounds
        level = (np.array([0.02]), np.array([seed]))
        bounds, used = _core.split_levels(*lifted.arrays, np.ones(n), order, bounds, cap, *level, 2)
        assert set(before) <= set(bounds)
        assert used == (len(bounds) > len(before))
        if not used:
            break
    assert np.diff(bounds).max() <= cap
    assert np.diff(bounds).min() >= 1
    assert sorted(order) == list(range(n))


@given(st.integers(20, 2500), st.integers(1, 20), st.booleans(), st.integers(0, 2**32 - 1))
def test_dense_and_sparse_points_are_split_alike(n, d, self_dual, seed):
    rng = np.random.default_rng(seed)
    x = rng.gamma(2.0, size=(n, d))
    h = x if self_dual else np.log(x)
    X = sparse.csr_array(x)
    as_csr = (X.indptr.astype(np.int64), X.indices.astype(np.int32), x.ravel(), h.ravel(), d)
    found = []
    for arrays in ((x, h), as_csr):
        order = np.arange(n, dtype=np.int32)
        levels = (np.array([0.05, 0.05]), np.array([seed, seed + 1]))
        bounds, _ = _core.split_levels(*arrays, np.ones(n), order, np.array([0, n]), 10, *levels, 2)
        found.append((order, bounds))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize(("n", "d"), [(40, 3), (3000, 4), (700, 1500)])  # the last: rows too long for a cache
@pytest.mark.parametrize("name", ["squared_euclidean", "gid", "sparse"])
def test_all_levels_at_once_are_one_after_another(n, d, name):
    rng = np.random.default_rng(n)
    X = rng.gamma(2.0, size=(n, d)) * (1 + 9 * (np.arange(n) % 3 == 0))[:, None]
    arrays = lift(sparse.csr_array(X), "gid", 0.1).arrays if name == "sparse" else lift(X, name).arrays
    weight = rng.uniform(0.5, 3, size=n)
    sides, seeds = np.array([0.05] * 9 + [0.5] * 9), rng.integers(2**63, size=18)
    slow, bounds, needed = np.arange(n, dtype=np.int32), np.array([0, n]), 0
    for level in range(18):
        options = (7, sides[level : level + 1], seeds[level : level + 1], 1)
        bounds, used = _core.split_levels(*arrays, weight, slow, bounds, *options)
        needed += used
    for threads in (1, 2, 3):
        order = np.arange(n, dtype=np.int32)
        call = (*arrays, weight, order, np.array([0, n]), 7, sides, seeds, threads)
        found, levels = _core.split_levels(*call)
        np.testing.assert_array_equal(order, slow)
        np.testing.assert_array_equal(found, bounds)
        assert levels == needed


def test_splitting_takes_no_more_seeds_than_levels():
    """So that what is drawn afterwards does not depend on how many levels were made ready."""
    lifted = lift(np.random.default_rng(3).normal(size=(500, 2)), "squared_euclidean")
    clusters = Clusters(lifted.arrays, np.ones(500))
    whole, apart = np.random.default_rng(4), np.random.default_rng(4)
    order = np.arange(500, dtype=np.int32)
    *_, bounds = split_levels(clusters, 10, order, apart, 1)
    found = split(clusters, 10, whole, 2)
    np.testing.assert_array_equal(found[0], order)
    np.testing.assert_array_equal(found[1], bounds)
    assert whole.random() == apart.random()


@given(st.integers(1, 60), st.integers(1, 20), st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_dense_group_means_are_means(n, n_groups, seed, threads):
    rng = np.random.default_rng(seed)
    x, weight = rng.normal(size=(n, 5)), rng.uniform(0.5, 3, size=n)
    n_groups = min(n, n_groups)
    group = rng.permutation(np.r_[np.arange(n_groups), rng.integers(n_groups, size=n - n_groups)])
    means = np.full((n_groups, 5), np.nan)
    total = np.full(n_groups, np.nan)
    _core.dense_group_means(x, weight, group.astype(np.int32), means, total, threads)
    np.testing.assert_array_equal(total, np.bincount(group, weight, n_groups))
    slow = [np.average(x[group == g], axis=0, weights=weight[group == g]) for g in range(n_groups)]
    np.testing.assert_allclose(means, slow, atol=1e-14)


@given(st.integers(1, 60), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_group_means_are_means(n, n_groups, seed):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, 15), density=0.3, rng=rng, format="csr")
    H = sparse.csr_array((rng.normal(size=X.nnz), X.indices, X.indptr), shape=X.shape)
    n_groups = min(n, n_groups)
    group = rng.permutation(np.r_[np.arange(n_groups), rng.integers(n_groups, size=n - n_groups)])
    weight = rng.uniform(0.5, 3, size=n)
    indptr, indices, x, h = _core.group_means(
        X.indptr.astype(np.int64), X.indices, X.data, H.data, 15, weight, group.astype(np.int32), n_groups, 2
    )
    for data, points in ((x, X), (h, H)):
        means = sparse.csr_array((data, indices, indptr), shape=(n_groups, 15)).toarray()
        slow = [
            np.average(points.toarray()[group == g], axis=0, weights=weight[group == g])
            for g in range(n_groups)
        ]
        np.testing.assert_allclose(means, slow, atol=1e-14)


# -- data that break trees ---------------------------------------------------------------------------------


def depth_limit(n):
    return 4 * math.log2(n) + 50


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n", [2, 3, 5, 1000, 5000])
def test_equal_points_are_split_evenly(storage, n):
    lifted = lift(storage(np.tile([1.0, 0.0, 3.0], (n, 1))), "gid", 0.1)
    assert ward_tree(lifted, random_state=0).validate().depth <= math.ceil(math.log2(n)) + 2


def test_many_duplicates():
    rng = np.random.default_rng(6)
    X = rng.poisson(2.0, size=(20, 6))[rng.integers(20, size=4000)]
    tree = ward_tree(lift(X, "gid", 0.1), random_state=0).validate()
    assert tree.depth <= depth_limit(4000)
    distinct = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    found = nodes(tree)
    assert all(frozenset(np.flatnonzero(distinct == c).tolist()) in found for c in range(distinct.max() + 1))


@pytest.mark.parametrize("far", [1e9, 1e100])
def test_one_far_outlier(far):
    X = np.random.default_rng(7).normal(size=(3000, 4))
    X[17] = far
    tree = ward_tree(lift(X, "squared_euclidean"), random_state=0).validate()
    assert tree.depth <= depth_limit(3000)
    assert (
        17
        in (tree.members(tree.left[0]).tolist(), tree.members(tree.right[0]).tolist())[
            int(tree.size[tree.right[0]] == 1)
        ]
    )
    assert 1 in (tree.size[tree.left[0]], tree.size[tree.right[0]])


def test_a_giant_cluster_and_many_singletons():
    rng = np.random.default_rng(8)
    X = np.vstack([rng.normal(size=(3000, 3)), 1e4 * rng.normal(size=(1500, 3))])
    assert ward_tree(lift(X, "squared_euclidean"), random_state=0).validate().depth <= depth_limit(4500)


def test_geometric_distances_stay_shallow():
    """Distances that double make Ward's tree a caterpillar; its depth is bounded all the same."""
    X = 1.5 ** np.arange(800)[:, None]
    tree = ward_tree(lift(X, "squared_euclidean"), random_state=0).validate()
    assert tree.depth <= depth_limit(800)


def test_empty_rows_and_one_feature():
    X = sparse.random_array((2000, 50), density=0.002, rng=np.random.default_rng(9), format="csr")
    assert (np.diff(X.indptr) == 0).any()
    ward_tree(lift(X, "gid", 0.1), random_state=0).validate()
    ward_tree(lift(np.random.default_rng(9).normal(size=(2000, 1)), "squared_euclidean")).validate()


@given(st.integers(2, 80), st.integers(0, 2**32 - 1))
def test_limited_depth_keeps_the_points(n, seed):
    """Random caterpillar-like trees: valid, bounded, and untouched when shallow enough."""
    rng = np.random.default_rng(seed)
    merges, roots = [], list(rng.permutation(n))
    while len(roots) > 1:
        a, b = roots.pop(), roots.pop(int(rng.integers(len(roots))) if rng.random() < 0.1 else -1)
        merges.append((a, b))
        roots.append(n + len(merges) - 1)
    tree = Tree.from_merges(merges).validate()
    most = int(2 * math.log2(n)) + 4
    limited = limit_depth(tree, most).validate()
    assert limited.depth <= most
    assert limit_depth(tree, tree.depth) is tree


# -- what it refuses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [{"chunk": 1}, {"shrink": 1.0}, {"n_jobs": 0}, {"random_state": "seed"}])
def test_refuses_bad_settings(bad):
    lifted = lift(np.eye(4), "squared_euclidean")
    with pytest.raises(ValueError, match=next(iter(bad))):
        ward_tree(lifted, **bad)
