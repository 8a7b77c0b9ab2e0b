"""Exit codes and one-line errors: 2 for what the user can mend, 1 for a failure of ours, 130 for Ctrl-C."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import typer

from .._support import memory
from .session import printable

Command = TypeVar("Command", bound=Callable[..., Any])

MENDABLE = (ValueError, OSError, ImportError, MemoryError)


def guarded(command: Command) -> Command:
    """The command, with its exceptions turned into one line on stderr; with ``debug=True`` they pass."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            with _warnings_as_lines(bool(kwargs.get("quiet"))):
                return command(*args, **kwargs)
        except KeyboardInterrupt:
            typer.echo("bvdt: interrupted; no file is left half-written", err=True)
            raise typer.Exit(130) from None
        except (typer.Exit, typer.Abort):
            raise
        except BrokenPipeError:  # the reader of stdout has gone, as head does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except Exception as error:
            if kwargs.get("debug") or type(error).__module__.startswith("typer."):
                raise
            typer.echo(f"bvdt: {printable(sentence(error))}", err=True)
            raise typer.Exit(2 if isinstance(error, MENDABLE) else 1) from None

    return run  # type: ignore[return-value]


def sentence(error: Exception) -> str:
    """What to tell the user, on one or two lines."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return str(error) if memory.names_figure(error) else memory.refusal("this")
    if isinstance(error, MENDABLE):
        return str(error)
    return f"unexpected {type(error).__name__}: {error} (run again with --debug to see where)"


@contextmanager
def after_writing(*written: Path) -> Iterator[None]:
    """An error in here is reported together with the files that are already there and good."""
    try:
        yield
    except Exception as error:
        kind = ValueError if isinstance(error, MENDABLE) else RuntimeError
        names = " and ".join(map(str, written))
        verb = "is" if len(written) == 1 else "are"
        raise kind(f"{sentence(error)}\n      {names} {verb} written and complete") from error


@contextmanager
def _warnings_as_lines(quiet: bool) -> Iterator[None]:
    """Warnings of the library as notes of one line; which ones are shown is left as it was."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if not quiet:
            typer.echo(f"note: {printable(str(message))}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
