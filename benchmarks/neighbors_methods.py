"""Who takes part in benchmarks/neighbors.py: indices, each built once and searched at several efforts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from neighbors_data import K

THREADS = int(os.environ.get("THREADS", "2"))


class Family(NamedTuple):
    """An index; ``search(index, points, effort)`` gives lists of these points. Efforts rise."""

    name: str
    build: Callable[[], Any]
    search: Callable[[Any, Any, int], Any]
    efforts: tuple[int, ...] = (0,)
    unit: str = ""  # "{} probes": how an effort is told

    def setting(self, effort: int) -> str:
        return f"{self.name}, {self.unit.format(effort)}" if self.unit else self.name


def bvdt(X: Any, kind: str) -> Iterator[Family]:
    from bvdt import NearestNeighbors

    metric = "kl" if kind == "kl" else "euclidean"

    def build(recall: float) -> Any:  # the lists: a fitted search finds them once
        search = NearestNeighbors(K, metric=metric, recall=recall, random_state=0, n_jobs=THREADS)
        return search.fit(X).kneighbors(return_distance=False)

    for recall in (0.8, 0.9, 0.95, 0.99):
        yield Family(f"recall={recall}", lambda r=recall: build(r), lambda lists, points, effort: lists)


def faiss(X: Any, kind: str) -> Iterator[Family]:
    import faiss

    faiss.omp_set_num_threads(THREADS)
    X = np.ascontiguousarray(X, np.float32)

    def build(n_lists: int) -> Any:
        index = faiss.index_factory(X.shape[1], f"IVF{n_lists},Flat")
        index.train(X[:: max(1, len(X) // (50 * n_lists))])
        index.add(X)
        return index

    def search(index: Any, points: Any, probes: int) -> Any:
        index.nprobe = probes
        return index.search(np.ascontiguousarray(points, np.float32), K + 1)[1]

    probes = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512)
    for times in (1, 2, 4):
        n = int(times * np.sqrt(len(X)))
        yield Family(f"{n} lists", lambda n=n: build(n), search, probes, "{} probes")


def hnswlib(X: Any, kind: str) -> Iterator[Family]:
    import hnswlib

    X = np.ascontiguousarray(X, np.float32)

    def build(m: int, ef: int) -> Any:
        index = hnswlib.Index("l2", X.shape[1])
        index.init_index(len(X), M=m, ef_construction=ef, random_seed=0)
        index.set_num_threads(THREADS)
        index.add_items(X)
        return index

    def search(index: Any, points: Any, ef: int) -> Any:
        index.set_ef(ef)
        return index.knn_query(np.ascontiguousarray(points, np.float32), K + 1)[0]

    efforts = (16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 384, 512)
    for m, ef in ((8, 40), (12, 60), (16, 100), (8, 100), (16, 50), (24, 100), (16, 200)):
        yield Family(f"M={m}, {ef} at building", lambda m=m, ef=ef: build(m, ef), search, efforts, "ef={}")


def pynndescent(X: Any, kind: str) -> Iterator[Family]:
    from pynndescent import NNDescent

    metric = _compiled_kl() if kind == "kl" else "euclidean"

    def build(n_neighbors: int, rows: Any) -> Any:
        return NNDescent(rows, metric=metric, n_neighbors=n_neighbors, random_state=0, n_jobs=THREADS)

    def lists(index: Any, points: Any, effort: int) -> Any:
        return index.neighbor_graph[0]

    build(K + 1, X[:5000])  # compiles
    for n in (K + 1, 24, 32, 48):
        yield Family(f"{n} neighbors", lambda n=n: build(n, X), lists)


def _compiled_kl() -> Any:
    """KL(x ‖ y) of rows of sum 1, which pynndescent lacks: its way for a metric of the user's."""
    import numba

    @numba.njit(fastmath=True)
    def kl(x: Any, y: Any) -> float:
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] * np.log(x[i] / y[i])
        return total

    return kl


def nmslib(X: Any, kind: str) -> Iterator[Family]:
    import nmslib

    X = np.ascontiguousarray(X, np.float32)

    def build(neighbors: int, ef: int) -> Any:
        index = nmslib.init(method="sw-graph", space="kldivgenfastrq")
        index.addDataPointBatch(X)
        index.createIndex({"NN": neighbors, "efConstruction": ef, "indexThreadQty": THREADS})
        return index

    def search(index: Any, points: Any, ef: int) -> Any:
        index.setQueryTimeParams({"efSearch": ef})
        found = index.knnQueryBatch(np.ascontiguousarray(points, np.float32), K + 1, num_threads=THREADS)
        return [indices for indices, _ in found]

    efforts = (16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256)
    for neighbors, ef in ((6, 20), (10, 20), (10, 40), (15, 40), (15, 80)):
        name = f"NN={neighbors}, {ef} at building"
        yield Family(name, lambda a=neighbors, b=ef: build(a, b), search, efforts, "ef={}")


METHODS = {
    "euclidean": (bvdt, faiss, hnswlib, pynndescent),
    "kl": (bvdt, nmslib, pynndescent),
    "text": (bvdt, pynndescent),
}
