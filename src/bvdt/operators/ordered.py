"""A walk with its points in the order of its first tree, in which neighbors are near in memory.

The near field and the first tree, where its blocks are the coarsest, are one pass over memory
(``cpp/kernels/walk_product.hpp``); other trees, and refined blocks, are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .. import _core
from .._support.arrays import Float, Int, Mask, Numbers
from .._support.columns import column_dots, put_rows, take_rows
from .._support.running import n_threads
from .base import RealOperator, Side
from .near_field import NearField
from .tree_product import CoarsestProduct, TreeProduct

_SWEEP = 8  # additions or so per point that the tree and a row's end take


class OrderedWalk(RealOperator):
    """Q = Λ·S + (1 − Λ)·Σ_t w_t·Q_t of a near field, if there is one, and trees; rows in ``order``.

    See the base for what the methods do.
    """

    order: Int

    def __init__(
        self,
        near_field: NearField | None,
        trees: Sequence[TreeProduct],
        weights: Float,  # (n_trees,)
        order: Int,  # (N,) point at each place of the first tree
        n_jobs: int | None,
    ) -> None:
        super().__init__(np.dtype(np.float64), (len(order), len(order)))
        self._near, self.order, self.n_jobs = near_field, order, n_jobs
        place = np.empty_like(order)
        place[order] = np.arange(len(order), dtype=order.dtype)
        fused = isinstance(trees[0], CoarsestProduct)  # whose rows are in the order already
        self._trees = [*trees[:fused], *(tree.moved(place) for tree in trees[fused:])]
        self._weights = weights

    def __getstate__(self) -> dict[str, object]:
        """Without what is derived: a copy derives its own when it is first used."""
        kept = ("dtype", "shape", "_near", "order", "n_jobs", "_trees", "_weights")
        return {name: vars(self)[name] for name in kept}

    def apply(self, V: Numbers, side: Side, out: Numbers | None = None) -> Numbers:
        return self.scaled(V, side, out=out)

    def apply_unordered(self, V: Numbers, side: Side, out: Numbers | None = None) -> Numbers:
        """The product of rows in the points' own order, which one pass takes from it and puts back in it."""
        if self.one_kernel:
            out = np.empty_like(V) if out is None else out
            return self._multiply(V, side, out, None, own_order=True)
        return put_rows(self.apply(take_rows(V, self.order, self.n_jobs), side), self.order, self.n_jobs, out)

    def scaled(
        self,
        V: Numbers,
        side: Side,
        scale: Float | None = None,
        *,
        factor: float = 1.0,
        own: float = 0.0,
        dots: Float | None = None,
        out: Numbers | None = None,
    ) -> Numbers:
        if side == "mean" and not self.uniform_mixing:  # the far field's share is on one side of each
            out = self.scaled(V, "forward", scale, factor=factor / 2, own=own, out=out)
            out += self.scaled(V, "transpose", scale, factor=factor / 2)
            return self._with_dots(V, out, dots)
        out = np.empty_like(V) if out is None else out
        self._multiply(V, side, out, scale, factor=factor, own=own, dots=None if self._others else dots)
        far_in, far_out, share = self._far_scales(side, scale)
        for weight, tree in self._others:
            part = tree.apply(_rows_times(far_in, V), side, np.empty_like(V), self.n_jobs)
            part *= V.dtype.type(factor * share * weight)
            out += _rows_times(far_out, part)
        return self._with_dots(V, out, dots) if self._others else out

    def step(
        self,
        Z: Numbers,
        out: Numbers,
        given: tuple[Int, Numbers],
        alpha: float,
        share: float,
        weights: Numbers,
        sums: Float | None = None,
        fixed: Mask | None = None,
        *,
        side: Side = "forward",
        scale: Float | None = None,
    ) -> None:
        if not self.one_kernel or fixed is not None:
            return super().step(Z, out, given, alpha, share, weights, sums, fixed, side=side, scale=scale)
        row, values = given
        _core.walk_step(
            self._far(side),
            self._links(side),
            Z,
            out,
            near_times=alpha,
            far_times=alpha * self._far_scales(side, None)[2],
            row=row,
            given=values,
            by=np.ones(len(Z)) if scale is None else scale,
            share=share,
            weights=weights,
            sums=sums,
            threads=self._threads(Z),
        )
        return None

    def _multiply(
        self,
        V: Numbers,
        side: Side,
        out: Numbers,
        scale: Float | None,
        *,
        factor: float = 1.0,
        own: float = 0.0,
        dots: Float | None = None,
        own_order: bool = False,
    ) -> Numbers:
        """The near field's and the first tree's part."""
        far, links = self._far(side), self._links(side)
        if far is None and links is None:
            return np.multiply(V, V.dtype.type(own), out=out)
        far_in, far_out, share = self._far_scales(side, scale)
        _core.walk_product(
            far,
            links,
            V,
            out,
            near_in=scale,
            near_out=scale,
            near_times=factor,
            far_in=far_in,
            far_out=far_out,
            far_times=factor * share * self._weights[0],
            own=own,
            transpose=side == "transpose",
            own_order=own_order,
            dots=dots,
            threads=self._threads(V),
        )
        return out

    # -- parts --------------------------------------------------------------------------------------------

    @cached_property
    def uniform_mixing(self) -> bool:
        """Whether all rows have one share of the far field, so that (Q + Qᵀ)/2 is one product."""
        return self._near is None or self._near.uniform_mixing

    @property
    def one_kernel(self) -> bool:  # type: ignore[override]
        return self.uniform_mixing and isinstance(self._trees[0], CoarsestProduct) and not self._others

    @property
    def _others(self) -> list[tuple[float, TreeProduct]]:
        """The trees that are not in the one pass, with their weights."""
        fused = isinstance(self._trees[0], CoarsestProduct)
        return list(zip(self._weights.tolist(), self._trees, strict=True))[fused:]

    def _far(self, side: Side) -> _core.CoarsestProduct | None:
        first = self._trees[0]
        if not isinstance(first, CoarsestProduct):
            return None
        return first.mean if side == "mean" else first.prepared

    def _far_scales(self, side: Side, scale: Float | None) -> tuple[Float | None, Float | None, float]:
        """Diagonals on the right and on the left of the trees' product, and a factor: 1 − Λ and ``scale``."""
        if self._near is None:
            return scale, scale, 1.0
        if self.uniform_mixing:
            return scale, scale, float(self._near.far_share[0])
        share = self._near.far_share[self.order]
        share = share if scale is None else share * scale
        return (share, scale, 1.0) if side == "transpose" else (scale, share, 1.0)

    def _links(self, side: Side) -> _core.Links | None:
        if self._near is None:
            return None
        if side == "forward":
            return self._forward
        return self._transposed if side == "transpose" else self._mean

    @cached_property
    def _forward(self) -> _core.Links:
        assert self._near is not None
        return self._near.in_order(self.order, self.n_jobs)

    @cached_property
    def _transposed(self) -> _core.Links:
        return self._forward.transposed()

    @cached_property
    def _mean(self) -> _core.Links:
        return self._forward.mean(n_threads(self.n_jobs, 8.0 * len(self._forward.column)))

    def _threads(self, V: Numbers) -> int:
        per_point = _SWEEP + (0 if self._near is None else self._near.k)
        return n_threads(self.n_jobs, float(per_point * V.size))

    def _with_dots(self, V: Numbers, out: Numbers, dots: Float | None) -> Numbers:
        if dots is not None:
            dots[0], dots[1] = column_dots(V, out, self.n_jobs), column_dots(out, out, self.n_jobs)
        return out


def _rows_times(scale: Float | None, V: Numbers) -> Numbers:
    """diag(scale)·V."""
    return V if scale is None else np.ascontiguousarray(scale[:, None].astype(V.dtype) * V)
