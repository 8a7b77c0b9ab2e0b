"""What the trees cost and what they are worth; every figure of one section comes from one run.

    python benchmarks/trees.py [bound] [pruning] [text] [blobs] [growth] [interrupt]

Text is read from the folder BVDT_DATA or ../shared/data. pynndescent and hnswlib (the ``bench`` extra) are
timed beside the trees with two threads each, as is everything here.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time

THREADS = 2
os.environ.setdefault("NUMBA_NUM_THREADS", str(THREADS))

import numpy as np  # noqa: E402

from bvdt.lifting.lifted import lift  # noqa: E402
from bvdt.operators.single_tree import TransitionOperator  # noqa: E402
from bvdt.tree import anchor_tree, ward_tree  # noqa: E402
from corpora import FOLDER, counts  # noqa: E402

TREES = {"ward": ward_tree, "anchor": anchor_tree}


def timed(call, *args, **options):
    started = time.perf_counter()
    result = call(*args, **options)
    return time.perf_counter() - started, result


def blobs(n, d=20, clusters=100, spread=20.0):
    rng = np.random.default_rng(0)
    centers = rng.uniform(0.0, spread, size=(clusters, d))
    return centers[rng.integers(clusters, size=n)] + rng.normal(size=(n, d))


def bound():
    """BBC, GID, smoothing 0.01, bandwidth 1, 2(N − 1) blocks, 5 seeds: anchor ≥ −600, ward ≥ −541."""
    lifted = lift(counts("bbc"), "gid", 0.01)
    for name, build in TREES.items():
        trees = [build(lifted, random_state=seed, n_jobs=THREADS) for seed in range(5)]
        values = [TransitionOperator(lifted, tree, bandwidth=1.0).lower_bound for tree in trees]
        per_row = np.array(values) / lifted.n_points
        spread = f"{per_row.min():.1f} to {per_row.max():.1f}"
        print(f"bound, {name}: {per_row.mean():.1f} nats per row ({spread})")


def pruning():
    """Share of divergences skipped: 20 000 × 2 points in 100 well separated clusters (at least 80 %)."""
    X = np.maximum(blobs(20_000, 2, 100, 1000.0), 1.0)
    for name in ("squared_euclidean", "gid"):
        _, (_, stats) = timed(anchor_tree, lift(X, name), random_state=0, return_stats=True)
        print(f"pruning, {name}: {stats.skipped:.1%} of {stats.brute_force} divergences skipped")


def text():
    """IMDB, 50 000 × 89 527, against pynndescent's 10-NN graph: ward at most 1/10, anchor at most 1."""
    from pynndescent import NNDescent
    from sklearn.feature_extraction.text import TfidfTransformer

    imdb = counts("imdb")
    tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(imdb)
    cosine = {"metric": "cosine", "n_neighbors": 10, "random_state": 0, "n_jobs": THREADS}
    cold, _ = timed(NNDescent, tfidf, **cosine)
    rival, _ = timed(NNDescent, tfidf, **cosine)
    print(f"text, pynndescent: {rival:.1f} s warm, {cold:.1f} s cold")
    for data, lifted in (
        ("gid, smoothing 0.01", lift(imdb, "gid", 0.01)),
        ("squared Euclidean, tf-idf", lift(tfidf, "squared_euclidean")),
    ):
        for name, build in TREES.items():
            runs = [timed(build, lifted, random_state=seed, n_jobs=THREADS) for seed in range(3)]
            seconds, tree = np.median([run[0] for run in runs]), runs[0][1]
            print(f"text, {name}, {data}: {seconds:.2f} s, {seconds / rival:.3f} of it, depth {tree.depth}")


def blobs_million():
    """1 000 000 × 20 dense points against hnswlib: at most 1/10; peak memory at most 400 bytes per point."""
    import hnswlib

    X = blobs(1_000_000)
    lifted = lift(X, "squared_euclidean")
    build_index, search = hnsw(hnswlib, X.astype(np.float32))
    print(f"blobs, hnswlib: {build_index:.1f} s to build, {search:.1f} s to search")
    runs = [timed(ward_tree, lifted, random_state=seed, n_jobs=THREADS) for seed in range(3)]
    seconds = np.median([run[0] for run in runs])
    print(f"blobs, ward: {seconds:.2f} s, {seconds / (build_index + search):.3f} of it")
    peak = int(subprocess.check_output([sys.executable, __file__, "peak_memory"]))
    print(f"blobs, ward: {peak} bytes per point at the peak, above the lifted data")


def hnsw(hnswlib, X):
    index = hnswlib.Index(space="l2", dim=X.shape[1])
    index.init_index(max_elements=len(X), M=16, ef_construction=100, random_seed=0)
    index.set_num_threads(THREADS)
    index.set_ef(20)
    built, _ = timed(index.add_items, X)
    searched, _ = timed(index.knn_query, X, k=11)
    return built, searched


def peak_memory(n=1_000_000):
    """Prints the growth of the process's peak while the tree is built, in bytes per point."""
    lifted = lift(blobs(n), "squared_euclidean")
    reset = "/proc/self/clear_refs"
    if os.path.exists(reset):
        with open(reset, "w") as file:
            file.write("5")  # the peak starts anew
    before = resident()
    ward_tree(lifted, random_state=0, n_jobs=THREADS)
    print((peak() - before) // n)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def growth():
    """Exponent of the time between 62 500 and 1 000 000 × 20 points: ward at most 1.25, anchor 1.6."""
    sizes = (62_500, 250_000, 1_000_000)
    data = [lift(blobs(n), "squared_euclidean") for n in sizes]
    for name, build in TREES.items():
        seconds = [
            np.median([timed(build, lifted, random_state=s, n_jobs=THREADS)[0] for s in range(3)])
            for lifted in data
        ]
        exponent = np.log(seconds[-1] / seconds[0]) / np.log(sizes[-1] / sizes[0])
        shown = ", ".join(f"{s:.2f}" for s in seconds)
        print(f"growth, {name}: {shown} s at {sizes} points, exponent {exponent:.2f}")


def interrupt():
    """Seconds from Ctrl-C to the end of the process, 1 000 000 × 20 points (at most 1)."""
    for name in TREES:
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); import trees; from bvdt.lift import lift\n"
            "lifted = lift(trees.blobs(1_000_000), 'squared_euclidean'); print('go', flush=True)\n"
            f"trees.TREES['{name}'](lifted, random_state=0)"
        )
        command = [sys.executable, "-c", code, os.path.dirname(os.path.abspath(__file__))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            child.stdout.readline()
            time.sleep(1.0)
            child.send_signal(signal.SIGINT)
            seconds, _ = timed(child.wait)
        print(f"interrupt, {name}: {seconds:.2f} s")


SECTIONS = {
    "bound": bound,
    "pruning": pruning,
    "text": text,
    "blobs": blobs_million,
    "growth": growth,
    "interrupt": interrupt,
    "peak_memory": peak_memory,
}

if __name__ == "__main__":
    for section in sys.argv[1:] or [name for name in SECTIONS if name != "peak_memory"]:
        if section in ("bound", "text") and not (FOLDER / "bbc.npz").exists():
            print(f"{section}: no corpora in {FOLDER}; set BVDT_DATA")
            continue
        SECTIONS[section]()
