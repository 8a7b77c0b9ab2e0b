"""Sections 2.1, 2.2 and 3.2 of the paper by brute force: what is compared with uses nothing of bvdt."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import norm

import bvdt
from bvdt import divergences
from bvdt.blocks import BlockPartition
from bvdt.blocks.sums import NodeSums, block_divergences
from bvdt.lifting.lifted import lift
from bvdt.operators import TransitionOperator
from helpers.closed_forms import COVARIANCE, LOG_DENSITY, TABLE_1, all_pairs, log_densities, observations
from helpers.engine_cases import random_partition, random_tree

pytestmark = pytest.mark.kernel
N = 9


def given(name):
    """What bvdt is given: Σ is known, all else by name."""
    return divergences.Mahalanobis(covariance=COVARIANCE) if name == "mahalanobis" else name


def case(name, seed=0, n_splits=6):
    """(points, operator of a random tree and a random partition of it)."""
    rng = np.random.default_rng(seed)
    X = observations(name, rng, N)
    tree = random_tree(N, rng)
    partition = random_partition(tree, n_splits, rng)
    lifted = lift(X, given(name), 0.0)
    return X, TransitionOperator(lifted, tree, partition=partition, bandwidth=1.0)


def pairs_of(op):
    """(points of A, points of B, q_AB) of every block."""
    found = zip(op.partition.rows, op.partition.cols, op.partition.q, strict=True)
    return [(op.tree.members(a), op.tree.members(b), q) for a, b, q in found]


@pytest.mark.parametrize("name", LOG_DENSITY)
def test_exact_matrix_is_the_posterior_of_the_mixture(name):
    """Eq. (1) and (17): Bayes' rule for the center m_j of x_i, densities by scipy.stats."""
    X = observations(name, np.random.default_rng(1), N)
    joint = np.exp(log_densities(name, X)) / (N - 1)  # p(m_j) p(x_i | m_j)
    P = bvdt.exact_transition_matrix(X, given(name), smoothing=0.0)
    assert_allclose(P, joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)


@pytest.mark.parametrize("name", LOG_DENSITY)
def test_bound_falls_short_of_the_likelihood_by_kl(name):
    """Eq. (2): Jensen's inequality for the q of an operator, every term by scipy.stats."""
    X, op = case(name)
    joint = log_densities(name, X) - np.log(N - 1)
    off = ~np.eye(N, dtype=bool)
    q, log_likelihood = op.toarray(), logsumexp(joint, axis=1).sum()
    bound = (q[off] * (joint[off] - np.log(q[off]))).sum()
    assert bound < log_likelihood
    assert_allclose(N * op.quality(N)["kl"], log_likelihood - bound, rtol=1e-8)


@pytest.mark.parametrize("name", LOG_DENSITY)
def test_constant_of_the_bound(name):
    """Eq. (5) and (19): Eq. (18) with its constant is the bound of Eq. (2) by scipy.stats."""
    X, op = case(name)
    joint = log_densities(name, X) - np.log(N - 1)
    off = ~np.eye(N, dtype=bool)
    q = op.toarray()
    bound = (q[off] * (joint[off] - np.log(q[off]))).sum()
    assert_allclose(op.log_likelihood(), bound, rtol=1e-9)


def test_gaussian_constant_is_equation_5():
    X = np.random.default_rng(0).normal(size=(N, 3))
    op = bvdt.transition_matrix(X, bandwidth=0.4, random_state=0)  # σ²
    expected = -N * np.log((2 * np.pi) ** 1.5 * 0.4**1.5 * (N - 1))
    assert_allclose(op.log_likelihood() - op.lower_bound, expected)


@pytest.mark.parametrize("n_splits", [0, 6, 30])
def test_blocks_of_a_row_sum_to_one(n_splits):
    """Eq. (3)."""
    _, op = case("gid", n_splits=n_splits)
    total = np.zeros(N)
    for a, b, q in pairs_of(op):
        total[a] += len(b) * q
    assert_allclose(total, 1.0, rtol=1e-12)


