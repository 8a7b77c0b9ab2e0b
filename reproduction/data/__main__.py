"""``python -m reproduction.data``: which data sets there are, and how they come into a folder."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from bvdt._support.json import JsonObject
from bvdt.cli.session import aligned

from ..command import add_common, prepare, run
from .corpus import CORPORA
from .fetch import SOURCES, fetch_corpus

HELP = "The paper's data sets: list them, fetch them."
EXAMPLE = "Example:\n  python -m reproduction.data fetch bbc --out data"
LIST_HELP = "List the data sets of the paper's Table 2 and which of them are here."
FETCH_HELP = """Fetch a data set: download its original, check it, write its npz file.

A broken download goes on where it stopped when the command is run again. The archive and its SHA-256 stay in
FOLDER/originals; nothing is unpacked there."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command."""
    options = _parser().parse_args(arguments)
    return run(options.command, options)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "python -m reproduction.data",
        description=HELP,
        epilog=EXAMPLE,
        formatter_class=RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="list | fetch")
    listing = commands.add_parser("list", help=LIST_HELP, description=LIST_HELP)
    fetching = commands.add_parser(
        "fetch",
        help="fetch one of them",
        description=FETCH_HELP,
        epilog=EXAMPLE,
        formatter_class=RawDescriptionHelpFormatter,
    )
    for each, command in ((listing, _list), (fetching, _fetch)):
        each.set_defaults(command=command)
        each.add_argument("--out", "--data", type=Path, default=Path("data"), help="folder of the npz files")
        add_common(each)
    fetching.add_argument("name", help=", ".join(SOURCES))
    fetching.add_argument("--url", help="another address of the archive")
    fetching.add_argument("--sha256", metavar="HEX", help="refuse an archive with another SHA-256")
    fetching.add_argument("--timeout", type=_positive(float), default=30.0, help="seconds without a byte")
    fetching.add_argument("--tries", type=_positive(int), default=5, help="fruitless tries in a row")
    return parser


def _positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    """A parser of numbers above 0."""

    def number(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value < float("inf"):
            raise ArgumentTypeError(f"needs a number above 0; got {text!r}")
        return value

    return number


def _list(options: Namespace) -> None:
    rows: list[JsonObject] = [
        {
            "name": info.name,
            "title": info.title,
            "documents": info.shape[0],
            "terms": info.shape[1],
            "classes": info.n_classes,
            "file": info.file,
            "here": (options.out / info.file).is_file(),
            "from": SOURCES[info.name].url if info.name in SOURCES else None,
        }
        for info in CORPORA.values()
    ]
    if options.json:
        print(json.dumps({"datasets": rows}))
        return
    head = ("name", "data set", "N", "d", "C", f"in {options.out}", "from")
    for line in aligned(head, map(_cells, rows)):
        print(line)


def _cells(row: JsonObject) -> list[str]:
    sizes = [str(row[key]) for key in ("documents", "terms", "classes")]
    home = urlsplit(row["from"]).hostname if row["from"] else "nowhere: it cannot be fetched"
    return [row["name"], row["title"], *sizes, "yes" if row["here"] else "no", str(home)]


def _fetch(options: Namespace) -> None:
    with _bar(options.name, shown=sys.stderr.isatty() and not options.quiet) as progress:
        got = fetch_corpus(
            options.name,
            options.out,
            url=options.url,
            sha256=options.sha256,
            timeout=options.timeout,
            tries=options.tries,
            progress=progress,
        )
    if options.json:
        print(json.dumps({"path": str(got.path), "archive": str(got.archive), "sha256": got.sha256}))
    elif not options.quiet:
        (n, d), k = got.corpus.counts.shape, len(got.corpus.class_names)
        print(f"{got.path}: {got.corpus.title}, {n} documents, {d} terms, {k} classes")
        print(f"{got.archive}: SHA-256 {got.sha256}")
        print(f"Terms: {SOURCES[options.name].terms}.")


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


if __name__ == "__main__":
    prepare()
    sys.exit(main())
