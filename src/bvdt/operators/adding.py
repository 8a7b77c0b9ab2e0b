"""New points in a walk that is there already: trees keep their shape, all else is found for the new points.

Each new point becomes a leaf beside its nearest fitted point, in every tree. Block divergences and
probabilities are those of the grown trees, in O(N); the near field compares the new points with all others,
in O(N·n).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support import memory
from .._support.arrays import Float, Index
from ..lifting import Lifted
from ..neighbors import exact_lists
from ..tree import with_points_beside
from .forest import ForestOperator
from .learning import with_learned_bandwidth
from .near_field import NearField
from .single_tree import TransitionOperator
from .walk import WalkOperator


@memory.explain_memory_error("adding points")
def add_points(op: WalkOperator, X_new: Any, bandwidth: float | str | None = None) -> WalkOperator:
    """Operator over the points of ``op`` and new ones after them; see the module's head."""
    if op.lifted.lifting is None:
        raise ValueError(
            "add_points needs the divergence that lifted the data; this operator has none "
            "(a loaded custom phi: set it with bvdt.load(path, divergence=...))"
        )
    lifted = op.lifted.joined(X_new)
    near_field = None if op.near_field is None else op.near_field.joined(lifted)
    hosts = _hosts(lifted, op.shape[0], near_field)
    plain = not isinstance(op, ForestOperator) and op.members[0].partition.is_coarsest
    learn = bandwidth == "learn" and not plain  # of all that the operator has, once that is there
    beta = op.bandwidth if bandwidth is None or learn else bandwidth
    members: list[TransitionOperator] = []
    for member in op.members:
        members.append(_grown(member, lifted, hosts, beta))
        beta = members[0].bandwidth
    grown: WalkOperator = members[0]
    if isinstance(op, ForestOperator):
        grown = ForestOperator(
            members, weights=op.weighting, near_field=near_field, seed=op.seed, kind=op.kind
        )
    return with_learned_bandwidth(grown) if learn else grown


def _hosts(lifted: Lifted, n_old: int, near_field: NearField | None) -> tuple[Index, Float]:  # (n,) ×2
    """The old point nearest to each new one, and the divergence from it; the near field names most."""
    new = np.arange(n_old, lifted.n_points)
    host, divergence = np.full(len(new), -1), np.full(len(new), np.inf)
    if near_field is not None:
        listed = near_field.indices[new]
        is_old = (listed >= 0) & (listed < n_old)
        first = np.arange(len(new)), is_old.argmax(axis=1)
        found = is_old.any(axis=1)
        host[found], divergence[found] = listed[first][found], near_field.divergences_of(new)[first][found]
    rest = np.flatnonzero(host < 0)
    if rest.size:
        index, d = exact_lists(lifted, lifted.slice(0, n_old), 1, chosen=new[rest])
        host[rest], divergence[rest] = index[:, 0], d[:, 0]
    return host, divergence


def _grown(
    member: TransitionOperator, lifted: Lifted, hosts: tuple[Index, Float], bandwidth: float | str
) -> TransitionOperator:
    """A tree's operator with the new points; refined blocks grow as the points do."""
    tree = with_points_beside(member.tree, *hosts)
    grown = TransitionOperator(lifted, tree, bandwidth=bandwidth, dtype=member.dtype, n_jobs=member.n_jobs)
    if member.partition.is_coarsest:
        return grown
    return grown.refine(round(member.n_blocks * tree.n_nodes / member.tree.n_nodes))
