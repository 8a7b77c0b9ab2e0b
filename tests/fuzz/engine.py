"""The fuzzers' engine: inputs drawn by Hypothesis, tried in a child process that may crash or hang.

A target draws recipes (small dataclasses whose repr says everything) and tries them one by one. The child
tells its parent, one line each, what it is about to try and what came of it; so the parent knows what was
being tried when the child died, or fell silent for more than a minute. A session is so many recipes from one
seed: ``python -m fuzz repeat TARGET SEED`` tries them again, and shrinks the first that fails.
"""

from __future__ import annotations

import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

SESSION = 200  # recipes from one seed
SLICE = 120.0  # seconds that one target has the child for, at most
SILENCE = 60.0  # seconds for one input
_TESTS = Path(__file__).parents[1]
_SHOWN = 4000  # characters of a recipe, or of what a child wrote before it died

REFUSED, ACCEPTED, IMPOSSIBLE, UNEXPECTED, CRASH, HANG = OUTCOMES = (
    "refused",
    "accepted",
    "impossible",
    "unexpected",
    "crash",
    "hang",
)
FAILURES = (IMPOSSIBLE, UNEXPECTED, CRASH, HANG)


class Refused(Exception):  # noqa: N818  what a user is told, not an error of the fuzzer
    """The input was refused as promised."""


class Impossible(AssertionError):  # noqa: N818
    """The input was accepted, and gave what cannot be."""


@dataclass(frozen=True)
class Target:
    """What is attacked: recipes, and ``attempt(recipe, folder)``, which returns or raises one of these."""

    name: str
    recipes: SearchStrategy[Any]
    attempt: Callable[[Any, Path], None]
    reaches_kernels: bool = True  # worth a run under the sanitizers


@dataclass(frozen=True)
class Finding:
    """One input that broke a promise, and how to see it again."""

    target: str
    outcome: str
    seed: int
    number: int
    recipe: str
    told: str

    def __str__(self) -> str:
        again = f"PYTHONPATH=tests python -m fuzz repeat {self.target} {self.seed}"
        return (
            f"{self.target}: {self.outcome} at input {self.number} of seed {self.seed}\n"
            f"  input:  {self.recipe}\n  told:   {self.told}\n  repeat: {again}"
        )


@dataclass
class Counts:
    """How often what came of an input, by target, and every finding."""

    by_target: dict[str, Counter[str]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, target: str, outcome: str) -> None:
        self.by_target.setdefault(target, Counter())[outcome] += 1

    def found(self, finding: Finding) -> None:
        self.add(finding.target, finding.outcome)
        self.findings.append(finding)

    def table(self) -> str:
        """A line per target: inputs, then each outcome."""
        names = ("target", "inputs", *OUTCOMES)
        rows = [(name, sum(c.values()), *(c[o] for o in OUTCOMES)) for name, c in self.by_target.items()]
        totals = [sum(int(row[k]) for row in rows) for k in range(1, len(names))]
        shown = [[str(cell) for cell in row] for row in (names, *rows, ("all", *totals))]
        widths = [max(len(row[k]) for row in shown) for k in range(len(names))]
        return "\n".join("  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in shown)


# -- the child -----------------------------------------------------------------------------------------------


def work(target: Target, seeds: Iterator[int], out: IO[str], examples: int = SESSION) -> None:
    """Sessions of these seeds, told line by line."""

    def tell(*words: Any) -> None:
        out.write(json.dumps(words) + "\n")
        out.flush()

    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for number in seeds:
            tell("session", number)

            def attempt(recipe: Any) -> None:
                tell("try", repr(recipe)[:_SHOWN])
                tell(*outcome_of(target, recipe, Path(folder)))

            _session(target, attempt, number, examples, [Phase.generate])


def outcome_of(target: Target, recipe: Any, folder: Path) -> tuple[str, str]:
    """What came of an input, and in which words."""
    for left in folder.iterdir():
        _remove(left)
    try:
        target.attempt(recipe, folder)
    except Refused as refused:
        return REFUSED, str(refused)
    except Impossible as impossible:
        return IMPOSSIBLE, str(impossible)
    except Exception as error:
        return UNEXPECTED, f"{type(error).__name__}: {error}"[:_SHOWN]
    return ACCEPTED, ""


def _session(target: Target, attempt: Callable[[Any], None], number: int, examples: int, phases: Any) -> None:
    quiet = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        derandomize=False,
        print_blob=False,
    )
    seed(number)(quiet(given(target.recipes)(attempt)))()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for inner in path.iterdir():
            _remove(inner)
        path.rmdir()
    else:
        path.unlink()


