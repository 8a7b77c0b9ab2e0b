"""Parts of a walk that hardly touch: functions constant on them are eigenvectors of eigenvalue 1, nearly.

The links of a near field, or of a sparse matrix, may fall into c parts. What a tree adds between them can be
as little as e^(−200) of a row, and then the c functions √D·1_C are eigenvectors of S within rounding, and so
are all of their mixtures. They are where the block of :mod:`bvdt.solvers.lobpcg` starts from; only where
there are more of them than vectors are wanted is a choice to be made, and it is made here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from .._support.arrays import Float, Index
from ..operators import RealOperator, SymmetrizedOperator, TransitionOperator
from ..tree import Tree

_LINK = 1e-6  # v_Aᵀ·W·v_B of two nodes' unit vectors above which they are linked
_OUTLYING = 10  # times smaller than an even share of the points
_MOST = 256  # parts that are looked at one by one
_DRAWS = 16  # of random places
_PAIRED = 32  # places that are compared all with all
_LARGEST = 1 << 26  # points times parts that are looked at; beyond, there are mostly singleton components


@dataclass(frozen=True, eq=False)
class Places:
    """A place of its own for each part: of mean 0, mean square 1 and orthogonal under the parts' masses."""

    values: Float  # (c, k)
    distance: float  # between the two nearest


def part_vectors(part: Index, root: Float) -> Float | None:  # (N,) ×2 -> (N, c)
    """√D·1_C of every part, scaled to length 1: a space to start from; None for one part, and for many."""
    if part.max() == 0 or part.max() >= min(_MOST, _LARGEST // len(part)):
        return None
    return indicators(part, root, least=1e-150)


def closed_parts(S: Any, part: Index, tol: float) -> bool:
    """Whether functions that are constant on the parts are eigenvectors of 1 but for residuals of ``tol``.

    Asked of a few random ones.
    """
    values = np.random.default_rng(0).normal(size=(int(part.max()) + 1, 4))
    V = np.sqrt(S.degrees)[:, None] * values[part]
    V /= np.linalg.norm(V, axis=0)
    return bool((np.linalg.norm(np.asarray(S.dot(V)) - V, axis=0) <= tol).all())


def closed_groups(S: SymmetrizedOperator, part: Index, n_groups: int, tol: float) -> Index | None:  # (N,)
    """Each point's group, parts of the strongest links joined; None unless closed parts are as many."""
    if not n_groups <= part.max() + 1 <= min(_MOST, _LARGEST // len(part)):
        return None
    if not closed_parts(S, part, tol):
        return None
    vectors = indicators(part, np.sqrt(S.degrees), least=1e-150)
    return strongest_joined(vectors.T @ np.asarray(S @ vectors), n_groups)[part]


def mixed_parts(
    part: NDArray[np.intp], mass: Float, n_columns: int, rng: np.random.Generator
) -> Places:  # (N,) ×2
    """Places drawn at random, from the draw whose two nearest parts are furthest apart."""
    masses = np.bincount(part, mass)
    n_draws = _DRAWS if len(masses) <= _MOST else 1
    root = np.sqrt(masses)[:, None]
    drawn = rng.normal(size=(n_draws, len(masses), n_columns))
    drawn -= (masses @ drawn / masses.sum())[:, None]
    drawn = np.linalg.qr(root * drawn)[0] / root
    distances = _nearest_two(drawn)
    best = int(np.argmax(distances))
    return Places(drawn[best], float(distances[best]))


def _nearest_two(drawn: Float) -> Float:  # (n, c, k) -> (n,)
    """Distance of the two nearest places, of every draw."""
    if drawn.shape[1] <= _PAIRED:
        one, other = np.triu_indices(drawn.shape[1], 1)
        apart = drawn[:, one] - drawn[:, other]
        return np.asarray(np.sqrt(np.einsum("npj,npj->np", apart, apart).min(axis=1)))
    from scipy.spatial import cKDTree  # here: few walks need it, and it takes 4 MiB

    return np.array([cKDTree(places).query(places, 2)[0][:, 1].min() for places in drawn])


def indicators(part: NDArray[Any], root: Float, least: float = 0.0) -> Float:  # (N,), (N,) -> (N, c)
    """√D·1_C of every part, scaled to length 1; of length 0 for a part without links, if ``least`` > 0."""
    found = np.zeros((len(part), int(part.max()) + 1))
    found[np.arange(len(part)), part] = root
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=0), least))


def sparse_indicators(part: NDArray[Any], root: Float) -> Any:  # (N,), (N,) -> CSR (N, c)
    """√D·1_C of every part, scaled to length 1, as a sparse matrix."""
    length = np.sqrt(np.bincount(part, root**2))
    values = root / np.maximum(length, 1e-150)[part]
    return csr_array((values, part, np.arange(len(part) + 1)), shape=(len(part), len(length)))


