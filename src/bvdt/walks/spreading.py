"""Label spreading by Chebyshev's steps (Golub & Varga 1961): two vectors, one pass over memory per product.

    F_(k+1) = ω_(k+1)·(α·S·F_k + (1 − α)·Y⁰) + (1 − ω_(k+1))·F_(k−1),      ω_(k+1) = 1 / (1 − α²·ω_k/4)

The eigenvalues of S lie in [−1, 1], so the error falls by (1 − √(1 − α²))/α per product: conjugate gradients'
own bound, by half their memory and without their inner products. Nearer to α = 1 those need fewer products
than their bound says, and are used instead.

Many scores to a usual tolerance are kept in single precision, in half the memory; sums over the tree are made
in double. Where that does not do, all is done in double: a tolerance that rounding hides, or a point so far
from every label that its scores would be 0.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _core
from .._support.arrays import Float, Int
from ..operators import SymmetrizedOperator
from .inputs import warn_unconverged
from .solving import jobs_of, threads_for

LARGEST = 0.95  # α up to which these steps take no longer than conjugate gradients
SINGLE = 1 << 22  # scores, 32 MiB, from which on single precision is tried
_CLOSEST = 5e-6  # tolerance, at least, that it is good for
_TOP = 80  # the largest label is scaled to 2^80: products with whole weights, below 2^31, stay in range, and
_FAINT = 1e-30  # this, the least of a point's largest score that has all its digits, is 10^54 times smaller
_ROWS = 1 << 12  # that stay in cache from one operation to the next


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Y⁰ by its rows that are not 0, those of the labelled points."""

    points: NDArray[np.intp]  # (m,)
    values: Float  # (m, k)
    n_points: int

    @classmethod
    def of(cls, Y0: Any) -> LabelRows:
        """From an array or a sparse matrix (N, k)."""
        if sparse.issparse(Y0):
            Y0 = sparse.csr_array(Y0)
            points = np.flatnonzero(np.diff(Y0.indptr))
            return cls(points, Y0[points].toarray(), Y0.shape[0])
        points = np.flatnonzero(Y0.any(axis=1))
        return cls(points, np.ascontiguousarray(Y0[points]), len(Y0))

    def by_place(self, order: Int | None) -> Int:  # (N,) -> (N,)
        """Which row of ``values`` belongs to each place of that order, −1 for none."""
        row = np.full(self.n_points, -1, np.int32)
        row[self.points] = np.arange(len(self.points), dtype=np.int32)
        return row if order is None else np.take(row, order)


def _plain_stepper(S: Any, alpha: float) -> Callable[..., None]:
    """As ``Links.stepper`` with D = 1, by products with any S."""

    def step(Z: Float, out: Float, row: Int, given: Float, share: float, turn: float, sums: Float) -> None:
        product = np.asarray(S @ Z)
        sums[:] = 0.0
        for first in range(0, len(Z), _ROWS):
            rows = slice(first, first + _ROWS)
            G = alpha * product[rows]
            labelled = np.flatnonzero(row[rows] >= 0)
            G[labelled] += share * given[row[rows][labelled]]
            R = G - Z[rows]
            sums += np.abs(R).sum(axis=0), np.abs(G).sum(axis=0), np.einsum("ij,ij->j", R, R)
            out[rows] = turn * G + (1 - turn) * out[rows] if turn != 1 else G

    return step


def _turns(alpha: float) -> Iterator[float]:
    """ω_1 = 1, ω_2 = 1 / (1 − α²/2), and so on."""
    yield 1.0
    turn = 2.0  # in the place of ω_1: so the formula gives ω_2
    while True:
        turn = 1 / (1 - alpha**2 * turn / 4)
        yield turn


