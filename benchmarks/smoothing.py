"""Which smoothing serves label propagation best? Prints the tables that docs/choices.md sums up.

Exact P, y ← αPy + (1 − α)y⁰ (Eq. 29) from 10 % labels, mean accuracy over the seeds on the unlabeled points,
the best of three bandwidths for each smoothing. Data: the folder named by BVDT_DATA or ../shared/data.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from scipy import sparse

from bvdt.divergences import GeneralizedI, KullbackLeibler, Logistic
from bvdt.lifting.lifted import lift
from bvdt.lifting.smoothing import DataFacts

FOLDER = Path(os.environ.get("BVDT_DATA", Path(__file__).parents[2] / "shared" / "data"))
CORPORA = ("bbcsport", "bbc", "20news_bydate_train", "imdb", "nsf_surrogate")
ALPHAS = {0.01: 4, 0.9: 30}  # α -> iterations, past any change of the winner
SHARES = tuple(f"background × {share:g}" for share in (1, 0.3, 0.1, 0.03, 0.01))
TINY = ("background × 0.003", "background × 0.001")
STUDIES = {  # divergence -> (smoothings, bandwidths, corpora)
    "gid": (("1", "0.1", "0.01", "0.001", *SHARES, *TINY), (1, 10, 100), CORPORA),
    "kl": (("0.001", "0.0001", "1e-05", "1e-06", *SHARES), (0.005, 0.05, 0.5), CORPORA[:3]),
    "logistic": (("0.1", "0.01", "0.001", "0.0001", *SHARES), (1, 10, 100), CORPORA[:3]),
}
DIVERGENCES = {"gid": GeneralizedI(), "kl": KullbackLeibler(normalize=True), "logistic": Logistic()}


def load(name: str, n_points: int = 2000):
    with np.load(FOLDER / f"{name}.npz", allow_pickle=True) as f:
        arrays = (f["data"].astype(np.int32), f["indices"].astype(np.int32), f["indptr"])
        X, labels = sparse.csr_array(arrays, shape=tuple(f["shape"])), f["labels"].astype(int)
    if X.shape[0] > 3000:
        chosen = np.random.default_rng(0).choice(X.shape[0], n_points, replace=False)
        X, labels = X[chosen], labels[chosen]
    used = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
    return X[X.sum(axis=1) > 0][:, used], labels[X.sum(axis=1) > 0]


def starts(labels: np.ndarray, n_seeds: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Label indicators (N, n_seeds, C) of a tenth of the points, and which points have them."""
    known = np.stack([np.random.default_rng(s).random(len(labels)) < 0.1 for s in range(n_seeds)], axis=1)
    return known[:, :, None] * np.eye(labels.max() + 1)[labels][:, None, :], known


def accuracies(d: np.ndarray, bandwidth: float, y0: np.ndarray, known: np.ndarray, labels: np.ndarray):
    """Mean accuracy for each α."""
    P = np.exp(-(d - d.min(axis=1, keepdims=True)) / np.float32(bandwidth))
    P /= P.sum(axis=1, keepdims=True)
    flat = y0.reshape(len(labels), -1).astype(np.float32)
    for alpha, n_steps in ALPHAS.items():
        y = flat
        for _ in range(n_steps):
            y = np.float32(alpha) * (P @ y) + np.float32(1 - alpha) * flat
        right = y.reshape(y0.shape).argmax(axis=2) == labels[:, None]
        yield np.mean([right[~known[:, s], s].mean() for s in range(known.shape[1])])


def study(divergence_name: str) -> None:
    smoothings, bandwidths, corpora = STUDIES[divergence_name]
    divergence = DIVERGENCES[divergence_name]
    results = np.zeros((len(ALPHAS), len(smoothings), len(corpora)))
    widths = np.zeros_like(results)
    for c, corpus in enumerate(corpora):
        X, labels = load(corpus)
        X = (X > 0).astype(float) if divergence_name == "logistic" else X
        y0, known = starts(labels)
        for s, smoothing in enumerate(smoothings):
            share = smoothing.partition("× ")[2]
            _, prepared = divergence.prepare(X)
            e = (
                divergence.background(DataFacts(prepared).ordinary_means(), float(share))
                if share
                else float(smoothing)
            )
            d = lift(X, divergence, e).divergences(slice(None), slice(None)).astype(np.float32)
            np.fill_diagonal(d, np.inf)
            table = np.array(
                [list(accuracies(d, b, y0, known, labels)) for b in bandwidths]
            )  # (bandwidth, α)
            results[:, s, c] = table.max(axis=0)
            widths[:, s, c] = np.array(bandwidths)[table.argmax(axis=0)]
        print(f"{divergence_name} {corpus} done", file=sys.stderr)
    for a, alpha in enumerate(ALPHAS):
        print(f"\n| {divergence_name}, α = {alpha} | {' | '.join(corpora)} | mean |")
        print("|---" * (len(corpora) + 2) + "|")
        for s, smoothing in enumerate(smoothings):
            cells = [f"{r:.3f} ({w:g})" for r, w in zip(results[a, s], widths[a, s], strict=True)]
            print(f"| {smoothing} | {' | '.join(cells)} | {results[a, s].mean():.3f} |", flush=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or STUDIES:
        study(name)
