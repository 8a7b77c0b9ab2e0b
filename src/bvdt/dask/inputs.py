"""What is taken as X or y: Dask arrays and DataFrames, and arrays; out come slabs and their lengths."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._support.sparse import Points, PointsLike, is_sparse
from ..lifting import Views
from ..sharded import Executor, Source
from ..sharded.executors import Reference
from .executor import DaskExecutor

if TYPE_CHECKING:
    import dask.array as da
    import dask.dataframe as dd
    from dask.delayed import Delayed
    from typing_extensions import TypeIs

# Mypy does not follow Dask, which is typed in part.
DaskArray: TypeAlias = "da.Array"
Collection: TypeAlias = "da.Array | dd.DataFrame | dd.Series"
_SLAB = 1 << 23  # values of an array that are read at once


@dataclass(frozen=True, eq=False)
class Slabs:
    """Rows in several places, in order."""

    parts: list[Reference]
    lengths: list[int]
    width: float | None  # stored numbers per row; None where only the survey will tell


def is_dask(X: object) -> TypeIs[Collection]:
    """Whether it is one of Dask's collections."""
    return hasattr(X, "dask") and hasattr(X, "to_delayed")


def slabs_of(X: Collection | PointsLike, executor: Executor, name: str = "X") -> Slabs:
    """Slabs of a Dask array or DataFrame, or of an array (which may be mapped from a file)."""
    if not is_dask(X):
        return _array_slabs(X, executor, name)
    if hasattr(X, "npartitions") and not hasattr(X, "chunks"):
        return _frame_slabs(X, executor)
    if X.ndim != 2:
        raise ValueError(f"{name} needs 2 dimensions, points × features; its shape is {X.shape}")
    _check_known(X, name)
    X = X.rechunk({1: -1})
    parts = _references(X.to_delayed().ravel().tolist(), executor)
    dense = isinstance(getattr(X, "_meta", None), np.ndarray)
    return Slabs(parts, [int(n) for n in X.chunks[0]], float(X.shape[1]) if dense else None)


def labels_of(y: Collection | ArrayLike, lengths: Sequence[int], executor: Executor) -> list[Reference]:
    """The labels, slab by slab as X's rows."""
    n_points = sum(lengths)
    if is_dask(y) and not hasattr(y, "chunks"):
        y = y.to_dask_array(lengths=True)
    if is_dask(y):
        _check_known(y, "y")
    elif not hasattr(y, "dtype") or y.dtype.kind not in "biufUSO":
        y = np.asarray(y)
    assert hasattr(y, "shape")
    if y.shape != (n_points,):
        raise ValueError(f"y needs {n_points} labels, one per point; its shape is {tuple(y.shape)}")
    if is_dask(y):
        return _references(y.rechunk((tuple(lengths),)).to_delayed().ravel().tolist(), executor)
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    return np.split(np.asarray(y), np.cumsum(lengths)[:-1])


def columns_of(V: DaskArray, lengths: Sequence[int], executor: Executor) -> list[Reference]:
    """A Dask array of columns (N, k), slab by slab as X's rows."""
    _check_known(V, "v")
    n_points = sum(lengths)
    if V.shape[0] != n_points or V.ndim > 2:
        raise ValueError(f"v needs {n_points} rows, one per point; its shape is {tuple(V.shape)}")
    V = V[:, None] if V.ndim == 1 else V
    return _references(V.rechunk((tuple(lengths), (V.shape[1],))).to_delayed().ravel().tolist(), executor)


def _check_known(X: DaskArray, name: str) -> None:
    if any(np.isnan(n) for sizes in X.chunks for n in sizes):
        raise ValueError(
            f"{name} needs parts of known size; its chunks are {X.chunks[0][:3]}… "
            f"({name}.compute_chunk_sizes() finds them)"
        )


def _references(delayed: list[Delayed], executor: Executor) -> list[Reference]:
    """Futures on the cluster; without one, what is computed whenever it is needed."""
    if isinstance(executor, DaskExecutor):
        return list(executor.client.compute(delayed))
    return [Source(_computed, (item,)) for item in delayed]


def _computed(item: Delayed) -> object:
    return item.compute(scheduler="synchronous")


def _frame_slabs(X: Collection, executor: Executor) -> Slabs:
    kinds = [str(kind) for kind in X.dtypes if kind.kind not in "biuf"]
    if kinds:
        column = next(name for name, kind in X.dtypes.items() if kind.kind not in "biuf")
        raise TypeError(f"X needs columns of numbers; column {column!r} has type {X.dtypes[column]}")
    parts = _references(list(X.to_delayed()), executor)
    lengths = executor.gather(executor.map("lengths", len, parts))
    return Slabs(parts, lengths, float(len(X.columns)))


def _array_slabs(X: PointsLike, executor: Executor, name: str) -> Slabs:
    if isinstance(X, Views):
        raise ValueError("bvdt.dask takes one matrix; bvdt.LabelPropagation takes Views")
    if not (is_sparse(X) or isinstance(X, np.ndarray)):
        X = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"{name} needs 2 dimensions, points × features; its shape is {X.shape}")
    X = X.tocsr() if is_sparse(X) else X
    width = -(-X.nnz // max(X.shape[0], 1)) if is_sparse(X) else X.shape[1]
    step = max(1, _SLAB // max(width, 1))
    firsts = range(0, max(X.shape[0], 1), step)
    lengths = [min(step, X.shape[0] - first) for first in firsts]
    if isinstance(executor, DaskExecutor):
        parts: list[Reference] = executor.map(
            "slabs",
            np.asarray if not is_sparse(X) else _same,
            [X[first : first + step] for first in firsts],
        )
        return Slabs(parts, lengths, float(width))
    return Slabs([Source(_rows, (X, first, first + step)) for first in firsts], lengths, float(width))


def _same(X: Points) -> Points:
    return X


def _rows(X: Points, first: int, last: int) -> Points:
    """Rows of an array; of one mapped from a file a copy, after which its pages leave this process."""
    mapped = _mapping(X)
    if mapped is None:
        return X[first:last]
    rows = np.array(X[first:last])
    mapped.madvise(mmap.MADV_DONTNEED)
    return rows


def _mapping(X: object) -> mmap.mmap | None:
    """What an array is mapped by; None where it is not, or where pages hold changes of their own."""
    while X is not None and not isinstance(X, mmap.mmap):
        if isinstance(X, np.memmap) and X.mode == "c":
            return None
        X = getattr(X, "base", None)
    return X if hasattr(mmap, "MADV_DONTNEED") else None
