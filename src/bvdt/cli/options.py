"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Seed = Annotated[int, typer.Option("--seed", help="Of the random choices.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Threads; default: every core.")]
