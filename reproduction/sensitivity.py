"""How much depends on what the paper leaves open: smoothing of zeros, bandwidth (σ), preprocessing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from bvdt._support.sparse import CSR, OperatorLike
from bvdt.operators import TransitionOperator

from .accuracy import Mean, half_width, labeled, score
from .config import TITLES, Config
from .methods import METHODS, THREADS, exact_matrix, grow_tree, lifted_counts, tfidf
from .propagation import vote
from .units import Row, Unit, load

__all__ = ["sensitivity", "sensitivity_units", "summary"]

SETTINGS = (
    "alpha", "iterations", "smoothing", "gid_bandwidth", "euclidean_bandwidth", "max_documents", "whole",
    "sensitivity_share", "sensitivity_trials", "smoothings", "gid_bandwidths", "euclidean_bandwidths",
)  # fmt: skip
CHOICES = {
    "smoothing": ("bvdt", "exact_gid"),
    "bandwidth": ("vdt", "bvdt", "exact_euclidean", "exact_gid"),
    "preprocessing": ("vdt", "bvdt"),
}
PREPROCESSING = ("counts", "one length", "log(1 + count)", "tf-idf")

Setting = tuple[CSR, float | str, float | str]  # points, smoothing, bandwidth


def sensitivity_units(corpora: dict[str, int], folder: Path, config: Config, seed: int) -> list[Unit]:
    """Units of all choices on the data sets that are not too large."""
    return [
        Unit(sensitivity, name, folder, config, seed, method, choice, settings=SETTINGS)
        for name, n_documents in corpora.items()
        if n_documents <= config.sensitivity_documents
        for choice, methods in CHOICES.items()
        for method in methods
        if not (method.startswith("exact") and n_documents > config.sensitivity_exact)
    ]


def sensitivity(unit: Unit) -> list[Row]:
    """Accuracy of a method at one share of labels, for every value of a choice."""
    config = unit.config
    corpus = load(unit.corpus, unit.folder, config, unit.seed)
    y, share = corpus.labels, config.sensitivity_share
    rows = []
    for trial in range(config.sensitivity_trials):
        known = labeled(y, share, trial, unit.seed)
        for value, M in _matrices(unit, corpus.counts, [unit.seed, 3, trial]):
            (predicted,) = vote(M, y, [known], config.alpha, config.iterations)
            rows.append(
                {
                    "data": TITLES[unit.corpus],
                    "choice": unit.choice,
                    "value": value,
                    "method": unit.method,
                    "share": share,
                    "trial": trial + 1,
                    "accuracy": score(predicted, y, known),
                }
            )
    return rows


def _matrices(unit: Unit, counts: CSR, seed: list[int]) -> Iterator[tuple[float | str, OperatorLike]]:
    """The matrix at each value; trees are grown anew only when the points change."""
    divergence = "gid" if unit.method in ("bvdt", "exact_gid") else "squared_euclidean"
    former, lifted, tree = None, None, None
    for value, (points, smoothing, bandwidth) in _settings(unit, counts, divergence):
        if unit.method.startswith("exact"):
            yield value, exact_matrix(points, divergence, smoothing, bandwidth, seed)
            continue
        if lifted is None or tree is None or former is not points or unit.choice == "smoothing":
            former, lifted = points, lifted_counts(points, divergence, smoothing)
            tree = grow_tree(lifted, seed)
        yield value, TransitionOperator(lifted, tree, bandwidth=bandwidth, n_jobs=THREADS)


def _settings(unit: Unit, counts: CSR, divergence: str) -> Iterator[tuple[float | str, Setting]]:
    config, gid = unit.config, divergence == "gid"
    bandwidth = config.gid_bandwidth if gid else config.euclidean_bandwidth
    if unit.choice == "smoothing":
        for value in config.smoothings:
            yield value, (counts, value, bandwidth)
    elif unit.choice == "bandwidth":
        for value in config.gid_bandwidths if gid else config.euclidean_bandwidths:
            yield value, (counts, config.smoothing, value)
    else:  # weights change the scale, so smoothing and bandwidth follow the data here
        for value in PREPROCESSING:
            yield value, (prepared(counts, value), "auto", "learn")


def prepared(counts: CSR, way: str) -> CSR:
    """The counts weighted in one of the ways of PREPROCESSING."""
    if way == "counts":
        return counts
    if way == "tf-idf":
        return sparse.csr_array(tfidf(counts))
    if way == "log(1 + count)":
        return counts._with_data(np.log1p(counts.data))
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    scale = lengths.mean() / np.maximum(lengths, 1.0)
    return counts._with_data(counts.data * np.repeat(scale, np.diff(counts.indptr)))


def summary(rows: Iterable[Row]) -> list[Row]:
    """Mean and interval of every data set, choice, value and method, in the order of the rows."""
    values: dict[tuple[str, str, object, str], list[float]] = {}
    for row in rows:
        key = (row["data"], row["choice"], row["value"], row["method"])
        values.setdefault(key, []).append(row["accuracy"])
    return [
        {
            "data": data,
            "choice": choice,
            "value": value,
            "method": METHODS[method].title,
            "accuracy": Mean(float(np.mean(trials)), half_width(trials)),
        }
        for (data, choice, value, method), trials in values.items()
    ]
