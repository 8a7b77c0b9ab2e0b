"""Eq. (14)–(16) and section 4.1: divergences and exponential families are two views of one thing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from bvdt import divergences as dv
from helpers.points import covariance, draw

seeds = st.integers(0, 2**32 - 1)
D = 4


def case(name: str, rng: np.random.Generator):
    """(divergence, observation x, mean μ, log density by scipy.stats)."""
    if name == "gaussian":
        x, mean = rng.normal(size=(2, D)) * 3
        return dv.SquaredEuclidean(), x, mean, stats.norm.logpdf(x, mean).sum()
    if name == "multivariate gaussian":
        x, mean = rng.normal(size=(2, D))
        divergence = dv.Mahalanobis(covariance=covariance(D))
        return divergence, x, mean, stats.multivariate_normal.logpdf(x, mean, covariance(D))
    if name == "poisson":
        mean = rng.gamma(2.0, size=D) + 0.01
        x = rng.poisson(mean).astype(float)
        return dv.GeneralizedI(), x, mean, stats.poisson.logpmf(x, mean).sum()
    if name == "negative binomial":
        mean = rng.gamma(2.0, size=D) + 0.01
        x = rng.negative_binomial(0.7, 0.7 / (0.7 + mean)).astype(float)
        return dv.NegativeBinomial(0.7), x, mean, stats.nbinom.logpmf(x, 0.7, 0.7 / (0.7 + mean)).sum()
    if name == "exponential":
        mean = rng.gamma(2.0, size=D) + 0.01
        x = rng.exponential(mean) + 1e-9
        return dv.ItakuraSaito(), x, mean, stats.expon.logpdf(x, scale=mean).sum()
    if name == "bernoulli":
        mean = rng.uniform(0.02, 0.98, size=D)
        x = (rng.random(D) < mean).astype(float)
        return dv.Logistic(), x, mean, stats.bernoulli.logpmf(x, mean).sum()
    probabilities = rng.dirichlet(np.ones(D)) * 0.9 + 0.1 / D
    x = rng.multinomial(17, probabilities).astype(float)
    return dv.Multinomial(length=17), x, 17 * probabilities, stats.multinomial.logpmf(x, 17, probabilities)


COUNTS = ("poisson", "negative binomial", "bernoulli", "multinomial")
CASES = ("gaussian", "multivariate gaussian", "exponential", *COUNTS)


@pytest.mark.parametrize("name", CASES)
@given(seed=seeds)
def test_density_is_the_divergence_from_the_mean(name, seed):
    """Eq. (15) against scipy.stats, and Eq. (14) with θ = ∇φ(μ)."""
    divergence, x, mean, expected = case(name, np.random.default_rng(seed))
    assert_allclose(divergence.log_density(x, mean), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(divergence.family.log_density(x, divergence.grad(mean)), expected, rtol=1e-9, atol=1e-9)
    assert divergence.family.natural_statistics(x) is x


@given(seed=seeds, beta=st.floats(1e-3, 1e3))
def test_density_with_a_bandwidth(seed, beta):
    """The Gaussian's variance, the gamma distribution's shape 1/β."""
    rng = np.random.default_rng(seed)
    x, mean = rng.gamma(2.0, size=(2, D)) + 0.01
    expected = stats.norm.logpdf(x, mean, np.sqrt(beta)).sum()
    assert_allclose(dv.SquaredEuclidean().log_density(x, mean, beta), expected, rtol=1e-9, atol=1e-9)
    expected = stats.gamma.logpdf(x, 1 / beta, scale=beta * mean).sum()
    assert_allclose(dv.ItakuraSaito().log_density(x, mean, beta), expected, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("name", CASES)
@given(seed=seeds)
def test_mean_is_the_slope_of_the_log_partition(name, seed):
    """Eq. (16): μ = ∇ψ(θ) at θ = ∇φ(μ)."""
    divergence, _, mean, _ = case(name, np.random.default_rng(seed))
    theta, step = divergence.grad(mean), 1e-6 * np.eye(D)
    step *= np.minimum(1.0, np.abs(theta).min())
    psi = divergence.family.log_partition
    slope = (psi(theta + step) - psi(theta - step)) / (2 * np.diag(step))
    rounding = 1e-15 * np.abs(psi(theta)) / np.diag(step).min()
    assert_allclose(slope, mean, rtol=1e-5, atol=20 * rounding)


FAMILIES = {
    "gid": {"log_partition": np.exp, "grad": np.exp},  # Eq. (26)
    "squared_euclidean": {"log_partition": lambda t: t**2 / 2, "grad": lambda t: t},
    "itakura_saito": {
        "log_partition": lambda t: -np.log(-t),
        "grad": lambda t: -1 / t,
        "domain": (-np.inf, 0),
    },
    "logistic": {"log_partition": lambda t: np.logaddexp(0, t), "grad": lambda t: 1 / (1 + np.exp(-t))},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(5))
def test_divergence_from_its_log_partition(name, seed):
    """Section 4.1, Eq. (25)–(28): φ is the conjugate of ψ; nothing but ψ and ∇ψ is given."""
    known, derived = dv.get(name), dv.from_exponential_family(**FAMILIES[name])
    X = draw(name, np.random.default_rng(seed))
    assert derived.separable
    assert derived.domain == known.domain
    assert_allclose(derived.phi(X), known.phi(X), rtol=1e-8, atol=1e-8)
    assert_allclose(derived.grad(X), known.grad(X), rtol=1e-8, atol=1e-8)
    expected = known.pairwise(X, X)
    assert_allclose(derived.pairwise(X, X), expected, rtol=1e-8, atol=1e-8 * expected.max())


def test_family_of_a_derived_divergence():
    def log_base_measure(x):
        return -np.sum(x**2 + np.log(2 * np.pi), axis=-1) / 2

    gaussian = FAMILIES["squared_euclidean"]
    derived = dv.from_exponential_family(**gaussian, log_base_measure=log_base_measure, name="gaussian")
    x, mean = np.random.default_rng(0).normal(size=(2, D))
    assert derived.family.name == derived.name == "gaussian"
    assert_allclose(derived.log_density(x, mean), stats.norm.logpdf(x, mean).sum())


def test_row_log_partition():
    """A log-partition of whole rows: the multinomial of one trial with d + 1 outcomes."""

    def psi(T):
        return np.log1p(np.exp(T).sum(axis=1))

    def mean(T):
        return np.exp(T) / (1 + np.exp(T).sum(axis=1, keepdims=True))

    T = np.random.default_rng(0).normal(size=(6, 3))
    dual = dv.BregmanDivergence(psi, mean)
    X = mean(T)
    rest = 1 - X.sum(axis=1)
    expected = (X * np.log(X)).sum(axis=1) + rest * np.log(rest)
    assert_allclose(dual.conjugate_sum(X), expected, rtol=1e-8)


def test_no_family():
    assert dv.KullbackLeibler().family is None
    with pytest.raises(ValueError, match="a density needs an exponential family; kl has none"):
        dv.KullbackLeibler().log_density([0.5, 0.5], [0.5, 0.5])
    with pytest.raises(ValueError, match="needs its length"):
        _ = dv.Multinomial().family
    with pytest.raises(ValueError, match="needs precision= or covariance="):
        _ = dv.Mahalanobis().family
