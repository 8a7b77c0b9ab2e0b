"""bandwidth="learn" is where an operator's own bound is largest: refined, of a forest, with a near field."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize_scalar

import bvdt
from bvdt.operators import ForestOperator, TransitionOperator
from helpers.engine_cases import random_data

KINDS = {
    "one tree": {},
    "refined": {"n_blocks": 900},
    "forest": {"n_trees": 3},
    "near field": {"n_neighbors": 5},
    "all": {"n_trees": 2, "n_neighbors": 4, "n_blocks": 900},
}


def at(op, beta):
    """The same blocks at another bandwidth, made from scratch."""
    members = [
        TransitionOperator(
            m.lifted, m.tree, partition=m.partition, mean_divergence=m.mean_divergence, bandwidth=beta
        )
        for m in op.members
    ]
    if isinstance(op, TransitionOperator):
        return members[0]
    return ForestOperator(members, weights=op.weighting, near_field=op.near_field)


@pytest.mark.kernel
@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid", "itakura_saito"])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_no_other_bandwidth_has_a_larger_bound(kind, as_sparse, divergence):
    X = random_data(divergence, 120, np.random.default_rng(0))
    X = sparse.csr_array(X) if as_sparse else X
    op = bvdt.transition_matrix(X, divergence, bandwidth="learn", random_state=0, **KINDS[kind])
    assert op.n_blocks == KINDS[kind].get("n_blocks", len(op.members) * 2 * 119)

    def loss(log_beta):
        other = at(op, float(np.exp(log_beta)))
        if divergence != "gid":
            return -other.log_likelihood()
        nonzero = np.count_nonzero(X.toarray() if as_sparse else X) / len(op.lifted.u)
        return -other.lower_bound + 120 * nonzero / 2 * log_beta  # the saddle-point form

    grid = np.log(op.bandwidth) + np.linspace(-5, 5, 101)  # there may be several maxima
    best = grid[np.argmin([loss(log_beta) for log_beta in grid])]
    found = minimize_scalar(loss, bounds=(best - 0.2, best + 0.2), method="bounded", options={"xatol": 1e-6})
    assert_allclose(op.bandwidth, np.exp(found.x), rtol=1e-3)


def test_equal_points_keep_any_bandwidth():
    X = np.ones((10, 2))
    op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth="learn", n_trees=2, n_neighbors=2)
    assert np.isfinite(op @ np.arange(10.0)).all()
