"""Products, transposes, rows and dense forms agree; threads and dtypes behave."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import aslinearoperator, eigs, eigsh, gmres

import bvdt
from bvdt.operators import TransitionOperator
from bvdt.operators.single_tree import row_values
from bvdt.operators.tree_product import BlockProduct, CoarsestProduct
from helpers.engine_cases import (
    DIVERGENCES,
    dense_matrix,
    random_data,
    random_lifted,
    random_partition,
    random_tree,
)

seeds = st.integers(0, 2**32 - 1)


def random_operator(n_points, n_splits, rng, chain=False, bandwidth=1.0):
    tree = random_tree(n_points, rng, chain)
    lifted = random_lifted("gid", n_points, rng)
    return TransitionOperator(
        lifted, tree, partition=random_partition(tree, n_splits, rng), bandwidth=bandwidth
    )


def with_limits(op, **limits):
    """The same operator, with subtrees of other sizes in its product."""
    if isinstance(op.product, CoarsestProduct):
        op.product = replace(op.product, **limits)
    return op


@pytest.mark.kernel
@pytest.mark.parametrize("subtree_points", [4, 2048], ids=["small subtrees", "one subtree"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [None, 1, 2, 20, 70])
@pytest.mark.parametrize("n_splits", [0, 200])
@pytest.mark.parametrize("chain", [False, True])
def test_products_equal_the_dense_product(dtype, n_columns, n_splits, chain, subtree_points):
    """1e-12 relative (float64), threads 1 and 2 identical, Q and Qᵀ."""
    rng = np.random.default_rng(0)
    op = with_limits(random_operator(100, n_splits, rng, chain), subtree_points=subtree_points).astype(dtype)
    Q = dense_matrix(op.tree, op.partition, op.partition.q)
    v = rng.random(100 if n_columns is None else (100, n_columns)).astype(dtype)
    tolerance = 1e-12 if dtype == np.float64 else 3e-7
    for operator, dense in ((op, Q), (op.T, Q.T), (op.T.T, Q), (op.H, Q.T)):
        assert (operator @ v).dtype == dtype
        assert (operator @ v).shape == v.shape
        assert_allclose(operator @ v, dense @ v.astype(np.float64), rtol=tolerance)
    for side in ("forward", "transpose", "mean"):
        out = [np.empty((100, v.size // 100), dtype) for _ in range(2)]
        for threads in (1, 2):
            op.product.apply(v.reshape(100, -1), side, out[threads - 1], threads)
        assert_array_equal(out[0], out[1])


@pytest.mark.kernel
@pytest.mark.parametrize("n_points", [2, 3, 17, 700])
def test_one_column_equals_the_same_among_many(n_points):
    rng = np.random.default_rng(n_points)
    op = with_limits(random_operator(n_points, 0, rng), subtree_points=8)
    v = rng.random(n_points)
    for operator in (op, op.T):
        assert_allclose(operator @ v, (operator @ np.stack([v, v], axis=1))[:, 0], rtol=1e-14)


@pytest.mark.kernel
@given(n_points=st.integers(2, 60), n_splits=st.integers(0, 60), k=st.integers(1, 5), seed=seeds)
def test_adjoint_rows_and_sums(n_points, n_splits, k, seed):
    rng = np.random.default_rng(seed)
    op = random_operator(n_points, n_splits, rng, chain=seed % 3 == 0)
    v, w = rng.random((n_points, k)), rng.random((n_points, k))
    assert_allclose(((op @ v) * w).sum(), (v * (op.T @ w)).sum(), rtol=1e-12)
    assert_allclose(op @ np.ones(n_points), 1.0, rtol=0, atol=1e-12)
    Q = op.toarray()
    assert_allclose(Q, dense_matrix(op.tree, op.partition, op.partition.q), rtol=0, atol=0)
    assert (Q >= 0).all()
    assert_array_equal(np.diag(Q), 0.0)
    assert_allclose(Q.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_permuting_the_data_permutes_the_answer(divergence):
    rng = np.random.default_rng(0)
    X = random_data(divergence, 30, rng)
    tree = random_tree(30, rng)
    p = rng.permutation(30)
    moved = bvdt.Tree.from_sizes(tree.size, np.argsort(p)[tree.order])
    op, other = (
        bvdt.transition_matrix(x, divergence, tree=t, bandwidth=0.5) for x, t in ((X, tree), (X[p], moved))
    )
    assert_allclose(other.toarray(), op.toarray()[np.ix_(p, p)], rtol=1e-9)


def test_dtypes_follow_numpy():
    op = random_operator(20, 0, np.random.default_rng(0))
    single = op.astype(np.float32)
    for operator in (op, single):
        for dtype in (np.float32, np.float64, np.int64, np.bool_):
            v = np.ones(20, dtype)
            assert (operator @ v).dtype == np.result_type(operator.dtype, dtype)
    v = np.arange(20) + 1j * np.ones(20)
    assert_allclose(op @ v, op.toarray() @ v)
    assert_allclose(op @ np.ones((20, 6))[:, ::2], 1.0)  # not contiguous
    with pytest.raises(ValueError, match="float32 or float64"):
        op.astype(np.int32)


def test_works_in_scipy():
    rng = np.random.default_rng(0)
    op = random_operator(60, 30, rng)
    Q = op.toarray()
    values = np.sort(np.abs(eigs(op, k=4, return_eigenvectors=False, v0=np.ones(60))))
    assert_allclose(values, np.sort(np.abs(np.linalg.eigvals(Q)))[-4:], rtol=1e-8)
    b = rng.random(60)
    system = aslinearoperator(np.eye(60)) - 0.9 * op
    solution, info = gmres(system, b, rtol=1e-12)
    assert info == 0
    assert_allclose(solution, np.linalg.solve(np.eye(60) - 0.9 * Q, b), rtol=1e-8)
    assert_allclose((op**2) @ b, Q @ Q @ b)


@pytest.mark.parametrize("n_splits", [0, 20])
def test_symmetrized(n_splits):
    rng = np.random.default_rng(0)
    op = random_operator(50, n_splits, rng)
    S, Q = op.symmetrized(), op.toarray()
    mean = (Q + Q.T) / 2
    expected = mean / np.sqrt(np.outer(mean.sum(axis=1), mean.sum(axis=1)))
    assert_allclose(S.toarray(), expected, rtol=1e-12)
    assert_allclose(S @ np.eye(50), expected, rtol=1e-12, atol=1e-300)
    assert_allclose(S.T @ np.arange(50.0), expected @ np.arange(50.0))
    assert_allclose(S.degrees, mean.sum(axis=1))
    values, vectors = eigsh(S, k=3, which="LA", v0=np.ones(50))
    assert_allclose(values, np.linalg.eigvalsh(expected)[-3:], rtol=1e-8)
    assert_allclose(np.abs(vectors[:, -1]), np.sqrt(S.degrees / S.degrees.sum()), rtol=1e-6)
    single = op.astype(np.float32).symmetrized()
    assert (single @ np.ones(50, np.float32)).dtype == np.float32


def test_rows_values_and_bound():
    rng = np.random.default_rng(0)
    op = random_operator(40, 60, rng, bandwidth=0.7)
    Q = op.toarray()
    D = dense_matrix(op.tree, op.partition, op.mean_divergence) / 0.7
    log_q = np.log(Q, where=Q > 0, out=np.zeros_like(Q))
    assert_allclose(row_values(op), -(Q * (D + log_q)).sum(axis=1))
    assert_allclose(row_values(op).sum(), op.lower_bound)
    assert_array_equal(op.row(-1), op.row(39))
    with pytest.raises(IndexError, match="below 40"):
        op.row(40)
    assert repr(op).startswith("TransitionOperator(n_points=40, n_blocks=")


def test_toarray_refuses_with_the_size(monkeypatch):
    op = random_operator(10, 0, np.random.default_rng(0))
    monkeypatch.setattr(bvdt._support.memory, "available_bytes", lambda: 10.0)
    with pytest.raises(MemoryError, match="GiB"):
        op.toarray()


@pytest.mark.kernel
def test_no_cancellation():
    """Probabilities far below the largest one keep their digits."""
    rng = np.random.default_rng(0)
    op = random_operator(64, 0, rng, bandwidth=0.02)
    Q = op.toarray()
    assert Q.min(where=Q > 0, initial=1.0) < 1e-30
    for j in range(64):
        e = np.zeros(64)
        e[j] = 1.0
        assert_allclose(op @ e, Q[:, j], rtol=1e-12)


@pytest.mark.kernel
def test_kernels_refuse_wrong_sizes():
    op = random_operator(10, 0, np.random.default_rng(0))
    for columns in (1, 2):
        v = np.ones((9, columns))
        with pytest.raises(ValueError, match="N rows"):
            op.product.apply(v, "forward", np.empty_like(v), 1)
        blocks = BlockProduct(op.tree, op.tree.order, op.partition, op.partition.q)
        with pytest.raises(ValueError, match="N rows"):
            blocks.apply(v, "forward", np.empty_like(v), 1)


@pytest.mark.kernel
def test_a_prepared_product_is_its_own():
    """No change of the arrays it was made from reaches it, and copies prepare their own."""
    rng = np.random.default_rng(0)
    op = random_operator(50, 0, rng)
    v, q = rng.random((50, 3)), op.partition.q.copy()
    product = CoarsestProduct(op.tree.size, op.tree.order, q)
    before, after = np.empty_like(v), np.empty_like(v)
    product.apply(v, "forward", before, 1)
    q[:] = np.nan
    product.apply(v, "forward", after, 1)
    assert_array_equal(after, before)
    for other in (copy.copy(op), copy.deepcopy(op), pickle.loads(pickle.dumps(op))):
        assert_array_equal(other @ v, op @ v)
        assert_array_equal(other.T @ v, op.T @ v)
        assert_array_equal(other.mean_with_transpose(v), op.mean_with_transpose(v))


def test_facade_refuses_what_it_cannot_do():
    X = np.random.default_rng(0).random((8, 3))
    tree = random_tree(8, np.random.default_rng(0))
    for bad, match in (
        ({"n_trees": 2}, "n_trees"),
        ({"n_neighbors": 3}, "n_neighbors"),
        ({"tree": "oak"}, "oak"),
        ({"tree": random_tree(7, np.random.default_rng(0))}, "8 points"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"bandwidth": "wide"}, "wide"),
        ({"bandwidth": True}, "bandwidth"),
        ({"n_blocks": 3}, "14"),
        ({"n_blocks": 57}, "56"),
        ({"n_jobs": 0}, "n_jobs"),
    ):
        with pytest.raises(ValueError, match=match):
            bvdt.transition_matrix(X, **{"tree": tree, **bad})


@pytest.mark.parametrize(
    "kind", ["equal", "duplicates", "outlier", "one feature", "two points", "empty rows"]
)
def test_awkward_data(kind):
    rng = np.random.default_rng(0)
    n_points = 2 if kind == "two points" else 30
    X = rng.random((n_points, 1 if kind == "one feature" else 4))
    if kind == "equal":
        X[:] = X[0]
    elif kind == "duplicates":
        X[10:] = X[:20]
    elif kind == "outlier":
        X[3] = 1e8
    elif kind == "empty rows":
        X[:5] = 0
    tree = random_tree(n_points, rng)
    for bandwidth in ("auto", "learn", 1.0):
        for divergence, smoothing in (("gid", 0.1), ("squared_euclidean", "auto")):
            op = bvdt.transition_matrix(X, divergence, smoothing=smoothing, tree=tree, bandwidth=bandwidth)
            assert_allclose(op @ np.ones(n_points), 1.0, rtol=0, atol=1e-12)
            assert 0 < op.bandwidth < np.inf
