"""Beyond one machine's memory, and on several workers: what is equal, quality, traffic, price and files; see
docs/scale.md.

python benchmarks/scale.py equality blobs|mnist|news  # 1, 2 and 4 workers beside the local operator
python benchmarks/scale.py quality blobs|mnist|news   # bound per row and accuracy beside one machine's tree
python benchmarks/scale.py traffic --points 2000000   # bytes of a product over all connections
python benchmarks/scale.py price --points 5000000     # two workers beside one process of two threads
python benchmarks/scale.py files --points 50000000    # out of core: seconds by stage, peak memory
python benchmarks/scale.py documents --points 200000  # the same of word counts
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import bvdt
import bvdt.dask
from bvdt._support.memory import GIB
from bvdt.dask.walk import DaskOperator, parse_bytes
from bvdt.sharded import LocalExecutor, build_operator
from bvdt.sharded.columns import Columns
from bvdt.sharded.symmetrized import ones
from peak import peak_bytes, start_peak

DATA = Path(os.environ.get("BVDT_DATA", Path(__file__).parents[2] / "shared" / "data"))


# -- data ---------------------------------------------------------------------------------------------------


def blobs(n_points: int, n_features: int = 20, n_blobs: int = 50) -> tuple[Any, Any]:
    """Gaussian blobs that overlap a little, float32."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-3, 3, (n_blobs, n_features))
    label = rng.integers(0, n_blobs, n_points)
    return (centers[label] + rng.normal(size=(n_points, n_features))).astype(np.float32), label


