"""The command line: a command reads files, calls the library and writes files; it holds no mathematics."""

from __future__ import annotations

import typer

from . import datasets
from .guard import guarded
from .reproduce import reproduce

app = typer.Typer(
    name="bvdt",
    help="Random walks over N points without the N×N matrix: labels, maps and clusters from a few labels.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(datasets.app, name="datasets")
app.command("reproduce")(guarded(reproduce))


@app.callback()
def version(
    show: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True),
) -> None:
    if show:
        from importlib.metadata import version as installed

        typer.echo(installed("bvdt"))
        raise typer.Exit


def main() -> None:
    """Entry point of the ``bvdt`` command."""
    app()
