"""Families by the likelihood of the data: each sample chooses its own, by constants of scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from scipy.special import logsumexp

import bvdt
from bvdt import divergences as dv
from bvdt.divergences import compare
from bvdt.divergences.cells import cell_sums, log_cell
from bvdt.divergences.likelihood import center_divergences, kernels, left_out, log_base_rows
from bvdt.divergences.transforms import TRANSFORMS

N, D = 300, 6
SAMPLES = {
    "gamma, shape 2": ("itakura_saito", lambda rng: rng.gamma(2.0, size=(N, D))),
    "gamma, shape 20": ("itakura_saito", lambda rng: rng.gamma(20.0, size=(N, 2 * D))),
    "Poisson, mean 0.3": ("gid", lambda rng: rng.poisson(0.3, size=(N, D))),
    "Poisson, mean 10": ("gid", lambda rng: rng.poisson(10.0, size=(N, D))),
    "Gaussian": ("squared_euclidean", lambda rng: rng.normal(size=(N, D))),
    "multinomial": ("multinomial", lambda rng: rng.multinomial(20, np.full(D, 1 / D), size=N)),
    "Bernoulli": ("logistic", lambda rng: (rng.random((N, D)) < 0.3).astype(int)),
    "negative binomial, r 0.5": (
        "negative_binomial",
        lambda rng: rng.negative_binomial(0.5, 0.2, size=(N, D)),
    ),
    "negative binomial, r 2": ("negative_binomial", lambda rng: rng.negative_binomial(2.0, 0.5, size=(N, D))),
    "log-normal": ("log_normal", lambda rng: np.exp(rng.normal(size=(N, D)))),
    "logistic normal": ("log_ratio", lambda rng: _softmax(rng.normal(size=(N, D)))),
}


def _softmax(Z):
    return np.exp(Z - logsumexp(Z, axis=1, keepdims=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_chooses_its_own_family(name):
    expected, draw = SAMPLES[name]
    chosen = [compare(draw(np.random.default_rng(seed)), random_state=seed).best.name for seed in range(20)]
    assert chosen.count(expected) >= 19, chosen


def test_clusters_are_likelier_as_kernels():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 3)) * 30, 10, axis=0) + rng.normal(size=(200, 3))
    found = compare(X).best
    assert found.kernels > found.one_component
    assert 0.3 < found.bandwidth < 3


def test_its_smoothing_and_bandwidth_go_into_a_walk():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(rng.gamma(0.3, 2.0, size=(400, 60))))
    y = rng.integers(3, size=400)
    found = compare(X, y=y, n_rows=300, random_state=1)
    assert 0 < found.best.accuracy < 0.6
    for one in found:
        op = bvdt.transition_matrix(X, one.divergence, smoothing=one.smoothing, bandwidth=one.bandwidth)
        assert_allclose(op @ np.ones(400), 1.0)
    assert "negative binomial" in repr(found)
    assert len(found) == 3
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_what_has_no_comparable_likelihood_says_why():
    rng = np.random.default_rng(0)
    found = compare(
        rng.poisson(3.0, (60, 4)) + 1, ["gid", "itakura_saito", "multinomial", "log_normal", "logistic"]
    )
    notes = {one.name: one.note for one in found}
    assert found.best.name == "gid"
    assert "no probability of whole numbers" in notes["itakura_saito"]
    assert "rows that sum to" in notes["multinomial"]
    assert "measurements > 0" in notes["log_normal"]
    assert "zeros and ones" in notes["logistic"]
    assert np.isnan(found[-1].score)
    assert "no probability" in repr(found)
    proportions = compare(rng.dirichlet(np.ones(4), size=60))
    assert "no family" in {one.name: one.note for one in proportions}["kl"]
    assert "whole numbers >= 0 only" in compare(rng.random((40, 2)) + 1, ["gid", "itakura_saito"])[1].note


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.ones((5, 2)), {}, "10 rows"),
        (np.full((20, 2), np.nan), {}, "finite"),
        (np.ones((20, 2)), {"y": [0, 1]}, "20 labels"),
        (np.ones((20, 2)), {"candidates": ["nothing"]}, "log_ratio or a name of"),
        (np.ones((20, 2)), {"n_rows": 3}, "n_rows"),
        (np.ones((20, 2)), {"candidates": []}, "at least one candidate"),
        (np.full((20, 2), "a"), {}, "matrix of real numbers"),
        (np.ones((20, 2)) * 1j, {}, "matrix of real numbers"),
    ],
)
def test_bad_input(X, options, message):
    with pytest.raises(ValueError, match=message):
        compare(X, **options)


def test_rounded_numbers_are_spread_over_their_steps():
    """Else the narrowest kernels win, at the copies of a value."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(300, 3)), 1)
    found = compare(X, ["squared_euclidean"], random_state=0).best
    fine = compare(rng.normal(size=(300, 3)), ["squared_euclidean"], random_state=0).best
    assert_allclose(found.score, fine.score, atol=0.2)
    copied = compare(np.repeat(rng.normal(size=(50, 3)), 6, axis=0))
    assert "are copies" in repr(copied)


def test_large_counts_are_as_their_density():
    X = np.random.default_rng(0).poisson(1e6, size=(200, 3))
    found = {one.name: one for one in compare(X)}
    assert_allclose(found["squared_euclidean"].score, found["gid"].score, atol=0.1)


def test_a_given_r_is_kept():
    C = np.random.default_rng(0).negative_binomial(0.5, 0.2, size=(200, 4))
    narrow, wide = compare(C, [dv.NegativeBinomial(0.5), dv.NegativeBinomial(50.0)])
    assert narrow.name == "NegativeBinomial(r=0.5)"
    assert narrow.one_component > wide.one_component + 1


