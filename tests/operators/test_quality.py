"""The quality report against the full matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bvdt.operators import TransitionOperator
from bvdt.operators.exact import exact_rows
from bvdt.operators.quality import _half_width, _sample
from helpers.engine_cases import random_lifted, random_tree


@pytest.fixture(scope="module")
def op():
    rng = np.random.default_rng(0)
    lifted = random_lifted("gid", 300, rng, n_features=8)
    return TransitionOperator(lifted, random_tree(300, rng), bandwidth=0.5)


@pytest.fixture(scope="module")
def exact(op):
    P, Q = exact_rows(op.lifted, np.arange(300), op.bandwidth), op.toarray()
    off = ~np.eye(300, dtype=bool)
    kl = np.where(off, Q * np.log(np.where(off, Q, 1) / np.where(off, P, 1)), 0).sum(axis=1)
    return P, Q, kl


def test_all_rows_give_the_exact_figures(op, exact):
    P, Q, kl = exact
    report = op.quality(n_rows=1000)
    assert report["n_rows"] == 300
    assert_allclose(report["kl"], kl.mean(), rtol=1e-10)
    assert report["kl_low"] == report["kl_high"] == report["kl"]
    assert_allclose(report["total_variation"], np.abs(P - Q).sum(axis=1).mean() / 2)
    top = np.argsort(-P, axis=1)[:, :10]
    p, q = np.take_along_axis(P, top, 1), np.take_along_axis(Q, top, 1)
    assert_allclose(report["top_kept"], (np.minimum(p, q).sum(axis=1) / p.sum(axis=1)).mean())
    assert_allclose(report["lower_bound"], op.lower_bound)


def test_bound_and_kl_make_up_the_likelihood(op):
    """Eq. (2): Σ_i log Σ_j e^{−d_ij/β} = bound + Σ_i KL."""
    d = op.lifted.divergences(slice(None), slice(None)) / op.bandwidth
    d[np.diag_indices(300)] = np.inf
    report = op.quality(n_rows=300)
    assert_allclose(np.logaddexp.reduce(-d, axis=1).sum(), op.lower_bound + 300 * report["kl"])


def test_interval_holds_the_truth(op, exact):
    kl = exact[2]
    samples = [kl[_sample(op, 40, seed)] for seed in range(1000)]
    held = [abs(sample.mean() - kl.mean()) <= _half_width(sample, 300) for sample in samples]
    assert np.mean(held) >= 0.95
    assert_allclose(np.mean([sample.mean() for sample in samples]), kl.mean(), rtol=0.005)


def test_seeds(op, exact):
    report = op.quality(40, random_state=3)
    assert report == op.quality(40, random_state=3)
    assert_allclose(report["kl"], exact[2][_sample(op, 40, 3)].mean(), rtol=1e-10)
    assert report["kl_low"] < report["kl"] < report["kl_high"]


def test_far_points_do_not_overflow(op):
    lifted = type(op.lifted)(op.lifted.u * 1e4, op.lifted.w * 1e4, op.lifted.X * 1e2, op.lifted.H * 1e2)
    far = TransitionOperator(lifted, op.tree, bandwidth=0.01)
    report = far.quality(20, random_state=0)
    assert all(np.isfinite(value) for value in report.values())


def test_prints_a_table(op):
    text = str(op.quality(5, random_state=0))
    assert "mean KL" in text
    assert "largest p_ij" in text


def test_small_numbers(op):
    assert op.quality(1)["kl_high"] == np.inf
    for bad in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="n_rows"):
            op.quality(bad)
    rng = np.random.default_rng(0)
    tiny = TransitionOperator(random_lifted("gid", 2, rng), random_tree(2, rng))
    assert tiny.quality()["kl"] == 0.0
