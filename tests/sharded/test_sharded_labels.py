"""Label propagation over shards against the walks of one machine on the same operator."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

import bvdt
from bvdt.sharded import LocalExecutor, build_operator
from bvdt.sharded.labels import propagate, spread_scores, walk_scores
from bvdt.walks import label_scores

FAR = 2  # points that no walk reaches


def built(near: int, far: int = 0):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 3)) + 5 * rng.integers(0, 3, (600, 1))
    X[7 : 7 + far] = 400 * (1 + np.arange(far))[:, None]
    cuts = np.linspace(0, 600, 4).astype(int)
    slabs = [X[a:b] for a, b in pairwise(cuts)]
    options = {"n_neighbors": near, "bandwidth": 0.5, "shard_points": 120, "random_state": 0}
    op = build_operator(LocalExecutor(), slabs, np.diff(cuts).tolist(), "squared_euclidean", **options)
    Y0 = np.zeros((600, 3))
    Y0[np.arange(0, 600, 40), np.arange(15) % 3] = 1
    return op, Y0


@pytest.mark.parametrize("n_neighbors", [0, 5])
@pytest.mark.parametrize("far", [0, FAR])
@pytest.mark.parametrize("alpha", [0.9, 0.97])  # by Chebyshev's steps, by conjugate gradients
def test_spreading_equals_that_of_one_machine(n_neighbors, far, alpha):
    op, Y0 = built(n_neighbors, far)
    scores, products = spread_scores(op, op.columns(Y0), alpha, 300, 1e-6)
    expected, same = label_scores(op.to_local(), Y0, method="spread", alpha=alpha, tol=1e-6)
    assert_allclose(op.to_array(scores), expected, atol=1e-12)
    assert products - same in (0, 1)  # conjugate gradients count that of the degrees, too


@pytest.mark.parametrize("n_neighbors", [0, 5])
def test_walking_equals_that_of_one_machine(n_neighbors):
    op, Y0 = built(n_neighbors)
    scores, steps = walk_scores(op, op.columns(Y0), 0.9, 300, 1e-4)
    expected, products = label_scores(op.to_local(), Y0, method="walk", alpha=0.9, tol=1e-4)
    assert_allclose(op.to_array(scores), expected, atol=1e-12)
    assert steps == products


def test_propagation_stops_when_nothing_changes():
    op, Y0 = built(0)
    found = op.to_array(propagate(op, op.columns(Y0), 0.3, 300, 1e-6))
    assert_allclose(found, bvdt.propagate_labels(op.to_local(), Y0, 0.3, 300, 1e-6), atol=1e-12)
    assert_allclose(op.to_array(propagate(op, op.columns(Y0), 0.3, 0)), Y0)


def test_steps_that_are_too_few_are_told():
    op, Y0 = built(0)
    with pytest.warns(ConvergenceWarning, match="3 steps"):
        propagate(op, op.columns(Y0), 0.9, 3, 1e-9)
    with pytest.warns(ConvergenceWarning, match="3 steps"):
        walk_scores(op, op.columns(Y0), 0.9, 3, 1e-9)
    with pytest.warns(ConvergenceWarning, match="4 steps"):
        spread_scores(op, op.columns(Y0), 0.99, 4, 1e-12)


@pytest.mark.parametrize(
    ("alpha", "max_iter", "message"),
    [(1.5, 3, "alpha needs a value from 0 to 1; got 1.5"), (0.5, -1, "max_iter needs a value ≥ 0; got -1")],
)
def test_refused(alpha, max_iter, message):
    op, Y0 = built(0)
    with pytest.raises(ValueError, match=message):
        propagate(op, op.columns(Y0), alpha, max_iter)


def test_spreading_without_an_end_is_refused():
    op, Y0 = built(0)
    with pytest.raises(ValueError, match=r"spreading needs alpha below 1 and tol > 0; got 1.0 and 0.1"):
        spread_scores(op, op.columns(Y0), 1.0, 10, 0.1)


def test_complex_columns_and_the_name_of_its_kind():
    op, Y0 = built(0)
    v = Y0 + 2j * Y0[::-1]
    assert_allclose(op @ v, op.to_local() @ v, atol=1e-12)
    assert repr(op).startswith("ShardedOperator(n_points=600, n_shards=")
