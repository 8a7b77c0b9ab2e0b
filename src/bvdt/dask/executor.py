"""Functions of shards as Dask tasks: futures hold what they return, the scheduler makes anew what a worker
lost.

All tasks are pure functions of their arguments, and the small arrays that the driver adds travel inside the
tasks: nothing is scattered, so every result can be computed again from the slabs.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import operator
import time
import uuid
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from distributed import Client, KilledWorker
from distributed.client import Future

from .._support.json import JsonObject
from .._support.memory import GIB
from .._support.progress import Progress, stage
from ..sharded.executors import Donated, Place
from .pinned import PREFIX, PinnedTasksPlugin

_TOGETHER = 8  # quick calls in one task
_LOOK = 1.0  # seconds between two looks at the workers


class DaskExecutor:
    """Runs functions on the workers of a Dask client.

    Parameters
    ----------
    n_jobs : threads of one task's kernels; 1 leaves the cores to Dask's own threads.
    retries : how often work that a dying worker took with it begins again, beyond Dask's own
        ``distributed.scheduler.allowed-failures``.
    patience : seconds without any worker after which to give up.
    """

    def __init__(
        self,
        client: Client,
        *,
        n_jobs: int | None = 1,
        retries: int = 2,
        patience: float = 30.0,
        progress: Progress = False,
    ) -> None:
        self.client, self.n_jobs, self.progress = client, n_jobs, progress
        self.retries, self.patience = retries, patience
        self._keeps_places = False  # without its plugin Dask may wait for a lost worker for ever
        with suppress(Exception):  # a scheduler without bvdt: more bytes travel, nothing else changes
            client.register_plugin(PinnedTasksPlugin())
            self._keeps_places = True

    def reserve(self, n_bytes: float, purpose: str, remedy: str) -> None:
        check_memory(self.client, n_bytes, purpose, remedy)

    def put(self, value: object) -> Future:
        return self.map("constants", identity, [value])[0]

    def places(self, references: Sequence[Future]) -> list[Place]:
        """The worker of each; of several the first."""
        held = self.client.who_has(list(references))
        return [min(held.get(future.key) or [""]) or None for future in references]

    def map(
        self,
        title: str,
        function: Callable[..., object],
        *arguments: Sequence[object],
        at: Sequence[Place] | None = None,
    ) -> list[Future]:
        at = at if self._keeps_places else None
        calls = list(zip(*arguments, strict=True))
        names = _keys(title, len(calls), "bvdt" if at is None else PREFIX)
        out: list[Future] = [None] * len(calls)
        # One graph for all calls at a place: a submission of its own for each takes ten times as long.
        for place in sorted({*(at or [None])}, key=str):
            numbers = [k for k in range(len(calls)) if at is None or at[k] == place]
            where = {} if place is None else {"workers": [place], "allow_other_workers": True}
            columns = zip(*(calls[k] for k in numbers), strict=True)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Sending large graph")  # the driver's own columns
                keys = [names[k] for k in numbers]
                found = self.client.map(function, *columns, key=keys, pure=False, **where) if numbers else []
            for k, future in zip(numbers, found, strict=True):
                out[k] = future
        for given in arguments:
            if isinstance(given, Donated):
                given.clear()
        return out

    def unpack(self, references: Sequence[Future], counts: Sequence[int]) -> list[list[Future]]:
        pairs = [(f, k) for f, count in zip(references, counts, strict=True) for k in range(count)]
        if not pairs:
            return [[] for _ in counts]
        keys = _keys(_title(list(references)), len(pairs))
        sources, places = zip(*pairs, strict=True)
        items = iter(self.client.map(operator.getitem, sources, places, key=keys, pure=False))
        return [list(itertools.islice(items, count)) for count in counts]

    def pick(self, references: Sequence[Future], number: int) -> list[Future]:
        keys = _keys(_title(list(references)), len(references))
        numbers = [number] * len(references)
        return list(self.client.map(operator.getitem, list(references), numbers, key=keys, pure=False))

    def gather(self, references: Sequence[Future]) -> list[Any]:
        futures = list(references)
        title = _title(futures)
        with stage(self.progress, title, len(futures)) as advance:
            self._wait(futures, title, advance)
        limit = self.patience
        while True:
            with suppress(TimeoutError):
                fetch = partial(self.client.gather, futures, asynchronous=True)
                return list(self.client.sync(fetch, callback_timeout=limit))
            # Lost on the way, or many bytes: wait as before, and give them more time.
            self._wait(futures, title, lambda _: None)
            limit *= 2

    def map_gather(
        self,
        title: str,
        function: Callable[..., object],
        *arguments: Sequence[object],
        at: Sequence[Place] | None = None,
    ) -> list[Any]:
        """One task for several calls at a place: a task takes two milliseconds, these calls take less."""
        groups = _together(at or [None] * len(arguments[0]))
        columns = [[[given[k] for k in group] for group in groups] for given in arguments]
        places = None if at is None else [at[group[0]] for group in groups]
        answers = self.gather(self.map(title, one_by_one, [function] * len(groups), *columns, at=places))
        out: list[object] = [None] * len(arguments[0])
        for group, gathered in zip(groups, answers, strict=True):
            for number, answer in zip(group, gathered, strict=True):
                out[number] = answer
        return out

    def gather_item(self, references: Sequence[Future], number: int, at: Sequence[Place] | None) -> list[Any]:
        return self.map_gather(_title(list(references)), operator.itemgetter(number), references, at=at)

    def _wait(self, futures: list[Future], title: str, advance: Callable[[int], None]) -> None:
        """Until all are there; an error of one is raised at once, and so is a cluster that stands still."""
        done: SimpleQueue[Future] = SimpleQueue()  # (``distributed.wait`` would need a default client)
        for future in futures:
            future.add_done_callback(done.put)
        lost: list[Future] = []  # had been made, and are being made again
        left, tried, seen = len(futures), 0, time.monotonic()
        while left:
            try:
                future = done.get(timeout=_LOOK)
            except Empty:
                seen = time.monotonic() if self._is_working() else seen
                if time.monotonic() - seen > self.patience:
                    raise RuntimeError(self._standstill(title, left)) from None
                for again in lost:
                    again.add_done_callback(done.put)
                lost = []
                continue
            if future.status == "finished":
                left, seen = left - 1, time.monotonic()
                advance(1)
            elif future.status == "lost":
                lost.append(future)
            else:
                tried += 1
                self._again_or_raise(future, title, tried)
                future.add_done_callback(done.put)

    def _is_working(self) -> bool:
        """Whether any worker that runs has a task: one that is paused for want of memory may never go on."""
        if self.client.status != "running":
            raise RuntimeError(f"bvdt.dask needs its client connected; its status is {self.client.status!r}")
        running = {name for name, info in workers_of(self.client).items() if info["status"] == "running"}
        return any(tasks for name, tasks in self.client.processing().items() if name in running)

    def _standstill(self, title: str, left: int) -> str:
        gathered = [info["status"] for info in workers_of(self.client).values()]
        if "running" in gathered:
            return (
                f"bvdt.dask needs its tasks run; {left} of {title} have waited for {self.patience:.0f} s "
                "while no worker had any"
            )
        paused = f" ({gathered.count('paused')} paused: their memory is full)" if "paused" in gathered else ""
        return (
            f"bvdt.dask needs a worker to go on with {title}; the cluster has had none that runs for "
            f"{self.patience:.0f} s{paused}"
        )

    def _again_or_raise(self, future: Future, title: str, tried: int) -> None:
        error = future.exception() if future.status == "error" else None
        if error is None:
            raise RuntimeError(
                f"bvdt.dask needs its tasks kept; one of {title} was {future.status}, as when the cluster is "
                "restarted or the data it began from are gone"
            )
        if not isinstance(error, KilledWorker):
            raise error
        if tried > self.retries:
            raise RuntimeError(
                f"bvdt.dask needs workers that live through {title}; one died {tried} times more often than "
                f"Dask tolerates (retries={self.retries}). Too little memory is the usual reason: give "
                "workers more, or shards fewer points with shard_points="
            ) from error
        self.client.retry([future])


def _keys(title: str, count: int, prefix: str = "bvdt") -> list[str]:
    token = uuid.uuid4().hex[:12]
    return [f"{prefix}-{title.replace(' ', '-')}-{token}-{number}" for number in range(count)]


def identity(value: object) -> object:
    return value


def one_by_one(function: Callable[..., object], *arguments: list[object]) -> list[object]:
    """Several calls as one task."""
    return [function(*given) for given in zip(*arguments, strict=True)]


def _together(at: Sequence[Place]) -> list[list[int]]:
    """Numbers of calls at the same place, a few in each list."""
    here: dict[Place, list[int]] = {}
    for number, place in enumerate(at):
        here.setdefault(place, []).append(number)
    return [
        numbers[first : first + _TOGETHER]
        for numbers in here.values()
        for first in range(0, len(numbers), _TOGETHER)
    ]


def _title(futures: list[Future]) -> str:
    """What the tasks are, from their keys."""
    parts = str(futures[0].key).split("-")[1:-2] if futures else []
    return " ".join(parts) or "work"


# -- before any work ----------------------------------------------------------------------------------------


def workers_of(client: Client) -> dict[str, JsonObject]:
    """What the scheduler knows of each worker, by address.

    ``Client.scheduler_info`` would tell it too, but a background update may empty it just before it is read.
    """
    workers: dict[str, JsonObject] = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    return workers


def find_client(client: Client | None) -> Client:
    """The client given, or Dask's current one."""
    if client is not None:
        if not isinstance(client, Client):
            raise TypeError(f"client needs a distributed.Client; got a {type(client).__name__}")
        return client
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "bvdt.dask needs a cluster: client=distributed.Client(address), or Client() for this machine's "
            "cores; or memory_limit= to work without one, with files"
        ) from None


