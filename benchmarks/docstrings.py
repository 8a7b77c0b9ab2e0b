"""The docstrings of Python's own library, by subject: real texts that every machine with Python has.

The files are read, not imported, so nothing of them runs.
"""

from __future__ import annotations

import ast
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# What each subject's modules are called; a release or a distribution that lacks some has the others.
SUBJECTS: dict[str, str] = {
    "concurrency": "asyncio concurrent contextvars multiprocessing queue sched selectors threading",
    "drawing": "colorsys tkinter turtle turtledemo",
    "e-mail": "email imaplib mailbox mimetypes poplib quopri smtplib",
    "files": """bz2 compression _compression filecmp fileinput fnmatch genericpath glob gzip lzma ntpath os
        pathlib posixpath _pyio shutil stat tarfile tempfile zipfile""",
    "numbers": "decimal _pydecimal fractions numbers random statistics",
    "Python's code": """ast dis imp importlib inspect modulefinder opcode pkgutil pyclbr pydoc runpy symtable
        tokenize typing zipimport""",
    "tests and bugs": "bdb cmd cProfile doctest pdb profile pstats timeit trace traceback unittest",
    "web": """cgi ftplib html http nntplib socket socketserver ssl telnetlib urllib webbrowser wsgiref xml
        xmlrpc""",
}
LEAST_WORDS = 8
LEAST_TEXTS = 100  # per subject; one with fewer is left out


@dataclass(frozen=True)
class Docstrings:
    """Texts, their names (email.message.Message.attach), and their subjects as numbers of ``subjects``."""

    names: list[str]
    texts: list[str]
    labels: list[int]
    subjects: list[str]


def read_docstrings(folder: Path | None = None) -> Docstrings:
    """Every docstring of at least ``LEAST_WORDS`` words, once, from Python's library or another folder."""
    folder = folder or Path(sysconfig.get_path("stdlib"))
    found: dict[str, dict[str, str]] = {}  # subject -> text -> name
    for subject, modules in SUBJECTS.items():
        texts = {text: name for module in modules.split() for name, text in _of_module(folder, module)}
        if len(texts) >= LEAST_TEXTS:
            found[subject] = texts
    if len(found) < 3:
        raise ValueError(
            f"docstrings need the sources of Python's own library; in {folder} "
            f"{len(found)} of {len(SUBJECTS)} subjects have {LEAST_TEXTS}"
        )
    seen = Counter(text for texts in found.values() for text in texts)
    rows = {  # a name has one text, a text one subject
        name: (text, c)
        for c, texts in enumerate(found.values())
        for text, name in texts.items()
        if seen[text] == 1
    }
    return Docstrings(
        list(rows), [text for text, _ in rows.values()], [c for _, c in rows.values()], list(found)
    )


def _of_module(folder: Path, module: str) -> Iterator[tuple[str, str]]:
    """The docstrings of a module or of a package's modules, tests aside."""
    single = folder / f"{module}.py"
    for path in [single] if single.exists() else sorted((folder / module).rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if not {"test", "tests"} & set(parts):
            yield from _of_file(path, ".".join(parts).removesuffix(".__init__"))


def _of_file(path: Path, module: str) -> Iterator[tuple[str, str]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a library warns of its own backslashes
            tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return
    yield from _of_node(tree, module)


def _of_node(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    """Its docstring, and those of the classes and functions in it."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        text = ast.get_docstring(node)
        if text and len(text.split()) >= LEAST_WORDS:
            yield name, text
    for child in ast.iter_child_nodes(node):
        inner = isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if inner or isinstance(child, ast.If | ast.Try):
            yield from _of_node(child, f"{name}.{child.name}" if inner else name)  # type: ignore[attr-defined]
