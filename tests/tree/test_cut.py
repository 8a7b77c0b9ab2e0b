"""Nested clusters off the tree."""

import numpy as np
import pytest

import bvdt


def test_cuts_are_nested_and_split_the_largest():
    X = np.random.default_rng(0).normal(size=(60, 3))
    tree = bvdt.transition_matrix(X, "squared_euclidean", random_state=0, n_jobs=1).tree
    before = tree.cut(1)
    assert (before == 0).all()
    for k in range(2, 61):
        after = tree.cut(k)
        assert len(np.unique(after)) == k
        parents = {(a, b) for a, b in zip(after, before, strict=True)}
        assert len(parents) == k  # every cluster lies in one of before
        split = np.bincount([b for _, b in parents])
        assert np.bincount(before)[split.argmax()] == np.bincount(before).max()
        before = after
    assert sorted(tree.cut_nodes(60)) == sorted(tree.leaf_nodes())
    for k in (0, 61):
        with pytest.raises(ValueError, match="n_clusters"):
            tree.cut(k)
