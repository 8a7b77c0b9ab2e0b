"""Who may see which label: scores have one slice per fold, in which its labels are hidden, and a last one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Index, Mask
from .._support.running import RandomState
from ..walks.folds import label_folds

N_FOLDS = 5
Single = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Folds:
    """Labels in slices: slice f < n_folds hides the labels of fold f, the last slice hides none.

    Scores of all experts are (N, n_slices, k) arrays; ``hidden(Z)`` are the rows whose label was predicted
    without itself.
    """

    n_points: int
    n_classes: int
    labeled: Index  # (n,) points
    codes: Index  # (n,) their classes
    fold: Index  # (n,) −1 for a class's only label, which is never hidden
    n_folds: int  # 0 where no label can be hidden
    weight: Float  # (n,) > 0: a label of weight 2 counts as two labels of its point

    @classmethod
    def of(
        cls,
        codes: Index,  # (N,), −1 for the unlabeled
        n_classes: int,
        n_folds: int = N_FOLDS,
        random_state: RandomState = 0,
        earlier: Folds | None = None,
        weight: Float | None = None,  # (N,), 1 where none are given
    ) -> Folds:
        """Drawn at random, each class spread evenly; labels of ``earlier`` folds stay where they were."""
        fold, n_folds = label_folds(codes, n_folds, random_state)
        if earlier is not None and earlier.n_points == len(codes) and earlier.n_folds == n_folds:
            fold = earlier._joined_by(codes, fold)
        labeled = np.flatnonzero(codes >= 0)
        n_folds = n_folds if (fold[labeled] >= 0).any() else 0
        weight = np.ones(len(codes)) if weight is None else weight
        return cls(len(codes), n_classes, labeled, codes[labeled], fold[labeled], n_folds, weight[labeled])

    @classmethod
    def none(cls, codes: Index, n_classes: int, weight: Float | None = None) -> Folds:
        """One slice, which sees all labels."""
        labeled = np.flatnonzero(codes >= 0)
        weight = np.ones(len(labeled)) if weight is None else weight[labeled]
        never = np.full(len(labeled), -1, np.intp)
        return cls(len(codes), n_classes, labeled, codes[labeled], never, 0, weight)

    def _joined_by(self, codes: Index, fold: Index) -> Index:  # (N,) ×2 -> (N,)
        """Folds that keep this object's: a slice's earlier solution has then seen none of its hidden labels.

        A label that is new goes to the fold in which its class is rarest.
        """
        kept = np.full(self.n_points, -1, np.intp)
        same = codes[self.labeled] == self.codes
        kept[self.labeled[same]] = self.fold[same]
        fold = np.where((kept >= 0) & (fold >= 0), kept, fold)
        for point in np.flatnonzero((kept < 0) & (fold >= 0)):
            mates = fold[(codes == codes[point]) & (kept >= 0)]
            fold[point] = kept[point] = np.bincount(mates, minlength=self.n_folds).argmin()
        return self._no_class_hidden_whole(codes, fold)

    def _no_class_hidden_whole(self, codes: Index, fold: Index) -> Index:
        """A class whose labels all lie in one fold, as others were withdrawn, gives one to the next."""
        for k in np.unique(codes[fold >= 0]):
            mates = np.flatnonzero((codes == k) & (fold >= 0))
            if len(mates) == np.count_nonzero(codes == k) and (fold[mates] == fold[mates[0]]).all():
                fold[mates[0]] = (fold[mates[0]] + 1) % self.n_folds
        return fold

    @property
    def n_slices(self) -> int:
        return self.n_folds + 1

    @property
    def tested(self) -> Mask:  # (n,)
        """Which labels are hidden once."""
        return np.asarray(self.fold >= 0)

    def of_points(self) -> tuple[Index, int]:  # (N,), number
        """The fold of every point, −1 for those never hidden, as ``bvdt.walks.folds.label_folds`` gives."""
        fold = np.full(self.n_points, -1, np.intp)
        fold[self.labeled] = self.fold
        return fold, self.n_folds

    def sees(self) -> Mask:  # (n, n_slices)
        """Whether a slice may use a label."""
        return np.asarray(self.fold[:, None] != np.arange(self.n_slices))

    def clamp(self, P: Single) -> Single:  # (N, n_slices, k), in place
        """P with the labels that each slice may see; one of weight below 1 takes that share of its row."""
        one = np.eye(self.n_classes, dtype=P.dtype)[self.codes]
        share = (self.sees() * np.minimum(self.weight, 1.0)[:, None])[:, :, None].astype(P.dtype)
        P[self.labeled] = share * one[:, None, :] + (1 - share) * P[self.labeled]
        return P

    def targets(self) -> Single:  # (N, n_slices, k)
        """The label's weight at its class where it may be seen, 0 elsewhere."""
        Y = np.zeros((self.n_points, self.n_slices, self.n_classes), np.float32)
        Y[self.labeled, :, self.codes] = self.sees() * self.weight[:, None]
        return Y

    def hidden(self, Z: NDArray[Any]) -> NDArray[Any]:  # (N, n_slices, k) -> (n_tested, k)
        """Rows of the labels that are hidden once, each from the slice that hides it."""
        return np.asarray(Z[self.labeled[self.tested], self.fold[self.tested]])

    def hidden_codes(self) -> Index:  # (n_tested,)
        return np.asarray(self.codes[self.tested])

    def class_counts(self) -> NDArray[np.float64]:  # (n_slices, k)
        """Weight of the labels per class that each slice may see."""
        one = np.eye(self.n_classes)[self.codes] * self.weight[:, None]
        return np.stack([one[seen].sum(axis=0) for seen in self.sees().T])
