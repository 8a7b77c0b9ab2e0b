"""Parsers of the data sets' original files: contents of the files in, counts and labels out."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bvdt._support.arrays import ArraysByName, Integers

__all__ = ["Parsed", "parse_bbc", "parse_imdb", "parse_newsgroups"]

Files = Mapping[str, bytes]
Parsed = tuple[sparse.csr_array, NDArray[np.intp], list[str], ArraysByName]  # X, labels, names, extra


def parse_bbc(files: Files, stem: str) -> Parsed:
    """BBC and BBC-Sport: ``stem``.mtx (Matrix Market, terms × documents), .terms, .docs and .classes."""
    matrix = _matrix_market(files[f"{stem}.mtx"], f"{stem}.mtx")
    for suffix, n in (("terms", matrix.shape[0]), ("docs", matrix.shape[1])):
        _check_lines(files[f"{stem}.{suffix}"], f"{stem}.{suffix}", n, f"{stem}.mtx")
    labels, class_names = _classes(files[f"{stem}.classes"], f"{stem}.classes", matrix.shape[1])
    return sparse.csr_array(matrix.T), labels, class_names, {}


def parse_newsgroups(files: Files, n_terms: int) -> Parsed:
    """20 Newsgroups for Matlab: train.data ("document term count", from 1), train.label, train.map.

    The vocabulary, published apart, has ``n_terms`` words; not all of them occur in the training split.
    """
    labels = _table(files["train.label"], "train.label", 1)[:, 0]
    class_names = _map(files["train.map"], "train.map")
    _check_range(labels, 1, len(class_names), "train.label", "class")
    rows, columns, counts = _table(files["train.data"], "train.data", 3).T
    _check_range(rows, 1, len(labels), "train.data", "document")
    _check_range(columns, 1, n_terms, "train.data", "term")
    X = _counts(counts, rows - 1, columns - 1, (len(labels), n_terms), "train.data")
    return X, labels - 1, class_names, {}


def parse_imdb(files: Files) -> Parsed:
    """Large Movie Reviews: train/ and test/labeledBow.feat ("rating term:count …", from 0), imdb.vocab.

    A rating of 7 and more is positive, the rest negative: the set has none of 5 and 6.
    """
    n_terms = len(files["imdb.vocab"].splitlines())
    parts = [_bags(files[name], name, n_terms) for name in ("train/labeledBow.feat", "test/labeledBow.feat")]
    X = sparse.csr_array(sparse.vstack([part[0] for part in parts], format="csr"))
    rating = np.concatenate([part[1] for part in parts])
    is_test = np.repeat([False, True], [len(part[1]) for part in parts])
    return X, (rating >= 7).astype(np.intp), ["neg", "pos"], {"rating": rating, "is_test": is_test}


# -- Matrix Market and its companions ------------------------------------------------------------------------


def _matrix_market(content: bytes, name: str) -> sparse.csr_array:
    header, _, rest = content.partition(b"\n")
    words = header.decode("latin-1").lower().split()
    if words[:3] != ["%%matrixmarket", "matrix", "coordinate"] or words[3:] not in (
        ["real", "general"],
        ["integer", "general"],
    ):
        raise ValueError(
            f"{name} needs the header '%%MatrixMarket matrix coordinate real general'; {words!r}"
        )
    while rest.startswith(b"%"):
        rest = rest.partition(b"\n")[2]
    sizes, _, body = rest.partition(b"\n")
    n_rows, n_columns, n_entries = _table(sizes, f"{name}, line of sizes", 3)[0]
    entries = _table(body, name, 3) if body.strip() else np.empty((0, 3), dtype=np.intp)
    if len(entries) != n_entries:
        raise ValueError(f"{name} needs the {n_entries} entries its header declares; it has {len(entries)}")
    rows, columns, values = entries.T
    _check_range(rows, 1, n_rows, name, "row")
    _check_range(columns, 1, n_columns, name, "column")
    return _counts(values, rows - 1, columns - 1, (int(n_rows), int(n_columns)), name)


def _classes(content: bytes, name: str, n_documents: int) -> tuple[NDArray[np.intp], list[str]]:
    lines = content.decode("utf-8").splitlines()
    heads = [line.split(maxsplit=2) for line in lines if line.startswith("%Clusters")]
    if len(heads) != 1 or len(heads[0]) != 3:
        raise ValueError(f"{name} needs one line '%Clusters NUMBER NAME,NAME,…'; it has {len(heads)}")
    class_names = [word.strip() for word in heads[0][2].split(",")]
    if heads[0][1] != str(len(class_names)):
        raise ValueError(f"{name} declares {heads[0][1]} classes and names {len(class_names)}")
    body = "\n".join(line for line in lines if not line.startswith("%"))
    documents, classes = _table(body.encode(), name, 2).T
    if not np.array_equal(np.sort(documents), np.arange(n_documents)):
        raise ValueError(
            f"{name} needs each document from 0 to {n_documents - 1} once; it has {len(documents)}"
        )
    _check_range(classes, 0, len(class_names) - 1, name, "class")
    labels = np.empty(n_documents, dtype=np.intp)
    labels[documents] = classes
    return labels, class_names


def _map(content: bytes, name: str) -> list[str]:
    pairs = [line.split() for line in content.decode("utf-8").splitlines() if line.strip()]
    numbers = {pair[1]: pair[0] for pair in pairs if len(pair) == 2}
    wanted = [str(k + 1) for k in range(len(pairs))]
    if set(numbers) != set(wanted):
        raise ValueError(f"{name} needs lines 'NAME NUMBER' with the numbers 1 to {len(pairs)}, each once")
    return [numbers[k] for k in wanted]


# -- bags of words -------------------------------------------------------------------------------------------


def _bags(content: bytes, name: str, n_terms: int) -> tuple[sparse.csr_array, NDArray[np.intp]]:
    ratings, sizes, parts = [], [], []
    for number, line in enumerate(content.splitlines(), start=1):
        n_pairs = line.count(b":")
        try:
            values = np.array(line.replace(b":", b" ").split(), dtype="S").astype(np.intp)
        except (ValueError, OverflowError):
            values = np.empty(0, dtype=np.intp)
        if len(values) != 1 + 2 * n_pairs or len(line.split()) != 1 + n_pairs:
            raise ValueError(
                f"{name} needs 'rating term:count …' in each line; line {number} is {line[:40]!r}"
            )
        ratings.append(values[0])
        sizes.append(n_pairs)
        parts.append(values[1:].reshape(-1, 2))
    if not ratings:
        raise ValueError(f"{name} is empty")
    pairs, rating = np.concatenate(parts), np.array(ratings, dtype=np.intp)
    _check_range(rating, 1, 10, name, "rating")
    _check_range(pairs[:, 0], 0, n_terms - 1, name, "term")
    rows = np.repeat(np.arange(len(sizes)), sizes)
    return _counts(pairs[:, 1], rows, pairs[:, 0], (len(sizes), n_terms), name), rating


# -- tables of numbers ---------------------------------------------------------------------------------------


def _table(content: bytes, name: str, n_columns: int) -> NDArray[np.intp]:
    """A file of whole numbers, ``n_columns`` a line."""
    if not content.strip():
        raise ValueError(f"{name} is empty")
    try:
        table = np.loadtxt(io.BytesIO(content), dtype=float, ndmin=2, comments=None, encoding="latin-1")
    except ValueError as error:
        raise ValueError(f"{name} needs {n_columns} numbers per line; {error}") from error
    if table.shape[1] != n_columns:
        raise ValueError(f"{name} needs {n_columns} numbers per line; it has {table.shape[1]}")
    whole = np.isfinite(table) & (table == np.rint(table)) & (np.abs(table) < 2**53)
    if not whole.all():
        row, column = np.argwhere(~whole)[0]
        raise ValueError(
            f"{name} needs whole numbers; number {column + 1} of row {row + 1} is {table[row, column]}"
        )
    return table.astype(np.intp)


def _counts(
    values: NDArray[np.number], rows: Integers, columns: Integers, shape: tuple[int, int], name: str
) -> sparse.csr_array:
    if len(values) and values.min() < 1:
        raise ValueError(f"{name} needs counts >= 1; it has {values.min()}")
    X = sparse.coo_array((values.astype(float), (rows, columns)), shape=shape).tocsr()
    if X.nnz != len(values):
        raise ValueError(f"{name} names an entry twice: {len(values)} entries in {X.nnz} places")
    X.sort_indices()
    return sparse.csr_array(X)


def _check_range(values: NDArray[np.number], low: int, high: int, name: str, what: str) -> None:
    outside = np.flatnonzero((values < low) | (values > high))
    if len(outside):
        raise ValueError(
            f"{name} needs each {what} from {low} to {high}; entry {outside[0] + 1} is {values[outside[0]]}"
        )


def _check_lines(content: bytes, name: str, n: int, other: str) -> None:
    lines = len(content.splitlines())
    if lines != n:
        raise ValueError(f"{name} needs {n} lines, as many as {other} says; it has {lines}")
