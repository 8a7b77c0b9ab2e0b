"""Between documents and their labelling: labels as indices, parameters by kind, the table that comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from .divergences import KullbackLeibler, get
from .features import Features, TextSettings

Float = NDArray[np.float64]

NEAR = 10  # of data other than texts, as of the estimators


@dataclass(frozen=True)
class WalkSettings:
    """How to build the walk; None is the default for the documents' kind."""

    divergence: str | None = None
    bandwidth: float | str = "auto"
    near: int | None = None
    trees: int | None = None
    scale: str = "auto"
    text: TextSettings = field(default_factory=TextSettings)
    seed: int = 0
    jobs: int | None = None
    progress: bool = False

    def parameters(self, features: Features) -> dict[str, Any]:
        """Of ``bvdt.LabelPropagation`` or another estimator: for texts and counts those of docs/forest.md."""
        from .text import DEFAULTS

        chosen: dict[str, Any] = {"divergence": "squared_euclidean", "near": NEAR, "n_trees": 1}
        if features.kind in ("text", "counts"):
            chosen |= {name: DEFAULTS[name] for name in ("n_trees", "near")}
        given = {"divergence": self.divergence, "near": self.near, "n_trees": self.trees}
        chosen |= {name: value for name, value in given.items() if value is not None}
        chosen["divergence"] = _divergence(chosen["divergence"])
        running = {"random_state": self.seed, "n_jobs": self.jobs, "progress": self.progress}
        return chosen | {"bandwidth": self.bandwidth} | running


def _divergence(name: str) -> Any:
    """Of that name; kl divides rows by their sums, which files of counts have not."""
    return KullbackLeibler(normalize=True) if name == "kl" else get(name)


def build_walk(X: Any, parameters: dict[str, Any]) -> Any:
    """The operator of ``bvdt.transition_matrix``; with few points, all others are near."""
    from .build import transition_matrix

    near = min(parameters["near"], X.shape[0] - 1)
    return transition_matrix(X, **(parameters | {"near": near}))


def propagation(features: Features, settings: WalkSettings, alpha: float | None = None) -> Any:
    """A LabelPropagation, not fitted, for documents of that kind.

    Class masses are not matched: labels that someone happened to give say little about the classes' sizes.
    """
    from .estimators import LabelPropagation
    from .text import DEFAULTS

    if alpha is None:
        alpha = DEFAULTS["alpha"] if features.kind in ("text", "counts") else 0.9
    return LabelPropagation(
        **settings.parameters(features), alpha=alpha, mode="spread", class_mass_normalization=False
    )


def encode(labels: Sequence[str | None]) -> tuple[list[str], NDArray[np.intp]]:  # (k,), (N,)
    """The classes in order, and each point's index among them, −1 where there is no label."""
    classes = sorted({label for label in labels if label is not None})
    index: dict[str | None, int] = {label: k for k, label in enumerate(classes)}
    return classes, np.array([index.get(label, -1) for label in labels], np.intp)


@dataclass(frozen=True, eq=False)
class Labelling:
    """One row a document: its label, how sure that is, and what else it could be."""

    labels: list[str]
    confidence: Float  # (N,) weight of the label among all classes, 0 to 1; a given label has 1
    runner_up: list[str]  # the second choice; "" for a given label, or where there is one class
    entropy: Float  # (N,) of the classes' weights, nats: 0 is sure, log k undecided
    given: NDArray[np.bool_]  # (N,)

    @classmethod
    def of(cls, P: Float, classes: Sequence[str], codes: NDArray[np.intp] | None = None) -> Labelling:
        """From the classes' weights, rows of P that sum to 1, and the given labels, which are kept."""
        n_points = len(P)
        codes = np.full(n_points, -1, np.intp) if codes is None else codes
        given = codes >= 0
        first = P.argmax(axis=1)
        confidence = np.where(given, 1.0, P[np.arange(n_points), first])
        second = _second(P, first)
        first = np.where(given, codes, first)
        second = np.where(given, -1, second)
        names = [*classes, ""]  # −1 is the last
        return cls(
            [names[k] for k in first],
            confidence,
            [names[k] for k in second],
            np.where(given, 0.0, entr(P).sum(axis=1)),
            given,
        )

    def columns(self, ids: Sequence[str]) -> dict[str, Any]:
        """The table to write, in the documents' order."""
        return {
            "id": ids,
            "label": self.labels,
            "confidence": np.round(self.confidence, 6),
            "runner_up": self.runner_up,
            "entropy": np.round(self.entropy, 6),
            "given": self.given,
        }

    def counts(self, classes: Sequence[str]) -> list[tuple[str, int, int, float | None]]:
        """Of every class: how many were given, how many predicted, and their mean confidence."""
        place = {name: k for k, name in enumerate(classes)}
        code = np.array([place[label] for label in self.labels], np.intp)
        given = np.bincount(code[self.given], minlength=len(classes))
        rest = ~self.given
        predicted = np.bincount(code[rest], minlength=len(classes))
        total = np.bincount(code[rest], self.confidence[rest], minlength=len(classes))
        return [
            (name, int(given[k]), int(predicted[k]), float(total[k] / predicted[k]) if predicted[k] else None)
            for k, name in enumerate(classes)
        ]


def _second(P: Float, first: NDArray[np.intp]) -> NDArray[np.intp]:  # (N,)
    """The class of next largest weight, −1 where there is only one."""
    if P.shape[1] < 2:
        return np.full(len(P), -1, np.intp)
    others = P.copy()
    others[np.arange(len(P)), first] = -1.0
    return np.asarray(others.argmax(axis=1))
