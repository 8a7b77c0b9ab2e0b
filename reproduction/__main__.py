"""``python -m reproduction``: the paper's experiments, section 4, by one command."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bvdt._support.json import JsonObject
from bvdt._support.running import n_threads

from . import FULL, QUICK, Outcome, reproduce
from .command import add_common, prepare, run
from .methods import METHODS
from .run import PARTS

HELP = """Repeat the paper's experiments: figures, table 2, each claim.

Writes reproduction.html and .md, all numbers as CSV, figures as PNG and SVG. An interrupted run goes on where
it ended. Times (figure2f) want a machine with nothing else to do."""
EXAMPLE = "Example:\n  python -m reproduction --quick --data data --out results"


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command."""
    return run(_reproduce, _parser().parse_args(arguments))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "python -m reproduction",
        description=HELP,
        epilog=EXAMPLE,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets' npz files")
    parser.add_argument("-o", "--out", type=Path, default=Path("results"), help="folder of the results")
    parser.add_argument(
        "--quick", action="store_true", help="BBC-Sport and BBC whole, the others sub-sampled: minutes"
    )
    parser.add_argument(
        "--only", nargs="+", action="extend", default=[], metavar="PART", help=f"of {' '.join(PARTS)}"
    )
    parser.add_argument("--trials", type=int, help="labelings drawn; default: the paper's 5")
    parser.add_argument("--fresh", action="store_true", help="work out again what an earlier run left")
    parser.add_argument("--seed", type=int, default=0, help="of the random choices; default 0")
    parser.add_argument("-j", "--jobs", type=int, help="units at a time; default: every core")
    add_common(parser)
    return parser


def _reproduce(options: Namespace) -> None:
    begun = time.perf_counter()
    if options.seed < 0:
        raise ValueError(f"--seed needs an integer >= 0; got {options.seed}")
    if options.trials is not None and options.trials < 1:
        raise ValueError(f"--trials needs an integer >= 1; got {options.trials}")
    config = QUICK if options.quick else FULL
    if options.trials is not None:
        config = replace(config, trials=options.trials)
    with _progress(options.quiet or options.json) as (say, told):
        outcome = reproduce(
            options.data,
            options.out,
            config=config,
            seed=options.seed,
            jobs=n_threads(options.jobs),
            only=[name for text in options.only for name in text.split(",") if name],
            fresh=options.fresh,
            say=say,
            told=told,
        )
    if options.json:
        print(json.dumps(_summary(outcome, time.perf_counter() - begun), ensure_ascii=False))
    elif not options.quiet:
        _show(outcome, time.perf_counter() - begun)


@contextmanager
def _progress(silent: bool) -> Iterator[tuple[Callable[[str], None], Callable[[int, int, str], None]]]:
    """(say a line, tell of a finished unit): a bar on a terminal, lines elsewhere, or nothing."""
    if silent:
        yield (lambda line: None), (lambda done, total, name: None)
    elif not sys.stderr.isatty():
        yield (
            (lambda line: print(line, file=sys.stderr)),
            (lambda done, total, name: print(f"{done}/{total} {name}", file=sys.stderr)),
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
    for claim in outcome.measured.claims:
        print(f"{claim.verdict:>15}  {claim.quote}")
        for line in claim.numbers:
            print(f"{'':17}{line}")
    for (data, method), fit in outcome.measured.fitted.items():
        print(f"{data}, {METHODS[method].title}: seconds grow as N^{fit}")
    print(f"{outcome.page}: claims, tables and figures ({seconds:.0f} s)")


if __name__ == "__main__":
    prepare()
    sys.exit(main())
