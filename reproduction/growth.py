"""Figure 2F: processor seconds against the number of documents, and the fitted exponents.

``seconds`` are those of the paper's 300 steps; ``early`` those with the early end of ``settled``, which gives
the same labels.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from bvdt.datasets import Corpus, make_documents

from .accuracy import labeled
from .config import TITLES, Config
from .machine import here
from .methods import PAPER, walk_matrix
from .propagation import literal, one_vs_all, settled
from .units import Row, Unit, load, subset
from .walks import kernel_of, tree_walk

__all__ = ["MODEL", "Exponent", "exponents", "fastest", "growth", "growth_units"]

MODEL = "Eq. (25)"  # the name of the generated documents
SETTINGS = (
    "alpha", "iterations", "smoothing", "gid_bandwidth", "euclidean_bandwidth", "dense_documents",
    "model_terms", "model_length", "repeats", "repeat_up_to",
)  # fmt: skip


def growth_units(corpora: dict[str, int], folder: Path, config: Config, seed: int) -> list[Unit]:
    """One unit a size and method: samples of the largest data set, and documents of Eq. (25)."""
    cases: list[tuple[str, int, int]] = []  # data, size, largest size of exact methods
    if corpora:
        largest = max(corpora, key=lambda name: corpora[name])
        sizes = [n for n in config.growth_sizes if n <= corpora[largest]]
        cases += [(largest, n, config.growth_exact) for n in sizes]
    cases += [(MODEL, n, config.model_exact) for n in config.model_sizes]
    cases.sort(key=lambda case: -case[1])
    return [
        Unit(growth, data, folder, config, seed, method, str(n), settings=SETTINGS)
        for data, n, most in cases
        for method in PAPER
        if not (method.startswith("exact") and n > most)
    ]


def growth(unit: Unit) -> list[Row]:
    """Processor seconds of lifting, tree, blocks, optimum (or the dense P) and propagation, on one thread."""
    n, config = int(unit.choice), unit.config
    corpus = _documents(unit.corpus, unit.folder, config, unit.seed, n)
    known = labeled(corpus.labels, 0.1, 0, unit.seed)
    if unit.method == "exact_euclidean":  # it has σ given: learning it would be the tree's time, not its own
        sigma = tree_walk(corpus.counts, kernel_of("vdt", config), [unit.seed, 3, 0]).bandwidth
        config = replace(config, euclidean_bandwidth=sigma)
    rows = []
    for repeat in range(config.repeats if n <= config.repeat_up_to else 1):
        begun = time.process_time()
        M, _ = walk_matrix(unit.method, corpus.counts, config, [unit.seed, 3, repeat], [known])
        built = time.process_time() - begun
        took = {}
        for name, iterate in (("seconds", literal), ("early", settled)):
            begun = time.process_time()
            one_vs_all(
                lambda Y0, M=M, step=iterate: step(M, Y0, config.alpha, config.iterations),  # type: ignore[misc]
                corpus.labels,
                [known],
            )
            took[name] = round(built + time.process_time() - begun, 4)
        of = {"data": TITLES.get(unit.corpus, unit.corpus), "method": unit.method}
        rows.append(of | {"documents": n, "repeat": repeat + 1} | took | {"machine": here()})
        del M
    return rows


@lru_cache(maxsize=1)
def _documents(name: str, folder: Path, config: Config, seed: int, n: int) -> Corpus:
    if name == MODEL:
        return make_documents(n, n_terms=config.model_terms, length=config.model_length, random_state=seed)
    corpus = load(name, folder, _unsampled(config), seed)
    return subset(corpus, np.random.default_rng([seed, 4]).permutation(len(corpus.labels))[:n])


def _unsampled(config: Config) -> Config:
    return replace(config, max_documents=None)


Times = dict[tuple[str, str], dict[int, float]]  # (data, method) -> documents -> seconds


def fastest(rows: Iterable[Row], column: str = "seconds") -> Times:
    """The least of the repeats, by data, method and size."""
    times: Times = {}
    for row in rows:
        curve = times.setdefault((row["data"], row["method"]), {})
        curve[row["documents"]] = min(row[column], curve.get(row["documents"], np.inf))
    return times


class Exponent(tuple[float, int, int]):
    """b of seconds ∝ N^b, fitted from the first to the second number of documents."""

    @property
    def value(self) -> float:
        return self[0]

    def __str__(self) -> str:
        return f"{self[0]:.2f} (N = {self[1]:,} to {self[2]:,})"


def exponents(times: Times, fit_from: int) -> dict[tuple[str, str], Exponent]:
    """Least squares of log seconds on log N, over N ≥ ``fit_from``; curves with two such sizes or more."""
    fitted = {}
    for key, curve in times.items():
        sizes = sorted(n for n in curve if n >= fit_from)
        if len(sizes) >= 2:
            slope = np.polyfit(np.log(sizes), np.log([max(curve[n], 1e-4) for n in sizes]), 1)[0]
            fitted[key] = Exponent((float(slope), sizes[0], sizes[-1]))
    return fitted
