"""Labels by the walk blended with experts (blend="auto") beside what one would use instead.

Prints, per corpus and share of labels (at least one per class), means over five random labelings: accuracy on
the unlabeled of the walk alone, LinearSVC on sublinear tf-idf of the labeled rows, multinomial naive Bayes
(the best of three smoothings, chosen with hindsight), the blend, the blend less the best of the others, the
expected calibration error (10 bins) of the blend's probabilities, the same without the temperature, the
accuracy on hidden labels that the blend itself tells, and processor seconds of labeling.
Run: python benchmarks/labels.py [--quick] [--shares 0.1 0.3] [--seeds 200 201] [--keep FILE] [corpus ...]
With --keep, what was measured is a line of the file, and is not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import MultinomialNB

import bvdt
from bvdt._support.defaults import N_NEIGHBORS
from bvdt.estimators.text import DEFAULTS
from corpora import classes, counts
from forest import CORPORA, accuracy, labeling, weighted
from skew import svc

SEEDS = range(200, 205)  # labelings on which nothing was chosen
SHARES = (0.003, 0.01, 0.03, 0.1, 0.3)
QUICK = ("bbcsport", "bbc")
SMOOTHINGS = (1.0, 0.1, 0.01)
RIVALS = ("walk", "LinearSVC", "naive Bayes")


def calibration_error(P: np.ndarray, y: np.ndarray, bins: int = 10) -> float:
    """Mean over points of |accuracy − confidence| of their bin, by confidence."""
    confidence, right = P.max(axis=1), P.argmax(axis=1) == y
    at = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [abs(right[at == b].sum() - confidence[at == b].sum()) for b in range(bins)]
    return float(sum(gaps) / len(y))


def measure(X: Any, T: Any, op: Any, y: np.ndarray, known: np.ndarray) -> dict[str, float]:
    """Figures of one labeling; T are the tf-idf rows of the counts X."""
    few, rest = np.where(known, y, -1), ~known
    settings = DEFAULTS | {"random_state": 0}
    walk = bvdt.LabelPropagation(**(settings | {"blend": None})).fit(y=few, operator=op)
    begun = time.process_time()
    blend = bvdt.LabelPropagation(**settings).fit(T, few, operator=op)
    seconds = time.process_time() - begun
    bayes = [MultinomialNB(alpha=a).fit(X[known], y[known]).predict(X) for a in SMOOTHINGS]
    hidden, P = blend.blend_.accuracy, blend.label_distributions_[rest]
    plain = P**blend.blend_.temperature
    return {
        "labels": float(known.sum()),
        "walk": accuracy(walk.transduction_, y, known),
        "LinearSVC": accuracy(svc(X, y, known), y, known),
        "naive Bayes": max(accuracy(predicted, y, known) for predicted in bayes),
        "blend": accuracy(blend.transduction_, y, known),
        "ECE": calibration_error(P, y[rest]),
        "ECE before": calibration_error(plain / plain.sum(axis=1, keepdims=True), y[rest]),
        "hidden": np.nan if hidden is None else hidden.value,
        "seconds": seconds,
    }


def cell(name: str, share: float, found: list[dict[str, float]]) -> tuple[float, float]:
    """Print the row of one corpus and share; the blend's lead and its calibration error."""
    mean = {key: float(np.mean([row[key] for row in found])) for key in found[0]}
    lead = mean["blend"] - max(mean[rival] for rival in RIVALS)
    figures = [f"{mean[key]:.4f}" for key in (*RIVALS, "blend")]
    rest = [f"{lead:+.4f}", *(f"{mean[key]:.3f}" for key in ("ECE", "ECE before", "hidden"))]
    rest.append(f"{mean['seconds']:.1f}")
    head = f"{100 * share:g} % ({mean['labels']:.0f})"
    print(f"| {' | '.join([name, head, *figures, *rest])} |", flush=True)
    return lead, mean["ECE"] if mean["labels"] >= 100 else np.nan


def kept(path: Path | None) -> dict[tuple[str, float, int], dict[str, float]]:
    """What was measured before, by corpus, share and seed."""
    if path is None or not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {(row["corpus"], row["share"], row["seed"]): row["figures"] for row in rows}


def measured(name: str, options: argparse.Namespace) -> Iterator[tuple[float, list[dict[str, float]]]]:
    """Per share the figures of all labelings; the walk is built when the first is missing."""
    before, prepared = kept(options.keep), None
    for share in options.shares:
        found = []
        for seed in options.seeds:
            figures = before.get((name, share, seed))
            if figures is None:
                prepared = prepared or prepare(name)
                X, T, op, y = prepared
                figures = measure(X, T, op, y, labeling(y, share, seed))
                if options.keep is not None:
                    row = {"corpus": name, "share": share, "seed": seed, "figures": figures}
                    with options.keep.open("a") as file:
                        file.write(json.dumps(row) + "\n")
            found.append(figures)
        yield share, found


def prepare(name: str) -> tuple[Any, Any, Any, np.ndarray]:
    """Counts, tf-idf rows, walk and classes."""
    X, y = counts(name), classes(name)
    T = weighted(X)
    walk = DEFAULTS | {"n_neighbors": N_NEIGHBORS}
    return X, T, bvdt.transition_matrix(T, random_state=0, **walk), y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", metavar="corpus")
    parser.add_argument("--quick", action="store_true", help=f"only {' and '.join(QUICK)}")
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--keep", type=Path, help="file of what was measured, a line per labeling")
    options = parser.parse_args()
    heads = ["corpus", "labels", *RIVALS, "blend", "blend − best", "ECE", "ECE before", "hidden", "s"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    cells = {}
    for name in options.corpora or (QUICK if options.quick else CORPORA):
        for share, found in measured(name, options):
            cells[name, share] = cell(name, share, found)
    leads = np.array([lead for lead, _ in cells.values()])
    many = np.array([lead for (_, share), (lead, _) in cells.items() if share >= 0.1])
    print(f"\nblend − best: least {leads.min():+.4f}; {(leads >= -0.01).sum()} of {len(leads)} cells ≥ −0.01")
    if len(many):
        print(f"from 10 % on: least {many.min():+.4f}, mean {many.mean():+.4f}")
    errors = [error for _, error in cells.values() if not np.isnan(error)]
    if errors:
        print(f"calibration error with 100 labels or more: at most {max(errors):.3f}")


if __name__ == "__main__":
    main()
