"""Columns in memory, in the inner order of the operator that multiplies them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from .. import _core
from .._support.arrays import Float, Index, Int, Mask, Numbers
from .._support.columns import column_dots, threads_for
from .conjugate_gradients import conjugate_gradients

_FAINT = 1e-30  # the least of a point's largest score in single precision that has all its digits
_ROWS = 1 << 12  # that stay in cache from one operation to the next
_BLOCK, _VECTOR = 32, 8  # columns of a recurrence at once

# P, where A·P may be written, and where ⟨P, A·P⟩ and ‖A·P‖² go (2, k) -> A·P
Product = Callable[[Numbers, Numbers, Float], Numbers]


class Matrix(Protocol):
    """What is asked of an operator M; see ``bvdt.operators.RealOperator``."""

    shape: tuple[int, int]
    order: Int | None
    n_jobs: int | None
    units: Float | None

    def shifted(self, V: Numbers, alpha: float, out: Numbers, dots: Float) -> Numbers: ...

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
    ) -> None: ...


class ArraySystem:
    """See ``System``; B is used up."""

    def __init__(
        self, product: Product, B: Numbers, start: Numbers | None = None, n_jobs: int | None = None
    ) -> None:
        self._product, self._n_jobs = product, n_jobs
        self._sums = np.empty((2, B.shape[1]))
        self._AP = np.empty_like(B)
        self.products = 0
        self.right = column_dots(B, B, n_jobs)
        if start is None:
            self.F, self._R = np.zeros_like(B), B
        else:
            self.F, self.products = np.array(start, B.dtype, order="C"), 1
            self.F[:, ~B.any(axis=0)] = 0.0  # solved exactly: a residual cannot be a share of 0
            self._R = np.subtract(B, product(self.F, self._AP, self._sums), out=B)
        self._P = self._R.copy()

    def product(self) -> tuple[Float, Float]:
        self._AP = self._product(self._P, self._AP, self._sums)
        return self._sums[0].copy(), self._sums[1].copy()

    def advance(self, step: Float, beta: Float) -> Float:
        squares = np.empty(len(step))
        steps = step.astype(self.F.dtype), beta.astype(self.F.dtype)
        threads = threads_for(self.F, self._n_jobs)
        _core.conjugate_step(self.F, self._R, self._P, self._AP, *steps, squares, threads)
        return squares

    def solve(self, tol: float, max_products: int) -> tuple[Numbers, int]:  # (N, k), products
        """F, every residual at most that share of its right-hand side by length."""
        residual = column_dots(self._R, self._R, self._n_jobs)
        most = max_products - self.products
        return self.F, self.products + conjugate_gradients(self, residual, tol**2 * self.right, most)


def three_terms(S: Matrix, Y: Float | None, R: Float | None, weights: Float) -> Float:  # (N, k) ×2 -> (N, k)
    """Y_(n+1) = a_n·(S·Y_n + R) + b_n·Y_n + c_n·Y_(n−1) from Y on, None for 0, in single precision.

    ``weights`` (n, 3, k): a, b and c of every step. Columns may be of any size: each is scaled by the power
    of 2 next to its largest number, which rounds nothing. A block of columns goes through all steps at once,
    filled up to whole vectors of the CPU, so that it stays in the cache.
    """
    parts = [V for V in (Y, R) if V is not None]
    largest = np.max([np.abs(V).max(axis=0) for V in parts], axis=0)
    size = np.where(largest > 0, 2.0 ** np.frexp(largest)[1], 1.0)
    U = np.ones(len(parts[0])) if S.units is None else S.units
    out = np.empty(parts[0].shape)
    for first in range(0, len(size), _BLOCK):
        block = slice(first, first + _BLOCK)
        y, r = (None if V is None else _filled(V[:, block] / size[block]) for V in (Y, R))
        Z = _recurrence(S, U[:, None], y, r, _filled(weights[:, :, block]))[:, : len(size[block])]
        np.multiply(Z, size[block] / U[:, None], out=out[:, block])
    return out


def _filled(V: Float) -> Numbers:  # (..., k) -> (..., at least k)
    """In single precision, with columns of 0 up to a multiple of ``_VECTOR``."""
    k = V.shape[-1]
    out = np.zeros((*V.shape[:-1], -(-k // _VECTOR) * _VECTOR), np.float32)
    out[..., :k] = V
    return out


def _recurrence(
    S: Matrix, U: Float, Y: Numbers | None, R: Numbers | None, weights: Numbers
) -> Numbers:  # (N, 1), (N, k) ×2 -> (N, k)
    """U·Y_n of the last step."""
    rest = np.zeros((1, weights.shape[2]), np.float32) if R is None else R
    row = np.full(len(U), -1, np.int32) if R is None else np.arange(len(U), dtype=np.int32)
    if Y is None:  # the first step needs no product
        Y, weights = weights[0, 0] * rest, weights[1:]
    Z = U.astype(np.float32) * Y
    before = np.zeros_like(Z)
    for now in weights:
        S.step(Z, before, (row, rest), 1.0, 1.0, now)
        Z, before = before, Z
    return Z


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Y⁰ by its rows that are not 0, those of the labeled points."""

    points: Index  # (m,)
    values: Numbers  # (m, k)
    n_points: int

    @classmethod
    def of(cls, Y0: Numbers | sparse.csr_array) -> LabelRows:
        """From an array or a sparse matrix (N, k)."""
        if sparse.issparse(Y0):
            Y0 = sparse.csr_array(Y0)
            points = np.flatnonzero(np.diff(Y0.indptr))
            return cls(points, Y0[points].toarray(), Y0.shape[0])
        points = np.flatnonzero(Y0.any(axis=1))
        return cls(points, np.ascontiguousarray(Y0[points]), len(Y0))

    def by_place(self, order: Int | None) -> Int:  # (N,)
        """Which row of ``values`` belongs to each place of that order, −1 for none."""
        row = np.full(self.n_points, -1, np.int32)
        row[self.points] = np.arange(len(self.points), dtype=np.int32)
        return row if order is None else np.take(row, order)


