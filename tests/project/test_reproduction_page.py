"""docs/reproduction.md is what the code writes, and its verdicts are those of its own tables."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from reproduction import FULL
from reproduction.config import TITLES
from reproduction.contents import HOW
from reproduction.departures import as_in_the_paper, beyond, departures, left_open
from reproduction.methods import METHODS, PAPER

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reproduction.md").read_text(encoding="utf-8")
TABLES, _, READING = PAGE.partition("## Reading the results")


def accuracies(first: str) -> dict[str, list[list[float]]]:
    """Means by data set, method and share of the table whose first method has that title."""
    (_, _, after) = PAGE.partition(f"| data set | {first} |")
    rows = re.findall(r"^\| (.+?) \| (\d.+) \|$", after.split("\n\n")[0], re.MULTILINE)
    return {
        name: [[float(x) for x in cell.replace("–", "nan nan").split()] for cell in cells.split(" | ")]
        for name, cells in rows
    }


@pytest.mark.parametrize("sentences", [departures, left_open, beyond], ids=lambda of: of.__name__)
def test_the_page_lists_what_the_code_does(sentences):
    assert [text for text in sentences(FULL) if f"- {text}\n" not in PAGE] == []


def test_the_page_says_how_it_is_made():
    assert HOW in PAGE
    assert as_in_the_paper(FULL) in PAGE


def test_every_picture_is_there():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE)
    assert len(pictures) == 8
    assert [name for name in pictures if not (DOCS / name).is_file()] == []
    kept = {f"images/reproduction/{path.name}" for path in (DOCS / "images" / "reproduction").iterdir()}
    assert kept == set(pictures)


def test_the_figures_of_the_text_are_in_the_tables():
    figures = re.findall(r"\b0\.\d{3}\b", READING)
    assert [x for x in figures if x not in TABLES] == []


def test_the_verdict_on_the_means_follows_from_the_table():
    found = accuracies(METHODS["vdt"].title)
    assert list(found) == list(TITLES.values())
    above = [bvdt > vdt for cells in found.values() for vdt, bvdt in zip(*cells[:2], strict=True)]
    assert len(above) == 10
    verdict = re.search(r"consistently outperforms the Euclidean VDT\. \| [^|]+ \| ([^|]+) \|", PAGE)
    assert verdict is not None
    assert (verdict[1] == "holds") <= all(above)


def test_the_places_of_label_spreading_follow_from_the_tables():
    paper, rivals = accuracies(METHODS["vdt"].title), accuracies(METHODS["ward"].title)
    best = {name: np.nanmax(cells[: len(PAPER)], axis=0) for name, cells in paper.items()}
    lost = sum(int((np.array(cells[1]) <= best[name]).sum()) for name, cells in rivals.items())
    count = re.search(rf"{re.escape(METHODS['forest'].title)} at (\d+) of (\d+)", READING)
    assert count is not None
    assert lost <= int(count[2]) - int(count[1])
