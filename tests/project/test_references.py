"""Sources: what pages, docstrings and comments cite has an entry, and every entry is cited where it says.

One form: "Moore 2000", "Thiesson and Kim 2012", of three authors and more "Banerjee et al. 2005".
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "references.md"
ENTRIES = re.findall(r"^- \*\*(.+?)\*\*(.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
FOLDERS = ("src", "cpp", "docs", "reproduction", "benchmarks", "tests")
KINDS = {".py", ".hpp", ".cpp", ".md"}

NAME = r"(?:van der )?\b[A-ZÀ-Þ][a-zà-þš]+(?:[A-Z][a-z]+)?"
YEAR = r"(?:18[5-9]|19\d|20[0-3])\d\b"
CITED = re.compile(rf"({NAME}(?: et al\.| and {NAME})?) {YEAR}")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# Other ways to write one: a year in parentheses or after a genitive, "&", three names in full.
OTHER = re.compile(
    rf"{NAME}(?: et al\.)? \({YEAR}\)|{NAME} & {NAME} {YEAR}|{NAME}, {NAME},? (?:and|&) {NAME} {YEAR}"
)
WRAPPED = re.compile(r"[ \t]*\n[ \t]*(?://|#)?[ \t]*")


def text_of(path: Path) -> str:
    return WRAPPED.sub(" ", path.read_text(encoding="utf-8"))


def citations(text: str) -> set[str]:
    found = {match[0] for match in CITED.finditer(text)}
    return {one for one in found if not re.match(rf"({'|'.join(MONTHS)})\w* \d", one)}


FILES = [
    path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in KINDS and path.is_file() and not {"__pycache__", "_build", "gallery"} & set(path.parts)
]
FILES = [path for path in FILES if path not in (PAGE, Path(__file__))]
TEXTS = {path: text_of(path) for path in FILES}


def test_every_citation_has_an_entry():
    known = {key for key, _ in ENTRIES}
    assert len(known) == len(ENTRIES) >= 40
    missing = {
        (str(path.relative_to(ROOT)), one) for path, text in TEXTS.items() for one in citations(text) - known
    }
    assert not missing


@pytest.mark.parametrize(("key", "entry"), ENTRIES, ids=[key for key, _ in ENTRIES])
def test_every_entry_is_cited_where_it_says(key, entry):
    places = [ROOT / "src" / "bvdt" / name for name in re.findall(r"`([\w/]+\.py)`", entry)]
    places += [PAGE.parent / name for name in re.findall(r"\]\(([\w./]+\.md)\)", entry)]
    assert places
    for place in places:
        assert key in citations(text_of(place.resolve())), f"{place.name} does not cite {key}"


def test_entries_are_in_order():
    keys = [unicodedata.normalize("NFD", key).casefold() for key, _ in ENTRIES]
    assert keys == sorted(keys)


@pytest.mark.parametrize("folder", ["src", "cpp", "docs"])
def test_citations_have_one_form(folder):
    inside = [path for path in FILES if (ROOT / folder) in path.parents]
    found = {
        (str(path.relative_to(ROOT)), match[0]) for path in inside for match in OTHER.finditer(TEXTS[path])
    }
    assert not found


def test_citations_are_read_in_every_form():
    text = "(Jégou et al. 2011), van der Maaten and Hinton 2008; November 2026; Thiesson and\n// Kim 2012"
    assert citations(WRAPPED.sub(" ", text)) == {
        "Jégou et al. 2011",
        "van der Maaten and Hinton 2008",
        "Thiesson and Kim 2012",
    }
    for other in ("Zhou et al. (2003)", "Golub & Varga 1961", "Dong, Moses and Li 2011", "Lang (1995)"):
        assert OTHER.search(other)
