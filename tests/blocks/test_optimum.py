"""The closed form (theory: The optimum in two passes): a convex solver, a slow twin, extreme divergences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from bvdt import _core
from bvdt.blocks import BlockPartition
from bvdt.blocks.bound import bound_curve
from bvdt.blocks.optimum import optimum
from bvdt.blocks.sums import block_divergences
from helpers.engine_cases import (
    DIVERGENCES,
    dense_matrix,
    random_lifted,
    random_partition,
    random_tree,
    slow_optimum,
)

seeds = st.integers(0, 2**32 - 1)


def convex_solution(dbar, tree, partition):
    """Eq. (18) under Eq. (3) by SciPy, in the variables m_b = |B|·q_b; returns q and the bound."""
    n_a, n_b = tree.size[partition.rows].astype(float), tree.size[partition.cols].astype(float)
    rows = np.zeros((tree.n_points, partition.n_blocks))
    for b, node in enumerate(partition.rows):
        rows[tree.members(node), b] = 1.0

    def loss(m):
        return n_a @ (m * (dbar + np.log(m / n_b)))

    def slope(m):
        return n_a * (dbar + np.log(m / n_b) + 1)

    start = dense_matrix(tree, partition, np.full(partition.n_blocks, 1 / (tree.n_points - 1)))
    m0 = n_b * np.array([start[tree.members(a)[0], tree.members(b)[0]] for a, b in
                         zip(partition.rows, partition.cols, strict=True)])  # fmt: skip
    for _ in range(8):  # from where it stopped: one run may stall short of the maximum
        result = minimize(
            loss,
            m0,
            jac=slope,
            method="SLSQP",
            bounds=[(1e-13, None)] * len(m0),
            constraints={"type": "eq", "fun": lambda m: rows @ m - 1, "jac": lambda m: rows},
            options={"ftol": 1e-16, "maxiter": 1000},
        )
        m0 = result.x
    return result.x / n_b, -result.fun


@pytest.mark.slow
@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("seed", range(5))
def test_equals_a_general_convex_solver(divergence, seed):
    """q to 1e-6, the bound to 1e-8."""
    rng = np.random.default_rng(seed)
    n_points = int(rng.integers(4, 13))
    lifted = random_lifted(divergence, n_points, rng)
    tree = random_tree(n_points, rng)
    partition = random_partition(tree, int(rng.integers(0, 12)), rng)
    dbar = block_divergences(lifted, tree, partition)
    dbar = 3 * dbar / dbar.mean()
    q, bound = convex_solution(dbar, tree, partition)
    found = optimum(dbar, tree, partition)
    assert_allclose(found.q, q, rtol=0, atol=1e-6)
    assert_allclose(found.lower_bound, bound, rtol=1e-8, atol=1e-8)
    assert found.lower_bound >= bound - 1e-9  # ours is the maximum


@pytest.mark.kernel
@given(n_points=st.integers(2, 30), n_splits=st.integers(0, 40), bandwidth=st.floats(0.01, 100), seed=seeds)
def test_equals_the_slow_twin(n_points, n_splits, bandwidth, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(n_points, rng, chain=seed % 4 == 0)
    partition = random_partition(tree, n_splits, rng)
    dbar = rng.exponential(size=partition.n_blocks)
    found = optimum(dbar, tree, partition, bandwidth, n_jobs=2)
    q, c = slow_optimum(dbar, tree, partition, bandwidth)
    assert_allclose(found.log_value, c, rtol=1e-11, atol=1e-11)
    assert_allclose(found.q, q, rtol=1e-10, atol=1e-300)
    assert_allclose(found.lower_bound, n_points * c[0])
    Q = dense_matrix(tree, partition, found.q)
    D = dense_matrix(tree, partition, dbar / bandwidth)
    value = -(Q * D).sum() - (Q[Q > 0] * np.log(Q[Q > 0])).sum()  # Eq. (18) without c
    assert_allclose(found.lower_bound, value, rtol=1e-10, atol=1e-10)


@pytest.mark.kernel
@pytest.mark.parametrize("n_splits", [0, 300])
@pytest.mark.parametrize("chain", [False, True])
def test_extreme_divergences(n_splits, chain):
    """Divergences of 1e6 and 1e-12 in one matrix; rows sum to 1 within 1e-12, no NaN, no warning."""
    rng = np.random.default_rng(0)
    tree = random_tree(300, rng, chain)
    partition = random_partition(tree, n_splits, rng)
    for bandwidth in (1e-300, 1e-3, 1.0, 1e3, 1e300):
        dbar = 10.0 ** rng.uniform(-12, 6, partition.n_blocks)
        found = optimum(dbar, tree, partition, bandwidth)
        Q = dense_matrix(tree, partition, found.q)
        assert np.isfinite(Q).all()
        assert (Q >= 0).all()
        assert np.isfinite(found.lower_bound)
        assert_allclose(Q.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.kernel
def test_threads_do_not_change_it():
    rng = np.random.default_rng(0)
    tree = random_tree(30_000, rng)
    coarsest = BlockPartition.coarsest(tree)
    dbar = rng.exponential(size=coarsest.n_blocks)
    one, two = (optimum(dbar, tree, coarsest, 0.3, n_jobs) for n_jobs in (1, 2))
    assert_array_equal(one.q, two.q)
    general = np.empty(coarsest.n_blocks), np.empty(tree.n_nodes), np.empty(tree.n_nodes)
    _core.optimum_blocks(tree.size, tree.parent, coarsest.first, coarsest.cols, dbar, 0.3, *general, 2)
    assert_allclose(one.q, general[0], rtol=1e-12)
    assert_allclose(one.log_value, general[1], rtol=1e-12)


def test_mass_and_entropy():
    rng = np.random.default_rng(0)
    tree = random_tree(20, rng)
    partition = random_partition(tree, 15, rng)
    dbar = rng.exponential(size=partition.n_blocks)
    found = optimum(dbar, tree, partition, 0.7)
    mass = np.exp(found.log_mass(tree))
    own = np.bincount(partition.rows, tree.size[partition.cols] * found.q, minlength=tree.n_nodes)
    inner = np.flatnonzero(tree.left >= 0)
    assert_allclose(mass[inner] - own[inner], mass[tree.left[inner]])
    Q = dense_matrix(tree, partition, found.q)
    entropy = -(Q * np.log(Q, where=Q > 0, out=np.zeros_like(Q))).sum(axis=1).mean()
    assert_allclose(bound_curve(dbar, tree, partition, 0.7).entropy, entropy)


@pytest.mark.kernel
@pytest.mark.parametrize("n_points", [2, 3, 40, 10_000])  # 10 000: subtrees and a tree above them
@pytest.mark.parametrize("extra_blocks", [0, 25])
@pytest.mark.parametrize("bandwidth", [1e-300, 1e-3, 0.2, 3.0, 1e300])
def test_curve_against_the_optimum_and_finite_differences(n_points, extra_blocks, bandwidth):
    rng = np.random.default_rng(n_points)
    tree = random_tree(n_points, rng)
    partition = random_partition(tree, extra_blocks, rng) if n_points == 40 else BlockPartition.coarsest(tree)
    dbar = rng.exponential(size=partition.n_blocks)
    curve = bound_curve(dbar, tree, partition, bandwidth)
    found = optimum(dbar, tree, partition, bandwidth)
    mass = tree.size[partition.rows].astype(float) * tree.size[partition.cols] * found.q
    assert_allclose(curve.value, found.log_value[0], rtol=1e-12, atol=1e-12)
    assert_allclose(curve.divergence, mass @ dbar / n_points, rtol=1e-10)
    log_q = np.log(found.q, where=found.q > 0, out=np.zeros_like(found.q))
    assert_allclose(curve.entropy, -mass @ log_q / n_points, rtol=1e-10, atol=1e-12)
    assert curve == bound_curve(dbar, tree, partition, bandwidth, n_jobs=2)
    if 1e-3 < bandwidth < 1e3:
        theta, step = 1 / bandwidth, 1e-4 / bandwidth
        near = [bound_curve(dbar, tree, partition, 1 / (theta + side * step)) for side in (-1, 1)]
        slope = (near[1].divergence - near[0].divergence) / (2 * step)
        assert_allclose(curve.variance, -slope, rtol=1e-5, atol=1e-9)
        rise = (near[1].entropy - near[0].entropy) / np.log(near[1].bandwidth / near[0].bandwidth)
        assert_allclose(curve.entropy_slope, rise, rtol=1e-5, atol=1e-7)


def test_bad_input_is_refused():
    tree = random_tree(4, np.random.default_rng(0))
    coarsest = BlockPartition.coarsest(tree)
    for bandwidth in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="bandwidth"):
            optimum(np.ones(6), tree, coarsest, bandwidth)
    with pytest.raises(ValueError, match="block 2 has nan"):
        optimum(np.array([1, 1, np.nan, 1, 1, 1]), tree, coarsest)
