"""Learning curves of ``LabelPropagation.suggest`` beside random labels and the least margin.

    python benchmarks/suggestions.py [seeds, 10] [--blend] [digits bbc 20news nsf mnist]

From one random label in batches of 5 to 100 labels; accuracy on the unlabeled points, the area under its
curve and the labels it takes to the accuracy that 100 random ones have. --blend: the walk is blended (slow).
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer

import bvdt
from bvdt._support.defaults import N_NEIGHBORS
from bvdt.estimators.text import DEFAULTS
from corpora import FOLDER

CORPORA = {"bbc": "bbc", "20news": "20news_bydate_train", "nsf": "nsf_surrogate"}
STRATEGIES = ("auto", "random", "margin")


def load(name: str) -> tuple[object, np.ndarray, dict[str, object], float]:
    """Points, classes, how to build their walk, and its alpha."""
    if name == "digits":
        return *load_digits(return_X_y=True), {"divergence": "gid", "n_neighbors": 10}, 0.9
    if name == "mnist":
        with np.load(FOLDER / "mnist.npz") as file:
            chosen = np.random.default_rng(0).permutation(70_000)[:10_000]
            X = file["images"].reshape(70_000, -1)[chosen] / 255.0
            return (
                X,
                file["labels"][chosen].astype(int),
                {"divergence": "squared_euclidean", "n_neighbors": 10},
                0.9,
            )
    with np.load(FOLDER / f"{CORPORA[name]}.npz", allow_pickle=True) as file:
        from scipy import sparse

        parts = (file["data"].astype(np.int32), file["indices"].astype(np.int32), file["indptr"])
        X = sparse.csr_matrix(parts, shape=tuple(file["shape"]))
        walk = DEFAULTS | {"n_neighbors": N_NEIGHBORS}
        return TfidfTransformer(sublinear_tf=True).fit_transform(X), file["labels"].astype(int), walk, 0.875


def curve(X, y, op, alpha: float, prior: str | None, strategy: str, seed: int) -> list[float]:
    """Accuracy with 1, 6, 11, … and 100 labels."""
    start = np.random.default_rng(seed).integers(len(y))
    codes, found = np.full(len(y), -1), []
    codes[start] = y[start] + 2  # −1 and 1 alone would draw a warning
    model = bvdt.LabelPropagation(alpha=alpha, blend=prior)
    while True:
        model.fit(X if prior else None, codes.copy(), operator=op)
        rest = codes < 0
        found.append(float((model.transduction_ - 2 == y)[rest].mean()))
        n_left = 100 - int((~rest).sum())
        if not n_left:
            return found
        model.random_state = 1000 * seed + len(found)
        chosen = model.suggest(min(5, n_left), strategy=strategy)
        codes[chosen] = y[chosen] + 2


def main() -> None:
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    seeds = int(words.pop(0)) if words and words[0].isdigit() else 10
    prior = "auto" if "--blend" in sys.argv else None
    for name in words or ("digits", "bbc", "20news", "nsf", "mnist"):
        X, y, walk, alpha = load(name)
        op = bvdt.transition_matrix(X, **walk, random_state=0)
        curves = {
            s: np.mean([curve(X, y, op, alpha, prior, s, k) for k in range(seeds)], axis=0)
            for s in STRATEGIES
        }
        for strategy, mean in curves.items():
            reached = np.flatnonzero(mean >= curves["random"][-1])
            labels = "never" if not len(reached) else min(100, 1 + 5 * int(reached[0]))
            print(
                f"{name:7} {strategy:7} area {mean.mean():.4f}  at 100 {mean[-1]:.4f}  random's at {labels}",
                flush=True,
            )


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
