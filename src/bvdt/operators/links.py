"""The near field with its points in a tree's order, and its product together with that tree's.

Neighbours are near in that order, so a row's links are read from cache. An entry takes eight bytes: an int32
column and λ·S_ij as a whole number of 2⁻²⁹. So rows sum to λ exactly, and (S + Sᵀ)/2, one stored matrix, is
the mean of both exactly, in whole numbers of 2⁻³⁰.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .. import _core
from .._support.arrays import Float, Int
from .._support.running import n_threads
from .near_field import UNIT, NearField
from .products import CoarsestProduct

SERIAL = 1 << 20  # multiplications below which threads would cost more than they bring


@dataclass(frozen=True, eq=False)
class Links:
    """Near field λS, if there is one, and ``share`` of one tree's Q as its far field, in that tree's order.

    ``far`` is None for a tree whose blocks are not the coarsest: products are then the near field's alone.
    """

    near: NearField | None
    order: Int  # (N,) point at each place
    far: CoarsestProduct | None
    share: float = 1.0
    n_jobs: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without what was prepared: a copy prepares its own when it is first used."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def forward(self) -> _core.Links:
        return self._made()

    @cached_property
    def transposed(self) -> _core.Links:
        return self.forward.transposed()

    @cached_property
    def mean(self) -> _core.Links:
        """(λS + (λS)ᵀ)/2."""
        if self.near is None:
            return self.forward
        forward = vars(self).get("forward")
        return self.near.mean_links(self.order, self.n_jobs, self._threads_to_make, forward)

    def mean_matrix(self) -> Any:  # CSR (N, N)
        """The same as a sparse matrix, points in the tree's order."""
        mean = self.mean
        n_points = len(self.order)
        data = mean.unit * mean.weight
        return csr_array((data, mean.column, mean.first), shape=(n_points, n_points))

    def _made(self) -> _core.Links:
        if self.near is None:
            indices = weight = np.empty((len(self.order), 0), np.int32)
        else:
            indices = np.ascontiguousarray(self.near.indices, np.int32)
            weight = np.empty_like(indices)
            for rows, values in self.near.weights_in(self.order, self.n_jobs):
                weight[self.order[rows]] = values
        return _core.Links(indices, weight, UNIT, self.order, self._threads_to_make)

    @property
    def _threads_to_make(self) -> int:
        """Of what reads the near field a few times."""
        return n_threads(self.n_jobs, 0 if self.near is None else 8.0 * self.near.n_points * self.near.k)

    @property
    def even(self) -> bool:
        """Whether all rows have one share of the far field, so that (Q + Qᵀ)/2 is one product."""
        return self.near is None or self.near.even

    @cached_property
    def _far_share(self) -> Float:  # (N,) by place
        if self.near is None or self.near.even:  # one number for all, of which no copy per point is held
            far = 1.0 if self.near is None else float(self.near.far_share[0])
            return np.broadcast_to(self.share * far, len(self.order))
        return np.asarray(self.share * self.near.far_share[self.order])

    def row(self, point: int) -> tuple[Int, Float]:
        """Columns, in the points' own numbers, and entries of a row of λS."""
        assert self.near is not None
        one = np.array([point], np.int32)
        listed, weight = self.near.indices[point], self.near.whole_weights(one, 1)[0][0]
        return listed[listed >= 0], UNIT * weight[listed >= 0]

    def times(
        self,
        columns: NDArray[Any],  # (N, k), C-contiguous
        direction: str,
        *,
        ordered: bool = False,
        factor: float = 1.0,
        own: float = 0.0,
        scale: Float | None = None,
        dots: Float | None = None,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:  # (N, k)
        """own·V + factor·M·V, or D·M·D in the place of M with the diagonal ``scale`` of D, by place.

        M is Q, its transpose or the mean of both: ``direction`` "forward", "transpose" or "both"; the last
        needs ``even``. ``ordered`` says that rows of V and of the result are in the tree's order, not in the
        points' own. ``dots`` (k,) is filled with the columns' inner products of V and the result,
        which is written to ``out`` if it is given.
        """
        scales = self._scales(direction, factor, scale)
        links = self._stored(direction)
        far: Any = None if self.far is None else self.far.prepared
        if direction == "both" and self.far is not None:
            far = self.far.symmetric
        out = np.empty_like(columns) if out is None else out
        threads, flip = self._threads(links, columns), direction == "transpose"
        options: dict[str, Any] = {"transpose": flip, "ordered": ordered, "dots": dots, "threads": threads}
        links.multiply(far, columns, out, **scales, own=own, **options)
        return out

    def stepper(self, factor: float, scale: Float) -> Callable[..., None]:
        """step(Z, out, row, given, share, turn, sums): out ← turn·G + (1 − turn)·out, in the tree's order.

        G = factor·D²·(Q + Qᵀ)/2·Z + share·D·Y with the diagonal ``scale`` of D, above 0: the step of F = Z/D
        with D·(Q + Qᵀ)/2·D, one scaling less. Row i of Y is given[row[i]], or 0 where row[i] is −1. ``sums``
        (3, k) is filled with Σ|R|, Σ|G/D| and ΣR² of the columns, R = (G − Z)/D. Needs ``even``.
        """
        times: dict[str, Any] = {"near_times": factor, "far_times": factor * float(self._far_share[0])}
        links, far = self.mean, None if self.far is None else self.far.symmetric

        def step(
            Z: Float, out: Float, row: Int, given: Float, share: float, turn: float, sums: Float
        ) -> None:
            options: dict[str, Any] = {"row": row, "given": given, "by": scale, "share": share, "turn": turn}
            links.step(far, Z, out, **times, **options, sums=sums, threads=self._threads(links, Z))

        return step

    def _threads(self, links: _core.Links, columns: NDArray[Any]) -> int:
        work = (len(links.column) + len(columns)) * columns.shape[1]
        return 1 if work < SERIAL else n_threads(self.n_jobs)

    def _stored(self, direction: str) -> _core.Links:
        if direction == "both":
            return self.mean
        return self.transposed if direction == "transpose" else self.forward

    def _scales(self, direction: str, factor: float, scale: Float | None) -> dict[str, Any]:
        """What goes in and out of both fields is multiplied by, by place; None for ones."""
        out = scale
        if factor != 1.0:
            out = np.full(len(self.order), factor) if scale is None else factor * scale
        far_in, far_out = scale, out
        if direction == "transpose":
            far_in = _product(scale, self._far_share)
        else:  # for the mean of both it may stand on either side: there is one share for all
            far_out = _product(out, self._far_share)
        return {"near_in": scale, "near_out": out, "far_in": far_in, "far_out": far_out}


def _product(a: Float | None, b: Float) -> Float:
    return np.ascontiguousarray(b if a is None else a * b)
