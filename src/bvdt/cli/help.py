"""Two helps, as good command-line tools have: ``-h`` fits a screen, ``--help`` lists every option."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

RARE = "rare"  # the panel of options that -h leaves out; nothing else draws panels here

OTHER_SPELLINGS = {"unlabelled": "unlabeled", "missing": "unlabeled"}  # of options; no help lists them


def usual_spelling(name: str) -> str:
    """The name of an option that has others, too."""
    return OTHER_SPELLINGS.get(name, name)


class TwoHelps(TyperCommand):
    """A command whose ``-h`` leaves out the options marked as rare, and says that --help has them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # typer's own Context, or click's
        short = not args or "-h" in args
        rare = [parameter for parameter in self.params if getattr(parameter, "rich_help_panel", None) == RARE]
        for parameter in rare:
            parameter.hidden = short  # type: ignore[attr-defined]
        self.epilog = f"{len(rare)} more options: --help." if short and rare else None
        return super().parse_args(ctx, args)
