"""New points: the recall of the 15 neighbors that ``predict`` uses at its defaults, and the time of a query.

Prints, per data set: recall on 500 queries, and processor time per query of the operator's index (one
tree, near field) beside ``bvdt.NearestNeighbors`` and scikit-learn's.
Run: python benchmarks/new_points.py [name ...]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

import bvdt
from bvdt.neighbors import exact_lists
from bvdt.neighbors.recall import count_hits
from neighbors_data import blobs, histograms, mnist, text

K, QUERIES = 15, 2000


def lognormal() -> Any:
    rng = np.random.default_rng(7)
    centers = rng.normal(size=(20, 50))
    return np.exp(centers[rng.integers(20, size=32_000)] + 0.5 * rng.normal(size=(32_000, 50)))


def gaussian() -> Any:
    return np.random.default_rng(8).normal(size=(42_000, 20))


# name: points, divergence, how many are fitted
DATA: dict[str, tuple[Callable[[], Any], str, int]] = {
    "one Gaussian": (gaussian, "squared_euclidean", 40_000),
    "50 blobs": (lambda: blobs(42_000, 20, 50, 2.0), "squared_euclidean", 40_000),
    "MNIST x 784": (lambda: mnist(None), "squared_euclidean", 60_000),
    "20 Newsgroups": (lambda: text("20news_bydate_train"), "cosine", 9_000),
    "KL histograms": (lambda: histograms(52_000), "kl", 50_000),
    "log-normal": (lognormal, "gid", 30_000),
}


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and milliseconds of one processor per query."""
    start = time.process_time()
    return run(), 1000 * (time.process_time() - start) / QUERIES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    names = parser.parse_args().names or DATA
    heads = [
        "data",
        "tree: recall",
        "ms",
        "near field: recall",
        "ms",
        "NearestNeighbors: recall",
        "ms",
        "sklearn: ms",
    ]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name in names:
        make, divergence, n = DATA[name]
        X = make()
        rows = np.random.default_rng(0).permutation(X.shape[0])
        fitted, queries = X[rows[:n]], X[rows[n : n + QUERIES]]
        cells = []
        for near in (0, 10):
            op = bvdt.transition_matrix(fitted, divergence, n_neighbors=near, random_state=0)
            lifted = op.lifted.lifting.transform(queries)
            exact = exact_lists(lifted.take(np.arange(500)), op.lifted, K)[1]
            op.nearest(queries[:2], K)  # builds what is built once
            (_, d), ms = timed(lambda op=op, q=queries: op.nearest(q, K))
            cells += [f"{count_hits(d[:500], exact).mean() / K:.3f}", f"{ms:.3f}"]
        search = bvdt.NearestNeighbors(K, metric=divergence, random_state=0).fit(fitted)
        (d, _), ms = timed(lambda s=search, q=queries: s.kneighbors(q))
        cells += [f"{count_hits(d[:500], exact).mean() / K:.3f}", f"{ms:.3f}"]
        other = NearestNeighbors(n_neighbors=K).fit(fitted)
        cells.append(f"{timed(lambda s=other, q=queries: s.kneighbors(q))[1]:.3f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
