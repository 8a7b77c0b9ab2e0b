"""The command line: a command reads files, calls the library and writes files; it holds no mathematics."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress
from typing import NoReturn

import typer

from . import interrupts, neighbors
from .cluster import CLUSTER_HELP, cluster
from .demo import DEMO_HELP, demo
from .embed import EMBED_HELP, embed
from .guard import guarded
from .help import TwoHelps, usual_spelling
from .inspect import INSPECT_HELP, inspect
from .label import LABEL_HELP, label
from .propagate import PROPAGATE_HELP, propagate

HELP = """Label many texts, vectors or table rows from a few labels; maps and clusters
of them, in memory that grows linearly.

\b
Example:
  bvdt propagate docs.csv --labels topic -o out.csv --report report.html
"""

app = typer.Typer(
    name="bvdt",
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "token_normalize_func": usual_spelling},
)
app.add_typer(neighbors.app, name="neighbors")


def _print_version(show: bool) -> None:
    if show:
        from importlib.metadata import version

        typer.echo(version("bvdt"))
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", help="Print the version and stop.", is_eager=True, callback=_print_version
    ),
) -> None:
    """What stands before the command's name."""


app.command("demo", cls=TwoHelps, help=DEMO_HELP)(guarded(demo))
app.command("label", cls=TwoHelps, help=LABEL_HELP, no_args_is_help=True)(guarded(label))
app.command("propagate", cls=TwoHelps, help=PROPAGATE_HELP, no_args_is_help=True)(guarded(propagate))
app.command("embed", cls=TwoHelps, help=EMBED_HELP, no_args_is_help=True)(guarded(embed))
app.command("cluster", cls=TwoHelps, help=CLUSTER_HELP, no_args_is_help=True)(guarded(cluster))
app.command("inspect", cls=TwoHelps, help=INSPECT_HELP, no_args_is_help=True)(guarded(inspect))


def main() -> None:
    """Entry point of the ``bvdt`` command."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this: what is said goes nowhere
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # until the end
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter is no reason to stop
    interrupts.handle()
    try:
        app()
    except KeyboardInterrupt:  # before a command began or after it ended
        typer.echo("bvdt: interrupted", err=True)
        _end(130)
    except SystemExit as end:
        _end(end.code if isinstance(end.code, int) else int(end.code is not None))


def _end(code: int) -> NoReturn:
    """End the process at once where a thread still computes an unneeded result, such as a map.

    Python would end such a thread in the middle of a library's C++, which aborts the process.
    """
    if any(thread.daemon for thread in threading.enumerate()):
        atexit._run_exitfuncs()  # as Python would, before it ends threads
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)
