"""Damage done to bytes, arrays and JSON: recipes that Hypothesis draws, and how each is applied."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

# -- numbers -------------------------------------------------------------------------------------------------

EDGES = [0, 1, -1, 2, 7, 39, 40, 41, 127, 255, 2**15, 2**31 - 1, -(2**31), 2**31, 2**53, 2**62, 2**63 - 1]
ODD = [float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 5e-324, 1e150, 1e-150, 1e16, -0.0, 0.5]
integers = st.one_of(st.sampled_from(EDGES), st.integers(-50, 100), st.integers(-(2**63), 2**63 - 1))
numbers = st.one_of(st.sampled_from(EDGES), st.sampled_from(ODD), st.floats(-1e3, 1e3), integers)
places = st.integers(0, 10**6)

# -- bytes ---------------------------------------------------------------------------------------------------

TOKENS = [
    b"", b"-1", b"0", b"1e999", b"-1e308", b"nan", b"inf", b"99999999999999999999", b"2147483648", b"0x10",
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b'"', b"'", b",", b"\t", b";", b"\r", b"\n", b"\n\n\n",
    b"%", b"#", b":", b"=1+1", b"{", b"}", b"[" * 2000, b"null", b"true", b"{}", b"1_000", b" ", b"a" * 70000,
    b"\xe2\x80\xa8", b"\x1a", b"1:1", b"-1:1", b"99999999:2", b"1:1 1:1", b"<f8", b"|O", b"(2, 3)", b"(-1,)",
]  # fmt: skip


@dataclass(frozen=True)
class ByteEdit:
    """How a stretch of bytes is changed; ``at`` counts around the end."""

    how: str
    at: int
    length: int
    value: bytes


byte_edits = st.builds(
    ByteEdit,
    st.sampled_from(["flip", "set", "insert", "delete", "copy", "cut", "repeat", "token", "number"]),
    places,
    st.one_of(st.integers(1, 8), st.integers(1, 400)),
    st.one_of(st.sampled_from(TOKENS), st.binary(max_size=8)),
)


def damaged_bytes(data: bytes, edits: list[ByteEdit]) -> bytes:
    """The bytes after all edits, in turn."""
    for edit in edits:
        data = _edited(data, edit)
    return data


def _edited(data: bytes, edit: ByteEdit) -> bytes:
    if not data:
        return edit.value
    at = edit.at % len(data)
    end = min(at + edit.length, len(data))
    if edit.how == "flip":
        return data[:at] + bytes([data[at] ^ (1 << edit.length % 8)]) + data[at + 1 :]
    if edit.how == "set":
        return data[:at] + edit.value + data[at + len(edit.value) :]
    if edit.how == "insert":
        return data[:at] + edit.value + data[at:]
    if edit.how == "delete":
        return data[:at] + data[end:]
    if edit.how == "copy":  # a stretch from elsewhere
        source = (edit.at * 7919) % len(data)
        return data[:at] + data[source : source + edit.length] + data[end:]
    if edit.how == "cut":
        return data[:at]
    if edit.how == "repeat":
        return data[:at] + data[at:end] * 3 + data[end:]
    pattern = rb"[^\s,;:\"]+" if edit.how == "token" else rb"-?\d+(\.\d+)?"
    found = list(re.finditer(pattern, data[:20_000]))
    if not found:
        return data + edit.value
    start, stop = found[edit.at % len(found)].span()
    return data[:start] + edit.value + data[stop:]


# -- arrays --------------------------------------------------------------------------------------------------

DTYPES = ["f4", "f8", "f2", "i1", "i4", "i8", "u1", "u8", "c16", "?", "S3", "U2", ">f8", ">i4", "M8[s]"]


@dataclass(frozen=True)
class ArrayEdit:
    """One change of one of several arrays; ``which`` and ``at`` count around the end."""

    which: int
    how: str
    at: int
    value: Any


array_edits = st.builds(
    ArrayEdit,
    places,
    st.sampled_from(
        ["value"] * 6 + ["range", "swap", "dtype", "shape", "shorter", "longer", "drop", "other"]
    ),
    places,
    numbers,
)


def damaged_arrays(arrays: dict[str, Any], edits: list[ArrayEdit]) -> dict[str, Any]:
    """Copies of the arrays after all edits, in turn."""
    arrays = dict(arrays)
    for edit in edits:
        names = sorted(arrays)
        if not names:
            break
        name = names[edit.which % len(names)]
        if edit.how == "drop":
            del arrays[name]
        elif edit.how == "other":
            arrays[name] = arrays[names[edit.at % len(names)]]
        else:
            arrays[name] = damaged_array(np.asarray(arrays[name]), edit)
    return arrays


def damaged_array(array: Any, edit: ArrayEdit) -> Any:
    """A copy of the array after the edit."""
    if edit.how == "dtype":
        with np.errstate(all="ignore"):
            return _retyped(array, np.dtype(DTYPES[edit.at % len(DTYPES)]))
    if edit.how == "shape":
        shapes = [(-1,), (1, -1), (-1, 1), array.shape[::-1]]
        return array.reshape(shapes[edit.at % 4])
    if edit.how == "shorter":
        return array.reshape(-1)[: edit.at % (array.size + 1)].copy()
    if edit.how == "longer":
        return np.concatenate([array.reshape(-1), array.reshape(-1)[: 1 + edit.at % 5]])
    array = array.copy()
    flat = array.reshape(-1)
    if not array.size:
        return array
    at = edit.at % array.size
    if edit.how == "swap":
        other = (edit.at * 31 + 1) % array.size
        flat[[at, other]] = flat[[other, at]]
    elif edit.how == "range":
        flat[at : at + 1 + edit.at % 7] = fitting(edit.value, array.dtype)
    else:
        flat[at] = fitting(edit.value, array.dtype)
    return array


def _retyped(array: Any, dtype: np.dtype[Any]) -> Any:
    if array.dtype.kind not in "biuf":
        return array  # NumPy itself crashes on some casts from texts and dates
    try:
        return array.astype(dtype)
    except (TypeError, ValueError, RuntimeError):
        return array


def fitting(value: Any, dtype: np.dtype[Any]) -> Any:
    """The value as that type holds it, or the nearest end of the type's range."""
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        value = 0 if value != value else value
        return int(min(max(value, ends.min), ends.max))
    if dtype.kind == "f":
        return dtype.type(value)
    return np.zeros(1, dtype)[0]


