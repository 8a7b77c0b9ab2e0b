"""``bvdt datasets``: which data sets there are, and how they come into a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from .guard import guarded, on_terminal
from .options import Debug, Json, Quiet

app = typer.Typer(help="The paper's data sets: list them, fetch them.", no_args_is_help=True)

Folder = Annotated[Path, typer.Option("--out", "--data", help="Folder of the data sets' npz files.")]


@app.command("list")
@guarded
def list_datasets(folder: Folder = Path("data"), as_json: Json = False, debug: Debug = False) -> None:
    """The data sets of the paper's Table 2, and which of them the folder holds."""
    from ..datasets.corpus import CORPORA
    from ..datasets.fetch import SOURCES

    rows: list[dict[str, Any]] = [
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
        typer.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        here = f"in {folder}" if row["here"] else "not here"
        typer.echo(
            f"{row['name']:<9} {row['title']:<26} N {row['documents']:>6,}  d {row['terms']:>6,}  "
            f"C {row['classes']:>2}  {here}; {row['from'] or 'cannot be fetched'}"
        )


@app.command("fetch")
@guarded
def fetch(
    name: Annotated[str, typer.Argument(help="bbcsport, bbc, 20news or imdb.")],
    folder: Folder = Path("data"),
    url: Annotated[str | None, typer.Option("--url", help="Another address of the archive.")] = None,
    sha256: Annotated[
        str | None, typer.Option("--sha256", help="Refuse an archive with another SHA-256.")
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds without a byte.")] = 30.0,
    tries: Annotated[int, typer.Option("--tries", min=1, help="Fruitless tries in a row.")] = 5,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Download a data set's original archive, check it, and write its npz file.

    A broken download goes on where it stopped when the command is run again. The archive and its SHA-256 stay
    in FOLDER/originals; nothing is unpacked there.
    """
    from ..datasets.fetch import SOURCES, fetch_corpus

    with _bar(name, shown=on_terminal() and not quiet) as progress:
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
