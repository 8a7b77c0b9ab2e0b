"""The map's points, packed: coordinates and class numbers in base64, ids and texts' beginnings as JSON.

A page for 50 000 documents stays below 8 MB: with more points a sample is shown (suggestions, then given
labels, as far as they fit, then others), and the texts are cut shorter the more there are.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .escape import beginning, clean
from .extent import map_places
from .model import Report
from .palette import N_CLASSES

MAX_POINTS = 50_000
TEXT_BYTES = 5_000_000  # of all texts' beginnings together
BECAUSE_BYTES = 2_500_000  # of all reasons
TEXT_CHARS = 160  # of one
ID_CHARS = 60


def class_order(report: Report) -> list[str]:
    """All labels: those with a mark of their own, the most frequent, by name; then the rest by frequency."""
    counts = Counter(report.labels or ())
    order = sorted(counts, key=lambda label: (-counts[label], label))
    return sorted(order[:N_CLASSES], key=_natural) + order[N_CLASSES:]


def _natural(label: str) -> list[tuple[int, str]]:
    """A key that puts "class 9" before "class 10": by length, then by digits, so of any length."""
    return [
        (len(part.lstrip("0")), part.lstrip("0")) if part.isdecimal() else (-1, part)
        for part in re.split(r"(\d+)", label)
    ]


def mark_of(order: list[str]) -> dict[str, int]:
    """The mark of each label on the map: its place in the order, or the last mark for "other"."""
    return {label: min(place, N_CLASSES) for place, label in enumerate(order)}


def shown_points(report: Report, limit: int = MAX_POINTS) -> NDArray[np.intp]:
    """All points, or a sample of ``limit`` that keeps suggestions and given labels as far as they fit."""
    n_points = report.n_points
    if n_points <= limit:
        return np.arange(n_points)
    wanted = report.is_given().astype(float)
    wanted[np.asarray(report.suggestions, np.intp)] = 2
    shuffled = np.random.default_rng(0).permutation(n_points)
    return np.sort(shuffled[np.argsort(-wanted[shuffled], kind="stable")[:limit]])


def packed_points(report: Report, order: list[str], points: NDArray[np.intp]) -> dict[str, object]:
    """What map.js reads; every array has one entry a shown point."""
    assert report.coordinates is not None
    number = {label: place for place, label in enumerate(order)}
    data: dict[str, object] = {
        "n": len(points),
        "xy": _base64(map_places(report.coordinates[points]), "<u2"),
        "given": _base64(report.is_given()[points], "u1"),
        "ids": [beginning(report.ids[i], ID_CHARS) for i in points],
        "classes": [clean(label) for label in order],
        "marks": N_CLASSES,
        "classBytes": 2 if len(order) < 2**16 else 4,
    }
    kind = f"<u{data['classBytes']}"
    if report.labels is not None:
        data["label"] = _base64(np.array([number[report.labels[i]] for i in points]), kind)
    if report.confidence is not None:
        share = np.nan_to_num(np.asarray(report.confidence, float)[points])
        data["confidence"] = _base64(np.round(np.clip(share, 0, 1) * 1000), "<u2")
    if report.runner_up is not None:
        none = len(order)
        data["runnerUp"] = _base64(np.array([number.get(report.runner_up[i], none) for i in points]), kind)
    if report.texts is not None:
        data["texts"] = _texts(report.texts, points, TEXT_BYTES)
    if report.because is not None:
        data["because"] = _texts(report.because, points, BECAUSE_BYTES)
    return data


def _base64(values: NDArray[np.generic], dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values).astype(dtype).tobytes()).decode("ascii")


def _texts(texts: Sequence[str], points: NDArray[np.intp], n_bytes: int) -> list[str]:
    """The texts' beginnings, each within its share of the bytes whatever the script it is written in."""
    share = n_bytes // max(len(points), 1)
    starts = []
    for i in points:
        start = beginning(texts[i], TEXT_CHARS)
        if len(start.encode()) > share:
            start = start.encode()[:share].decode("utf-8", "ignore").rstrip("… ") + "…"
        starts.append(start)
    return starts
