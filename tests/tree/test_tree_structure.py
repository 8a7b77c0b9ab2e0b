"""Tree: the five arrays, for random trees of every shape, and to and from SciPy linkages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.cluster.hierarchy import is_valid_linkage, leaves_list, linkage

from bvdt import Tree

pytestmark = pytest.mark.kernel


@st.composite
def trees(draw):
    """A random binary tree over 2 to 40 points, from balanced to chains."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, chain = int(rng.integers(2, 41)), draw(st.booleans())
    sizes: list[int] = []
    stack = [n]
    while stack:
        size = stack.pop()
        sizes.append(size)
        if size > 1:
            left = 1 if chain else int(rng.integers(1, size))
            stack += [size - left, left]
    return Tree.from_sizes(sizes, rng.permutation(n))


@given(tree=trees())
def test_arrays_describe_one_tree(tree):
    assert tree.validate() is tree
    assert tree.n_nodes == 2 * tree.n_points - 1
    for node in range(tree.n_nodes):
        members = set(tree.members(node))
        assert len(members) == tree.size[node]
        if tree.left[node] < 0:
            assert tree.right[node] < 0
            assert tree.leaf_nodes()[tree.members(node)[0]] == node
            continue
        left, right = tree.left[node], tree.right[node]
        assert set(tree.members(left)) | set(tree.members(right)) == members
        assert (tree.parent[[left, right]] == node).all()
        assert (tree.depths()[[left, right]] == tree.depths()[node] + 1).all()
        assert tree.siblings()[left] == right
        assert tree.siblings()[right] == left
    assert tree.depth == tree.depths().max()


@given(tree=trees())
def test_upward_sweep_counts_points(tree):
    counts = (tree.left < 0).astype(int)
    for k in range(tree.n_nodes - 1, 0, -1):
        counts[tree.parent[k]] += counts[k]
    assert np.array_equal(counts, tree.size)


@given(tree=trees())
def test_linkage_round_trip(tree):
    Z = tree.to_linkage()
    assert is_valid_linkage(Z)
    again = Tree.from_linkage(Z).validate()
    assert _clusters(again) == _clusters(tree)


@given(seed=st.integers(0, 2**32 - 1))
def test_scipy_linkage(seed):
    rng = np.random.default_rng(seed)
    Z = linkage(rng.normal(size=(int(rng.integers(2, 30)), 2)), "average")
    tree = Tree.from_linkage(Z).validate()
    assert sorted(tree.order) == sorted(leaves_list(Z))
    assert np.array_equal(np.sort(tree.size[tree.left >= 0]), np.sort(Z[:, 3]))


def _clusters(tree: Tree) -> set[frozenset[int]]:
    return {frozenset(tree.members(k).tolist()) for k in range(tree.n_nodes)}


def test_two_points_and_repr():
    tree = Tree.from_sizes([2, 1, 1], [1, 0]).validate()
    assert tree.depth == 1
    assert repr(tree) == "Tree(n_points=2, depth=1)"


def test_is_frozen():
    tree = Tree.from_sizes([2, 1, 1], [0, 1])
    with pytest.raises(ValueError, match="read-only"):
        tree.order[0] = 5
    with pytest.raises(AttributeError):
        tree.order = np.zeros(2)


def broken(**arrays) -> Tree:
    good = Tree.from_sizes([3, 1, 2, 1, 1], [0, 1, 2])
    names = ("left", "right", "parent", "size", "start", "order")
    return Tree(**{name: arrays.get(name, getattr(good, name)) for name in names})


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (broken(order=[0, 1, 1]), "Tree.order needs each of 0…2 once"),
        (broken(size=[4, 1, 2, 1, 1]), r"Tree.size\[0\] needs 3"),
        (broken(size=[3, 1, 2, 1, 0]), r"Tree.size needs values ≥ 1; size\[4\] = 0"),
        (broken(size=[3, 1, 3, 1, 1]), r"Tree.size\[0\] = 3 is not the sum"),
        (broken(left=[1, -1, 4, -1, -1]), r"Tree.left\[2\] needs 3 \(pre-order\); it is 4"),
        (broken(parent=[-1, 0, 0, 2, 0]), r"Tree.parent\[4\] needs 2"),
        (broken(start=[0, 0, 0, 1, 2]), r"Tree.start\[2\] needs 1"),
        (broken(left=[1, -1]), "Tree.left needs 5 nodes"),
        (Tree([-1], [-1], [-1], [1], [0], [0]), "Tree needs at least 2 points; order has 1"),
    ],
)
def test_validate_names_what_is_wrong(tree, message):
    with pytest.raises(ValueError, match=message):
        tree.validate()


@pytest.mark.parametrize(
    ("Z", "message"),
    [
        (np.zeros((0, 4)), r"linkage needs shape \(N − 1, 4\)"),
        (np.zeros((2, 3)), r"linkage needs shape"),
        ([[0, 9, 1, 2]], "linkage row 0 needs two clusters made before it"),
        ([[0, 1, 1, 2], [0, 2, 1, 3]], "each cluster merged exactly once"),
        ([[0.5, 1, 1, 2]], "linkage row 0"),
    ],
)
def test_bad_linkage(Z, message):
    with pytest.raises(ValueError, match=message):
        Tree.from_linkage(Z)


def test_plot_draws_a_dendrogram():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    tree = Tree.from_sizes([3, 1, 2, 1, 1], [0, 1, 2])
    ax = tree.plot()
    assert len(ax.collections) > 0
    plt.close("all")


def test_what_is_known_to_be_a_tree_is_not_looked_at_again(monkeypatch):
    merged = Tree.from_merges([[0, 1], [2, 3]])
    sized = Tree.from_sizes([3, 1, 2, 1, 1], [2, 0, 1])
    assert merged.validate() is merged
    assert sized.ensured() is sized
    monkeypatch.setattr(Tree, "validate", lambda self: pytest.fail("looked at again"))
    assert (merged.ensured(), sized.ensured()) == (merged, sized)


def test_what_is_not_known_to_be_a_tree_is_validated():
    good = Tree.from_merges([[0, 1], [2, 3]])
    broken = Tree(good.left, good.right, good.parent, good.size, good.start, [0, 0, 1])
    with pytest.raises(ValueError, match="each of 0…2 once"):
        broken.ensured()


@pytest.mark.kernel
@pytest.mark.parametrize("n", [2, 3, 50])
def test_links_of_merges_are_those_of_the_sizes(n):
    rng = np.random.default_rng(n)
    live, merges = list(range(n)), []
    while len(live) > 1:
        rng.shuffle(live)
        merges.append([live.pop(), live.pop()])
        live.append(n + len(merges) - 1)
    tree = Tree.from_merges(merges).validate()
    twin = Tree.from_sizes(tree.size, tree.order)
    for name in ("left", "right", "parent", "start"):
        assert_array_equal(getattr(tree, name), getattr(twin, name))


def test_arrays_are_the_trees_own():
    """Frozen arrays that have their memory alone are taken as they are; all others are copied."""
    given = Tree.from_sizes([3, 2, 1, 1, 1], [2, 0, 1])
    names = ("left", "right", "parent", "size", "start", "order")
    again = Tree(*(getattr(given, name) for name in names))
    assert all(np.shares_memory(getattr(given, name), getattr(again, name)) for name in names)
    order = np.array([2, 0, 1], np.int32)
    view = order[:]
    view.flags.writeable = False  # but not what it looks at
    for changeable in (order, view):
        tree = Tree.from_sizes(given.size, changeable)
        assert not np.shares_memory(tree.order, order)
        with pytest.raises(ValueError, match="read-only"):
            tree.order[0] = 1
