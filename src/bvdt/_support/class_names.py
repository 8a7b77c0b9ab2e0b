"""Names of classes that probably mean "not labeled", or the same class as another."""

from __future__ import annotations

import re
from collections.abc import Iterable

NOTHING = ("na", "n/a", "nan", "none", "null", "?", "-", "unknown", "unlabeled", "unlabelled", "<na>")
_BETWEEN = re.compile(r"[\s_\-./,:;]+")  # C, C# and C++ stay apart


def means_nothing(name: str) -> bool:
    """Whether a label looks as if it stood for none."""
    return name.strip().casefold() in NOTHING


def look_alikes(names: Iterable[str]) -> list[list[str]]:
    """Groups of names that differ in case, white space and marks between words only; numbers never do."""
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        if any(map(str.isalpha, name)):
            groups.setdefault(_BETWEEN.sub(" ", name.casefold()).strip(), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def tell_apart(group: list[str]) -> str:
    """A sentence on such a group."""
    shown = " and ".join(repr(name) for name in group)
    return f"{shown} are different classes; if they are meant as one, write them alike"
