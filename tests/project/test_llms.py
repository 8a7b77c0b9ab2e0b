"""The site's llms.txt and the Markdown beside its pages (docs/_ext), on a small site."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from _ext import llms  # noqa: E402

INDEX = """# Name

What it is for. More of it.

```{toctree}
:caption: Start

start/first
```

```{toctree}
:caption: Reference

names
changes
gallery/index
```
"""


@pytest.fixture
def site(tmp_path):
    docs, site = tmp_path / "docs", tmp_path / "site"
    (docs / "start").mkdir(parents=True)
    site.mkdir()
    (tmp_path / "CHANGES.md").write_text("# Changes\n\nNone yet.\n", encoding="utf-8")
    (docs / "index.md").write_text(INDEX, encoding="utf-8")
    (docs / "start" / "first.md").write_text(
        "# First\n\nA [link](../names.md), `code`: x. More\n", encoding="utf-8"
    )
    (docs / "names.md").write_text(
        "# Names\n\nFILL\n\n```{eval-rst}\n.. autofunction:: bvdt.load\n```\n", encoding="utf-8"
    )
    (docs / "changes.md").write_text("```{include} ../CHANGES.md\n```\n", encoding="utf-8")
    return docs, site


def test_the_list_has_every_page_by_section(site):
    assert llms.write(*site) == ["start/first", "names", "changes"]
    assert (site[1] / "llms.txt").read_text(encoding="utf-8").splitlines() == [
        "# Name",
        "",
        "> What it is for.",
        "",
        "## Start",
        "",
        "- [First](start/first.md): A link, code: x.",
        "",
        "## Reference",
        "",
        "- [Names](names.md): FILL",
        "- [Changes](changes.md): None yet.",
    ]


def test_directives_are_replaced(site):
    llms.write(*site, fill=lambda text: text.replace("FILL", "filled"))
    names = (site[1] / "names.md").read_text(encoding="utf-8")
    assert "{eval-rst}" not in names
    assert "## bvdt.load\n\n```text\nbvdt.load(path" in names
    assert ">>> " in names
    assert "filled" in names
    assert (site[1] / "changes.md").read_text(encoding="utf-8") == "# Changes\n\nNone yet.\n"


def test_a_class_has_its_methods_and_a_module_its_names():
    assert "### bvdt.LabelPropagation.fit\n" in llms.documented("bvdt.LabelPropagation")
    assert "## bvdt.datasets.make_documents\n" in llms.documented("bvdt.datasets")


def test_every_directive_of_the_reference_is_understood(tmp_path):
    for page in (DOCS / "reference").glob("*.md"):
        if page.stem != "dask":  # needs an extra
            assert "{eval-rst}" not in llms.resolved(page, str), page.name
