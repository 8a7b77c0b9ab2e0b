"""The table that comes out: per document its label, how sure that is, and what else it could be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from .._support.arrays import Float
from ..documents.files.table import Column
from ..stacking import Reasons

NAMES = (
    "id",
    "label",
    "confidence",
    "runner_up",
    "entropy",
    "given",
    "novelty",
    "because",
)  # of columns that are ours
LEAST_SHARE = 0.005  # of a reason that is shown: it rounds to a percent


@dataclass(frozen=True, eq=False)
class Labeling:
    """One row per document: its label, how sure that is, and what else it could be."""

    labels: list[str]
    confidence: Float  # (N,) weight of the label among all classes, 0 to 1; a given label has 1
    runner_up: list[str]  # the second choice; "" for a given label, or where there is one class
    entropy: Float  # (N,) of the classes' weights, nats: 0 is sure, log k undecided
    given: NDArray[np.bool_]  # (N,)
    novelty: Float | None = None  # (N,) 0 to 1, how unlike all classes

    @classmethod
    def of(cls, P: Float, classes: Sequence[str], codes: NDArray[np.intp] | None = None) -> Labeling:
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

    def with_novelty(self, novelty: Float, reject: float | None = None, unknown: str = "") -> Labeling:
        """The same and, above 1 − reject, ``unknown`` for predicted labels, which become the runner-up."""
        if reject is None:
            return replace(self, novelty=novelty)
        rejected = (novelty > 1 - reject) & ~self.given
        chosen = list(zip(self.labels, self.runner_up, rejected, strict=True))
        labels = [unknown if no else label for label, _, no in chosen]
        runner_up = [label if no else second for label, second, no in chosen]
        return replace(self, labels=labels, runner_up=runner_up, novelty=novelty)

    def columns(self, ids: Sequence[str]) -> dict[str, Column]:
        """The table to write, in the documents' order."""
        return {
            "id": ids,
            "label": self.labels,
            "confidence": np.round(self.confidence, 6),
            "runner_up": self.runner_up,
            "entropy": np.round(self.entropy, 6),
            "given": self.given,
            **({} if self.novelty is None else {"novelty": np.round(self.novelty, 6)}),
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


def kept_columns(columns: Mapping[str, Column] | None) -> dict[str, Column]:
    """The input's columns to be written after ours; one whose name is ours gets "_input" after it."""
    columns = columns or {}
    renamed = {name: f"{name}_input" if name in NAMES else name for name in columns}
    for name, new in renamed.items():
        if new != name and new in columns:
            raise ValueError(
                f'the column "{name}" of the input would be kept as "{new}", which is there, too; rename one'
            )
    return {renamed[name]: cells for name, cells in columns.items()}


def _second(P: Float, first: NDArray[np.intp]) -> NDArray[np.intp]:  # (N,)
    """The class of next largest weight, −1 where there is only one."""
    if P.shape[1] < 2:
        return np.full(len(P), -1, np.intp)
    others = P.copy()
    others[np.arange(len(P)), first] = -1.0
    return np.asarray(others.argmax(axis=1))


@dataclass(frozen=True, eq=False)
class ReasonTexts:
    """In words, part by part of the blend, what led to each document's label."""

    found: Reasons
    ids: Sequence[str]  # (N,)
    given: NDArray[np.bool_]  # (N,)
    features: Sequence[str] | None = None  # (d,) names of the columns of X
    kind: str = "columns"  # or "words"

    def all(self) -> list[str]:  # (N,)
        """Of each document, "" where its label was given.

        'words 48 %: goal (21 %), team (9 %); neighbors 40 %; walk 12 %: mail 12 (7 %)': all are shares of
        the same whole, and the parts' sum to 1.
        """
        names, parts = list(self.found.parts), np.column_stack(list(self.found.parts.values()))
        return [
            "" if given else "; ".join(self._told(i, names[p], parts[i, p]) for p in _largest(parts[i]))
            for i, given in enumerate(self.given)
        ]

    def _told(self, i: int, part: str, share: float) -> str:
        name = {"linear": self.kind, "neighbors": "neighbors"}.get(part, part)
        found, named = self.found, []
        if part == "walk":
            named = [(self.ids[j], s) for j, s in _named(found.points[i], found.point_shares[i])]
        elif part == "linear":
            named = [(self._feature(j), s) for j, s in _named(found.features[i], found.feature_shares[i])]
        shares = ", ".join(f"{who} ({100 * share:.0f} %)" for who, share in named)
        return f"{name} {100 * share:.0f} %" + (f": {shares}" if shares else "")

    def _feature(self, j: int) -> str:
        names = self.features or ()
        return names[j] if j < len(names) else f"column {j + 1}"


def _largest(shares: Float) -> list[int]:
    """Places of the shares that round to a percent, the largest first."""
    return [int(p) for p in np.argsort(-shares, kind="stable") if shares[p] >= LEAST_SHARE]


def _named(index: NDArray[np.intp], shares: Float) -> list[tuple[int, float]]:
    return [(int(index[p]), float(shares[p])) for p in _largest(shares) if index[p] >= 0]
