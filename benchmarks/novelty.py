"""Novelty, doubtful labels and classes not named, beside what one would use instead.

novelty: a fifth of the classes has no label; AUROC of "its class has no label" over the unlabeled points, and
the share of points of known classes that ``reject`` calls unknown. Unequal: classes are thinned to
sizes from 1 to 0.1, and labels are as many per class, or drawn at random.
one-class: one class is labeled, the others are to be found; beside IsolationForest and LocalOutlierFactor.
labels: a tenth of the labels is another class's; AUROC of "wrong", beside self-confidence, the score of
cleanlab: the probability of the given label by logistic regression, in five folds.
classes: four of the 20 newsgroups have no label; how many are most of one of the first six clusters.
Run: python benchmarks/novelty.py [novelty one-class labels classes] [--corpora bbc ...] [--seeds 3]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import scale

import bvdt
from bvdt._support.defaults import N_NEIGHBORS
from bvdt.estimators.text import DEFAULTS
from corpora import FOLDER, TEXTS, classes, counts, texts
from forest import weighted

CORPORA = ("agnews", "clinc150", "20news_bydate_train", "mnist", "bbc", "bbcsport")
REJECTED = (0.05, 0.1, 0.2)
MNIST = 10_000  # images
SHARE = 0.2  # of the classes that have no label
Draw = tuple[np.ndarray, np.ndarray]  # labeled, of a class without labels


@cache
def data(name: str) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Features, classes and settings of a corpus: vectors, images' components, or tf-idf rows."""
    if name in TEXTS:
        X = np.load(FOLDER / f"{name}_minilm.npy").astype(float)
        return X / np.linalg.norm(X, axis=1, keepdims=True), texts(name)[1], {"divergence": "cosine"}
    if name == "mnist":
        with np.load(FOLDER / "mnist.npz") as file:
            rows = np.sort(np.random.default_rng(0).choice(len(file["labels"]), MNIST, replace=False))
            images, y = file["images"][rows].reshape(MNIST, -1) / 255.0, file["labels"][rows]
        return (
            PCA(50, random_state=0).fit_transform(images),
            y.astype(int),
            {"divergence": "squared_euclidean"},
        )
    return weighted(counts(name)), classes(name), dict(DEFAULTS)


def walk(X: Any, settings: dict[str, Any]) -> Any:
    return bvdt.transition_matrix(X, n_neighbors=N_NEIGHBORS, random_state=0, **settings)


# -- novelty -----------------------------------------------------------------------------------------------


def thinned(y: np.ndarray, seed: int, least: int = 12) -> np.ndarray:
    """Rows of classes in sizes of 1 to 0.1 of theirs, in a random order."""
    rng = np.random.default_rng(1000 + seed)
    shares = rng.permutation(np.geomspace(1, 0.1, y.max() + 1))
    rows = [rng.permutation(np.flatnonzero(y == k)) for k in range(y.max() + 1)]
    return np.sort(
        np.concatenate([r[: max(least, int(len(r) * s))] for r, s in zip(rows, shares, strict=True)])
    )


def draw(y: np.ndarray, per_class: int, seed: int, random: bool = False) -> Draw:
    """Labels of four fifths of the classes; small corpora hide each class in turn."""
    rng, k = np.random.default_rng(seed), y.max() + 1
    hidden = (
        [seed % k] if SHARE * k < 1.5 else np.random.default_rng(50 + seed).permutation(k)[: round(SHARE * k)]
    )
    novel, labeled = np.isin(y, hidden), np.zeros(len(y), bool)
    known = np.setdiff1d(np.arange(k), hidden)
    if random:
        labeled[rng.choice(np.flatnonzero(~novel), per_class * len(known), replace=False)] = True
    for c in known:
        if not random or not labeled[y == c].any():
            labeled[rng.choice(np.flatnonzero(y == c), 1 if random else per_class, replace=False)] = True
    return labeled, novel


