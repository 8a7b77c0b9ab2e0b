"""Blocks cover each pair once, and their divergences are the means of the exact ones."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bvdt import Tree
from bvdt.blocks import BlockPartition, refined_blocks
from bvdt.blocks.sums import NodeSums, block_divergences, sums_by_node
from bvdt.operators import TransitionOperator
from helpers.engine_cases import (
    DIVERGENCES,
    dense_matrix,
    random_lifted,
    random_partition,
    random_tree,
    slow_divergences,
)

seeds = st.integers(0, 2**32 - 1)


@given(n_points=st.integers(2, 40), n_splits=st.integers(0, 60), seed=seeds)
def test_every_pair_in_exactly_one_block(n_points, n_splits, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(n_points, rng, chain=seed % 3 == 0)
    partition = random_partition(tree, n_splits, rng)
    covered = np.zeros((n_points, n_points), int)
    for a, b in zip(partition.rows, partition.cols, strict=True):
        covered[np.ix_(tree.members(a), tree.members(b))] += 1
    assert_array_equal(covered, 1 - np.eye(n_points, dtype=int))
    assert partition.is_coarsest == (partition.n_blocks == 2 * (n_points - 1))


@given(n_points=st.integers(3, 20), seed=seeds)
def test_validate_refuses_any_changed_block(n_points, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(n_points, rng)
    partition = random_partition(tree, 10, rng)
    cols = partition.cols.copy()
    block = int(rng.integers(len(cols)))
    cols[block] = (cols[block] + rng.integers(1, tree.n_nodes)) % tree.n_nodes
    with pytest.raises(ValueError, match="exactly once"):
        BlockPartition(partition.rows, cols, tree.n_nodes).validate(tree)
    with pytest.raises(ValueError, match="exactly once"):
        BlockPartition(partition.rows[1:], partition.cols[1:], tree.n_nodes).validate(tree)


def test_validate_refuses_wrong_nodes_and_order():
    tree = random_tree(5, np.random.default_rng(0))
    coarsest = BlockPartition.coarsest(tree)
    with pytest.raises(ValueError, match="ascend"):
        BlockPartition(coarsest.rows[::-1], coarsest.cols[::-1], tree.n_nodes).validate(tree)
    with pytest.raises(ValueError, match="needs nodes 0…8"):
        BlockPartition(coarsest.rows, coarsest.cols + 99, tree.n_nodes).validate(tree)
    with pytest.raises(ValueError, match="does not fit"):
        BlockPartition(coarsest.rows, coarsest.cols, 99).validate(tree)


def test_only_blocks_of_another_tree_or_unknown_ones_are_validated():
    rng = np.random.default_rng(0)
    tree, other = random_tree(6, rng), random_tree(6, rng)
    coarsest = BlockPartition.coarsest(tree)
    assert coarsest.n_blocks == tree.n_nodes - 1
    again = pickle.loads(pickle.dumps(coarsest.with_q(np.ones(coarsest.n_blocks))))
    assert_array_equal(again.rows, np.arange(1, tree.n_nodes))
    assert_array_equal(again.cols, tree.siblings()[1:])
    changed = BlockPartition(coarsest.rows, np.roll(coarsest.cols, 1), tree.n_nodes)
    with pytest.raises(ValueError, match="exactly once"):
        changed.ensured(tree)
    lifted = random_lifted("squared_euclidean", 6, rng)
    finer = TransitionOperator(lifted, tree, bandwidth=1.0).refine(15)
    dbar = block_divergences(lifted, tree, coarsest)
    blocks, _ = refined_blocks(lifted, tree, coarsest, dbar, 1.0, 15)
    assert blocks.validate(tree) is blocks is blocks.ensured(tree)
    assert_array_equal(blocks.cols, finer.partition.cols)
    with pytest.raises(ValueError, match="read-only"):
        blocks.cols[0] = 0
    with pytest.raises(ValueError, match="exactly once"):
        blocks.ensured(other)


def test_singletons_and_repr():
    tree = random_tree(5, np.random.default_rng(0))
    finest = BlockPartition.singletons(tree).validate(tree)
    assert finest.n_blocks == 20
    assert repr(finest) == "BlockPartition(n_blocks=20, n_points=5)"
    assert_array_equal(dense_matrix(tree, finest, np.ones(20)), 1 - np.eye(5))


@pytest.mark.kernel
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("chain", [False, True])
def test_block_divergences_are_means(divergence, as_sparse, chain):
    if as_sparse and divergence == "itakura_saito":
        pytest.skip("zeros are outside its domain")
    rng = np.random.default_rng(1)
    lifted = random_lifted(divergence, 60, rng, n_features=7, as_sparse=as_sparse)
    tree = random_tree(60, rng, chain)
    for partition in (BlockPartition.coarsest(tree), random_partition(tree, 100, rng)):
        expected = slow_divergences(lifted, tree, partition)
        got = block_divergences(lifted, tree, partition, n_jobs=2)
        assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
        assert_array_equal(got, block_divergences(lifted, tree, partition, n_jobs=1))
    coarsest = BlockPartition.coarsest(tree)
    by_sums = NodeSums.of(lifted, tree).mean_divergences(coarsest.rows, coarsest.cols)
    assert_allclose(block_divergences(lifted, tree, coarsest), by_sums, rtol=1e-10, atol=1e-12)


@pytest.mark.kernel
def test_dense_divergences_across_many_batches():
    """Enough features that a batch holds only a few points."""
    rng = np.random.default_rng(2)
    lifted = random_lifted("gid", 90, rng, n_features=6000)
    for chain in (False, True):
        tree = random_tree(90, rng, chain)
        coarsest = BlockPartition.coarsest(tree)
        expected = slow_divergences(lifted, tree, coarsest)
        assert_allclose(block_divergences(lifted, tree, coarsest, 2), expected, rtol=1e-9)


@pytest.mark.kernel
def test_sparse_divergences_with_few_features_clear_their_sums():
    rng = np.random.default_rng(3)
    for n_features in (1, 2, 500):
        lifted = random_lifted("gid", 80, rng, n_features=n_features, as_sparse=True)
        tree = random_tree(80, rng)
        coarsest = BlockPartition.coarsest(tree)
        expected = slow_divergences(lifted, tree, coarsest)
        assert_allclose(block_divergences(lifted, tree, coarsest, 2), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.kernel
@given(n_points=st.integers(2, 60), seed=seeds)
def test_node_sums_are_as_accurate_as_their_own_terms(n_points, seed):
    """However large the values of other points: nothing is taken away again."""
    rng = np.random.default_rng(seed)
    tree = random_tree(n_points, rng, chain=seed % 2 == 0)
    values = rng.normal(size=n_points) * 10.0 ** rng.integers(-12, 13, n_points)
    sums, largest_error = sums_by_node(values, tree, 2), tree.depth * np.finfo(float).eps
    for node in range(tree.n_nodes):
        own = values[tree.members(node)]
        assert abs(sums[node] - math.fsum(own)) <= largest_error * math.fsum(np.abs(own))


def test_tree_of_two():
    tree = Tree.from_sizes([2, 1, 1], [1, 0])
    assert_array_equal(BlockPartition.coarsest(tree).validate(tree).cols, [2, 1])
