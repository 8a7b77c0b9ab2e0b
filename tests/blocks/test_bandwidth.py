"""Bandwidths: learned ones maximise the bound, automatic ones meet their entropy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from bvdt.blocks.bandwidth import NEIGHBORS, bandwidth_for_entropy, effective_dimension
from bvdt.blocks.bound import bound_curve
from bvdt.operators import TransitionOperator
from helpers.engine_cases import random_lifted, random_tree


def curve_of(op):
    return lambda beta: bound_curve(op.mean_divergence, op.tree, op.partition, beta)


@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid"])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_learned_bandwidth_maximises_the_bound(divergence, as_sparse):
    rng = np.random.default_rng(0)
    lifted = random_lifted(divergence, 50, rng, as_sparse=as_sparse)
    op = TransitionOperator(lifted, random_tree(50, rng), bandwidth="learn")
    d, _ = effective_dimension(lifted)
    nonzero = lifted.X.nnz / 50 if as_sparse else 4.0
    assert d == (4 if divergence == "squared_euclidean" else nonzero)

    def loss(log_beta):
        return -50 * curve_of(op)(np.exp(log_beta)).value + 50 * d / 2 * log_beta

    best = minimize_scalar(loss, bounds=(-15, 15), method="bounded", options={"xatol": 1e-9})
    assert_allclose(np.log(op.bandwidth), best.x, atol=1e-4)


def test_learned_bandwidth_is_the_papers_variance():
    """σ² = Σ q_AB D_AB / (N d) with D_AB the squared distances."""
    rng = np.random.default_rng(1)
    lifted = random_lifted("squared_euclidean", 40, rng)
    op = TransitionOperator(lifted, random_tree(40, rng), bandwidth="learn")
    squared = ((lifted.X[:, None] - lifted.X[None]) ** 2).sum(axis=2)
    assert_allclose(op.bandwidth, (op.toarray() * squared).sum() / (40 * 4), rtol=1e-5)


def test_auto_meets_the_number_of_neighbors():
    rng = np.random.default_rng(0)
    lifted = random_lifted("gid", 400, rng)
    op = TransitionOperator(lifted, random_tree(400, rng), bandwidth="auto")
    Q = op.toarray()
    entropy = -(Q * np.log(Q, where=Q > 0, out=np.zeros_like(Q))).sum(axis=1).mean()
    assert_allclose(entropy, np.log(NEIGHBORS), atol=1e-3)


def test_entropy_rises_with_the_bandwidth_and_targets_are_met():
    rng = np.random.default_rng(0)
    op = TransitionOperator(random_lifted("gid", 60, rng), random_tree(60, rng), bandwidth=1.0)
    curve = curve_of(op)
    entropies = [curve(beta).entropy for beta in np.geomspace(1e-4, 1e4, 40)]
    assert (np.diff(entropies) > -1e-12).all()
    for target in np.linspace(entropies[0] + 0.4, entropies[-1] - 0.4, 5):
        beta = bandwidth_for_entropy(target, op.mean_divergence, curve)
        assert_allclose(curve(beta).entropy, target, atol=1e-5)
    for unreachable in (0.0, 50.0):
        beta = bandwidth_for_entropy(unreachable, op.mean_divergence, curve)
        assert 0 < beta < np.inf


@pytest.mark.parametrize("least", [1e-16, 1e-100, 1e-300])
def test_points_that_are_almost_twins_do_not_mislead_it(least):
    """The smallest divergence is the bracket's end, 1e16 times and more below what matters."""
    rng = np.random.default_rng(0)
    op = TransitionOperator(random_lifted("gid", 400, rng), random_tree(400, rng), bandwidth="auto")
    divergence = op.mean_divergence.copy()
    divergence[np.argsort(divergence)[:4]] = least
    found = bandwidth_for_entropy(
        np.log(NEIGHBORS), divergence, lambda beta: bound_curve(divergence, op.tree, op.partition, beta)
    )
    assert_allclose(found, op.bandwidth, rtol=0.1)


def test_scaling_the_divergences_scales_the_bandwidth():
    rng = np.random.default_rng(0)
    lifted = random_lifted("squared_euclidean", 50, rng)
    tree = random_tree(50, rng)
    scaled = type(lifted)(9 * lifted.u, 9 * lifted.w, 3 * lifted.X, 3 * lifted.H)
    for choice in ("auto", "learn"):
        one, nine = (TransitionOperator(x, tree, bandwidth=choice).bandwidth for x in (lifted, scaled))
        assert_allclose(nine, 9 * one, rtol=1e-3)
