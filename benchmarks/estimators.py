"""The estimators against scikit-learn's; parts: digits, new, clusters, imdb."""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.semi_supervised import LabelSpreading

import bvdt
import corpora

GAMMAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SEEDS = range(10)


def few_labels(y: np.ndarray, per_class: int, seed: int) -> np.ndarray:
    """y with that many labels of every class kept and −1 elsewhere."""
    rng = np.random.default_rng(seed)
    kept = [rng.choice(np.flatnonzero(y == c), per_class, replace=False) for c in np.unique(y)]
    few = np.full(len(y), -1)
    few[np.concatenate(kept)] = y[np.concatenate(kept)]
    return few


def transductive(model, X, y, labels) -> list[float]:
    """Accuracy on the unlabeled points, one value a labeling."""
    scores = []
    for seed, few in enumerate(labels):
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        scores.append((model.fit(X, few).transduction_ == y)[few == -1].mean())
    return scores


def digits() -> None:
    X, y = load_digits(return_X_y=True)
    labels = [few_labels(y, 5, seed) for seed in SEEDS]
    rows = {f"LabelSpreading, gamma {g:g}": LabelSpreading(kernel="rbf", gamma=g) for g in GAMMAS}
    settings = {
        "squared_euclidean": {},
        "squared_euclidean, walk": {"method": "walk"},
        "squared_euclidean, near 0": {"n_neighbors": 0},
        "squared_euclidean, near 0, 8 trees": {"n_neighbors": 0, "n_trees": 8},
        "squared_euclidean, near 0, 8 N blocks": {"n_neighbors": 0, "n_blocks": 8 * len(y)},
        "squared_euclidean, class masses": {"class_mass_normalization": True},
        "squared_euclidean, no class balance": {"class_balance": False},
        'squared_euclidean, blend="auto"': {"blend": "auto"},
        "gid": {},
        "gid, smoothing half the mean": {"smoothing": X.mean() / 2},
        "gid, smoothing half the mean, near 5": {"smoothing": X.mean() / 2, "n_neighbors": 5},
    }
    for name, options in settings.items():
        rows[name] = bvdt.LabelPropagation(name.split(",")[0], **({"blend": None} | options))
    for name, model in rows.items():
        scores = transductive(model, X, y, labels)
        print(f"| {name} | {np.mean(scores):.4f} | {np.std(scores):.4f} |", flush=True)


def new() -> None:
    X, y = load_digits(return_X_y=True)
    for divergence in ("squared_euclidean", "gid"):
        inside, outside = [], []
        for seed in SEEDS:
            known, unknown = np.split(np.random.default_rng(seed).permutation(len(y)), [1257])
            few = few_labels(y[known], 5, seed)
            model = bvdt.LabelPropagation(divergence, blend=None, random_state=seed).fit(X[known], few)
            inside.append((model.transduction_ == y[known])[few == -1].mean())
            outside.append(model.score(X[unknown], y[unknown]))
        print(f"| {divergence} | {np.mean(inside):.4f} | {np.mean(outside):.4f} |", flush=True)


def clusters() -> None:
    data = {f"moons, noise {s:g}": (make_moons, s, 2) for s in (0.05, 0.1)} | {"digits": (None, 0, 10)}
    for name, (make, noise, k) in data.items():
        ours, theirs, gid = [], [], []
        for seed in range(5):
            X, y = make(1500, noise=noise, random_state=seed) if make else load_digits(return_X_y=True)
            rival = SpectralClustering(k, affinity="nearest_neighbors", random_state=seed)
            theirs.append(adjusted_rand_score(y, rival.fit_predict(X)))
            model = bvdt.SpectralClustering(k, divergence="squared_euclidean", random_state=seed)
            ours.append(adjusted_rand_score(y, model.fit_predict(X)))
            if not make:
                gid.append(adjusted_rand_score(y, model.set_params(divergence="gid").fit_predict(X)))
        print(
            f"| {name} | {np.mean(theirs):.4f} | {np.mean(ours):.4f} | {np.mean(gid or [np.nan]):.4f} |",
            flush=True,
        )


def imdb() -> None:
    X, y = corpora.counts("imdb"), corpora.classes("imdb")
    rng = np.random.default_rng(0)
    few, other = (np.where(rng.random(len(y)) < 0.1, y, -1) for _ in range(2))
    start = time.perf_counter()
    model = bvdt.LabelPropagation(blend=None, random_state=0).fit(X, few)
    first = time.perf_counter() - start
    accuracy = (model.transduction_ == y)[few == -1].mean()
    start = time.perf_counter()
    model.fit(y=other, operator=model.operator_)
    again = time.perf_counter() - start
    print(f"first fit {first:.2f} s (accuracy {accuracy:.4f}), new labels {again:.3f} s", end=", ")
    print(f"1/{first / again:.0f}; {model.n_iter_} steps")


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)  # the rival's graph may fall apart
    for part in sys.argv[1:] or ("digits", "new", "clusters", "imdb"):
        print(f"-- {part}", flush=True)
        {"digits": digits, "new": new, "clusters": clusters, "imdb": imdb}[part]()
