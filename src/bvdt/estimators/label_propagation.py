"""Label propagation, Eq. (29), as a scikit-learn classifier and transducer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._support.arrays import Float
from ..blending import Blend, Blended, CurvePoint, Labeller, NewPoints, Start, blended_new_points
from ..blending.folds import N_FOLDS
from ..divergences import BregmanDivergence
from ..tree import Tree
from ..walks import class_distributions, label_scores, match_class_mass, suggestion_scores
from ._base import WalkEstimator, checked
from ._blending import labeller_for
from ._labels import encode_labels, one_hot


class LabelPropagation(ClassifierMixin, WalkEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Classes of all points from the labels of a few, by y ← α·M·y + (1 − α)·y⁰, Eq. (29).

    Memory and time are O(N): M is a ``bvdt.WalkOperator`` or its symmetrised form.

    Parameters
    ----------
    divergence : str or BregmanDivergence, default="gid"
        A name of ``bvdt.divergences.get`` or an instance. "gid" is for counts and other values ≥ 0;
        "squared_euclidean" takes any.
    bandwidth : float, "auto" or "learn", default="auto"
    smoothing : float, str or array of shape (n_features,), default="auto"
    tree : "ward", "anchor" or bvdt.Tree, default="ward"
    blocks : int or None, default=None
    n_trees : int, default=1
    near : int, default=10
    random_state : int, RandomState, Generator or None, default=None
    n_jobs : int or None, default=None
    progress : bool, default=False
        Those of ``bvdt.transition_matrix``.
    alpha : float, default=0.9
        Share that a point takes from the others at each step, 0 to 1; the paper uses 0.01.
    n_iter : int, default=300
        Most steps.
    tol : float, default=1e-4
        Stop once no class changes by more than this share of its sum.
    mode : "spread" or "walk", default="spread"
        "walk": M is the transition matrix, as in the paper. "spread": M is its symmetrised form.
    class_mass_normalization : bool, default=True
        Whether to weight the classes so that the unlabelled points have the labelled points' shares. Switch
        it off when the labels were not drawn at random and say nothing about the classes' frequencies.
    clamp : bool, default=False
        Whether labelled points are set back to their label at each step.
    prior : None, "auto", "linear", "naive_bayes", classifier or array, default=None
        What the walk is blended with; labels hidden in turn decide the weights (theory: Blending experts).
        None: the walk alone. "auto": a linear model, naive Bayes on sparse features ≥ 0, and students of
        their blend. "linear", "naive_bayes", or a scikit-learn classifier with predict_proba or
        decision_function, which is refitted per fold: that one expert. An array (n_points, n_classes):
        class probabilities known beforehand, not from these labels. With a prior, probabilities are
        calibrated, the walk is that of mode "spread", and ``n_iter``, ``tol``, ``clamp`` and
        ``class_mass_normalization`` have no effect.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    codes_ : array of shape (n_points,)
        Index into ``classes_`` of each given label, −1 for the unlabelled.
    transduction_ : array of shape (n_points,)
        Class of each point of the fit.
    label_distributions_ : array of shape (n_points, n_classes)
        Its probabilities; rows sum to 1. With a prior a given label has 1.
    n_iter_ : int
        Steps taken; without a prior only.
    blend_ : bvdt.blending.Blend
        With a prior and two classes or more: the experts' weights, and each one's accuracy on hidden labels.
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
    >>> few[100:] = -1  # unlabelled
    >>> model = LabelPropagation(random_state=0).fit(X, few)
    >>> bool((model.transduction_ == y).mean() > 0.9)
    True
    """

    classes_: NDArray[Any]
    label_distributions_: Float
    blend_: Blend
    _blended: Blended | None = None
    _new_points: NewPoints | None = None
    _labelling: tuple[Labeller, Start] | None = None  # of the last fit with a prior

    def __init__(
        self,
        divergence: str | BregmanDivergence = "gid",
        *,
        bandwidth: float | str = "auto",
        smoothing: float | str | ArrayLike = "auto",
        tree: str | Tree = "ward",
        blocks: int | None = None,
        n_trees: int = 1,
        near: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
        alpha: float = 0.9,
        n_iter: int = 300,
        tol: float = 1e-4,
        mode: str = "spread",
        class_mass_normalization: bool = True,
        clamp: bool = False,
        prior: Any = None,
    ) -> None:
        self.divergence = divergence
        self.bandwidth = bandwidth
        self.smoothing = smoothing
        self.tree = tree
        self.blocks = blocks
        self.n_trees = n_trees
        self.near = near
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.alpha = alpha
        self.n_iter = n_iter
        self.tol = tol
        self.mode = mode
        self.class_mass_normalization = class_mass_normalization
        self.clamp = clamp
        self.prior = prior

    def fit(self, X: Any = None, y: Any = None, *, operator: Any = None) -> LabelPropagation:
        """Propagate the labels y over the points X.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_points, n_features)
            None where ``operator`` is given.
        y : array of shape (n_points,)
            Unlabelled: −1 or NaN among numbers; "" among strings; any of these, None or pandas.NA in an
            object array or a Series.
        operator : WalkOperator, default=None
            The points' transition matrix if it is there already, such as ``operator_`` of an earlier fit: new
            labels then cost only products. Any square operator, sparse matrix or array with entries ≥ 0 will
            do, but ``predict`` needs a WalkOperator. With a prior and the same ``operator`` and X as in the
            last fit, that fit's solution is where this one starts.
        """
        if y is None:
            raise ValueError("LabelPropagation requires y to be passed, but the target y is None")
        classes, codes = encode_labels(y)
        op = self._fit_operator(X, operator)
        if len(codes) != op.shape[0]:
            raise ValueError(f"y needs {op.shape[0]} labels, one per point; it has {len(codes)}")
        self.classes_, self.codes_ = classes, codes
        self._blended, self._new_points = None, None
        if hasattr(self, "blend_"):
            del self.blend_
        return self._propagate() if self.prior is None or len(classes) < 2 else self._blend(X)

    @classmethod
    def restored(
        cls,
        operator: Any,
        classes: ArrayLike,
        codes: NDArray[np.intp],
        label_distributions: Float,
        *,
        new_points: NewPoints | None = None,
        **parameters: Any,
    ) -> LabelPropagation:
        """The estimator that ``fit`` left, from what was stored of it; nothing is computed anew."""
        fitted = cls(**parameters)
        fitted._new_points = new_points
        fitted.operator_ = operator
        fitted._features_of_operator()
        fitted.classes_, fitted.codes_ = np.asarray(classes), codes
        fitted.label_distributions_ = label_distributions
        fitted.transduction_ = fitted.classes_[label_distributions.argmax(axis=1)]
        return fitted

    def _propagate(self) -> LabelPropagation:
        Y0, labelled = one_hot(self.codes_, len(self.classes_)), self.codes_ >= 0
        scores, self.n_iter_ = label_scores(
            self.operator_,
            Y0,
            mode=self.mode,
            alpha=self.alpha,
            n_iter=self.n_iter,
            tol=self.tol,
            clamp=labelled if self.clamp else None,
        )
        prior = Y0.sum(axis=0) / labelled.sum()
        P = class_distributions(scores, prior)
        if self.class_mass_normalization:
            P = match_class_mass(P, ~labelled, prior)
        return self._keep(P)

    def _keep(self, P: Float) -> LabelPropagation:
        self.label_distributions_ = P
        self.transduction_ = self.classes_[P.argmax(axis=1)]
        return self

    def _blend(self, X: Any) -> LabelPropagation:
        """The walk blended with the prior; starts from the last fit's solution for the same points."""
        earlier = self._labelling
        labeller = labeller_for(self, X, None if earlier is None else earlier[0])
        same = earlier is not None and labeller is earlier[0]
        start = earlier[1] if same and earlier is not None else None
        blended = labeller.label(self.codes_, len(self.classes_), start=start)
        self._labelling = (labeller, blended.start)
        self._blended, self._new_points, self.blend_ = blended, blended.new, blended.outcome
        labelled = self.codes_ >= 0
        P = blended.P
        P[labelled] = one_hot(self.codes_[labelled], len(self.classes_))
        return self._keep(P)

    def hidden_labels(self, n_folds: int = N_FOLDS) -> Blended:
        """With a prior: each given label predicted while a fold of them was hidden; see ``Blended``."""
        labeller, blended = self._needs_blend()
        if blended.folds.n_folds in (0, n_folds):
            return blended
        return labeller.label(self.codes_, len(self.classes_), n_folds=n_folds)

    def learning_curve(self) -> list[CurvePoint]:
        """With a prior: accuracy on the other labels from a quarter, a half and most of them; two fits."""
        labeller, blended = self._needs_blend()
        return labeller.learning_curve(self.codes_, len(self.classes_), blended)

    @property
    def new_points(self) -> NewPoints | None:
        """With a prior: what ``predict`` needs besides the operator, for storage."""
        return self._new_points

    def _needs_blend(self) -> tuple[Labeller, Blended]:
        check_is_fitted(self)
        if self._labelling is None or self._blended is None:
            raise ValueError(
                f"hidden labels need a fit with a prior and two classes; this one has prior={self.prior!r} "
                f"and {len(self.classes_)} classes, or comes from a file"
            )
        return self._labelling[0], self._blended

    def predict_proba(self, X: Any) -> Float:  # (n_new, n_classes)
        """Probabilities of the classes of new points: the mean of the fitted points' under their walk.

        With a prior, that mean stands in for the walk in the blend.
        """
        nearby = self._extend(X)
        if self._new_points is not None:
            return blended_new_points(nearby, checked(self, X, reset=False), self._new_points)
        P = nearby @ self.label_distributions_
        return np.asarray(P / P.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> Float:  # (n_new, n_classes)
        """Logarithms of ``predict_proba``; −∞ where no label of a class is near."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:  # (n_new,)
        """Most probable class of each new point."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def suggest(self, n: int = 10) -> NDArray[np.intp]:  # (≤ n,)
        """Up to n unlabelled points whose labels would tell most, best first; see ``suggestion_scores``."""
        check_is_fitted(self)
        if n < 1:
            raise ValueError(f"n needs a number ≥ 1; got {n}")
        unlabelled = np.flatnonzero(self.codes_ < 0)
        scores = suggestion_scores(self.operator_, self.label_distributions_, self.alpha)[unlabelled]
        return np.asarray(unlabelled[np.argsort(-scores, kind="stable")[:n]])
