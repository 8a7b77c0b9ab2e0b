"""Where the functions of shards run: what every engine offers, and the engine of one machine.

The mathematics of this package is a few pure functions of slabs (rows as they were given) and shards (rows
that lie near to each other). An executor runs them, one call per slab or shard, and keeps what they return;
the driver holds references only, and gathers small results. Nothing here knows what the functions compute.

``LocalExecutor`` runs them in this process, one or a few at a time; what exceeds its memory limit is kept in
files (:mod:`bvdt.sharded.store`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .._support.memory import GIB
from .._support.progress import Progress, stage
from .._support.running import n_threads
from .store import Bundle, Item, Kept, Store

Reference = Any  # of an executor's own kind
Place = str | None  # where a value is kept; None where that makes no difference


_BASE = 0.35 * GIB  # of a process that has done nothing yet but import
_LEAST_KEPT = 0.4  # of the memory limit: for what is kept at hand
_HELD = 0.85  # of the memory limit: the rest is what the allocator holds between two arrays


class Donated(list[Reference]):
    """References that their giver needs no more once the call is made."""


class Executor(Protocol):
    """Runs functions on values that it keeps; an argument may be a value, a reference or a list of these."""

    n_jobs: int | None  # threads of one call

    def reserve(self, n_bytes: float, purpose: str, remedy: str) -> None:
        """One call of those that follow takes so much memory; MemoryError where that cannot be."""

    def put(self, value: Any) -> Reference:
        """A value that many calls will read."""

    def map(
        self,
        title: str,
        function: Callable[..., Any],
        *arguments: Sequence[Any],
        at: Sequence[Place] | None = None,
    ) -> list[Reference]:
        """function(arguments[0][i], arguments[1][i], …) for every i, at a place where that is possible.

        A list of the kind ``Donated`` is emptied, and its references go with their calls.
        """

    def places(self, references: Sequence[Reference]) -> list[Place]:
        """Where the values are."""

    def unpack(self, references: Sequence[Reference], counts: Sequence[int]) -> list[list[Reference]]:
        """References to the single items of tuples with so many items."""

    def pick(self, references: Sequence[Reference], number: int) -> list[Reference]:
        """References to one item of every tuple."""

    def gather(self, references: Sequence[Reference]) -> list[Any]:
        """The values themselves, in order."""

    def map_gather(
        self,
        title: str,
        function: Callable[..., Any],
        *arguments: Sequence[Any],
        at: Sequence[Place] | None = None,
    ) -> list[Any]:
        """What ``map`` would return, gathered: for small results of quick functions."""

    def gather_item(
        self, references: Sequence[Reference], number: int, at: Sequence[Place] | None
    ) -> list[Any]:
        """One small item of every tuple, gathered."""


@dataclass(frozen=True, eq=False)
class Source:
    """A slab that is read anew whenever it is needed, from a file or another library."""

    read: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


class LocalExecutor:
    """All calls in this process, results in files of a temporary folder where memory ends.

    Parameters
    ----------
    memory_limit : bytes for calls and what is kept together.
    kept_limit : bytes for what is kept; None for all that calls leave of the limit.
    """

    def __init__(
        self,
        memory_limit: float | None = None,
        *,
        kept_limit: float | None = None,
        folder: str | Path | None = None,
        n_jobs: int | None = None,
        progress: Progress = False,
    ) -> None:
        self.n_jobs, self.progress = n_jobs, progress
        self.memory_limit, self.kept_limit = memory_limit, kept_limit
        self._threads, self._at_once = n_threads(n_jobs), 1
        self._store = Store(kept_limit, folder)

    def reserve(self, n_bytes: float, purpose: str, remedy: str) -> None:
        """How many calls run at once, and how much memory they leave for what is kept.

        Several calls of one thread each leave no core idle; one call of several threads does now and then.
        """
        if self.memory_limit is None:
            return
        least = _LEAST_KEPT * self.memory_limit
        if n_bytes > self.memory_limit - least:
            enough = n_bytes / (1 - _LEAST_KEPT)
            raise MemoryError(
                f"{purpose} needs a memory_limit of {enough / GIB:.2g} GiB; it is "
                f"{self.memory_limit / GIB:.2g} GiB ({remedy})"
            )
        self._at_once = max(1, min(self._threads, int((self.memory_limit - least) // n_bytes)))
        self.n_jobs = max(1, self._threads // self._at_once)
        if self.kept_limit is None:
            self._store.limit = max(least, _HELD * self.memory_limit - _BASE - self._at_once * n_bytes)

    def put(self, value: Any) -> Reference:
        return self._store.keep(value)

    def places(self, references: Sequence[Reference]) -> list[Place]:
        return [None] * len(references)

    def map(
        self,
        title: str,
        function: Callable[..., Any],
        *arguments: Sequence[Any],
        at: Sequence[Place] | None = None,
    ) -> list[Reference]:
        calls = list(zip(*arguments, strict=True))
        for given in arguments:
            if isinstance(given, Donated):
                given.clear()
        self._store.next_turn()
        out = []
        with stage(self.progress, title, len(calls)) as advance:
            for kept in self._results(function, calls):
                out.append(kept)
                advance(1)
        return out

    def _results(self, function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> Iterator[Kept | Bundle]:
        def run(number: int) -> Kept | Bundle:
            call, calls[number] = calls[number], ()  # nothing here holds what was given
            return self._store.keep(function(*map(_resolved, call)))

        if self._at_once == 1 or len(calls) < 2:
            yield from map(run, range(len(calls)))
            return
        with ThreadPoolExecutor(self._at_once) as pool:
            yield from pool.map(run, range(len(calls)))

    def unpack(self, references: Sequence[Reference], counts: Sequence[int]) -> list[list[Reference]]:
        pairs = zip(references, counts, strict=True)
        return [
            list(kept.items) if isinstance(kept, Bundle) else [Item(kept, k) for k in range(count)]
            for kept, count in pairs
        ]

    def pick(self, references: Sequence[Reference], number: int) -> list[Reference]:
        return [items[number] for items in self.unpack(references, [number + 1] * len(references))]

    def gather(self, references: Sequence[Reference]) -> list[Any]:
        return [_resolved(reference) for reference in references]

    def map_gather(
        self,
        title: str,
        function: Callable[..., Any],
        *arguments: Sequence[Any],
        at: Sequence[Place] | None = None,
    ) -> list[Any]:
        return self.gather(self.map(title, function, *arguments))

    def gather_item(
        self, references: Sequence[Reference], number: int, at: Sequence[Place] | None
    ) -> list[Any]:
        return self.gather(self.pick(references, number))


def _resolved(argument: Any) -> Any:
    if isinstance(argument, Kept | Item | Bundle):
        return argument.value()
    if isinstance(argument, Source):
        return argument.read(*map(_resolved, argument.arguments))
    if isinstance(argument, list):
        return [_resolved(item) for item in argument]
    return argument
