"""More blocks never lower the bound, and all blocks give P."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bvdt.blocks.optimum import optimum
from bvdt.blocks.partition import BlockPartition
from bvdt.blocks.refinement import _Blocks, _child_divergences, _gains, _split
from bvdt.blocks.sums import NodeSums, block_divergences
from bvdt.operators import TransitionOperator
from bvdt.operators.exact import exact_rows
from helpers.engine_cases import DIVERGENCES, random_lifted, random_partition, random_tree
from helpers.properties import examples

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.kernel
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_all_singletons_give_the_exact_matrix(divergence, as_sparse):
    """With one block per pair of points Q = P to 1e-12."""
    if as_sparse and divergence == "itakura_saito":
        pytest.skip("zeros are outside its domain")
    rng = np.random.default_rng(0)
    lifted = random_lifted(divergence, 25, rng, as_sparse=as_sparse)
    op = TransitionOperator(lifted, random_tree(25, rng), bandwidth=0.8).refine(25 * 24)
    P = exact_rows(lifted, np.arange(25), 0.8)
    assert_allclose(op.toarray(), P, rtol=0, atol=1e-12)
    assert_allclose(op @ np.eye(25), P, rtol=0, atol=1e-12)


@pytest.mark.kernel
@examples(30)
@given(n_points=st.integers(3, 25), seed=seeds, share=st.floats(0, 1), bandwidth=st.floats(0.05, 20))
def test_refinement_never_lowers_the_bound(n_points, seed, share, bandwidth):
    """The bound never falls, the number of blocks is met exactly, and the blocks are valid."""
    rng = np.random.default_rng(seed)
    lifted = random_lifted(DIVERGENCES[seed % 4], n_points, rng)
    op = TransitionOperator(lifted, random_tree(n_points, rng, seed % 3 == 0), bandwidth=bandwidth)
    most = n_points * (n_points - 1)
    steps = [op.n_blocks + 1, op.n_blocks + 1 + round(share * (most - op.n_blocks - 1)), most]
    for wanted in (min(blocks, most) for blocks in steps):
        finer = op.refine(wanted)
        assert finer.n_blocks == wanted
        finer.partition.validate(op.tree)
        assert finer.lower_bound >= op.lower_bound - 1e-9 * (1 + abs(op.lower_bound))
        op = finer


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_gain_of_one_split_is_what_the_subtree_gains(kind):
    """With the mass at A held: |A|·s_A·(c_A' − c_A), against the optimum solved again."""
    rng = np.random.default_rng(0)
    lifted = random_lifted("gid", 20, rng)
    tree = random_tree(20, rng)
    partition = random_partition(tree, 15, rng)
    dbar = block_divergences(lifted, tree, partition)
    sums = NodeSums.of(lifted, tree)
    rows, cols = partition.rows, partition.cols
    blocks = _Blocks(rows, cols, dbar, _child_divergences(sums, tree, rows, cols, 1))
    before = optimum(dbar, tree, partition, 0.5)
    gains = _gains(blocks, tree, before, 0.5)
    mass = np.exp(before.log_mass(tree))
    checked = 0
    for b in np.flatnonzero(np.isfinite(gains[:, kind])):
        which = np.full(len(rows), -1)
        which[b] = kind
        after = _split(blocks, which, sums, tree, 1)
        finer = BlockPartition(after.rows, after.cols, tree.n_nodes).validate(tree)
        assert_allclose(after.dbar, block_divergences(lifted, tree, finer), rtol=1e-9, atol=1e-12)
        value = optimum(after.dbar, tree, finer, 0.5).log_value
        node = rows[b]
        rise = tree.size[node] * mass[node] * (value[node] - before.log_value[node])
        assert_allclose(gains[b, kind], rise, rtol=1e-8, atol=1e-11)
        assert gains[b, kind] >= -1e-12
        checked += 1
    assert checked > 5


def test_greedy_beats_random_splits():
    rng = np.random.default_rng(0)
    lifted = random_lifted("gid", 60, rng)
    tree = random_tree(60, rng)
    greedy = TransitionOperator(lifted, tree, bandwidth=0.3).refine(600)
    at_random = TransitionOperator(
        lifted, tree, bandwidth=0.3, partition=random_partition(tree, 600 - 118, rng)
    )
    assert greedy.lower_bound > at_random.lower_bound


def test_extreme_divergences_refine_without_warnings():
    rng = np.random.default_rng(0)
    lifted = random_lifted("squared_euclidean", 30, rng)
    for bandwidth in (1e-7, 1e-3, 1e9):
        op = TransitionOperator(lifted, random_tree(30, rng), bandwidth=bandwidth).refine(500)
        assert op.n_blocks == 500
        assert_allclose(op @ np.ones(30), 1.0, rtol=0, atol=1e-12)


def test_duplicates_reach_the_number():
    rng = np.random.default_rng(0)
    lifted = random_lifted("gid", 2, rng)
    lifted = type(lifted)(*(np.repeat(a, 10, axis=0) for a in (lifted.u, lifted.w, lifted.X, lifted.H)))
    op = TransitionOperator(lifted, random_tree(20, rng), bandwidth=1.0)
    assert op.refine(301).n_blocks == 301


def test_wrong_numbers_are_refused():
    rng = np.random.default_rng(0)
    op = TransitionOperator(random_lifted("gid", 6, rng), random_tree(6, rng))
    assert op.refine(10) is op
    for blocks in (9, 31, 12.5, True):
        with pytest.raises(ValueError, match="n_blocks needs"):
            op.refine(blocks)
    finer = op.refine(20)
    with pytest.raises(ValueError, match="needs 20"):
        finer.refine(19)
