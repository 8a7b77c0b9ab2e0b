"""Random trees, partitions and data, and slow twins, shared by the tests of the engine."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bvdt import Tree
from bvdt.blocks import BlockPartition
from bvdt.lifting.lifted import lift

DIVERGENCES = ("squared_euclidean", "gid", "itakura_saito", "logistic")


def random_tree(n_points, rng, chain=False):
    """A tree with random splits, or one of depth N − 1."""
    sizes, stack = [], [n_points]
    while stack:
        size = stack.pop()
        sizes.append(size)
        if size > 1:
            left = int(rng.integers(1, size)) if not chain else int(rng.choice([1, size - 1]))
            stack += [size - left, left]
    return Tree.from_sizes(sizes, rng.permutation(n_points)).validate()


def random_partition(tree, n_splits, rng):
    """A valid partition: the coarsest, split at random."""
    coarsest = BlockPartition.coarsest(tree)
    blocks = list(zip(coarsest.rows.tolist(), coarsest.cols.tolist(), strict=True))
    for _ in range(n_splits):
        a, b = blocks.pop(int(rng.integers(len(blocks))))
        sides = [side for side, node in enumerate((a, b)) if tree.left[node] >= 0]
        if not sides:
            blocks.append((a, b))
        elif rng.choice(sides) == 0:
            blocks += [(int(tree.left[a]), b), (int(tree.right[a]), b)]
        else:
            blocks += [(a, int(tree.left[b])), (a, int(tree.right[b]))]
    return BlockPartition.from_pairs(*np.array(blocks).T, tree.n_nodes).validate(tree)


def random_data(name, n_points, rng, n_features=4, as_sparse=False):
    """Points in the divergence's domain; sparse ones with zeros."""
    X = rng.uniform(0.05, 0.95, (n_points, n_features))
    if name == "squared_euclidean":
        X = rng.normal(size=(n_points, n_features))
    elif name != "logistic":
        X *= 5
    if as_sparse:
        return sparse.csr_array(X * (rng.random(X.shape) < 0.5))
    return X


def random_lifted(name, n_points, rng, **kwargs):
    smoothing = 0.1 if kwargs.get("as_sparse") and name != "squared_euclidean" else "auto"
    return lift(random_data(name, n_points, rng, **kwargs), name, smoothing)


def dense_matrix(tree, partition, values):
    """N×N array with each block's value in its entries."""
    Q = np.zeros((tree.n_points, tree.n_points))
    for a, b, value in zip(partition.rows, partition.cols, values, strict=True):
        Q[np.ix_(tree.members(a), tree.members(b))] = value
    return Q


def slow_divergences(lifted, tree, partition):
    """Block means of the full matrix of divergences."""
    d = lifted.divergences(slice(None), slice(None))
    pairs = zip(partition.rows, partition.cols, strict=True)
    return np.array([d[np.ix_(tree.members(a), tree.members(b))].mean() for a, b in pairs])


def slow_optimum(dbar, tree, partition, bandwidth=1.0):
    """docs/theory.md, "The optimum in two passes", as it is written, node by node; returns q and c."""
    x = dbar / bandwidth
    c, k = np.full(tree.n_nodes, -np.inf), np.full(tree.n_nodes, -np.inf)
    for node in range(tree.n_nodes - 1, -1, -1):
        own = partition.rows == node
        if tree.left[node] >= 0:
            children = tree.left[node], tree.right[node]
            k[node] = sum(tree.size[child] * c[child] for child in children) / tree.size[node]
        terms = np.log(tree.size[partition.cols[own]]) - x[own]
        c[node] = np.logaddexp.reduce(np.append(terms, k[node]))
    log_mass, q = np.zeros(tree.n_nodes), np.empty(partition.n_blocks)
    for node in range(tree.n_nodes):
        own = partition.rows == node
        q[own] = np.exp(log_mass[node] - x[own] - c[node])
        if tree.left[node] >= 0:
            log_mass[[tree.left[node], tree.right[node]]] = log_mass[node] + k[node] - c[node]
    return q, c