def walk_parts(S: SymmetrizedOperator) -> Index:  # (N,)
    """Number of each point's part: the connected components of the walk's graph, without isolated points.

    Two nodes of a tree are linked where their block's q couples them by more than ``_LINK``; a near field's
    entries always link. Isolated points have number 0; of degree 0, they weigh nothing there.
    """
    op = S.operator
    if op.graph is not None:
        return np.asarray(connected_components(op.graph, directed=False)[1], np.intp)
    if not op.members:
        return np.zeros(S.shape[0], np.intp)
    part = np.arange(S.shape[0]) if op.near_field is None else op.near_field.parts(S.kept)
    for member, share in zip(op.members, _far_shares(op), strict=True):
        if part.max() > 0:
            part = _joined(part, *_linked_in_tree(member, share, S.kept))
    if S.kept is None:
        return part
    part[S.kept] = np.unique(part[S.kept], return_inverse=True)[1]
    part[~S.kept] = 0
    return part


def _far_shares(op: RealOperator) -> Float:  # (n_trees,)
    """What each tree's blocks count in the walk."""
    return op.weights if op.near_field is None else float(op.near_field.far_share.min()) * op.weights


def _linked_in_tree(
    member: TransitionOperator, share: float, kept: NDArray[np.bool_] | None
) -> tuple[NDArray[Any], NDArray[Any]]:  # (n,) ×2
    """Edges (i, j) with the same connected components as the graph of the tree's coupled blocks."""
    tree, rows, cols = member.tree, member.partition.rows, member.partition.cols
    size = tree.size if kept is None else tree.counts(kept)
    coupling = 0.5 * share * member.block_values * np.sqrt(size[rows].astype(float) * size[cols])
    linked = np.flatnonzero(coupling > _LINK)
    rows, cols = rows[linked], cols[linked]
    inside = np.zeros(tree.n_points + 1, np.intp)  # whether a leaf and the next are in one linked node
    for nodes in (rows, cols):
        np.add.at(inside, tree.start[nodes], 1)
        np.add.at(inside, tree.start[nodes] + tree.size[nodes] - 1, -1)
    chained = np.flatnonzero(np.cumsum(inside)[:-2] > 0)
    one = np.concatenate([tree.order[chained], tree.order[tree.start[rows]]])
    return one, np.concatenate([tree.order[chained + 1], tree.order[tree.start[cols]]])


def _joined(part: Index, one: NDArray[Any], other: NDArray[Any]) -> Index:
    """Parts, those of each pair of points being one."""
    n_parts = int(part.max()) + 1
    links = coo_array((np.ones(len(one), bool), (part[one], part[other])), (n_parts, n_parts))
    return np.asarray(connected_components(links.tocsr(), directed=False)[1][part], np.intp)


def core_points(part: Index, S: SymmetrizedOperator, n_groups: int) -> NDArray[np.bool_]:  # (N,)
    """The points that are neither isolated nor of a part too small to be one of so many groups."""
    kept = np.ones(len(part), bool) if S.kept is None else S.kept
    return without_outliers(part, kept, n_groups)


def without_outliers(
    group: NDArray[Any], kept: NDArray[np.bool_], n_groups: int
) -> NDArray[np.bool_]:  # (N,) ×2 -> (N,)
    """The kept points without those of groups that hold outliers: less than a tenth of an even share.

    Where such groups are half of the points or more, the data are in pieces, and each of them counts.
    """
    outlying = kept & (_OUTLYING * n_groups * np.bincount(group[kept]) < kept.sum())[group]
    return kept & ~outlying if 2 * outlying.sum() < kept.sum() else kept


def from_nearest_node(tree: Tree, values: Float, kept: NDArray[np.bool_]) -> Float:  # (N, k) -> (N, k)
    """Values of points that are not ``kept``: the mean over the kept points of the smallest node with any."""
    running = np.concatenate(
        [np.zeros((1, values.shape[1])), np.cumsum((values * kept[:, None])[tree.order], axis=0)]
    )
    count, out = tree.counts(kept), np.flatnonzero(~kept)
    node = tree.leaf_nodes()[out]
    while (empty := count[node] == 0).any():
        node[empty] = tree.parent[node[empty]]
    first, last = tree.start[node], tree.start[node] + tree.size[node]
    values = values.copy()
    values[out] = (running[last] - running[first]) / count[node][:, None]
    return values


def strongest_joined(link: Float, n_groups: int) -> Index:  # (c, c) -> (c,)
    """So many groups of parts: pairs are joined, the strongest first.

    Links range over hundreds of orders of magnitude, so only their order has a meaning.
    """
    group = np.arange(len(link))
    one, other = np.triu_indices(len(link), 1)
    strength = np.maximum(link, link.T)[one, other]
    for pair in np.argsort(-strength, kind="stable"):
        if len(np.unique(group)) <= n_groups:
            break
        group[group == group[other[pair]]] = group[one[pair]]
    return np.unique(group, return_inverse=True)[1]
