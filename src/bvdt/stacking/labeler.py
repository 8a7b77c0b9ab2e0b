"""Labels of all points from a few: experts, students of their blend, one step of the walk, a temperature.

A student learns from the blended distributions of *all* points, so that a term that no labeled document
holds still gets its say; in a fold's slice it learns from the blend of that slice, which has not seen the
hidden labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from .._support.arrays import Float, Index
from .._support.defaults import ALPHA
from .._support.mixed import Mixed
from .._support.sparse import CSR, Operator, Points, is_sparse
from ..lifting import Lifting, Views
from ..walks import choose_alpha, symmetrized
from ..walks.class_balance import uneven
from .blend import (
    ALONE,
    BAYES_STUDENT,
    CLASS_SHARES,
    DENSE_STUDENT,
    GIVEN,
    LINEAR,
    NAIVE_BAYES,
    OUTSIDE,
    RIDGE_STUDENT,
    TEMPERATURE,
    WALK,
    GaussianPrior,
    blend,
    fit_weights,
    joined,
    label_weights,
    log_loss,
    softmax,
    weighted,
)
from .expectation import Estimate, LearningCurve
from .experts import (
    LinearScores,
    bayes_of_stored,
    class_shares,
    linear_expert,
    ridge_expert,
    walk_expert,
)
from .folds import N_FOLDS, Folds, Single
from .new_points import NewPoints, calibrated, mixed
from .outcome import Blend
from .outside import OutsideExpert, check_classifier, classifier_scores, given_scores
from .rows import FeatureScale, MixedTable, Table
from .subwords import SubwordTable

if TYPE_CHECKING:
    from ..operators import SymmetrizedOperator
    from ..stacking.outside import BlendSpec

SHARES = (
    0.6,
    0.4,
    0.2,
    0.0,
)  # taken from the neighbors in the last step: the first, unless the folds say else
# Nats of log-loss that a smaller share has to win: large ones calibrate better when labels are few.
GAIN = 1.0
# Hidden labels from which on a fitted temperature is trusted; fewer leave out the rarest classes. At half as
# many it counts for nothing: with 49 labels of ten classes it made probabilities worse.
ENOUGH = 100
CURVE = (0.25, 0.5)  # shares of the labels at which the learning curve is measured
NAMES = ("auto", "linear", "naive_bayes")
SHARES_NAME = "class shares"
CHANCE = 0.05  # level at which one expert alone takes the blend's place
LEAST_SCALE = 0.1  # of an expert that answers alone


@dataclass(frozen=True, eq=False)
class Start:
    """Where the next labels of the same points may start from."""

    folds: Folds
    walk: Single | None = None  # (N, n_slices, k)
    linear: Single | None = None  # (d + 1, n_slices·m)

    def joined(self, n_points: int, place: Index, n_classes: int) -> Start:
        """For one slice of more points, the new ones last; class c becomes ``place[c]``, −1 for none."""
        kept, walk, linear = place >= 0, None, None
        if self.walk is not None:
            walk = np.zeros((n_points, 1, n_classes), np.float32)
            walk[: len(self.walk), 0, place[kept]] = self.walk.sum(axis=1)[:, kept]
        if self.linear is not None and min(len(place), n_classes) > 2:
            linear = np.zeros((len(self.linear), n_classes), np.float32)
            linear[:, place[kept]] = self.linear[:, -len(place) :][:, kept]
        return Start(self.folds, walk, linear)


@dataclass(frozen=True, eq=False)
class Decided:
    """What hidden labels have decided; a few labels more need not be hidden to decide it again."""

    n_labels: int
    counts: bool  # whether naive Bayes was among the experts
    alpha: float
    balance: tuple[float, bool]  # the walk's power of label counts, whether classes are unequal
    blends: tuple[Float, ...]  # weights of each blend in turn
    weights: Float  # (e,) of all experts in the answer
    last_step: tuple[float, float]  # share and power
    outcome: Blend


@dataclass(frozen=True, eq=False)
class Blended:
    """Calibrated distributions of all points, and of the labels that were predicted without themselves."""

    P: Float  # (N, k)
    hidden: Float  # (n_tested, k)
    folds: Folds
    outcome: Blend
    new: NewPoints
    start: Start
    decided: Decided
    products: int  # of the walk
    measured: bool = True  # in these folds; else in an earlier call

    @property
    def alpha(self) -> float:
        """Of the walk."""
        return self.decided.alpha


@dataclass(frozen=True, eq=False)
class Expert:
    """One part of the blend; ``linear`` or ``outside`` answer for new points, else their neighbors do."""

    name: str
    scores: Single  # (N, n_slices, k)
    prior: GaussianPrior
    linear: LinearScores | None = None
    outside: OutsideExpert | None = None


class Labeler:
    """Experts prepared for points with the walk ``op`` and features X; ``label`` may be called again.

    Parameters
    ----------
    op : N×N walk, any square operator, sparse matrix or array with entries ≥ 0; it is symmetrised.
    X : (N, d) features, dense or sparse; None where the prior is an array.
    blend : "auto", "linear", "naive_bayes", a scikit-learn classifier or an (N, k) array of probabilities.
        "auto" takes the walk, the linear expert and, on sparse rows ≥ 0, naive Bayes, then students of their
        blend; the others are blended with the walk alone.
    alpha : share that a point takes from the others at each step of the walk; "auto" chooses it in the same
        folds, by the walk alone.
    through : the lifting that X was recovered from, where new points are to be recovered alike.
    terms : (d,) the words that the columns of a sparse X stand for; the linear experts then see their
        character n-grams, too.
    earlier : a labeler of the same terms, whose n-grams are taken.
    """

    def __init__(
        self,
        op: Operator,
        X: Points,
        blend: BlendSpec = "auto",
        *,
        alpha: float | str = ALPHA,
        n_jobs: int | None = None,
        through: Lifting | None = None,
        terms: Sequence[str] | None = None,
        earlier: Labeler | None = None,
    ) -> None:
        self.op = op
        self.blend = blend if isinstance(blend, str) or hasattr(blend, "fit") else np.array(blend)
        self.alpha, self.through = alpha, through
        self.X = X.copy() if hasattr(blend, "fit") else None  # its own, as the user's may change
        self.made_from: tuple[object, ...] = ()  # a caller's note on what it was prepared for
        self.S = symmetrized(op.astype(np.float32) if hasattr(op, "astype") else op)
        self.scale: FeatureScale | None = None
        self.rows: Table | None = None
        self.counts = False
        if isinstance(blend, str):
            known = None if earlier is None else earlier.rows
            self._prepare_rows(X, terms, n_jobs, known.ngrams if isinstance(known, SubwordTable) else None)

    def _prepare_rows(
        self, X: Points, terms: Sequence[str] | None, n_jobs: int | None, ngrams: CSR | None
    ) -> None:
        if self.blend not in NAMES:
            check_classifier(self.blend)
        if self.blend == "naive_bayes" and not isinstance(X, Views):
            X = sparse.csr_array(X)
            if X.nnz and X.data.min() < 0:
                raise ValueError(f'blend="naive_bayes" needs features ≥ 0; the least is {X.data.min():g}')
        self.scale = FeatureScale.of(X)
        rows = self.scale.rows(X)
        dense, stored = (rows.dense, rows.stored) if isinstance(rows, Mixed) else (None, rows)
        if terms is not None and is_sparse(stored):
            known = ngrams is not None and ngrams.shape[0] == stored.shape[1]
            table: Table = (
                SubwordTable(stored, ngrams, n_jobs) if known else SubwordTable.of(stored, terms, n_jobs)
            )
        else:
            table = Table(stored, n_jobs)
        self.rows = table if dense is None else MixedTable(Table(dense, n_jobs), table)
        self.counts = is_sparse(stored) and (not stored.nnz or bool(stored.data.min() >= 0))

    def step(self, P: Single) -> Single:  # (N, …, k)
        """One step of the reversible walk D⁻¹·(Q + Qᵀ)/2 over distributions."""
        return reversible_step(self.S, P)

    def label(
        self,
        codes: Index,
        n_classes: int,
        *,
        n_folds: int = N_FOLDS,
        start: Start | None = None,
        weight: Float | None = None,
        decided: Decided | None = None,
    ) -> Blended:
        """From the given classes, −1 for none; ``start`` of an earlier call saves most of the work.

        ``weight`` (N,) of the labels, > 0: one of 2 counts as two labels of its point. With what an earlier
        call has ``decided`` no label is hidden, which takes about a sixth of the time.
        """
        if decided is not None and decided.counts == self.counts:
            return self._run(Folds.none(codes, n_classes, weight), start, decided)
        earlier = None if start is None else start.folds
        folds = Folds.of(codes, n_classes, n_folds, earlier=earlier, weight=weight)
        return self._run(folds, start, None)

    def _run(self, folds: Folds, start: Start | None, decided: Decided | None) -> Blended:
        if start is None or (start.walk is not None and start.walk.shape != _shape(folds)):
            start = Start(folds)
        with _one_blas_thread() if self.rows is not None and not self.rows.is_sparse else nullcontext():
            return self._label(folds, start, decided)

    def _label(self, folds: Folds, start: Start, decided: Decided | None) -> Blended:
        alpha = self._resolved_alpha(folds) if decided is None else decided.alpha
        known = None if decided is None else decided.balance
        walked = walk_expert(self.S, folds, alpha, start.walk, known)
        v = label_weights(folds, walked.class_weight, walked.class_share)
        others, hinge = self._others(folds, start)
        if walked.unequal:
            others.append(Expert(SHARES_NAME, class_shares(folds), CLASS_SHARES))
        experts = [Expert("walk", walked.scores, WALK), *others]
        prior = joined([e.prior for e in experts])
        first = None if decided is None else decided.blends[0]
        Z, w = blend(folds, [e.scores for e in experts], prior, v, first)
        blends = [w]
        if isinstance(self.blend, str) and self.blend == "auto":
            Z, w, students, taught = self._taught(folds, Z, w, v, decided)
            experts += students
            blends += taught
        if not walked.unequal:  # all the same it may be what answers alone
            experts.append(Expert(SHARES_NAME, class_shares(folds), CLASS_SHARES))
            w = np.append(w, 0.0)
        if decided is None:
            Z, w = not_worse_than_one(folds, experts, Z, w, v)
        else:
            w = decided.weights
            Z = weighted([e.scores for e in experts], w)
        P = folds.clamp(softmax(Z))
        end = None if decided is None else decided.last_step
        share, power, logs, hidden = last_step(folds, P, self.step(P), v, end)
        used = slice(None) if walked.unequal or w[-1] else slice(-1)
        measured = decided is None
        if decided is None:
            decided = Decided(
                len(folds.labeled),
                self.counts,
                alpha,
                (walked.power, walked.unequal),
                tuple(blends),
                w,
                (share, power),
                _outcome(folds, experts[used], w[used], share, power, hidden),
            )
        new = self._new_points(experts[used], w[used], P[:, -1].copy(), share, power)
        start = Start(folds, walked.own, hinge)
        P_all, P_hidden = calibrated(logs, power), calibrated(hidden, power)
        return Blended(
            P_all, P_hidden, folds, decided.outcome, new, start, decided, walked.products, measured
        )

    def _resolved_alpha(self, folds: Folds) -> float:
        if not isinstance(self.alpha, str):
            return self.alpha
        if self.alpha != "auto":
            raise ValueError(f'alpha needs a value from 0 to 1, or "auto"; got {self.alpha!r}')
        return choose_alpha(self.S, folds.targets()[:, -1].astype(np.float64), folds=folds.of_points())

    def _others(self, folds: Folds, start: Start) -> tuple[list[Expert], Single | None]:
        """The experts beside the walk, and the weights that the next linear one may start from."""
        if not isinstance(self.blend, str):
            return [self._users_own(folds)], None
        assert self.rows is not None
        found, hinge = [], None
        if self.blend in ("auto", "linear"):
            linear, hinge = linear_expert(self.rows, folds, start.linear)
            found.append(Expert("linear", linear.scores, LINEAR, linear))
        if self.blend == "naive_bayes" or (self.blend == "auto" and self.counts):
            bayes = bayes_of_stored(self.rows, folds.targets())
            found.append(Expert("naive Bayes", bayes.scores, NAIVE_BAYES, bayes))
        return found, hinge

    def _users_own(self, folds: Folds) -> Expert:
        if not hasattr(self.blend, "fit"):
            return Expert("prior", given_scores(self.blend, folds), GIVEN)
        scores, outside = classifier_scores(self.blend, self.X, folds)
        name = type(self.blend).__name__
        prior = OUTSIDE if hasattr(outside.classifier, "predict_proba") else LINEAR
        return Expert(name, scores, prior, outside=outside)

    def _taught(
        self, folds: Folds, Z: Single, w: Float, v: Float, decided: Decided | None
    ) -> tuple[
        Single, Float, list[Expert], list[Float]
    ]:  # weights of all experts, students last; each blend's
        """Students of the blend Z, each blended with its teacher in turn."""
        assert self.rows is not None
        students: list[tuple[str, Callable[[Table, Single], LinearScores], GaussianPrior]] = []
        if self.counts:
            students.append(("naive Bayes student", bayes_of_stored, BAYES_STUDENT))
        prior = RIDGE_STUDENT if self.rows.is_sparse else DENSE_STUDENT
        students.append(("linear student", ridge_expert, prior))
        found, blends = [], []
        for turn, (name, teach, prior) in enumerate(students, 1):
            taught = teach(self.rows, folds.clamp(softmax(Z)))
            known = None if decided is None else decided.blends[turn]
            Z, both = blend(folds, (Z, taught.scores), prior, v, known)
            w = np.append(w * both[0], both[1])
            found.append(Expert(name, taught.scores, prior, taught))
            blends.append(both)
        return Z, w, found, blends

    def _new_points(
        self, experts: list[Expert], w: Float, unstepped: Single, share: float, power: float
    ) -> NewPoints:
        walk: Single = np.zeros(1, np.float32)
        weights: Single | None = None
        constant: Single | None = None
        outside = given = None
        for expert, weight in zip(experts, w, strict=True):
            factor = np.float32(weight)
            if expert.linear is not None:
                weights = factor * expert.linear.weights + (0 if weights is None else weights)
                constant = factor * expert.linear.constant + (0 if constant is None else constant)
            elif expert.outside is not None:
                outside = (expert.outside, float(weight))
            elif expert.prior is CLASS_SHARES:
                constant = factor * expert.scores[0, -1] + (0 if constant is None else constant)
            else:
                part = factor * expert.scores[:, -1]
                walk, given = walk + part, part if expert.prior is GIVEN else given
        return NewPoints(
            walk, unstepped, share, power, weights, constant, self.scale, self.through, outside, given
        )

    def learning_curve(
        self, codes: Index, n_classes: int, full: Blended, weight: Float | None = None
    ) -> LearningCurve | None:
        """Accuracy with a random quarter and half of the labels, on all others; then ``full``'s.

        Each point is one more labeling. A class that has no label among those used is never predicted. None
        where labels are too few.
        """
        labeled = np.flatnonzero(codes >= 0)
        order = np.random.default_rng(0).permutation(len(labeled))
        n_labels, right = [], []
        for share in CURVE:
            used = labeled[np.sort(order[: round(share * len(labeled))])]
            if len(np.unique(codes[used])) < 2:
                continue
            hits = self._predicted_from(used, codes, n_classes, weight)[labeled] == codes[labeled]
            n_labels.append(len(used))
            right.append(np.where(np.isin(labeled, used), -1, hits))
        folds = full.folds
        if not folds.n_folds or not right:
            return None
        hits = np.zeros(len(codes), np.int64)
        hits[folds.labeled[folds.tested]] = full.hidden.argmax(axis=1) == folds.hidden_codes()
        n_labels.append(int(len(labeled) - len(full.hidden) / folds.n_folds))
        return LearningCurve.of(n_labels, [*right, hits[labeled]])

    def _predicted_from(self, used: Index, codes: Index, n_classes: int, weight: Float | None) -> Index:
        """Classes (N,) of all points from some labels, which may not have all classes."""
        known, place = np.unique(codes[used], return_inverse=True)
        few = np.full(len(codes), -1, np.intp)
        few[used] = place
        labeler = copy(self)
        if isinstance(self.blend, np.ndarray) and len(known) < n_classes:
            labeler.blend = self.blend[:, known]
        return np.asarray(known[labeler.label(few, len(known), weight=weight).P.argmax(axis=1)])


def reversible_step(S: SymmetrizedOperator, P: Single) -> Single:  # (N, …, k)
    """D⁻¹·(Q + Qᵀ)/2 times distributions, of the symmetrised walk S."""
    degrees = np.where(S.degrees > 0, S.degrees, 1.0)[:, None].astype(np.float32)
    flat = np.asarray(S.mean_with_transpose(P.reshape(len(P), -1)))
    return np.asarray(S.extended(flat / degrees).reshape(P.shape), np.float32)


def not_worse_than_one(
    folds: Folds, experts: list[Expert], Z: Single, w: Float, label_weight: Float
) -> tuple[Single, Float]:  # (N, n_slices, k), (e,)
    """The blend, or one expert alone that is right about more hidden labels, by more than chance.

    Where one class has more labels than chance explains, by any number: habits rule where few labels can be
    hidden, and may lose to the class that is most of the points.
    """
    codes = folds.hidden_codes()
    if not len(codes):
        return Z, w
    right = folds.hidden(Z).argmax(axis=1) == codes
    chances = [_by_chance(folds.hidden(e.scores).argmax(axis=1) == codes, right) for e in experts]
    best = int(np.argmin(chances))
    most = 1.0 if uneven(folds.class_counts()[-1]) else CHANCE / len(experts)
    if chances[best] >= most:
        return Z, w
    scores = experts[best].scores
    (scale,) = fit_weights([folds.hidden(scores)], codes, ALONE, label_weight)
    alone = np.zeros(len(w))
    alone[best] = max(float(scale), LEAST_SCALE)
    return np.float32(alone[best]) * scores, alone


def _by_chance(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Probability that ``one`` of two equals is right so often where only one of both is (sign test)."""
    won, lost = int((one & ~other).sum()), int((other & ~one).sum())
    return float(special.bdtrc(won - 1, won + lost, 0.5)) if won > lost else 1.0