@pytest.mark.parametrize("name", TABLE_1)
def test_bound_of_the_blocks(name):
    """Eq. (4) and (18) without c: −Σ q_AB·D_AB − Σ |A||B|·q_AB·log q_AB, D_AB by the double sum."""
    X, op = case(name)
    d = all_pairs(TABLE_1[name], X)
    expected = -sum(q * d[np.ix_(a, b)].sum() + len(a) * len(b) * q * np.log(q) for a, b, q in pairs_of(op))
    assert_allclose(op.lower_bound, expected, rtol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_optimum_is_a_convex_solvers(seed):
    """The maximum of Eq. (18) under Eq. (3), by SciPy from D_AB and the rows' constraints alone."""
    X, op = case("gid", seed, n_splits=3)
    blocks, d = pairs_of(op), all_pairs(TABLE_1["gid"], X)
    n = np.array([len(a) * len(b) for a, b, _ in blocks])
    D = np.array([d[np.ix_(a, b)].sum() for a, b, _ in blocks])
    rows = np.zeros((N, len(blocks)))
    for k, (a, b, _) in enumerate(blocks):
        rows[a, k] = len(b)
    found = minimize(
        lambda q: q @ D + n @ (q * np.log(q)),
        np.full(len(blocks), 1 / (N - 1)),
        jac=lambda q: D + n * (np.log(q) + 1),
        bounds=[(1e-12, None)] * len(blocks),
        constraints={"type": "eq", "fun": lambda q: rows @ q - 1, "jac": lambda q: rows},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    assert_allclose(op.lower_bound, -found.fun, rtol=1e-6)
    assert op.lower_bound >= -found.fun - 1e-9
    assert_allclose(op.partition.q, found.x, atol=1e-4)


@pytest.mark.parametrize("partition", ["coarsest", "random"])
@pytest.mark.parametrize("name", TABLE_1)
def test_block_divergence_is_the_double_sum(name, partition):
    """Eq. (5), (6), (19) and (20): D_AB by all its pairs."""
    X, op = case(name, n_splits=0 if partition == "coarsest" else 8)
    d = all_pairs(TABLE_1[name], X)
    found = block_divergences(op.lifted, op.tree, op.partition)
    expected = [d[np.ix_(a, b)].mean() for a, b, _ in pairs_of(op)]
    assert_allclose(found, expected, rtol=1e-9)


def test_statistics_of_the_nodes():
    """Eq. (21): S_1 = U, S_2 − S_1 = W, S_3 = X, S_4 = H, of the exponential family; sums over members."""
    X, op = case("itakura_saito")
    phi, grad = -np.log(X) - 1, -1 / X  # Table 1 and its derivative
    sums = NodeSums.of(op.lifted, op.tree)
    for node in range(op.tree.n_nodes):
        a = op.tree.members(node)
        S_1, S_2 = phi[a].sum(), (X[a] * grad[a]).sum()
        assert_allclose(sums.U[node], S_1, rtol=1e-12)
        assert_allclose(sums.W[node], S_2 - S_1, rtol=1e-12)
        assert_allclose(sums.X[node], X[a].sum(axis=0), rtol=1e-12)
        assert_allclose(sums.H[node], grad[a].sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 9, 40])
def test_coarsest_and_finest_partition(n):
    """2(N − 1) blocks of siblings, N(N − 1) of leaves; splitting a block adds one, and none has fewer."""
    tree = random_tree(n, np.random.default_rng(n))
    coarsest, finest = BlockPartition.coarsest(tree), BlockPartition.singletons(tree)
    assert (coarsest.n_blocks, finest.n_blocks) == (2 * (n - 1), n * (n - 1))
    assert (tree.parent[coarsest.rows] == tree.parent[coarsest.cols]).all()
    assert set(tree.size[finest.rows]) == set(tree.size[finest.cols]) == {1}
    for partition in (coarsest, finest):
        covered = np.zeros((n, n))
        for a, b in zip(partition.rows, partition.cols, strict=True):
            covered[np.ix_(tree.members(a), tree.members(b))] += 1
        assert (covered == 1 - np.eye(n)).all()


@pytest.mark.parametrize("name", LOG_DENSITY)
def test_finest_partition_is_exact(name):
    """With single entries the bound is the log-likelihood and Q is P."""
    X = observations(name, np.random.default_rng(2), N)
    tree = random_tree(N, np.random.default_rng(3))
    op = TransitionOperator(
        lift(X, given(name), 0.0), tree, partition=BlockPartition.singletons(tree), bandwidth=1.0
    )
    joint = log_densities(name, X) - np.log(N - 1)
    assert_allclose(op.toarray(), np.exp(joint - logsumexp(joint, axis=1, keepdims=True)), rtol=1e-8)
    assert_allclose(op.log_likelihood(), logsumexp(joint, axis=1).sum(), rtol=1e-9)


def test_finer_partitions_are_closer():
    """A split frees a variable: from 2(N − 1) blocks to N(N − 1) the bound never falls."""
    X = observations("gid", np.random.default_rng(2), N)
    op = bvdt.transition_matrix(X, "gid", bandwidth=1.0, smoothing=0.0, random_state=0)
    d = all_pairs(TABLE_1["gid"], X) + np.diag(np.full(N, np.inf))
    bounds = []
    for n_blocks in range(2 * (N - 1), N * (N - 1) + 1, 8):
        op = op.refine(n_blocks)
        assert op.n_blocks == n_blocks
        bounds.append(op.lower_bound)
    assert (np.diff(bounds) >= -1e-12).all()
    assert_allclose(bounds[-1], logsumexp(-d, axis=1).sum(), rtol=1e-10)


def test_block_constraint_of_figure_1():
    """(A, B) = (1–2, 3–4) ties p_13 = p_14 = p_23 = p_24, and q_AB is what brute force over it says."""
    X = np.array([[0.0], [0.5], [2.0], [2.2], [9.0], [9.5]])
    merges = [[0, 1, 0.5, 2], [2, 3, 0.2, 2], [4, 5, 0.5, 2], [6, 7, 2.0, 4], [8, 9, 9.0, 6]]
    op = bvdt.transition_matrix(
        X, "squared_euclidean", bandwidth=1.0, tree=bvdt.Tree.from_linkage(np.array(merges))
    )
    Q = op.toarray()
    assert op.n_blocks == 10
    assert len({Q[0, 2], Q[0, 3], Q[1, 2], Q[1, 3]}) == 1
    assert Q[0, 2] != Q[0, 1]
    assert Q[0, 2] != Q[2, 0]  # the block (B, A) is another


SIGMA = 0.7


def test_euclidean_case_is_the_original_dual_tree():
    """Section 3.2's special case: φ = ‖x‖²/2σ² gives Eq. (4)–(6); the bandwidth of ½‖·‖² is σ²."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N, 3))
    tree = random_tree(N, rng)
    partition = random_partition(tree, 5, rng)
    scaled = divergences.BregmanDivergence(phi=lambda x: x**2 / 2 / SIGMA**2, grad=lambda x: x / SIGMA**2)
    one = TransitionOperator(lift(X, "squared_euclidean"), tree, partition=partition, bandwidth=SIGMA**2)
    other = TransitionOperator(lift(X, scaled), tree, partition=partition, bandwidth=1.0)
    assert_allclose(one.toarray(), other.toarray(), rtol=1e-9)
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)
    value = -sum(  # Eq. (4) without c, D_AB of Eq. (5)
        q * squared[np.ix_(a, b)].sum() / (2 * SIGMA**2) + len(a) * len(b) * q * np.log(q)
        for a, b, q in pairs_of(one)
    )
    assert_allclose([one.lower_bound, other.lower_bound], value, rtol=1e-9)
    c = -N * np.log((2 * np.pi) ** 1.5 * SIGMA**3 * (N - 1))  # Eq. (5)
    joint = norm.logpdf(X[:, None], X[None], SIGMA).sum(-1) - np.log(N - 1)
    off, q = ~np.eye(N, dtype=bool), one.toarray()
    assert_allclose(c + value, (q[off] * (joint[off] - np.log(q[off]))).sum(), rtol=1e-9)


def test_dimension_enters_by_the_divergences_alone():
    """Section 2.1: the same points turned into 40 dimensions give the same Q, in as many numbers."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    turn, _ = np.linalg.qr(rng.normal(size=(40, 40)))
    tree = random_tree(60, rng)
    low, high = (
        bvdt.transition_matrix(Y, "squared_euclidean", bandwidth=0.3, tree=tree) for Y in (X, X @ turn[:2])
    )
    assert low.n_blocks == high.n_blocks
    assert_allclose(low.toarray(), high.toarray(), rtol=1e-7)
    V = rng.normal(size=60)
    assert_allclose(low @ V, high @ V, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("n_splits", [0, 12])
def test_product_is_that_of_the_blocks(n_splits):
    """Q v and Qᵀ v from the blocks' entries, written out."""
    _, op = case("gid", n_splits=n_splits)
    Q = np.zeros((N, N))
    for a, b, q in pairs_of(op):
        Q[np.ix_(a, b)] = q
    v = np.random.default_rng(0).normal(size=(N, 2))
    assert_allclose(op @ v, Q @ v, rtol=1e-12)
    assert_allclose(op.T @ v, Q.T @ v, rtol=1e-12)
