"""The demonstration: several methods on two problems, each in a process of its own, timed and weighed.

Seconds are from the data to the labels of all points, for the first labeling. Memory is the most that the
process held at one time beyond what it held with the modules and the data loaded, by the operating system's
count: of every array and every library's workspace, unlike a tracer of Python's allocations.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._support import memory
from .._support.arrays import Index
from .._support.sparse import OperatorLike, Points
from .docstrings import read_docstrings

if TYPE_CHECKING:
    from ..estimators import LabelPropagation

State: TypeAlias = "OperatorLike | float | None"  # an operator, or the bandwidth for one; None at first
N_DOCUMENTS: int | None = None  # all of them
LABELS_PER_CLASS, N_LABELINGS = 10, 3
FORKS = sys.platform == "linux"  # elsewhere every method loads modules and data anew, which takes longer


@dataclass(frozen=True, eq=False)
class Problem:
    """Points, their true classes, and the form of the points that scikit-learn's kernel wants."""

    title: str
    X: Points
    y: Index
    class_names: list[str]
    scaled: Points
    ids: list[str] | None = None
    texts: list[str] | None = None
    words: list[str] | None = None  # of X's columns

    def labelings(self) -> list[Index]:
        """Codes with −1 for unlabeled; each keeps ``LABELS_PER_CLASS`` labels, chosen at random."""
        return [self._labeling(np.random.default_rng(seed)) for seed in range(N_LABELINGS)]

    def _labeling(self, rng: np.random.Generator) -> Index:
        codes = np.full(len(self.y), -1)
        for c in range(len(self.class_names)):
            codes[rng.choice(np.flatnonzero(self.y == c), LABELS_PER_CLASS, replace=False)] = c
        return codes


@dataclass(frozen=True)
class Outcome:
    """What a method did on a problem."""

    method: str
    accuracies: tuple[float, ...]  # on the unlabeled points, one a labeling
    seconds: float
    bytes: float | None


# -- problems ----------------------------------------------------------------------------------------------


def digits() -> Problem:
    """scikit-learn's handwritten digits: 8×8 images, values 0 to 16."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    title = f"Handwritten digits: {len(X):,} images of 8×8 pixels"
    return Problem(title, X, y, [f"digit {c}" for c in range(10)], X / 16)


def documents(n_documents: int | None = None) -> Problem:
    """The docstrings of Python's own library, or so many of them, by subject; words of at least two."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    found = read_docstrings()
    rows = np.random.default_rng(0).permutation(len(found.texts))[:n_documents]
    texts = [found.texts[i] for i in rows]
    vectorizer = CountVectorizer(min_df=2, stop_words="english", dtype=np.float64)
    counts = vectorizer.fit_transform(texts)
    version = ".".join(map(str, sys.version_info[:2]))
    return Problem(
        f"Docstrings of Python {version}'s own library: {len(texts):,} texts, {counts.shape[1]:,} terms",
        counts,
        np.array(found.labels)[rows],
        found.subjects,
        TfidfTransformer(sublinear_tf=True).fit_transform(counts),
        [found.names[i] for i in rows],
        texts,
        vectorizer.get_feature_names_out().tolist(),
    )


def load(name: str, n_documents: int | None = None) -> Problem:
    """The problem of that name."""
    return digits() if name == "digits" else documents(n_documents or N_DOCUMENTS)


# -- methods: (problem, codes, what is prepared or was learnt) -> (classes of all points, what was learnt) ---


def blend(problem: Problem, codes: Index, operator: OperatorLike | None = None) -> LabelPropagation:
    """``bvdt.text_pipeline`` on the weighted terms: the walk, a linear model and naive Bayes."""
    from ..estimators import LabelPropagation
    from ..estimators.text import DEFAULTS

    return LabelPropagation(**DEFAULTS, random_state=0).fit(problem.scaled, codes, operator=operator)


def _blend(problem: Problem, codes: Index, state: State) -> tuple[Index, State]:
    model = blend(problem, codes, state)
    return np.asarray(model.transduction_), model.operator_


def _gid(problem: Problem, codes: Index, state: State) -> tuple[Index, State]:
    return _dual_tree("gid", problem.X, codes, state)


def _euclidean(problem: Problem, codes: Index, state: State) -> tuple[Index, State]:
    return _dual_tree("squared_euclidean", problem.scaled, codes, state)


def _dual_tree(divergence: str, X: Points, codes: Index, state: State) -> tuple[Index, State]:
    from ..estimators import LabelPropagation

    model = LabelPropagation(divergence, random_state=0)
    model.fit(X if state is None else None, codes, operator=state)
    return np.asarray(model.transduction_), model.operator_


def _bandwidth(problem: Problem) -> float:
    """The dual tree's."""
    from ..operators import transition_matrix

    return float(transition_matrix(problem.X, "gid", random_state=0).bandwidth)


