"""The site, by Sphinx: pages, docstrings, the commands' own help and examples that run; nothing is fetched.

Sphinx and not MkDocs: the gallery runs the examples (sphinx-gallery), and Material for MkDocs ends in 2027.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from _ext import llms  # noqa: E402

project = "bvdt"
author = "The bvdt developers"
copyright = author
version = release = version_of("bvdt")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/README.md", "**/*.py"]
nitpicky = False  # docstrings speak of arrays and shapes in words

html_theme = "furo"
html_title = "bvdt"
html_static_path: list[str] = []
html_copy_source = False

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
copybutton_exclude = ".linenos, .gp, .go"

autodoc_typehints = "none"  # numpydoc's sections say it in words
autodoc_member_order = "bysource"
autodoc_default_options = {  # scikit-learn makes them, and their text links to its own site
    "exclude-members": "set_fit_request,set_score_request,set_transform_request,set_predict_request"
}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"[/\\]plot_",
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 60,
    "within_subsection_order": "FileNameSortKey",
}

COMMANDS = "<!-- every command's help -->"


def setup(app: Any) -> None:
    app.connect("source-read", _fill_in_commands)
    app.connect("build-finished", _write_markdown)


def _fill_in_commands(app: Any, page: str, source: list[str]) -> None:
    source[0] = _with_commands(source[0])


def _with_commands(text: str) -> str:
    return text.replace(COMMANDS, "\n".join(_helps())) if COMMANDS in text else text


def _write_markdown(app: Any, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        llms.write(Path(app.srcdir), Path(app.outdir), _with_commands)


def _helps() -> list[str]:
    """Each command's --help, as a terminal of 80 columns shows it."""
    from typer.main import get_command

    from bvdt.cli import app

    lines: list[str] = []
    for context in _contexts(get_command(app), "bvdt", None):
        lines += [f"## {context.command_path}", "", "```text", context.get_help().rstrip(), "```", ""]
    return lines


def _contexts(command: Any, name: str, parent: Any) -> Iterator[Any]:
    """A context per command, the outer before the inner."""
    context = command.context_class(command, info_name=name, parent=parent, terminal_width=80)
    yield context
    for inner in getattr(command, "commands", {}):
        yield from _contexts(command.commands[inner], inner, context)
