"""Words, vectors and both: accuracy by labels per class, beside linear models on the same vectors.

    python benchmarks/views.py [--labelings 5] [--first 100] [CORPUS ...]

Corpora of ``corpora.TEXTS``, whose vectors lie beside them as CORPUS_minilm.npy. "stacked" is one matrix of
tf-idf and vectors side by side, as one would make it by hand. Prints means over the labelings, numbered from
``--first`` on.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

import bvdt
import corpora

SHARES = {"agnews": (1, 3, 5, 10, 30), "clinc150": (1, 3, 5)}
COSTS = {"C": np.geomspace(0.01, 100, 5)}


def draw(y: np.ndarray, per_class: int, seed: int) -> np.ndarray:
    """Labels of so many points of each class, −1 for the others."""
    rng, few = np.random.default_rng(seed), np.full(len(y), -1)
    for label in np.unique(y):
        few[rng.choice(np.flatnonzero(y == label), per_class, replace=False)] = label
    return few


def linear(model: object, X: np.ndarray, few: np.ndarray) -> np.ndarray:
    """Predictions of a linear model, its C by cross-validation where each class has two labels."""
    known = few >= 0
    folds = min(5, int(np.bincount(few[known]).min()))
    if folds > 1:
        model = GridSearchCV(model, COSTS, cv=folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X[known], few[known]).predict(X)


def measure(name: str, labelings: int, first: int) -> None:
    texts, y = corpora.texts(name)
    E = np.load(corpora.FOLDER / f"{name}_minilm.npy").astype(float)
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    W = sparse.csr_array(vectorizer.fit_transform(texts))
    terms = vectorizer.get_feature_names_out()
    stacked = sparse.csr_array(sparse.hstack([W, sparse.csr_array(E)], format="csr"))
    inputs = {
        "words": (W, 2, terms),
        "vectors": (E, 1, None),
        "stacked": (stacked, 2, None),
        "views": (bvdt.Views(words=(W, "cosine"), vectors=(E, "cosine")), 2, terms),
    }
    walks = {
        key: bvdt.transition_matrix(X, "cosine", n_neighbors=15, n_trees=trees, random_state=0)
        for key, (X, trees, _) in inputs.items()
    }
    print(
        f"{name}: labels per class, then",
        ", ".join([*inputs, "logistic regression", "LinearSVC"]),
        flush=True,
    )
    for per_class in SHARES[name]:
        found = []
        for seed in range(first, first + labelings):
            few = draw(y, per_class, seed)
            answers = [
                bvdt.LabelPropagation("cosine", random_state=0)
                .fit(X, few, operator=walks[key], terms=words)
                .transduction_
                for key, (X, _, words) in inputs.items()
            ]
            answers += [linear(model, E, few) for model in (LogisticRegression(max_iter=1000), LinearSVC())]
            found.append([(answer == y)[few < 0].mean() for answer in answers])
        print(f"  {per_class:3}  ", "  ".join(f"{value:.3f}" for value in np.mean(found, axis=0)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="*", default=list(SHARES))
    parser.add_argument("--labelings", type=int, default=5)
    parser.add_argument("--first", type=int, default=100)
    options = parser.parse_args()
    for name in options.corpora:
        measure(name, options.labelings, options.first)


if __name__ == "__main__":
    main()
