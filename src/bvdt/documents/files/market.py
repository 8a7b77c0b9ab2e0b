"""Matrix Market files. SciPy's reader ends the process on some damaged ones, so this is our own.

It is NumPy's parser of numbers with every line counted; about 12 MB a second.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

from ..._support import memory
from ..._support.arrays import Float, Index
from ..._support.sparse import Points

_KINDS = {"real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "pattern": 0, "complex": 2}  # numbers
_SIGNS = {"general": 0, "symmetric": 1, "skew-symmetric": -1, "hermitian": 1}  # of an entry's mirror image
_BLANKS = b" \t\r\n"


def parse_market(content: bytes) -> Points:
    """A CSR array or, of the layout "array", a NumPy array; a ValueError says what is wrong."""
    header, _, rest = content.partition(b"\n")
    layout, kind, symmetry = _header(header)
    if kind == "complex":
        return np.empty((0, 0), dtype=complex)  # its type is refused by name
    while rest.startswith((b"%", b"\n", b"\r")):
        rest = rest.partition(b"\n")[2]
    line, _, body = rest.partition(b"\n")
    sizes = _integers(_numbers(line), "line of sizes")
    if len(sizes) != (3 if layout == "coordinate" else 2) or sizes.min() < 0:
        raise ValueError(f"its line of sizes is {line[:40].decode('latin-1')!r}")
    shape = (int(sizes[0]), int(sizes[1]))
    if symmetry != "general" and shape[0] != shape[1]:
        raise ValueError(f"it is {symmetry}, but not square: {shape[0]} × {shape[1]}")
    if layout == "array":
        return _array(body, shape, symmetry)
    return _coordinates(body, shape, int(sizes[2]), _KINDS[kind], _SIGNS[symmetry])


def _header(line: bytes) -> tuple[str, str, str]:
    words = line.decode("latin-1").lower().split()
    known = ({"%%matrixmarket"}, {"matrix"}, {"coordinate", "array"}, _KINDS, _SIGNS)
    if len(words) != len(known) or any(word not in each for word, each in zip(words, known, strict=True)):
        raise ValueError(f"its first line is {line[:60].decode('latin-1')!r}")
    layout, kind, symmetry = words[2:]
    if layout == "array" and kind == "pattern":
        raise ValueError("an array has values; its kind is 'pattern'")
    return layout, kind, symmetry


def _coordinates(body: bytes, shape: tuple[int, int], n_entries: int, n_values: int, sign: int) -> Points:
    """Lines of "row column [value]", from 1; below the diagonal only where there is symmetry."""
    width = 2 + n_values
    entries = _lines(body, n_entries, width)
    rows, columns = (_integers(entries[:, k], "an index") - 1 for k in range(2))
    for name, found, size in (("row", rows, shape[0]), ("column", columns, shape[1])):
        if n_entries and not (found.min() >= 0 and found.max() < size):
            wrong = found[(found < 0) | (found >= size)][0] + 1
            raise ValueError(f"it has {name} {wrong} of {size}")
    values = entries[:, 2] if n_values else np.ones(n_entries)
    if sign:
        mirrored = rows != columns
        rows, columns = np.append(rows, columns[mirrored]), np.append(columns, rows[mirrored])
        values = np.append(values, sign * values[mirrored])
    return sparse.csr_array((values, (rows, columns)), shape=shape)


def _array(body: bytes, shape: tuple[int, int], symmetry: str) -> Float:
    """Column by column; with symmetry from the diagonal down, or from below it."""
    n, sign = shape[0], _SIGNS[symmetry]
    if not sign:
        return _lines(body, shape[0] * shape[1], 1).reshape(shape, order="F")
    below = np.tril_indices(n, -1 if sign < 0 else 0)
    order = np.lexsort(below)  # by column, then by row
    at = below[0][order], below[1][order]
    values = _lines(body, len(order), 1)[:, 0]
    memory.require(8 * n * n, f"a matrix of {n} × {n} numbers")
    X = np.zeros(shape)
    X[at[1], at[0]] = sign * values
    X[at] = values
    return X


def _lines(body: bytes, n_lines: int, width: int) -> Float:  # (n_lines, width)
    """So many lines of so many numbers each; blank lines do not count."""
    codes = np.frombuffer(body, dtype=np.uint8)
    blank = np.isin(codes, np.frombuffer(_BLANKS, dtype=np.uint8))
    starts = np.flatnonzero(~blank & np.append(True, blank[:-1])) if len(codes) else np.empty(0, np.intp)
    ends = np.flatnonzero(codes == ord("\n"))
    per_line = np.bincount(np.searchsorted(ends, starts), minlength=1)
    per_line = per_line[per_line > 0]
    if len(per_line) != n_lines:
        raise ValueError(f"it has {len(per_line)} of the {n_lines} lines that it promises")
    if (per_line != width).any():
        line = int(np.flatnonzero(per_line != width)[0])
        raise ValueError(f"entry {line + 1} has {per_line[line]} numbers instead of {width}")
    return _numbers(body).reshape(n_lines, width)


def _numbers(text: bytes) -> Float:
    text = text.strip(_BLANKS)
    memory.require(4 * len(text), "its numbers")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # NumPy's for what is no number, before 2.3
        try:
            return np.fromstring(text, sep=" ") if text else np.empty(0)
        except (ValueError, DeprecationWarning):
            raise ValueError("it holds what is no number") from None


def _integers(values: Float, name: str) -> Index:
    if not ((values == np.rint(values)) & (np.abs(values) < 2**53)).all():
        wrong = values[~((values == np.rint(values)) & (np.abs(values) < 2**53))][0]
        raise ValueError(f"{name} is {wrong:g}")
    return values.astype(np.intp)
