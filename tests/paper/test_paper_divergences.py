"""Sections 3.1 and 4.1 of the paper, compared with formulas, SciPy's solvers and scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special, stats
from scipy.optimize import approx_fprime, minimize, minimize_scalar

from bvdt import divergences as dv
from bvdt.datasets import make_documents
from helpers.closed_forms import COVARIANCE, LENGTH, LOG_DENSITY, TABLE_1, all_pairs, observations

PHI = {  # Table 1's φ, mended where docs/theory.md says so
    "squared_euclidean": lambda x: (x**2).sum() / 2,
    "mahalanobis": lambda x: x @ np.linalg.inv(COVARIANCE) @ x / 2,
    "gid": lambda x: (x * np.log(x) - x).sum(),
    "kl": lambda x: (x * np.log(x)).sum(),
    "multinomial": lambda x: (x * np.log(x / LENGTH)).sum(),
    "itakura_saito": lambda x: (-np.log(x) - 1).sum(),
    "logistic": lambda x: (x * np.log(x) + (1 - x) * np.log(1 - x)).sum(),
}


def given(name):
    made = {"mahalanobis": dv.Mahalanobis(covariance=COVARIANCE), "multinomial": dv.Multinomial(LENGTH)}
    return made.get(name) or dv.get(name)


@pytest.mark.parametrize("name", TABLE_1)
def test_table_1(name):
    """φ and d as written; d is that of φ by Eq. (11), the gradient by differences."""
    X, divergence = observations(name, np.random.default_rng(0)), given(name)
    assert_allclose(divergence.phi_sum(X), [PHI[name](x) for x in X], rtol=1e-12)
    d = all_pairs(TABLE_1[name], X)
    assert_allclose(divergence.pairwise(X, X), d, rtol=1e-10, atol=1e-13)
    slopes = [approx_fprime(y, PHI[name], 1e-7) for y in X]
    by_definition = [
        [PHI[name](x) - PHI[name](y) - (x - y) @ g for y, g in zip(X, slopes, strict=True)] for x in X
    ]
    assert_allclose(divergence.pairwise(X, X), by_definition, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", TABLE_1)
def test_bregman_divergence_is_no_metric(name):
    """Section 3.1: d ≥ 0 and d(y, y) = 0; symmetric for the quadratic forms only; no triangle inequality."""
    d = given(name).pairwise(*[observations(name, np.random.default_rng(1), 30)] * 2)
    assert (d >= 0).all()
    assert_allclose(np.diag(d), 0.0, atol=1e-12)
    assert np.allclose(d, d.T) == (name in ("squared_euclidean", "mahalanobis"))
    assert (d[:, :, None] > 1.001 * (d[:, None, :] + d.T[None])).any()


@pytest.mark.parametrize("name", ["squared_euclidean", "mahalanobis", "gid", "itakura_saito"])
def test_representative_is_the_minimizer(name):
    """Eq. (12) and (13), for any weights: arg min and min of the mean divergence by SciPy."""
    rng = np.random.default_rng(2)
    X, divergence = observations(name, rng), given(name)
    weights = rng.dirichlet(np.ones(len(X)))
    positive = name in ("gid", "itakura_saito")
    point = np.exp if positive else np.asarray
    found = minimize(lambda t: weights @ TABLE_1[name](X, point(t)), np.zeros(3), tol=1e-12)
    assert_allclose(divergence.representative(X, weights), point(found.x), rtol=1e-4, atol=1e-5)
    assert_allclose(divergence.representative(X, weights), weights @ X, rtol=1e-12)
    assert_allclose(divergence.information(X, weights), found.fun, rtol=1e-8)


@pytest.mark.parametrize("name", LOG_DENSITY)
def test_most_likely_mean_is_the_sample_mean(name):
    """Section 3.1: whatever the family, no other μ has a greater likelihood by scipy.stats."""
    rng = np.random.default_rng(3)
    X = observations(name, rng, 20)
    point = {
        "multinomial": lambda t: LENGTH * special.softmax(t),
        "gid": np.exp,
        "itakura_saito": np.exp,
    }.get(name, np.asarray)
    found = minimize(lambda t: -sum(LOG_DENSITY[name](x, point(t)) for x in X), np.zeros(3), tol=1e-10)
    assert_allclose(point(found.x), given(name).representative(X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", LOG_DENSITY)
def test_canonical_form_and_density(name):
    """Eq. (14) and (15) against scipy.stats: both are the density at x of the family with mean μ."""
    X, divergence = observations(name, np.random.default_rng(4)), given(name)
    expected = all_pairs(LOG_DENSITY[name], X)
    by_mean = [[divergence.log_density(x, m) for m in X] for x in X]
    assert_allclose(by_mean, expected, rtol=1e-9, atol=1e-9)
    theta = divergence.grad(X)
    by_parameter = [[divergence.family.log_density(x, t) for t in theta] for x in X]
    assert_allclose(by_parameter, expected, rtol=1e-9, atol=1e-9)


# ψ as it stands in textbooks, of one coordinate; the interval of θ.
LOG_PARTITION = {
    "squared_euclidean": (lambda t: t**2 / 2, (-50.0, 50.0)),
    "gid": (np.exp, (-20.0, 8.0)),
    "itakura_saito": (lambda t: -np.log(-t), (-1e4, -1e-6)),
    "logistic": (lambda t: np.logaddexp(0.0, t), (-30.0, 30.0)),
}


@pytest.mark.parametrize("name", LOG_PARTITION)
def test_phi_and_log_partition_are_conjugates(name):
    """Eq. (15), (16) and the bijection: φ(μ) = max_θ μ·θ − ψ(θ), at θ = ∇φ(μ), and back, by SciPy."""
    psi, bounds = LOG_PARTITION[name]
    divergence = given(name)
    options = {"bounds": bounds, "method": "bounded", "options": {"xatol": 1e-9}}
    for mean in observations(name, np.random.default_rng(5), 2).ravel():
        found = minimize_scalar(lambda t, mean=mean: psi(t) - mean * t, **options)
        at = np.array([mean])
        assert_allclose(divergence.phi(at)[0], -found.fun, rtol=1e-6, atol=1e-7)
        assert_allclose(divergence.grad(at)[0], found.x, rtol=1e-3, atol=1e-3)
        theta = np.array([found.x])
        slope = (
            (psi(found.x + 1e-6) - psi(found.x - 1e-6)) / 2e-6 if name != "itakura_saito" else -1 / found.x
        )
        assert_allclose(divergence.grad_inverse(theta)[0], slope, rtol=1e-5)
        assert_allclose(divergence.conjugate(theta)[0], psi(found.x), rtol=1e-9)
        if divergence.family is not None:
            assert_allclose(divergence.family.log_partition(theta), psi(found.x), rtol=1e-9)


def test_multinomial_is_not_minimal():
    """Slips: Σ_j x_j = L, so θ + t·1 gives every count the same probability."""
    family, x = dv.Multinomial(LENGTH).family, np.array([5.0, 4.0, 3.0])
    theta = np.array([0.3, -1.0, 0.2])
    expected = stats.multinomial.logpmf(x, LENGTH, special.softmax(theta))
    assert_allclose([family.log_density(x, theta + t) for t in (-2.0, 0.0, 7.0)], expected, rtol=1e-12)


def test_table_1_as_printed():
    """Slips: x log x alone gives GID instead of the logistic loss; xᵀΣ⁻¹x twice the Gaussian's exponent."""
    x, y = np.array([0.2, 0.6, 0.9]), np.array([0.4, 0.3, 0.7])
    printed = (x * np.log(x) - y * np.log(y) - (x - y) * (np.log(y) + 1)).sum()
    assert_allclose(printed, TABLE_1["gid"](x, y))
    assert abs(printed - TABLE_1["logistic"](x, y)) > 0.01
    centered = stats.multivariate_normal.logpdf(x - y, np.zeros(3), COVARIANCE)
    peak = stats.multivariate_normal.logpdf(np.zeros(3), np.zeros(3), COVARIANCE)
    assert_allclose(peak - centered, TABLE_1["mahalanobis"](x, y))  # the ½ is in
    zero, one = np.array([0.0]), np.array([1.0])  # the Bernoulli's own outcomes, outside Table 1's (0, 1)
    half = np.array([0.25])
    assert_allclose(dv.Logistic().log_density(zero, half), np.log(0.75))
    assert_allclose(dv.Logistic().log_density(one, half), np.log(0.25))
    assert_allclose(dv.GeneralizedI().log_density(zero, half), -0.25)  # a Poisson count of 0


