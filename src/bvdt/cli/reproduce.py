"""``bvdt reproduce``: the paper's experiments, section 4, by one command."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._support.json import JsonObject
from .options import Debug, Jobs, Json, Quiet, Seed

if TYPE_CHECKING:
    from ..experiments import Outcome


REPRODUCE_HELP = """Repeat the paper's experiments: figures, table 2, each claim.

Writes reproduction.html and .md, all numbers as CSV, figures as PNG and SVG. An interrupted run goes on where
it ended. Times (figure2f) want a machine with nothing else to do.

\b
Example:
  bvdt reproduce --quick --data data --out results
"""


def reproduce(
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    data: Annotated[
        Path, typer.Option("--data", help="Folder of the data sets' npz files.", metavar="FOLDER")
    ] = Path("data"),
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the results.", metavar="FOLDER")] = Path(
        "results"
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="BBC-Sport and BBC whole, the others sub-sampled: minutes.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="table2 figure1 figure2a … figure2f sensitivity.", metavar="PART"),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Work out again what an earlier run left.")] = False,
    seed: Seed = 0,
    jobs: Jobs = None,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    from .._support.running import n_threads
    from ..experiments import FULL, QUICK
    from ..experiments import reproduce as run

    begun = time.perf_counter()
    names = [name for text in [*(only or []), *(more or [])] for name in text.split(",") if name]
    if more and not only:
        raise ValueError(f"bvdt reproduce takes options only; name parts with --only {' '.join(more)}")
    with _progress(quiet or as_json) as (say, told):
        outcome = run(
            data,
            out,
            config=QUICK if quick else FULL,
            seed=seed,
            jobs=n_threads(jobs),
            only=names,
            fresh=fresh,
            say=say,
            told=told,
        )
    if as_json:
        typer.echo(json.dumps(_summary(outcome, time.perf_counter() - begun), ensure_ascii=False))
    elif not quiet:
        _show(outcome, time.perf_counter() - begun)


@contextmanager
def _progress(silent: bool) -> Iterator[tuple[Callable[[str], None], Callable[[int, int, str], None]]]:
    """(say a line, tell of a finished unit): a bar on a terminal, lines elsewhere, or nothing."""
    if silent:
        yield (lambda line: None), (lambda done, total, name: None)
    elif not sys.stderr.isatty():
        yield (
            (lambda line: typer.echo(line, err=True)),
            (lambda done, total, name: typer.echo(f"{done}/{total} {name}", err=True)),
        )
    else:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("experiments")

            def told(done: int, total: int, name: str) -> None:
                bar.update(task, completed=done, total=total, description=name)

            yield (lambda line: bar.console.print(line, markup=False)), told


def _summary(outcome: Outcome, seconds: float) -> JsonObject:
    return {
        "claims": [
            {"claim": claim.quote, "verdict": claim.verdict, "measured": list(claim.numbers)}
            for claim in outcome.measured.claims
        ],
        "exponents": [
            {"data": data, "method": method, "exponent": fit.value, "from": fit[1], "to": fit[2]}
            for (data, method), fit in outcome.measured.fitted.items()
        ],
        "left_out": outcome.measured.skipped,
        "page": str(outcome.page),
        "seconds": round(seconds, 1),
    }


def _show(outcome: Outcome, seconds: float) -> None:
    from ..experiments.methods import METHODS

    for claim in outcome.measured.claims:
        typer.echo(f"{claim.verdict:>15}  {claim.quote}")
        for line in claim.numbers:
            typer.echo(f"{'':17}{line}")
    for (data, method), fit in outcome.measured.fitted.items():
        typer.echo(f"{data}, {METHODS[method].title}: seconds grow as N^{fit}")
    typer.echo(f"{outcome.page}: claims, tables and figures ({seconds:.0f} s)")
