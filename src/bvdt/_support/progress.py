"""Progress of long work, reported to the caller.

``progress`` is a bool or a callable everywhere: ``progress(title, done, total)`` is called after each step
with the name of the stage, the steps done and all steps. True writes a line on stderr.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[str, int, int], None]
Progress = bool | Tell

_INTERVAL = 0.1  # seconds between two writings of the line


@contextmanager
def stage(progress: Progress, title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields ``advance(count)``, which reports progress to the callable or on a line of stderr."""
    if progress is False:
        yield lambda _: None
        return
    tell = _Line() if progress is True else progress
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        tell(title, done, total)

    tell(title, 0, total)
    try:
        yield advance
    finally:
        if isinstance(tell, _Line):
            tell.clear()


class _Line:
    """One line on stderr, written anew while the work goes on and cleared at its end."""

    def __init__(self) -> None:
        self.width, self.written, self.begin = 0, 0.0, time.monotonic()

    def __call__(self, title: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.written < _INTERVAL and done < total:
            return
        share = done / max(total, 1)
        left = "" if not 0 < done < total else f", {(now - self.begin) * (1 / share - 1):.0f} s left"
        line = f"{title}: {share:.0%}{left}"
        sys.stderr.write("\r" + line.ljust(self.width))
        sys.stderr.flush()
        self.width, self.written = max(self.width, len(line)), now

    def clear(self) -> None:
        sys.stderr.write("\r" + " " * self.width + "\r")
        sys.stderr.flush()
