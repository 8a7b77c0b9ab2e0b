"""New leaves in a tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from bvdt.tree import with_points_beside
from helpers.engine_cases import random_tree


def nested(tree, node=0):
    """The tree as pairs of pairs of points."""
    if tree.left[node] < 0:
        return int(tree.order[tree.start[node]])
    return nested(tree, int(tree.left[node])), nested(tree, int(tree.right[node]))


def with_guests(pairs, guests):
    """The slow twin: every leaf with guests becomes a pair, and that one a pair, …"""
    if isinstance(pairs, tuple):
        return with_guests(pairs[0], guests), with_guests(pairs[1], guests)
    for guest in guests.get(pairs, []):
        pairs = pairs, guest
    return pairs


@given(st.integers(2, 30), st.integers(1, 40), st.integers(0, 1000))
def test_new_points_are_merged_with_their_hosts_the_nearest_first(n_points, n_new, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(n_points, rng)
    hosts, divergence = rng.integers(0, n_points, n_new), rng.integers(0, 5, n_new).astype(float)
    grown = with_points_beside(tree, hosts, divergence)
    guests = {}
    for new in np.argsort(divergence, kind="stable"):
        guests.setdefault(int(hosts[new]), []).append(n_points + int(new))
    assert nested(grown.validate()) == with_guests(nested(tree), guests)


@pytest.mark.parametrize("n_new", [1, 3000])
def test_a_crowd_at_one_host_does_not_make_the_tree_deep(n_new):
    tree = random_tree(50, np.random.default_rng(0), chain=True)
    grown = with_points_beside(tree, np.full(n_new, 7), np.arange(n_new, dtype=float)).validate()
    assert grown.n_points == 50 + n_new
    assert grown.depth <= 4 * np.log2(grown.n_points) + 50
    assert_array_equal(np.sort(grown.order), np.arange(50 + n_new))


def test_no_new_points_leave_the_tree_as_it_is():
    tree = random_tree(9, np.random.default_rng(1))
    same = with_points_beside(tree, np.empty(0, np.intp), np.empty(0))
    assert_array_equal(same.size, tree.size)
    assert_array_equal(same.order, tree.order)
