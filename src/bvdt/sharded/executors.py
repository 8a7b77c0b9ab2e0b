"""Where the functions of shards run: what every engine offers, and the engine of one machine.

The mathematics of this room is a few pure functions of slabs (rows as they were given) and shards (rows
that lie near to each other). An executor runs them, one call per slab or shard, and keeps what they return;
the driver holds references only, and gathers small results. Nothing here knows what the functions compute.

``LocalExecutor`` runs them one after the other. Results stay in memory up to its limit; beyond, those that
were not used for the longest time are files, which are mapped into memory when they are read again.
"""

from __future__ import annotations

import mmap
import pickle
import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .._support.progress import Progress, stage

Reference = Any  # of an executor's own kind
Place = str | None  # where a value is kept; None where that makes no difference


class Executor(Protocol):
    """Runs functions on values that it keeps; an argument may be a value, a reference or a list of these."""

    n_jobs: int | None

    def put(self, value: Any) -> Reference:
        """A value that many calls will read."""

    def map(
        self,
        title: str,
        function: Callable[..., Any],
        *arguments: Sequence[Any],
        at: Sequence[Place] | None = None,
    ) -> list[Reference]:
        """function(arguments[0][i], arguments[1][i], …) for every i, at a place where that is possible."""

    def places(self, references: Sequence[Reference]) -> list[Place]:
        """Where the values are."""

    def unpack(self, references: Sequence[Reference], counts: Sequence[int]) -> list[list[Reference]]:
        """References to the single items of tuples with so many items."""

    def gather(self, references: Sequence[Reference]) -> list[Any]:
        """The values themselves, in order."""


@dataclass(frozen=True, eq=False)
class Source:
    """A slab that is read anew whenever it is needed, from a file or another library."""

    read: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


class LocalExecutor:
    """All calls in this process, results beyond ``memory_limit`` bytes in files of a temporary folder."""

    def __init__(
        self,
        memory_limit: float | None = None,
        *,
        folder: str | Path | None = None,
        n_jobs: int | None = None,
        progress: Progress = False,
    ) -> None:
        self.n_jobs, self.progress = n_jobs, progress
        self._store = _Store(memory_limit, folder)

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
        out, calls = [], list(zip(*arguments, strict=True))
        with stage(self.progress, title, len(calls)) as advance:
            for call in calls:
                out.append(self._store.keep(function(*map(_resolved, call))))
                advance(1)
        return out

    def unpack(self, references: Sequence[Reference], counts: Sequence[int]) -> list[list[Reference]]:
        pairs = zip(references, counts, strict=True)
        return [[_Item(kept, k) for k in range(count)] for kept, count in pairs]

    def gather(self, references: Sequence[Reference]) -> list[Any]:
        return [_resolved(reference) for reference in references]


def _resolved(argument: Any) -> Any:
    if isinstance(argument, _Kept | _Item):
        return argument.value()
    if isinstance(argument, Source):
        return argument.read(*map(_resolved, argument.arguments))
    if isinstance(argument, list):
        return [_resolved(item) for item in argument]
    return argument


class _Store:
    """Values in the order of their last use; the eldest become files when all together exceed the limit."""

    def __init__(self, limit: float | None, folder: str | Path | None) -> None:
        self.limit = float("inf") if limit is None else float(limit)
        self.used = 0.0
        self.at_hand: OrderedDict[int, weakref.ref[_Kept]] = OrderedDict()  # weak: no circles
        self._parent, self._folder = folder, ""

    def keep(self, value: Any) -> _Kept:
        kept = _Kept(self, value)
        if kept.n_bytes > self.limit / 4:  # makes room for itself alone
            kept.write()
            return kept
        while self.at_hand and self.used + kept.n_bytes > self.limit:
            eldest = next(iter(self.at_hand.values()))()
            assert eldest is not None  # it forgets itself when it goes
            eldest.write()
        self.at_hand[id(kept)] = weakref.ref(kept)
        self.used += kept.n_bytes
        return kept

    def path(self, name: int) -> Path:
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="bvdt-", dir=self._parent)
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return Path(self._folder) / f"{name}.shard"

    def forget(self, kept: _Kept) -> None:
        if self.at_hand.pop(id(kept), None) is not None:
            self.used -= kept.n_bytes


class _Kept:
    """A value, in memory or in a file that goes when nobody refers to it any more."""

    def __init__(self, store: _Store, value: Any) -> None:
        self._store, self._value, self._file = store, value, Path()
        self._buffers: list[pickle.PickleBuffer] = []
        self._head = pickle.dumps(value, protocol=5, buffer_callback=self._buffers.append)
        self._sizes = [buffer.raw().nbytes for buffer in self._buffers]
        self.n_bytes = len(self._head) + sum(self._sizes) + int(getattr(value, "more_bytes", 0))

    def value(self) -> Any:
        if self._file == Path():
            if id(self) in self._store.at_hand:
                self._store.at_hand.move_to_end(id(self))
            return self._value
        return self._read()

    def write(self) -> None:
        self._store.forget(self)
        self._file = self._store.path(id(self))
        with open(self._file, "wb") as file:
            for buffer in self._buffers:
                file.write(buffer.raw())
                file.write(bytes(-buffer.raw().nbytes % 64))
        weakref.finalize(self, self._file.unlink, missing_ok=True)
        self._value, self._buffers = None, []

    def _read(self) -> Any:
        if not sum(self._sizes):
            return pickle.loads(self._head, buffers=[bytearray() for _ in self._sizes])
        with open(self._file, "rb") as file:  # private pages: a function may write to what it was given
            view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
        buffers, first = [], 0
        for size in self._sizes:
            buffers.append(view[first : first + size])
            first += size + -size % 64
        return pickle.loads(self._head, buffers=buffers)

    def __del__(self) -> None:
        self._store.forget(self)


@dataclass(frozen=True, eq=False)
class _Item:
    """One item of a kept tuple."""

    whole: _Kept
    number: int

    def value(self) -> Any:
        return self.whole.value()[self.number]
