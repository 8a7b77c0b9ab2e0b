"""docs/equations.md: a row for everything in the paper; every function and every test it names exists."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache, reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8").splitlines()
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
    for line in LINES
    if line.startswith("|")
][2:]


def equations_of(cell: str) -> list[int]:
    """Numbers of a first cell: "5–6, 19–20" is 5, 6, 19 and 20, "Table 1" and "claim 2.2" none."""
    found: list[int] = []
    for item in cell.split(", "):
        match = re.fullmatch(r"(\d+)(?:–(\d+))?", item)
        if match:
            found += range(int(match[1]), int(match[2] or match[1]) + 1)
    return found


@cache
def names_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}: {row[1][:30]}" for row in ROWS])
def test_row_names_what_exists(row):
    _, _, functions, tests = row
    for function in functions.split(", "):
        module, _, attribute = function.strip("`").partition(":")
        reduce(getattr, attribute.split("."), importlib.import_module(module))
    for test in tests.split(", "):
        file, _, name = test.strip("`").partition("::")
        assert name in names_in(file)


def test_ranges_are_read():
    assert equations_of("5–6, 19–20") == [5, 6, 19, 20]
    assert equations_of("8") == [8]
    assert equations_of("Table 1") == equations_of("claim 2.2") == equations_of("Figure 2, A–E") == []


def test_every_equation_of_the_paper_has_a_row():
    """Equations 1 to 29."""
    assert sorted({number for row in ROWS for number in equations_of(row[0])}) == list(range(1, 30))


def test_every_proposition_table_and_figure_has_a_row():
    first = {row[0] for row in ROWS}
    assert {"Proposition 1", "Table 1", "Table 2", "Figure 1", "Figure 2, A–E", "Figure 2, F"} <= first
    known = r"Proposition 1|Table [12]|Figure 1|Figure 2, (A–E|F)|claim [234]\.[123]"
    assert [cell for cell in first if not equations_of(cell) and not re.fullmatch(known, cell)] == []


def test_every_row_of_table_1_is_there():
    """Seven divergences, each by a class of its own."""
    assert len({name for row in ROWS if row[0] == "Table 1" for name in row[2].split(", ")}) == 7


def test_claims_of_every_section_are_there():
    claims = [row for row in ROWS if row[0].startswith("claim")]
    assert {row[0] for row in claims} == {f"claim {s}" for s in (2.1, 2.2, 2.3, 3.1, 3.2, 3.3, 4.2, 4.3)}
    said = " ".join(row[1] for row in claims)
    for claim in (
        "2(N−1)",
        "N(N−1)",
        "exact",
        "N^1.5·log N",
        "optimum",
        "product",
        "bijection",
        "is the mean",
    ):
        assert claim in said
