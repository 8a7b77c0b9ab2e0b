"""Units of work: each gives rows of a table from the configuration alone, and is kept as a CSV file.

A unit runs on one thread in a process of its own, so its numbers depend neither on how many run at a time
nor on the order; an interrupted run goes on from the files.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from bvdt._support.arrays import Index
from bvdt._support.json import JsonObject
from bvdt.datasets import Corpus
from bvdt.documents.files import write_table

from .config import TITLES, Config
from .data import CORPORA, load_corpus
from .machine import libraries
from .version import code_version

__all__ = ["Row", "Unit", "columns_of", "days_of", "load", "one_thread", "run_units"]

Row = JsonObject  # of a table: a column's name, a number or a word


@dataclass(frozen=True)
class Unit:
    """A function of this package's, ``work(unit) -> rows``, and what it is called with."""

    work: Callable[[Unit], list[Row]]
    corpus: str
    folder: Path
    config: Config
    seed: int
    method: str = ""
    choice: str = ""
    trials: tuple[int, ...] = ()
    settings: tuple[str, ...] = ()  # the fields of ``config`` that it reads

    @property
    def name(self) -> str:
        """What it is, in words."""
        trials = f"trial {self.trials[0] + 1}" if len(self.trials) == 1 else ""
        return " ".join(
            filter(None, [TITLES.get(self.corpus, self.corpus), self.method, self.choice, trials])
        )

    def file(self) -> str:
        """Name of its CSV file: what it is, and a hash of what its numbers follow from, code included."""
        words = [self.work.__name__, self.corpus, self.method, self.choice, *map(str, self.trials[:1])]
        settings = [("trials", self.trials), *((name, getattr(self.config, name)) for name in self.settings)]
        key = repr(
            (code_version(), libraries(), settings, self.seed, words, _stamp(self.folder, self.corpus))
        )
        return "-".join([*filter(None, words), hashlib.sha256(key.encode()).hexdigest()[:10]]) + ".csv"


def load(name: str, folder: Path, config: Config, seed: int) -> Corpus:
    """The data set, sub-sampled where the configuration says so."""
    return _load(name, folder, config, seed, _stamp(folder, name))


@lru_cache(maxsize=1)
def _load(name: str, folder: Path, config: Config, seed: int, stamp: str) -> Corpus:
    corpus = load_corpus(name, folder)
    limit = config.max_documents
    if limit is None or name in config.whole or len(corpus.labels) <= limit:
        return corpus
    return subset(corpus, np.random.default_rng([seed, 1]).permutation(len(corpus.labels))[:limit])


def subset(corpus: Corpus, documents: Index) -> Corpus:
    """The corpus of those documents, terms that no longer occur included."""
    counts, labels = corpus.counts[documents], corpus.labels[documents]
    return replace(corpus, counts=counts, labels=labels)


def run_units(
    units: Sequence[Unit],
    cache: Path,
    jobs: int,
    done: Callable[[Unit, str], None],
    *,
    fresh: bool = False,
) -> list[Row]:
    """Rows of all units, in the units' order; as many at a time as ``jobs`` says.

    ``done`` hears of each unit, with the reason where it did not fit the memory and has no rows.
    """
    cache.mkdir(parents=True, exist_ok=True)
    files = {unit: cache / unit.file() for unit in units}
    missing = [unit for unit in units if fresh or not files[unit].exists()]
    for unit in files.keys() - missing:
        done(unit, "")
    for unit, rows in _worked(missing, jobs):
        if isinstance(rows, str):
            del files[unit]
        else:
            write_table(files[unit], columns_of(rows))
        done(unit, rows if isinstance(rows, str) else "")
    return [row for file in files.values() for row in _read(file)]


def days_of(units: Iterable[Unit], cache: Path) -> set[date]:
    """On which days the units were worked out."""
    files = (cache / unit.file() for unit in units)
    return {date.fromtimestamp(file.stat().st_mtime) for file in files if file.exists()}


def _worked(units: Sequence[Unit], jobs: int) -> Iterator[tuple[Unit, list[Row] | str]]:
    if jobs == 1 or len(units) < 2:
        for unit in units:
            yield _work(unit)
        return
    from joblib import Parallel, delayed  # scikit-learn's; its processes need no guarded __main__

    pool = Parallel(
        n_jobs=min(jobs, len(units)), batch_size=1, max_nbytes=None, return_as="generator_unordered"
    )
    yield from pool(delayed(_work)(unit) for unit in units)


def _work(unit: Unit) -> tuple[Unit, list[Row] | str]:
    with one_thread():
        try:
            return unit, unit.work(unit)
        except MemoryError as error:
            return unit, str(error) or "it does not fit the memory"


def one_thread() -> AbstractContextManager[object]:
    """Context in which BLAS, too, works on one thread."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


def columns_of(rows: Iterable[Row]) -> dict[str, list[object]]:
    """Rows of one kind as columns."""
    rows = list(rows)
    return {name: [row[name] for row in rows] for name in rows[0]}


def _read(path: Path) -> list[Row]:
    """Rows of a cached table, numbers as numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _value(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def _value(cell: str) -> float | str:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell


def _stamp(folder: Path, name: str) -> str:
    """Hash of the data file, so that other data are other units."""
    if name not in CORPORA:
        return ""
    path = folder / CORPORA[name].file
    return _hash(path, path.stat().st_mtime_ns)


@cache
def _hash(path: Path, changed: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
