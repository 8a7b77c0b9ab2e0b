"""Which divergence describes the data: families compared by the likelihood of rows they have not seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import logsumexp

from .._support.arrays import Float, Index, checked_integer
from .._support.running import generator
from .._support.sparse import Points, PointsLike, is_sparse
from .base import BregmanDivergence
from .cells import LARGEST, cell_fits
from .family import Support
from .likelihood import center_divergences, dense_chunks, kernels, log_base_rows
from .negative_binomial import NegativeBinomial, R
from .scores import Scores
from .table1 import Mahalanobis, SquaredEuclidean
from .transforms import TRANSFORMS, on_plane

HELD_OUT = 5  # one row of so many is held out
_MAHALANOBIS = 30  # features up to which it is a candidate by itself


@dataclass(frozen=True, eq=False)
class Candidate:
    """A divergence at its best smoothing and bandwidth, and the log-likelihood per row, in nats."""

    name: str
    divergence: BregmanDivergence  # with what it learned from the data
    family: str
    smoothing: float  # of the kernels, as a walk takes it
    bandwidth: float
    kernels: float  # each row under kernels at the others, Eq. (17)
    one_component: float  # each row under one component at the mean of the others
    held_out: float  # rows of a fifth of the data under the likelier of the two, fitted to the rest
    score: float  # of all rows, less ½·log n per number that was fitted: what candidates are ranked by
    accuracy: float  # of labels, each given by the kernels at the other rows; NaN without labels
    note: str = ""  # why there is no likelihood, or what a walk has to be given


class Comparison(Sequence[Candidate]):
    """Candidates, the likeliest first; those without a comparable likelihood last. Prints as a table."""

    def __init__(self, candidates: Sequence[Candidate], base: str, note: str = "") -> None:
        self.base = base  # "probability" of whole numbers, or "density"
        self.note = note  # on the data
        self._candidates = sorted(candidates, key=lambda c: -c.score if np.isfinite(c.score) else np.inf)

    @property
    def best(self) -> Candidate:
        """The likeliest; ValueError where none has a likelihood."""
        if not np.isfinite(self._candidates[0].score):
            raise ValueError(f"none of these has a likelihood of such data: {self._candidates[0].note}")
        return self._candidates[0]

    def __getitem__(self, i: Any) -> Any:
        return self._candidates[i]

    def __len__(self) -> int:
        return len(self._candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._candidates)

    def __repr__(self) -> str:
        head = (
            "divergence",
            "family",
            "smoothing",
            "bandwidth",
            "kernels",
            "one component",
            "held out",
            "score",
        )
        labeled = any(np.isfinite(c.accuracy) for c in self)
        rows: list[tuple[str, ...]] = [(*head, "accuracy") if labeled else head]
        for c in self:
            figures = [f"{value:.2f}" for value in (c.kernels, c.one_component, c.held_out, c.score)]
            figures += [f"{c.accuracy:.3f}"] * labeled
            cells = (c.name, c.family, f"{c.smoothing:g}", f"{c.bandwidth:.3g}", *figures)
            rows.append(tuple("–" if cell == "nan" else cell for cell in cells))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
        ]
        notes = [f"{c.name}: {c.note}" for c in self if c.note] + [self.note] * bool(self.note)
        return "\n".join([f"log-{self.base} per row, nats", *(line.rstrip() for line in lines), *notes])


def compare(
    X: PointsLike,
    candidates: Sequence[str | BregmanDivergence] | None = None,
    y: ArrayLike | None = None,
    *,
    n_rows: int = 1000,
    random_state: Any = None,
) -> Comparison:
    """Rank divergences by how likely their exponential families make the data; no label is needed.

    A family is fitted twice: as the kernel density of Eq. (17), with centers at the rows, smoothing and
    bandwidth chosen by the leave-one-out likelihood; and as one component at the mean. The likelier counts,
    by its score: the mean over four fifths of the rows, each left out, and the fifth that is held out, less
    ½·log n/n for each number that was fitted. All are compared on one base measure: whole numbers by their
    probability, a Gaussian integrated over cells of width 1; other numbers by their density, rounded ones
    spread evenly over their steps.

    Parameters
    ----------
    X : (N, d) array, sparse matrix or DataFrame of numbers.
    candidates : names of ``bvdt.divergences.get``, instances, "log_normal" (a Gaussian of logarithms) or
        "log_ratio" (the same for rows that sum to 1). None: those that fit the data's kind.
    y : (N,) labels; −1, "", NaN or None for none. With them each candidate's accuracy is shown, by the
        kernels at the other rows.
    n_rows : rows that are drawn from more.
    random_state : seed of that draw.

    Examples
    --------
    >>> import numpy as np
    >>> from bvdt.divergences import compare
    >>> counts = np.random.default_rng(0).poisson(3.0, (300, 10))
    >>> compare(counts).best.name
    'gid'
    """
    if isinstance(candidates, str | BregmanDivergence):
        candidates = [candidates]
    if candidates is not None and not len(candidates):
        raise ValueError("compare needs at least one candidate, or None for those that fit the data")
    X = _points(X)
    labels = None if y is None else _labels(y, X.shape[0])
    n_rows = checked_integer(n_rows, "n_rows", 2 * HELD_OUT)
    chosen = generator(random_state).permutation(X.shape[0])[:n_rows]
    kind = _Kind(X)
    fold = len(chosen) // HELD_OUT
    test, train = np.sort(chosen[:fold]), np.sort(chosen[fold:])
    known = None if labels is None else labels[train]
    names = kind.candidates() if candidates is None else candidates
    note = _note_of_copies(X[train])
    if not (kind.whole or kind.simplex or is_sparse(X)):
        X = _spread(X, generator(random_state))
    found = [_compared(name, kind, X[train], X[test], known) for name in names]
    return Comparison(found, "probability" if kind.whole else "density", note)


# -- the data's kind ----------------------------------------------------------------------------------------


class _Kind:
    """Whole numbers, rows that sum to 1, positive numbers, or any."""

    def __init__(self, X: Points) -> None:
        values = X.data if is_sparse(X) else X
        self.least = min(float(values.min(initial=0.0)), 0.0) if is_sparse(X) else float(X.min())
        sums = np.asarray(X.sum(axis=1), float).ravel()
        self.whole = self.least >= 0 and bool((np.rint(values) == values).all())
        self.greatest = float(values.max(initial=0.0))
        self.binary = self.whole and self.greatest <= 1
        self.simplex = (
            X.shape[1] > 1
            and not self.whole
            and self.least >= 0
            and bool(np.allclose(sums, 1.0, rtol=0, atol=1e-6))
        )
        self.one_length = self.whole and bool(np.ptp(sums) == 0 and sums[0] > 0)
        self.narrow = not is_sparse(X) and 2 <= X.shape[1] <= min(_MAHALANOBIS, X.shape[0] // 10)

    def candidates(self) -> list[str]:
        """Names of what such data are usually described by."""
        if self.whole:
            names = ["gid", "negative_binomial", "squared_euclidean"]
            return names + ["multinomial"] * self.one_length + ["logistic"] * self.binary
        if self.simplex:
            return ["squared_euclidean", "kl"] + ["log_ratio"] * (self.least > 0)
        names = ["squared_euclidean"] + ["mahalanobis"] * self.narrow
        return names + ["itakura_saito", "log_normal"] * (self.least > 0)


def _points(X: PointsLike) -> Points:
    if hasattr(X, "blocks"):
        raise ValueError("compare takes one matrix: compare each of the views")
    if is_sparse(X):
        stored = sparse.csr_array(X, dtype=np.float64)
        mostly = 3 * stored.nnz > 2 * stored.shape[0] * stored.shape[1]
        points: Points = stored.toarray() if mostly else stored
    else:
        try:
            points = np.asarray(X).astype(np.float64, casting="same_kind" if np.iscomplexobj(X) else "unsafe")
        except (TypeError, ValueError):
            raise ValueError("compare needs a matrix of real numbers; X has other values") from None
    if points.ndim != 2 or points.shape[0] < 2 * HELD_OUT or points.shape[1] < 1:
        raise ValueError(f"compare needs {2 * HELD_OUT} rows of features or more; X has shape {points.shape}")
    if not np.isfinite(points.data if is_sparse(points) else points).all():
        raise ValueError("compare needs finite values, neither NaN nor inf, in X")
    return points


def _labels(y: ArrayLike, n_points: int) -> Index:
    """Codes of the classes, −1 for none."""
    labels = np.asarray(y, dtype=object)
    if labels.shape != (n_points,):
        raise ValueError(f"y needs {n_points} labels, one per row of X; its shape is {labels.shape}")
    codes: dict[object, int] = {}
    none = [label is None or label == "" or label == -1 or label != label for label in labels.tolist()]
    return np.array(
        [
            -1 if skip else codes.setdefault(label, len(codes))
            for label, skip in zip(labels, none, strict=True)
        ]
    )


def _spread(X: Float, rng: np.random.Generator) -> Float:
    """Rounded columns with each value anywhere within its step, as a density asks."""
    X = X.copy()
    for column in X.T:
        values = np.unique(column)
        if 2 * len(values) <= len(column) and len(values) > 1:
            step = float(np.diff(values).min())
            moved = column + step * (rng.random(len(column)) - 0.5)
            column[:] = np.where((moved > 0) == (column > 0), moved, column)
    return X


def _note_of_copies(X: Points) -> str:
    rows = X.toarray() if is_sparse(X) and X.shape[1] <= 1000 else X
    if is_sparse(rows):
        return ""
    n_copies = len(rows) - len(np.unique(rows, axis=0))
    if 20 * n_copies < len(rows) or X.shape[1] == 1:
        return ""
    return f"{n_copies} of {len(rows)} rows are copies: kernels at them are likelier than new rows will be"


# -- one candidate ------------------------------------------------------------------------------------------


def _compared(
    name: str | BregmanDivergence, kind: _Kind, train: Points, test: Points, labels: Index | None
) -> Candidate:
    from . import get

    label = name if isinstance(name, str) else repr(name)
    if label in TRANSFORMS:
        change = TRANSFORMS[label]
        if kind.whole or kind.least <= 0 or (label == "log_ratio" and not kind.simplex):
            return _without(label, SquaredEuclidean(), f"{label} needs {change.requirement}")
        moved = [change.apply(x) for x in (train, test)]
        jacobians = change.log_jacobian(train), change.log_jacobian(test)
        fits = [fit.plus(*jacobians) for fit in _fits(SquaredEuclidean(), moved[0], moved[1])]
        found = _candidate(label, fits, change.family, moved[0], labels)
        return replace(found, note=f"smoothing and bandwidth are of {change.of}")
    try:
        given = get(name)
    except ValueError:
        raise ValueError(
            f"compare needs {', '.join(TRANSFORMS)} or a name of bvdt.divergences.get; got {name!r}"
        ) from None
    divergence = given
    if kind.simplex and divergence.name == "squared_euclidean":  # a density on the plane of sum 1
        train, test = on_plane(train), on_plane(test)
    if divergence.name in ("gid", "kl") and kind.simplex:
        return _without(label, divergence, "no family with a density on rows that sum to 1")
    try:
        divergence, train = divergence.prepare(train)
        test = divergence.prepare(test)[1]
    except ValueError as error:
        return _without(label, divergence, str(error))
    family = divergence.family
    if family is None:
        return _without(label, divergence, f"{divergence.name} has no exponential family")
    learned = divergence is not given
    if kind.whole and isinstance(divergence, SquaredEuclidean) and family.name == "Gaussian":
        if kind.greatest <= LARGEST:
            return _candidate(label, cell_fits(divergence, train, test), "Gaussian over cells", train, labels)
        train, test = (x.toarray() if is_sparse(x) else x for x in (train, test))
        fits = _fits(divergence, train, test)
        return _candidate(label, fits, "Gaussian", train, labels)
    reason = _not_comparable(family.support, kind, train)
    if reason:
        return _without(label, divergence, reason)
    return _candidate(label, _fits(divergence, train, test, learned), family.name, train, labels)


def _not_comparable(support: Support, kind: _Kind, X: Points) -> str:
    values = X.data if is_sparse(X) else X
    if kind.whole and not support.discrete:
        return "its density is no probability of whole numbers"
    if not support.contains(values).all() or (is_sparse(X) and not support.contains(np.zeros(1)).all()):
        return f"its family has {support.requirement} only"
    return ""


def _candidate(label: str, fits: list[Scores], family: str, train: Points, labels: Index | None) -> Candidate:
    at_rows, alone = fits
    better = max(fits, key=lambda fit: fit.score)
    return Candidate(
        label,
        at_rows.divergence,
        family,
        at_rows.smoothing,
        at_rows.bandwidth,
        float(at_rows.left_out.mean()),
        float(alone.left_out.mean()),
        float(better.held_out.mean()),
        better.score,
        _accuracy(at_rows, train, labels),
    )


def _without(label: str, divergence: BregmanDivergence, note: str) -> Candidate:
    nan = float("nan")
    return Candidate(label, divergence, "–", nan, nan, nan, nan, nan, nan, nan, note)


def _fits(divergence: BregmanDivergence, train: Points, test: Points, learned: bool = False) -> list[Scores]:
    """As kernels at the rows, and as one component."""
    fit = kernels(divergence, train)
    d = center_divergences(divergence, test, train, fit.smoothing) / fit.bandwidth
    held = logsumexp(-d, axis=1) - np.log(train.shape[0]) + log_base_rows(divergence, test, fit.bandwidth)
    family, own = divergence.family, _n_fitted(divergence) if learned else 0
    disperse = int(family is not None and family.dispersion is not None)
    n_fitted = own + disperse + int(fit.smoothing > 0)
    as_kernels = Scores(divergence, fit.smoothing, fit.bandwidth, fit.rows, held, n_fitted)
    if not (learned and isinstance(divergence, NegativeBinomial)):
        return [as_kernels, _one_component(divergence, train, test, own + disperse)]

    from scipy.optimize import minimize_scalar  # here, so that ``import bvdt`` stays light

    def alone(log_r: float) -> Scores:
        return _one_component(NegativeBinomial(float(np.exp(log_r))), train, test, own)

    found = minimize_scalar(
        lambda log_r: -alone(log_r).left_out.sum(), bounds=np.log(R)[[0, -1]], method="bounded"
    )
    return [as_kernels, alone(found.x)]


def _n_fitted(divergence: BregmanDivergence) -> int:
    """Numbers that the divergence learned from the data."""
    if isinstance(divergence, Mahalanobis) and divergence.precision is not None:
        return len(divergence.precision) * (len(divergence.precision) + 1) // 2 - 1  # beside the scale
    return int(divergence.name == "negative_binomial")


def _one_component(divergence: BregmanDivergence, train: Points, test: Points, n_fitted: int) -> Scores:
    """One density for all rows, at the mean of the others: what kernels have to surpass.

    Counts have one more row in that mean, of the same number everywhere: no mean is 0.
    """
    n_points, n_features = train.shape
    total = np.asarray(train.sum(axis=0), float).ravel()
    family, high = divergence.family, divergence.domain.high
    assert family is not None
    more = int(family.support.discrete)
    even = 0.5 * high if np.isfinite(high) else max(float(total.mean()), 1.0 / n_features) / n_points
    total = total + more * even
    inside = [divergence.div(x, (total - x) / (n_points - 1 + more)) for x in dense_chunks(train)]
    outside = [divergence.div(x, total / (n_points + more)) for x in dense_chunks(test)]
    d, beta = np.concatenate(inside), 1.0
    if family.dispersion is not None and d.any():
        beta = family.dispersion.fitted(float(d.mean()) / n_features)
    left = -d / beta + log_base_rows(divergence, train, beta)
    held = -np.concatenate(outside) / beta + log_base_rows(divergence, test, beta)
    return Scores(divergence, 0.0, beta, left, held, n_fitted)


def _accuracy(found: Scores, train: Points, labels: Index | None) -> float:
    """Share of the labels that the kernels at the other labeled rows give."""
    if labels is None or (labels < 0).all():
        return float("nan")
    rows = np.flatnonzero(labels >= 0)
    X, known = train[rows], np.unique(labels[rows], return_inverse=True)[1]
    d = center_divergences(found.divergence, X, X, found.smoothing) / found.bandwidth
    np.fill_diagonal(d, np.inf)
    votes = np.exp(d.min(axis=1, keepdims=True) - d) @ np.eye(known.max() + 1)[known]
    return float((votes.argmax(axis=1) == known).mean())