def blob_file(path: Path, n_points: int, n_features: int = 20, n_blobs: int = 50) -> None:
    """The same, written slice by slice."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-3, 3, (n_blobs, n_features)).astype(np.float32)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n_points, n_features))
    for first in range(0, n_points, 1 << 20):
        n = min(1 << 20, n_points - first)
        noise = rng.standard_normal((n, n_features), np.float32)
        X[first : first + n] = centers[rng.integers(0, n_blobs, n)] + noise
    X.flush()


def corpus(name: str) -> tuple[Any, Any, str]:
    if name == "blobs":
        return *blobs(200_000), "squared_euclidean"
    if name == "mnist":
        file = np.load(DATA / "mnist.npz")
        return file["images"].reshape(70_000, -1) / 255.0, file["labels"], "squared_euclidean"
    file = np.load(DATA / "20news_bydate_train.npz")
    parts = (file["data"].astype(float), file["indices"].astype(np.int32), file["indptr"])
    return sparse.csr_array(parts, shape=file["shape"]), file["labels"], "gid"


# -- equality -----------------------------------------------------------------------------------------------


def equality(name: str, near: int) -> None:
    """Bytes of 1, 2 and 4 workers, and how far they are from the local operator on the same tree."""
    from distributed import Client

    X, _, divergence = corpus(name)
    v = np.random.default_rng(0).random((X.shape[0], 3))
    digests = {}
    for n_workers in (1, 2, 4):
        with cluster(n_workers) as made, Client(made) as client:
            op = bvdt.dask.transition_matrix(
                in_parts(X, 8), divergence, n_neighbors=near, random_state=0, client=client
            )
            labels = bvdt.dask.propagate_labels(op, v, alpha=0.9, max_iter=5)
            found = [op.tree.size, op.tree.order, op.q, op @ v, op.T @ v, labels, np.float64(op.lower_bound)]
            digests[n_workers] = hashlib.sha256(b"".join(each.tobytes() for each in found)).hexdigest()[:16]
            tree, n_shards, bandwidth = op.tree.validate(), op.n_shards, op.bandwidth
            local = op.to_local() if near and n_workers == 4 else None
    gathered = {"data": name, "n_neighbors": near, "shards": n_shards, "bytes": digests}
    if local is None:
        local = bvdt.transition_matrix(X, divergence, tree=tree)
        q, ours = local.partition.q, found[2]
        gathered["q"] = float(np.abs(ours - q).max())
        gathered["q, of itself"] = float((np.abs(ours - q) / np.where(q > 0, q, 1)).max())
        gathered["bandwidth, of itself"] = abs(bandwidth / local.bandwidth - 1)
    gathered["bound, of itself"] = abs(float(found[6]) / local.lower_bound - 1)
    theirs = (local @ v, local.T @ v, bvdt.propagate_labels(local, v, alpha=0.9, max_iter=5))
    for title, a, b in zip(("Q v", "Q' v", "labels"), found[3:6], theirs, strict=True):
        gathered[title] = float(np.abs(a - b).max())
    print(json.dumps(gathered), flush=True)


def in_parts(X: Any, n_parts: int) -> Any:
    """A Dask array of dense or CSR parts."""
    import dask.array as da

    import dask

    cuts = np.linspace(0, X.shape[0], n_parts + 1).astype(int)
    shape, meta = X.shape[1:], sparse.csr_array((0, X.shape[1])) if sparse.issparse(X) else np.zeros((0, 0))
    parts = [
        da.from_delayed(dask.delayed(X[a:b]), (int(b - a), *shape), meta=meta) for a, b in pairwise(cuts)
    ]
    return da.concatenate(parts)


# -- quality ------------------------------------------------------------------------------------------------


def quality(name: str, near: int, seeds: int) -> None:
    """Bound per row at one bandwidth, and accuracy from 3 % of the labels, of both."""
    X, y, divergence = corpus(name)
    n = X.shape[0]
    whole = bvdt.transition_matrix(X, divergence, n_neighbors=near, random_state=0)
    cuts = np.linspace(0, n, 5).astype(int)
    slabs = [X[a:b] for a, b in pairwise(cuts)]
    options = {"n_neighbors": near, "bandwidth": whole.bandwidth, "random_state": 0}
    sharded = build_operator(LocalExecutor(), slabs, np.diff(cuts).tolist(), divergence, **options)
    trees = [op.members[0] if near else op for op in (whole, sharded.to_local())]
    gathered = {"data": name, "shards": sharded.n_shards, "n_neighbors": near}
    gathered["bound per row, tree alone"] = [tree.lower_bound / n for tree in trees]
    if near:
        gathered["bound per row"] = [op.lower_bound / n for op in (whole, sharded)]
        local = sharded.to_local()
        gathered["accuracy"] = [[_accuracy(op, y, seed) for seed in range(seeds)] for op in (whole, local)]
        gathered["mean accuracy"] = [float(np.mean(each)) for each in gathered["accuracy"]]
    print(json.dumps(gathered), flush=True)


def _accuracy(op: Any, y: Any, seed: int) -> float:
    few = np.full(len(y), -1)
    kept = np.random.default_rng(seed).choice(len(y), max(len(y) * 3 // 100, 50), replace=False)
    few[kept] = y[kept]
    model = bvdt.LabelPropagation(blend=None).fit(None, few, operator=op)
    return float((model.transduction_ == y)[few < 0].mean())


# -- traffic ------------------------------------------------------------------------------------------------


def count_bytes() -> None:
    """From now on this process counts what it writes to its connections."""
    from distributed.comm import tcp

    if hasattr(tcp.TCP, "bvdt_written"):
        return
    tcp.TCP.bvdt_written = 0
    write = tcp.TCP.write

    async def counted(self: Any, *args: Any, **options: Any) -> Any:
        n_bytes = await write(self, *args, **options)
        tcp.TCP.bvdt_written += n_bytes
        return n_bytes

    tcp.TCP.write = counted


def written() -> tuple[int, int]:
    """This process, and the bytes that it wrote."""
    from distributed.comm import tcp

    return os.getpid(), int(tcp.TCP.bvdt_written)


def between_workers(dask_worker: Any) -> int:
    """Dask's own counter of bytes sent to other workers."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def all_bytes(client: Any) -> tuple[int, int]:
    """Written by all processes to all connections, and of it between workers."""
    # By process: a LocalCluster's scheduler lives in the driver's.
    everyone = dict([written(), client.run_on_scheduler(written), *client.run(written).values()])
    return sum(everyone.values()), sum(client.run(between_workers).values())


