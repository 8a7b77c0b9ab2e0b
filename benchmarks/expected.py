"""Does the accuracy that bvdt expects hold the true one? Labels drawn at random, even and skewed classes.

Prints, per corpus and number of labels, means over labelings: accuracy on the unlabeled, what was expected,
how often its 95 % interval holds, its root mean square error, and the interval's width. The blend at
the defaults of text_pipeline; a name with a share, such as bbc:0.85, has one class "other" of that share.
Run: python benchmarks/expected.py [--labels 20 50] [--seeds 0 1] [corpus ...]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import bvdt
from bvdt._support.defaults import N_NEIGHBORS
from bvdt.estimators.text import DEFAULTS
from corpora import TEXTS, classes, counts, texts
from forest import weighted
from skew import prepare

CORPORA = ("bbc", "bbcsport", "20news_bydate_train", "nsf_surrogate", "imdb", "agnews", "clinc150")
SKEWED = ("bbc:0.85", "agnews:0.85", "clinc150:0.95", "20news_bydate_train:0.85")
LABELS = (20, 50, 100, 200, 500)
SEEDS = range(3)
MOST = 6000  # documents of a corpus, drawn once


def problem(name: str) -> tuple[Any, Any, Any, np.ndarray]:
    """Tf-idf rows, their words where these are known, the walk and the classes."""
    name, _, skew = name.partition(":")
    if skew:
        return prepare(name, float(skew))[1:]
    y = texts(name)[1] if name in TEXTS else classes(name)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST])
    words = None
    if name in TEXTS:
        documents, vectorizer = texts(name)[0], CountVectorizer()
        X = sparse.csr_array(vectorizer.fit_transform([documents[i] for i in rows]).astype(float))
        words = vectorizer.get_feature_names_out()
    else:
        X = counts(name)[rows]
    T = weighted(X)
    walk = DEFAULTS | {"n_neighbors": N_NEIGHBORS}
    return T, words, bvdt.transition_matrix(T, random_state=0, **walk), y[rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", metavar="corpus")
    parser.add_argument("--labels", nargs="+", type=int, default=LABELS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    options = parser.parse_args()
    print("| corpus | labels | true | expected | held | RMS | width |\n|---|---|---|---|---|---|---|")
    everything = []
    for name in options.corpora or CORPORA + SKEWED:
        T, words, op, y = problem(name)
        for n in options.labels:
            found = []
            for seed in options.seeds:
                few = np.full(len(y), -1)
                drawn = np.random.default_rng(1000 + seed).choice(len(y), n, replace=False)
                few[drawn] = y[drawn]
                if n > len(y) // 3 or len(np.unique(y[drawn])) < 2 or np.bincount(y[drawn]).max() < 2:
                    continue
                model = bvdt.LabelPropagation(**DEFAULTS).fit(T, few, operator=op, terms=words)
                truth = float((model.transduction_ == y)[few < 0].mean())
                e = model.expected_accuracy()
                found.append((truth, e.value, e.low <= truth <= e.high, e.high - e.low))
            if found:
                truth, value, held, width = np.array(found, float).T
                rms = np.sqrt(np.mean((value - truth) ** 2))
                cells = f"{truth.mean():.3f} | {value.mean():.3f} | {held.sum():.0f} of {len(held)}"
                print(f"| {name} | {n} | {cells} | {rms:.3f} | {width.mean():.3f} |", flush=True)
                everything += found
    truth, value, held, width = np.array(everything, float).T
    off = value - truth
    print(f"\n{held.sum():.0f} of {len(held)} intervals hold the accuracy ({held.mean():.3f})")
    print(f"bias {off.mean():+.3f}, RMS {np.sqrt(np.mean(off**2)):.3f}, width {width.mean():.3f}")


if __name__ == "__main__":
    main()
