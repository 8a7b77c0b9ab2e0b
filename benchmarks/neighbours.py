"""Lists of 15 neighbours: seconds and recall of ours and of those rivals that can be imported, in one run.

    python benchmarks/neighbours.py blobs50k unit        # of DATA; all of them without a name

Each rival runs over a grid; a line is one setting: wall and processor seconds from the points to the lists,
and the recall on 500 rows with exact answers. Install rivals beside bvdt to compare: faiss-cpu, hnswlib,
pynndescent (warm: its second run counts). Two threads each, unless THREADS says otherwise.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

import bvdt

K, ROWS = 15, 500
THREADS = int(os.environ.get("THREADS", "2"))
Lists = Callable[[], Any]


def blobs(n: int, d: int, n_groups: int, spread: float) -> Any:
    """Gaussian groups of unit variance around centres of that deviation."""
    rng = np.random.default_rng(1)
    centres = spread * rng.normal(size=(n_groups, d))
    return centres[rng.integers(n_groups, size=n)] + rng.normal(size=(n, d))


def unit(n: int = 100_000, d: int = 384) -> Any:
    """Clustered unit vectors: 500 topics in 60 directions of falling size, noise in them and in all."""
    rng = np.random.default_rng(5)
    basis = rng.normal(size=(60, d)) * np.exp(-np.arange(60) / 25)[:, None]
    topics = rng.normal(size=(500, 60))[rng.integers(500, size=n)]
    X = (topics + 0.8 * rng.normal(size=(n, 60))) @ basis + 0.2 * rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def histograms(n: int = 50_000, d: int = 20) -> Any:
    """Positive rows of sum 1 around 30 profiles."""
    rng = np.random.default_rng(6)
    profiles = rng.gamma(0.5, size=(30, d)) + 0.05
    X = rng.gamma(5 * profiles[rng.integers(30, size=n)]) + 1e-3
    return X / X.sum(axis=1, keepdims=True)


DATA: dict[str, tuple[Callable[[], Any], str]] = {
    "blobs50k": (lambda: blobs(50_000, 20, 10, 2.0), "euclidean"),
    "blobs1m": (lambda: blobs(1_000_000, 20, 50, 1.0), "euclidean"),
    "unit": (unit, "euclidean"),
    "histograms": (histograms, "kl"),
}


def ours(X: Any, metric: str) -> Iterator[tuple[str, Lists]]:
    for recall in (0.8, 0.9, 0.95, 0.99):
        search = bvdt.NearestNeighbors(K, metric=metric, recall=recall, random_state=0, n_jobs=THREADS)
        yield (
            f"bvdt, recall={recall}",
            lambda search=search: search.fit(X).kneighbors(return_distance=False),
        )


def faiss(X: Any, metric: str) -> Iterator[tuple[str, Lists]]:
    import faiss

    faiss.omp_set_num_threads(THREADS)
    X = X.astype(np.float32)

    def lists(n_lists: int, probes: int) -> Any:
        index = faiss.index_factory(X.shape[1], f"IVF{n_lists},Flat")
        index.train(X[:: max(1, len(X) // (50 * n_lists))])
        index.add(X)
        index.nprobe = probes
        return index.search(X, K + 1)[1]

    for n_lists in (int(np.sqrt(len(X))), int(4 * np.sqrt(len(X)))):
        for probes in (4, 8, 16, 32, 64, 128):
            yield f"faiss, {n_lists} lists, {probes} probes", lambda a=n_lists, b=probes: lists(a, b)


def hnswlib(X: Any, metric: str) -> Iterator[tuple[str, Lists]]:
    import hnswlib

    def lists(m: int, ef: int) -> Any:
        index = hnswlib.Index("l2", X.shape[1])
        index.init_index(len(X), M=m, ef_construction=ef)
        index.set_num_threads(THREADS)
        index.add_items(X)
        index.set_ef(max(ef, K + 1))
        return index.knn_query(X, K + 1)[0]

    for m, ef in ((8, 32), (8, 64), (16, 64), (16, 128), (24, 200)):
        yield f"hnswlib, M={m}, ef={ef}", lambda m=m, ef=ef: lists(m, ef)


def pynndescent(X: Any, metric: str) -> Iterator[tuple[str, Lists]]:
    from pynndescent import NNDescent

    def lists(n_neighbours: int) -> Any:
        options = {"n_neighbors": n_neighbours, "random_state": 0, "n_jobs": THREADS}
        return NNDescent(
            X, metric="kullback_leibler" if metric == "kl" else metric, **options
        ).neighbor_graph[0]

    lists(K + 1)  # compiles
    for n_neighbours in (K + 1, 2 * K, 3 * K):
        yield f"pynndescent, {n_neighbours} neighbours", lambda n=n_neighbours: lists(n)


def true_lists(X: Any, metric: str, rows: Any) -> list[set[int]]:
    exact = []
    for i in rows:
        d = -np.log(X) @ X[i] if metric == "kl" else np.square(X - X[i]).sum(axis=1)
        d[i] = np.inf
        exact.append(set(np.argpartition(d, K)[:K].tolist()))
    return exact


def recall_of(lists: Any, rows: Any, exact: list[set[int]]) -> float:
    found = (set([int(j) for j in lists[i] if j != i][:K]) for i in rows)
    return float(np.mean([len(a & b) / K for a, b in zip(found, exact, strict=True)]))


def main(names: list[str]) -> None:
    for name in names or list(DATA):
        make, metric = DATA[name]
        X = make()
        rows = np.random.default_rng(0).choice(len(X), ROWS, replace=False)
        exact = true_lists(X, metric, rows)
        rivals = [pynndescent] if metric == "kl" else [faiss, hnswlib, pynndescent]
        for method in [ours, *(rival for rival in rivals if find_spec(rival.__name__))]:
            for setting, lists in method(X, metric):
                wall, busy = time.perf_counter(), time.process_time()
                found = lists()
                wall, busy = time.perf_counter() - wall, time.process_time() - busy
                reached = recall_of(found, rows, exact)
                print(
                    f"{name:11} {setting:34} {wall:8.2f} s {busy:8.2f} CPU s  recall {reached:.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
