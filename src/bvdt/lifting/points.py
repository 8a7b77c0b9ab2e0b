"""A user's data as float64 points: a C-contiguous array or a canonical CSR array, every value finite."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._support.arrays import Float, Index, Mask
from .._support.sparse import CSR, Points, PointsLike, Sparse, is_sparse

_MOST = 1 << 24  # columns of which one array each may be made to find a wrong entry
Offence = Callable[[Float, Index], Mask]  # (values, their columns) -> which are wrong


def as_points(X: PointsLike, minimum: int = 2) -> Points:  # (N, d)
    """Validated float64 points; shares memory with X where no conversion is needed."""
    check_readable(X)
    points = _sparse_points(X) if is_sparse(X) else _dense_points(X)
    if points.shape[0] < minimum:
        raise ValueError(f"X needs at least {minimum} points; it has {points.shape[0]}")
    if points.shape[1] < 1:
        raise ValueError(f"X needs at least 1 feature; its shape is {points.shape}")
    values = points.data if is_sparse(points) else points
    if not _is_finite(values):
        hint = " (neither NaN nor inf)"
        refuse_entry(points, lambda v, _: ~np.isfinite(v), "X needs finite values", X, hint)
    return points


def _is_finite(values: Float) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()  # finite only if all values are; it may overflow where they are
    return bool(np.isfinite(total) or np.isfinite(values).all())


def check_readable(X: PointsLike) -> None:
    """Refuses what another library would read wrongly: masked values, invalid index arrays."""
    if is_sparse(X):
        _check_structure(X)
    elif np.ma.is_masked(X):
        i, j = (int(place[0]) for place in np.nonzero(np.atleast_2d(np.ma.getmaskarray(np.ma.asarray(X)))))
        raise ValueError(f"X needs every value, none masked; X[{i}, {j}] is (X.filled(value) fills them in)")


def _dense_points(X: ArrayLike) -> Float:
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"X needs rows of one length; {error}") from None
    if array.ndim != 2:
        raise ValueError(f"X needs 2 dimensions, points × features; its shape is {array.shape}")
    if array.dtype.kind not in "biuf":
        array = _numbers_from_objects(array)
    return np.ascontiguousarray(array, dtype=np.float64)


def _numbers_from_objects(array: NDArray[np.generic]) -> Float:
    """Object arrays may hold numbers; strings, dates and complex numbers are refused."""
    if array.dtype.kind != "O":
        first = array.flat[0].item() if array.size else array.dtype
        raise TypeError(f"X needs real numbers; X[0, 0] = {first!r} (dtype {array.dtype})")
    for (i, j), value in np.ndenumerate(array):
        if isinstance(value, str | bytes | complex):
            raise TypeError(f"X needs real numbers; X[{i}, {j}] = {value!r}")
        try:
            float(value)
        except (TypeError, ValueError):
            raise TypeError(f"X needs real numbers; X[{i}, {j}] = {value!r}") from None
    return array.astype(np.float64)


def _sparse_points(X: Sparse) -> CSR:
    if X.ndim != 2:
        raise ValueError(f"X needs 2 dimensions, points × features; its shape is {X.shape}")
    if X.dtype.kind not in "biuf":
        raise TypeError(f"X needs real numbers; its dtype is {X.dtype}")
    if X.format == "csr":
        csr = sparse.csr_array((X.data.astype(np.float64, copy=False), X.indices, X.indptr), shape=X.shape)
    elif X.format in ("csc", "bsr"):
        csr = sparse.csr_array(X.astype(np.float64))  # before duplicates are summed: small integers overflow
    else:
        coordinates = X.tocoo().astype(np.float64)
        _check_coordinates(coordinates)
        csr = sparse.csr_array(coordinates)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def _check_structure(X: Sparse) -> None:
    """ValueError naming the first place of X's index arrays that points outside it; O(nnz)."""
    if X.format == "coo":
        _check_coordinates(X)
    elif X.format in ("csr", "csc", "bsr"):
        _check_compressed(X)


def _check_coordinates(X: Sparse) -> None:
    for axis, places in enumerate(X.coords):
        if places.dtype.kind not in "iu":
            raise ValueError(f"X needs integers as coords[{axis}]; they are {places.dtype}")
        if places.shape != X.data.shape:
            raise ValueError(
                f"X needs as many coordinates as values, {X.data.shape}; coords[{axis}] has {places.shape}"
            )
        if places.size and not (places.min() >= 0 and places.max() < X.shape[axis]):
            at = int(np.argmax((places < 0) | (places >= X.shape[axis])))
            raise ValueError(
                f"X needs coordinates from 0 to {X.shape[axis] - 1}; coords[{axis}][{at}] = {places[at]}"
            )


