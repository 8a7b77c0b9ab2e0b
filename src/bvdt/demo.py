"""The demonstration: four methods on two problems, each in a process of its own, timed and weighed.

Seconds are from the data to the labels of all points, for the first labeling. Memory is the most that the
process held at one time beyond what it held with the modules and the data loaded (``bvdt.peak``): it counts
every array and every library's workspace, which a tracer of Python's allocations would not see.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import peak

N_DOCUMENTS, N_CLASSES = 4000, 10
LABELS_A_CLASS, N_LABELINGS = 10, 5

Int = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Problem:
    """Points, their true classes, and the form of the points that scikit-learn's kernel wants."""

    title: str
    noun: str
    X: Any
    y: Int
    class_names: list[str]
    scaled: Callable[[], Any]

    def labelings(self) -> list[Int]:
        """Codes with −1 for unlabelled; each keeps ``LABELS_A_CLASS`` labels a class, chosen at random."""
        return [self._labeling(np.random.default_rng(seed)) for seed in range(N_LABELINGS)]

    def _labeling(self, rng: np.random.Generator) -> Int:
        codes = np.full(len(self.y), -1)
        for c in range(len(self.class_names)):
            codes[rng.choice(np.flatnonzero(self.y == c), LABELS_A_CLASS, replace=False)] = c
        return codes


@dataclass(frozen=True)
class Outcome:
    """What a method did on a problem."""

    method: str
    accuracies: tuple[float, ...]  # on the unlabelled points, one a labeling
    seconds: float
    bytes: float | None


# -- problems ----------------------------------------------------------------------------------------------


def digits() -> Problem:
    """scikit-learn's handwritten digits: 8×8 images, values 0 to 16."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    title = f"Handwritten digits: {len(X):,} real images of 8×8 pixels"
    return Problem(title, "images", X, y, [f"digit {c}" for c in range(10)], lambda: X / 16)


def documents() -> Problem:
    """Documents drawn from the generative model of Eq. (25)."""
    from .datasets import make_documents

    corpus = make_documents(N_DOCUMENTS, n_classes=N_CLASSES, random_state=0)
    title = f"Generated documents: {N_DOCUMENTS:,} of Eq. (25), {corpus.counts.shape[1]:,} words"
    return Problem(
        title, "documents", corpus.counts, corpus.labels, corpus.class_names, lambda: _tf_idf(corpus.counts)
    )


def _tf_idf(counts: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer(sublinear_tf=True).fit_transform(counts)


PROBLEMS: dict[str, Callable[[], Problem]] = {"digits": digits, "documents": documents}


# -- methods: (problem, codes, state of the first call) -> (classes of all points, state) -------------------


def _dual_tree(divergence: str) -> Callable[..., tuple[Int, Any]]:
    def fit(problem: Problem, codes: Int, state: Any) -> tuple[Int, Any]:
        from .estimators import LabelPropagation

        model = LabelPropagation(divergence, random_state=0)
        model.fit(problem.X if state is None else None, codes, operator=state)
        return np.asarray(model.transduction_), model.operator_

    return fit


def _exact(problem: Problem, codes: Int, state: Any) -> tuple[Int, Any]:
    """The same propagation on the N×N matrix itself, at the dual tree's bandwidth, symmetrised once."""
    from .build import transition_matrix
    from .estimators import LabelPropagation
    from .exact import exact_transition_matrix

    if state is None:
        bandwidth = transition_matrix(problem.X, "gid", random_state=0).bandwidth
        P = exact_transition_matrix(problem.X, "gid", bandwidth=bandwidth)
        P += P.T.copy()
        root = np.sqrt(P.sum(axis=1))
        P /= root
        P /= root[:, None]
        state = P
    model = LabelPropagation(mode="walk").fit(y=codes, operator=state)
    return np.asarray(model.transduction_), state


def _scikit_learn(problem: Problem, codes: Int, _: Any) -> tuple[Int, Any]:
    from sklearn.semi_supervised import LabelSpreading

    return np.asarray(LabelSpreading(max_iter=100).fit(problem.scaled(), codes).transduction_), None


METHODS: dict[str, Callable[..., tuple[Int, Any]]] = {
    "BVDT, GID": _dual_tree("gid"),
    "BVDT, Euclidean": _dual_tree("squared_euclidean"),
    "exact, GID": _exact,
    "scikit-learn LabelSpreading": _scikit_learn,
}
NOTE = (
    f"{LABELS_A_CLASS} labels a class, accuracy on the rest, mean and deviation of {N_LABELINGS} random "
    "choices of labels. Seconds: from the data to all labels, once. Memory: the most in use at one time beyond "
    "the data, each method in a process of its own. Exact: the whole N×N matrix at the same bandwidth. "
    "LabelSpreading at its defaults, on pixels / 16 or tf-idf."
)


# -- measuring ---------------------------------------------------------------------------------------------


def measure(problem_name: str, method: str) -> Outcome:
    """One method on one problem, in this process."""
    import sklearn.semi_supervised  # noqa: F401  # before the clock starts

    from . import estimators  # noqa: F401

    problem, fit = PROBLEMS[problem_name](), METHODS[method]
    labelings = problem.labelings()
    before, began = peak.start(), time.perf_counter()
    guess, state = fit(problem, labelings[0], None)
    seconds, most = time.perf_counter() - began, peak.peak()
    guesses = [guess, *(fit(problem, codes, state)[0] for codes in labelings[1:])]
    hits = [
        float((guess == problem.y)[codes < 0].mean())
        for guess, codes in zip(guesses, labelings, strict=True)
    ]
    extra = None if before is None or most is None else max(most - before, 0.0)
    return Outcome(method, tuple(hits), seconds, extra)


def measure_all() -> Iterator[tuple[str, Outcome]]:
    """Every method on every problem, one after the other, each in a fresh process."""
    for problem in PROBLEMS:
        for method in METHODS:
            yield problem, _in_own_process(problem, method)


def _in_own_process(problem: str, method: str) -> Outcome:
    command = [sys.executable, "-m", "bvdt.demo", problem, method]
    child = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if child.returncode:
        last = (child.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise RuntimeError(f"{method} on {problem} ended with code {child.returncode}: {last}")
    found = json.loads(child.stdout)
    return Outcome(method, tuple(found["accuracies"]), found["seconds"], found["bytes"])


if __name__ == "__main__":
    print(json.dumps(asdict(measure(*sys.argv[1:]))))
