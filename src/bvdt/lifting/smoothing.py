"""The baseline e of x' = x + e, which moves zero counts inside the domain; measured in docs/choices.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Float
from .._support.robust import ordinary_rows
from .._support.sparse import Points, is_sparse
from ..divergences import BregmanDivergence
from ..divergences.likelihood import likeliest_smoothing
from .points import extremes

FEW_ZEROS = 0.1  # from this share of nonzero entries on, a zero is a small value rather than an absence


class Facts(Protocol):
    """What smoothing asks of the data: of an array at hand (``DataFacts``), or of data in many places."""

    @property
    def n_features(self) -> int: ...

    def extremes(self) -> tuple[float, float]:
        """Least and greatest value."""

    def nonzero_share(self) -> float:
        """Share of the entries that are not zero."""

    def ordinary_means(self) -> Float:  # (d,)
        """Mean of each feature over the ordinary rows."""


@dataclass(frozen=True, eq=False)
class DataFacts:
    """The facts of an array or a sparse matrix."""

    X: Points  # (N, d)
    width: int | None = None  # features that X leaves out counted in

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def extremes(self) -> tuple[float, float]:
        return extremes(self.X)

    def nonzero_share(self) -> float:
        return nonzero_share(self.X, self.width)

    def ordinary_means(self) -> Float:  # (d,)
        return np.asarray(ordinary_rows(self.X).mean(axis=0), dtype=float).ravel()


def resolve_smoothing(
    X: Points, divergence: BregmanDivergence, smoothing: float | str | ArrayLike, width: int | None = None
) -> Float:  # (d,)
    """The baseline of every feature; zeros for none. ``width`` counts features that X leaves out, too."""
    if isinstance(smoothing, str) and smoothing == "likelihood":
        return _given(likeliest_smoothing(divergence, X), X.shape[1])
    return smoothing_from(DataFacts(X, width), divergence, smoothing)


def smoothing_from(
    facts: Facts, divergence: BregmanDivergence, smoothing: float | str | ArrayLike
) -> Float:  # (d,)
    """``resolve_smoothing`` of data that are known by their facts."""
    n_features = facts.n_features
    if isinstance(smoothing, str) and smoothing == "likelihood":
        raise ValueError('smoothing="likelihood" needs all data in one place; give the number it chose there')
    if isinstance(smoothing, str) and smoothing not in ("auto", "background"):
        raise ValueError(
            f'smoothing needs a number, an array, "background", "likelihood" or "auto"; got {smoothing!r}'
        )
    if divergence.translation_invariant:
        return np.zeros(n_features)  # a shift of all points changes no divergence
    if isinstance(smoothing, str) and smoothing == "auto":
        inside = divergence.domain.contains(facts.extremes()).all()
        smoothing = 0.0 if inside or divergence.auto_smoothing is None else divergence.auto_smoothing
        if not inside and divergence.dense_smoothing is not None and facts.nonzero_share() > FEW_ZEROS:
            smoothing = divergence.dense_smoothing * float(facts.ordinary_means().mean())
    if isinstance(smoothing, str):
        return divergence.background(facts.ordinary_means())
    return _given(smoothing, n_features)


def nonzero_share(X: Points, width: int | None = None) -> float:
    """Share of the entries that are not zero, however X is stored, of so many columns."""
    nonzero = X.count_nonzero() if is_sparse(X) else np.count_nonzero(X)
    return float(nonzero / (X.shape[0] * (width or X.shape[1])))


def _given(smoothing: float | ArrayLike, n_features: int) -> Float:
    try:
        e = np.asarray(smoothing, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"smoothing needs numbers; got {smoothing!r}") from None
    if e.ndim > 0 and e.shape != (n_features,):
        raise ValueError(
            f"smoothing needs shape ({n_features},), one value per feature; its shape is {e.shape}"
        )
    e = np.broadcast_to(e, (n_features,)).copy()
    wrong = ~(np.isfinite(e) & (e >= 0))
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ValueError(f"smoothing needs finite values >= 0; smoothing[{j}] = {e[j]:g}")
    return e
