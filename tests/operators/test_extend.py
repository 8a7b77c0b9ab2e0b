"""Rows of new points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage

import bvdt
from bvdt.lifting import row_hashes
from bvdt.operators import TransitionOperator
from bvdt.operators.single_tree import row_values
from helpers.engine_cases import DIVERGENCES, random_data, random_lifted, random_tree


def operator(divergence="gid", n_points=200, as_sparse=False, seed=0):
    rng = np.random.default_rng(seed)
    X = random_data(divergence, n_points, rng, as_sparse=as_sparse)
    tree = bvdt.Tree.from_linkage(linkage(X.toarray() if as_sparse else X, "ward"))
    smoothing = 0.1 if as_sparse and divergence != "squared_euclidean" else "auto"
    return X, bvdt.transition_matrix(X, divergence, tree=tree, smoothing=smoothing, bandwidth=0.5)


@pytest.mark.kernel
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_training_points_find_themselves(divergence, as_sparse):
    if as_sparse and divergence == "itakura_saito":
        pytest.skip("zeros are outside its domain")
    X, op = operator(divergence, as_sparse=as_sparse)
    new = op.extend(X)
    first = np.unique(row_hashes(op.lifted), return_inverse=True)[1]
    assert_array_equal(first[new.nearest], first)
    for i in (0, 17):
        row, own = new.row(i), op.row(int(new.nearest[i]))
        rest = np.arange(len(row)) != new.nearest[i]
        assert_allclose(row[rest], own[rest] * (1 - row[new.nearest[i]]), rtol=1e-12)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_rows_products_and_sums(as_sparse):
    _, op = operator(as_sparse=as_sparse)
    rng = np.random.default_rng(5)
    X_new = random_data("gid", 30, rng, as_sparse=as_sparse)
    new = op.extend(X_new)
    dense = new.toarray()
    assert new.shape == dense.shape == (30, 200)
    assert_allclose(dense.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert (dense >= 0).all()
    V, W = rng.random((200, 3)), rng.random((30, 3))
    assert_allclose(new @ V, dense @ V, rtol=1e-12)
    assert_allclose(new @ V[:, 0], dense @ V[:, 0], rtol=1e-12)
    assert_allclose(new.T @ W, dense.T @ W, rtol=1e-12)
    assert_allclose(new.T @ W[:, 0], dense.T @ W[:, 0], rtol=1e-12)
    assert repr(new) == "ExtendedOperator(n_new=30, n_points=200, dtype=float64)"


def test_the_nearest_point_and_its_weight():
    _, op = operator()
    X_new = random_data("gid", 20, np.random.default_rng(1))
    new = op.extend(X_new)
    lifted = op.lifted.lifting.transform(X_new)
    d = lifted.u[:, None] + op.lifted.w - lifted.X @ op.lifted.H.T
    assert_array_equal(new.nearest, d.argmin(axis=1))
    near = np.exp(-d.min(axis=1) / op.bandwidth)
    assert_allclose(new.weight, near / (near + np.exp(row_values(op)[new.nearest])), rtol=1e-9)


def test_far_and_wrong_queries():
    _, op = operator("squared_euclidean")
    far = op.extend(np.full((1, 4), 1e6))
    assert_allclose(far.toarray().sum(), 1.0)
    assert_allclose(op.extend(np.full((1, 4), 1e6)) @ np.ones(200), 1.0)
    with pytest.raises(ValueError, match="4 features"):
        op.extend(np.ones((2, 3)))
    rng = np.random.default_rng(0)
    lifted = random_lifted("gid", 5, rng)
    bare = type(lifted)(lifted.u, lifted.w, lifted.X, lifted.H)
    with pytest.raises(ValueError, match="divergence"):
        TransitionOperator(bare, random_tree(5, rng)).extend(np.ones((1, 4)))
