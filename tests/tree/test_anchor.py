"""The anchor tree against a slow, plain version of Sections 2.3 and 3.3; its growing against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp

from bvdt import Tree, divergences
from bvdt.lifting.lifted import lift
from bvdt.tree.anchor import building as anchor
from bvdt.tree.anchor.building import anchor_tree
from bvdt.tree.anchor.growing import Threshold, grow_anchors, grow_many
from helpers.properties import examples

pytestmark = pytest.mark.kernel

CUSTOM = divergences.BregmanDivergence(phi=lambda x: x**4 / 4 + x**2 / 2, grad=lambda x: x**3 + x)
NAMES = [
    "squared_euclidean",
    "mahalanobis",
    "gid",
    "itakura_saito",
    "kl",
    "multinomial",
    "logistic",
    "negative_binomial",
    "custom",
]


def points_for(name, rng, n, d=4):
    """Points strictly inside the divergence's domain, in a few loose clusters."""
    centers = rng.gamma(1.0, 2.0, size=(5, d)) + 0.1
    X = centers[rng.integers(5, size=n)] * rng.gamma(4.0, 0.25, size=(n, d)) + 1e-3
    if name in ("kl", "multinomial"):
        return X / X.sum(axis=1, keepdims=True) * (1.0 if name == "kl" else 30.0)
    return X / (1.0 + X) if name == "logistic" else X


def lifted_for(name, rng, n, d=4):
    own = {
        "custom": CUSTOM,
        "negative_binomial": divergences.NegativeBinomial(0.5),
        "mahalanobis": divergences.Mahalanobis(covariance=np.eye(d) + 0.5),
    }
    return lift(points_for(name, rng, n, d), own.get(name, name))


def sparse_lifted(name, rng, n, d=30, density=0.2):
    X = sparse.random_array(
        (n, d), density=density, rng=rng, format="csr", data_sampler=rng.standard_exponential
    )
    return lift(X, name, 0.05)


def true_points(lifted):
    """The (smoothed) points themselves, dense."""
    return lifted.X.toarray() + lifted.base if lifted.is_sparse else lifted.X


# -- the slow twin ----------------------------------------------------------------------------------------


def reference_nodes(lifted, seed, merge="bregman"):
    """Every node of the tree as a set of points; no pruning, no lifted form, one recursion."""
    X, divergence = true_points(lifted), lifted.lifting.divergence
    D = divergence.pairwise(X, X)
    rng = np.random.default_rng(seed)
    draws = [rng.random(len(X)) for _ in range(60)]
    nodes = set()

    def build(members, level):
        nodes.add(frozenset(members))
        if len(members) == 1:
            return
        first = members[int(draws[level][members[0]] * len(members))]
        anchors = reference_growth(D, members, first, int(np.ceil(np.sqrt(len(members)))))
        reference_agglomeration(X, D, anchors, divergence, merge, nodes)
        for inside in anchors.values():
            build(inside, level + 1)

    build(list(range(len(X))), 0)
    return nodes


def reference_growth(D, members, first, n_anchors):
    """Eq. (7): {pivot: its members}."""
    owner = dict.fromkeys(members, first)
    for _ in range(n_anchors - 1):
        new = max(members, key=lambda i: D[i, owner[i]])  # the first of equals
        for i in members:
            if D[i, new] < D[i, owner[i]]:
                owner[i] = new
    pivots = dict.fromkeys(owner.values())
    return {p: [i for i in members if owner[i] == p] for p in pivots}


def reference_agglomeration(X, D, anchors, divergence, merge, nodes):
    """Eq. (9), (10) and (22); adds every merged set to ``nodes``."""
    clusters = [(X[p], max(np.sqrt(2 * D[i, p]) for i in m), m) for p, m in anchors.items()]

    def joined(a, b):
        (a_p, a_r, a_m), (b_p, b_r, b_m) = clusters[a], clusters[b]
        c_p = (len(a_m) * a_p + len(b_m) * b_p) / (len(a_m) + len(b_m))  # Eq. (9)
        c_r = (a_r + b_r + np.linalg.norm(a_p - b_p)) / 2  # Eq. (10)
        delta = len(a_m) * divergence.div(a_p, c_p) + len(b_m) * divergence.div(b_p, c_p)  # Eq. (22)
        return (c_r if merge == "radius" else delta), (c_p, c_r, a_m + b_m)

    while len(clusters) > 1:
        pairs = [(a, b) for a in range(len(clusters)) for b in range(a + 1, len(clusters))]
        a, b = min(pairs, key=lambda pair: joined(*pair)[0])
        parent = joined(a, b)[1]
        clusters = [c for k, c in enumerate(clusters) if k not in (a, b)] + [parent]
        nodes.add(frozenset(parent[2]))


def nodes_of(tree):
    return {frozenset(tree.members(k).tolist()) for k in range(tree.n_nodes)}


