"""The bandwidth that maximizes the bound of refined blocks, of several trees, and with a near field."""

from __future__ import annotations

import numpy as np

from ..blocks import Curve, bound_curve, effective_dimension, learned_bandwidth
from .forest import ForestOperator
from .walk import WalkOperator


def with_learned_bandwidth(op: WalkOperator) -> WalkOperator:
    """The same blocks at the β that maximizes their bound with its constant, Eq. (18) and (19).

    −∂/∂(1/β) of the bound is the mean divergence under Q: Σ_t w_t·D̄_t of the trees and, with a near field,
    (1 − λ)·Σ_t w_t·D̄_t + λ·S̄, S̄ the mean of Σ_j S_ij·d_ij. Points without a neighbor count as the others do.
    """
    share, listed = 1.0, 0.0
    if op.near_field is not None:
        far, sums = op.near_field.far_share, op.near_field.whole_weights(op.n_jobs)[1]
        share, listed = float(far.mean()), float(((1.0 - far) * sums.cost).mean())

    def curve(beta: float) -> Curve:
        found = [bound_curve(m.mean_divergence, m.tree, m.partition, beta, op.n_jobs) for m in op.members]
        value, mean = op.weights @ [(one.value, one.divergence) for one in found]
        return found[0]._replace(
            value=float(share * value - listed / beta), divergence=float(share * mean + listed)
        )

    dbar = np.concatenate([member.mean_divergence for member in op.members])
    if not (dbar > 0).any():
        return op
    dimension, dispersion = effective_dimension(op.lifted)
    beta = learned_bandwidth(dimension, dbar, curve, dispersion)
    members = [member.with_bandwidth(beta) for member in op.members]
    if not isinstance(op, ForestOperator):
        return members[0]
    return ForestOperator(members, weights=op.weighting, near_field=op.near_field, seed=op.seed, kind=op.kind)
