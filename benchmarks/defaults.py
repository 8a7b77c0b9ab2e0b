"""Accuracy by the parameters that every entry point shares: n_neighbors, alpha and blend, on ten data sets.

    python benchmarks/defaults.py [--data FOLDER]     prints a table in Markdown

Rows are samples of at most 3 000 points, 1, 3 and 10 labels per class, means of three labelings. Numbers
are standardized or principal components, texts tf-idf or an encoder's vectors. bvdt's defaults are chosen by
the mean over the sets; nothing is chosen per set.
"""

from __future__ import annotations

import argparse
import itertools
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.preprocessing import StandardScaler

import bvdt
import corpora

MOST = 3_000
LABELS = (1, 3, 10)
LABELINGS = 3
NEIGHBORS, ALPHAS, BLENDS = (5, 10, 15, 20), (0.85, 0.875, 0.9, 0.95), (None, "auto")
ROOT = Path(__file__).parents[1]


def folder() -> Path:
    return Path(os.environ.get("BVDT_DATA", ROOT.parent / "shared" / "data"))


def standardized(load: Callable[..., Any]) -> tuple[Any, np.ndarray]:
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def mnist() -> tuple[Any, np.ndarray]:
    with np.load(folder() / "mnist.npz") as file:
        X, y = sampled(file["images"].reshape(-1, 784) / 255.0, file["labels"])
    return PCA(50, random_state=0).fit_transform(X), y


def counts(name: str) -> tuple[Any, np.ndarray]:
    X, y = sampled(corpora.counts(name), corpora.classes(name))
    return TfidfTransformer(sublinear_tf=True).fit_transform(X), y


def encoded(name: str, vectors: bool) -> tuple[Any, np.ndarray]:
    table = pd.read_csv(folder() / f"{name}.csv.gz")
    y = table["label"].astype("category").cat.codes.to_numpy()
    if not vectors:
        rows, y = sampled(np.arange(len(y))[:, None], y)
        return TfidfVectorizer(sublinear_tf=True).fit_transform(table["text"].iloc[rows[:, 0]]), y
    E = np.load(folder() / f"{name}_minilm.npy").astype(float)
    return sampled(E / np.linalg.norm(E, axis=1, keepdims=True), y)


def adult() -> tuple[Any, np.ndarray]:
    table = pd.read_csv(
        folder() / "tables" / "adult.csv.gz", header=None, na_values="?", skipinitialspace=True
    )
    y = table.iloc[:, -1].astype("category").cat.codes.to_numpy()
    X, y = sampled(pd.get_dummies(table.iloc[:, :-1]).to_numpy(float), y)
    return StandardScaler().fit_transform(X), y


DATA: dict[str, tuple[str, Callable[[], tuple[Any, np.ndarray]]]] = {
    "digits": ("squared_euclidean", lambda: load_digits(return_X_y=True)),
    "MNIST, PCA 50": ("squared_euclidean", mnist),
    "breast cancer": ("squared_euclidean", lambda: standardized(load_breast_cancer)),
    "wine": ("squared_euclidean", lambda: standardized(load_wine)),
    "two moons": ("squared_euclidean", lambda: make_moons(1_000, noise=0.15, random_state=0)),
    "adult, one-hot": ("squared_euclidean", adult),
    "AG News, vectors": ("squared_euclidean", lambda: encoded("agnews", True)),
    "CLINC150, vectors": ("squared_euclidean", lambda: encoded("clinc150", True)),
    "AG News, tf-idf": ("cosine", lambda: encoded("agnews", False)),
    "BBC, tf-idf": ("cosine", lambda: counts("bbc")),
    "20 Newsgroups, tf-idf": ("cosine", lambda: counts("20news_bydate_train")),
}


def sampled(X: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    rows = np.random.default_rng(0).permutation(len(y))[:MOST]
    return X[rows], np.asarray(y)[rows]


def labels(y: np.ndarray, per_class: int, seed: int) -> np.ndarray:
    """−1 but for so many points of each class, all but one of it where it has no more."""
    rng, few = np.random.default_rng(seed), np.full(len(y), -1)
    for label in np.unique(y):
        of = np.flatnonzero(y == label)
        kept = rng.choice(of, min(per_class, len(of) - 1), replace=False)
        few[kept] = label
    return few


def accuracies(X: Any, y: np.ndarray, divergence: str) -> dict[tuple[Any, ...], float]:
    """By (n_neighbors, alpha, blend): the mean over numbers of labels and labelings."""
    found: dict[tuple[Any, ...], list[float]] = {}
    for k in NEIGHBORS:
        op = bvdt.transition_matrix(X, divergence, n_neighbors=k, random_state=0)
        for per_class, seed in itertools.product(LABELS, range(LABELINGS)):
            few = labels(y, per_class, seed)
            for alpha, blend in itertools.product(ALPHAS, BLENDS):
                if blend and (k not in NEIGHBORS[1:3] or alpha not in ALPHAS[1:3]):
                    continue
                model = bvdt.LabelPropagation(divergence, alpha=alpha, blend=blend, random_state=0)
                got = model.fit(X, few, operator=op).transduction_
                found.setdefault((k, alpha, blend), []).append(float((got == y)[few < 0].mean()))
    return {key: float(np.mean(values)) for key, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of the data sets; default: $BVDT_DATA or ../shared/data")
    given = parser.parse_args()
    if given.data:
        os.environ["BVDT_DATA"] = given.data
    warnings.simplefilter("ignore")
    rows = {}
    for name, (divergence, load) in DATA.items():
        rows[name] = accuracies(*load(), divergence)
        best = max(rows[name], key=rows[name].__getitem__)
        print(f"{name}: best {best}, {rows[name][best]:.3f}", flush=True)
    keys = list(next(iter(rows.values())))
    print("\n| n_neighbors | alpha | blend | mean | " + " | ".join(rows) + " |\n|" + "---|" * (4 + len(rows)))
    for key in sorted(keys, key=lambda key: -np.mean([row[key] for row in rows.values()])):
        values = [row[key] for row in rows.values()]
        cells = [*map(str, key), f"{np.mean(values):.4f}", *(f"{value:.3f}" for value in values)]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