@pytest.mark.parametrize("n", [2, 3, 4, 5, 17, 90])
@pytest.mark.parametrize("name", NAMES)
def test_same_tree_as_the_slow_twin(name, n):
    lifted = lifted_for(name, np.random.default_rng(n), n)
    assert nodes_of(anchor_tree(lifted, random_state=3).validate()) == reference_nodes(lifted, 3)


@pytest.mark.parametrize("sparse_from", [3, 1000])
@pytest.mark.parametrize("name", ["squared_euclidean", "gid", "itakura_saito", "logistic"])
def test_same_tree_as_the_slow_twin_on_sparse_data(name, sparse_from, monkeypatch):
    monkeypatch.setattr("bvdt.tree.anchor.merging._SPARSE_FROM", sparse_from)
    monkeypatch.setattr("bvdt.divergences.table1.Logistic.auto_smoothing", 0.01)
    rng = np.random.default_rng(5)
    X = sparse.random_array((110, 25), density=0.2, rng=rng, format="csr", data_sampler=rng.random)
    lifted = lift(X, name, 0.05)
    assert lifted.is_sparse
    assert nodes_of(anchor_tree(lifted, random_state=1).validate()) == reference_nodes(lifted, 1)


@pytest.mark.parametrize("large", [2, 10_000])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_radius_merges_as_the_original_dual_tree(storage, large, monkeypatch):
    monkeypatch.setattr(anchor, "_LARGE", large)
    monkeypatch.setattr("bvdt.tree.anchor.merging._SPARSE_FROM", 6)
    rng = np.random.default_rng(8)
    make = lifted_for if storage == "dense" else sparse_lifted
    lifted = make("squared_euclidean", rng, 100)
    tree = anchor_tree(lifted, merge="radius", random_state=2)
    assert nodes_of(tree.validate()) == reference_nodes(lifted, 2, merge="radius")
    assert nodes_of(tree) != nodes_of(anchor_tree(lifted, random_state=2))


# -- growing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 300), k=st.integers(1, 20))
@examples(15)
def test_every_point_is_with_its_nearest_pivot(name, seed, n, k):
    rng = np.random.default_rng(seed)
    lifted = lifted_for(name, rng, n)
    points = np.arange(n, dtype=np.int32)
    first = int(rng.integers(n))
    anchors = grow_anchors(lifted, points, first, min(k, n))
    X = true_points(lifted)
    D = lifted.lifting.divergence.pairwise(X, X[anchors.pivots])
    at = D[points, anchors.owner]
    scale = np.abs(lifted.u) + np.abs(lifted.w[anchors.pivots[anchors.owner]]) + D.max()
    np.testing.assert_array_less(at, D.min(axis=1) + 1e-12 * scale)
    np.testing.assert_allclose(anchors.distance, at, atol=1e-12 * scale.max())
    assert anchors.pivots[0] == first
    assert np.array_equal(anchors.owner[anchors.pivots], np.arange(len(anchors.pivots)))


@pytest.mark.parametrize("name", NAMES)
def test_pruning_changes_nothing_and_skips(name):
    rng = np.random.default_rng(0)
    lifted = lifted_for(name, rng, 3000, d=2)
    points = np.arange(3000, dtype=np.int32)
    pruned = grow_anchors(lifted, points, 7, 55)
    plain = grow_anchors(lifted, points, 7, 55, prune=False)
    together = grow_many(lifted, points, np.array([3000]), np.array([7]), np.array([55]))
    for other in (plain, together):
        np.testing.assert_array_equal(pruned.pivots, other.pivots)
        np.testing.assert_array_equal(pruned.owner, other.owner)
        np.testing.assert_array_equal(pruned.distance, other.distance)
    assert plain.evaluations == together.evaluations == 3000 * 55
    assert pruned.evaluations < 0.7 * plain.evaluations


@pytest.mark.parametrize("name", ["squared_euclidean", "gid"])
def test_pruning_on_sparse_data_changes_nothing(name):
    rng = np.random.default_rng(1)
    centers = sparse.random_array((12, 40), density=0.3, rng=rng, format="csr")
    X = 9.0 * centers[rng.integers(12, size=2000)]
    X.data *= rng.uniform(0.9, 1.1, size=X.nnz)
    lifted = lift(X, name, 0.1)
    points = np.arange(2000, dtype=np.int32)
    pruned, plain = (grow_anchors(lifted, points, 0, 40, prune=prune) for prune in (True, False))
    np.testing.assert_array_equal(pruned.pivots, plain.pivots)
    np.testing.assert_array_equal(pruned.owner, plain.owner)
    assert pruned.evaluations < 0.5 * plain.evaluations


def least_on_the_plane(divergence, a, b):
    def value(t):
        y = a.sum() * np.exp(t - logsumexp(t))
        return 0.5 * float(divergence.div(y, a) + divergence.div(y, b))

    return minimize(value, np.log(a), method="BFGS", options={"gtol": 1e-10}).fun


