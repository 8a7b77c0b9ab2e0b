"""The points of benchmarks/neighbors.py and true lists of some rows, in files that every process reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
TRIAL = int(os.environ.get("NEIGHBORS_POINTS", "0"))  # so many points of every data set, kept apart; 0: all
KEPT = ROOT / "build" / "bench" / "neighbors" / (f"trial-{TRIAL}" if TRIAL else "")
K, ROWS, AT_ONCE = 15, 500, 20


class Points(NamedTuple):
    """A data set: dense rows or CSR."""

    title: str
    make: Callable[[], Any]
    kind: str  # euclidean, kl, text: who takes part


def blobs(n: int, d: int, n_groups: int, spread: float) -> Any:
    """Gaussian groups of unit variance around centers of that deviation."""
    rng = np.random.default_rng(1)
    centers = spread * rng.normal(size=(n_groups, d))
    return centers[rng.integers(n_groups, size=n)] + rng.normal(size=(n, d))


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


def text(corpus: str) -> Any:
    """tf-idf of a corpus, rows of length 1."""
    from corpora import counts
    from rivals.common import tf_idf

    return tf_idf(counts(corpus))


DATA: dict[str, Points] = {
    "mnist50": Points("MNIST, 70 000 × 50", lambda: mnist(50), "euclidean"),
    "mnist784": Points("MNIST, 70 000 × 784", lambda: mnist(None), "euclidean"),
    "blobs50k": Points("blobs, 50 000 × 20", lambda: blobs(50_000, 20, 10, 2.0), "euclidean"),
    "blobs1m": Points("blobs, 1 000 000 × 20", lambda: blobs(1_000_000, 20, 50, 1.0), "euclidean"),
    "unit": Points("unit vectors, 100 000 × 384", unit, "euclidean"),
    "histograms": Points("histograms by KL, 50 000 × 20", histograms, "kl"),
    "news": Points("20 Newsgroups, 11 269 tf-idf", lambda: text("20news_bydate_train"), "text"),
    "imdb": Points("IMDB, 50 000 tf-idf", lambda: text("imdb"), "text"),
}


def true_lists(X: Any, kind: str, rows: Any) -> Any:  # (ROWS, K)
    """By all pairs. KL(x_i ‖ x_j) ranks the centers x_j of a row as −⟨x_i, ln x_j⟩ does."""
    if kind == "kl":
        H, own = np.log(X), np.zeros(len(X))
    elif kind == "text":
        H, own = X, np.asarray(X.multiply(X).sum(axis=1)).ravel() / 2
    else:
        H, own = X, np.square(X).sum(axis=1) / 2
    exact = np.empty((len(rows), K), np.int64)
    for first in range(0, len(rows), AT_ONCE):
        few = rows[first : first + AT_ONCE]
        product = X[few] @ H.T
        d = own - (product.toarray() if kind == "text" else product)
        d[np.arange(len(few)), few] = np.inf
        exact[first : first + AT_ONCE] = np.argpartition(d, K, axis=1)[:, :K]
    return exact


def prepare(name: str) -> Path:
    """The file of a data set, made if it is not there; whole or not at all, as several may ask for it."""
    file = KEPT / f"{name}.npz"
    if file.exists():
        return file
    X, kind = DATA[name].make(), DATA[name].kind
    if TRIAL:
        X = X[:TRIAL]
    rows = np.random.default_rng(0).choice(X.shape[0], min(ROWS, X.shape[0]), replace=False)
    found = {"rows": rows, "exact": true_lists(X, kind, rows)}
    if kind == "text":
        found |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    else:
        found["X"] = X
    KEPT.mkdir(parents=True, exist_ok=True)
    part = KEPT / f"{name}.{os.getpid()}.part.npz"
    np.savez(part, **found)
    part.rename(file)
    return file


def prepared(name: str) -> tuple[Any, Any, Any]:
    """Points, sampled rows and their true lists."""
    found = np.load(prepare(name))
    if "X" in found:
        return found["X"], found["rows"], found["exact"]
    from scipy import sparse

    X = sparse.csr_matrix((found["data"], found["indices"], found["indptr"]), shape=tuple(found["shape"]))
    return X, found["rows"], found["exact"]