def rivals(X: Any, y: np.ndarray, labeled: np.ndarray, P: np.ndarray, metric: str) -> dict[str, np.ndarray]:
    """Other scores of novelty."""
    linear = LogisticRegression(C=10, max_iter=300).fit(X[labeled], y[labeled])
    nearest = NearestNeighbors(n_neighbors=1, metric=metric).fit(X[labeled])
    return {
        "1 − max LR": 1 - linear.predict_proba(X).max(axis=1),
        "1 − max blend": 1 - P.max(axis=1),
        "distance": nearest.kneighbors(X)[0][:, 0],
    }


def novelty_of_one(X: Any, y: np.ndarray, op: Any, settings: dict[str, Any], found: Draw) -> dict[str, float]:
    """AUROC of each score, and the shares of known points that are rejected."""
    labeled, novel = found
    model = bvdt.LabelPropagation(**settings, random_state=0).fit(X, np.where(labeled, y, -1), operator=op)
    metric = "cosine" if settings["divergence"] == "cosine" else "euclidean"
    scores = rivals(X, y, labeled, model.label_distributions_, metric)
    scores["mass"] = -mass_alone(op, labeled)
    scores["novelty"] = model.novelty_
    row = {name: float(roc_auc_score(novel[~labeled], s[~labeled])) for name, s in scores.items()}
    known = model.novelty_[~labeled & ~novel]
    return row | {f"reject {r:g}": float((known > 1 - r).mean()) for r in REJECTED}


def mass_alone(op: Any, labeled: np.ndarray) -> np.ndarray:
    """Mass of label spreading from all labels together over √degree, α = 0.99."""
    S = bvdt.walks.symmetrized(op)
    F, _ = bvdt.walks.solve_spread(S, labeled[:, None].astype(np.float32), 0.99)
    return F[:, 0] * S.scale


NOVELTY = ("1 − max LR", "1 − max blend", "distance", "mass", "novelty")


def novelty(corpora: list[str], seeds: int) -> None:
    heads = ["corpus", "labels", *NOVELTY, "− best rival", *(f"reject {r:g}" for r in REJECTED)]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    leads, cells = (
        [],
        [(3, "equal"), (10, "equal"), (30, "equal"), (10, "unequal"), (10, "unequal, at random")],
    )
    for name in corpora:
        X, y, settings = data(name)
        whole = walk(X, settings)
        n_draws = max(seeds, y.max() + 1) if SHARE * (y.max() + 1) < 1.5 else seeds
        for per_class, kind in cells:
            rows = []
            for seed in range(n_draws):
                Z, z, op = X, y, whole
                if kind != "equal":
                    chosen = thinned(y, seed)
                    Z, z = X[chosen], y[chosen]
                    op = walk(Z, settings)
                rows.append(novelty_of_one(Z, z, op, settings, draw(z, per_class, seed, "random" in kind)))
            mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
            lead = mean["novelty"] - max(mean[key] for key in NOVELTY[:3])
            leads.append(lead)
            shown = [f"{mean[key]:.3f}" for key in NOVELTY] + [f"{lead:+.3f}"]
            shown += [f"{mean[f'reject {r:g}']:.3f}" for r in REJECTED]
            print(f"| {name} | {per_class}, {kind} | {' | '.join(shown)} |", flush=True)
    print(f"\nnovelty − best rival: mean {np.mean(leads):+.3f}, least {min(leads):+.3f}")


