"""Maps in two dimensions beside umap-learn's and openTSNE's, from the same points.

    python benchmarks/maps.py                   every method on every data set, then docs/benchmarks/maps.md
    python benchmarks/maps.py --data digits     only names that contain this; --method umap: only this one
    python benchmarks/maps.py --page --merge OTHER.json    only the page, with another run's figures taken in
    python benchmarks/maps.py one METHOD FILE   one method in this environment, as JSON; used by the above

Every method runs in a process of its own, twice: the first time counts its import and, for umap-learn, its
compilation ("cold"), the second time does not ("warm"). Rivals live in .venv-bench/maps, which is made if it
is not there. All run on two threads with their defaults but for the metric, Euclidean on the same rows.
Figures are kept in ``--kept``; several may run side by side with files of their own and ``--no-page``.
``--points N`` is a trial on so many points.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "bench" / "maps"
PAGE = ROOT / "docs" / "benchmarks" / "maps.md"
RIVALS = ROOT / ".venv-bench" / "maps"
METHODS = ("bvdt", "umap", "openTSNE")
NAMES = {"bvdt": "bvdt.Map", "umap": "umap-learn", "openTSNE": "openTSNE"}
SAMPLE = 5_000  # points of which trustworthiness is measured
NEAREST = 15


def data_sets() -> dict[str, Callable[[], tuple[Any, np.ndarray]]]:
    from sklearn.datasets import load_digits, make_blobs

    from embedding import few_mnist, news
    from mnist_labels import features

    return {
        "digits, 1 797 × 64": lambda: load_digits(return_X_y=True),
        "20 Newsgroups, 11 269 tf-idf": news,
        "30 blobs, 20 000 × 20": lambda: make_blobs(
            20_000, centers=30, n_features=20, cluster_std=3, random_state=0
        ),
        "MNIST, 10 000 × 50": lambda: few_mnist(10_000),
        "MNIST, 70 000 × 50": lambda: features()[:2],
    }


def layout_of(method: str) -> Callable[[Any], np.ndarray]:
    """The method as a function of the points; imported here, since that counts."""
    if method == "umap":
        from umap import UMAP

        return lambda X: UMAP(n_jobs=2).fit_transform(X)
    if method == "openTSNE":
        from openTSNE import TSNE

        return lambda X: np.asarray(TSNE(n_jobs=2, random_state=0).fit(X))
    import bvdt

    return lambda X: bvdt.Map("squared_euclidean", random_state=0, n_jobs=2).fit(X).embedding_


def measure_one(method: str, file: Path) -> dict[str, Any]:
    """CPU and clock seconds of a first and a second map, and how good the second is."""
    X: Any = sparse.load_npz(file) if file.suffix == ".npz" else np.load(file)
    y = np.load(file.with_suffix(".labels.npy"))
    seconds = []
    start = now()
    lay_out = layout_of(method)
    for _ in range(1 if method == "openTSNE" else 2):
        places = lay_out(X)
        seconds.append((now() - start).tolist())
        start = now()
    return {
        "cold": seconds[0],
        "warm": seconds[-1],
        "vote": vote(places, y),
        "trustworthiness": trust(X, places),
    }


def now() -> np.ndarray:
    return np.array([time.process_time(), time.perf_counter()])


def vote(places: np.ndarray, y: np.ndarray) -> float:
    """Share of the points whose 15 nearest others on the map are, by majority, of their class."""
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=NEAREST).fit(places).kneighbors(return_distance=False)
    votes = (y[index][:, :, None] == np.arange(y.max() + 1)).sum(axis=1)
    return float((votes.argmax(axis=1) == y).mean())


def trust(X: Any, places: np.ndarray) -> float:
    from sklearn.manifold import trustworthiness

    few = np.random.default_rng(1).permutation(len(places))[:SAMPLE]
    return float(trustworthiness(X[few], places[few], n_neighbors=NEAREST))


def rivals() -> Path:
    """The rivals' Python, its environment made if need be."""
    if not RIVALS.exists():
        subprocess.run([sys.executable, "-m", "venv", RIVALS], check=True)
        subprocess.run([RIVALS / "bin" / "pip", "install", "-q", "umap-learn", "openTSNE"], check=True)
    return RIVALS / "bin" / "python"