def traffic(n_points: int, n_features: int, near: int) -> None:
    """Bytes per product of 10 columns."""
    import dask.array as da
    from distributed import Client

    X, _ = blobs(n_points, n_features)
    with cluster(2) as made, Client(made) as client:
        D = client.persist(da.from_array(X, chunks=(n_points // 8 + 1, n_features)))
        op = bvdt.dask.transition_matrix(D, "squared_euclidean", n_neighbors=near, random_state=0)
        del D, X
        for run in (client.run, client.run_on_scheduler):
            run(count_bytes)
        count_bytes()
        v = _columns(op, 10)
        products = 10
        before = all_bytes(client)
        idle_begin = time.perf_counter()
        time.sleep(5)
        idle = all_bytes(client)[0] - before[0]
        idle_s = time.perf_counter() - idle_begin
        before, begin = all_bytes(client), time.perf_counter()
        for _ in range(products):
            v = op.times(v, spent=True)
        op._executor.gather(op._executor.map("product", len, v.parts))
        seconds = time.perf_counter() - begin
        after = all_bytes(client)
        gathered = {
            "points": n_points,
            "shards": op.n_shards,
            "n_neighbors": near,
            "bytes per product": (after[0] - before[0]) / products,
            "between workers": (after[1] - before[1]) / products,
            "idle bytes per second": idle / idle_s,
            "seconds per product": seconds / products,
        }
        if op.near_field is not None:
            gathered["halo points"] = sum(op.near_field.halo)
            gathered["halo bytes per product"] = sum(op.near_field.halo) * 10 * 8
            gathered["10-NN graph's halo bytes"] = graph_halo(op) * 10 * 8
        print(json.dumps(gathered), flush=True)


def graph_halo(op: DaskOperator) -> int:
    """Points of other shards that a 10-NN graph's product must fetch: those in the lists."""
    assert op.near_field is not None
    executor = op._executor
    return int(sum(executor.gather(executor.map("halo", listed_elsewhere, op.near_field.matrices))))


def listed_elsewhere(near: Any) -> int:
    n = near.forward.shape[0]
    columns = np.unique(near.forward.indices)
    return int((columns >= n).sum())


def _columns(op: DaskOperator, k: int) -> Columns:
    parts = op.map("columns", many_ones, op.shard_sizes, [k] * op.n_shards)
    return Columns(parts, k, np.dtype(np.float64))


def many_ones(n: int, k: int) -> Any:
    return np.repeat(ones(n), k, axis=1)


def cluster(n_workers: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit="10GiB"
    )


# -- price and files ----------------------------------------------------------------------------------------


class Stages:
    """Seconds from one stage's first telling to the next one's, by the clock and of this process's cores."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.name, self.begin = "", _now()

    def __call__(self, name: str, done: int, total: int) -> None:
        if name != self.name:
            self.close()
            self.name = name

    def close(self) -> None:
        now = _now()
        if self.name:
            before = self.seconds.get(self.name, [0.0, 0.0])
            self.seconds[self.name] = [
                round(s + float(d), 2) for s, d in zip(before, now - self.begin, strict=True)
            ]
        self.begin = now


def _now() -> Any:
    return np.array([time.perf_counter(), time.process_time()])


@contextmanager
def timed(gathered: dict[str, Any], name: str) -> Any:
    begin = time.perf_counter()
    yield
    gathered[name] = round(time.perf_counter() - begin, 2)


def price(n_points: int, n_features: int) -> None:
    """One process of two threads, then two workers of one thread: tree and 30 products of 10 columns."""
    import dask.array as da
    from distributed import Client, wait

    X, _ = blobs(n_points, n_features)
    gathered: dict[str, Any] = {"points": n_points}
    cpu = time.process_time()
    with timed(gathered, "one process: build"):
        local = bvdt.transition_matrix(X, "squared_euclidean", random_state=0, n_jobs=2)
    V = np.ones((n_points, 10))
    with timed(gathered, "one process: 30 products"):
        for _ in range(30):
            V = local @ V
    gathered["one process: CPU"] = round(time.process_time() - cpu, 1)
    del local, V
    stages = Stages()
    with cluster(2) as made, Client(made) as client:
        D = client.persist(da.from_array(X, chunks=(n_points // 16 + 1, n_features)))
        wait(D)
        del X
        cpu = time.process_time() + sum(client.run(time.process_time).values())
        with timed(gathered, "two workers: build"):
            op = bvdt.dask.transition_matrix(D, "squared_euclidean", random_state=0, progress=stages)
        stages.close()
        with timed(gathered, "two workers: 30 products"):
            v = _columns(op, 10)
            for _ in range(30):
                v = op.times(v, spent=True)
            op._executor.gather(op._executor.map("product", len, v.parts))
        spent = time.process_time() + sum(client.run(time.process_time).values()) - cpu
        gathered["two workers: CPU"] = round(spent, 1)
    print(json.dumps(gathered | {"stages": stages.seconds}), flush=True)


def files(n_points: int, n_features: int, limit: str, folder: Path, n_products: int) -> None:
    """In a process of its own, so that its peak is its own."""
    path = folder / f"blobs-{n_points}-{n_features}.npy"
    if not path.exists():
        blob_file(path, n_points, n_features)
    here = ["--points", str(n_points), "--features", str(n_features), "--limit", limit]
    command = [sys.executable, __file__, "files-child", *here, "--folder", str(folder)]
    subprocess.run([*command, "--products", str(n_products)], check=True)


def files_child(n_points: int, n_features: int, limit: str, folder: Path, n_products: int) -> None:
    X = np.load(folder / f"blobs-{n_points}-{n_features}.npy", mmap_mode="r")
    stages, gathered = Stages(), {"points": n_points, "limit": limit}
    start_peak()
    cpu = time.process_time()
    with timed(gathered, "build"):
        op = bvdt.dask.transition_matrix(
            X,
            "squared_euclidean",
            memory_limit=limit,
            folder=str(folder),
            random_state=0,
            n_jobs=2,
            progress=stages,
        )
    stages.close()
    gathered["build peak GiB"] = round(peak_bytes() / GIB, 2)
    products = time.process_time()
    with timed(gathered, f"{n_products} products"):
        v = _columns(op, 10)
        for _ in range(n_products):
            v = op.times(v, spent=True)
    gathered["products CPU"] = round(time.process_time() - products, 2)
    gathered |= {"peak GiB": round(peak_bytes() / GIB, 2), "shards": op.n_shards}
    gathered |= {"CPU": round(time.process_time() - cpu, 1), "bound": op.lower_bound / n_points}
    print(json.dumps(gathered | {"stages": stages.seconds}), flush=True)


def documents(n_texts: int, limit: str, folder: Path, n_products: int) -> None:
    """Reviews of IMDB drawn with replacement, each with four fifths of its words, as counts; 20 slabs."""
    file = np.load(DATA / "imdb.npz")
    counts = (file["data"].astype(float), file["indices"].astype(np.int32), file["indptr"])
    whole = sparse.csr_array(counts, shape=file["shape"])
    rng = np.random.default_rng(0)
    slabs = []
    for n in np.diff(np.linspace(0, n_texts, 21).astype(int)).tolist():
        slab = whole[rng.integers(0, whole.shape[0], n)]
        slab.data = rng.binomial(slab.data.astype(int), 0.8).astype(float)
        slab.eliminate_zeros()
        slabs.append(slab)
    stages, gathered = (
        Stages(),
        {"documents": n_texts, "words per document": sum(s.nnz for s in slabs) / n_texts},
    )
    executor = LocalExecutor(parse_bytes(limit), folder=folder, n_jobs=2, progress=stages)
    begin = time.process_time()
    with timed(gathered, "build"):
        op = build_operator(executor, slabs, [s.shape[0] for s in slabs], "gid", random_state=0)
    stages.close()
    gathered |= {"build CPU": round(time.process_time() - begin, 1), "shards": op.n_shards}
    begin = time.process_time()
    v = _columns(op, 10)
    for _ in range(n_products):
        v = op.times(v, spent=True)
    gathered["products CPU"] = round(time.process_time() - begin, 1)
    print(json.dumps(gathered | {"stages": stages.seconds}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "what", choices=["equality", "quality", "traffic", "price", "files", "files-child", "documents"]
    )
    parser.add_argument("data", nargs="?", default="blobs")
    parser.add_argument("--points", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--neighbors", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", default="6GiB")
    parser.add_argument("--products", type=int, default=30)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    given = parser.parse_args()
    if given.what == "equality":
        equality(given.data, given.near_field)
    elif given.what == "quality":
        quality(given.data, given.near_field, given.seeds)
    elif given.what == "traffic":
        traffic(given.points, given.features, given.near_field)
    elif given.what == "price":
        price(given.points, given.features)
    elif given.what == "documents":
        documents(given.points, given.limit, given.folder, given.products)
    else:
        run = files if given.what == "files" else files_child
        run(given.points, given.features, given.limit, given.folder, given.products)


if __name__ == "__main__":
    main()
