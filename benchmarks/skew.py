"""One dominant class: "other" and up to twelve rare topics, labels drawn at random.

Prints, per corpus, share of "other" and share of labels, means over labelings: accuracy on the unlabeled of
always answering the commonest label, LinearSVC on tf-idf of the labeled rows alone, the walk alone, the
blend; the blend less the best of the others; macro-F1 of LinearSVC and of the blend.
Run: python benchmarks/skew.py [--skews 0.85] [--shares 0.01 0.1] [--seeds 300 301] [corpus ...]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

import bvdt
from bvdt._support.defaults import N_NEIGHBORS
from bvdt.estimators.text import DEFAULTS
from corpora import TEXTS, classes, counts, texts
from forest import accuracy, weighted

CORPORA = ("bbc", "agnews", "clinc150", "20news_bydate_train", "nsf_surrogate")
SKEWS = (0.7, 0.85, 0.95)
SHARES = (0.01, 0.03, 0.1, 0.3)
SEEDS = range(300, 303)
RARE = 12  # topics at most, and no more than half of the corpus' classes


def skewed(y: np.ndarray, share: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows kept, and their classes: 0 for "other", which is that share of them, then the rare topics."""
    rng = np.random.default_rng(seed)
    topics = rng.permutation(y.max() + 1)[: min(RARE, (y.max() + 1) // 2)]
    rare = rng.permutation(np.flatnonzero(np.isin(y, topics)))
    other = rng.permutation(np.flatnonzero(~np.isin(y, topics)))
    n_rare = min(len(rare), int(len(other) * (1 - share) / share))
    rows = np.sort(np.concatenate([rare[:n_rare], other[: round(n_rare * share / (1 - share))]]))
    return rows, np.unique(np.where(np.isin(y[rows], topics), y[rows], -1), return_inverse=True)[1]


def prepare(name: str, share: float) -> tuple[Any, Any, Any, Any, np.ndarray]:
    """Counts, tf-idf rows, their words where these are known, the walk and the classes."""
    words = None
    if name in TEXTS:
        documents, y = texts(name)
        rows, y = skewed(y, share)
        vectorizer = CountVectorizer()
        X = sparse.csr_array(vectorizer.fit_transform([documents[i] for i in rows]).astype(float))
        words = vectorizer.get_feature_names_out()
    else:
        rows, y = skewed(classes(name), share)
        X = counts(name)[rows]
    T = weighted(X)
    walk = DEFAULTS | {"n_neighbors": N_NEIGHBORS}
    return X, T, words, bvdt.transition_matrix(T, random_state=0, **walk), y


def svc(X: Any, y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """LinearSVC as people use it: the vectorizer has seen the labeled rows only."""
    seen = np.unique(X[known].indices)
    weighting = TfidfTransformer(sublinear_tf=True).fit(X[known][:, seen])
    model = LinearSVC(random_state=0).fit(weighting.transform(X[known][:, seen]), y[known])
    return np.asarray(model.predict(weighting.transform(X[:, seen])))


def measure(X: Any, T: Any, words: Any, op: Any, y: np.ndarray, known: np.ndarray) -> dict[str, float]:
    """Figures of one labeling."""
    few, rest = np.where(known, y, -1), ~known
    walk = bvdt.LabelPropagation(**(DEFAULTS | {"blend": None})).fit(y=few, operator=op)
    blend = bvdt.LabelPropagation(**DEFAULTS).fit(T, few, operator=op, terms=words)
    constant = np.full(len(y), np.bincount(y[known]).argmax())
    linear = svc(X, y, known)
    return {
        "labels": float(known.sum()),
        "constant": accuracy(constant, y, known),
        "LinearSVC": accuracy(linear, y, known),
        "walk": accuracy(walk.transduction_, y, known),
        "blend": accuracy(blend.transduction_, y, known),
        "F1 SVC": float(f1_score(y[rest], linear[rest], average="macro")),
        "F1 blend": float(f1_score(y[rest], blend.transduction_[rest], average="macro")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", metavar="corpus")
    parser.add_argument("--skews", nargs="+", type=float, default=SKEWS)
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    options = parser.parse_args()
    figures = ("constant", "LinearSVC", "walk", "blend")
    heads = ["corpus", '"other"', "labels", *figures, "blend − best", "F1 SVC", "F1 blend"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    leads, behind = [], []
    for name in options.corpora or CORPORA:
        for skew in options.skews:
            *given, y = prepare(name, skew)
            for share in options.shares:
                found = []
                for seed in options.seeds:
                    n = round(max(share, 1.0 / len(y)) * len(y))
                    known = np.zeros(len(y), bool)
                    known[np.random.default_rng(seed).choice(len(y), n, replace=False)] = True
                    if len(np.unique(y[known])) > 1:
                        found.append(measure(*given, y, known))
                if not found:
                    continue
                mean = {key: float(np.mean([row[key] for row in found])) for key in found[0]}
                leads.append(mean["blend"] - max(mean[key] for key in figures[:-1]))
                behind.append(mean["F1 blend"] - mean["F1 SVC"])
                cells = [f"{mean[key]:.3f}" for key in figures]
                cells += [f"{leads[-1]:+.3f}", f"{mean['F1 SVC']:.3f}", f"{mean['F1 blend']:.3f}"]
                head = f"{name} | {skew:g} | {100 * share:g} % ({mean['labels']:.0f})"
                print(f"| {head} | {' | '.join(cells)} |", flush=True)
    well = sum(lead >= -0.01 for lead in leads)
    print(f"\nblend − best: least {min(leads):+.3f}; {well} of {len(leads)} ≥ −0.01")
    print(f"macro-F1, blend − LinearSVC: least {min(behind):+.3f}")


if __name__ == "__main__":
    main()