def _check_compressed(X: Sparse) -> None:
    height, width = X.data.shape[1:] if X.format == "bsr" and X.data.ndim == 3 else (1, 1)
    if height < 1 or width < 1 or X.shape[0] % height or X.shape[1] % width:
        raise ValueError(f"X needs blocks that fill its shape {X.shape}; its data have shape {X.data.shape}")
    n_major, n_minor = X.shape[0] // height, X.shape[1] // width
    n_major, n_minor = (n_minor, n_major) if X.format == "csc" else (n_major, n_minor)
    plain = X.data.ndim == (3 if X.format == "bsr" else 1) and X.indices.shape == X.data.shape[:1]
    if X.indptr.shape != (n_major + 1,) or not plain:
        raise ValueError(
            f"X needs an indptr of {n_major + 1} entries, and indices as many as data; their shapes are "
            f"{X.indptr.shape}, {X.indices.shape} and {X.data.shape}"
        )
    for name in ("indptr", "indices"):
        if getattr(X, name).dtype not in (np.int32, np.int64):
            raise ValueError(f"X needs {name} of int32 or int64; they are {getattr(X, name).dtype}")
    falls = np.flatnonzero(X.indptr[1:] < X.indptr[:-1])  # not a difference: it could overflow
    if X.indptr[0] != 0 or falls.size or X.indptr[-1] > len(X.data):
        place = 0 if X.indptr[0] != 0 else int(falls[0]) + 1 if falls.size else n_major
        raise ValueError(
            f"X needs an indptr that ascends from 0 to at most {len(X.data)}, the stored values; "
            f"indptr[{place}] = {X.indptr[place]}"
        )
    indices = X.indices[: X.indptr[-1]]
    if indices.size and not (indices.min() >= 0 and indices.max() < n_minor):
        place = int(np.argmax((indices < 0) | (indices >= n_minor)))
        major = int(np.searchsorted(X.indptr, place, "right")) - 1
        raise ValueError(
            f"X needs indices from 0 to {n_minor - 1}; indices[{place}] = {indices[place]} "
            f"in {'column' if X.format == 'csc' else 'row'} {major}"
        )


def extremes(points: Points) -> tuple[float, float]:
    """Least and greatest value, counting the zeros that sparse points do not store."""
    if isinstance(points, np.ndarray):
        return float(points.min()), float(points.max())
    zero = [] if points.nnz == points.shape[0] * points.shape[1] else [0.0]
    ends = [float(end) for end in (points.data.min(), points.data.max())] if points.nnz else []
    return min(zero + ends), max(zero + ends)


def refuse_entry(
    points: Points,
    offends: Offence,
    requirement: str,
    X: PointsLike | None = None,
    hint: str = "",
    columns: Index | None = None,
) -> None:
    """ValueError that names the first entry, in row-major order, that offends; nothing when none does.

    ``columns`` are the data's own numbers of the points' columns, where these were renumbered.
    """
    entry = (
        _first_dense(points, offends) if isinstance(points, np.ndarray) else _first_sparse(points, offends)
    )
    if entry is None:
        return
    value = float(points[entry])
    if columns is not None:
        entry = entry[0], int(columns[entry[1]]) if entry[1] < len(columns) else entry[1]
    shown = str(int(value)) if np.isfinite(value) and value == int(value) else repr(value)
    names = getattr(X, "columns", None)
    column = "" if names is None else f" (column {names[entry[1]]!r})"
    raise ValueError(f"{requirement}; X[{entry[0]}, {entry[1]}] = {shown}{column}{hint}")


def _first_dense(points: Float, offends: Offence) -> tuple[int, int] | None:
    bad = offends(points, np.arange(points.shape[1]))
    row, column = divmod(int(np.argmax(bad)), points.shape[1])
    return (row, column) if bad[row, column] else None


def _first_sparse(points: CSR, offends: Offence) -> tuple[int, int] | None:
    """As for dense data: an entry that is not stored is a zero."""
    n_rows, n_columns = points.shape
    if n_columns > _MOST:
        return _first_stored(points, offends)
    zero_is_bad = offends(np.zeros(n_columns), np.arange(n_columns))
    row_of = np.repeat(np.arange(n_rows), np.diff(points.indptr))
    stored_bad = np.bincount(row_of, offends(points.data, points.indices), n_rows)
    covered = np.bincount(row_of, zero_is_bad[points.indices], n_rows)
    bad_rows = (stored_bad > 0) | (covered < zero_is_bad.sum())
    if not bad_rows.any():
        return None
    row = int(np.argmax(bad_rows))
    bad = offends(points[[row]].toarray()[0], np.arange(n_columns))
    return row, int(np.argmax(bad))


def _first_stored(points: CSR, offends: Offence) -> tuple[int, int] | None:
    """The first stored entry that offends, or else a zero of row 0: nothing of one value per column."""
    bad = offends(points.data, points.indices)
    if bad.any():
        at = int(np.argmax(bad))
        return int(np.searchsorted(points.indptr, at, "right")) - 1, int(points.indices[at])
    first = points.indices[: points.indptr[1]]
    gap = np.flatnonzero(first != np.arange(len(first)))
    column = int(gap[0]) if gap.size else len(first)
    return (0, column) if offends(np.zeros(1), np.array([column])).any() else None
