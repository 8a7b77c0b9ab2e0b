"""Figure 2, A to E: accuracy on the unlabeled documents against the share of labeled ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from bvdt._support.arrays import Index, Mask

from .config import TITLES, Config
from .methods import METHODS, predict
from .propagation import draw_labeled
from .units import Row, Unit, load

__all__ = ["Mean", "accuracy", "accuracy_units", "half_width", "mean_rows", "means", "paired"]

SETTINGS = (
    "shares", "alpha", "iterations", "smoothing", "gid_bandwidth", "euclidean_bandwidth", "nb_bandwidth",
    "max_documents", "whole", "dense_documents", "neighbors", "spreading_alpha", "n_landmarks",
    "landmark_width", "forest_trees", "forest_neighbors",
)  # fmt: skip


def accuracy_units(
    corpora: dict[str, int], folder: Path, config: Config, seed: int, methods: Iterable[str] = METHODS
) -> list[Unit]:
    """Units of the data sets, given with their numbers of documents, costly ones first.

    The paper's trees get more trials on the small sets, all others but VDT in logarithms fewer on the large.
    """
    units = []
    for name, n_documents in corpora.items():
        for method in (METHODS[key] for key in methods):
            if n_documents > method.limit(config):
                continue
            trials = tuple(range(_n_trials(method.key, name in config.whole, config)))
            for part in [(t,) for t in trials] if method.by_trial else [trials]:
                units.append(
                    Unit(accuracy, name, folder, config, seed, method.key, trials=part, settings=SETTINGS)
                )
    return sorted(units, key=lambda unit: (METHODS[unit.method].by_trial, -corpora[unit.corpus]))


def _n_trials(method: str, is_small: bool, config: Config) -> int:
    if is_small:
        return max(config.trials, config.many_trials) if method in ("vdt", "bvdt") else config.trials
    if method in ("vdt", "vdt_log", "bvdt"):
        return config.trials
    return min(config.trials, config.large_trials)


def accuracy(unit: Unit) -> list[Row]:
    """Accuracy of a method at every share, in the unit's trials.

    A trial is a draw of labeled documents and, for the tree methods, a tree; all methods of a trial see the
    same labels.
    """
    corpus = load(unit.corpus, unit.folder, unit.config, unit.seed)
    cases = [(share, trial) for share in unit.config.shares for trial in unit.trials]
    masks = [labeled(corpus.labels, share, trial, unit.seed) for share, trial in cases]
    found = predict(
        unit.method, corpus.counts, corpus.labels, masks, unit.config, [unit.seed, 3, unit.trials[0]]
    )
    return [
        {
            "data": TITLES[unit.corpus],
            "method": unit.method,
            "share": share,
            "trial": trial + 1,
            "labeled": int(known.sum()),
            "accuracy": score(labeling.classes, corpus.labels, known),
            "unreached": round(1.0 - float(labeling.reached[~known].mean()), 6),
            "bandwidth": found.bandwidth,
            "kept": found.kept,
        }
        for (share, trial), known, labeling in zip(cases, masks, found.labelings, strict=True)
    ]


def labeled(y: Index, share: float, trial: int, seed: int) -> Mask:
    """The labeled documents of a trial."""
    return draw_labeled(y, share, np.random.default_rng([seed, 2, trial, round(1e6 * share)]))


def score(predicted: Index, y: Index, known: Mask) -> float:
    """Share of the unlabeled documents that are right, to six digits."""
    return round(float((predicted[~known] == y[~known]).mean()), 6)


@dataclass(frozen=True)
class Mean:
    """Mean of the trials and half the width of its 95 % interval."""

    mean: float
    half: float

    @property
    def low(self) -> float:
        return self.mean - self.half

    @property
    def high(self) -> float:
        return self.mean + self.half

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.half:.3f}"


def half_width(values: list[float]) -> float:
    """Half the 95 % interval of the mean by Student's t: t₀.₉₇₅(n − 1)·s/√n; 0 for one value."""
    if len(values) < 2:
        return 0.0
    return float(stdtrit(len(values) - 1, 0.975) * np.std(values, ddof=1) / np.sqrt(len(values)))


Curves = dict[tuple[str, str], dict[float, Mean]]  # (data, method) -> share -> mean


def means(rows: Iterable[Row]) -> Curves:
    """Curves of accuracy, by data set and method."""
    values: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    for row in rows:
        values[row["data"], row["method"], row["share"]].append(row["accuracy"])
    curves: Curves = defaultdict(dict)
    for (data, method, share), trials in sorted(values.items()):
        curves[data, method][share] = Mean(float(np.mean(trials)), half_width(trials))
    return dict(curves)


def paired(rows: Iterable[Row], better: str, worse: str) -> dict[str, dict[float, Mean]]:
    """Mean of the differences between two methods in the same trials, so with the same labels."""
    values = {
        (row["data"], row["share"], row["trial"], row["method"]): float(row["accuracy"]) for row in rows
    }
    gaps = [
        {
            "data": data,
            "method": better,
            "share": share,
            "accuracy": value - values[data, share, trial, worse],
        }
        for (data, share, trial, method), value in values.items()
        if method == better and (data, share, trial, worse) in values
    ]
    return {data: curve for (data, _), curve in means(gaps).items()}


def mean_rows(curves: Curves) -> list[Row]:
    """The curves as a table, the data sets and methods in their usual order."""
    order = [(data, method) for data in TITLES.values() for method in METHODS]
    return [
        {
            "data": data,
            "method": METHODS[method].title,
            "beyond the paper": "yes" if METHODS[method].beyond else "no",
            "share": share,
            "accuracy": round(mean.mean, 6),
            "half width of the 95 % interval": round(mean.half, 6),
        }
        for data, method in order
        for share, mean in curves.get((data, method), {}).items()
    ]
