"""Options that several commands share; each help text fits one line of an 80-column screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from ..divergences import NAMES
from ..documents.features import SCALES, TextSettings
from ..documents.holdout import MAX_SHARE, MIN_SHARE
from ..documents.settings import WalkSettings
from .help import RARE


def parse_bandwidth(text: str) -> float | str:
    """ "auto", "learn" or a number above 0."""
    if text in ("auto", "learn"):
        return text
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise typer.BadParameter(f"needs auto, learn or a number above 0; got {text!r}")
    return value


def parse_alpha(text: str) -> float | str:
    """ "auto", or a number from 0 to 1."""
    if text == "auto":
        return text
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise typer.BadParameter(f"needs auto or a number from 0 to 1; got {text!r}")
    return value


def parse_ngrams(text: str) -> tuple[int, int]:
    """ "2" or "1-3"."""
    parts = text.split("-")
    if len(parts) <= 2 and all(part.isascii() and part.isdigit() for part in parts):
        low, high = int(parts[0]), int(parts[-1])
        if 1 <= low <= high:
            return low, high
    raise typer.BadParameter(f"needs a length such as 1, or a range such as 1-2; got {text!r}")


def parse_share(text: str) -> float:
    """0, or a share that ``bvdt.documents.holdout`` takes."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if value and not MIN_SHARE <= value <= MAX_SHARE:
        raise typer.BadParameter(f"needs a share from {MIN_SHARE} to {MAX_SHARE}, or 0; got {text!r}")
    return value


def parse_fraction(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise typer.BadParameter(f"needs a share from 0 to 1, such as 0.05; got {text!r}")
    return value


def parse_jobs(text: str) -> int:
    """Any integer but 0."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not value:
        raise typer.BadParameter(f"needs a number of threads; got {text!r}")
    return value


def at_least(low: int) -> Callable[[str], int]:
    """A parser of integers from ``low`` on."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if value < low:
            raise typer.BadParameter(f"needs an integer ≥ {low}; got {text!r}")
        return value

    return parse


def at_least_or_auto(low: int) -> Callable[[str], int | str]:
    """A parser of integers from ``low`` on, and of "auto"."""

    def parse(text: str) -> int | str:
        return text if text == "auto" else at_least(low)(text)

    return parse


def one_of(*names: str) -> Callable[[str], str]:
    """A parser that lets only these names pass."""

    def parse(text: str) -> str:
        if text not in names:
            raise typer.BadParameter(f"needs one of {', '.join(names)}; got {text!r}")
        return text

    return parse


def option(*names: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    """A typer option without its default in the help."""
    return typer.Option(*names, help=help, metavar=metavar, show_default=False, **more)


def count(*names: str, help: str, low: int, metavar: str = "N", **more: Any) -> Any:
    """An option whose value is an integer from ``low`` on."""
    return option(*names, help=help, metavar=metavar, parser=at_least(low), **more)


Parsed: TypeAlias = Any  # typer takes no unions: the option's parser says which types
Input = Annotated[Path, typer.Argument(metavar="INPUT", show_default=False, hidden=True)]
Output = Annotated[Path, option("--output", "-o", help="To .csv, .tsv, .jsonl or .parquet.", metavar="FILE")]
Text = Annotated[str | None, option("--text", help='Column of texts; default "text".', metavar="COLUMN")]
Vectors = Annotated[
    Path | None, option("--vectors", help="An encoder's vectors, .npy, in INPUT's order.", metavar="FILE")
]
Encoder = Annotated[
    Path | None,
    option("--encoder", help="A model's folder, for vectors.", metavar="FOLDER", rich_help_panel=RARE),
]
Id = Annotated[str | None, option("--id", help='Column of ids; default "id".', metavar="COLUMN")]
EscapeFormulas = Annotated[
    bool, option("--escape-formulas", help="Write ' before texts that begin a formula.", rich_help_panel=RARE)
]
Missing = Annotated[
    str | None, option("--unlabeled", help="A label that means: none.", metavar="WORD", rich_help_panel=RARE)
]
Encoding = Annotated[
    str | None,
    option("--encoding", help="Of the text; default: guessed.", metavar="NAME", rich_help_panel=RARE),
]

Divergence = Annotated[
    str | None,
    option(
        "--divergence",
        help="squared_euclidean; texts: cosine; gid, kl, ...",
        metavar="NAME",
        parser=one_of(*NAMES),
    ),
]
Bandwidth = Annotated[
    Parsed, option("--bandwidth", help="auto, learn or a number.", metavar="B", parser=parse_bandwidth)
]
Near = Annotated[int | None, count("--neighbors", help="Nearest points kept exactly.", low=0, metavar="K")]
Trees = Annotated[int | None, count("--trees", help="Trees averaged.", low=1, metavar="T")]
Blocks = Annotated[
    int | None, count("--blocks", help="Of the matrix; default: the fewest.", low=2, rich_help_panel=RARE)
]
Scale = Annotated[
    str | None,
    option("--scale", help="auto, tfidf, standard or none.", metavar="HOW", parser=one_of(*SCALES)),
]
Ngrams = Annotated[
    Parsed,
    option(
        "--ngrams",
        help="Lengths of terms, such as 1-2.",
        metavar="N",
        parser=parse_ngrams,
        rich_help_panel=RARE,
    ),
]
Chars = Annotated[bool, option("--chars", help="Terms of characters, not of words.", rich_help_panel=RARE)]
MinDf = Annotated[
    int | None, count("--min-df", help="Leave out terms of fewer documents.", low=1, rich_help_panel=RARE)
]
StopWords = Annotated[
    str | None,
    option("--stop-words", help="english, or a file of words.", metavar="WORDS", rich_help_panel=RARE),
]

Seed = Annotated[int, count("--seed", help="Of the random choices; default 0.", low=0)]
Jobs = Annotated[
    int | None, option("--jobs", "-j", help="Threads; default: every core.", metavar="N", parser=parse_jobs)
]
Quiet = Annotated[bool, option("--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, option("--json", help="Print one JSON object instead.")]
Debug = Annotated[bool, option("--debug", help="Show the traceback of an error.", rich_help_panel=RARE)]


def text_settings(
    ngrams: tuple[int, int] | None, chars: bool, min_df: int | None, stop_words: str | None
) -> TextSettings:
    """From the command line's options; a range for characters defaults to 2 to 4."""
    if chars and stop_words:
        raise ValueError("--stop-words has no effect with --chars; leave one of them out")
    lengths = ngrams or ((2, 4) if chars else (1, 1))
    return TextSettings("char" if chars else "word", lengths, min_df or 1, _stop_words(stop_words))


def walk_settings(
    divergence: str | None,
    bandwidth: float | str | None,
    n_neighbors: int | None,
    trees: int | None,
    scale: str | None,
    text: TextSettings,
    seed: int,
    jobs: int | None,
    blocks: int | None = None,
) -> WalkSettings:
    """From the command line's options."""
    return WalkSettings(
        divergence, bandwidth or "auto", n_neighbors, trees, scale or "auto", text, seed, jobs, blocks
    )


def _stop_words(given: str | None) -> tuple[str, ...]:
    if given is None or given == "english":
        return () if given is None else ("english",)
    path = Path(given)
    if not path.is_file():
        raise ValueError(f'--stop-words needs "english" or a file of words; there is no file {given}')
    try:
        words = path.read_text(encoding="utf-8-sig").lower().split()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} needs words in UTF-8; byte {error.start} is not") from None
    return tuple(dict.fromkeys(words))