# -- section 4.1 ------------------------------------------------------------------------------------------

ALPHA, RATE = np.array([0.5, 0.3, 0.2]), 4.5


def test_model_of_documents():
    """Eq. (25) and (26): Poisson length times multinomial terms, by scipy.stats, is GID's family."""
    x = np.random.default_rng(6).poisson(RATE * ALPHA, (20, 3)).astype(float)
    expected = stats.poisson.logpmf(x.sum(axis=1), RATE) + [
        stats.multinomial.logpmf(row, row.sum(), ALPHA) for row in x
    ]
    family = dv.GeneralizedI().family
    theta = np.log(RATE * ALPHA)
    assert_allclose(family.log_density(x, theta), expected, rtol=1e-10)
    assert_allclose(family.log_partition(theta), np.exp(theta).sum(), rtol=1e-12)
    assert_allclose(family.log_base_measure(x), -np.log(special.factorial(x)).sum(axis=1), atol=1e-12)


def test_divergence_of_the_model():
    """Eq. (27) and (28): from ψ alone, φ is its conjugate by SciPy and d is written out."""
    derived = dv.from_exponential_family(log_partition=np.exp, grad=np.exp)
    X = observations("gid", np.random.default_rng(7))
    conjugate = [-minimize(lambda t, x=x: np.exp(t).sum() - t @ x, np.zeros(3), tol=1e-12).fun for x in X]
    for divergence in (derived, dv.GeneralizedI()):
        assert_allclose(divergence.phi_sum(X), conjugate, rtol=1e-7, atol=1e-7)
        assert_allclose(divergence.pairwise(X, X), all_pairs(TABLE_1["gid"], X), rtol=1e-7, atol=1e-9)


@pytest.mark.slow
def test_documents_follow_the_model():
    """Eq. (25): lengths are Poisson by a chi-square test; given them, terms have the class's shares."""
    corpus = make_documents(4000, n_classes=1, n_terms=6, length=9.0, random_state=0)
    length = np.asarray(corpus.counts.sum(axis=1)).ravel().astype(int)
    observed = np.bincount(np.clip(length, 3, 16), minlength=17)[3:]
    shares = np.r_[
        stats.poisson.cdf(3, 9.0), stats.poisson.pmf(np.arange(4, 16), 9.0), stats.poisson.sf(15, 9.0)
    ]
    assert stats.chisquare(observed, shares * len(length))[1] > 1e-3
    short, long = (np.asarray(corpus.counts[part].sum(axis=0)).ravel() for part in (length < 9, length >= 9))
    assert stats.chi2_contingency([short, long])[1] > 1e-3
