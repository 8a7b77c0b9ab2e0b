"""Matrices in: Matrix Market, svmlight, SciPy's and NumPy's files; rows are documents."""

from __future__ import annotations

import gzip
import sys
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..._support import memory
from ..._support.arrays import UNREADABLE, ArraysByName, Float, LabelArray
from ..._support.sparse import Points, is_sparse
from ...lifting import check_readable
from .encoding import TooLargeError, open_bytes
from .market import parse_market

SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".feat", ".dat")
CSR_KEYS = {"data", "indices", "indptr", "shape"}
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, KeyError)


@dataclass(frozen=True)
class Matrix:
    """The points, and what else the file knows of each row (labels, ids) by name."""

    X: Points
    fields: dict[str, list[str]] = field(default_factory=dict)


def read_matrix(path: Path, suffix: str) -> Matrix:
    """Finite numbers, a NumPy array or a CSR array, by the ending of the name."""
    if suffix == ".mtx":
        matrix = Matrix(_read_market(path))
    elif suffix == ".npz":
        matrix = _read_npz(path)
    elif suffix == ".npy":
        matrix = Matrix(_read_npy(path))
    else:
        matrix = _read_svmlight(path)
    _check(path, matrix.X)
    try:
        return Matrix(_as_floats(matrix.X), matrix.fields)
    except (ValueError, RuntimeError) as error:
        raise _damaged(path, "a matrix", error) from error


# -- text formats --------------------------------------------------------------------------------------------


def _read_market(path: Path) -> Points:
    try:
        with open_bytes(path) as file:
            return parse_market(file.read())
    except TooLargeError:
        raise
    except (ValueError, *DAMAGE) as error:
        raise _damaged(path, "a Matrix Market file", error) from error


