"""A binary cluster tree as five arrays over its nodes and one over its leaves.

N points make 2N − 1 nodes, numbered in pre-order: the root is 0, a parent precedes its children, the left
child of ``k`` is ``k + 1`` and the right child ``k + 2·size[left]``. So a subtree is a contiguous range of
nodes, its points a contiguous range of ``order``, and every upward or downward sweep is a plain loop::

    for k in range(n_nodes - 1, 0, -1):  # leaves to root
        s[parent[k]] += s[k]

| array  | shape  | meaning                                                      |
|--------|--------|--------------------------------------------------------------|
| left   | 2N − 1 | left child, −1 for a leaf                                    |
| right  | 2N − 1 | right child, −1 for a leaf                                   |
| parent | 2N − 1 | parent, −1 for the root                                      |
| size   | 2N − 1 | number of points below, 1 for a leaf                         |
| start  | 2N − 1 | the node's points are order[start : start + size]            |
| order  | N      | the points, leaf by leaf                                     |

``size`` and ``order`` tell all others.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._support.arrays import Int, checked_integer
from .._support.running import n_threads

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DEEPEST = 300  # levels that are drawn; of a deeper tree the last so many merges


@dataclass(frozen=True, eq=False)
class Tree:
    """Immutable binary tree over N points in pre-order; see the module's head for the arrays.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, random_state=0)
    >>> op.tree.n_points, op.tree.n_nodes
    (4, 7)
    >>> op.tree.cut(2)
    array([0, 0, 1, 1])
    """

    left: Int
    right: Int
    parent: Int
    size: Int
    start: Int
    order: Int

    _checked: ClassVar[bool] = False  # of an instance: its arrays are known to be those of a tree

    def __post_init__(self) -> None:
        for name in ("left", "right", "parent", "size", "start", "order"):
            object.__setattr__(self, name, _kept(getattr(self, name)))

    # -- construction -----------------------------------------------------------------------------------

    @classmethod
    def from_sizes(cls, size: ArrayLike, order: ArrayLike) -> Tree:
        """Tree from the pre-order subtree sizes alone; they determine every other array."""
        size = np.asarray(size, dtype=np.int32)
        left, right, parent, start = _told_by_sizes(size)
        return cls(left, right, parent, size, start, np.asarray(order, dtype=np.int32))

    @classmethod
    def from_linkage(cls, Z: ArrayLike) -> Tree:
        """Tree from a SciPy linkage matrix (N − 1, 4); heights are not kept."""
        return cls.from_merges(_linkage_merges(np.asarray(Z, dtype=float)))

    @classmethod
    def from_merges(cls, merges: ArrayLike, *, n_jobs: int | None = None) -> Tree:
        """Tree from merged pairs (N − 1, 2): point i is cluster i, merge t makes cluster N + t."""
        pairs = np.ascontiguousarray(merges, dtype=np.int32)
        n_points = len(pairs) + 1
        left, right, parent, size, start = (np.empty(2 * n_points - 1, np.int32) for _ in range(5))
        order = np.empty(n_points, np.int32)
        arrays = (size, order, left, right, parent, start)
        depth = _core.pre_order(pairs, *arrays, n_threads(n_jobs, 40.0 * n_points))  # refuses what is no tree
        tree = cls(*map(_frozen, (left, right, parent, size, start, order)))
        vars(tree).update(_checked=True, depth=depth)
        return tree

    # -- views ------------------------------------------------------------------------------------------

    @property
    def n_points(self) -> int:
        return len(self.order)

    @property
    def n_nodes(self) -> int:
        return len(self.size)

    def members(self, node: int) -> Int:  # (size[node],)
        """The points below a node."""
        return self.order[self.start[node] : self.start[node] + self.size[node]]

    def leaf_nodes(self) -> NDArray[np.intp]:  # (N,)
        """Node of each point: ``leaf_nodes()[i]`` is the leaf that holds point ``i``."""
        nodes = np.empty(self.n_points, np.intp)
        nodes[self.order] = np.flatnonzero(self.left < 0)
        return nodes

    def counts(self, chosen: NDArray[np.bool_]) -> NDArray[np.intp]:  # (N,) -> (2N − 1,)
        """How many of each node's points are chosen."""
        running = np.concatenate([[0], np.cumsum(chosen[self.order])])
        return np.asarray(running[self.start + self.size] - running[self.start])

    def siblings(self) -> Int:  # (2N−1,)
        """Sibling of each node, −1 for the root."""
        sibling = np.full(self.n_nodes, -1, np.int32)
        internal = np.flatnonzero(self.left >= 0)
        sibling[self.left[internal]] = self.right[internal]
        sibling[self.right[internal]] = self.left[internal]
        return sibling

    def cut(self, n_clusters: int) -> NDArray[np.intp]:  # (N,)
        """Cluster of each point, from 0 in the order of the leaves: the nodes left after the last merges.

        The node of most points is split in two, again and again, until there are ``n_clusters``. Clusters
        are nested: those of a larger number lie inside those of a smaller one.
        """
        nodes = self.cut_nodes(n_clusters)
        cluster = np.empty(self.n_points, np.intp)
        cluster[self.order] = np.repeat(np.arange(len(nodes)), self.size[nodes])
        return cluster

    def cut_nodes(self, n_clusters: int) -> NDArray[np.intp]:  # (n_clusters,)
        """The nodes of ``cut``, in the order of the leaves."""
        n_clusters = checked_integer(n_clusters, "n_clusters", 1, self.n_points)
        heap = [(-self.n_points, 0)]
        while len(heap) < n_clusters:
            _, node = heapq.heappop(heap)
            for child in (int(self.left[node]), int(self.right[node])):
                heapq.heappush(heap, (-int(self.size[child]), child))
        return np.sort(np.array([node for _, node in heap], np.intp))

    def depths(self) -> Int:  # (2N−1,)
        """Number of edges from the root to each node."""
        # +1 where a subtree opens, −1 where it closes: the running sum counts the open ancestors.
        internal = np.flatnonzero(self.left >= 0)
        change = -np.bincount(internal + 2 * self.size[internal] - 1, minlength=self.n_nodes + 1)
        change[internal + 1] += 1  # each opens its own subtree, several may close at one place
        return np.cumsum(change[:-1], dtype=np.int32)

    @cached_property
    def depth(self) -> int:
        """Number of edges on the longest path from the root."""
        return _core.tree_depth(self.size)

    def to_linkage(self) -> NDArray[np.float64]:  # (N−1, 4)
        """SciPy linkage matrix; a cluster's height is its number of points less one, which is monotone."""
        n_points = self.n_points
        internal = np.flatnonzero(self.left >= 0)
        merged_when = internal[np.lexsort((-internal, self.size[internal]))]  # children before parents
        cluster = np.empty(self.n_nodes, np.int64)
        leaves = np.flatnonzero(self.left < 0)
        cluster[leaves] = self.order
        cluster[merged_when] = n_points + np.arange(n_points - 1)
        Z = np.empty((n_points - 1, 4))
        pair = np.stack([cluster[self.left[merged_when]], cluster[self.right[merged_when]]], axis=1)
        Z[:, :2] = np.sort(pair, axis=1)
        Z[:, 2] = self.size[merged_when] - 1
        Z[:, 3] = self.size[merged_when]
        return Z

    # -- checks -----------------------------------------------------------------------------------------

    def ensured(self) -> Tree:
        """Itself, validated unless it is known to be valid: merges were checked, and no tree changes."""
        return self if self._checked else self.validate()

    def validate(self) -> Tree:
        """Returns itself, or raises ValueError naming the first broken invariant."""
        n_points, n_nodes = self.n_points, self.n_nodes
        if n_points < 2:
            raise ValueError(f"Tree needs at least 2 points; order has {n_points}")
        for name in ("left", "right", "parent", "size", "start"):
            if getattr(self, name).shape != (2 * n_points - 1,):
                raise ValueError(
                    f"Tree.{name} needs {2 * n_points - 1} nodes for {n_points} points; it has {n_nodes}"
                )
        if not np.array_equal(np.sort(self.order), np.arange(n_points)):
            raise ValueError(f"Tree.order needs each of 0…{n_points - 1} once")
        _check_sizes(self.size, n_points)
        expected = Tree.from_sizes(self.size, self.order)
        for name in ("left", "right", "parent", "start"):
            given, wanted = getattr(self, name), getattr(expected, name)
            if not np.array_equal(given, wanted):
                k = int(np.flatnonzero(given != wanted)[0])
                raise ValueError(f"Tree.{name}[{k}] needs {wanted[k]} (pre-order); it is {given[k]}")
        vars(self)["_checked"] = True
        return self

    def plot(self, ax: Axes | None = None, **kwargs: object) -> Axes:
        """Dendrogram on a matplotlib axis (needs the ``plot`` extra); returns the axis."""
        import matplotlib.pyplot as plt
        from scipy.cluster.hierarchy import dendrogram

        ax = plt.gca() if ax is None else ax
        if self.depth > _DEEPEST and "truncate_mode" not in kwargs:  # SciPy draws by recursion
            kwargs = {"truncate_mode": "lastp", "p": _DEEPEST, **kwargs}
        dendrogram(self.to_linkage(), ax=ax, **{"no_labels": self.n_points > 50, **kwargs})
        ax.set_ylabel("points below, less one")
        return ax

    def __repr__(self) -> str:
        return f"Tree(n_points={self.n_points}, depth={self.depth})"


