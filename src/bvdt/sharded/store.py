"""Values of one process, in memory up to a limit and in files beyond it.

Work goes in turns: one function over all shards, then the next one. Within a turn every value is used once,
so what was used last is needed last, and giving up the eldest would send each value through the disk just
before it is needed. So only what no recent turn has used makes room; without any of that, a new value itself
becomes a file. Files are mapped into memory when they are read again, and go with the last reference.
"""

from __future__ import annotations

import itertools
import mmap
import pickle
import shutil
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

_RECENT = 8  # turns
_FEW = 8  # items of a tuple
_ALIGNED = 64  # bytes, at whose multiples arrays begin in a file
_WRITTEN = object()  # in place of a value that is a file


class Store:
    """What is at hand, in the order of its last use, and where files go."""

    def __init__(self, limit: float | None, folder: str | Path | None) -> None:
        self.limit = float("inf") if limit is None else float(limit)
        self.used, self.turn = 0, 0
        self.lock = threading.RLock()  # a value may be given up in the middle of anything
        self._at_hand: OrderedDict[int, _Entry] = OrderedDict()
        self._numbers = itertools.count()
        self._parent, self._folder = folder, ""

    def next_turn(self) -> None:
        """A new function begins."""
        self.turn += 1

    def keep(self, value: Any) -> Kept | Bundle:
        """A few items of a tuple one by one, since they are used at different times; many as one file."""
        if type(value) is tuple and len(value) <= _FEW:
            return Bundle([self._keep(item) for item in value])
        return self._keep(value)

    def _keep(self, value: Any) -> Kept:
        kept = Kept(self, next(self._numbers), value)
        for old in self._making_room(kept):
            old.write()
        if not self._take(kept):
            kept.write()
        return kept

    def _making_room(self, kept: Kept) -> Iterator[Kept]:
        while True:
            with self.lock:
                if self.used + kept.n_bytes <= self.limit or not self._at_hand:
                    return
                number, eldest = next(iter(self._at_hand.items()))
                if self.turn - eldest.turn <= _RECENT:
                    return
                self.forget(number)
                old = eldest.kept()
            if old is not None:
                yield old

    def _take(self, kept: Kept) -> bool:
        with self.lock:
            if self.used + kept.n_bytes > self.limit:
                return False
            self._at_hand[kept.number] = _Entry(weakref.ref(kept), kept.n_bytes, self.turn)
            self.used += kept.n_bytes
            return True

    def touch(self, kept: Kept) -> None:
        """It was used just now."""
        with self.lock:
            if kept.number in self._at_hand:
                self._at_hand[kept.number] = _Entry(weakref.ref(kept), kept.n_bytes, self.turn)
                self._at_hand.move_to_end(kept.number)

    def forget(self, number: int) -> None:
        """It is at hand no longer."""
        with self.lock:
            entry = self._at_hand.pop(number, None)
            self.used -= entry.n_bytes if entry else 0

    def path(self, number: int) -> Path:
        with self.lock:
            if not self._folder:
                self._folder = tempfile.mkdtemp(prefix="bvdt-", dir=self._parent)
                weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return Path(self._folder) / f"{number}.shard"


class _Entry(NamedTuple):
    kept: weakref.ref[Kept]  # weak: no circles
    n_bytes: int
    turn: int


class _Part(NamedTuple):
    """A value, or one item of a tuple, pickled: its arrays apart, and where they are in the file."""

    head: bytes
    buffers: list[Any]
    sizes: list[int]
    first: int


class Kept:
    """A value, in memory or in a file that is deleted with the last reference to it."""

    def __init__(self, store: Store, number: int, value: Any) -> None:
        self.number, self._store, self._value = number, store, value
        self._single = type(value) is not tuple
        items = (value,) if self._single else value
        self._parts = list(_pickled(items))
        self._file: Path | None = None
        more = sum(int(getattr(item, "more_bytes", 0)) for item in items)
        self.n_bytes = sum(len(part.head) + sum(part.sizes) for part in self._parts) + more

    def value(self) -> Any:
        value = self._value
        if value is not _WRITTEN:
            self._store.touch(self)
            return value
        return self._read(0) if self._single else tuple(self._read(k) for k in range(len(self._parts)))

    def item(self, number: int) -> Any:
        """One item of a tuple; the others stay in the file."""
        value = self._value
        if value is not _WRITTEN:
            self._store.touch(self)
            return value[number]
        return self._read(number)

    def write(self) -> None:
        file = self._store.path(self.number)
        with open(file, "wb") as target:
            for part in self._parts:
                for buffer in part.buffers:
                    target.write(buffer)
                    target.write(bytes(-buffer.nbytes % _ALIGNED))
        weakref.finalize(self, file.unlink, missing_ok=True)
        self._file, self._value = file, _WRITTEN
        self._parts = [part._replace(buffers=[]) for part in self._parts]

    def _read(self, number: int) -> Any:
        part, buffers = self._parts[number], []
        last = part.first + sum(size + -size % _ALIGNED for size in part.sizes)
        if last == part.first:
            return pickle.loads(part.head, buffers=[bytearray() for _ in part.sizes])
        assert self._file is not None
        page = part.first // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        with open(self._file, "rb") as file:  # private pages: a function may write to what it was given
            mapped = mmap.mmap(file.fileno(), last - page, access=mmap.ACCESS_COPY, offset=page)
        view, first = memoryview(mapped), part.first - page
        for size in part.sizes:
            buffers.append(view[first : first + size])
            first += size + -size % _ALIGNED
        return pickle.loads(part.head, buffers=buffers)

    def __del__(self) -> None:
        self._store.forget(self.number)


def _pickled(items: tuple[Any, ...]) -> Iterator[_Part]:
    first = 0
    for item in items:
        buffers: list[pickle.PickleBuffer] = []
        head = pickle.dumps(item, protocol=5, buffer_callback=buffers.append)
        raw = [buffer.raw() for buffer in buffers]
        sizes = [view.nbytes for view in raw]
        yield _Part(head, raw, sizes, first)
        first += sum(size + -size % _ALIGNED for size in sizes)


@dataclass(frozen=True, eq=False)
class Bundle:
    """A tuple whose items are kept one by one."""

    items: list[Kept]

    def value(self) -> tuple[Any, ...]:
        return tuple(item.value() for item in self.items)


@dataclass(frozen=True, eq=False)
class Item:
    """One item of a kept tuple."""

    whole: Kept
    number: int

    def value(self) -> Any:
        return self.whole.item(self.number)