class ArraySpreading:
    """See ``Spreading``; held as Z = U·F with the units U of M, in double or in single precision.

    Z and the one before it are two halves of one array, which in single precision has room for the result in
    double. ``fixed`` points keep their labels; then F begins as Y⁰.
    """

    def __init__(
        self,
        M: Matrix,
        labels: LabelRows,
        alpha: float,
        dtype: type[np.floating] = np.float64,
        fixed: Mask | None = None,
        first: float | None = None,
    ) -> None:
        """``first``: the share of Y⁰ to begin with, 1 − α if None."""
        self._M, self.alpha, self.products = M, alpha, 0
        self._labels = labels.by_place(M.order), labels.values.astype(dtype, copy=False)
        self._fixed = fixed if fixed is None or M.order is None else fixed[M.order]
        self.right = (1 - alpha) ** 2 * np.einsum("ij,ij->j", labels.values, labels.values)
        self.sums = np.empty((3, labels.values.shape[1]))
        self._both: Numbers = np.zeros((2, labels.n_points, labels.values.shape[1]), dtype)
        self._Z, self._before = self._both
        places = np.flatnonzero(self._labels[0] >= 0)
        self._Z[places] = (1 - alpha if first is None else first) * labels.values[self._labels[0][places]]
        if M.units is not None:
            self._Z[places] *= M.units[places, None]

    def step(self, weight: float) -> None:
        weights = np.empty((3, len(self.right)), self._Z.dtype)
        weights[:] = [[weight], [0.0], [1 - weight]]
        share = 1 - self.alpha
        self._M.step(self._Z, self._before, self._labels, self.alpha, share, weights, self.sums, self._fixed)
        self._Z, self._before = self._before, self._Z
        self.products += 1

    def clip(self) -> None:
        _core.cut_below_zero(self._Z, threads_for(self._Z, self._M.n_jobs))

    def solve(self, tol: float, max_products: int) -> None:
        U = 1.0 if self._M.units is None else self._M.units[:, None]
        row, values = self._labels
        B = np.where(row[:, None] >= 0, (1 - self.alpha) * values[row], 0.0)
        multiply = lambda P, out, dots: self._M.shifted(P, self.alpha, out, dots)  # noqa: E731
        system = ArraySystem(multiply, B, self._Z / U if self.products else None, self._M.n_jobs)
        F, products = system.solve(tol, max_products)
        self._Z[:] = U * F
        self.products += products

    @property
    def reaches_everyone(self) -> bool:
        """Whether every point has a score that is no rounding of 0."""
        slices = (self._Z[first : first + _ROWS] for first in range(0, len(self._Z), _ROWS))
        return all(bool((part.max(axis=1) > _FAINT).all()) for part in slices)

    def scores(self) -> Float:
        """F in the points' own order and in double, in memory that is there."""
        order = np.arange(len(self._Z), dtype=np.int32) if self._M.order is None else self._M.order
        U = self._M.units
        threads = threads_for(self._Z, self._M.n_jobs)
        _core.put_rows(self._Z, order, None if U is None else 1 / U, self._before, threads)
        return self._before if self._before.dtype == np.float64 else self._widened()

    def _widened(self) -> Float:
        """``_before`` in double, over both halves: from the other one's end on, to be read in time."""
        single, shape = self._before.reshape(-1), self._before.shape
        double = self._both.reshape(-1).view(np.float64)
        starts = range(0, len(single), _ROWS)
        for first in starts if np.may_share_memory(single, self._both[1]) else reversed(starts):
            part = slice(first, first + _ROWS)
            double[part] = single[part].copy()
        return double.reshape(shape)
