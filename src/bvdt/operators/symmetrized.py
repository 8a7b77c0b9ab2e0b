"""The symmetrised walk, for eigenvectors and for label spreading."""

from __future__ import annotations

import copy
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from .._support.arrays import Float, Index, Int, Mask, Numbers
from .base import RealOperator, Side

ISOLATED = 1e-12  # sum of a column of Q, of which 1 is the mean, below which nothing leads to the point


class SymmetrizedOperator(RealOperator):
    """S = D^(−1/2)·W·D^(−1/2) with W = (Q + Qᵀ)/2 and D its row sums; eigenvalues in [−1, 1].

    A view of the operator Q. ``degrees`` is the diagonal of D; D^(1/2)·1 is an eigenvector of eigenvalue 1.

    A point that nothing leads to, with a column of Q that adds up to less than ``ISOLATED``, is isolated: its
    row and column of W, D and S are 0. A lone far point's row of Q is tied over all others, and in the mean
    with the transpose would link every point with every other (theory: The symmetrized walk). Such a point
    gets its scores by its own row of Q, as a new point would (``extended``).

    ``kept`` (N,) restricts the walk to some points; the others count as isolated.
    """

    def __init__(self, operator: RealOperator, kept: Mask | None = None) -> None:
        super().__init__(operator.dtype, operator.shape)
        self.operator, self.kept = operator, kept
        self.n_jobs, self.order = operator.n_jobs, operator.order
        self._rounds = 1
        degrees = self.mean_with_transpose(np.ones(operator.shape[0]))
        # Rows of a walk sum to 1: a degree of ½ is a column of zeros, but for rounding.
        if operator.rows_sum_to_one and (2 * degrees - 1 < 1e-9).any():
            self._isolate()
            degrees = self.mean_with_transpose(np.ones(operator.shape[0]))
        self.degrees: Float = np.asarray(degrees, np.float64)
        linked = self.degrees > 0  # a row and column of zeros stays one
        self.scale: Float = np.where(linked, 1.0 / np.sqrt(np.where(linked, self.degrees, 1.0)), 0.0)

    def _isolate(self) -> None:
        """Leaves out the points that nothing leads to, and again those that only these led to."""
        kept = np.ones(self.shape[0], bool) if self.kept is None else self.kept.copy()
        rounds = 0
        while (out := kept & (self.operator.T @ kept.astype(np.float64) < ISOLATED)).any():
            kept &= ~out
            rounds += 1
        if rounds:
            self.kept, self._rounds = kept, rounds

    # -- products -----------------------------------------------------------------------------------------

    def apply(self, V: Numbers, side: Side, out: Numbers | None = None) -> Numbers:
        return self.operator.scaled(V, "mean", self.scale, out=out)

    def shifted(self, V: Numbers, alpha: float, out: Numbers, dots: Float) -> Numbers:  # dots: (2, k)
        """V − α·S·V, which may be written to ``out``; ``dots`` as ``scaled`` fills it."""
        return self.operator.scaled(V, "mean", self.scale, factor=-alpha, own=1.0, dots=dots, out=out)

    @cached_property
    def inner(self) -> SymmetrizedOperator:
        """The same S with its points in the order that is fastest to multiply."""
        operator = self.operator.inner
        if operator is self.operator or operator.order is None:
            return self
        other, order = copy.copy(self), operator.order
        other.__dict__.pop("units", None)
        other.operator, other.order = operator, order
        other.degrees, other.scale = self.degrees[order], self.scale[order]
        other.kept = None if self.kept is None else self.kept[order]
        return other

    @cached_property
    def units(self) -> Float | None:  # type: ignore[override]  # (N,)
        """D^(−1/2), 1 without links: one scaling less per step. None where points are isolated."""
        return None if self.kept is not None else np.where(self.scale > 0, self.scale, 1.0)

    @property
    def one_kernel(self) -> bool:  # type: ignore[override]
        return self.kept is None and self.operator.one_kernel

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
        side: Side = "mean",
        scale: Float | None = None,
    ) -> None:
        if self.units is None:
            return super().step(Z, out, given, alpha, share, weights, sums, fixed)
        step = self.operator.step
        return step(Z, out, given, alpha, share, weights, sums, fixed, side="mean", scale=self.units)

    def mean_with_transpose(self, V: ArrayLike) -> Numbers:  # (N,) or (N, k), shape kept
        """W·V, a new array."""
        V = np.asarray(V)
        if self.kept is None:
            return np.asarray(self.operator.mean_with_transpose(V))
        kept = self.kept.reshape(-1, *[1] * (V.ndim - 1))
        return np.asarray(self.operator.mean_with_transpose(np.where(kept, V, V.dtype.type(0))) * kept)

    def scaled_links(self, links: csr_array) -> csr_array:  # (N, N) ×2
        """D^(−1/2)·links·D^(−1/2) of a sparse part of W."""
        data = links.data * np.repeat(self.scale, np.diff(links.indptr)) * self.scale[links.indices]
        return csr_array((data, links.indices, links.indptr), shape=links.shape)

    # -- isolated points ----------------------------------------------------------------------------------

    @property
    def isolated(self) -> Index:
        """The points whose rows and columns are left out."""
        return np.empty(0, np.intp) if self.kept is None else np.flatnonzero(~self.kept)

    def restricted(self, kept: Mask) -> SymmetrizedOperator:
        """The same for the walk on some of the points that are not isolated."""
        return SymmetrizedOperator(self.operator, kept if self.kept is None else kept & self.kept)

    def extended(self, F: Numbers, alpha: float = 1.0, given: Numbers | csr_array | None = None) -> Numbers:
        """F, with α·Q·F + (1 − α)·given in the rows of isolated points; written to F."""
        if len(isolated := self.isolated):
            rows = np.zeros((1,) * F.ndim) if given is None else given[isolated]
            own = (1 - alpha) * (rows.toarray() if isinstance(rows, csr_array) else rows)
            for _ in range(self._rounds):  # points of an earlier round may lead to those of a later one
                F[isolated] = alpha * np.asarray(self.operator @ F)[isolated] + own
        return F

    def pulled_back(self, V: Numbers, alpha: float) -> tuple[Numbers, Numbers]:
        """The transpose of ``extended``: weights of its rows as weights of F, and of ``given``; writes V."""
        own = np.zeros_like(V)
        if len(isolated := self.isolated):
            for _ in range(self._rounds):
                apart = np.zeros_like(V)
                apart[isolated], V[isolated] = V[isolated], 0.0
                own += (1 - alpha) * apart
                V += alpha * np.asarray(self.operator.T @ apart)
        return V, own

    def _transpose(self) -> SymmetrizedOperator:
        return self

    _adjoint = _transpose
