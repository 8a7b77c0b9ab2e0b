"""Numbers and trees at the ends of what there is: finite figures, no error of arithmetic, no wait."""

import time

import numpy as np
import pytest
from scipy import sparse

import bvdt
from bvdt.blocks import BlockPartition
from bvdt.tree import Tree

B = np.random.default_rng(0).gamma(1.0, size=(60, 4))
ENDS = {
    "large": (1e80 * B, "squared_euclidean"),
    "one large": (np.vstack([B, np.full(4, 1e80)]), "squared_euclidean"),
    "one huge": (np.vstack([B, np.full(4, 1e150)]), "squared_euclidean"),
    "small": (1e-160 * B, "squared_euclidean"),
    "smallest": (1e-200 * B, "squared_euclidean"),
    "tiny counts": (1e-300 * B, "gid"),
    "least counts": (np.maximum(1e-318 * B, 5e-324), "gid"),
    "huge counts": (1e300 * B, "gid"),
    "one tiny count": (np.vstack([B, np.full(4, 1e-300)]), "gid"),
    "tiny powers": (1e-300 * B, "itakura_saito"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", ENDS)
@pytest.mark.parametrize(
    "options", [{}, {"bandwidth": "learn"}, {"n_neighbors": 3}, {"tree": "anchor"}], ids=str
)
@pytest.mark.parametrize("as_sparse", [False, True])
def test_numbers_at_the_ends_of_their_range(case, options, as_sparse):
    X, divergence = ENDS[case]
    X = sparse.csr_array(X) if as_sparse else X
    op = bvdt.transition_matrix(X, divergence, random_state=0, **options)
    for rows in (op.toarray(), op.extend(X[:3]).toarray()):
        assert np.isfinite(rows).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert all(np.isfinite(value) for value in op.quality(5, 0).values())
    assert np.isfinite(op.symmetrized() @ np.ones(len(B) if "one" not in case else len(B) + 1)).all()


# -- 12: chains ----------------------------------------------------------------------------------------------


def chain(n_points):
    """Each point merged with all before it, as single linkage does at its worst."""
    return Tree.from_merges(
        np.column_stack([np.r_[0, n_points + np.arange(n_points - 2)], np.arange(1, n_points)])
    )


@pytest.mark.slow
def test_new_points_on_a_chain_take_no_longer_than_on_another_tree():
    X = np.random.default_rng(0).normal(size=(10_000, 3))
    op = bvdt.transition_matrix(X, "squared_euclidean", tree=chain(10_000))
    since = time.monotonic()
    extended = op.extend(X[:5])
    assert time.monotonic() - since < 10  # 158 s when each level was a step
    np.testing.assert_array_equal(extended.nearest, np.arange(5))
    np.testing.assert_allclose(extended @ np.ones(10_000), 1)


@pytest.mark.slow
def test_a_chain_is_drawn_without_recursion():
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, ax = plt.subplots()
    assert chain(5000).plot(ax) is ax
    plt.close(figure)


# -- 9: an operator's own parts ------------------------------------------------------------------------------


def test_trees_and_partitions_are_checked_where_an_operator_is_made():
    X = np.random.default_rng(0).normal(size=(30, 3))
    op = bvdt.transition_matrix(X, "squared_euclidean")
    good = op.tree
    broken = {
        name: Tree(*(getattr(good, n) if n != name else np.roll(getattr(good, n), 1) for n in ARRAYS))
        for name in ("parent", "start", "left", "size")
    }
    for name, tree in broken.items():
        with pytest.raises(ValueError, match=f"Tree.{name}"):
            bvdt.operators.TransitionOperator(op.lifted, tree)
    rows, cols = op.partition.rows, op.partition.cols
    for partition in (
        BlockPartition(rows[:-1], cols[:-1], good.n_nodes),
        BlockPartition(rows, np.roll(cols, 1), good.n_nodes),
        BlockPartition(rows, np.full_like(cols, 10**6), good.n_nodes),
        BlockPartition(rows, cols, good.n_nodes + 2),
    ):
        with pytest.raises(ValueError, match=r"BlockPartition|blocks need"):
            bvdt.operators.TransitionOperator(op.lifted, good, partition=partition)
    for wrong in (op.mean_divergence[:-1], -1 - op.mean_divergence, np.full(58, np.nan)):
        with pytest.raises(ValueError, match="mean_divergence needs 58 values"):
            bvdt.operators.TransitionOperator(op.lifted, good, mean_divergence=wrong)


ARRAYS = ("left", "right", "parent", "size", "start", "order")
