"""Features as the linear experts take them, and their products with many columns on several threads.

Sparse rows are scaled to length 1, which leaves tf-idf rows as they are and takes a document's length out of
counts; dense columns are standardised and divided by √d, so that a row's mean squared length is 1. The
experts' constants, measured on tf-idf rows of length 1, then fit both.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._support.arrays import Float, Single
from .._support.mixed import Mixed, side_by_side
from .._support.robust import ordinary_range
from .._support.running import n_threads
from .._support.sparse import CSR, Points, is_sparse, sparse_times
from ..lifting import Lifted, Views, ViewsLifting, middle_rows, shifted

_BATCH = 1 << 18  # values per task: large beside a task's start, and the same whatever the number of threads
Rows: TypeAlias = Single | CSR | Mixed  # (n, d) in single precision
_Part: TypeAlias = tuple[int, Single]  # first row, rows
Result = TypeVar("Result")
_FARTHEST = 10.0  # deviations that a value counts as at most: students learn from all rows, far ones too


@dataclass(frozen=True, eq=False)
class FeatureScale:
    """What was learnt from the features of a fit; ``mean`` and ``scale`` are None where none are dense."""

    mean: Float | None = None  # (d,) of dense columns
    scale: Float | None = None  # (d,) to multiply by
    names: tuple[str, ...] = ()  # of the views that the features are; none for one matrix

    @classmethod
    def of(cls, X: Points | Views) -> FeatureScale:
        """Of (N, d) rows, dense or sparse, or of views, each of which has rows of mean squared length 1."""
        blocks = X.blocks.values() if isinstance(X, Views) else [X]
        names = tuple(X.names) if isinstance(X, Views) else ()
        learned = [_standard(block) for block in blocks if not is_sparse(block)]
        if not learned:
            return cls(names=names)
        mean, scale = (np.concatenate(part) for part in zip(*learned, strict=True))
        return cls(mean, scale, names)

    def rows(self, X: Points | Views) -> Rows:  # (n, d) -> (n, d) float32: CSR, array or mixed
        """Rows as the experts take them; of views dense columns first where there are both."""
        if not isinstance(X, Views):
            return _unit_rows(X) if self.mean is None else self._standardized(X)
        blocks = [X.blocks[name] for name in self.names]
        dense = [block for block in blocks if not is_sparse(block)]
        parts: list[Rows] = [self._standardized(np.hstack(dense))] if dense else []
        return cast(Rows, side_by_side(parts + [_unit_rows(block) for block in blocks if is_sparse(block)]))

    def _standardized(self, X: Points) -> Single:
        assert self.mean is not None
        assert self.scale is not None
        X = X.toarray() if is_sparse(X) else np.ascontiguousarray(X, np.float64)
        with np.errstate(over="ignore"):
            return np.clip((X - self.mean) * self.scale, -_FARTHEST, _FARTHEST).astype(np.float32)


def _standard(X: Points) -> tuple[Float, Float]:  # (N, d) -> (d,) ×2
    """Mean of each column and what it is multiplied by, for rows of mean squared length 1."""
    X = np.ascontiguousarray(X, np.float64)  # sums of the same order for every layout
    low, high = ordinary_range(X[middle_rows(len(X))])
    if (X.min(axis=0) < low).any() or (X.max(axis=0) > high).any():  # a far row would hide the others
        X = np.clip(X, low, high)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    rounding = 10 * np.finfo(float).eps * np.abs(X).max(axis=0, initial=0.0)
    varies = deviation > rounding  # a constant column has no information and would blow up rounding
    return mean, np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0) / np.sqrt(X.shape[1])


def _unit_rows(X: Points) -> CSR:
    """Sparse rows of length 1."""
    X = sparse.csr_array(X, dtype=np.float64)
    squares = np.zeros(X.shape[0])
    np.add.at(squares, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.data**2)
    length = np.sqrt(squares)
    near_one = np.abs(length - 1) < 1e-9  # tf-idf rows stay as they are, to the last bit
    factor = np.where(near_one, 1.0, 1.0 / np.where(length > 0, length, 1.0))
    data = (X.data * np.repeat(factor, np.diff(X.indptr))).astype(np.float32)
    return sparse.csr_array((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)


def rows_of_lifted(lifted: Lifted) -> Points | Views:  # (N, d), CSR or array
    """The data that were lifted: x = (x' − smoothing)/scale + offset, without the baseline where sparse."""
    lifting = lifted.lifting
    if lifting is None:
        raise ValueError(
            "a blend needs X or an operator that knows its data; this one's lifting is not stored"
        )
    if isinstance(lifting, ViewsLifting):
        rows = [rows_of_lifted(part) for part in lifting.split(lifted)]
        names = lifting.names or [f"part {k}" for k in range(len(rows))]
        return Views.of(dict(zip(names, rows, strict=True)))
    scale = np.broadcast_to(np.asarray(lifting.scale, np.float64), lifting.smoothing.shape)
    if lifted.is_sparse:
        X = lifted.X
        X = sparse.csr_array((X.data / scale[X.indices], X.indices, X.indptr), shape=X.shape)
        return X if lifting.offset is None else shifted(X, -lifting.offset)
    offset = 0.0 if lifting.offset is None else lifting.offset
    smoothing = lifting.smoothing if lifting.offset is None else 0.0
    return (lifted.X - smoothing) / scale + offset


class Table:
    """Rows T (n, d) float32, dense or CSR; ``times(V)`` is T·V, ``transposed(V)`` is Tᵀ·V.

    No result depends on the number of threads: dense work is cut into tasks that do not, and a sparse row's
    sum is one thread's.
    """

    T: Any  # Rows: which of them, ``is_sparse`` says

    def __init__(self, T: Rows, n_jobs: int | None = None) -> None:
        self.T = T
        self.n_jobs = n_jobs
        if is_sparse(T):
            self._turned = sparse.csr_array(T.T)
        else:
            step = max(1, _BATCH // max(T.shape[1], 1))
            self._parts: list[_Part] = [(i, self.T[i : i + step]) for i in range(0, T.shape[0], step)]

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.T.shape
        return int(n), int(d)

    def with_constant(self, points: NDArray[np.intp]) -> tuple[Table, NDArray[np.intp]]:
        """Rows of these points and a constant feature, and which features they use, the constant being d.

        The others' weights are 0 in a linear model of these rows.
        """
        X, d = self.T[points], self.shape[1]
        one = np.ones((X.shape[0], 1), np.float32)
        if not is_sparse(X):
            return Table(np.hstack([X, one]), self.n_jobs), np.arange(d + 1)
        used = np.unique(X.indices).astype(np.intp)
        X = sparse.csr_array(sparse.hstack([X[:, used], one]))
        return Table(X, self.n_jobs), np.append(used, d)

    @property
    def stored(self) -> Table:
        """The sparse features among these."""
        return self

    def on_columns(self, V: Single) -> Single:  # weights of the features -> of T's columns
        """The weights that new points' rows are multiplied by."""
        return V

    @property
    def is_sparse(self) -> bool:
        return is_sparse(self.T)

    def times(self, V: Single) -> Single:  # (d, m) -> (n, m)
        if self.is_sparse:
            return cast(Single, sparse_times(self.T, V, self.n_jobs))  # as both factors are
        product = np.empty((self.shape[0], V.shape[1]), np.result_type(self.T, V))

        def fill(part: _Part) -> None:
            first, rows = part
            product[first : first + len(rows)] = rows @ V

        self._run(fill)
        return product

    def transposed(self, V: Single) -> Single:  # (n, m) -> (d, m)
        if self.is_sparse:
            return cast(Single, sparse_times(self._turned, V, self.n_jobs))
        total = np.zeros((self.shape[1], V.shape[1]), np.result_type(self.T, V))
        for part in self._run(lambda p: p[1].T @ V[p[0] : p[0] + len(p[1])]):
            total += part
        return total

    def _run(self, task: Callable[[_Part], Result]) -> list[Result]:
        threads = min(n_threads(self.n_jobs), len(self._parts))
        if threads <= 1:
            return [task(part) for part in self._parts]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(task, self._parts))


class MixedTable(Table):
    """Dense features, then sparse ones: T·V and Tᵀ·V of both."""

    def __init__(self, dense: Table, stored: Table) -> None:
        self.dense, self._stored = dense, stored
        self.T = Mixed(dense.T, stored.T)

    @property
    def stored(self) -> Table:
        return self._stored

    @property
    def shape(self) -> tuple[int, int]:
        return self.dense.shape[0], self.dense.shape[1] + self._stored.shape[1]

    @property
    def is_sparse(self) -> bool:
        return False

    def times(self, V: Single) -> Single:  # (d, m) -> (n, m)
        p = self.dense.shape[1]
        return self.dense.times(np.ascontiguousarray(V[:p])) + self._stored.times(np.ascontiguousarray(V[p:]))

    def transposed(self, V: Single) -> Single:  # (n, m) -> (d, m)
        return np.vstack([self.dense.transposed(V), self._stored.transposed(V)])

    def with_constant(self, points: NDArray[np.intp]) -> tuple[Table, NDArray[np.intp]]:
        p = self.dense.shape[1]
        stored, used = self._stored.with_constant(points)
        return MixedTable(Table(self.dense.T[points], self.dense.n_jobs), stored), np.concatenate(
            [np.arange(p), used + p]
        )

    def on_columns(self, V: Single) -> Single:
        p = self.dense.shape[1]
        return np.concatenate([V[:p], self._stored.on_columns(V[p:])])


def column_squares(A: Single, B: Single) -> Single:  # (n, m) ×2 -> (m,)
    """Inner products of the columns; einsum, not @: no threads of its own."""
    return np.asarray(np.einsum("ij,ij->j", A, B))