def _told_by_sizes(size: Int) -> tuple[Int, Int, Int, Int]:  # (2N−1,) -> (2N−1,) ×4
    n_nodes = len(size)
    internal = np.flatnonzero(size > 1).astype(np.int32)
    left = np.full(n_nodes, -1, np.int32)
    right = np.full(n_nodes, -1, np.int32)
    parent = np.full(n_nodes, -1, np.int32)
    left[internal] = internal + 1
    right[internal] = internal + 2 * size[internal + 1]
    parent[left[internal]] = internal
    parent[right[internal]] = internal
    # Leaves appear in pre-order too: a node's first point is the number of leaves before it.
    start = np.zeros(n_nodes, np.int32)
    np.cumsum(size[:-1] == 1, out=start[1:])
    return _frozen(left), _frozen(right), _frozen(parent), _frozen(start)


def _frozen(array: Int) -> Int:
    array.flags.writeable = False
    return array


def _kept(array: ArrayLike) -> Int:
    """A read-only array: itself if it is frozen already and has its memory alone, else a copy."""
    if isinstance(array, np.ndarray) and array.dtype == np.int32:
        flags = array.flags
        if flags.c_contiguous and flags.owndata and not flags.writeable:
            return array
    return _frozen(np.array(array, dtype=np.int32, order="C"))


