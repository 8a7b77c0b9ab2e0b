"""The jobs: what data, how many labels, and how the result is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import corpora
from rivals.common import Data

Points = tuple[Any, np.ndarray]  # X, classes


@dataclass(frozen=True)
class Job:
    """Data of a kind; ``kind`` decides which methods take part (``harness.methods``)."""

    name: str
    title: str
    kind: str  # text, dense, histograms, spectra, product, embedding
    make: Callable[[], Points]
    share: float  # of the points that are labeled
    group: str = ""  # jobs that run under one name: ``--job growth``

    def prepare(self, folder: Path, points: int | None = None) -> Path:
        """Writes the data, once, with the true classes beside them for the harness alone; their folder."""
        place = folder / self.name
        if not (place / "truth.npy").exists():
            X, y = subset(*self.make(), points)
            labels = np.where(labeled(y, self.share), y, -1)
            Data(X, labels).save(place / "data")
            np.save(place / "truth.npy", y)
        return place


def labeled(y: np.ndarray, share: float) -> np.ndarray:  # (N,) bool
    """A share of the points, drawn at random, and one of each class that is then missing."""
    rng = np.random.default_rng(0)
    known = np.zeros(len(y), bool)
    known[rng.choice(len(y), round(share * len(y)), replace=False)] = True
    for label in np.setdiff1d(y, y[known]):
        known[rng.choice(np.flatnonzero(y == label))] = True
    return known


def text(corpus: str, n_points: int | None = None) -> Points:
    """Counts of a corpus, or of as many of its documents drawn at random."""
    return subset(corpora.counts(corpus), corpora.classes(corpus), n_points)


def subset(X: Any, y: np.ndarray, n_points: int | None) -> Points:
    """As many points drawn at random; all for None."""
    if n_points is None or n_points >= len(y):
        return X, y
    rows = np.sort(np.random.default_rng(0).choice(len(y), n_points, replace=False))
    return X[rows], y[rows]


def blobs(n_points: int) -> Points:
    """Normal clouds of deviation 1 around 100 centers, drawn evenly from [0, 5]²⁰; ten centers per class."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(0.0, 5.0, size=(100, 20))
    of = rng.integers(100, size=n_points)
    return centers[of] + rng.normal(size=(n_points, 20)), of % 10


def digits(n_points: int) -> Points:
    """scikit-learn's digits on 20 principal axes, with new ones on the way to a near digit of the class.

    A point lies between a digit and one of the five nearest of its class, and a twentieth of the data's
    spread of noise is added.
    """
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA
    from sklearn.neighbors import NearestNeighbors

    X, y = load_digits(return_X_y=True)
    X = PCA(20, random_state=0).fit_transform(X)
    near = np.empty((len(y), 5), int)
    for label in range(10):
        of = np.flatnonzero(y == label)
        found = NearestNeighbors(n_neighbors=6).fit(X[of]).kneighbors(X[of], return_distance=False)
        near[of] = of[found[:, 1:]]
    rng = np.random.default_rng(0)
    one = rng.integers(len(y), size=n_points)
    other = near[one, rng.integers(5, size=n_points)]
    step = rng.random((n_points, 1))
    noise = X.std() / 20 * rng.normal(size=(n_points, 20))
    return (1 - step) * X[one] + step * X[other] + noise, y[one]


def histograms(n_points: int) -> Points:
    """Shares of 20 kinds: Dirichlet draws around 50 profiles, five per class; every share is above 1e-4."""
    rng = np.random.default_rng(0)
    profiles = rng.dirichlet(np.full(20, 0.7), size=50) + 0.01
    of = rng.integers(50, size=n_points)
    X = rng.gamma(40 * profiles[of] / profiles[of].sum(axis=1, keepdims=True)) + 1e-2
    return X / X.sum(axis=1, keepdims=True), of % 10


def spectra(n_points: int) -> Points:
    """Power spectra in 64 bins: 50 envelopes of two resonances, five per class, times exponential noise.

    Four periodograms are averaged and the whole is scaled at random, as signals differ in loudness.
    """
    rng = np.random.default_rng(0)
    bins = np.linspace(0, 1, 64)
    peak, width = rng.uniform(0, 1, size=(2, 50, 1)), rng.uniform(0.03, 0.15, size=(2, 50, 1))
    envelope = 0.05 + (np.array([[[1.0]], [[0.5]]]) * np.exp(-(((bins - peak) / width) ** 2))).sum(axis=0)
    of = rng.integers(50, size=n_points)
    loudness = np.exp(rng.normal(scale=0.2, size=(n_points, 1)))
    return loudness * envelope[of] * rng.gamma(4.0, 0.25, size=(n_points, 64)), of % 10


N, MILLION = 50_000, 1_000_000
# Job of each size; the largest are jobs of their own.
GROWTH_DENSE = {n: f"dense-{n}" for n in (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)} | {
    MILLION: "blobs-1m"
}
GROWTH_TEXT = {n: f"text-{n}" for n in (500, 1_500, 5_000, 15_000)} | {N: "imdb"}


def _jobs() -> list[Job]:
    jobs = [
        Job("bbc", "BBC, 2 225 × 9 635", "text", lambda: text("bbc"), 0.1),
        Job("20news", "20 Newsgroups, 11 269 × 61 188", "text", lambda: text("20news_bydate_train"), 0.1),
        Job("imdb", "IMDB, 50 000 × 89 527", "text", lambda: text("imdb"), 0.1),
        Job("blobs-50k", "Blobs, 50 000 × 20", "dense", lambda: blobs(N), 0.01),
        Job("digits-50k", "Digits-like, 50 000 × 20", "dense", lambda: digits(N), 0.01),
        Job("kl-50k", "KL, histograms, 50 000 × 20", "histograms", lambda: histograms(N), 0.01),
        Job("is-50k", "Itakura–Saito, power spectra, 50 000 × 64", "spectra", lambda: spectra(N), 0.01),
        Job("product-50k", "One product, 50 000 points", "product", lambda: blobs(N), 0.01),
        Job("product-1m", "One product, 1 000 000 points", "product", lambda: blobs(MILLION), 0.01),
        Job("embedding", "Spectral embedding, 50 000 × 20", "embedding", lambda: digits(N), 0.01),
        Job("blobs-1m", "Blobs, 1 000 000 × 20", "dense", lambda: blobs(MILLION), 0.01),
        Job("digits-1m", "Digits-like, 1 000 000 × 20", "dense", lambda: digits(MILLION), 0.01),
    ]
    for n, name in list(GROWTH_TEXT.items())[:-1]:
        title = f"Growth, {n} IMDB documents"
        jobs.append(Job(name, title, "growth-text", lambda n=n: text("imdb", n), 0.1, "growth"))
    for n, name in list(GROWTH_DENSE.items())[:-1]:
        title = f"Growth, blobs, {n} × 20"
        jobs.append(Job(name, title, "growth-dense", lambda n=n: blobs(n), 0.01, "growth"))
    return jobs


JOBS = {job.name: job for job in _jobs()}


def chosen(names: list[str]) -> list[Job]:
    """The jobs of these names or groups, in their usual order; all for none."""
    known = set(JOBS) | {job.group for job in JOBS.values() if job.group}
    for name in names:
        if name not in known:
            raise SystemExit(f"--job needs one of {', '.join(sorted(known))}; got {name!r}")
    return [job for job in JOBS.values() if not names or job.name in names or job.group in names]
