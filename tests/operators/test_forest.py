"""A mean of several trees (theory: A forest), with or without a near field (theory: Near and far field)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import bvdt
from bvdt.operators import ForestOperator, TransitionOperator
from bvdt.operators.quality import log_exact_rows
from helpers.engine_cases import DIVERGENCES, random_data, random_lifted, random_tree


def forest(n_trees=3, n_neighbors=0, n_points=60, divergence="gid", as_sparse=False, **options):
    X = random_data(divergence, n_points, np.random.default_rng(0), as_sparse=as_sparse)
    smoothing = 0.1 if as_sparse and divergence != "squared_euclidean" else "auto"
    options = {"random_state": 0, "bandwidth": 0.5} | options
    return X, bvdt.transition_matrix(
        X, divergence, n_trees=n_trees, n_neighbors=n_neighbors, smoothing=smoothing, **options
    )


def different_trees(n_trees, n_points=40, divergence="gid", seed=0):
    """Random trees: Ward trees of few points are one chunk, and all the same."""
    rng = np.random.default_rng(seed)
    lifted = random_lifted(divergence, n_points, rng)
    return [TransitionOperator(lifted, random_tree(n_points, rng), bandwidth=0.7) for _ in range(n_trees)]


def kl_rows(op):
    log_p = log_exact_rows(op.lifted, np.arange(op.shape[0]), op.bandwidth)
    Q = op.toarray()
    return np.where(Q > 0, Q * (np.log(np.maximum(Q, 1e-300)) - np.where(Q > 0, log_p, 0)), 0).sum(axis=1)


@given(
    n_trees=st.integers(1, 4),
    n_points=st.integers(2, 30),
    divergence=st.sampled_from(DIVERGENCES),
    weights=st.sampled_from(["uniform", "bound"]),
    seed=st.integers(0, 10**6),
)
@pytest.mark.slow
def test_the_mean_is_no_further_from_P_than_its_members(n_trees, n_points, divergence, weights, seed):
    members = different_trees(n_trees, n_points, divergence, seed)
    op = ForestOperator(members, weights=weights)
    bound = op.weights @ [kl_rows(member) for member in members]
    assert (kl_rows(op) <= bound + 1e-10).all()
    # The bound of Q is Σ_i log Z_i − KL; the members' mean lies below it.
    d = -op.lifted.divergences(slice(None), slice(None)) / op.bandwidth
    np.fill_diagonal(d, -np.inf)
    own = np.logaddexp.reduce(d, axis=1) - kl_rows(op)
    assert op.lower_bound <= own.sum() + 1e-8 * abs(own).sum()
    assert_allclose(op.row_values().sum(), op.lower_bound, rtol=1e-9)


@pytest.mark.parametrize("n_neighbors", [0, 4])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_equal_the_dense_products(n_neighbors, as_sparse, dtype):
    _, op = forest(n_neighbors=n_neighbors, as_sparse=as_sparse)
    assert isinstance(op, ForestOperator)
    Q = op.toarray()
    op = op.astype(dtype)
    assert_allclose(Q.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert (np.diag(Q) == 0).all()
    assert (Q >= 0).all()
    rng = np.random.default_rng(1)
    for v in (rng.random(60).astype(dtype), rng.random((60, 3)).astype(dtype)):
        for operator, dense in ((op, Q), (op.T, Q.T), (op.T.T, Q)):
            assert (operator @ v).dtype == dtype
            assert_allclose(operator @ v, dense @ v, rtol=1e-12 if dtype == np.float64 else 1e-5)
    S, V = op.symmetrized(), rng.random((60, 2)).astype(dtype)
    assert_allclose(S @ V, S.toarray() @ V, rtol=1e-12 if dtype == np.float64 else 1e-4)


def test_weighted_mean_of_the_members():
    members = different_trees(3)
    op = ForestOperator(members, weights=[1, 0, 3])
    assert_allclose(op.toarray(), 0.25 * members[0].toarray() + 0.75 * members[2].toarray(), rtol=1e-13)
    assert op.n_blocks == 3 * members[0].n_blocks
    assert op.trees[1] is members[1].tree
    by_bound = ForestOperator(members, weights="bound").weights
    assert_array_equal(np.argsort(by_bound), np.argsort([member.lower_bound for member in members]))


@pytest.mark.parametrize("n_neighbors", [0, 5])
def test_threads_and_seeds(n_neighbors, monkeypatch):
    monkeypatch.setattr(bvdt.neighbors.index, "ALL_PAIRS", 50)
    one, two = (forest(n_neighbors=n_neighbors, n_points=300, n_jobs=jobs)[1] for jobs in (1, 2))
    v = np.random.default_rng(0).random((300, 4))
    assert_array_equal(one @ v, two @ v)
    assert_array_equal(one.T @ v, two.T @ v)
    other = forest(n_neighbors=n_neighbors, n_points=300, random_state=1)[1]
    assert not np.array_equal(one @ v, other @ v)
    assert not np.array_equal(one.trees[0].order, one.trees[1].order)


@pytest.mark.parametrize("kind", ["ward", "anchor"])
def test_adding_trees_equals_building_with_more(kind):
    X, small = forest(n_trees=1, n_neighbors=3, tree=kind, bandwidth="auto")
    big = forest(n_trees=4, n_neighbors=3, tree=kind, bandwidth="auto")[1]
    grown = small.add_trees(1).add_trees(2)
    assert grown.n_trees == 4
    assert_array_equal(grown.toarray(), big.toarray())
    assert grown.members[0] is small.members[0]
    assert small.add_trees(0).n_trees == 1
    single = bvdt.transition_matrix(X, random_state=0)
    assert single.add_trees(2, random_state=0).members[0] is single


def test_refinement_is_spread_over_the_members():
    _, op = forest(n_trees=3)
    finer = op.refine(op.n_blocks + 100)
    assert finer.n_blocks == op.n_blocks + 100
    assert np.ptp([member.n_blocks for member in finer.members]) <= 1
    assert finer.lower_bound >= op.lower_bound
    assert forest(n_trees=2, n_blocks=400)[1].n_blocks == 400
    with pytest.raises(ValueError, match="n_blocks needs an integer"):
        op.refine(10)


@pytest.mark.parametrize("n_neighbors", [0, 4])
@pytest.mark.parametrize("n_blocks", [None, 500])
def test_save_and_load(tmp_path, n_neighbors, n_blocks):
    X, op = forest(n_neighbors=n_neighbors, n_blocks=n_blocks, weights="bound")
    op.save(tmp_path / "forest.bvdt")
    other = bvdt.load(tmp_path / "forest.bvdt")
    assert isinstance(other, ForestOperator)
    assert_array_equal(other.toarray(), op.toarray())
    assert other.lower_bound == op.lower_bound
    assert other.quality(10, 0) == op.quality(10, 0)
    assert_array_equal(other.add_trees(1).toarray(), op.add_trees(1).toarray())
    assert_array_equal(other.extend(X).nearest, op.extend(X).nearest)
    assert repr(other) == repr(op)


@pytest.mark.parametrize("n_neighbors", [0, 4])
def test_extension(n_neighbors):
    X, op = forest(n_neighbors=n_neighbors, n_points=80)
    new = op.extend(X[:7])
    assert_array_equal(new.nearest, np.arange(7))
    other = op.extend(random_data("gid", 9, np.random.default_rng(3)))
    dense = other.toarray()
    assert_allclose(dense.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    V = np.random.default_rng(0).random((80, 2))
    assert_allclose(other @ V, dense @ V, rtol=1e-12)


def test_quality_improves_with_trees():
    members = different_trees(6)
    one, six = (ForestOperator(members[:k]).quality(40)["kl"] for k in (1, 6))
    assert six < one
    figures = ForestOperator(members).quality(40)
    assert figures["kl"] <= np.mean([member.quality(40)["kl"] for member in members])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_trees": 0}, "n_trees needs an integer ≥ 1; got 0"),
        ({"n_trees": 1.5}, "n_trees needs an integer"),
        ({"n_trees": "two"}, "n_trees needs an integer"),
        ({"n_neighbors": -1}, "n_neighbors needs an integer from 0 to 59; got -1"),
        ({"n_neighbors": 60}, "n_neighbors needs an integer from 0 to 59; got 60"),
        ({"weights": "best"}, 'weights needs "uniform"'),
        ({"weights": [1, 2]}, "weights needs 3 values"),
        ({"weights": [1, -2, 1]}, "weights needs 3 values"),
        ({"tree": "oak"}, "tree needs"),
    ],
)
def test_bad_arguments(options, match):
    with pytest.raises(ValueError, match=match):
        forest(**options)


def test_a_given_tree_is_one_tree():
    X, op = forest()
    with pytest.raises(ValueError, match=r"got a bvdt\.Tree"):
        bvdt.transition_matrix(X, tree=op.tree, n_trees=2)
    with pytest.raises(ValueError, match="n_trees needs an integer"):
        op.add_trees(-1)
    with pytest.raises(IndexError, match="below 60"):
        op.row(60)
    with pytest.raises(ValueError, match="float32 or float64"):
        op.astype(int)
