"""What a command says while it works and at its end: lines, or one JSON object; bars on a terminal only."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING

import typer

from .._support.json import JsonObject
from .._support.progress import Progress, stage

if TYPE_CHECKING:
    from rich.progress import TaskID


class Session:
    """Lines to stdout unless quiet; with ``json`` they are kept back and ``result`` is printed at the end."""

    def __init__(self, *, quiet: bool = False, json: bool = False) -> None:
        self.quiet, self.json = quiet, json
        self.result: JsonObject = {}
        self.timings: list[tuple[str, float]] = []
        self.progress = not quiet and not json and sys.stderr.isatty()
        self._start = time.perf_counter()

    def say(self, line: str = "") -> None:
        """A line for people."""
        if self.quiet or self.json:
            return
        try:
            typer.echo(printable(line))
        except BrokenPipeError:  # the reader has gone, as head does: the files are still wanted
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.quiet = True

    def note(self, line: str) -> None:
        """Something to know that is not an error, on stderr; kept in the JSON object too."""
        self.result.setdefault("notes", []).append(line)
        if not self.quiet:
            typer.echo(f"note: {printable(line)}", err=True)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """An aligned table; columns of numbers to the right."""
        for line in aligned(columns, rows):
            self.say(line)

    @contextmanager
    def stage(self, title: str, *, own_bar: bool = False) -> Iterator[None]:
        """Time a part of the work, and show that it runs; ``own_bar`` where the work draws its own."""
        start = time.perf_counter()
        if self.progress and not own_bar:
            from rich.console import Console

            with Console(stderr=True).status(f"{title} ..."):
                yield
        else:
            yield
        self.timings.append((title, time.perf_counter() - start))

    @contextmanager
    def bars(self, title: str) -> Iterator[Progress]:
        """A timed part of the work with a bar per stage; yields what the library takes as ``progress``."""
        with self.stage(title, own_bar=True):
            if not self.progress:
                yield False
                return
            from rich.console import Console
            from rich.progress import Progress as Bars

            with Bars(console=Console(stderr=True), transient=True) as bars:
                tasks: dict[str, TaskID] = {}

                def tell(stage: str, done: int, total: int) -> None:
                    if stage not in tasks:
                        tasks[stage] = bars.add_task(stage)
                    bars.update(tasks[stage], completed=done, total=total)

                yield tell

    @contextmanager
    def steps(self, title: str, total: int) -> Iterator[Callable[[int], None]]:
        """A timed stage of known length; yields ``advance(count)``."""
        with self.bars(title) as progress, stage(progress, title, total) as advance:
            yield advance

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start

    def finish(self) -> None:
        """Print the JSON object, if that was asked for."""
        if not self.json:
            return
        self.result["seconds"] = {name: round(value, 3) for name, value in self.timings}
        self.result["seconds"]["total"] = round(self.seconds, 3)
        typer.echo(escaped(json.dumps(self.result, ensure_ascii=False)))


def escaped(text: str) -> str:
    """JSON without the control characters from 127 on, which JSON allows and a terminal obeys."""
    return text.translate({code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)})


def printable(line: str) -> str:
    """The line without control characters, which a file's ids or labels could smuggle to the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in line)


def shortened(text: str, width: int) -> str:
    """The beginning of a text on one line."""
    text = " ".join(text[: 4 * width].split())
    return text if len(text) <= width else text[: width - 3].rstrip() + "..."


def aligned(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table with a head; a column whose cells are all numbers is set to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[shortened(cell, 44) for cell in row] for row in rows]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for j, name in enumerate(columns):
        right = all(_is_number(row[j]) for row in cells)
        table.add_column(Text(name), justify="right" if right else "left", no_wrap=True)
    for row in cells:
        table.add_row(*map(Text, row))
    console = Console(file=StringIO(), width=10_000, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(table)
    return [f"  {line.rstrip()}" for line in captured.get().splitlines()]


def _is_number(cell: str) -> bool:
    return cell in ("", "-") or cell.replace(",", "").replace(".", "", 1).lstrip("-").isdigit()
