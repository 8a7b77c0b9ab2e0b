"""Exit codes and one-line errors: 2 for what the user can mend, 1 for a failure of ours, 130 for Ctrl-C."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import typer

Command = TypeVar("Command", bound=Callable[..., Any])


def guarded(command: Command) -> Command:
    """The command, with its exceptions turned into one line on stderr; with ``debug=True`` they pass."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            typer.echo("interrupted; nothing was left half-written", err=True)
            raise typer.Exit(130) from None
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if kwargs.get("debug"):
                raise
            typer.echo(f"bvdt: {_sentence(error)}", err=True)
            raise typer.Exit(2 if isinstance(error, (ValueError, OSError, ImportError)) else 1) from None

    return run  # type: ignore[return-value]


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return str(error) or "not enough memory"
    if isinstance(error, (ValueError, OSError, ImportError)):
        return str(error)
    return f"unexpected {type(error).__name__}: {error} (run again with --debug to see where)"


def on_terminal() -> bool:
    """Whether progress should be drawn: stderr is a terminal."""
    return sys.stderr.isatty()