def this_version() -> str:
    """Of the driver."""
    return importlib.metadata.version("bvdt")


def check_workers(client: Client, patience: float = 30.0) -> None:
    """Every worker has this version of the package, or an error names the first that has not."""
    begin = time.monotonic()
    while not workers_of(client):
        if time.monotonic() - begin > patience:
            raise RuntimeError(f"bvdt.dask needs a worker; the cluster has had none for {patience:.0f} s")
        time.sleep(0.1)
    ours = this_version()
    # A function of the standard library: one of bvdt's own could not be read where bvdt is missing.
    gathered = client.run(importlib.metadata.version, "bvdt", on_error="return")
    for address, theirs in gathered.items():
        if isinstance(theirs, Exception):
            raise RuntimeError(f"bvdt.dask needs bvdt {ours} on every worker; {address} has none")
        if theirs != ours:
            raise RuntimeError(f"bvdt.dask needs bvdt {ours} on every worker; {address} has {theirs}")


def check_memory(client: Client, n_bytes: float, purpose: str, remedy: str) -> None:
    """Refuses work that no shard of which would fit into a worker's memory, and says by how much."""
    limits = {
        address: info["memory_limit"] for address, info in workers_of(client).items() if info["memory_limit"]
    }
    if not limits:
        return
    address = min(limits, key=lambda name: limits[name])
    if n_bytes > limits[address]:
        missing = (n_bytes - limits[address]) / GIB
        raise MemoryError(
            f"{purpose} needs {n_bytes / GIB:.2g} GiB on a worker; {address} has a memory limit of "
            f"{limits[address] / GIB:.2g} GiB, {missing:.2g} GiB too little; {remedy}"
        )
