"""What is asked next: a short queue, and which page has which document before it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Mask

HOLD = 120.0  # seconds for which a document is one page's


class Queue:
    """Documents to ask about, best first; a page that comes back without an answer gets its own again."""

    LENGTH: ClassVar[int] = 6

    def __init__(self, n: int) -> None:
        self._n, self._rows = n, list[int]()
        self._held: dict[str, tuple[int, float]] = {}
        self._lock = threading.Lock()

    def fill(self, rows: Sequence[int]) -> None:
        """What to ask from now on."""
        with self._lock:
            self._rows = list(rows)

    def take(self, client: str, done: Mask) -> int | None:
        """The page's own document if it has not been decided on, else the first that is free."""
        with self._lock:
            mine = self._held.get(client)
            if mine is not None and not done[mine[0]]:
                self._held[client] = (mine[0], time.monotonic())
                return mine[0]
            others = self._others(client)
            row = next((row for row in self._rows if not done[row] and row not in others), None)
            if row is not None:
                self._held[client] = (row, time.monotonic())
            return row

    def hold(self, client: str, row: int) -> int:
        with self._lock:
            self._held[client] = (row, time.monotonic())
        return row

    def taken(self, client: str) -> NDArray[np.bool_]:  # (N,)
        """Documents that other pages have before them."""
        mask = np.zeros(self._n, bool)
        with self._lock:
            mask[list(self._others(client))] = True
        return mask

    def _others(self, client: str) -> set[int]:
        now = time.monotonic()
        self._held = {name: held for name, held in self._held.items() if now - held[1] < HOLD}
        return {row for name, (row, _) in self._held.items() if name != client}
