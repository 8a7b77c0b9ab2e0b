"""Tables as they are, beside one-hot and standardized columns under the same estimator.

    python benchmarks/tables.py [--labelings 10] [--rows 8000] [--first 50]

The tables of the data folder, 2 % of the rows labeled, one of each class at least: balanced accuracy, means
over the labelings. A random forest on the labeled rows beside them.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import corpora
from bvdt import LabelPropagation

TABLES = ("credit-g", "hypothyroid", "segment-challenge", "vote", "adult")


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of the folder without its last column, which is the class."""
    folder = corpora.FOLDER / "tables"
    if name == "adult":
        frame = pd.read_csv(folder / "adult.csv.gz", header=None, na_values=["?"], skipinitialspace=True)
        frame.columns = [f"column {k}" for k in range(frame.shape[1])]
    else:
        frame = read_arff(folder / f"{name}.arff")
    return frame.iloc[:, :-1], pd.factorize(frame.iloc[:, -1])[0]


def read_arff(path: object) -> pd.DataFrame:
    """Attributes and rows; "?" is missing."""
    names, numeric, rows = [], [], []
    with open(path, encoding="latin-1") as file:
        lines = [line.strip() for line in file]
    head = next(k for k, line in enumerate(lines) if line.lower().startswith("@data"))
    for line in lines[:head]:
        if line.lower().startswith("@attribute"):
            rest = line.split(None, 1)[1]
            quoted = rest[0] in "'\""
            end = rest.index(rest[0], 1) + 1 if quoted else rest.index(rest.split()[0]) + len(rest.split()[0])
            names.append(rest[:end].strip("'\""))
            numeric.append(not rest[end:].strip().startswith("{"))
    rows = [
        [value.strip().strip("'") for value in line.split(",")]
        for line in lines[head + 1 :]
        if line and not line.startswith("%")
    ]
    frame = pd.DataFrame(rows, columns=names).replace("?", np.nan)
    for name, is_number in zip(names, numeric, strict=True):
        if is_number:
            frame[name] = pd.to_numeric(frame[name])
    return frame


def encoded(frame: pd.DataFrame) -> np.ndarray:
    """One-hot categories and standardized numbers, gaps filled with the mean."""
    numbers = list(frame.select_dtypes("number").columns)
    others = [name for name in frame.columns if name not in numbers]
    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(sparse_output=False), others),
    )
    return encode.fit_transform(frame)


def draw(y: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Labels of a share of the rows, one of each class at least; −1 for the others."""
    rng, few = np.random.default_rng(seed), np.full(len(y), -1)
    chosen = rng.choice(len(y), max(round(share * len(y)), 2 * (y.max() + 1)), replace=False)
    few[chosen] = y[chosen]
    for label in np.setdiff1d(y, few):
        few[rng.choice(np.flatnonzero(y == label))] = label
    return few


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labelings", type=int, default=10)
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--first", type=int, default=50)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("table, as it is, one-hot and standardized, random forest")
    for name in TABLES:
        frame, y = load(name)
        if len(y) > options.rows:
            rows = np.random.default_rng(0).choice(len(y), options.rows, replace=False)
            frame, y = frame.iloc[rows].reset_index(drop=True), y[rows]
        X, found, walks = encoded(frame), [], [None, None]
        for seed in range(options.first, options.first + options.labelings):
            few = draw(y, 0.02, seed)
            hidden, answers = few < 0, []
            for k, data in enumerate((frame, X)):
                model = LabelPropagation(random_state=0).fit(data, few, operator=walks[k])
                walks[k] = model.operator_
                answers.append(model.transduction_)
            forest = RandomForestClassifier(random_state=0).fit(X[~hidden], few[~hidden])
            answers.append(forest.predict(X))
            found.append([balanced_accuracy_score(y[hidden], answer[hidden]) for answer in answers])
        print(f"  {name:18}", "  ".join(f"{value:.3f}" for value in np.mean(found, axis=0)), flush=True)


if __name__ == "__main__":
    main()
