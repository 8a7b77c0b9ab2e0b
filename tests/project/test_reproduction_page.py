"""The text of docs/reproduction.md names figures of its own tables, and claims what these show."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text(encoding="utf-8")
TABLES, _, READING = PAGE.partition("## Reading the results")


def accuracies() -> dict[str, list[float]]:
    """Means by data set and share: VDT, BVDT, exact Euclidean, exact GID, and those beyond the paper."""
    rows = re.findall(r"^\| (.+, \d+%) \| (.+) \|$", TABLES, re.MULTILINE)
    return {name: [float(x) for x in cells.replace("–", "nan").split(" | ")] for name, cells in rows}


def test_the_figures_of_the_text_are_in_the_tables():
    figures = re.findall(r"\b0\.\d{3}\b", READING)
    assert len(figures) >= 6
    assert [x for x in figures if x not in TABLES and x != "0.875"] == []


def test_the_conclusions_follow_from_the_tables():
    found = accuracies()
    assert len(found) == 15
    for vdt, bvdt, *exact, ward, forest, knn, _ in found.values():
        assert bvdt > vdt
        assert ward > bvdt
        assert min(forest, knn) > max(x for x in (vdt, bvdt, *exact) if x == x)
