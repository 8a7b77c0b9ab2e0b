"""What the documents' classes are believed to be: at once from the walk, soon after from the blend.

The walk is linear in the labels, so a new label costs one solve with one column, whatever the number of
labels. The blend (theory: Blending experts) knows more and takes longer. Between two blends the newest
labels count by what they change in the walk:

    P = P_blend + (P_walk − P_walk at the time of the blend),   cut off at 0, rows scaled to sum to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Index
from .._support.sparse import Operator
from ..walks import balance_divisor, class_distributions, solve_spread, symmetrized

TOL = 1e-3  # of a column's solve
NONE = np.uint16(0xFFFF)  # no class


@dataclass(frozen=True, eq=False)
class Guesses:
    """Distributions over the classes for given labels; ``codes`` are the labels they come from."""

    codes: Index  # (N,), −1 for the unlabeled
    P: Float  # (N, k); k = 0 without labels

    @property
    def best(self) -> NDArray[np.uint16]:  # (N,)
        """Most probable class of each document, a given label itself; NONE without labels."""
        if not self.P.shape[1]:
            return np.full(len(self.codes), NONE)
        return np.where(self.codes >= 0, self.codes, self.P.argmax(axis=1)).astype(np.uint16)

    def confidence(self) -> Float:  # (N,)
        return self.P.max(axis=1) if self.P.shape[1] else np.zeros(len(self.codes))


@dataclass(eq=False)
class LiveWalk:
    """Scores of label spreading that follow the labels: only the columns that changed are solved."""

    op: Operator
    alpha: float
    codes: Index = field(init=False)
    scores: Float = field(init=False)  # (N, k)

    def __post_init__(self) -> None:
        self._S = symmetrized(self.op)
        self.codes = np.full(self.op.shape[0], -1, np.intp)
        self.scores = np.zeros((len(self.codes), 0))

    def follow(self, codes: Index, n_classes: int) -> Guesses:
        """Distributions for these labels."""
        if n_classes > self.scores.shape[1]:
            more = np.zeros((len(codes), n_classes - self.scores.shape[1]))
            self.scores = np.hstack([self.scores, more])
        changed = np.flatnonzero(codes != self.codes)
        if len(changed):
            self._add(changed, codes)
        self.codes = codes.copy()
        counts = np.bincount(codes[codes >= 0], minlength=n_classes).astype(float)
        if not counts.any():
            self.scores[:] = 0.0  # what rounding left of labels that were taken back
            return Guesses(self.codes, np.zeros((len(codes), 0)))
        scores = self.scores[:, :n_classes]
        P = class_distributions(scores / balance_divisor(scores, counts), counts / counts.sum())
        return Guesses(self.codes, _with_labels(P, codes))

    def _add(self, changed: Index, codes: Index) -> None:
        """S's solution for what was added and taken away, by class."""
        touched = np.unique(np.concatenate([codes[changed], self.codes[changed]]))
        touched = touched[touched >= 0]
        Y = np.zeros((len(codes), len(touched)), np.float32)
        for column, label in enumerate(touched):
            Y[changed, column] = (codes[changed] == label).astype(np.float32) - (self.codes[changed] == label)
        F, _ = solve_spread(self._S, Y, self.alpha, tol=TOL)
        F = self._S.extended(F, self.alpha, Y)
        self.scores[:, touched] = np.maximum(self.scores[:, touched] + F, 0.0)


def brought_up_to_date(blend: Guesses, walk_then: Guesses, walk_now: Guesses) -> Guesses:
    """The blend's distributions with what newer labels changed in the walk."""
    k = walk_now.P.shape[1]
    if not k or not blend.P.shape[1]:
        return walk_now
    P = np.zeros_like(walk_now.P)
    P[:, : min(k, blend.P.shape[1])] = blend.P[:, :k]
    then = np.zeros_like(P)
    then[:, : min(k, walk_then.P.shape[1])] = walk_then.P[:, :k]
    P = np.maximum(P + walk_now.P - then, 0.0)
    total = P.sum(axis=1, keepdims=True)
    P = np.where(total > 0, P / np.where(total > 0, total, 1.0), walk_now.P)
    return Guesses(walk_now.codes, _with_labels(P, walk_now.codes))


def _with_labels(P: Float, codes: Index) -> Float:
    given = np.flatnonzero(codes >= 0)
    P[given] = 0.0
    P[given, codes[given]] = 1.0
    return P