def last_step(
    folds: Folds,
    P: Single,
    stepped: Single,
    label_weight: Float,
    decided: tuple[float, float] | None = None,
) -> tuple[float, float, Single, Single]:  # share, power, (N, k), (n_tested, k)
    """One step over the blended distributions and a temperature, both by log-loss on the hidden labels.

    Unless share and power are ``decided``.

    Returns the share taken from the neighbors, the temperature's inverse, and centered logs: of all points in
    the last slice, and of the hidden labels.
    """
    own, step, codes = folds.hidden(P), folds.hidden(stepped), folds.hidden_codes()
    if decided is not None:
        share, power = decided
        return share, power, mixed(share, P[:, -1], stepped[:, -1]), mixed(share, own, step)
    tried = []
    for place, share in enumerate(SHARES):
        Z = mixed(share, own, step)
        (power,) = fit_weights([Z], codes, TEMPERATURE, label_weight)
        loss = log_loss(power * Z, codes, label_weight) + GAIN * place
        tried.append((loss, share, float(power), Z))
    _, share, power, hidden = min(tried, key=lambda entry: entry[0])
    power **= min(1.0, max(0.0, 2 * len(codes) / ENOUGH - 1))
    return share, power, mixed(share, P[:, -1], stepped[:, -1]), hidden


