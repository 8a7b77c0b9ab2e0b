"""Label propagation, Eq. (29), as a scikit-learn classifier and transducer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._support.arrays import Float, LabelArray, checked_integer
from .._support.defaults import ALPHA, BLEND, DIVERGENCE, N_NEIGHBORS
from .._support.running import RandomState
from .._support.sparse import CSR, OperatorLike, PointsLike
from ..divergences import BregmanDivergence
from ..stacking import (
    Blend,
    Blended,
    Decided,
    Estimate,
    Labeler,
    LearningCurve,
    NewPoints,
    Reasons,
    Start,
    blended_new_points,
    expected_accuracy,
)
from ..stacking.folds import N_FOLDS
from ..tree import Tree
from ..walks import (
    HiddenLabels,
    balance_divisor,
    choose_alpha,
    distribute,
    label_scores,
    match_class_mass,
    suggest_points,
)
from ..walks.folds import label_folds
from ._base import WalkEstimator, checked
from ._explaining import explain_fitted, explain_one
from ._label_issues import LabelIssues, label_issues
from ._labels import checked_weights, encode_labels, label_columns, one_hot
from ._novelty import checked_reject, novelty_of, novelty_of_new, with_unknown
from ._stacking import as_words, has_memory_to_blend, knows_features, labeler_for
from ._unnamed import UnnamedClass, unnamed_classes
from ._updating import update_fitted

if TYPE_CHECKING:
    from ..stacking.outside import BlendSpec
    from ..walks.novelty import Novelty

# Fitted points that a new point's classes are the mean of; 15 instead of 1: up to 7.5 points more.
NEIGHBORS = 15


class LabelPropagation(ClassifierMixin, WalkEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Classes of all points from the labels of a few, by y ← α·M·y + (1 − α)·y⁰, Eq. (29).

    Memory and time are O(N): M is a ``bvdt.operators.WalkOperator`` or its symmetrised form.

    Parameters
    ----------
    {walk}
    recall : float or None, default=None
        That of ``bvdt.transition_matrix``.
    alpha : float or "auto", default=0.9
        Share that a point takes from the others at each step, 0 to 1; the paper uses 0.01. "auto": chosen
        among 0.5 to 0.999 on hidden labels, each hidden once (``bvdt.walks.choose_alpha``).
    max_iter : int, default=300
        Maximum number of matrix products.
    tol : float, default=1e-4
        Stop once no class changes by more than this share of its sum.
    method : "spread", "walk", "poisson" or "poisson_mbo", default="spread"
        "walk": M is the transition matrix, as in the paper. "spread": M is its symmetrised form. "poisson":
        Poisson learning on that form, for very few labels; alpha has no part in it. "poisson_mbo": the same
        with classes as large as the labels' shares say, for labels in the classes' true proportions.
    class_mass_normalization : bool, default=False
        Whether to weight the classes so that the unlabeled points have the labeled points' shares. Only for
        labels drawn at random, and even there it cost up to 3 points of accuracy.
    class_balance : bool, default=True
        Whether scores of a walk are divided by the classes' numbers of labels to a power: ½, up to 1 for
        labels in other proportions than the points, or, where one class has most of the random labels, the
        power among ½, 0 and 1 that hidden labels are for.
    clamp : bool, default=False
        Whether labeled points are set back to their label at each step.
    blend : None, "auto", "linear", "naive_bayes", classifier or array, default="auto"
        What the walk is stacked with; labels hidden in turn decide the weights (theory: Blending experts).
        None: the walk alone. "auto": a linear model, naive Bayes on sparse features ≥ 0, and students of
        their blend; the walk alone where it has no features (a graph), for another ``method``, ``clamp``
        or ``class_mass_normalization``, and with a warning where memory does not suffice. "linear",
        "naive_bayes", or a scikit-learn classifier with predict_proba or decision_function, which is
        refitted per fold: that one expert. An array (n_points, n_classes): class probabilities known
        beforehand, not from these labels. Blended probabilities are calibrated, the walk is that of
        method "spread", and ``max_iter``, ``tol``, ``clamp``, ``class_balance`` and
        ``class_mass_normalization`` have no effect.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    codes_ : array of shape (n_points,)
        Index into ``classes_`` of each given label, −1 for the unlabeled.
    transduction_ : array of shape (n_points,)
        Class of each point of the fit. Without a blend the walk may outweigh a given label, unless ``clamp``
        is on, and its point has another class here; with a blend a given label is kept.
    label_distributions_ : array of shape (n_points, n_classes)
        Its probabilities; rows sum to 1. With a blend a given label has 1.
    n_iter_ : int
        Products that the walk took.
    alpha_ : float
        The alpha that was used.
    blend_ : bvdt.stacking.Blend
        With a blend and two classes or more: the experts' weights, and each one's accuracy on hidden labels.
    recall_ : Recall
        Where ``recall`` was asked for: what the near field's lists reach, with its interval. New points are
        searched with as much.
    operator_ : WalkOperator
        To be given to ``fit`` for other labels of the same points.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X had column names.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from bvdt import LabelPropagation
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y.copy()
    >>> few[100:] = -1  # unlabeled
    >>> model = LabelPropagation(random_state=0).fit(X, few)
    >>> bool((model.transduction_ == y).mean() > 0.9)
    True
    """

    classes_: LabelArray
    label_distributions_: Float
    blend_: Blend
    _blended: Blended | None = None
    _new_points: NewPoints | None = None
    _labeling: tuple[Labeler, Start] | None = None  # of the last fit with a blend
    _label_weight: Float  # (N,)
    _terms: tuple[str, ...] | None = None  # (d,)
    _novelty: Novelty | None = None  # once it was asked for

    def __init__(
        self,
        divergence: str | BregmanDivergence = DIVERGENCE,
        *,
        bandwidth: float | str = "auto",
        smoothing: float | str | ArrayLike = "auto",
        tree: str | Tree = "ward",
        n_blocks: int | None = None,
        n_trees: int = 1,
        n_neighbors: int = N_NEIGHBORS,
        recall: float | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        progress: bool = False,
        alpha: float | str = ALPHA,
        max_iter: int = 300,
        tol: float = 1e-4,
        method: str = "spread",
        class_mass_normalization: bool = False,
        class_balance: bool = True,
        clamp: bool = False,
        blend: BlendSpec | None = BLEND,
    ) -> None:
        super().__init__(
            divergence,
            bandwidth=bandwidth,
            smoothing=smoothing,
            tree=tree,
            n_blocks=n_blocks,
            n_trees=n_trees,
            n_neighbors=n_neighbors,
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
        )
        self.recall = recall
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.method = method
        self.class_mass_normalization = class_mass_normalization
        self.class_balance = class_balance
        self.clamp = clamp
        self.blend = blend

    def fit(
        self,
        X: PointsLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        operator: OperatorLike | None = None,
        neighbors: object = None,
        terms: Sequence[str] | Callable[[], Sequence[str]] | None = None,
    ) -> LabelPropagation:
        """Propagate the labels y over the points X.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_points, n_features)
            None where ``operator`` or a graph is given.
        y : array of shape (n_points,)
            Unlabeled: −1 or NaN among numbers; "" among strings; any of these, None or pandas.NA in an
            object array or a Series.
        sample_weight : array of shape (n_points,), default=None
            Weights ≥ 0 of the labels; those of unlabeled points have no meaning, and 0 leaves a label out.
            With a blend a label of weight 2 counts as two labels of its point, to the experts and where
            they are weighed; below 1, students and the last step take it as that share of the point's row.
        operator : WalkOperator, default=None
            The points' transition matrix if it is there already, such as ``operator_`` of an earlier fit: new
            labels then cost only products. Any square operator, sparse matrix or array with entries ≥ 0 will
            do, but ``predict`` needs a WalkOperator. With a blend and the same ``operator`` and X as in the
            last fit, that fit's solution is where this one starts.
        neighbors : array of shape (n_points, k), tuple or sparse matrix, default=None
            Neighbor lists made elsewhere, beside X or as a graph of distances alone, as in
            ``bvdt.transition_matrix``: then ``n_neighbors`` and ``recall`` have no effect.
        terms : array of str of shape (n_features,), or a function that gives it, default=None
            The words that the columns of a sparse X count. With blend="auto" or "linear" the linear experts
            then see the words' character n-grams, too, which helps where texts are short.
        """
        if y is None:
            raise ValueError("LabelPropagation requires y to be passed, but the target y is None")
        classes, codes = encode_labels(y)
        op = self._fit_operator(X, operator, neighbors)
        if len(codes) != op.shape[0]:
            raise ValueError(f"y needs {op.shape[0]} labels, one per point; it has {len(codes)}")
        weight = checked_weights(sample_weight, len(codes))
        if not weight[codes >= 0].any():
            raise ValueError(
                "sample_weight needs a value other than zero for at least one label; all are zero"
            )
        self._terms = as_words(terms)
        return self._label(X, classes, codes, weight)

    def update(
        self,
        X_new: PointsLike | None = None,
        y_new: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        labels: Mapping[int, object] | None = None,
    ) -> LabelPropagation:
        """Take in new points, after the fitted ones, and new labels; all points are labeled anew.

        Trees, features and bandwidth (but for "learn") stay; the near field is that of all points. With a
        blend the experts are weighed anew once there are half as many labels again. Accuracy was a refit's
        until the points had doubled (benchmarks/update.py). Refit then, and for new words, which a
        vectorizer that is fitted does not know. ``fit(X, y, operator=model.operator_)`` takes other labels of
        the same points at once.

        Parameters
        ----------
        X_new : array, sparse matrix or DataFrame of shape (n_new, n_features), default=None
        y_new : array of shape (n_new,), default=None
            Their labels, as in ``fit``; classes may be new. None: they have none.
        sample_weight : array of shape (n_new,), default=None
            Weights of these labels, as in ``fit``.
        labels : mapping from points' numbers to labels, default=None
            Labels of fitted points that change; None, or another mark of the unlabeled, takes one back.

        Examples
        --------
        >>> from bvdt import LabelPropagation
        >>> model = LabelPropagation("squared_euclidean", n_neighbors=2, random_state=0)
        >>> model = model.fit([[0.0], [1.0], [8.0], [9.0]], ["low", "", "", "high"])
        >>> model.update([[2.0], [20.0], [21.0]], ["", "", "far"], labels={2: "high"}).transduction_.tolist()
        ['low', 'low', 'high', 'high', 'low', 'far', 'far']
        """
        return update_fitted(self, X_new, y_new, sample_weight, labels)

    def _label(
        self,
        X: PointsLike,
        classes: LabelArray,
        codes: NDArray[np.intp],
        weight: Float,
        start: Start | None = None,
        decided: Decided | None = None,
    ) -> LabelPropagation:
        """Labels of the operator's points; all but these are for a blend."""
        self.classes_, self.codes_, self._label_weight = classes, codes, weight
        self._blended, self._new_points, self._novelty = None, None, None
        if hasattr(self, "blend_"):
            del self.blend_
        if not self._blends(X, len(classes)):
            return self._propagate(weight)
        counted = np.where(weight > 0, codes, -1)
        if len(np.unique(counted[counted >= 0])) < len(classes):  # a class without weight cannot be blended
            return self._propagate(weight)
        self.codes_, self._label_weight = counted, np.where(counted >= 0, weight, 0.0)
        return self._blend(X, start, decided)

    def _blends(self, X: PointsLike | None, n_classes: int) -> bool:
        """Whether there is something to blend with; "auto" leaves another walk than the default's alone."""
        if self.blend is None or n_classes < 2:
            return False
        if not isinstance(self.blend, str) or self.blend != "auto":
            return True
        usual = self.method == "spread" and not self.clamp and not self.class_mass_normalization
        return usual and knows_features(self.operator_, X) and has_memory_to_blend(self.operator_, n_classes)

    @classmethod
    def restored(
        cls,
        operator: OperatorLike | None,
        classes: ArrayLike,
        codes: NDArray[np.intp],
        label_distributions: Float,
        *,
        new_points: NewPoints | None = None,
        label_weight: Float | None = None,
        terms: Sequence[str] | None = None,
        novelty: Novelty | None = None,
        **parameters: Any,
    ) -> LabelPropagation:
        """The estimator that ``fit`` left, from what was stored of it; nothing is computed anew."""
        fitted = cls(**parameters)
        fitted._new_points, fitted._terms, fitted._novelty = new_points, as_words(terms), novelty
        fitted.operator_ = operator
        fitted._features_of_operator()
        fitted.classes_, fitted.codes_ = np.asarray(classes), codes
        fitted.alpha_ = parameters.get("alpha", ALPHA)
        fitted._label_weight = np.ones(len(codes)) if label_weight is None else label_weight
        fitted.label_distributions_ = label_distributions
        fitted.transduction_ = fitted.classes_[label_distributions.argmax(axis=1)]
        return fitted

    def _propagate(self, weight: Float) -> LabelPropagation:
        Y0, labeled = label_columns(self.codes_, len(self.classes_), weight), self.codes_ >= 0
        self.alpha_ = self._resolved_alpha(Y0)
        scores, self.n_iter_ = label_scores(
            self.operator_,
            Y0,
            method=self.method,
            alpha=self.alpha_,
            max_iter=self.max_iter,
            tol=self.tol,
            clamp=labeled if self.clamp else None,
        )
        counts = np.bincount(Y0.indices, Y0.data, len(self.classes_)).astype(np.float64, copy=False)
        prior = counts / counts.sum()
        n_jobs = getattr(self.operator_, "n_jobs", None)
        divisor = self._divisor(scores, counts, Y0) if self.class_balance else None
        P, best = distribute(scores, prior, n_jobs, divisor)
        if self.class_mass_normalization:
            return self._keep(match_class_mass(P, ~labeled, prior))
        return self._keep(P, best)

    def _divisor(self, scores: Float, counts: Float, Y0: CSR) -> Float | None:  # (k,)
        """What class scores are divided by; None for 1."""
        if self.method not in ("walk", "spread"):
            return None
        n_jobs = getattr(self.operator_, "n_jobs", None)
        hidden = None if self.clamp else partial(self._hidden_by_halves, scores, counts, Y0)
        return balance_divisor(scores, counts, n_jobs, hidden)

    def _hidden_by_halves(self, scores: Float, counts: Float, Y0: CSR) -> HiddenLabels:
        fold, _ = label_folds(self.codes_, 2, 0)
        seen = sparse.csr_array(sparse.diags_array((fold != 0).astype(float)) @ Y0)
        options: dict[str, Any] = {"method": self.method, "alpha": self.alpha_, "max_iter": self.max_iter}
        half, _ = label_scores(self.operator_, seen, tol=self.tol, **options)
        half_counts = np.asarray(seen.sum(axis=0)).ravel()
        return HiddenLabels.by_halves(scores, half, counts, half_counts, self.codes_, fold)

    def _keep(self, P: Float, best: LabelArray | None = None) -> LabelPropagation:
        self.label_distributions_ = P
        self.transduction_ = self.classes_[P.argmax(axis=1) if best is None else best]
        return self

    def _resolved_alpha(self, Y0: CSR) -> float:
        if not isinstance(self.alpha, str):
            return self.alpha
        if self.alpha != "auto":
            raise ValueError(f'alpha needs a value from 0 to 1, or "auto"; got {self.alpha!r}')
        method = self.method if self.method == "walk" else "spread"
        return choose_alpha(self.operator_, Y0.toarray(), method=method, max_iter=self.max_iter)

    def _blend(self, X: PointsLike, start: Start | None, decided: Decided | None) -> LabelPropagation:
        """The walk blended with its experts; starts from the last fit's for the same points, if any."""
        earlier = self._labeling
        labeler = labeler_for(self, X, self._terms, None if earlier is None else earlier[0])
        if start is None and earlier is not None and labeler is earlier[0]:
            start = earlier[1]
        blended = labeler.label(
            self.codes_, len(self.classes_), start=start, weight=self._label_weight, decided=decided
        )
        self.alpha_, self.n_iter_ = blended.alpha, blended.products
        self._labeling = (labeler, blended.start)
        self._blended, self._new_points, self.blend_ = blended, blended.new, blended.outcome
        labeled = self.codes_ >= 0
        P = blended.P
        P[labeled] = one_hot(self.codes_[labeled], len(self.classes_))
        return self._keep(P)

    def hidden_labels(self, n_folds: int = N_FOLDS) -> Blended:
        """With a blend: each given label predicted while a fold of them was hidden; see ``Blended``."""
        labeler, blended = self._needs_blend()
        if blended.measured and blended.folds.n_folds in (0, n_folds):
            return blended
        return labeler.label(self.codes_, len(self.classes_), n_folds=n_folds, weight=self._label_weight)

    def expected_accuracy(self, n_folds: int = N_FOLDS) -> Estimate | None:
        """With a blend: accuracy to expect over the unlabeled points, with its 95 % interval.

        Classes with one label, and classes without any, count as wrong. None from fewer than 20 labels.
        """
        blended = self.hidden_labels(n_folds)
        codes, P = blended.folds.hidden_codes(), blended.hidden
        others = self.label_distributions_[self.codes_ < 0].max(axis=1)
        n_labels = len(blended.folds.codes)
        return expected_accuracy(P.argmax(axis=1) == codes, codes, n_labels, P.max(axis=1), others)

    def learning_curve(self) -> LearningCurve | None:
        """With a blend: accuracy on the other labels from a quarter, a half and most of them; two fits.

        None where labels are too few.
        """
        labeler, blended = self._needs_blend()
        full = blended if blended.measured else self.hidden_labels()
        return labeler.learning_curve(self.codes_, len(self.classes_), full, self._label_weight)

    @property
    def new_points(self) -> NewPoints | None:
        """With a blend: what ``predict`` needs besides the operator, for storage."""
        return self._new_points

    @property
    def solution(self) -> tuple[Start, Decided] | None:
        """With a blend: what the last fit leaves to an update; None from a file, or for another blend."""
        if self._labeling is None or self._blended is None:
            return None
        labeler, start = self._labeling
        same = labeler.alpha == self.alpha and type(labeler.blend) is type(self.blend)
        if not same or (isinstance(self.blend, str) and self.blend != labeler.blend):
            return None
        return start, self._blended.decided

    @property
    def label_weights(self) -> Float:  # (N,)
        """Weights of the given labels as ``fit`` took them, for storage."""
        return self._label_weight

    def _needs_blend(self) -> tuple[Labeler, Blended]:
        check_is_fitted(self)
        if self._labeling is None or self._blended is None:
            raise ValueError(
                f"hidden labels need a fit with a blend and two classes; this one has blend={self.blend!r} "
                f"and {len(self.classes_)} classes, or comes from a file"
            )
        return self._labeling[0], self._blended

    def predict_proba(self, X: PointsLike) -> Float:  # (n_new, n_classes)
        """Probabilities of the classes of new points: the mean of their 15 nearest fitted points', by
        nearness.

        Weights are those of the near field; a fitted point has its own probabilities. With a blend that mean
        stands in for the walk in the blend.
        """
        index, weight = self._nearest(X, NEIGHBORS)
        first = np.arange(len(index) + 1) * index.shape[1]
        nearby = sparse.csr_array(
            (weight.ravel(), index.ravel(), first), shape=(len(index), self.operator_.shape[0])
        )
        if self._new_points is not None:
            return blended_new_points(nearby, checked(self, X, reset=False), self._new_points)
        P = nearby @ self.label_distributions_
        return np.asarray(P / P.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: PointsLike) -> Float:  # (n_new, n_classes)
        """Logarithms of ``predict_proba``; −∞ for a class that no neighbor has."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(
        self, X: PointsLike, *, reject: float | None = None, unknown: object = None
    ) -> LabelArray:  # (n_new,)
        """Most probable class of each new point.

        Parameters
        ----------
        reject : share from 0 to 1, default=None
            Points of novelty above 1 − reject get ``unknown`` instead: about that share of the points whose
            class has labels, and those that are like no class.
        unknown : default=None
            Their mark: "unknown" among classes that are texts, −1 among numbers.
        """
        P = self.predict_proba(X)
        best = np.asarray(self.classes_[P.argmax(axis=1)])
        if reject is None:
            return best
        rejected = self.novelty(X) > 1 - checked_reject(reject)
        return with_unknown(best, rejected, unknown, self.classes_)

    @property
    def novelty_(self) -> Float:  # (N,)
        """How unlike all classes that have labels each fitted point is, from 0 to 1.

        Above 1 − r lie about a share r of the points of known classes (theory: Novelty): labels, each judged
        without itself, say where. Where every class has one label, a share r of all points. Found when first
        asked for, by one solve.
        """
        return self.novelty_state.fitted

    def novelty(self, X: PointsLike) -> Float:  # (n_new,)
        """``novelty_`` of new points, from their 15 nearest fitted points, and how far these are.

        Examples
        --------
        >>> from bvdt import LabelPropagation
        >>> X, y = [[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2]], ["a", "a", "", "", "b", "b", ""]
        >>> model = LabelPropagation(n_neighbors=2, random_state=0).fit(X, y)
        >>> model.predict([[0.15], [90.0]], reject=0.05).tolist()
        ['a', 'unknown']
        """
        return novelty_of_new(self, X, NEIGHBORS)

    @property
    def novelty_state(self) -> Novelty:
        """What novelty is read off, for storage."""
        if self._novelty is None:
            self._novelty = novelty_of(self)
        return self._novelty

    def explain(self, point: PointsLike, n: int = 5) -> tuple[NDArray[np.intp], Float]:  # (≤ n,) ×2
        """The labeled points that gave a point its class, and their shares of it, the largest first.

        All shares sum to 1 over the labeled points of that class; each is exact: what the walk's score of
        the class would lose without the label. With a blend they sum to the walk's part of the blend, and
        there are none where it has no part; ``reasons`` names the others'.

        Parameters
        ----------
        point : int, a point of the fit; or the features of one new point, of shape (n_features,) or (1,
            n_features), which has the mean of its nearest fitted points, as in ``predict_proba``.
        """
        found = self.reasons(point, n)
        named = found.points[0] >= 0
        return found.points[0][named], found.point_shares[0][named]

    def explain_all(
        self, n: int = 3, *, advance: Callable[[int], None] = lambda _: None
    ) -> tuple[NDArray[np.intp], Float]:  # (n_points, n) ×2
        """``explain`` of every point of the fit: labeled points, −1 where there are fewer, and their shares.

        One solve per label; ``advance`` is called with how many are done.
        """
        found = self.reasons(n=n, advance=advance)
        return found.points, found.point_shares

    def reasons(
        self, point: PointsLike | None = None, n: int = 3, *, advance: Callable[[int], None] = lambda _: None
    ) -> Reasons:
        """What led to the classes: each part of the blend, labeled points of the walk's, features of the
        linear one's.

        ``parts`` of a point sum to 1, and so do all its ``point_shares`` to the walk's part, and all its
        ``feature_shares`` to the linear part; up to n of them are given, the largest first. Without a blend
        the walk is all.

        Parameters
        ----------
        point : as in ``explain``; None for every point of the fit.
        """
        n = checked_integer(n, "n", 1)
        return explain_fitted(self, n, advance) if point is None else explain_one(self, point, n, NEIGHBORS)

    def label_issues(
        self, *, n_folds: int = N_FOLDS, advance: Callable[[int], None] = lambda _: None
    ) -> LabelIssues:
        """Given labels that the others contradict, the most doubtful first.

        Each is judged without itself: with a blend while its fold is hidden, otherwise by the walk from all
        other labels, exactly. A class's only label cannot be judged and is left out.

        Parameters
        ----------
        n_folds : of the blend's labels; 5 are those of the fit.
        advance : called with how many labels the walk has done.

        Returns
        -------
        LabelIssues : arrays of ``points``, their ``given`` classes, the ``probability`` that the others give
            these, the ``suggested`` class and its ``confidence``.

        Examples
        --------
        >>> from bvdt import LabelPropagation
        >>> X = [[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]]
        >>> y = ["a", "a", "a", "b", "b", "b", "b", "b"]
        >>> found = LabelPropagation(blend=None, n_neighbors=3, random_state=0).fit(X, y).label_issues()
        >>> int(found.points[0]), str(found.given[0]), str(found.suggested[0])
        (3, 'b', 'a')
        """
        return label_issues(self, n_folds, advance)

    def unnamed_classes(self, n: int = 6) -> list[UnnamedClass]:
        """Up to n groups of unlabeled points of novelty above 0.9, the largest first.

        What classes there are beside those that have labels: each group has its ``points``, the most typical
        first, their mean ``novelty`` and, where the fit knows words, the ``terms`` that it has more of.

        Examples
        --------
        >>> import numpy as np
        >>> from bvdt import LabelPropagation
        >>> X = np.concatenate([np.linspace(k, k + 1, 30) for k in (0, 5, 10)])[:, None]
        >>> y = np.full(90, "", object)
        >>> y[[3, 11, 19, 26]], y[[33, 41, 49, 56]] = "a", "b"
        >>> groups = LabelPropagation(n_neighbors=5, random_state=0).fit(X, y).unnamed_classes(1)
        >>> bool((groups[0].points >= 60).mean() > 0.8)
        True
        """
        return unnamed_classes(self, n)

    def suggest(self, n: int = 10, strategy: str = "auto") -> NDArray[np.intp]:  # (≤ n,)
        """Up to n unlabeled points to label next, the one whose label would tell most first.

        Parameters
        ----------
        strategy : "auto", "margin", "entropy" or "random", default="auto"
            Those of ``bvdt.walks.suggest_points``; "auto" is typical before it is uncertain, and keeps the
            points of a batch apart.
        """
        check_is_fitted(self)
        if n < 1:
            raise ValueError(f"n needs a number ≥ 1; got {n}")
        return suggest_points(
            self.operator_,
            self.codes_ >= 0,
            n,
            P=self.label_distributions_,
            strategy=strategy,
            alpha=self.alpha_,
            random_state=self.random_state,
        )
