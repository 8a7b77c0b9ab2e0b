"""``LabelPropagation.update`` beside a refit: accuracy and seconds.

A model of 4 000 documents takes in 500 new ones with 20 labels among them; the refit begins with the tf-idf
weights of all 4 500. Accuracy is that of all unlabeled documents. Data: the corpora of ``corpora.py``, AG
News and CLINC150 (texts), and MNIST's first 50 principal components (dense, squared Euclidean, blend="auto").
With --growth the same model takes in 500 documents eight times, 20 labels each time.
Run: python benchmarks/update.py [--growth] [--seeds 0 1 2] [corpus ...]
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import bvdt
from corpora import FOLDER, classes, counts

LABELS = {"20news_bydate_train": 400, "nsf_surrogate": 200, "agnews": 100, "clinc150": 600, "mnist": 100}
FITTED, NEW, NEW_LABELS = 4000, 500, 20


def corpus(name: str) -> tuple[Any, np.ndarray]:
    """Documents, as rows of counts, texts or coordinates, and their classes."""
    if name == "mnist":
        with np.load(FOLDER / "mnist.npz") as file:
            pixels, labels = file["images"].reshape(-1, 784)[:20000] / 255.0, file["labels"][:20000]
        return PCA(50, random_state=0).fit_transform(pixels), labels
    if name in ("agnews", "clinc150"):
        with gzip.open(FOLDER / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return np.array([row["text"] for row in rows], object), np.array([row["label"] for row in rows])
    return counts(name), classes(name).astype(str)


def pipeline(name: str) -> Pipeline:
    if name == "mnist":
        labels = bvdt.LabelPropagation("squared_euclidean", blend="auto", random_state=0)
        return Pipeline([("as they are", FunctionTransformer()), ("labels", labels)])
    return bvdt.text_pipeline("text" if name in ("agnews", "clinc150") else "counts", random_state=0)


def few_labels(y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Labels of n points drawn at random, "" elsewhere."""
    few = np.full(len(y), "", object)
    chosen = rng.choice(len(y), n, replace=False)
    few[chosen] = y[chosen]
    return few


def updates(name: str, seed: int, n_times: int) -> Iterator[dict[str, float]]:
    """Accuracy and processor seconds of each update, and of a refit on what it has seen."""
    rng = np.random.default_rng(seed)
    X, y = corpus(name)
    some = rng.permutation(len(y))[: FITTED + n_times * NEW]
    X, y = X[some], y[some].astype(str)
    few = few_labels(y[:FITTED], LABELS[name], rng)
    model = pipeline(name).fit(X[:FITTED], few)
    for end in range(FITTED + NEW, len(y) + 1, NEW):
        new = slice(end - NEW, end)
        labels = few_labels(y[new], NEW_LABELS, rng)
        few = np.concatenate([few, labels])
        times = [time.process_time()]
        model[-1].update(model[:-1].transform(X[new]), labels)
        times.append(time.process_time())
        full = pipeline(name).fit(X[:end], few)
        times.append(time.process_time())
        rest = few == ""
        right = [(m[-1].transduction_[rest] == y[:end][rest]).mean() for m in (model, full)]
        yield {
            "update": right[0],
            "refit": right[1],
            "s": times[1] - times[0],
            "refit s": times[2] - times[1],
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", default=list(LABELS))
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--growth", action="store_true")
    asked = parser.parse_args()
    print("| corpus | points | update | refit | difference | least | update s | refit s | time |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in asked.corpora:
        runs = [list(updates(name, seed, 8 if asked.growth else 1)) for seed in asked.seeds]
        for turn, found in enumerate(zip(*runs, strict=True), 1):
            mean = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
            gaps = [one["update"] - one["refit"] for one in found]
            figures = [f"{mean['update']:.4f}", f"{mean['refit']:.4f}", f"{np.mean(gaps):+.4f}"]
            figures += [f"{min(gaps):+.4f}", f"{mean['s']:.2f}", f"{mean['refit s']:.2f}"]
            figures.append(f"{100 * mean['s'] / mean['refit s']:.0f} %")
            print(f"| {' | '.join([name, str(FITTED + turn * NEW), *figures])} |", flush=True)


if __name__ == "__main__":
    main()
