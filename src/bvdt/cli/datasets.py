"""``bvdt datasets``: which data sets there are, and how they come into a folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from .._support.json import JsonObject
from .guard import guarded
from .options import Debug, Json, Quiet
from .session import aligned

DATASETS_HELP = """The paper's data sets: list them, fetch them.

\b
Example:
  bvdt datasets fetch bbc --out data
"""
LIST_HELP = """List the data sets of the paper's Table 2 and which of them are here.

\b
Example:
  bvdt datasets list --data data
"""
FETCH_HELP = """Fetch a data set: download its original, check it, write its npz file.

A broken download goes on where it stopped when the command is run again. The archive and its SHA-256 stay in
FOLDER/originals; nothing is unpacked there.

\b
Example:
  bvdt datasets fetch bbc --out data
"""

app = typer.Typer(help=DATASETS_HELP, no_args_is_help=True)

Folder = Annotated[
    Path, typer.Option("--out", "--data", help="Folder of the data sets' npz files.", metavar="FOLDER")
]


@app.command("list", help=LIST_HELP)
@guarded
def list_datasets(folder: Folder = Path("data"), as_json: Json = False, debug: Debug = False) -> None:
    from ..datasets.corpus import CORPORA
    from ..datasets.fetch import SOURCES

    rows: list[JsonObject] = [
        {
            "name": info.name,
            "title": info.title,
            "documents": info.shape[0],
            "terms": info.shape[1],
            "classes": info.n_classes,
            "file": info.file,
            "here": (folder / info.file).is_file(),
            "from": SOURCES[info.name].url if info.name in SOURCES else None,
        }
        for info in CORPORA.values()
    ]
    if as_json:
        typer.echo(json.dumps({"datasets": rows}))
        return
    for line in aligned(("name", "data set", "N", "d", "C", f"in {folder}", "from"), map(_cells, rows)):
        typer.echo(line)


def _cells(row: JsonObject) -> list[str]:
    sizes = [str(row[key]) for key in ("documents", "terms", "classes")]
    home = urlsplit(row["from"]).hostname if row["from"] else "nowhere: it cannot be fetched"
    return [row["name"], row["title"], *sizes, "yes" if row["here"] else "no", str(home)]


@app.command("fetch", help=FETCH_HELP, no_args_is_help=True)
@guarded
def fetch(
    name: Annotated[str, typer.Argument(help="bbcsport, bbc, 20news or imdb.", metavar="NAME")],
    folder: Folder = Path("data"),
    url: Annotated[
        str | None, typer.Option("--url", help="Another address of the archive.", metavar="URL")
    ] = None,
    sha256: Annotated[
        str | None, typer.Option("--sha256", help="Refuse an archive with another SHA-256.", metavar="HEX")
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, help="Seconds without a byte.", metavar="S")
    ] = 30.0,
    tries: Annotated[int, typer.Option("--tries", min=1, help="Fruitless tries in a row.", metavar="N")] = 5,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    from ..datasets.fetch import SOURCES, fetch_corpus

    with _bar(name, shown=sys.stderr.isatty() and not quiet) as progress:
        got = fetch_corpus(
            name, folder, url=url, sha256=sha256, timeout=timeout, tries=tries, progress=progress
        )
    if as_json:
        typer.echo(json.dumps({"path": str(got.path), "archive": str(got.archive), "sha256": got.sha256}))
    elif not quiet:
        n, d = got.corpus.counts.shape
        typer.echo(
            f"{got.path}: {got.corpus.title}, {n} documents, {d} terms, {len(got.corpus.class_names)} classes"
        )
        typer.echo(f"{got.archive}: SHA-256 {got.sha256}")
        typer.echo(f"Terms: {SOURCES[name].terms}.")


@contextmanager
def _bar(name: str, *, shown: bool) -> Iterator[Callable[[int, int | None], None] | None]:
    """A progress bar on stderr, as the callback a download reports to."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(name, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
