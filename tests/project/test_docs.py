"""The pages of the site: their code runs, and every public name has its place in the reference."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import bvdt

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*(DOCS / "start").glob("*.md"), *(DOCS / "guides").glob("*.md")])
ROOMS = {
    "dask",
    "datasets",
    "divergences",
    "operators",
    "walks",
    "__version__",
}  # documented by part; a string


def code_of(page: Path) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs_from_top_to_bottom(page, capsys):
    names: dict[str, object] = {}
    for code in code_of(page):
        exec(code, names)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_the_guide_to_single_cells_takes_sparse_counts(kind, capsys):
    cells, recipe = code_of(DOCS / "guides" / "single-cells.md")
    names: dict[str, Any] = {}
    exec(cells, names)
    exec(recipe, names)
    dense = names["scores"]
    names["counts"] = kind(names["counts"])
    exec(recipe, names)
    np.testing.assert_allclose(np.abs(names["scores"]), np.abs(dense), atol=1e-6)
    assert float(capsys.readouterr().out.split()[0]) > 0.8


def test_every_public_name_is_in_the_reference():
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    missing = [name for name in bvdt.__all__ if name not in ROOMS and f":: bvdt.{name}\n" not in pages]
    assert missing == []


def public_names():
    rooms = [bvdt, bvdt.divergences, bvdt.datasets]
    with suppress(ImportError):  # without the extra, nothing of that room can run
        rooms.append(importlib.import_module("bvdt.dask"))
    found = {f"{room.__name__}.{name}": getattr(room, name) for room in rooms for name in room.__all__}
    return {name: value for name, value in found.items() if callable(value)}


PUBLIC = public_names()


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example_that_runs(name):
    text = inspect.getdoc(PUBLIC[name])
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert test.examples
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(
        test, out=told.append
    )
    assert not told, "".join(told)


def test_every_public_name_of_the_dask_door_is_in_the_reference():
    doors = (Path(bvdt.__file__).parent / "dask" / "__init__.py").read_text(encoding="utf-8")
    names = ast.literal_eval(doors.split("__all__ = ")[1])
    page = (DOCS / "reference" / "dask.md").read_text(encoding="utf-8")
    assert [name for name in names if f":: bvdt.dask.{name}\n" not in page] == []


def test_every_page_is_in_the_site():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")}
    pages = {page for page in pages if not page.startswith(("gallery/", "images/")) and page != "index"}
    assert {
        page for page in pages if not re.search(rf"^{re.escape(page)}$", index, flags=re.MULTILINE)
    } == set()