def _check_sizes(size: Int, n_points: int) -> None:
    """Sizes must be a pre-order: size[0] = N and every internal node is the sum of its two children."""
    if size[0] != n_points:
        raise ValueError(f"Tree.size[0] needs {n_points}, the number of points; it is {size[0]}")
    if size.min() < 1:
        raise ValueError(f"Tree.size needs values ≥ 1; size[{int(size.argmin())}] = {size.min()}")
    internal = np.flatnonzero(size > 1)
    right = internal + 2 * size[np.minimum(internal + 1, len(size) - 1)].astype(np.int64)
    broken = right >= len(size)
    broken[~broken] = size[internal[~broken]] != size[internal[~broken] + 1] + size[right[~broken]]
    if broken.any():
        k = int(internal[np.argmax(broken)])
        raise ValueError(f"Tree.size[{k}] = {size[k]} is not the sum of its children's sizes")


def _linkage_merges(Z: NDArray[np.float64]) -> NDArray[np.int64]:
    """The two merged clusters of each linkage row, checked: every cluster used once, after it was made."""
    if Z.ndim != 2 or Z.shape[1] != 4 or len(Z) < 1:
        raise ValueError(f"linkage needs shape (N − 1, 4) with N ≥ 2; got {Z.shape}")
    merges = Z[:, :2].astype(np.int64)
    made = len(merges) + 1 + np.arange(len(merges))[:, None]
    if not np.array_equal(merges, Z[:, :2]) or (merges < 0).any() or (merges >= made).any():
        row = int(np.argmax(((merges != Z[:, :2]) | (merges < 0) | (merges >= made)).any(axis=1)))
        raise ValueError(f"linkage row {row} needs two clusters made before it; it has {Z[row, :2].tolist()}")
    if len(np.unique(merges)) != merges.size:
        raise ValueError("linkage needs each cluster merged exactly once")
    return merges
