"""Renders README.md and docs/*.md to site/: one plain page each, readable on a phone."""

from __future__ import annotations

import re
from pathlib import Path

import markdown

ROOT = Path(__file__).parents[1]
SITE = ROOT / "site"
STYLE = """
:root { color-scheme: light dark; }
body { max-width: 46rem; margin: 0 auto; padding: 1rem; font: 1.05rem/1.6 system-ui, sans-serif; }
nav a { margin-right: 1rem; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid #8884; border-radius: .4rem; }
code { font-size: .92em; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; height: auto; }
"""
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
<nav>{links}</nav>
<main>{body}</main>
</html>
"""


def title(text: str) -> str:
    """The first heading."""
    return next(line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))


def render(text: str, links: str) -> str:
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"])
    body = body.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")
    body = re.sub(r'href="(?:docs/)?([\w-]+)\.md(#[\w-]+)?"', r'href="\1.html\2"', body)
    body = body.replace('src="docs/', 'src="')
    return PAGE.format(title=title(text), style=STYLE, links=links, body=body)


def main() -> None:
    sources = {"index": ROOT / "README.md"}
    sources |= {path.stem: path for path in sorted((ROOT / "docs").glob("*.md"))}
    texts = {name: path.read_text(encoding="utf-8") for name, path in sources.items()}
    links = "".join(f'<a href="{name}.html">{title(text)}</a>' for name, text in texts.items())
    SITE.mkdir(exist_ok=True)
    for name, text in texts.items():
        (SITE / f"{name}.html").write_text(render(text, links), encoding="utf-8")
    for image in filter(Path.is_file, (ROOT / "docs" / "images").rglob("*")):
        target = SITE / image.relative_to(ROOT / "docs")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(image.read_bytes())
    print(f"{len(texts)} pages in {SITE.name}/")


if __name__ == "__main__":
    main()