@pytest.mark.parametrize("name", NAMES)
def test_threshold_is_the_minimum_of_equation_23(name):

    lifted = lifted_for(name, np.random.default_rng(4), 6)
    divergence, X = lifted.lifting.divergence, true_points(lifted)
    got = Threshold.of(lifted)([0, 1, 2], 5)
    y = divergence.grad_inverse(0.5 * (lifted.H[[0, 1, 2]] + lifted.H[5]))  # Eq. (24)
    wanted = [0.5 * (divergence.div(y[k], X[k]) + divergence.div(y[k], X[5])) for k in range(3)]
    if name in ("kl", "multinomial"):  # over the rows of the data's sum, by a general solver
        wanted = [least_on_the_plane(divergence, X[k], X[5]) for k in range(3)]
    np.testing.assert_allclose(got, wanted, rtol=1e-4 if name in ("kl", "multinomial") else 1e-6)
    assert (got <= np.array(wanted) * (1 + 1e-9)).all()
    if name == "squared_euclidean":  # Eq. (8), as d = ½‖·‖²
        np.testing.assert_allclose(got, (np.linalg.norm(X[:3] - X[5], axis=1) / 2) ** 2 / 2, rtol=1e-8)


# -- the whole tree ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("name", ["squared_euclidean", "gid"])
def test_same_arrays_for_any_number_of_threads(name, storage):
    rng = np.random.default_rng(2)
    if storage == "dense":
        lifted = lifted_for(name, rng, 30_000, d=150)
    else:
        lifted = sparse_lifted(name, rng, 6000, d=900)
    one, two = (anchor_tree(lifted, random_state=5, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.size, two.size)
    np.testing.assert_array_equal(one.order, two.order)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), d=st.integers(1, 3), levels=st.integers(0, 2))
@examples(60)
def test_valid_on_points_with_many_ties(seed, n, d, levels):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels + 1, size=(n, d)).astype(float)
    for lifted in (lift(X, "gid", 0.5), lift(sparse.csr_array(X), "gid", 0.5), lift(X, "squared_euclidean")):
        anchor_tree(lifted, random_state=seed).validate()


def test_equal_points_are_split_evenly():
    tree = anchor_tree(lift(np.full((1000, 3), 0.1), "gid"), random_state=0).validate()
    assert tree.depth == 10
    X = np.repeat(np.random.default_rng(0).gamma(2.0, size=(3, 7)), 700, axis=0)
    assert anchor_tree(lift(X, "itakura_saito"), random_state=0).validate().depth <= 2 + 10


def test_far_outlier():
    X = np.random.default_rng(0).normal(size=(500, 3))
    X[17] += 1e9
    tree = anchor_tree(lift(X, "squared_euclidean"), random_state=0).validate()
    assert 17 in [tree.order[tree.start[k]] for k in (tree.left[0], tree.right[0]) if tree.size[k] == 1]


def test_empty_rows_and_one_feature():
    X = sparse.csr_array(np.diag(np.arange(40.0) % 5))
    anchor_tree(lift(X, "gid", 0.01), random_state=0).validate()
    anchor_tree(lift(sparse.csr_array((30, 4)), "gid", 0.01), random_state=0).validate()
    anchor_tree(lift(np.arange(50.0)[:, None], "squared_euclidean"), random_state=0).validate()


@pytest.mark.slow
def test_mutually_distant_outliers_do_not_cost_a_level_each():
    """Each becomes an anchor of one point, √n a level: without a limit on levels about √N of them."""
    n = 10_000
    X = sparse.diags_array(np.where(np.arange(n) < n // 2, 1.0, 1e-3)).tocsr()
    tree, stats = anchor_tree(lift(X, "squared_euclidean"), random_state=0, return_stats=True)
    tree.validate()
    assert stats.levels < 60


def test_random_states_and_statistics():
    lifted = lifted_for("gid", np.random.default_rng(0), 400)
    trees = [
        anchor_tree(lifted, random_state=state)
        for state in (0, np.random.default_rng(0), np.random.RandomState(0), None)
    ]
    np.testing.assert_array_equal(trees[0].order, trees[1].order)
    assert all(isinstance(tree.validate(), Tree) for tree in trees)
    _, stats = anchor_tree(lifted, random_state=0, return_stats=True)
    assert 400 < stats.evaluations < stats.brute_force
    assert stats.brute_force >= 400 * 20
    assert 0.0 <= stats.skipped < 1.0


def test_progress_bar(capsys):
    anchor_tree(lifted_for("gid", np.random.default_rng(0), 50), progress=True)
    capsys.readouterr()


# -- refusals ---------------------------------------------------------------------------------------------


def test_refuses_what_it_cannot_do():
    lifted = lifted_for("gid", np.random.default_rng(0), 10)
    with pytest.raises(ValueError, match="squared Euclidean"):
        anchor_tree(lifted, merge="radius")
    with pytest.raises(ValueError, match="'ward'"):
        anchor_tree(lifted, merge="ward")
    with pytest.raises(ValueError, match="n_jobs"):
        anchor_tree(lifted, n_jobs=0)
