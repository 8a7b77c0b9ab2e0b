"""The public names and their parameters are those of the reference's table, docs/reference/interface.md."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import bvdt

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "interface.md"
ROWS = dict(re.findall(r"^\| `bvdt\.([\w.]+)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def parameters(found: object) -> str:
    """``(X, divergence='gid', *, n_neighbors=0)`` without annotations."""
    signature = inspect.signature(found)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def test_the_names_are_those_of_the_table_and_no_others():
    top = {name for name in ROWS if "." not in name}
    assert top == set(bvdt.__all__) == set(dir(bvdt))


@pytest.mark.parametrize("name", [name for name, cell in ROWS.items() if cell.startswith("`")])
def test_parameters_and_defaults_are_those_of_the_table(name):
    found = bvdt
    for part in name.split("."):
        found = getattr(found, part)
    assert f"`{parameters(found)}`" == ROWS[name]
