"""A walk with its points in the order of its first tree, for many products in a row.

Vectors are put in that order once, at the door, and every product then reads them from one end to the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._support.arrays import Float, Int
from .._support.running import n_threads
from ..tree import Tree
from .base import RealOperator
from .forest import ForestOperator
from .links import Links
from .products import CoarsestProduct
from .single_tree import SERIAL, TransitionOperator
from .symmetrized import SymmetrizedOperator
from .walk import WalkOperator


class OrderedWalk(RealOperator):
    """Q of a walk whose trees have the coarsest blocks, points in the first tree's order."""

    def __init__(self, op: WalkOperator, links: Links, others: list[tuple[float, CoarsestProduct]]) -> None:
        super().__init__(op.dtype, op.shape)
        self.order, self.n_jobs = op.tree.order, op.n_jobs
        self._links, self._others = links, others

    @property
    def even(self) -> bool:
        """Whether (Q + Qᵀ)/2 is one product."""
        return self._links.even

    def _apply(self, V: NDArray[Any], transpose: bool) -> NDArray[Any]:
        return self.product(V, "transpose" if transpose else "forward")

    def mean_with_transpose(self, V: NDArray[Any]) -> NDArray[Any]:
        return self.product(V, "both")

    def product(
        self,
        V: NDArray[Any],  # (N,) or (N, k)
        direction: str,
        *,
        factor: float = 1.0,
        own: float = 0.0,
        scale: Float | None = None,
        dots: Float | None = None,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """own·V + factor·M·V, or D·M·D in the place of M with the diagonal ``scale`` of D.

        ``dots`` (k,) is filled with the columns' inner products of V and the result; the result is a new
        array, or ``out``, which has V's type and shape.
        """
        single = np.result_type(self.dtype, V.dtype) == np.float32
        columns = np.ascontiguousarray(V, np.float32 if single else np.float64).reshape(self.shape[0], -1)
        out = out if out is not None and out.shape == columns.shape and out.dtype == columns.dtype else None
        options: dict[str, Any] = {"factor": factor, "own": own, "scale": scale, "out": out}
        if not self._others:
            out = self._links.times(columns, direction, ordered=True, **options, dots=dots)
            return out.reshape(V.shape)
        out = self._links.times(columns, direction, ordered=True, **options)
        self._add_others(columns, out, direction, factor, scale)
        if dots is not None:
            _core.column_dots(columns, out, dots, n_threads(self.n_jobs))
        return out.reshape(V.shape)

    @property
    def is_one_product(self) -> bool:
        """Whether all of (Q + Qᵀ)/2 is in one kernel call."""
        return self.even and not self._others

    def stepper(self, factor: float, scale: Float) -> Callable[..., None]:
        """Steps with D·(Q + Qᵀ)/2·D; needs ``is_one_product``. See ``Links.stepper``."""
        return self._links.stepper(factor, scale)

    def _add_others(
        self, columns: NDArray[Any], out: NDArray[Any], direction: str, factor: float, scale: Float | None
    ) -> None:
        """out += factor·M·V of the trees but the first."""
        near = self._links.near
        by = np.ones(1) if scale is None else scale
        far = np.ones(1) if near is None else near.far_share[self.order]
        before, after = (by * far, by) if direction == "transpose" else (by, by * far)
        source = before[:, None].astype(columns.dtype) * columns
        after = (factor * after)[:, None].astype(columns.dtype)
        part, threads = np.empty_like(columns), 1 if columns.size < SERIAL else n_threads(self.n_jobs)
        for weight, product in self._others:
            prepared = product.symmetric if direction == "both" else product.prepared
            prepared.apply(source, part, direction == "transpose", threads)
            part *= columns.dtype.type(weight)
            part *= after
            out += part


def ordered_walk(op: Any) -> OrderedWalk | None:
    """The walk in its first tree's order; None for anything else, and for blocks that are refined."""
    if not isinstance(op, ForestOperator | TransitionOperator):
        return None
    if not all(isinstance(member._product, CoarsestProduct) for member in op.members):
        return None
    return OrderedWalk(op, *op._cached("ordered", lambda: _parts(op)))


def _parts(op: ForestOperator | TransitionOperator) -> tuple[Links, list[tuple[float, CoarsestProduct]]]:
    """The first tree with the near field, and the others with their weights, in the first one's order."""
    if isinstance(op, TransitionOperator):
        assert isinstance(op._product, CoarsestProduct)
        return Links(None, op.tree.order, op._product, n_jobs=op.n_jobs), []
    place = np.empty_like(op.tree.order)
    place[op.tree.order] = np.arange(len(place), dtype=place.dtype)
    others = []
    for weight, member in zip(op.weights[1:], op.members[1:], strict=True):
        tree = Tree.from_sizes(member.tree.size, place[member.tree.order])
        others.append((float(weight), CoarsestProduct(tree, member._q)))
    return op._links, others


def in_tree_order(S: SymmetrizedOperator) -> tuple[SymmetrizedOperator, Int]:
    """S with its points in an order that makes products fast, and that order; as it is where none does."""
    walk = ordered_walk(S.operator)
    if walk is None or not walk.even:
        return S, np.arange(S.shape[0], dtype=np.int32)
    return S.reordered(walk, walk.order), walk.order