def _read_svmlight(path: Path) -> Matrix:
    """Points of "label index:value …" lines; the labels are the field "target", as they were written.

    Indices are columns from 0 whatever the file: one that counts from 1 has an empty first column. A guess
    from the least index would move the columns of a file in which the first feature does not occur.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        with open_bytes(path) as file:  # counted while it is unpacked
            X, _ = load_svmlight_file(file, zero_based=True)
    except TooLargeError:
        raise
    except DAMAGE as error:
        raise _damaged(path, "an svmlight file", error) from error
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{path}{_wrong_line(path)}; a line is: label index:value …") from error
    targets = _targets(path)
    if len(targets) != X.shape[0]:
        raise ValueError(f"{path} is not an svmlight file: {len(targets)} labels for {X.shape[0]} rows")
    return Matrix(sparse.csr_array(X), {"target": targets})


def _wrong_line(path: Path) -> str:
    """The first line that is not svmlight, after a comma, or what there is to say without one."""
    with open_bytes(path) as file:
        for line, text in enumerate(file, 1):
            label, *pairs = text.split(b"#", 1)[0].split() or [b"0"]
            try:
                float(label)
                for pair in pairs:
                    index, value = pair.split(b":")
                    _ = index == b"qid" or int(index), float(value)
            except ValueError:
                shown = text[:30].decode("ascii", "replace").strip()
                return f", line {line} is not svmlight: {shown!r}"
    return " is not an svmlight file: its indices need to rise within a line"


def _targets(path: Path) -> list[str]:
    with open_bytes(path) as file:
        starts = (line.split(b"#", 1)[0].split(None, 1) for line in file)
        return [start[0].decode("ascii") for start in starts if start]


# -- NumPy's formats -----------------------------------------------------------------------------------------


def _read_npy(path: Path) -> Float:
    array = load_arrays(path, "an array in NumPy's format")
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path} holds several arrays: give it a name that ends in .npz")
    return array


def load_arrays(path: Path, kind: str) -> Any:
    """What ``numpy.load`` reads, an array or a dict of arrays, never a pickle."""
    try:
        with open(path, "rb") as file:  # NumPy leaves a file open that it cannot read
            stored = np.load(file, allow_pickle=False)
            if isinstance(stored, np.ndarray):
                return stored
            with stored:
                unpacked = sum(member.file_size for member in stored.zip.infolist())
                memory.require(unpacked, f"{path} unpacked")
                return {name: stored[name] for name in stored.files}
    except (ValueError, *DAMAGE, *UNREADABLE) as error:
        raise _damaged(path, kind, error) from error


def _damaged(path: Path, kind: str, error: Exception) -> ValueError:
    reason = "no format header, or Python objects" if "pickle" in str(error) else str(error).split("\n")[0]
    return ValueError(f"{path} is not {kind}, or is damaged or truncated ({reason}); write it again")


def _read_npz(path: Path) -> Matrix:
    """A matrix that SciPy saved, or the arrays data, indices, indptr and shape, or one array of 2 dimensions.

    Any other array with one entry for each row is a field. Where ``class_names`` is there, the numbers in
    ``labels`` stand for those names, and a number without a name (-1) for no label.
    """
    kind = "a matrix in SciPy's or NumPy's format"
    arrays = load_arrays(path, kind)
    arrays = {"X": arrays} if isinstance(arrays, np.ndarray) else arrays
    try:
        X = _points(path, arrays)
    except (ValueError, TypeError, AttributeError, IndexError, KeyError, *UNREADABLE) as error:
        raise _damaged(path, kind, error) from error
    rows = {name: array for name, array in arrays.items() if array.shape == X.shape[:1]}
    fields = {name: as_strings(path, array) for name, array in rows.items() if name not in CSR_KEYS}
    if "labels" in rows and "class_names" in arrays and rows["labels"].dtype.kind in "iu":
        names = dict(enumerate(as_strings(path, arrays["class_names"])))
        fields["labels"] = [names.get(label, "") for label in rows["labels"].tolist()]
    return Matrix(X, fields)


def as_strings(path: Path, array: LabelArray) -> list[str]:
    """Entries as strings, NaN as the blank."""
    try:
        values = array.astype(str) if array.dtype.kind == "S" else array
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} holds strings that are no text ({error})") from error
    if values.dtype.kind == "U" and values.size:
        letters = np.array(values, values.dtype.newbyteorder("=")).view(np.uint32)
        if letters.max(initial=0) > sys.maxunicode:
            raise ValueError(f"{path} holds strings that are no text ({letters.max():#x} is no letter)")
    return ["" if value != value else str(value) for value in values.tolist()]


def _points(path: Path, arrays: ArraysByName) -> Points:
    if "format" in arrays:
        stored = sparse.load_npz(path)
        check_readable(stored)  # before SciPy converts it
        X = sparse.csr_array(stored)
        X.check_format(full_check=True)
        return X
    if arrays.keys() >= CSR_KEYS:
        shape = tuple(arrays["shape"].tolist())
        wide = np.int32 if max(*shape, arrays["data"].size) < 2**31 else np.int64
        indices, indptr = arrays["indices"].astype(wide), arrays["indptr"].astype(wide)
        X = sparse.csr_array((arrays["data"], indices, indptr), shape=shape)
        X.check_format(full_check=True)
        return X
    flat = [array for array in arrays.values() if array.ndim == 2]
    if len(flat) != 1:
        raise ValueError(f"it holds {', '.join(arrays) or 'nothing'}, not data, indices, indptr and shape")
    return flat[0]


# -- every matrix --------------------------------------------------------------------------------------------


def _check(path: Path, X: Points) -> None:
    """Two dimensions, real and finite numbers; or an error that names the row and the column, from 1."""
    if X.ndim != 2:
        raise ValueError(f"{path} needs 2 dimensions, documents × features; its shape is {X.shape}")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path} needs real numbers; its type is {X.dtype}")
    if 0 in X.shape:
        raise ValueError(f"{path} needs a row for each document and a feature; its shape is {X.shape}")
    values = X.data if is_sparse(X) else X
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        entries = X.tocoo() if is_sparse(X) else None
        at = np.flatnonzero(~np.isfinite(values.ravel()))[0]
        row, column = divmod(at, X.shape[1]) if entries is None else (entries.row[at], entries.col[at])
        value = values.ravel()[at]
        raise ValueError(
            f"{path}, row {row + 1}, column {column + 1} needs a finite number (fill it in, or leave the row "
            f"out); it holds {value}"
        )


def _as_floats(X: Points) -> Points:
    """float64, because sums in small integers overflow; a dense float32 stays."""
    if X.dtype == np.float32 and not is_sparse(X):
        return X
    return X.astype(np.float64, copy=False)
