"""The anchor tree's cost: evaluations that pruning saves, text, growth with N.

    python benchmarks/anchor.py [pruning] [text] [growth]

Text: the folder named by BVDT_DATA or ../shared/data; beside pynndescent's 10-NN graph where that is installed.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from bvdt.lift import lift
from bvdt.tree.anchor import anchor_tree

DATA = Path(os.environ.get("BVDT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def timed(lifted, **options):
    started = time.perf_counter()
    tree, stats = anchor_tree(lifted, random_state=0, return_stats=True, **options)
    return time.perf_counter() - started, tree, stats


def blobs(n, d, clusters, spread):
    rng = np.random.default_rng(0)
    centres = rng.uniform(0.0, spread, size=(clusters, d))
    return centres[rng.integers(clusters, size=n)] + rng.normal(size=(n, d))


def pruning():
    """Share of divergences skipped: 20 000 points, 2 features, 100 well separated clusters (at least 80 %)."""
    X = blobs(20_000, 2, 100, 1000.0)
    for name in ("squared_euclidean", "gid"):
        seconds, _, stats = timed(lift(np.maximum(X, 1.0), name))
        print(f"pruning, {name}: {stats.skipped:.1%} of {stats.brute_force} skipped, {seconds:.2f} s")


def text():
    """IMDB, 50 000 × 89 527: at most pynndescent's time for its 10-NN graph."""
    if not (DATA / "imdb.npz").exists():
        print(f"text: no imdb.npz in {DATA}; set BVDT_DATA")
        return
    from sklearn.feature_extraction.text import TfidfTransformer

    f = np.load(DATA / "imdb.npz")
    parts = f["data"].astype(np.int32), f["indices"].astype(np.int32), f["indptr"]
    counts = sparse.csr_matrix(parts, shape=f["shape"]).astype(float)
    tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    for name, lifted in (
        ("gid, smoothing 0.01", lift(counts, "gid", 0.01)),
        ("squared Euclidean, tf-idf", lift(tfidf, "squared_euclidean")),
    ):
        seconds, tree, stats = timed(lifted)
        print(
            f"text, {name}: {seconds:.1f} s, depth {tree.depth}, {stats.levels} levels, {stats.skipped:.1%} skipped"
        )
    try:
        from pynndescent import NNDescent
    except ImportError:
        print("text: pynndescent is not installed")
        return
    for run in ("cold", "warm"):
        started = time.perf_counter()
        NNDescent(tfidf, metric="cosine", n_neighbors=10, random_state=0, n_jobs=-1)
        print(f"text, pynndescent {run}: {time.perf_counter() - started:.1f} s")


def growth():
    """Exponent of the time between 62 500 and 1 000 000 points with 20 features (at most 1.6)."""
    seconds = {}
    for n in (62_500, 250_000, 1_000_000):
        seconds[n], tree, stats = timed(lift(blobs(n, 20, 100, 20.0), "squared_euclidean"))
        print(f"growth, {n} × 20: {seconds[n]:.2f} s, depth {tree.depth}, {stats.skipped:.1%} skipped")
    print(f"growth, exponent: {np.log(seconds[1_000_000] / seconds[62_500]) / np.log(16):.2f}")


if __name__ == "__main__":
    for name in sys.argv[1:] or ("pruning", "text", "growth"):
        globals()[name]()
