"""An operator that defines one product, and nothing else, has every solver and every walk."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import eigsh

import bvdt
from bvdt.operators import RealOperator
from bvdt.solvers import ArraySpreading, LabelRows, iterate, spread
from bvdt.walks import (
    choose_alpha,
    label_contributions,
    label_scores,
    largest_contributions,
    solve_singular,
    solve_spread,
    suggest_points,
    symmetrized,
)
from bvdt.walks.eigenvectors import (
    cluster_coordinates,
    cluster_spectrum,
    diffusion_coordinates,
    leading_eigenvectors,
)
from bvdt.walks.layout import map_coordinates

N = 120


class DenseOperator(RealOperator):
    """P as an array."""

    rows_sum_to_one = True

    def __init__(self, P):
        super().__init__(np.dtype(np.float64), P.shape)
        self.P = P

    def apply(self, V, side, out=None):
        P = {"forward": self.P, "transpose": self.P.T, "mean": (self.P + self.P.T) / 2}[side]
        return np.asarray(P @ V, V.dtype)


@pytest.fixture(scope="module")
def group():
    return np.random.default_rng(0).integers(0, 3, N)


@pytest.fixture(scope="module")
def op(group):
    X = np.random.default_rng(1).normal(size=(N, 2)) + 2.5 * group[:, None]
    return DenseOperator(bvdt.exact_transition_matrix(X, "squared_euclidean", bandwidth=1.0))


@pytest.fixture(scope="module")
def Y0(group):
    Y0 = np.zeros((N, 3))
    for label in range(3):
        Y0[np.flatnonzero(group == label)[:4], label] = 1.0
    return Y0


@pytest.fixture(scope="module")
def S(op):
    W = (op.P + op.P.T) / 2
    root = np.sqrt(W.sum(axis=1))
    return W / root[:, None] / root


def test_products_of_all_kinds(op):
    V = np.random.default_rng(0).normal(size=(N, 3))
    assert_allclose(op @ V, op.P @ V)
    assert_allclose(op.T @ V[:, 0], op.P.T @ V[:, 0])
    assert_allclose(op @ (V + 1j), op.P @ (V + 1j))
    assert_allclose(op.mean_with_transpose(V), (op.P + op.P.T) @ V / 2)
    assert_allclose(op.toarray(), op.P)


def test_label_propagation_is_the_fixed_point(op, Y0):
    exact = 0.1 * np.linalg.solve(np.eye(N) - 0.9 * op.P, Y0)
    assert_allclose(bvdt.propagate_labels(op, Y0, 0.9, max_iter=1000), exact, atol=1e-12)
    assert_allclose(label_scores(op, Y0, method="walk", tol=1e-12, max_iter=1000)[0], exact, atol=1e-10)


@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.99])  # Chebyshev's steps, and conjugate gradients
def test_label_spreading_is_the_fixed_point(op, S, Y0, alpha):
    exact = (1 - alpha) * np.linalg.solve(np.eye(N) - alpha * S, Y0)
    assert_allclose(label_scores(op, Y0, alpha=alpha, tol=1e-11, max_iter=1000)[0], exact, atol=1e-9)
    assert_allclose(solve_spread(symmetrized(op), Y0, alpha, tol=1e-12)[0], exact, atol=1e-10)


def test_clamped_labels_stay(op, Y0):
    clamp = Y0.any(axis=1)
    for mode in ("walk", "spread"):
        Z, _ = label_scores(op, Y0, method=mode, alpha=0.99, clamp=clamp)
        assert_array_equal(Z[clamp], Y0[clamp])


def test_poisson_learning_finds_the_groups(op, S, Y0, group):
    for mode in ("poisson", "poisson_mbo"):
        assert (label_scores(op, Y0, method=mode)[0].argmax(axis=1) == group).mean() > 0.9
    root = np.sqrt(((op.P + op.P.T) / 2).sum(axis=1))
    null = (root / np.linalg.norm(root))[:, None]
    B = Y0 - null @ (null.T @ Y0)
    V, _ = solve_singular(symmetrized(op), B, null, tol=1e-12)
    assert_allclose(V - S @ V, B, atol=1e-9)


def test_eigenvectors_are_those_of_the_matrix(op, S):
    expected = eigsh(S, 5, which="LA", return_eigenvectors=False)[::-1]
    found = leading_eigenvectors(op, 5, 0)
    assert_allclose(found.values, expected, atol=1e-9)
    assert diffusion_coordinates(op, 2, random_state=0)[0].shape == (N, 2)
    assert cluster_coordinates(op, 3, 0)[0].shape == (N, 3)
    assert_allclose(cluster_spectrum(op, 5, 0)[0].values, expected, atol=1e-9)


def test_all_other_walks(op, Y0, group):
    assert_allclose(bvdt.walks.pagerank(op).sum(), 1.0)
    pi = bvdt.walks.stationary_distribution(op)
    assert_allclose(op.P.T @ pi, pi, atol=1e-10)
    labeled = Y0.any(axis=1)
    for strategy in ("auto", "entropy"):
        suggested = suggest_points(op, labeled, 5, P=label_scores(op, Y0)[0], strategy=strategy)
        assert len(set(suggested)) == 5
        assert not labeled[suggested].any()
    assert choose_alpha(op, Y0, method="spread", max_iter=100) > 0
    given = label_contributions(op, np.arange(2))
    assert_allclose(given, label_contributions(op.P, np.arange(2)), atol=1e-9)
    at = np.flatnonzero(labeled)
    points, shares = largest_contributions(op, group, at, group[at], np.ones(len(at)))
    assert (group[points[:, 0]] == group).all()
    assert (shares[:, 0] > 0).all()
    assert map_coordinates(op, random_state=0).shape == (N, 2)


def test_solvers_need_no_more_than_the_operator(op, Y0, S):
    labels = LabelRows.of(Y0)
    walk = ArraySpreading(op, labels, 0.5, first=1.0)
    assert iterate(walk, 200, 1e-12) == "converged"
    assert_allclose(walk.scores(), 0.5 * np.linalg.solve(np.eye(N) - 0.5 * op.P, Y0), atol=1e-10)
    spreading = ArraySpreading(symmetrized(op), labels, 0.98)
    assert spread(spreading, 500, 1e-10) == "converged"
    assert_allclose(spreading.scores(), 0.02 * np.linalg.solve(np.eye(N) - 0.98 * S, Y0), atol=1e-9)
    assert spread(ArraySpreading(symmetrized(op), labels, 0.9), 3, 1e-10) == "stopped"
    assert spread(ArraySpreading(symmetrized(op), labels, 0.9), 9, 1e-10, finest=1e-10) == "imprecise"