# -- JSON ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JsonEdit:
    """A value somewhere in a document is replaced, removed or joined by another."""

    at: int
    how: str
    value: Any


json_values = st.one_of(
    st.none(),
    st.booleans(),
    numbers,
    st.just(10**400),
    st.text(max_size=5),
    st.sampled_from(["gid", "ward", "auto", "float32", [], {}, [[]], {"a": 1}, [1, 2], "x" * 5000]),
)
json_edits = st.builds(JsonEdit, places, st.sampled_from(["set", "set", "remove", "add"]), json_values)


def damaged_json(document: Any, edits: list[JsonEdit]) -> Any:
    """A copy of the document after all edits, in turn."""
    document = copy.deepcopy(document)
    for edit in edits:
        spots = list(_spots(document))
        if not spots:
            break
        holder, key = spots[edit.at % len(spots)]
        if edit.how == "set":
            holder[key] = copy.deepcopy(edit.value)  # else a later edit could put it into itself
        elif edit.how == "remove":
            del holder[key]
        elif isinstance(holder, dict):
            holder[f"{key}_"] = copy.deepcopy(edit.value)
        else:
            holder.append(copy.deepcopy(edit.value))
    return document


def _spots(value: Any) -> Any:
    """Every place that holds a value, as (its holder, its key)."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from _spots(inner)
