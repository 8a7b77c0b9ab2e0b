"""Propagation, PageRank and the stationary distribution against linear algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from bvdt import propagate_labels
from bvdt.operators import TransitionOperator
from bvdt.walks import pagerank, stationary_distribution
from helpers.engine_cases import random_lifted, random_tree


@pytest.fixture(scope="module")
def op():
    rng = np.random.default_rng(0)
    return TransitionOperator(random_lifted("gid", 50, rng), random_tree(50, rng), bandwidth=2.0)


@pytest.fixture(params=["operator", "array", "sparse"])
def matrix(request, op):
    return {"operator": op, "array": op.toarray(), "sparse": sparse.csr_array(op.toarray())}[request.param]


@pytest.mark.parametrize("shape", [(50,), (50, 3)])
def test_propagation_is_equation_29(op, matrix, shape):
    Y0 = np.random.default_rng(1).random(shape)
    Q, Y = op.toarray(), Y0
    for _ in range(7):
        Y = 0.3 * Q @ Y + 0.7 * Y0
    assert_allclose(propagate_labels(matrix, Y0, alpha=0.3, max_iter=7), Y, rtol=1e-12)
    limit = np.linalg.solve(np.eye(50) - 0.3 * Q, 0.7 * Y0)
    assert_allclose(propagate_labels(matrix, Y0, alpha=0.3, tol=1e-13), limit, rtol=1e-10)
    assert_allclose(propagate_labels(matrix, Y0), propagate_labels(matrix, Y0, tol=1e-15), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_propagation_ends_where_rounding_alone_goes_on(op, dtype):
    """As it may on millions of points: a few entries change by a last digit, to and fro."""
    Q, eps, steps = op.toarray(), np.finfo(dtype).eps, 0

    def flickering(Y):
        nonlocal steps
        steps += 1
        return (Q @ Y * (1 + steps % 2 * eps)).astype(dtype)

    M = LinearOperator(Q.shape, matvec=flickering, matmat=flickering, dtype=dtype)
    Y0 = np.eye(50, 3, dtype=dtype)
    Y = propagate_labels(M, Y0, alpha=0.5)
    assert steps < 100
    assert_allclose(Y, np.linalg.solve(np.eye(50) - 0.5 * Q, 0.5 * Y0), rtol=1e3 * eps)


def test_propagation_edges(op):
    Y0 = np.eye(50, dtype=int)[:, :2]
    assert propagate_labels(op, Y0).dtype == np.float64
    assert propagate_labels(op.astype(np.float32), Y0.astype(np.float32)).dtype == np.float32
    same = propagate_labels(op, Y0.astype(float), max_iter=0)
    assert_array_equal(same, Y0)
    with pytest.warns(ConvergenceWarning, match="3 steps"):
        propagate_labels(op, Y0, alpha=0.9, max_iter=3, tol=1e-12)
    for bad, match in (
        ({"alpha": 1.5}, "alpha"),
        ({"max_iter": -1}, "max_iter"),
        ({"Y0": np.ones(49)}, "50 rows"),
        ({"Y0": np.full(50, np.nan)}, r"Y0\[0\] = nan"),
        ({"op": np.ones((2, 3))}, "square"),
    ):
        with pytest.raises(ValueError, match=match):
            propagate_labels(**{"op": op, "Y0": Y0, **bad})


def test_pagerank(op, matrix):
    Q, restart = op.toarray(), np.arange(50.0)
    for r in (None, restart):
        p = np.full(50, 0.02) if r is None else restart / restart.sum()
        expected = np.linalg.solve(np.eye(50) - 0.85 * Q.T, 0.15 * p)
        assert_allclose(pagerank(matrix, r), expected, rtol=1e-9)
        assert_allclose(pagerank(matrix, r).sum(), 1.0)
    lossy = Q.copy()
    lossy[3] = 0
    assert_allclose(pagerank(lossy).sum(), 1.0)
    with pytest.warns(ConvergenceWarning):
        pagerank(matrix, restart, max_iter=2)
    for bad in (
        {"damping": 1.0},
        {"restart": -np.ones(50)},
        {"restart": np.zeros(50)},
        {"restart": np.ones(3)},
    ):
        with pytest.raises(ValueError, match="needs"):
            pagerank(matrix, **bad)


def test_stationary_distribution(op, matrix):
    x = stationary_distribution(matrix)
    assert_allclose(op.T @ x, x, atol=1e-11)
    assert_allclose(x.sum(), 1.0)
    assert (x >= 0).all()
    assert_allclose(stationary_distribution(np.array([[0.0, 1.0], [1.0, 0.0]]), [0.9, 0.1]), 0.5)
    with pytest.warns(ConvergenceWarning):
        stationary_distribution(matrix, max_iter=2)


def test_propagation_takes_complex_and_single_precision():
    P = np.random.default_rng(0).dirichlet(np.ones(10), size=10)
    Y0 = np.eye(10)[:, :2]
    real = propagate_labels(P, Y0, alpha=0.5)
    assert_allclose(propagate_labels(P * 1j, Y0, alpha=0.5), np.linalg.solve(np.eye(10) - 0.5j * P, Y0 / 2))
    assert_allclose(propagate_labels(P, Y0.astype(np.float32), alpha=0.5), real, rtol=1e-5)
