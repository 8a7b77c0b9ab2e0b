"""Which number of neighbors "auto" should aim at: accuracy of label propagation on one coarse tree.

    python benchmarks/bandwidth.py

10 % labels, three labelings; "walk" is Eq. (29) with α = 0.01, "spread" the symmetrised walk with α = 0.9.
GID on counts (smoothing "auto"), squared Euclidean on tf-idf; scikit-learn's digits with both. Text is read
from the folder BVDT_DATA or ../shared/data.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer

import bvdt
from bvdt.blocks import bandwidth
from bvdt.lifting.lifted import lift
from bvdt.operators.single_tree import TransitionOperator
from bvdt.tree import ward_tree
from corpora import classes, counts

TARGETS = (2, 3, 5, 10, 20, 50, 100, 300)
CORPORA = ("bbcsport", "bbc", "20news_bydate_train", "nsf_surrogate")
SEEDS = 3


def accuracy(op, y, seed):
    """Share of the unlabeled points that get their own class: (walk, spread)."""
    rng = np.random.default_rng(seed)
    known = np.zeros(len(y), bool)
    known[rng.permutation(len(y))[: len(y) // 10]] = True
    start = np.eye(y.max() + 1)[y] * known[:, None]
    walk = bvdt.propagate_labels(op, start, alpha=0.01, max_iter=30)
    spread = bvdt.propagate_labels(op.symmetrized(), start, alpha=0.9, max_iter=60)
    return [np.mean(f.argmax(axis=1)[~known] == y[~known]) for f in (walk, spread)]


def data():
    X, y = load_digits(return_X_y=True)
    yield "digits", "gid", lift(X, "gid"), y
    yield "digits", "squared_euclidean", lift(X, "squared_euclidean"), y
    for name in CORPORA:
        X, y = counts(name), classes(name)
        yield name, "gid", lift(X, "gid"), y
        tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(X)
        yield name, "squared_euclidean", lift(tfidf, "squared_euclidean"), y


def show(title, table):
    for mode, row in zip(("walk", "spread"), table, strict=True):
        print(f"| {title} | {mode} |" + "|".join(f" {a:.3f} " for a in row) + "|", flush=True)


if __name__ == "__main__":
    print("| data | divergence | mode |" + "|".join(f" {target} " for target in TARGETS) + "|")
    print("|---|---|---|" + "---|" * len(TARGETS))
    tables = []
    for name, divergence, lifted, y in data():
        tree = ward_tree(lifted, random_state=0)
        coarsest = TransitionOperator(lifted, tree, bandwidth=1.0)
        table = np.empty((2, len(TARGETS)))
        for t, target in enumerate(TARGETS):
            bandwidth.NEIGHBORS = float(target)
            op = TransitionOperator(lifted, tree, mean_divergence=coarsest.mean_divergence)
            table[:, t] = np.mean([accuracy(op, y, seed) for seed in range(SEEDS)], axis=0)
        tables.append(table)
        show(f"{name} | {divergence}", table)
    show("mean |", np.mean(tables, axis=0))