class Spreading(ABC):
    """(I − α·S)·F = (1 − α)·Y⁰, wherever its columns are kept, and how far it is from solved."""

    def __init__(self, alpha: float, squares: Float) -> None:
        """From F = (1 − α)·Y⁰, and before it 0; ``squares`` (k,) are those of the columns of Y⁰, summed."""
        self.alpha, self.products = alpha, 0
        self._right = (1 - alpha) ** 2 * squares
        self._sums = np.empty((3, len(squares)))  # Σ|R|, Σ|G| and ΣR², R = G − F of the plain step G

    @abstractmethod
    def step(self, turn: float) -> None:
        """F_(k+1) in the place of F_k, one product more; what is told of residuals is F_k's."""

    @abstractmethod
    def cut_below_zero(self) -> None: ...

    def until(self, n_iter: int, tol: float, closest: float = 0.0) -> bool:
        """As for conjugate gradients, scores that are still below 0 are cut off and a plain step follows.

        False if that would have to be solved to a tolerance below ``closest``.
        """
        share = tol
        while True:
            self._solve(share, n_iter - 1 - self.products)
            self.cut_below_zero()
            self.step(1.0)
            if self._changes_less(tol):
                return True
            share /= 10
            if share < closest:
                return False
            if self.products >= n_iter - 1:
                warn_unconverged("label propagation", n_iter, tol)
                return True

    def _solve(self, share: float, most: int) -> None:
        """Up to so many steps."""
        turns = _turns(self.alpha)
        if not self.products:
            next(turns)  # the first F is a step from 0 already
        for turn in itertools.islice(turns, most):
            self.step(turn)
            if self._is_solved(share):
                return

    def _changes_less(self, share: float) -> bool:
        """Whether the plain step changed no column by more than that share of its sum."""
        change, size, _ = self._sums
        return bool(np.all(change <= share * size))

    def _is_solved(self, share: float) -> bool:
        """That, and no column's residual is longer than that share of its right-hand side."""
        return self._changes_less(share) and bool(np.all(self._sums[2] <= share**2 * self._right))


class _Here(Spreading):
    """In memory, in the order of S, held as Z = D^(−1/2)·F, in double or in single precision.

    Z and the one before it are two halves of one array, which in single precision has room for the result in
    double.
    """

    def __init__(
        self, S: SymmetrizedOperator, labels: LabelRows, order: Int | None, alpha: float, dtype: type
    ) -> None:
        super().__init__(alpha, np.einsum("ij,ij->j", labels.values, labels.values))
        self._row = labels.by_place(order)
        self._given: NDArray[Any] = labels.values.astype(dtype, copy=False)
        if S.has_stepper:
            self._step, self._scale = S.stepper(alpha)
        else:
            self._step, self._scale = _plain_stepper(S, alpha), np.ones(S.shape[0])
        shape = (labels.n_points, labels.values.shape[1])
        self._both: NDArray[Any] = np.zeros((2, *shape), dtype)
        self._Z, self._before = self._both
        self._threads = threads_for(self._Z, jobs_of(S))
        places = np.flatnonzero(self._row >= 0)
        self._Z[places] = (1 - alpha) * self._scale[places, None] * labels.values[self._row[places]]

    def step(self, turn: float) -> None:
        self._step(self._Z, self._before, self._row, self._given, 1 - self.alpha, turn, self._sums)
        self._Z, self._before = self._before, self._Z
        self.products += 1

    def cut_below_zero(self) -> None:
        _core.cut_below_zero(self._Z, self._threads)

    @property
    def reaches_everyone(self) -> bool:
        """Whether every point has a score that is no rounding of 0."""
        slices = (self._Z[first : first + _ROWS] for first in range(0, len(self._Z), _ROWS))
        return all(bool((part.max(axis=1) > _FAINT).all()) for part in slices)

    def scores(self, order: Int | None) -> Float:
        """F in the points' own order and in double, in memory that is there."""
        if order is None:
            order = np.arange(len(self._Z), dtype=np.int32)
        _core.put_rows(self._Z, order, 1 / self._scale, self._before, self._threads)
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


def spread_by_steps(
    S: SymmetrizedOperator, order: Int | None, labels: LabelRows, alpha: float, n_iter: int, tol: float
) -> tuple[Float, int]:  # (N, k), products
    """The fixed point of label spreading in the points' own order, S being in ``order``; α ≤ ``LARGEST``."""
    if S.has_stepper and labels.n_points * labels.values.shape[1] >= SINGLE and tol >= 2 * _CLOSEST:
        found = _spread_in_single(S, order, labels, alpha, n_iter, tol)
        if found is not None:
            return found
    work = _Here(S, labels, order, alpha, np.float64)
    work.until(n_iter, tol)
    return work.scores(order), work.products


def _spread_in_single(
    S: SymmetrizedOperator, order: Int | None, labels: LabelRows, alpha: float, n_iter: int, tol: float
) -> tuple[Float, int] | None:
    """The same in single precision, scaled by a power of 2, which rounds nothing; None if it fails."""
    power = _TOP - int(np.frexp(np.abs(labels.values).max(initial=0.0))[1])
    scaled = LabelRows(labels.points, np.ldexp(labels.values, power), labels.n_points)
    work = _Here(S, scaled, order, alpha, np.float32)
    if not (work.until(n_iter, tol, _CLOSEST) and work.reaches_everyone):
        return None
    F = work.scores(order)
    for first in range(0, len(F), _ROWS):
        part = F[first : first + _ROWS]
        np.ldexp(part, -power, out=part)
    return F, work.products