def test_labels_and_their_absence():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 30, axis=0) + rng.normal(size=(60, 2))
    y = np.array((["a"] * 20 + ["", None, float("nan")] + ["a"] * 7) + ["b"] * 30, object)
    assert compare(X, y=y).best.accuracy == 1.0
    assert compare(X, y=["a"] * 30 + ["b"] * 30).best.accuracy == 1.0
    assert np.isnan(compare(X, y=np.full(60, -1)).best.accuracy)


def test_nothing_but_zeros():
    with np.errstate(all="raise"):
        found = compare(np.zeros((50, 5)))
    assert np.isfinite(found.best.score)


def test_none_is_comparable():
    found = compare(np.random.default_rng(0).dirichlet(np.ones(3), size=40), "kl")
    with pytest.raises(ValueError, match="none of these has a likelihood"):
        _ = found.best


def test_cells_are_the_gaussians_mass():
    """Against differences of scipy's distribution function, kernels at sparse rows too."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.8, size=(12, 7))
    for sigma in (0.2, 1.0, 4.0):
        away = np.arange(6.0)
        norm = stats.norm(scale=sigma)
        assert_allclose(log_cell(away, sigma), np.log(norm.sf(away - 0.5) - norm.sf(away + 0.5)), rtol=1e-6)
        table = log_cell(np.arange(X.max() + 1), sigma)[None]
        expected = log_cell(X[:5, None] - X[None], sigma).sum(axis=2)
        rows = sparse.csr_array(X.astype(float))
        assert_allclose(cell_sums(rows[:5], rows, table)[0], logsumexp(expected, axis=1))
        np.fill_diagonal(expected, -np.inf)
        assert_allclose(cell_sums(rows, rows, table, own=True)[0][:5], logsumexp(expected, axis=1))


@pytest.mark.parametrize("name", ["log_normal", "log_ratio"])
def test_jacobians(name):
    """Of the change of variables, by differences along the data's own directions."""
    x = _softmax(np.random.default_rng(0).normal(size=(1, 5)))
    directions = np.eye(5) if name == "log_normal" else np.linalg.svd(np.eye(5) - 0.2)[2][:4]
    apply = TRANSFORMS[name].apply
    J = [(apply(x + 1e-6 * v)[0] - apply(x - 1e-6 * v)[0]) / 2e-6 for v in directions]
    assert_allclose(TRANSFORMS[name].log_jacobian(x)[0], np.linalg.slogdet(np.array(J))[1], rtol=1e-6)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("name", ["gid", "negative_binomial", "logistic", "multinomial"])
def test_the_likelihood_is_the_finest_partitions(name, as_sparse):
    """Two ways to Eq. (17): here by Eq. (14), there by blocks of one entry."""
    rng = np.random.default_rng(0)
    X = (
        (rng.random((30, 5)) < 0.4).astype(float)
        if name == "logistic"
        else rng.poisson(1.0, (30, 5)).astype(float)
    )
    X = rng.multinomial(5, np.full(5, 0.2), size=30).astype(float) if name == "multinomial" else X
    divergence = dv.NegativeBinomial(0.5) if name == "negative_binomial" else dv.get(name)
    divergence, _ = divergence.prepare(X)
    X = sparse.csr_array(X) if as_sparse else X
    d = center_divergences(divergence, X, X, 0.1)
    rows = left_out(d) + log_base_rows(divergence, X)
    op = bvdt.transition_matrix(X, divergence, smoothing=0.1, bandwidth=1.0, random_state=0).refine(30 * 29)
    assert_allclose(op.score_samples(), rows, rtol=1e-9)


def test_smoothing_by_likelihood():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(rng.gamma(0.1, 3.0, size=(200, 80))).astype(float))
    chosen = bvdt.lifting.lift(X, "gid", "likelihood").lifting.smoothing
    assert_allclose(chosen, kernels(dv.get("gid"), X).smoothing)
    tried = {
        e: float((left_out(center_divergences(dv.get("gid"), X, X, e))).mean())
        for e in (0.001, 0.01, 0.1, chosen[0])
    }
    assert max(tried, key=tried.get) == chosen[0]
    with pytest.raises(ValueError, match="kl has none"):
        bvdt.lifting.lift(X, dv.KullbackLeibler(normalize=True), "likelihood")


def test_r_by_likelihood():
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.1, 10.0, size=(300, 50)))
    learned, _ = dv.NegativeBinomial().prepare(X.astype(float))
    assert learned.r in (0.03, 0.1, 0.3)
    assert dv.get("negative_binomial").family is None
    with pytest.raises(ValueError, match="r as a number"):
        dv.NegativeBinomial().phi(np.ones(3))
    with pytest.raises(ValueError, match="r > 0"):
        dv.NegativeBinomial(0.0)


def test_large_r_is_poisson():
    x, y = np.random.default_rng(0).gamma(2.0, size=(2, 40))
    assert_allclose(dv.NegativeBinomial(1e8).div(x, y), dv.get("gid").div(x, y), rtol=1e-6)


def test_saved_and_loaded(tmp_path):
    X = np.random.default_rng(0).poisson(2.0, (40, 5))
    op = bvdt.transition_matrix(X, "negative_binomial", random_state=0)
    op.save(tmp_path / "walk")
    other = bvdt.load(tmp_path / "walk")
    assert other.lifted.lifting.divergence.r == op.lifted.lifting.divergence.r
    assert_allclose(other @ np.arange(40.0), op @ np.arange(40.0))
    assert_allclose(other.extend(X[:3]) @ np.arange(40.0), op.extend(X[:3]) @ np.arange(40.0))
