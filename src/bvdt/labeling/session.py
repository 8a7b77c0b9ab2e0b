"""The session at work: decisions go to the store, then two threads label all documents anew.

One thread follows the walk within moments of a label; the other blends (``bvdt.labeling.guesses``) when the
newest labels have waited a little, or long enough. Both take the labels there are when they start: what came
in meanwhile makes them start again, and nothing is computed for labels that newer ones have replaced.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Index, Mask
from .._support.json import JsonObject
from ..report.extent import map_places
from ..walks import label_contributions, suggest_points
from ..walks.layout import map_coordinates
from .corpus import LONGEST, Corpus
from .expectation import Expectation, SuspectedError, expectation, gain_of, suspected_errors
from .guesses import NONE, Guesses, LiveWalk, brought_up_to_date
from .queue import Queue
from .search import Search
from .store import Decision, Shown, Store

if TYPE_CHECKING:
    from ..estimators import LabelPropagation

QUIET, LONGEST_WAIT = 0.4, 4.0  # seconds without a label before a blend; the longest that one waits
IDLE = 2.0  # seconds without a label before the learning curve
MORE = 20  # labels whose gain is estimated


@dataclass(frozen=True, eq=False)
class Published:
    """What everyone sees at one moment."""

    version: int
    guesses: Guesses
    walk: Guesses
    expected: Expectation | None = None
    curve: tuple[Expectation, ...] = ()
    gain: str | None = None  # what MORE labels would bring, in words
    suspected_errors: tuple[SuspectedError, ...] = ()
    blended: int = 0  # labels in the last blend


class LabelingSession:
    """One session over one corpus, for all its pages."""

    def __init__(
        self, corpus: Corpus, store: Store, model: LabelPropagation, *, alpha: float, seed: int = 0
    ) -> None:
        self.corpus, self.store, self.model, self._seed = corpus, store, model, seed
        self._lock = threading.Condition()
        self._walk = LiveWalk(corpus.operator, alpha)
        n = len(corpus.ids)
        self.classes: list[str] = []
        self.codes = np.full(n, -1, np.intp)
        self.skipped = np.zeros(n, bool)  # skipped or not sure
        self._read_store()
        nothing = Guesses(np.full(n, -1, np.intp), np.zeros((n, 0)))
        self.now = Published(0, nothing, nothing)
        self._blend: tuple[Guesses, Guesses] | None = None  # its distributions, and the walk's at that time
        self.changed_at = np.zeros(n, np.int64)  # version in which each point's color or rim last changed
        self._seen = (np.full(n, NONE), np.zeros(n, bool))
        self.queue = Queue(n)
        self.xy: NDArray[np.uint16] | None = None
        self.search: Search | None = None
        self._listeners: list[Callable[[int], None]] = []
        self._touched = time.monotonic()
        self._revision, self._walked, self._blended = 1, 0, 0
        self._stopped = False
        self._threads = [
            threading.Thread(target=work, name=work.__name__, daemon=True)
            for work in (self._follow, self._refine, self._prepare)
        ]

    # -- life -------------------------------------------------------------------------------------------

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            self._lock.notify_all()
        for thread in self._threads[:2]:
            thread.join(timeout=30)

    def listen(self, listener: Callable[[int], None]) -> Callable[[], None]:
        """``listener`` gets each new version's number, from another thread; the answer ends it."""
        with self._lock:
            self._listeners.append(listener)

        def end() -> None:
            with self._lock, suppress(ValueError):
                self._listeners.remove(listener)

        return end

    def wait_idle(self, blend: bool = True, seconds: float = 120.0) -> None:
        """Wait until the newest labels have been followed, and blended."""
        end = time.monotonic() + seconds
        with self._lock:
            while (self._walked if not blend else min(self._walked, self._blended)) < self._revision:
                if not self._lock.wait(end - time.monotonic()):
                    raise TimeoutError(f"labels were not followed within {seconds:g} s")

    # -- decisions --------------------------------------------------------------------------------------

    def decide(
        self, request: str, kind: str, rows: Sequence[int], *, who: str, label: str | None, how: str | None
    ) -> None:
        """Written first; then everything else begins."""
        now = self.now
        shown = [self._shown(row, how, now) for row in rows]
        self.store.decide(request, kind, shown, who=who, label=label)
        self._changed(rows)

    def undo(self, request: str, who: str) -> list[int]:
        """Rows whose last decision by that person was taken back."""
        rows = [self.corpus.rows[name] for name in self.store.undo(request, who) if name in self.corpus.rows]
        self._changed(rows)
        return rows

    def add_class(self, name: str, who: str) -> None:
        self.store.add_classes([name], who)
        self._changed([])

    def _shown(self, row: int, how: str | None, now: Published) -> Shown:
        best, P = int(now.guesses.best[row]), now.guesses.P[row]
        label = self.classes[best] if best < len(self.classes) else None
        confidence = float(P[best]) if best < len(P) else None
        return Shown(self.corpus.ids[row], self.corpus.text(row), how, label, confidence)

    def _changed(self, rows: Sequence[int]) -> None:
        with self._lock:
            self._read_again(rows)
            self._touched = time.monotonic()
            self._revision += 1
            self._lock.notify_all()

    def _read_store(self) -> None:
        """All decisions, once; the session may be of other documents."""
        decisions = self.store.current()
        for decision in decisions:
            if decision.document not in self.corpus.rows:
                raise ValueError(
                    f'{self.store.path} has a decision on "{decision.document}", which is not in '
                    f"{self.corpus.documents.path}; open it with the documents it was made for"
                )
        self._take(decisions)

    def _read_again(self, rows: Sequence[int]) -> None:
        """The decisions on some rows; earlier arrays stay as they are for whoever reads them."""
        self.codes, self.skipped = self.codes.copy(), self.skipped.copy()
        self.codes[list(rows)], self.skipped[list(rows)] = -1, False
        self._take(self.store.current_of([self.corpus.ids[row] for row in rows]))

    def _take(self, decisions: Sequence[Decision]) -> None:
        self.classes = self.store.classes()
        place = {name: k for k, name in enumerate(self.classes)}
        for decision in decisions:
            row = self.corpus.rows[decision.document]
            if decision.label is None:
                self.skipped[row] = True
            else:
                self.codes[row] = place[decision.label]

    # -- labeling anew ---------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Thread: the walk, as soon as there is something new, then what to ask next."""
        while True:
            with self._lock:
                while not self._stopped and self._walked >= self._revision:
                    self._lock.wait()
                if self._stopped:
                    return
                revision, codes, n_classes = self._revision, self.codes, len(self.classes)
            walk = self._walk.follow(codes, n_classes)
            with self._lock:
                guesses = walk if self._blend is None else brought_up_to_date(*self._blend, walk)
                self._publish(replace(self.now, guesses=guesses, walk=walk))
                self._walked = revision
                self._lock.notify_all()
                skipped = self.skipped
            self.queue.fill(self._asked(guesses, codes, skipped))

    def _asked(self, guesses: Guesses, codes: Index, skipped: Mask) -> list[int]:
        """What to ask next; what was passed over comes again when nothing else is left."""
        done = (codes >= 0) | skipped
        if done.all():
            done = codes >= 0
        P = guesses.P if guesses.P.shape[1] > 1 else None
        return [int(row) for row in suggest_points(self.corpus.operator, done, Queue.LENGTH, P=P)]

    def _refine(self) -> None:
        """Thread, of low priority: the blend, the accuracy to expect, and in quiet what more would bring."""
        _give_way()
        while True:
            with self._lock:
                while not self._stopped and not self._due():
                    self._lock.wait(0.1)
                if self._stopped:
                    return
                revision, walk = self._walked, self.now.walk
            if len(np.unique(walk.codes[walk.codes >= 0])) > 1:
                self._blend_once(walk)
            with self._lock:
                self._blended = revision
                self._lock.notify_all()
            self._tell_gain()

    def _due(self) -> bool:
        if self._walked <= self._blended:
            return False
        quiet = time.monotonic() - self._touched
        return quiet >= QUIET or time.monotonic() - self._began >= LONGEST_WAIT

    _began = 0.0

    def _blend_once(self, walk: Guesses) -> None:
        self._began = time.monotonic()
        corpus = self.corpus
        model = self.model.fit(
            corpus.X, walk.codes.copy(), operator=corpus.operator, terms=corpus.features.terms
        )
        P = np.zeros((len(walk.codes), walk.P.shape[1]))
        P[:, model.classes_] = model.label_distributions_
        blend, expected = Guesses(walk.codes, P), expectation(model)
        found = tuple(suspected_errors(model))
        with self._lock:
            self._blend = (blend, walk)
            now = self.now
            curve = now.curve if expected is None else (*now.curve, expected)
            guesses = brought_up_to_date(blend, walk, now.walk)
            self._publish(
                replace(
                    now,
                    guesses=guesses,
                    expected=expected,
                    curve=_thinned(curve),
                    suspected_errors=found,
                    blended=int((walk.codes >= 0).sum()),
                )
            )

    def _tell_gain(self) -> None:
        with self._lock:
            while not self._stopped and time.monotonic() - self._touched < IDLE and not self._due():
                self._lock.wait(0.2)
            if self._stopped or self._due() or self._revision > self._blended:
                return
        gain = gain_of(self.model, MORE) if self.now.expected is not None else None
        with self._lock:
            self._publish(replace(self.now, gain=gain))

    def _publish(self, new: Published) -> None:
        """Under the lock: a new version, the points that it changed, and all listeners called."""
        version = self.now.version + 1
        best, given = new.guesses.best, new.guesses.codes >= 0
        self.changed_at[(best != self._seen[0]) | (given != self._seen[1])] = version
        self._seen = (best, given)
        self.now = replace(new, version=version)
        for listener in list(self._listeners):
            listener(version)

    def _prepare(self) -> None:
        """Thread: the map and the search, in the background."""
        places = map_places(map_coordinates(self.corpus.operator, random_state=self._seed))
        with self._lock:
            self.xy = places
            self._publish(self.now)
        search = Search([self.corpus.text(row) for row in range(len(self.corpus.ids))], self.corpus.ids)
        with self._lock:
            self.search = search
            self._publish(self.now)

    # -- what pages ask ---------------------------------------------------------------------------------

    def state(self) -> JsonObject:
        """Counts, classes and progress."""
        with self._lock:
            now, codes, skipped, classes = self.now, self.codes, self.skipped, self.classes
            ready = {"map": self.xy is not None, "search": self.search is not None}
        given = np.bincount(codes[codes >= 0], minlength=len(classes))
        best = now.guesses.best
        guessed = np.bincount(best[best != NONE], minlength=len(classes))
        return {
            "version": now.version,
            "documents": len(codes),
            "labeled": int((codes >= 0).sum()),
            "followed": int((now.guesses.codes >= 0).sum()),  # labels that the guesses come from
            "skipped": int((skipped & (codes < 0)).sum()),
            "classes": [
                {"name": name, "given": int(given[k]), "all": int(guessed[k])}
                for k, name in enumerate(classes)
            ],
            "expected": None if now.expected is None else asdict(now.expected),
            "curve": [asdict(point) for point in now.curve],
            "gain": now.gain,
            "suspected": len(now.suspected_errors),
            **ready,
        }

    def changes(self, since: int) -> tuple[int, bytes]:
        """The version, and per changed point its row, class and rim: 4, 2 and 2 bytes."""
        with self._lock:
            version, changed = self.now.version, np.flatnonzero(self.changed_at > since)
            best, given = self._seen
            packed = np.empty(len(changed), [("row", "<u4"), ("label", "<u2"), ("given", "<u2")])
            packed["row"], packed["label"], packed["given"] = changed, best[changed], given[changed]
        return version, packed.tobytes()

    def next_row(self, client: str, how: str, label: int | None = None) -> int | None:
        """The next document for that page; other pages get others."""
        with self._lock:
            now, done = self.now, (self.codes >= 0) | self.skipped
            if done.all():
                done = self.codes >= 0
        if how == "auto":
            row = self.queue.take(client, done)
            if row is not None:
                return row
            how = "random"
        free = ~done & ~self.queue.taken(client)
        if how == "class" and label is not None:
            free &= now.guesses.best == label
        if not free.any():
            return None
        P = now.guesses.P if now.guesses.P.shape[1] > 1 else None
        strategy = "random" if how == "random" or P is None else "margin"
        found = suggest_points(self.corpus.operator, ~free, 1, P=P, strategy=strategy)
        return self.queue.hold(client, int(found[0]))

    def document(self, row: int) -> JsonObject:
        """Everything about one document but why."""
        with self._lock:
            guesses, classes = self.now.guesses, self.classes
            code, skipped = int(self.codes[row]), bool(self.skipped[row])
        P = guesses.P[row]
        order = np.argsort(-P, kind="stable")[:5]
        text = self.corpus.text(row)
        return {
            "row": row,
            "id": self.corpus.ids[row],
            "text": text[:LONGEST],
            "cut": len(text) > LONGEST,
            "label": classes[code] if code >= 0 else None,
            "skipped": skipped,
            "guesses": [{"name": classes[k], "share": float(P[k])} for k in order if P[k] > 0],
        }

    def why(self, row: int, n: int = 4) -> list[JsonObject]:
        """The labeled documents that led to the guess, by their share in the walk's score."""
        with self._lock:
            guesses, codes, classes = self.now.guesses, self.codes, self.classes
        if not guesses.P.shape[1] or not (codes >= 0).any():
            return []
        label = int(guesses.best[row])
        givers = np.flatnonzero((codes == label) & (np.arange(len(codes)) != row))
        if not len(givers):
            return []
        column = label_contributions(self.corpus.operator, np.array([row]), alpha=self._walk.alpha, tol=1e-3)
        part = column[givers, 0]
        if part.sum() <= 0:
            return []
        best = np.argsort(-part, kind="stable")[:n]
        return [
            {"row": int(i), "id": self.corpus.ids[i], "label": classes[label], "share": float(s / part.sum()),
             "text": self.corpus.snippet(int(i))}
            for i, s in zip(givers[best], part[best], strict=True)
        ]  # fmt: skip


def _thinned(curve: tuple[Expectation, ...], most: int = 200) -> tuple[Expectation, ...]:
    """One point per number of labels, the newest; of too many every other."""
    newest = {point.n_labels: point for point in curve}
    points = tuple(newest[n] for n in sorted(newest))
    return points if len(points) <= most else points[::2]


def _give_way() -> None:
    """A lower priority for this thread, where threads have their own."""
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
