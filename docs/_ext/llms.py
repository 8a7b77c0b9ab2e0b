"""``llms.txt`` and the Markdown of every page beside its HTML, for programs that read documentation.

The list follows the toctrees of index.md, a section per caption. Directives that only Sphinx understands are
replaced: an included file by its text, a documented name by its signature and docstring.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
INCLUDE = re.compile(r"```\{include\} (\S+)\n```\n?")
DOCUMENTED = re.compile(
    r"```\{eval-rst\}\n\.\. auto(?:class|function|module|data):: (\S+)\n(.*?)```", re.DOTALL
)


def sections(index: str) -> dict[str, list[str]]:
    """Names of pages by caption, in the order of the toctrees."""
    found: dict[str, list[str]] = {}
    for block in TOCTREE.findall(index):
        caption = re.search(r":caption: (.+)", block)
        pages = [line for line in block.splitlines() if line and not line.startswith(":")]
        found.setdefault(caption[1] if caption else "Pages", []).extend(pages)
    return found


def write(source: Path, site: Path, fill: Callable[[str], str] = str) -> list[str]:
    """Copy every page of the toctrees to ``site`` and list it in llms.txt; returns the names copied.

    ``fill`` replaces what a page leaves to the build. Pages without Markdown, as the gallery's, are left out.
    """
    index = (source / "index.md").read_text(encoding="utf-8")
    lines, copied = [f"# {title(index)}", "", f"> {summary(index)}"], []
    for caption, names in sections(index).items():
        lines += ["", f"## {caption}", ""]
        for name in (name for name in names if (source / f"{name}.md").is_file()):
            text = resolved(source / f"{name}.md", fill)
            target = site / f"{name}.md"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            about = summary(text)
            lines.append(f"- [{title(text)}]({name}.md)" + (f": {about}" if about else ""))
            copied.append(name)
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return copied


def title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def summary(text: str) -> str:
    """The first sentence of the first paragraph, without links and emphasis."""
    for paragraph in re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).split("\n\n"):
        if re.match(r"[A-Za-z0-9`*−]", paragraph.lstrip("\n")):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
            return re.split(r"(?<=[.!?]) (?=[A-Z`])", plain.replace("`", "").replace("*", ""))[0].rstrip(":")
    return ""


def resolved(page: Path, fill: Callable[[str], str]) -> str:
    """A page's Markdown with the directives of this site replaced."""
    text = fill(page.read_text(encoding="utf-8"))
    text = INCLUDE.sub(lambda found: (page.parent / found[1]).read_text(encoding="utf-8"), text)
    return DOCUMENTED.sub(lambda found: documented(found[1]), text)


def documented(name: str) -> str:
    """Signatures and docstrings: of a function, a class with its methods, or all of a module."""
    found = _find(name)
    if inspect.ismodule(found):
        names = getattr(found, "__all__", [])
        return "\n".join(documented(f"{name}.{one}") for one in names if callable(getattr(found, one)))
    parts = [_entry(name, found, "##")]
    if inspect.isclass(found):
        methods = {k: v for k, v in vars(found).items() if not k.startswith("_") and callable(v)}
        parts += [_entry(f"{name}.{k}", v, "###") for k, v in methods.items() if inspect.getdoc(v)]
    return "\n".join(parts)


def _entry(name: str, found: Any, level: str) -> str:
    try:
        signature = str(inspect.signature(found))
    except (TypeError, ValueError):
        signature = ""
    return f"{level} {name}\n\n```text\n{name}{signature}\n\n{inspect.getdoc(found) or ''}\n```\n"


def _find(name: str) -> Any:
    """A module, or an attribute of the longest module that the name begins with."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)