def repeat(target: Target, number: int, examples: int = SESSION) -> None:
    """A session once more in this process; raises for the first failure, made as small as can be."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:

        def attempt(recipe: Any) -> None:
            outcome, told = outcome_of(target, recipe, Path(folder))
            assert outcome not in FAILURES, f"{outcome}: {told}"

        _session(target, attempt, number, examples, [Phase.generate, Phase.shrink])


def fresh_seeds() -> Iterator[int]:
    """Other seeds at every run."""
    while True:
        yield secrets.randbelow(2**32)


# -- the parent ----------------------------------------------------------------------------------------------


@dataclass
class Campaign:
    """Targets in turn, each in children of its own, for so many seconds or inputs in all."""

    targets: Sequence[str]
    seconds: float
    silence: float = SILENCE
    slice: float = SLICE
    inputs: int | None = None  # per target; then it is done, though there be time
    child: Sequence[str] = (sys.executable, "-m", "fuzz", "child")
    tell: Callable[[str], None] = print

    def run(self) -> Counts:
        """What all inputs came to."""
        counts, until = Counts(), time.monotonic() + self.seconds
        open_targets = list(self.targets)
        turn = min(self.slice, self.seconds / max(len(open_targets), 1))
        while open_targets and time.monotonic() < until:
            for name in list(open_targets):
                left = until - time.monotonic()
                if left > 0:
                    self._turn(name, counts, time.monotonic() + min(turn, left))
                if self._enough(name, counts):
                    open_targets.remove(name)
        return counts

    def _turn(self, name: str, counts: Counts, until: float) -> None:
        """One child after another, until the time is up."""
        while time.monotonic() < until and not self._enough(name, counts):
            before = len(counts.findings)
            with _Child([*self.child, name]) as child:
                self._listen(name, child, counts, until)
            for finding in counts.findings[before:]:
                self.tell(str(finding))

    def _listen(self, name: str, child: _Child, counts: Counts, until: float) -> None:
        session, number, recipe = 0, 0, ""
        trying, begin = False, time.monotonic()
        while True:
            wait = self.silence if trying else max(self.silence, 120.0)  # a child's imports are no input
            line = child.line(wait)
            if line == "" and not number and not session:
                raise RuntimeError(f"the fuzzer of {name} does not start: {child.last_words()}")
            if line is None or line == "":
                outcome = HANG if line is None else CRASH
                told = f"silent for {wait:.0f} s" if line is None else child.last_words()
                counts.found(Finding(name, outcome, session, number, recipe, told))
                return
            kind, *words = json.loads(line)
            if kind == "session":
                if not session:
                    until += time.monotonic() - begin  # imports may take all of a short turn
                session, number, trying = words[0], 0, False
                if time.monotonic() >= until or self._enough(name, counts):
                    return
            elif kind == "try":
                number, recipe, trying = number + 1, words[0], True
            else:
                trying = False
                if kind in FAILURES:
                    counts.found(Finding(name, kind, session, number, recipe, words[0]))
                else:
                    counts.add(name, kind)
                if time.monotonic() >= until:
                    return

    def _enough(self, name: str, counts: Counts) -> bool:
        return self.inputs is not None and sum(counts.by_target.get(name, {}).values()) >= self.inputs


class _Child:
    """A process whose lines are waited for, no longer than is said."""

    def __init__(self, command: Sequence[str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed on leaving
        path = os.pathsep.join(filter(None, [str(_TESTS), str(_TESTS.parent), os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=hasattr(os, "setsid"),
            env=os.environ | {"PYTHONPATH": path},
        )
        assert self._process.stdout is not None
        self._file, self._buffer = self._process.stdout, b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._file, selectors.EVENT_READ)

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        with_group = hasattr(os, "killpg") and self._process.poll() is None
        if with_group:
            os.killpg(self._process.pid, signal.SIGKILL)  # it began a group of its own
        self._process.kill()
        self._process.wait()
        self._selector.close()
        self._file.close()
        self._errors.close()

    def line(self, wait: float) -> str | None:
        """The next line; "" when the process has ended, None when it was silent for that long."""
        until = time.monotonic() + wait
        while b"\n" not in self._buffer:
            if not self._selector.select(max(0.0, until - time.monotonic())):
                return None
            piece = os.read(self._file.fileno(), 1 << 16)
            if not piece:
                return ""
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line.decode()

    def last_words(self) -> str:
        """Exit status and the end of what it wrote on stderr: a sanitizer's report, a traceback."""
        code = self._process.wait()
        ended = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        self._errors.seek(0)
        return f"{ended}; {self._errors.read().decode(errors='replace')[-_SHOWN:]}".strip()
