"""The likelihood: never above log p(D) by brute force from scipy.stats, equal to it for single entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse, stats
from scipy.special import logsumexp

import bvdt
from bvdt.blocks import BlockPartition
from bvdt.divergences import ItakuraSaito, KullbackLeibler, Mahalanobis, Multinomial, NegativeBinomial
from bvdt.operators import TransitionOperator
from helpers.engine_cases import random_partition, random_tree
from helpers.points import covariance

D = 4
ANY_BANDWIDTH = ("squared_euclidean", "mahalanobis", "itakura_saito")
COUNTS = ("gid", "negative_binomial", "multinomial", "logistic")
FAMILIES = (*ANY_BANDWIDTH, *COUNTS)


def data(name, n, rng):
    """(divergence, X)"""
    if name == "squared_euclidean":
        return name, rng.normal(3.0, 2.0, size=(n, D))
    if name == "mahalanobis":
        return Mahalanobis(covariance=covariance(D)), rng.normal(size=(n, D))
    if name == "itakura_saito":
        return name, rng.gamma(2.0, size=(n, D)) + 1e-3
    if name == "gid":
        return name, rng.poisson(1.5, size=(n, D)).astype(float)
    if name == "negative_binomial":
        return NegativeBinomial(0.7), rng.negative_binomial(0.7, 0.4, size=(n, D)).astype(float)
    if name == "multinomial":
        return Multinomial(6), rng.multinomial(6, np.full(D, 1 / D), size=n).astype(float)
    return name, (rng.random((n, D)) < 0.4).astype(float)


def kernels(name, X, centers, beta, smoothing):  # (n, d), (m, d) -> (n, m)
    """log p(x_i; m_j) from scipy.stats, the mean m_j the smoothed center."""
    x, mean = X[:, None], centers[None] + smoothing
    if name == "squared_euclidean":
        return stats.norm.logpdf(x, centers[None], np.sqrt(beta)).sum(axis=2)
    if name == "mahalanobis":
        flat = (x - centers[None]).reshape(-1, D)
        return stats.multivariate_normal.logpdf(flat, cov=beta * covariance(D)).reshape(len(X), -1)
    if name == "itakura_saito":
        return stats.gamma.logpdf(x, 1 / beta, scale=mean * beta).sum(axis=2)
    if name == "gid":
        return stats.poisson.logpmf(x, mean).sum(axis=2)
    if name == "negative_binomial":
        return stats.nbinom.logpmf(x, 0.7, 0.7 / (0.7 + mean)).sum(axis=2)
    if name == "multinomial":
        p = (mean / mean.sum(axis=2, keepdims=True))[0]
        return np.stack([stats.multinomial.logpmf(row, 6, p) for row in X])
    p = (1 - 2 * smoothing) * centers[None] + smoothing
    return stats.bernoulli.logpmf(x, p).sum(axis=2)


def log_p(name, X, beta, smoothing):
    """log p(D) of Eq. (17)."""
    logs = kernels(name, X, X, beta, smoothing)
    np.fill_diagonal(logs, -np.inf)
    return float((logsumexp(logs, axis=1) - np.log(len(X) - 1)).sum())


def drawn(name, n, seed, as_sparse=False):
    """(divergence, X as given, X dense, smoothing, β's)"""
    rng = np.random.default_rng(seed)
    divergence, X = data(name, n, rng)
    smoothing = float(rng.choice([0.3, 0.01])) if name in COUNTS else 0.0
    betas = (0.2, 1.0, 5.0) if name in ANY_BANDWIDTH else (1.0,)
    return divergence, sparse.csr_array(X) if as_sparse else X, X, smoothing, betas


@pytest.mark.parametrize("name", FAMILIES)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 200), as_sparse=st.booleans())
def test_bound_for_random_trees_and_partitions(name, seed, n, as_sparse):
    divergence, given_X, X, e, betas = drawn(name, n, seed, as_sparse)
    rng = np.random.default_rng(seed)
    tree = random_tree(n, rng)
    lifted = bvdt.lifting.lift(given_X, divergence, e)
    for beta in betas:
        op = TransitionOperator(lifted, tree, partition=random_partition(tree, 4 * n, rng), bandwidth=beta)
        exact = log_p(name, X, beta, e)
        assert op.log_likelihood() <= exact + 1e-9 * abs(exact)
        assert_allclose(op.score_samples().sum(), op.log_likelihood(), rtol=1e-12)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_equality_for_blocks_of_one_entry(name, seed, as_sparse):
    divergence, given_X, X, e, betas = drawn(name, 40, seed, as_sparse)
    tree = random_tree(40, np.random.default_rng(seed))
    lifted = bvdt.lifting.lift(given_X, divergence, e)
    for beta in betas:
        op = TransitionOperator(lifted, tree, partition=BlockPartition.singletons(tree), bandwidth=beta)
        assert_allclose(op.log_likelihood(), log_p(name, X, beta, e), rtol=1e-9)


