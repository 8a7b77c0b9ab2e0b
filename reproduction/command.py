"""What the commands share: an error is a line and an exit code, Ctrl-C leaves no file half-written."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from bvdt.cli import interrupts
from bvdt.cli.guard import MENDABLE, sentence
from bvdt.cli.session import printable

__all__ = ["add_common", "prepare", "run"]


def add_common(parser: ArgumentParser) -> None:
    """The options of every command."""
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")


def run(command: Callable[[Namespace], None], options: Namespace) -> int:
    """The exit code: 0, 2 for what the user can mend, 1 for a failure of ours, 130 for Ctrl-C."""
    try:
        command(options)
    except KeyboardInterrupt:
        print("interrupted; no file is left half-written", file=sys.stderr)
        return 130
    except Exception as error:
        if options.debug:
            raise
        print(f"reproduction: {printable(sentence(error))}", file=sys.stderr)
        return 2 if isinstance(error, MENDABLE) else 1
    return 0


def prepare() -> None:
    """For a process that is a command: signals that wait for imports, letters that a terminal may lack."""
    interrupts.handle()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