def stored(name: str, load: Callable[[], tuple[Any, np.ndarray]], folder: Path, n: int | None) -> Path:
    """The data set, or some of its points, as files that every environment reads."""
    from harness.jobs import subset

    folder.mkdir(parents=True, exist_ok=True)
    X, y = subset(*load(), n)
    stem = "".join(c for c in name if c.isalnum())
    file = folder / f"{stem}{'.npz' if sparse.issparse(X) else '.npy'}"
    sparse.save_npz(file, X) if sparse.issparse(X) else np.save(file, X)
    np.save(file.with_suffix(".labels.npy"), np.unique(y, return_inverse=True)[1])
    return file


def page(found: dict[str, dict[str, Any]], note: str = "") -> str:
    rivals = [NAMES[one] for one in METHODS[1:] if any(one in methods for methods in found.values())]
    lines = [
        f"# Maps beside {' and '.join(rivals)}",
        "",
        "Two threads, every method's defaults, each in its own process. Seconds are of both cores together",
        "(CPU) and elapsed. *Cold*: a process's first map, with import and compilation; *warm*: its second.",
        "*Vote*: share of the points whose 15 nearest others on the map are, by majority, of their class.",
        f"*Trustworthiness*: of {SAMPLE:,} points, 15 neighbors. Written by `make bench-maps`.",
        *(["", note] if note else []),
        "",
        "| data | method | vote | trustworthiness | cold CPU, s | warm CPU, s | cold, s | warm, s |",
        "|---" * 8 + "|",
    ]
    for name, methods in found.items():
        for method, row in methods.items():
            warm = ["", ""] if method == "openTSNE" else [f"{s:.2f}" for s in row["warm"]]
            lines.append(
                f"| {name} | {NAMES[method]} | {row['vote']:.4f} | {row['trustworthiness']:.4f} | "
                f"{row['cold'][0]:.2f} | {warm[0]} | {row['cold'][1]:.2f} | {warm[1]} |"
            )
    return "\n".join([*lines, ""])


def measure_all(wanted: Any, found: dict[str, dict[str, Any]]) -> None:
    environment = os.environ | {"NUMBA_NUM_THREADS": "2"}
    for name, load in data_sets().items():
        if wanted.data and not any(part in name for part in wanted.data):
            continue
        file = stored(name, load, wanted.kept.with_suffix(""), wanted.points)
        for method in (m for m in METHODS if not wanted.method or m in wanted.method):
            if method == "openTSNE" and file.suffix == ".npz":
                continue  # of sparse rows it compares all pairs: over half an hour
            python = sys.executable if method == "bvdt" else rivals()
            command = [python, __file__, "one", method, file]
            run = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
            found.setdefault(name, {})[method] = json.loads(run.stdout.splitlines()[-1])
            print(name, method, found[name][method], flush=True)
            wanted.kept.write_text(json.dumps(found, indent=1))


def merge(found: dict[str, dict[str, Any]], other: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Both, in the usual order; the other's figures replace those of the same data and method."""
    both = {}
    for name in data_sets():
        rows = found.get(name, {}) | other.get(name, {})
        if rows:
            both[name] = {method: rows[method] for method in METHODS if method in rows}
    return both


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("one", nargs="*", metavar="one METHOD FILE")
    parser.add_argument("--data", action="append", default=[])
    parser.add_argument("--method", action="append", default=[], choices=METHODS)
    parser.add_argument("--points", type=int)
    parser.add_argument("--kept", type=Path, default=KEPT / "found.json")
    parser.add_argument("--merge", type=Path, nargs="+", default=[])
    parser.add_argument("--note", default="", help="a sentence for the page on the machine")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--no-page", action="store_true", help="only measure")
    wanted = parser.parse_args()
    if wanted.one:
        print(json.dumps(measure_one(wanted.one[1], Path(wanted.one[2]))))
        return
    found = json.loads(wanted.kept.read_text()) if wanted.kept.exists() else {}
    if not wanted.page:
        measure_all(wanted, found)
    for file in wanted.merge:
        found = merge(found, json.loads(file.read_text()))
    if wanted.merge:
        wanted.kept.parent.mkdir(parents=True, exist_ok=True)
        wanted.kept.write_text(json.dumps(found, indent=1))
    if not wanted.no_page:
        kept = {"note": wanted.note, "found": found}
        PAGE.with_suffix(".json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        PAGE.write_text(page(found, wanted.note), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
