"""Few labels on MNIST: Poisson learning on our walk and graphlearning's, on the same features and label sets.

    python benchmarks/mnist_labels.py [sets per number of labels, 5] [--no-mbo]

Features: 50 principal components of the 70 000 digits. The label sets are those of the GraphLearning papers,
1 to 5 per class. The rival runs in ``.venv-bench/graphlearning`` (``benchmarks/run.py`` makes it); without it
only ours is measured. Times are from the points to the classes of the first label set, each in a process of
its own, one after the other.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
RIVAL = HERE.parent / ".venv-bench" / "graphlearning" / "bin" / "python"
NEAR = 9


def features(n_components: int = 50) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Principal components, digits, and label sets: number s has 1 + s mod 5 labels per class."""
    from corpora import FOLDER

    with np.load(FOLDER / "mnist.npz") as file:
        images, digits = file["images"], file["labels"]
        labeled, offsets = file["labelled"], file["labelled_offsets"]
    X = images.reshape(len(images), -1).astype(np.float64) / 255
    X -= X.mean(axis=0)
    values, vectors = np.linalg.eigh(X.T @ X)
    X = X @ vectors[:, np.argsort(-values)[:n_components]]
    sets = [labeled[a:b] for a, b in pairwise(offsets)]
    return X, digits.astype(np.intp), sets


def score(got: np.ndarray, digits: np.ndarray, labeled: np.ndarray) -> float:
    """Per cent of the unlabeled digits that were recognised."""
    rest = np.ones(len(digits), bool)
    rest[labeled] = False
    return float(100 * (got == digits)[rest].mean())


def ours(X: np.ndarray, digits: np.ndarray, sets: list[np.ndarray], mode: str) -> dict[str, list[float]]:
    from bvdt import LabelPropagation  # with scikit-learn, before the clock starts: as the rival's imports

    op, result = None, {"seconds": [], "accuracy": []}
    for labeled in sets:
        few = np.full(len(digits), -1)
        few[labeled] = digits[labeled]
        start = time.perf_counter()
        model = LabelPropagation("squared_euclidean", n_neighbors=NEAR, method=mode, tol=1e-3, random_state=0)
        model.fit(X if op is None else None, few, operator=op)
        result["seconds"].append(time.perf_counter() - start)
        op = model.operator_
        result["accuracy"].append(score(model.transduction_, digits, labeled))
    return result


def graphlearning(X: np.ndarray, digits: np.ndarray, sets: list[np.ndarray]) -> dict[str, list[float]]:
    import graphlearning as gl

    W, result = None, {"seconds": [], "accuracy": []}
    for labeled in sets:
        start = time.perf_counter()
        W = gl.weightmatrix.knn(X, 10) if W is None else W
        got = gl.ssl.poisson(W).fit_predict(labeled, digits[labeled])
        result["seconds"].append(time.perf_counter() - start)
        result["accuracy"].append(score(got, digits, labeled))
    return result


def measure(name: str, path: str) -> None:
    """In a process of its own: writes the result as JSON on the last line."""
    with np.load(path) as file:
        X, digits = file["X"], file["digits"]
        sets = np.split(file["labelled"], file["first"][1:])
    result = graphlearning(X, digits, sets) if name == "graphlearning" else ours(X, digits, sets, name)
    print(json.dumps(result))


def main(per_number: int, mbo: bool) -> None:
    X, digits, sets = features()
    sets = sets[: 5 * per_number]
    methods = {"poisson": sys.executable} | ({"poisson_mbo": sys.executable} if mbo else {})
    if RIVAL.exists():
        methods["graphlearning"] = str(RIVAL)
    else:
        print(f"graphlearning is not measured: {RIVAL} is missing; benchmarks/run.py makes it")
    print(
        "| | "
        + " | ".join(f"{n} per class" for n in range(1, 6))
        + " | s, points to labels | s, new labels |"
    )
    print("|---" * 8 + "|")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/points.npz"
        first = np.cumsum([0, *(len(labeled) for labeled in sets[:-1])])
        np.savez(path, X=X, digits=digits, labeled=np.concatenate(sets), first=first)
        for name, python in methods.items():
            command = [python, str(HERE / "mnist_labels.py"), "--measure", name, path]
            out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            result = json.loads(out.splitlines()[-1])
            means = [np.mean(result["accuracy"][n::5]) for n in range(5)]
            seconds = result["seconds"]
            cells = [f"{mean:.2f}" for mean in means] + [f"{seconds[0]:.1f}", f"{np.median(seconds[1:]):.1f}"]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:4])
    else:
        numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
        main(numbers[0] if numbers else 5, "--no-mbo" not in sys.argv)
