"""The page of a run, as Markdown and as HTML: claims, tables and figures, all from the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from bvdt.documents.files import atomic

__all__ = ["PICTURES", "Page"]

PICTURES = "images/reproduction"  # where the figures lie, seen from the page

STYLE = """
:root { color-scheme: light dark; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; font: 1.02rem/1.55 system-ui, sans-serif; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; height: auto; background: white; }
"""


@dataclass
class Page:
    """Headings, paragraphs, tables and pictures in order, in both languages at once."""

    title: str
    markdown: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)

    def heading(self, text: str) -> None:
        self.markdown.append(f"## {text}")
        self.html.append(f"<h2>{escape(text)}</h2>")

    def text(self, text: str) -> None:
        self.markdown.append(text)
        self.html.append(f"<p>{escape(text)}</p>")

    def items(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self.markdown.append("\n".join(f"- {text}" for text in texts))
        self.html.append("<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>")

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        rows = [[str(cell) for cell in row] for row in rows]
        cells = [[cell.replace("|", "\\|") for cell in row] for row in (header, *rows)]
        lines = [f"| {' | '.join(row)} |" for row in cells]
        self.markdown.append("\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]]))
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
        self.html.append(f'<div class="table"><table><tr>{head}</tr>{body}</table></div>')

    def picture(self, file: str, caption: str) -> None:
        self.markdown.append(f"![{caption}]({PICTURES}/{file})")
        self.html.append(f'<figure><img src="{PICTURES}/{escape(file)}" alt="{escape(caption)}"></figure>')

    def write(self, folder: Path, name: str) -> list[Path]:
        """Both files."""
        paths = [folder / f"{name}.md", folder / f"{name}.html"]
        with atomic(paths[0]) as file:
            file.write("\n\n".join([f"# {self.title}", *self.markdown]) + "\n")
        with atomic(paths[1]) as file:
            file.write(
                '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
                '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                f"<title>{escape(self.title)}</title>\n<style>{STYLE}</style>\n"
                + "\n".join([f"<h1>{escape(self.title)}</h1>", *self.html])
                + "\n</html>\n"
            )
        return paths
