"""A claim of the paper, its verdict, and how verdicts follow from numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .config import TITLES
from .growth import MODEL

__all__ = ["HOLDS", "NOT", "PART", "UNKNOWN", "Claim", "data_with", "span", "verdict_of"]

HOLDS, PART, NOT, UNKNOWN = "holds", "holds in part", "does not hold", "not measured"


@dataclass(frozen=True)
class Claim:
    """What the paper says, what makes it hold here, the verdict, and the numbers, a sentence each."""

    name: str
    quote: str
    test: str
    verdict: str
    numbers: tuple[str, ...] = ()


def data_with(table: Iterable[tuple[str, str]], *methods: str) -> list[str]:
    """Titles of the data that have all those methods, in the usual order."""
    known = set(table)
    return [data for data in (*TITLES.values(), MODEL) if all((data, name) in known for name in methods)]


def verdict_of(won: int, total: int) -> str:
    """Holds if won everywhere; in part if at half of the places or more."""
    if not total:
        return UNKNOWN
    return HOLDS if won == total else PART if 2 * won >= total else NOT


def span(values: Iterable[float], form: str = "+.3f") -> str:
    """The least and the greatest, "+0.046…+0.210"."""
    values = list(values)
    ends = [f"{end:{form}}" for end in (min(values), max(values))]
    return "…".join(dict.fromkeys(ends))