def _outcome(
    folds: Folds, experts: list[Expert], w: Float, share: float, power: float, hidden: Single
) -> Blend:
    codes = folds.hidden_codes()
    alone = {e.name: Estimate.of_scores(folds.hidden(e.scores), codes) for e in experts}
    parts = np.array([weight * _usual_size(e.scores[:, -1]) for e, weight in zip(experts, w, strict=True)])
    parts = parts / parts.sum() if parts.any() else np.full(len(parts), 1 / len(parts))
    return Blend(
        {e.name: float(weight) for e, weight in zip(experts, w, strict=True)},
        1.0 / max(power, 1e-3),
        share,
        len(codes),
        folds.n_folds,
        Estimate.of_scores(hidden, codes),
        {name: accuracy for name, accuracy in alone.items() if accuracy is not None},
        {e.name: float(part) for e, part in zip(experts, parts, strict=True)},
    )


def _usual_size(scores: Single) -> float:  # (N, k), rows centered
    """Root mean square."""
    return float(np.sqrt(np.einsum("nk,nk->", scores, scores, dtype=np.float64) / scores.size))


def _shape(folds: Folds) -> tuple[int, int, int]:
    return folds.n_points, folds.n_slices, folds.n_classes


def _one_blas_thread() -> AbstractContextManager[object]:
    """Dense products run on threads of ours, in tasks of one size: no result depends on the cores."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1, "blas")
    return limits
