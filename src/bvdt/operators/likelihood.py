"""The likelihood of the data under the walk's kernels, Eq. (17) and (18), and the density of new points.

Rows are the data as they were observed; only the centers are smoothed, so that Eq. (15) is a density. The
blocks are those of the walk, at their optimum for these divergences (theory: Likelihood).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from .. import _core
from .._support.arrays import Float, Index, Integers
from .._support.mixed import Mixed, blocks_of, inner_products
from .._support.sparse import Points, is_sparse
from ..divergences.likelihood import log_base_rows
from ..lifting import Lifted, Lifting, ViewsLifting, as_points, pair_divergences, refuse_entry
from .forest import ForestOperator
from .given import listed_near_field
from .single_tree import TransitionOperator
from .walk import WalkOperator

_NEAREST = 64  # centers that a new point is compared with one by one
_NODES = 64  # about as many blocks of all others
_BATCH = 1 << 22  # numbers at once


def log_likelihood(op: WalkOperator) -> float:
    """The walk's lower bound on log p(D), Eq. (17)."""
    return float(fitted_scores(op).sum())


def fitted_scores(op: WalkOperator) -> Float:  # (N,)
    """Each row's share of ``log_likelihood``."""
    lifting, lifted = _lifting(op), op.lifted.observations()
    if isinstance(lifting, ViewsLifting):
        base = _log_base_of_views(lifting, lifted, op.bandwidth)
    else:
        X = _widened(lifted.X, lifted.dimension + lifting.divergence.n_added)
        base = _log_base(lifting, X, op.bandwidth)
    values = _observed(op, lifted).row_values()
    return np.asarray(values - np.log(op.shape[0] - 1) + lifting.off_plane / op.bandwidth + base)


def new_scores(op: WalkOperator, X_new: Any) -> Float:  # (n_new,)
    """log of the mean density of all N kernels at new points, from below.

    The ``_NEAREST`` centers that the index finds count one by one; all others in blocks, each at the mean
    divergence of its points (Jensen's inequality): whatever the index misses lowers the bound, nothing raises
    it.
    """
    lifting = _lifting(op)
    indices = op.index.search(lifting.transform(X_new), min(_NEAREST, op.shape[0]))[0]
    if isinstance(lifting, ViewsLifting):
        rows = lifting.observe(X_new)
        base = _log_base_of_views(lifting, rows, op.bandwidth)
    else:
        _, X = lifting.divergence.prepare(as_points(X_new, minimum=1))
        X = X.toarray() if is_sparse(X) and not lifting.sparse else X
        rows, base = lifting.observe(X), _log_base(lifting, X, op.bandwidth)
    centers = op.lifted.observations()
    blocks = _blocks(op, centers)
    step = max(1, _BATCH // (_NEAREST + len(blocks[1])))
    parts = [
        _mixture(rows.slice(i, i + step), centers, indices[i : i + step], blocks, op)
        for i in range(0, rows.n_points, step)
    ]
    return np.asarray(np.concatenate(parts) - np.log(op.shape[0]) + lifting.off_plane / op.bandwidth + base)


def _mixture(
    rows: Lifted,
    centers: Lifted,
    indices: Integers,
    blocks: tuple[Index, Float, Float, Points],
    op: WalkOperator,
) -> Float:  # (n,)
    """log Σ_j exp(−d_ij/β) of the listed centers and of the blocks' rest."""
    of, size, W, H = blocks
    n, beta = rows.n_points, op.bandwidth
    i, k = np.nonzero(indices >= 0)
    j = indices[i, k]
    d = pair_divergences(rows, centers, i, j, op.n_jobs)
    listed = np.full(indices.shape, -np.inf)
    listed[i, k] = -d / beta
    total = rows.u[:, None] * size + W - inner_products(rows.X, H)
    count = np.repeat(size[None], n, axis=0)
    np.subtract.at(total, (i, of[j]), d)
    np.subtract.at(count, (i, of[j]), 1.0)
    left = np.maximum(count, 1.0)
    rest = np.where(count > 0.5, np.log(left) - np.maximum(total, 0.0) / left / beta, -np.inf)
    return np.asarray(logsumexp(np.hstack([listed, rest]), axis=1))


def _blocks(op: WalkOperator, centers: Lifted) -> tuple[Index, Float, Float, Points]:
    """Block of each point; of each block, a largest node of N/64 points or less, its size, Σ w and Σ h."""
    tree, most = op.tree, max(1, op.shape[0] // _NODES)
    top = tree.size <= most
    top[1:] &= tree.size[tree.parent[1:]] > most
    at_node = np.zeros(tree.n_nodes)
    nodes = np.flatnonzero(top)
    at_node[nodes] = np.arange(len(nodes))
    of = _core.path_sums(at_node, tree.size, tree.order, 1).astype(np.intp)
    n_points = op.shape[0]
    member = sparse.csr_array((np.ones(n_points), (of, np.arange(n_points))), shape=(len(nodes), n_points))
    sums = [member @ block for block in blocks_of(centers.H)]
    H = sums[0] if len(sums) == 1 else Mixed(*sums)
    return of, tree.size[nodes].astype(float), member @ centers.w, H


def _observed(op: WalkOperator, seen: Lifted) -> WalkOperator:
    """The same blocks and lists at their optimum for the observations; ``op`` where nothing is smoothed."""
    if seen is op.lifted:
        return op
    members = [
        TransitionOperator(seen, m.tree, partition=m.partition, bandwidth=op.bandwidth, n_jobs=op.n_jobs)
        for m in op.members
    ]
    if not isinstance(op, ForestOperator):
        return members[0]
    near_field = op.near_field
    if near_field is not None:
        near_field = listed_near_field(seen, near_field.indices, op.n_jobs)
    return ForestOperator(members, weights=op.weights, near_field=near_field)


def _lifting(op: WalkOperator) -> Lifting:
    lifting = op.lifted.lifting
    if lifting is None:
        raise ValueError(
            "a likelihood needs the divergence that lifted the data; this operator has none "
            "(a loaded custom phi: set it with bvdt.load(path, divergence=...))"
        )
    if not isinstance(lifting, ViewsLifting):
        lifting.divergence.log_scale(op.bandwidth)  # refuses where no density is known
    return lifting


def _log_base_of_views(lifting: ViewsLifting, lifted: Lifted, bandwidth: float) -> Float:
    """The sum over the views, each at its own bandwidth."""
    total = np.zeros(lifted.n_points)
    names = lifting.names or tuple(f"part {k}" for k in range(len(lifting.parts)))
    views = zip(names, lifting.parts, lifting.split(lifted), lifting.factors, strict=True)
    for name, part, view, factor in views:
        try:
            total += _log_base(part, view.X, bandwidth / factor)
        except ValueError as error:
            raise ValueError(f"view {name!r}: {error} (bandwidth={factor:.10g} gives it 1)") from None
    return total


def _log_base(lifting: Lifting, X: Points, bandwidth: float) -> Float:
    divergence = lifting.divergence
    family = divergence.family
    assert family is not None
    if lifting.offset is None:  # centered points are of families over all numbers
        requirement = (
            f"a likelihood under {divergence.name} ({family.name}) needs {family.support.requirement}"
        )
        values = X.data if is_sparse(X) else X
        if not family.support.contains(values).all():
            refuse_entry(X, lambda x, _: ~family.support.contains(x), requirement)
    return log_base_rows(divergence, X, bandwidth)


def _widened(X: Any, n_features: int) -> Points:
    """With as many columns, those added of zeros."""
    if X.shape[1] == n_features:
        return X
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))
