"""Sections 2.3 and 3.3 of the paper: anchors by brute force and SciPy's solvers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import softmax

from bvdt.lifting.lifted import lift
from bvdt.tree.anchor.building import anchor_tree
from bvdt.tree.anchor.growing import Threshold, grow_anchors
from bvdt.tree.anchor.merging import Covers, Means
from helpers.closed_forms import TABLE_1, all_pairs, observations

pytestmark = pytest.mark.kernel
NAMES = ["squared_euclidean", "gid", "itakura_saito", "logistic"]
INSIDE = {  # a coordinate of the domain from any number
    "squared_euclidean": np.asarray,
    "gid": np.exp,
    "itakura_saito": np.exp,
    "logistic": lambda t: 1 / (1 + np.exp(-t)),
}


def points(name, n, seed=0):
    rng = np.random.default_rng(seed)
    X = observations(name, rng, n)
    return X + rng.uniform(0, 1e-3, X.shape) if name == "gid" else X  # no two alike


@pytest.mark.parametrize("name", NAMES)
def test_growing_is_equation_7(name):
    """The next pivot is the point farthest from its pivot; it takes the points nearer to it, no others."""
    X = points(name, 60)
    d = all_pairs(TABLE_1[name], X)
    anchors = grow_anchors(lift(X, name, 0.0), np.arange(60, dtype=np.int32), 7, 8)
    pivots, owner = [7], np.zeros(60, int)
    while len(pivots) < 8:
        pivots.append(int(np.argmax(d[np.arange(60), np.array(pivots)[owner]])))
        owner = np.where(d[:, pivots[-1]] < d[np.arange(60), np.array(pivots)[owner]], len(pivots) - 1, owner)
    assert anchors.pivots.tolist() == pivots
    assert anchors.owner.tolist() == owner.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_threshold_by_a_general_solver(name):
    """Eq. (23) and (24): the minimum over y by SciPy, and its minimizer has the mean gradient."""
    X = points(name, 6)
    lifted = lift(X, name, 0.0)
    d, inside = TABLE_1[name], INSIDE[name]
    got = Threshold.of(lifted)([0, 1, 2], 5)
    for k in range(3):
        found = minimize(lambda t, k=k: (d(inside(t), X[k]) + d(inside(t), X[5])) / 2, np.zeros(3), tol=1e-12)
        assert_allclose(got[k], found.fun, rtol=1e-5, atol=1e-7)
        divergence = lifted.lifting.divergence
        y = divergence.grad_inverse((divergence.grad(X[k]) + divergence.grad(X[5])) / 2)
        assert_allclose(y, inside(found.x), rtol=1e-3, atol=1e-4)


def test_threshold_is_equation_8():
    """Squared Euclidean: d ≤ d_thr exactly where ‖x − a‖ ≤ ‖a − b‖/2."""
    X = points("squared_euclidean", 6)
    apart = np.linalg.norm(X[:3] - X[5], axis=1)
    assert_allclose(Threshold.of(lift(X, "squared_euclidean"))([0, 1, 2], 5), (apart / 2) ** 2 / 2, rtol=1e-8)


@pytest.mark.parametrize(("name", "length"), [("kl", 1.0), ("multinomial", 30.0)])
def test_threshold_over_the_simplex(name, length):
    """−L·log BC, BC = Σ √(ab)/L, as SciPy finds it: more than L·(1 − BC), which is over the orthant."""
    a, b = length * np.random.default_rng(8).dirichlet(np.ones(3), size=2)
    got = Threshold.of(lift(np.array([a, b]), name, 0.0))([0], 1)[0]
    d, coefficient = TABLE_1[name], np.sqrt(a * b).sum() / length
    on_simplex = minimize(
        lambda t: (d(length * softmax(t), a) + d(length * softmax(t), b)) / 2, np.zeros(3), tol=1e-12
    )
    assert_allclose(on_simplex.fun, -length * np.log(coefficient), rtol=1e-6)
    assert_allclose(got, on_simplex.fun, rtol=1e-4)
    assert length * (1 - coefficient) < got <= on_simplex.fun


@pytest.mark.parametrize("name", NAMES)
def test_nothing_within_the_threshold_can_be_stolen(name):
    """Proposition 1, for any x of the domain."""
    X = points(name, 3000, seed=1)
    X[2:] = X[0] + (X[2:] - X[0]) * np.random.default_rng(2).random((2998, 1))  # many near to the first
    threshold = Threshold.of(lift(X, name, 0.0))([0], 1)[0]
    to_first, to_second = (TABLE_1[name](X, X[k]) for k in (0, 1))
    within = to_first <= threshold
    assert 0.01 < within.mean() < 0.99
    assert (to_first[within] <= to_second[within]).all()


@pytest.mark.parametrize("name", NAMES)
def test_pivot_and_cost_of_a_merge(name):
    """Eq. (9) and (22), written out."""
    X, size = points(name, 5), np.array([3.0, 1.0, 4.0, 2.0, 7.0])
    clusters = Means(X[None].copy(), size[None].copy(), lift(X, name, 0.0).lifting.divergence.phi_sum)
    cost = clusters.cost(np.array([0]), np.array([[1, 2, 3, 4]]))[0]
    for k in range(1, 5):
        c = np.average(X[[0, k]], axis=0, weights=size[[0, k]])
        expected = size[0] * TABLE_1[name](X[0], c) + size[k] * TABLE_1[name](X[k], c)
        assert_allclose(cost[k - 1], expected, rtol=1e-9)
    clusters.merge(np.array([0]), np.array([2]))
    assert_allclose(clusters.pivots[0, 0], np.average(X[[0, 2]], axis=0, weights=size[[0, 2]]), rtol=1e-12)
    assert clusters.size[0, 0] == 7


@pytest.mark.parametrize("name", ["squared_euclidean", "gid", "itakura_saito"])
def test_merging_cost_is_a_difference_of_informations(name):
    """Section 3.3: Σ_C d − Σ_A d − Σ_B d, sums of least divergences by SciPy; means do not do."""
    X = points(name, 12, seed=3)
    parts = [X[:5], X[5:], X]

    def information(Y):  # unnormalized: the sum, not the mean, of Eq. (12)
        return minimize(lambda t: TABLE_1[name](Y, INSIDE[name](t)).sum(), np.zeros(3), tol=1e-12).fun

    a, b, c = map(information, parts)
    means, size = np.array([part.mean(axis=0) for part in parts[:2]]), np.array([5.0, 7.0])
    clusters = Means(means[None], size[None], lift(X, name, 0.0).lifting.divergence.phi_sum)
    cost = clusters.cost(np.array([0]), np.array([[1]]))[0, 0]
    assert_allclose(cost, c - a - b, rtol=1e-5)
    assert abs(cost - (c / 12 - a / 5 - b / 7)) > 0.01 * cost
    medoids = X[[0, 5]]  # a fresh anchor's pivot is one of its points, not their mean
    cost = Means(medoids[None], size[None], clusters.phi_sum).cost(np.array([0]), np.array([[1]]))[0, 0]
    assert abs(cost - (c - a - b)) > 0.01 * cost


def test_radius_is_that_of_the_smallest_ball_around_both():
    """Eq. (10), by SciPy, where neither ball holds the other; the ball's center is not C_p."""
    radius, apart = np.array([1.0, 0.5]), 4.0
    at = np.array([0.0, apart])
    found = minimize(lambda c: (np.abs(c - at) + radius).max(), [1.0], method="Nelder-Mead", tol=1e-10)
    squared = np.array([[[0.0, apart**2], [apart**2, 0.0]]])
    cost = Covers(squared, np.array([[3.0, 1.0]]), radius[None]).cost(np.array([0]), np.array([[1]]))[0, 0]
    assert_allclose(cost, found.fun, rtol=1e-6)
    pivot = np.average(at, weights=[3.0, 1.0])
    assert (np.abs(pivot - at) + radius).max() > cost + 0.5
    # docs/theory.md: three equal points and one at distance 1
    points = Covers(np.array([[[0.0, 1.0], [1.0, 0.0]]]), np.array([[3.0, 1.0]]), np.zeros((1, 2)))
    assert points.cost(np.array([0]), np.array([[1]]))[0, 0] == 0.5
    assert 1.0 - np.average([0.0, 1.0], weights=[3.0, 1.0]) == 0.75


@pytest.mark.parametrize("name", ["squared_euclidean", "gid"])
def test_divergences_that_the_anchor_tree_evaluates(name):
    """O(N^1.5 log N): of balanced data the count stays below N^1.5·log N, and grows as N^1.5 at most."""
    counts, sizes = [], (500, 2000, 8000)
    for n in sizes:
        X = np.random.default_rng(n).uniform(1.0, 2.0, (n, 2))
        _, stats = anchor_tree(lift(X, name, 0.0), random_state=0, return_stats=True)
        counts.append(stats.brute_force)
        assert stats.evaluations <= stats.brute_force < n**1.5 * np.log(n)
    growth = np.diff(np.log(counts)) / np.diff(np.log(sizes))
    assert (growth < 1.6).all()
