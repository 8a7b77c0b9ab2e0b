"""Matrices in: Matrix Market, svmlight, SciPy's and NumPy's files; rows are documents."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".feat", ".dat")
CSR_KEYS = {"data", "indices", "indptr", "shape"}
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, KeyError)


@dataclass(frozen=True)
class Matrix:
    """The points, and what else the file knows of each row (labels, ids) by name."""

    X: Any
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
    return matrix


# -- text formats --------------------------------------------------------------------------------------------


def _read_market(path: Path) -> Any:
    from scipy.io import mmread

    try:
        X = mmread(path)
    except (ValueError, OverflowError, *DAMAGE) as error:
        raise ValueError(f"{path} is not a Matrix Market file, or is truncated ({error})") from error
    return sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)


def _read_svmlight(path: Path) -> Matrix:
    """Points of "label index:value …" lines; the labels are the field "target", as they were written."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, _ = load_svmlight_file(str(path))
    except (ValueError, OverflowError, *DAMAGE) as error:
        raise ValueError(
            f"{path} is not an svmlight file ({error}); a line is: label index:value …"
        ) from error
    return Matrix(sparse.csr_array(X), {"target": _targets(path)})


def _targets(path: Path) -> list[str]:
    from .encoding import open_bytes

    with open_bytes(path) as file:
        starts = (line.split(b"#", 1)[0].split(None, 1) for line in file)
        return [start[0].decode("ascii") for start in starts if start]


# -- NumPy's formats -----------------------------------------------------------------------------------------


def _read_npy(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, *DAMAGE) as error:
        raise ValueError(
            f"{path} is not an array of numbers in NumPy's format, or is truncated ({error})"
        ) from error


def _read_npz(path: Path) -> Matrix:
    """A matrix that SciPy saved, or the arrays data, indices, indptr and shape, or one array of 2 dimensions.

    Any other array with one entry for each row is a field. Where ``class_names`` is there, the numbers in
    ``labels`` stand for those names, and a number without a name (-1) for no label.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        X = _points(path, arrays)
    except (ValueError, TypeError, AttributeError, OSError, *DAMAGE) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(
            f"{path} is not a matrix in SciPy's or NumPy's format, or is damaged ({error})"
        ) from error
    rows = {
        name: array for name, array in arrays.items() if array.shape == X.shape[:1] and name not in CSR_KEYS
    }
    fields = {name: [str(value) for value in array.tolist()] for name, array in rows.items()}
    if "labels" in rows and "class_names" in arrays and rows["labels"].dtype.kind in "iu":
        names = dict(enumerate(arrays["class_names"].astype(str).tolist()))
        fields["labels"] = [names.get(label, "") for label in rows["labels"].tolist()]
    return Matrix(X, fields)


def _points(path: Path, arrays: dict[str, Any]) -> Any:
    if "format" in arrays:
        return sparse.csr_array(sparse.load_npz(path))
    if arrays.keys() >= CSR_KEYS:
        indices, indptr = arrays["indices"].astype(np.int32), arrays["indptr"].astype(np.int64)
        X = sparse.csr_array((arrays["data"], indices, indptr), shape=tuple(arrays["shape"].tolist()))
        X.check_format()
        return X
    flat = [array for array in arrays.values() if array.ndim == 2]
    if len(flat) != 1:
        raise ValueError(f"it holds {', '.join(arrays) or 'nothing'}, not data, indices, indptr and shape")
    return flat[0]


# -- every matrix --------------------------------------------------------------------------------------------


def _check(path: Path, X: Any) -> None:
    """Two dimensions, real and finite numbers; or an error that names the row and the column, from 1."""
    if X.ndim != 2:
        raise ValueError(f"{path} needs 2 dimensions, documents × features; its shape is {X.shape}")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path} needs real numbers; its type is {X.dtype}")
    if 0 in X.shape:
        raise ValueError(f"{path} needs a row for each document and a feature; its shape is {X.shape}")
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        entries = X.tocoo() if sparse.issparse(X) else None
        at = np.flatnonzero(~np.isfinite(values.ravel()))[0]
        row, column = divmod(at, X.shape[1]) if entries is None else (entries.row[at], entries.col[at])
        value = values.ravel()[at]
        raise ValueError(
            f"{path}, row {row + 1}, column {column + 1} needs a finite number (fill it in, or leave the row "
            f"out); it holds {value}"
        )
