"""How much depends on the open choices: smoothing of zeros, bandwidth (σ), preprocessing, and the merge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from bvdt._support.arrays import Mask
from bvdt._support.sparse import CSR, OperatorLike
from bvdt.operators import TransitionOperator
from bvdt.tree.anchor.merging import Merge

from .accuracy import Mean, half_width, labeled, score
from .config import TITLES, Config
from .methods import METHODS, tfidf
from .propagation import vote
from .units import Row, Unit, load
from .walks import THREADS, Kernel, exact_walk, grow_tree, kernel_of, lifted_counts, resolved, tree_walk

__all__ = ["sensitivity", "sensitivity_units", "summary"]

SETTINGS = (
    "alpha", "iterations", "smoothing", "gid_bandwidth", "euclidean_bandwidth", "max_documents", "whole",
    "dense_documents", "sensitivity_share", "sensitivity_trials", "smoothings", "gid_bandwidths",
    "euclidean_bandwidths",
)  # fmt: skip
CHOICES = {
    "smoothing": ("bvdt", "exact_gid"),
    "bandwidth": ("vdt", "bvdt", "exact_euclidean", "exact_gid"),
    "preprocessing": ("vdt", "bvdt"),
    "merge": ("vdt",),
}
MERGES: dict[str, Merge] = {"Eq. (10)": "radius", "Eq. (22)": "bregman"}
PREPROCESSING = ("counts", "one length", "log(1 + count)", "tf-idf")

Setting = tuple[float | str, CSR, Kernel]  # the choice's value, the points, the rest


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
        for value, M in _matrices(unit, corpus.counts, known, [unit.seed, 3, trial]):
            (found,) = vote(M, y, [known], config.alpha, config.iterations)
            rows.append(
                {
                    "data": TITLES[unit.corpus],
                    "choice": unit.choice,
                    "value": value,
                    "method": unit.method,
                    "share": share,
                    "trial": trial + 1,
                    "accuracy": score(found.classes, y, known),
                }
            )
    return rows


def _matrices(
    unit: Unit, counts: CSR, known: Mask, seed: list[int]
) -> Iterator[tuple[float | str, OperatorLike]]:
    """The matrix at each value; trees are grown anew only when more than the bandwidth changes."""
    grown, lifted, tree = None, None, None
    for value, points, kernel in _settings(unit, counts):
        if unit.method.startswith("exact"):
            rule = kernel.bandwidth
            bandwidth = tree_walk(points, kernel, seed).bandwidth if isinstance(rule, str) else rule
            yield value, exact_walk(points, kernel, bandwidth, [known], unit.config.dense_documents)
            continue
        wanted = (id(points), kernel.smoothing, kernel.merge)
        if lifted is None or tree is None or grown != wanted:
            grown, lifted = wanted, lifted_counts(points, kernel)
            tree = grow_tree(lifted, kernel, seed)
        yield (
            value,
            TransitionOperator(lifted, tree, bandwidth=resolved(lifted, tree, kernel), n_jobs=THREADS),
        )


def _settings(unit: Unit, counts: CSR) -> Iterator[Setting]:
    config, kernel = unit.config, kernel_of(unit.method, unit.config)
    if unit.choice == "smoothing":
        for value in config.smoothings:
            yield value, counts, replace(kernel, smoothing=value)
    elif unit.choice == "bandwidth":
        gid = kernel.divergence == "gid"
        for value in config.gid_bandwidths if gid else config.euclidean_bandwidths:
            yield value, counts, replace(kernel, bandwidth=value)
    elif unit.choice == "merge":
        for name, merge in MERGES.items():
            yield name, counts, replace(kernel, merge=merge)
    else:  # weights change the scale, so smoothing and bandwidth follow the data here
        for name in PREPROCESSING:
            yield name, prepared(counts, name), replace(kernel, smoothing="auto", bandwidth="learn")


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
