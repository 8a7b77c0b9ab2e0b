"""Groups of points that are like no class that has labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .._support.arrays import Float, Index, checked_integer
from .._support.sparse import Points, is_sparse
from ..lifting import Views
from ..stacking import rows_of_lifted
from ..walks.grouping import grouped_points

if TYPE_CHECKING:
    from .label_propagation import LabelPropagation

NOVEL = 0.9  # novelty from which a point counts as like no class
FINER = 2.5  # groups that are made for each that is named: the smaller ones are mixed
N_TERMS = 8


@dataclass(frozen=True, eq=False)
class UnnamedClass:
    """Points that are like each other and like no class that has labels."""

    points: Index  # (size,), the most typical first
    novelty: float  # their mean
    terms: tuple[str, ...] = ()  # words of theirs and of few others, where words are known

    @property
    def size(self) -> int:
        """Number of its points."""
        return len(self.points)


def unnamed_classes(model: LabelPropagation, n: int) -> list[UnnamedClass]:
    """See ``LabelPropagation.unnamed_classes``."""
    n = checked_integer(n, "n", 1)
    novelty = model.novelty_
    chosen = (novelty > NOVEL) & (model.codes_ < 0)
    groups = grouped_points(model.operator_, chosen, round(FINER * n))[:n]
    terms = model._terms
    X = _words(model) if terms is not None and groups else None
    if X is None or terms is None:
        return [UnnamedClass(g, float(novelty[g].mean())) for g in groups]
    return [UnnamedClass(g, float(novelty[g].mean()), _terms_of(X, terms, g)) for g in groups]


def _words(model: LabelPropagation) -> Points:
    """The columns that terms stand for: all, or those of the sparse views."""
    X = rows_of_lifted(model.operator_.lifted)
    if not isinstance(X, Views):
        return X
    widths = {name: view["n_features"] for name, view in model.views_.items()}
    stored = [block[:, : widths[name]] for name, block in X.blocks.items() if is_sparse(block)]
    return sparse.csr_array(sparse.hstack(stored, format="csr"))


def _terms_of(X: Points, terms: tuple[str, ...], members: Index) -> tuple[str, ...]:
    """Terms whose mean weight inside exceeds that of all points most."""
    inside = np.asarray(sparse.csr_array(X[members]).mean(axis=0)).ravel()
    more: Float = inside - np.asarray(X.mean(axis=0)).ravel()
    best = np.argsort(-more, kind="stable")[:N_TERMS]
    return tuple(terms[j] for j in best if more[j] > 0)