KINDS = {"forest": {"n_trees": 3}, "near": {"n_neighbors": 6}, "all": {"n_trees": 2, "n_neighbors": 4}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FAMILIES)
def test_bound_of_forests_and_near_fields(name, kind):
    divergence, given_X, X, e, betas = drawn(name, 90, 5, as_sparse=name != "itakura_saito")
    for beta in betas:
        op = bvdt.transition_matrix(
            given_X, divergence, bandwidth=beta, smoothing=e, random_state=0, **KINDS[kind]
        )
        assert op.log_likelihood() <= log_p(name, X, beta, e)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_scores_of_new_points_are_below_the_density_and_near_it(name, as_sparse):
    """The mean of all N kernels; most of it is that of the nearest, which count one by one."""
    divergence, given_X, X, e, betas = drawn(name, 600, 1, as_sparse)
    new = data(name, 50, np.random.default_rng(9))[1]
    for beta in betas:
        op = bvdt.transition_matrix(given_X, divergence, bandwidth=beta, smoothing=e, random_state=0)
        exact = logsumexp(kernels(name, new, X, beta, e), axis=1) - np.log(600)
        found = op.score_samples(sparse.csr_array(new) if as_sparse else new)
        assert (found <= exact + 1e-9 * np.abs(exact)).all()
        assert (exact - found).mean() < 0.15


def test_an_outlier_has_no_density():
    X = np.random.default_rng(0).normal(size=(300, 3))
    op = bvdt.transition_matrix(X, bandwidth="learn", random_state=0)
    inside, outside = op.score_samples([[0.0, 0.0, 0.0], [40.0, 0.0, 0.0]])
    assert outside < inside - 400


def test_features_that_no_fitted_point_has():
    """A table of two million columns of which few are used: as if all were there."""
    rng = np.random.default_rng(0)
    wide = 1 << 21
    X = sparse.csr_array(rng.poisson(0.8, size=(60, 5)).astype(float))
    at = np.sort(rng.choice(wide, 5, replace=False))

    def spread(rows, columns):
        return sparse.csr_array((rows.data, columns[rows.indices], rows.indptr), shape=(rows.shape[0], wide))

    narrow = bvdt.transition_matrix(X, "gid", bandwidth=1.0, smoothing=0.01, random_state=0)
    op = bvdt.transition_matrix(spread(X, at), "gid", bandwidth=1.0, smoothing=0.01, random_state=0)
    assert op.lifted.lifting.columns is not None
    unused = (wide - 5) * 0.01  # each has 0 where a center has 0.01
    assert_allclose(op.log_likelihood(), narrow.log_likelihood() - 60 * unused, rtol=1e-9)
    new = sparse.csr_array(np.array([[1.0, 0.0, 2.0, 0.0, 0.0]]))
    assert_allclose(op.score_samples(spread(new, at)), narrow.score_samples(new) - unused, rtol=1e-9)
    moved = np.sort(np.append(at[1:], 7 if 7 not in at else 8))  # the one of 2 lies where no point has any
    place = np.where(new.indices == 0, moved[0], at[new.indices])
    elsewhere = sparse.csr_array((new.data, place, new.indptr), shape=(1, wide))
    missed = stats.poisson.logpmf(1, 0.01) - stats.poisson.logpmf(0, 0.01)
    without = sparse.csr_array(np.array([[0.0, 0.0, 2.0, 0.0, 0.0]]))
    expected = narrow.score_samples(without) - unused + missed
    assert_allclose(op.score_samples(elsewhere), expected, rtol=1e-9)


def test_says_where_there_is_none():
    rng = np.random.default_rng(0)
    counts = rng.poisson(2.0, size=(30, 3))
    op = bvdt.transition_matrix(counts, "gid", bandwidth=0.5, smoothing=0.1)
    with pytest.raises(ValueError, match=r"gid \(Poisson\) needs bandwidth=1; got 0.5"):
        op.log_likelihood()
    op = bvdt.transition_matrix(rng.random((30, 3)) + 0.1, "gid", bandwidth=1.0)
    with pytest.raises(ValueError, match=r"gid \(Poisson\) needs whole numbers >= 0; X\[0, 0\]"):
        op.log_likelihood()
    op = bvdt.transition_matrix(counts + 1, KullbackLeibler(normalize=True), bandwidth=1.0)
    with pytest.raises(ValueError, match="kl has none"):
        op.score_samples()


@pytest.mark.parametrize("name", ANY_BANDWIDTH)
def test_learned_bandwidth_is_the_likeliest(name):
    divergence, X = data(name, 150, np.random.default_rng(3))
    op = bvdt.transition_matrix(X, divergence, bandwidth="learn", random_state=0)
    for factor in (0.98, 1.02):
        other = bvdt.transition_matrix(X, divergence, bandwidth=factor * op.bandwidth, random_state=0)
        assert other.log_likelihood() < op.log_likelihood()


def test_gamma_constants():
    """k^k·e^(−k)/Γ(k) for all k, and the shape of a gamma sample."""
    family = ItakuraSaito().family
    for beta in np.geomspace(1e-9, 1e3, 40):
        expected = stats.gamma.logpdf(1.0, 1 / beta, scale=beta)
        assert_allclose(family.dispersion.log_scale(beta) - 1.0, expected, rtol=1e-6, atol=1e-8)
    x = stats.gamma.rvs(2.5, size=4000, random_state=0)
    shape, _, _ = stats.gamma.fit(x, floc=0)
    d = ItakuraSaito().div(x[:, None], np.full((1, 1), x.mean())).mean()
    assert_allclose(1 / family.dispersion.fitted(float(d)), shape, rtol=1e-4)