def _exact(problem: Problem, codes: Index, state: State) -> tuple[Index, State]:
    """The same propagation on the N×N matrix itself, symmetrised once; ``state`` is a bandwidth at first."""
    from ..estimators import LabelPropagation
    from ..operators import exact_transition_matrix

    if isinstance(state, float):
        P = exact_transition_matrix(problem.X, "gid", bandwidth=state)
        P += P.T.copy()
        root = np.sqrt(P.sum(axis=1))
        P /= root
        P /= root[:, None]
        state = P
    model = LabelPropagation(method="walk").fit(y=codes, operator=state)
    return np.asarray(model.transduction_), state


def _label_spreading(problem: Problem, codes: Index, _: State) -> tuple[Index, State]:
    from sklearn.semi_supervised import LabelSpreading

    return np.asarray(LabelSpreading(max_iter=100).fit(problem.scaled, codes).transduction_), None


def _linear(problem: Problem, codes: Index, _: State) -> tuple[Index, State]:
    """From the labeled points alone."""
    from sklearn.svm import LinearSVC

    known = codes >= 0
    return np.asarray(LinearSVC().fit(problem.scaled[known], codes[known]).predict(problem.scaled)), None


BLEND = "bvdt.text_pipeline"
METHODS: dict[str, Callable[[Problem, Index, State], tuple[Index, State]]] = {
    BLEND: _blend,
    "BVDT, GID": _gid,
    "BVDT, Euclidean": _euclidean,
    "exact, GID": _exact,
    "scikit-learn LabelSpreading": _label_spreading,
    "scikit-learn LinearSVC": _linear,
}
PROBLEMS: dict[str, tuple[str, ...]] = {
    "digits": tuple(name for name in METHODS if name != BLEND),
    "documents": tuple(METHODS),
}
PREPARED: dict[str, Callable[[Problem], State]] = {"exact, GID": _bandwidth}  # before clock and memory count
NOTE = (
    f"{LABELS_PER_CLASS} labels per class, accuracy on the rest, mean and deviation of {N_LABELINGS} random "
    "choices of labels. Seconds: from the data to all labels, once. Memory: the most in use at one time "
    "beyond the data, each method in a process of its own. GID: on counts or pixels; exact: the whole N×N "
    "matrix, at BVDT's bandwidth, whose search is not counted. The others: on tf-idf or pixels / 16, "
    "LabelSpreading and LinearSVC at their defaults."
)


# -- measuring ---------------------------------------------------------------------------------------------


def measure(problem: Problem, method: str) -> Outcome:
    """One method on one problem, in this process."""
    labelings, fit = problem.labelings(), METHODS[method]
    given = PREPARED[method](problem) if method in PREPARED else None
    before, began = memory.start_peak(), time.perf_counter()
    guess, state = fit(problem, labelings[0], given)
    seconds, most = time.perf_counter() - began, memory.peak_bytes()
    guesses = [guess, *(fit(problem, codes, state)[0] for codes in labelings[1:])]
    hits = [float((g == problem.y)[c < 0].mean()) for g, c in zip(guesses, labelings, strict=True)]
    return Outcome(method, tuple(hits), seconds, max(most - before, 0.0))


def measure_all() -> Iterator[tuple[str, Outcome]]:
    """Every method on every problem, one after the other, as the methods finish."""
    command = [sys.executable, "-W", "ignore", "-m", "bvdt.experiments.demo", str(N_DOCUMENTS or 0)]
    if FORKS:
        yield from _outcomes(command)
    else:
        for problem, methods in PROBLEMS.items():
            for method in methods:
                yield from _outcomes([*command, problem, method])


def _outcomes(command: list[str]) -> Iterator[tuple[str, Outcome]]:
    """What a measuring process tells, a line each."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            start_new_session=True,
        ) as child,
    ):
        assert child.stdout is not None
        try:
            for line in child.stdout:
                problem, found = json.loads(line)
                yield problem, Outcome(**found | {"accuracies": tuple(found["accuracies"])})
        except BaseException:
            _end(child)
            raise
        if child.wait():
            errors.seek(0)
            last = (errors.read().strip().splitlines() or ["it said nothing"])[-1]
            raise RuntimeError(f"the measuring process ended with code {child.returncode}: {last}")


def _end(child: subprocess.Popen[str]) -> None:
    """Ctrl-C reaches only this process; the measuring one and its forks are a group, which ends with it."""
    if hasattr(os, "killpg"):
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()


def _serve(n_documents: int, *only: str) -> None:
    """The measuring process: modules and data are loaded once, then every method runs in a fork of it.

    With a problem and a method named, that one alone runs, in this process.
    """
    import sklearn.feature_extraction.text
    import sklearn.linear_model
    import sklearn.naive_bayes
    import sklearn.semi_supervised
    import sklearn.svm  # noqa: F401

    from .. import estimators  # noqa: F401

    if only:
        _tell(only[0], measure(load(only[0], n_documents), only[1]))
        return
    for name, methods in PROBLEMS.items():
        problem = load(name, n_documents)
        for method in methods:
            child = os.fork()
            if child == 0:
                _tell(name, measure(problem, method))
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                raise RuntimeError(f"{method} on {name} failed")


def _tell(problem: str, outcome: Outcome) -> None:
    print(json.dumps([problem, asdict(outcome)]), flush=True)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), *sys.argv[2:])
