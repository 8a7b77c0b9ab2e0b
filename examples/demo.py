"""Digits with ten labels a class: exact random walks by three divergences against the nearest neighbour."""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import bvdt

N_PER_CLASS, N_SEEDS, ALPHA = 10, 5, 0.9
WALKS = {  # divergence -> (how its data are made from 0…16 ink counts, bandwidth)
    "squared_euclidean": (lambda X: X, 20.0),
    "gid": (lambda X: X, 5.0),
    "logistic": (lambda X: X / 16, 2.0),
}


def choose_labelled(y: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.choice(np.flatnonzero(y == c), N_PER_CLASS, replace=False) for c in range(10)])


def propagate(P: np.ndarray, start: np.ndarray, n_iter: int = 60) -> np.ndarray:
    """y ← αPy + (1 − α)y⁰, Eq. (29)."""
    y = start
    for _ in range(n_iter):
        y = ALPHA * (P @ y) + (1 - ALPHA) * start
    return y


def accuracy(predicted: np.ndarray, y: np.ndarray, labelled: np.ndarray) -> float:
    unlabelled = np.setdiff1d(np.arange(len(y)), labelled)
    return float(np.mean(predicted[unlabelled] == y[unlabelled]))


def main() -> None:
    X, y = load_digits(return_X_y=True)
    splits = [choose_labelled(y, seed) for seed in range(N_SEEDS)]
    title = f"{len(X)} digits, {N_PER_CLASS} labels a class, {N_SEEDS} random choices of labels"
    table = Table("method", "accuracy", "±", "seconds", title=title)

    def add(name: str, predictions: list[np.ndarray], seconds: float) -> None:
        scores = [accuracy(p, y, labelled) for p, labelled in zip(predictions, splits, strict=True)]
        table.add_row(name, f"{np.mean(scores):.3f}", f"{np.std(scores):.3f}", f"{seconds:.1f}")

    for name, (transform, bandwidth) in WALKS.items():
        began = time.perf_counter()
        P = bvdt.exact_transition_matrix(transform(X), name, bandwidth=bandwidth)
        starts = [np.eye(10)[y] * np.isin(np.arange(len(y)), labelled)[:, None] for labelled in splits]
        scores = propagate(P, np.hstack(starts))  # (N, 10 · n_seeds)
        predictions = [s.argmax(axis=1) for s in np.hsplit(scores, N_SEEDS)]
        add(f"random walk, {name}, bandwidth {bandwidth:g}", predictions, time.perf_counter() - began)
    began = time.perf_counter()
    nearest = [KNeighborsClassifier(1).fit(X[s], y[s]).predict(X) for s in splits]
    add("nearest labelled neighbour", nearest, time.perf_counter() - began)
    Console(width=90).print(table)


if __name__ == "__main__":
    main()
