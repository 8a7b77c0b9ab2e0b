"""The map: its forces against sums over all pairs, its places, and those of new points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import bvdt
from bvdt.walks import layout
from bvdt.walks.inputs import operator_of
from bvdt.walks.layout import Phase, map_coordinates, placed_among
from bvdt.walks.repulsion import Potential


def walk(n, **options):
    """Points in three groups, as counts."""
    rng = np.random.default_rng(3)
    means = np.eye(3, 8)[np.arange(n) % 3] * 6 + 1
    return bvdt.transition_matrix(rng.poisson(means), random_state=0, **options)


def slow_potential(Y):  # (N, 2) -> (N, 3)
    r = Y[:, None] - Y[None]
    d = 1.0 + (r**2).sum(axis=2, keepdims=True)
    return np.column_stack([(1 / d).sum(axis=1), -2 * (r / d**2).sum(axis=1)])


def slow_steps(W, Y, phase):
    """Plain t-SNE: all pairs, in double precision."""
    velocity, gain = np.zeros_like(Y), np.ones_like(Y)
    for _ in range(phase.steps):
        r = Y[:, None] - Y[None]
        near = 1.0 / (1.0 + (r**2).sum(axis=2))
        np.fill_diagonal(near, 0.0)
        pull = -((W * near)[:, :, None] * r).sum(axis=1)
        push = (near[:, :, None] ** 2 * r).sum(axis=1) * len(Y) / near.sum()
        force = phase.pull * pull + push
        gain = np.maximum(np.where((force > 0) == (velocity > 0), gain + 0.2, gain * 0.8), 0.01)
        velocity = phase.momentum * velocity + phase.rate * gain * force
        Y = Y + velocity
    return Y


@pytest.mark.kernel
@pytest.mark.parametrize(("width", "error"), [(0.01, 0.06), (3.0, 0.003), (10.0, 0.06)])
def test_potential_is_the_sum_over_all_pairs(width, error):
    Y = np.random.default_rng(0).normal(size=(400, 2)).astype(np.float32) * np.float32(width)
    found, slow = Potential.of(Y, 1).at(Y, 1), slow_potential(Y.astype(float))
    assert_allclose(found[:, 0], slow[:, 0], rtol=0.02)
    assert np.linalg.norm(found[:, 1:] - slow[:, 1:]) < error * np.linalg.norm(slow[:, 1:])
    assert_array_equal(found, Potential.of(Y, 2).at(Y, 2))


def test_a_wide_map_has_a_coarser_mesh():
    Y = np.array([[0, 0], [1e6, 3.0], [5e5, -2e4]], np.float32)
    field = Potential.of(Y, 1)
    assert max(field.values.shape) <= 1024
    assert_allclose(field.at(Y, 1)[:, 0], 1.0, rtol=0.7)  # alone, each of them


def test_few_steps_are_those_of_all_pairs():
    op = walk(120, n_neighbors=8)
    W = layout._links(op)
    assert_allclose(W.sum(), 120)
    start = np.random.default_rng(1).normal(size=(120, 2))
    phase = Phase(10, 4.0, 0.3, 0.5)
    assert_allclose(layout._laid_out(W, start, (phase,), 1), slow_steps(W.toarray(), start, phase), atol=0.02)


@pytest.mark.parametrize("n_neighbors", [0, 5])
def test_groups_lie_together(n_neighbors):
    op = walk(150, n_neighbors=n_neighbors)
    Y = map_coordinates(op, random_state=0)
    assert Y.shape == (150, 2)
    assert np.isfinite(Y).all()
    group = np.arange(150) % 3
    distance = np.linalg.norm(Y[:, None] - Y[None], axis=2) + 1e9 * np.eye(150)
    assert (group[distance.argmin(axis=1)] == group).mean() > 0.95
    assert_array_equal(Y, map_coordinates(op, random_state=0))


@pytest.mark.kernel
def test_threads_do_not_change_the_map(monkeypatch):
    monkeypatch.setattr(layout, "SERIAL", 0)
    maps = [map_coordinates(walk(2500, n_neighbors=5, n_jobs=n_jobs), random_state=0) for n_jobs in (1, 2)]
    assert_array_equal(*maps)


def test_the_trees_keep_their_weights():
    members = walk(40, n_trees=2).members
    op = bvdt.operators.ForestOperator(members, weights=[0.9, 0.1])
    linked = layout._linked(op, np.random.default_rng(0))
    assert linked.near_field is not None
    assert_array_equal(linked.weights, op.weights)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_points(n):
    Y = map_coordinates(walk(n), random_state=0)
    assert Y.shape == (n, 2)
    assert np.isfinite(Y).all()


def test_equal_points_and_an_outlier():
    for X in (np.ones((30, 3)), np.vstack([np.random.default_rng(0).normal(size=(60, 2)), [[1e6, 0]]])):
        op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=5, random_state=0)
        Y = map_coordinates(op, random_state=0)
        assert np.isfinite(Y).all()
    usual = np.ptp(Y[:-1], axis=0).max()
    assert np.ptp(Y, axis=0).max() < 6 * usual  # the outlier does not squeeze the rest


def test_any_matrix_has_a_map():
    M = np.random.default_rng(0).uniform(size=(300, 300)) ** 8
    off = M - np.diag(np.diag(M))
    kept = np.where(off >= np.sort(off, axis=0)[-layout.NEAR], off, 0.0)  # each column's largest
    for form in (M, aslinearoperator(M)):
        assert_allclose(layout._strongest(operator_of(form)).toarray(), (kept + kept.T) / 2)
        assert np.isfinite(map_coordinates(form, random_state=0)).all()
    assert_allclose(layout._strongest(operator_of(sparse.csr_array(M))).toarray(), (off + off.T) / 2)


def test_new_points_go_to_the_group_where_most_of_their_neighbors_are():
    rng = np.random.default_rng(0)
    fitted = np.vstack([rng.normal(size=(60, 2)), rng.normal((40, 0), size=(60, 2))])
    neighbors = np.array([[1, 2, 3, 70], [80, 90, 5, 100], [4, -1, -1, -1]])
    places = placed_among(fitted, neighbors, np.array([[0.25] * 4, [0.25] * 4, [1.0, 0, 0, 0]]))
    assert_array_equal(places[:, 0] > 20, [False, True, False])
    assert (np.abs(places[:, 1]) < 8).all()
    assert placed_among(fitted, np.empty((0, 4), int), np.empty((0, 4))).shape == (0, 2)
