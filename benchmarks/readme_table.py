"""README's table: bvdt beside linear classifiers and label spreading, with one and ten labels per class.

    python benchmarks/readme_table.py            measures, then writes readme.json and the table
    python benchmarks/readme_table.py --table    only the table, from the numbers that are there

Accuracy on the unlabeled points, means of three labelings, defaults throughout; data sets of more than
``MOST`` points are random samples. Data from the folder $BVDT_DATA or ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import LinearSVC

import bvdt
import corpora

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "benchmarks" / "readme.json"
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmarks/readme_table.py -->", "<!-- end -->"
LABELS, LABELINGS, MOST = (1, 10), 3, 5_000
METHODS = (
    "LinearSVC, words",
    "logistic regression, vectors",
    "LabelSpreading",
    "bvdt, words",
    "bvdt, vectors",
)
Predict = Callable[[np.ndarray], np.ndarray]  # classes of all points from the labels given, −1 elsewhere


def linear(classifier: Any, X: Any) -> Predict:
    return lambda few: classifier.fit(X[few >= 0], few[few >= 0]).predict(X)


def spreading(X: Any) -> Predict:
    """scikit-learn's, on as many neighbors as bvdt's."""
    return lambda few: LabelSpreading(kernel="knn", n_neighbors=15).fit(X, few).transduction_


def of_texts(name: str, rows: np.ndarray) -> dict[str, Predict]:
    texts = [corpora.texts(name)[0][row] for row in rows]
    E = normalize(np.load(corpora.FOLDER / f"{name}_minilm.npy")[rows].astype(float))
    return {
        METHODS[0]: linear(LinearSVC(), TfidfVectorizer(sublinear_tf=True).fit_transform(texts)),
        METHODS[1]: linear(LogisticRegression(C=10, max_iter=1000), E),
        METHODS[2]: spreading(E),
        METHODS[3]: lambda few: bvdt.text_pipeline("text", random_state=0).fit(texts, few)[-1].transduction_,
        METHODS[4]: lambda few: bvdt.LabelPropagation("cosine", random_state=0).fit(E, few).transduction_,
    }


def of_counts(name: str, rows: np.ndarray) -> dict[str, Predict]:
    X = corpora.counts(name)[rows]
    T = TfidfTransformer(sublinear_tf=True).fit_transform(X)
    return {
        METHODS[0]: linear(LinearSVC(), T),
        METHODS[2]: spreading(T),
        METHODS[3]: lambda few: bvdt.text_pipeline("counts", random_state=0).fit(X, few)[-1].transduction_,
    }


def of_digits(name: str, rows: np.ndarray) -> dict[str, Predict]:
    with np.load(corpora.FOLDER / f"{name}.npz") as file:
        X = PCA(50, random_state=0).fit_transform(file["images"][rows].reshape(-1, 784) / 255.0)
    return {
        METHODS[1]: linear(LogisticRegression(C=10, max_iter=1000), X),
        METHODS[2]: spreading(X),
        METHODS[4]: lambda few: bvdt.LabelPropagation(random_state=0).fit(X, few).transduction_,
    }


DATA: dict[str, tuple[str, Callable[[str, np.ndarray], dict[str, Predict]]]] = {
    "AG News": ("agnews", of_texts),
    "CLINC150": ("clinc150", of_texts),
    "20 Newsgroups": ("20news_bydate_train", of_counts),
    "BBC": ("bbc", of_counts),
    "MNIST": ("mnist", of_digits),
}


def labelings(y: np.ndarray, per_class: int) -> Iterator[np.ndarray]:
    """−1 but for so many points of each class."""
    for seed in range(LABELINGS):
        rng, few = np.random.default_rng(seed), np.full(len(y), -1)
        for label in np.unique(y):
            few[rng.choice(np.flatnonzero(y == label), per_class, replace=False)] = label
        yield few


def measure() -> dict[str, Any]:
    start, rows = time.perf_counter(), []
    for title, (name, methods_of) in DATA.items():
        y = corpora.texts(name)[1] if name in corpora.TEXTS else corpora.classes(name)
        sample = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST])
        of, known = len(y), y[sample]
        methods = methods_of(name, sample)
        for per_class in LABELS:
            found: dict[str, list[float]] = {}
            for few in labelings(known, per_class):
                for method, predict in methods.items():
                    found.setdefault(method, []).append(float((predict(few) == known)[few < 0].mean()))
            accuracy = {method: round(float(np.mean(values)), 4) for method, values in found.items()}
            rows.append({"data": title, "points": len(sample), "of": of, "classes": len(np.unique(known)),
                         "labels": per_class, "accuracy": accuracy})  # fmt: skip
            print(rows[-1], file=sys.stderr, flush=True)
    return {"bvdt": bvdt.__version__, "seconds": round(time.perf_counter() - start), "rows": rows}


def table(found: dict[str, Any]) -> str:
    """Markdown with its caption; the best of a row is bold."""
    sampled = [row["data"] for row in found["rows"] if row["points"] < row["of"]]
    whole = [row["data"] for row in found["rows"] if row["points"] == row["of"]]
    lines = [
        f"Accuracy on the unlabeled points, mean of {LABELINGS} random labelings, bvdt at its defaults. "
        f"{MOST} points are drawn of {', '.join(dict.fromkeys(sampled))}; "
        f"{', '.join(dict.fromkeys(whole))} is whole.",
        "",
        "| data | labels per class | " + " | ".join(METHODS) + " |",
        "|---|---|" + "---|" * len(METHODS),
    ]
    for row in found["rows"]:
        best = max(row["accuracy"].values())
        values = [row["accuracy"].get(method) for method in METHODS]
        cells = ["–" if v is None else f"**{v:.3f}**" if v == best else f"{v:.3f}" for v in values]
        lines.append(f"| {row['data']}, {row['classes']} classes | {row['labels']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", action="store_true", help="only write the table")
    if not parser.parse_args().table:
        warnings.simplefilter("ignore")
        KEPT.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    head, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    found = json.loads(KEPT.read_text(encoding="utf-8"))
    README.write_text(f"{head}{BEGIN}\n\n{table(found)}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
