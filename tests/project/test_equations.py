"""docs/equations.md: every function and every test it names exists."""

from __future__ import annotations

import ast
import importlib
from functools import reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8").splitlines()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES if line.startswith("|")][2:]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}: {row[1][:30]}" for row in ROWS])
def test_row_names_what_exists(row):
    _, _, function, test = row
    module, _, attribute = function.strip("`").partition(":")
    reduce(getattr, attribute.split("."), importlib.import_module(module))
    file, _, name = test.strip("`").partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_table_is_read():
    assert len(ROWS) >= 19
