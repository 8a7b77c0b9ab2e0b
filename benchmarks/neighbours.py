"""Lists of 15 neighbours: seconds against recall of bvdt and of the libraries one would use otherwise.

    python benchmarks/neighbours.py                          all that is not measured yet, then the page
    python benchmarks/neighbours.py --data unit --method faiss     only names that contain these
    python benchmarks/neighbours.py one METHOD DATA SETTING  a method in this environment, a line per setting

Each method runs over its grid in one process on two threads (THREADS); a setting's time is that from the
points to the lists, index included, by the clock and in processor seconds, and the recall is that of 500
rows with exact answers. What compiles is run once before. Larger settings are skipped once the recall is
0.995. Results are kept in build/bench/neighbours and a run goes on where the last one ended; rivals live in
.venv-bench/neighbours, which is made if it is not there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "bench" / "neighbours"
RIVALS = ROOT / ".venv-bench" / "neighbours"
K, ROWS, ENOUGH = 15, 500, 0.995
THREADS = int(os.environ.get("THREADS", "2"))
Lists = Callable[[], Any]
Settings = Iterator[tuple[str, Lists]]


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


def mnist(n_components: int | None) -> Any:
    """The 70 000 images, or their scores on the first principal components."""
    from corpora import FOLDER

    X = np.load(FOLDER / "mnist.npz")["images"].reshape(70_000, -1) / 255.0
    if n_components is None:
        return X
    X = X - X.mean(axis=0)
    return X @ np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :n_components]


DATA: dict[str, tuple[str, Callable[[], Any], str]] = {
    "mnist50": ("MNIST, 70 000 × 50", lambda: mnist(50), "euclidean"),
    "mnist784": ("MNIST, 70 000 × 784", lambda: mnist(None), "euclidean"),
    "blobs50k": ("blobs, 50 000 × 20", lambda: blobs(50_000, 20, 10, 2.0), "euclidean"),
    "blobs1m": ("blobs, 1 000 000 × 20", lambda: blobs(1_000_000, 20, 50, 1.0), "euclidean"),
    "unit": ("unit vectors, 100 000 × 384", unit, "euclidean"),
    "histograms": ("histograms by KL, 50 000 × 20", histograms, "kl"),
}


def bvdt(X: Any, metric: str) -> Settings:
    from bvdt import NearestNeighbors

    for recall in (0.8, 0.9, 0.95, 0.99):
        search = NearestNeighbors(K, metric=metric, recall=recall, random_state=0, n_jobs=THREADS)
        yield f"recall={recall}", lambda search=search: search.fit(X).kneighbors(return_distance=False)


def faiss(X: Any, metric: str) -> Settings:
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
        for probes in (4, 8, 12, 16, 24, 32, 48, 64, 96, 128):
            yield f"{n_lists} lists, {probes} probes", lambda a=n_lists, b=probes: lists(a, b)


def hnswlib(X: Any, metric: str) -> Settings:
    import hnswlib

    def lists(m: int, ef: int) -> Any:
        index = hnswlib.Index("l2", X.shape[1])
        index.init_index(len(X), M=m, ef_construction=ef)
        index.set_num_threads(THREADS)
        index.add_items(X)
        index.set_ef(max(ef, K + 1))
        return index.knn_query(X, K + 1)[0]

    for m in (8, 16):
        for ef in (32, 64, 100, 200):
            yield f"M={m}, ef={ef}", lambda m=m, ef=ef: lists(m, ef)


def pynndescent(X: Any, metric: str) -> Settings:
    from pynndescent import NNDescent

    name = "kullback_leibler" if metric == "kl" else metric

    def lists(n_neighbours: int, rows: Any) -> Any:
        search = NNDescent(rows, metric=name, n_neighbors=n_neighbours, random_state=0, n_jobs=THREADS)
        return search.neighbor_graph[0]

    lists(K + 1, X[:5000])  # compiles
    for n_neighbours in (K + 1, 2 * K, 3 * K):
        yield f"{n_neighbours} neighbours", lambda n=n_neighbours: lists(n, X)


def nmslib(X: Any, metric: str) -> Settings:
    import nmslib

    def lists(neighbours: int, ef: int) -> Any:
        index = nmslib.init(method="sw-graph", space="kldivgenfastrq")
        index.addDataPointBatch(X.astype(np.float32))
        index.createIndex({"NN": neighbours, "efConstruction": ef, "indexThreadQty": THREADS})
        index.setQueryTimeParams({"efSearch": ef})
        found = index.knnQueryBatch(X.astype(np.float32), K + 1, num_threads=THREADS)
        return [indices for indices, _ in found]

    for neighbours in (10, 15):
        for ef in (20, 40, 80, 160):
            yield f"NN={neighbours}, ef={ef}", lambda a=neighbours, b=ef: lists(a, b)


METHODS = {"euclidean": (bvdt, faiss, hnswlib, pynndescent), "kl": (bvdt, nmslib, pynndescent)}


def true_lists(X: Any, metric: str, rows: Any) -> Any:  # (ROWS, K)
    """By all pairs. KL(x_i ‖ x_j) ranks the centres x_j of a row as −⟨x_i, ln x_j⟩ does."""
    exact = np.empty((len(rows), K), np.int64)
    logs = np.log(X) if metric == "kl" else None
    for place, i in enumerate(rows):
        d = -logs @ X[i] if logs is not None else np.square(X - X[i]).sum(axis=1)
        d[i] = np.inf
        exact[place] = np.argpartition(d, K)[:K]
    return exact


def prepared(name: str) -> tuple[Any, Any, Any]:
    """Points, sampled rows and their true lists, from files."""
    file = KEPT / f"{name}.npz"
    if not file.exists():
        _, make, metric = DATA[name]
        X = make()
        rows = np.random.default_rng(0).choice(len(X), ROWS, replace=False)
        KEPT.mkdir(parents=True, exist_ok=True)
        np.savez(file, X=X, rows=rows, exact=true_lists(X, metric, rows))
    found = np.load(file)
    return found["X"], found["rows"], found["exact"]


def recall_of(lists: Any, rows: Any, exact: Any) -> float:
    found = ([int(j) for j in lists[i] if j != i][:K] for i in rows)
    return float(np.mean([len({*a} & {*b.tolist()}) / K for a, b in zip(found, exact, strict=True)]))


def measure_one(method: str, name: str, wanted: str, done: list[str]) -> None:
    """A line of JSON per setting that is wanted and not done."""
    metric = DATA[name][2]
    X, rows, exact = prepared(name)
    steps = next(m for m in METHODS[metric] if m.__name__ == method)(X, metric)
    full: set[str] = set()  # beginnings of settings that have reached enough: the next ones take longer
    for setting, lists in steps:
        family = setting.split(",")[0]
        if not _is_wanted(setting, wanted) or setting in done or family in full:
            continue
        wall, busy = time.perf_counter(), time.process_time()
        found = lists()
        wall, busy = time.perf_counter() - wall, time.process_time() - busy
        reached = recall_of(found, rows, exact)
        if reached >= ENOUGH:
            full.add(family)
        print(json.dumps({"setting": setting, "wall": wall, "cpu": busy, "recall": reached}), flush=True)


def _is_wanted(setting: str, wanted: str) -> bool:
    return not wanted or any(part in setting for part in wanted.split("|"))


def python_of(method: str) -> Path:
    if method == "bvdt":
        return Path(sys.executable)
    python = RIVALS / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(RIVALS)], check=True)
        names = ("faiss-cpu==1.15.1", "hnswlib==0.8.0", "pynndescent==0.7.0", "nmslib==2.1.2")
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *names], check=True)
    return python


def measure(name: str, method: str, wanted: str) -> None:
    """Adds to the file of a data set and a method what it lacks."""
    prepared(name)
    file = KEPT / f"{name}.{method}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    done = [json.loads(line)["setting"] for line in lines]
    command = [str(python_of(method)), __file__, "one", method, name, wanted, *done]
    with file.open("a", encoding="utf-8") as kept:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            kept.write(line)
            kept.flush()
            print(name, method, line.strip(), flush=True)
        if process.wait():
            print(f"{name} {method}: exit status {process.returncode}", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["one"]:
        return measure_one(*sys.argv[2:5], sys.argv[5:])
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="")
    parser.add_argument("--method", default="")
    parser.add_argument("--setting", default="", help="only settings that contain one of these, by |")
    parser.add_argument("--page", action="store_true", help="only write the page from what is kept")
    chosen = parser.parse_args()
    for name, (_, _, metric) in DATA.items():
        for method in METHODS[metric]:
            if not chosen.page and chosen.data in name and chosen.method in method.__name__:
                measure(name, method.__name__, chosen.setting)
    from neighbours_page import write

    write({name: title for name, (title, _, _) in DATA.items()}, KEPT)
    return None


if __name__ == "__main__":
    main()