# -- one class ---------------------------------------------------------------------------------------------


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, features, whether a row is of the class that is known."""
    cancer, wine, digits = load_breast_cancer(), load_wine(), load_digits()
    yield "breast cancer, benign", scale(cancer.data), cancer.target == 1
    yield "wine, first cultivar", scale(wine.data), wine.target == 0
    yield "digits, eights", digits.data, digits.target == 8


def one_class(_: list[str], seeds: int) -> None:
    print("| data | labels | IsolationForest | LocalOutlierFactor | novelty | of new points | reject 0.1 |")
    print("|---|---|---|---|---|---|---|")
    for name, X, normal in tables():
        for n in (10, 30):
            rows = [_one_class(X, normal, n, seed) for seed in range(seeds)]
            print(f"| {name} | {n} | {' | '.join(f'{m:.3f}' for m in np.mean(rows, axis=0))} |", flush=True)


def _one_class(X: np.ndarray, normal: np.ndarray, n: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    known = rng.choice(np.flatnonzero(normal), n, replace=False)
    y = np.full(len(X), "", object)
    y[known] = "normal"
    rest = np.setdiff1d(np.arange(len(X)), known)
    new = rng.permutation(rest)[: len(rest) // 3]
    model = bvdt.LabelPropagation(random_state=0).fit(X, y)
    fitted = np.setdiff1d(np.arange(len(X)), new)
    half = bvdt.LabelPropagation(random_state=0).fit(X[fitted], y[fitted])
    isolation = IsolationForest(random_state=seed).fit(X[known])
    outlier = LocalOutlierFactor(min(20, n - 1), novelty=True).fit(X[known])
    scores = [-isolation.score_samples(X[rest]), -outlier.score_samples(X[rest]), model.novelty_[rest]]
    found = [float(roc_auc_score(~normal[rest], s)) for s in scores]
    found.append(float(roc_auc_score(~normal[new], half.novelty(X[new]))))
    return [*found, float((model.novelty_[rest][normal[rest]] > 0.9).mean())]


# -- doubtful labels ---------------------------------------------------------------------------------------


def flipped(y: np.ndarray, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labeled points, their labels, and which tenth of these is another class's."""
    rng = np.random.default_rng(seed)
    points = rng.choice(len(y), n, replace=False)
    given, wrong = y[points].copy(), np.arange(n) < n // 10
    given[wrong] = (given[wrong] + rng.integers(1, y.max() + 1, wrong.sum())) % (y.max() + 1)
    return points, given, wrong


def self_confidence(X: Any, given: np.ndarray, seed: int) -> np.ndarray:
    """Probability of each given label by logistic regression on the other folds."""
    classes, code = np.unique(given, return_inverse=True)
    P = np.zeros((len(given), len(classes)))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(given, code):
        model = LogisticRegression(C=10, max_iter=300).fit(X[train], code[train])
        P[np.ix_(test, model.classes_)] = model.predict_proba(X[test])
    return P[np.arange(len(given)), code]


def labels(corpora: list[str], seeds: int) -> None:
    print("| corpus | labels | self-confidence | label_issues | walk alone |\n|---|---|---|---|---|")
    for name in corpora:
        X, y, settings = data(name)
        op = walk(X, settings)
        for n in (200, 40):
            rows = [_labels(X, y, op, settings, n, seed) for seed in range(seeds)]
            print(f"| {name} | {n} | {' | '.join(f'{m:.3f}' for m in np.mean(rows, axis=0))} |", flush=True)


def _labels(X: Any, y: np.ndarray, op: Any, settings: dict[str, Any], n: int, seed: int) -> list[float]:
    points, given, wrong = flipped(y, n, seed)
    few = np.full(len(y), -1)
    few[points] = given
    scores = [self_confidence(X[points], given, seed)]
    for blend in ("auto", None):
        model = bvdt.LabelPropagation(**(settings | {"blend": blend}), random_state=0)
        found = model.fit(X, few, operator=op).label_issues()
        probability = np.full(len(y), found.probability.mean())  # of a class's only label
        probability[found.points] = found.probability
        scores.append(probability[points])
    return [float(roc_auc_score(wrong, -s)) for s in scores]


# -- classes not named -------------------------------------------------------------------------------------


def classes_not_named(_: list[str], seeds: int) -> None:
    X, y, settings = data("20news_bydate_train")
    op = walk(X, settings)
    print("| labels per class | of 4 hidden newsgroups found, per draw |\n|---|---|")
    for per_class in (3, 10, 30):
        found = []
        for seed in range(seeds):
            labeled, novel = draw(y, per_class, seed)
            model = bvdt.LabelPropagation(**settings, random_state=0)
            groups = model.fit(X, np.where(labeled, y, -1), operator=op).unnamed_classes(6)
            found.append(len({int(np.bincount(y[g.points]).argmax()) for g in groups} & set(y[novel])))
        print(f"| {per_class} | {', '.join(map(str, found))} |", flush=True)


PARTS: dict[str, Callable[[list[str], int], None]] = {
    "novelty": novelty,
    "one-class": one_class,
    "labels": labels,
    "classes": classes_not_named,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA))
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for part in options.parts or PARTS:
        PARTS[part](options.corpora, options.seeds)


if __name__ == "__main__":
    main()
