"""Weights and temperatures against a general minimiser; the whole against what it promises."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.datasets import load_digits

import bvdt
from bvdt.stacking import Folds, Labeler, Start, softmax
from bvdt.stacking.blend import TEMPERATURE, GaussianPrior, fit_weights, label_weights
from bvdt.stacking.experts import linear_expert, naive_bayes_expert, walk_expert
from bvdt.stacking.labeler import SHARES, last_step
from bvdt.stacking.new_points import blended_new_points
from bvdt.stacking.rows import FeatureScale, Table
from bvdt.walks import choose_alpha, symmetrized
from bvdt.walks.choosing import ALPHAS


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(2, 5))
@settings(max_examples=25)
def test_weights_are_the_minimiser(seed, n, k):
    rng = np.random.default_rng(seed)
    codes = rng.integers(k, size=n)
    Z = rng.normal(size=(2, n, k)) + np.array([2.0, 0.5])[:, None, None] * np.eye(k)[codes]
    v = rng.uniform(0.5, 2, n)
    prior = GaussianPrior((1.5, 0.0), (1.0, 3.0))

    def loss(w):
        chosen = log_softmax(np.tensordot(w, Z, 1), axis=1)[np.arange(n), codes]
        return -(v * chosen).sum() + 0.5 * ((w[0] - 1.5) ** 2 + (w[1] / 3) ** 2)

    found = fit_weights(Z, codes, prior, v)
    slow = minimize(loss, [1.0, 1.0], method="SLSQP", bounds=[(0, None)] * 2, options={"ftol": 1e-12})
    assert loss(found) <= slow.fun + 1e-4
    assert (found >= 0).all()


def test_without_labels_the_habit_rules():
    prior = GaussianPrior((1.5, 0.0), (1.0, 3.0))
    assert_array_equal(fit_weights(np.empty((2, 0, 3)), np.empty(0, int), prior, np.empty(0)), [1.5, 0.0])


def test_many_labels_weigh_alike_when_thinned():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=9000)
    Z = rng.normal(size=(1, 9000, 3)) + np.eye(3)[codes]
    few = fit_weights(Z[:, ::4], codes[::4], TEMPERATURE, np.full(2250, 4.0))
    assert_allclose(fit_weights(Z, codes, TEMPERATURE, np.ones(9000)), few, rtol=1e-6)


def test_labels_of_one_class_say_nothing():
    folds = Folds.of(np.array([0, 0, 0, 1, -1]), 2)
    assert_array_equal(label_weights(folds, np.ones(2), np.full(2, 0.5)), 0)


def test_the_temperature_undoes_overconfidence():
    """Distributions sharpened by a known power come back calibrated."""
    rng = np.random.default_rng(0)
    n = 2000
    truth = softmax(rng.normal(0, 1, (n, 3)))
    y = np.array([rng.choice(3, p=p) for p in truth])
    folds = Folds.of(y, 3)
    sharp = softmax(3 * np.log(truth)).astype(np.float32)
    P = np.repeat(sharp[:, None], folds.n_slices, axis=1)
    share, power, logs, _ = last_step(folds, P, P, np.ones(n))
    assert_allclose(power, 1 / 3, rtol=0.1)
    assert_allclose(softmax(power * logs), truth, atol=0.05)
    assert share in SHARES


# -- the whole ---------------------------------------------------------------------------------------------


def corpus(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = sparse.csr_array(rng.poisson(np.where(np.arange(60) % 3 == y[:, None], 0.5, 0.2)).astype(float))
    return X, y


@pytest.fixture(scope="module")
def problem():
    X, y = corpus()
    op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=10, random_state=0)
    return X, y, op, np.where(np.random.default_rng(1).random(600) < 0.3, y, -1)


def test_the_blend_is_at_least_as_good_as_the_walk(problem):
    X, y, op, codes = problem
    found = Labeler(op, X).label(codes, 3)
    rest = codes < 0
    walk = bvdt.LabelPropagation("squared_euclidean", class_mass_normalization=False).fit(
        y=codes, operator=op
    )
    blended = (found.P.argmax(axis=1) == y)[rest].mean()
    assert blended >= (walk.transduction_ == y)[rest].mean()
    assert_allclose(found.P.sum(axis=1), 1, atol=1e-12)
    outcome = found.outcome
    assert outcome.n_tested == (codes >= 0).sum()
    assert outcome.accuracy.low <= blended <= outcome.accuracy.high
    assert set(outcome.alone) == set(outcome.weights)
    assert list(outcome.alone)[:3] == ["walk", "linear", "naive Bayes"]
    assert "hidden labels" in str(outcome)


@pytest.mark.slow
def test_the_same_again_on_any_number_of_threads(problem):
    X, _, op, codes = problem
    first = Labeler(op, X, n_jobs=1).label(codes, 3)
    for n_jobs in (1, 2, 3):
        again = Labeler(op, X, n_jobs=n_jobs).label(codes, 3)
        assert_array_equal(again.P, first.P)
        assert again.outcome == first.outcome


@pytest.mark.slow
@pytest.mark.parametrize("dense", [False, True])
def test_warm_is_cold(problem, dense):
    X, y, op, codes = problem
    labeler = Labeler(op, X.toarray() if dense else X)
    first = labeler.label(codes, 3)
    again = labeler.label(codes, 3, start=first.start)
    assert_allclose(again.P, first.P, atol=0.01)
    more = codes.copy()
    extra = np.flatnonzero(codes < 0)[:10]
    more[extra] = y[extra]
    warm = labeler.label(more, 3, start=first.start)
    cold = labeler.label(more, 3, start=Start(first.start.folds))  # the same folds, nothing else
    assert_allclose(warm.P, cold.P, atol=0.02)
    assert_array_equal(warm.folds.fold, cold.folds.fold)


def test_a_new_class_starts_anew(problem):
    X, _, op, codes = problem
    labeler = Labeler(op, X)
    two = labeler.label(np.where(codes == 2, -1, codes), 2)
    assert_array_equal(labeler.label(codes, 3, start=two.start).P.argmax(axis=1).max(), 2)


@pytest.mark.parametrize("n_per_class", [1, 2])
def test_hardly_any_labels(problem, n_per_class):
    X, y, op, _ = problem
    codes = np.full(600, -1)
    codes[: 3 * n_per_class] = y[: 3 * n_per_class]
    found = Labeler(op, X).label(codes, 3)
    assert np.isfinite(found.P).all()
    assert (found.outcome.accuracy is None) == (n_per_class == 1)
    assert found.outcome.n_folds == (0 if n_per_class == 1 else 5)


@pytest.mark.slow
def test_a_sparse_matrix_will_do_for_the_walk(problem):
    X, _, op, codes = problem
    P = [Labeler(M, X).label(codes, 3).P for M in (op.toarray(), sparse.csr_array(op.toarray()))]
    assert_allclose(P[0], P[1], atol=1e-3)  # the walk is solved to 1e-3 of its length
    assert_allclose(P[0], Labeler(op, X).label(codes, 3).P, atol=1e-3)


def test_points_without_links_get_no_nan(problem):
    X, _, op, codes = problem
    M = op.toarray()
    M[0] = M[:, 0] = 0
    assert np.isfinite(Labeler(M, X).label(np.where(np.arange(600) == 0, -1, codes), 3).P).all()


def test_negative_features_leave_naive_bayes_out(problem):
    X, _, op, codes = problem
    signed = X.copy()
    signed.data[0] *= -1
    for features in (signed, X.toarray() - 1.0, X.toarray()):
        assert "naive Bayes" not in Labeler(op, features).label(codes, 3).outcome.weights
    with pytest.raises(ValueError, match=r'"naive_bayes" needs features ≥ 0; the least is -'):
        Labeler(op, signed, "naive_bayes")
    assert "naive Bayes" in Labeler(op, X.toarray(), "naive_bayes").label(codes, 3).outcome.weights


def test_dense_digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=10, random_state=0)
    codes = np.where(np.random.default_rng(0).random(600) < 0.1, y, -1)
    found = Labeler(op, X, alpha=0.9).label(codes, 10)
    assert (found.P.argmax(axis=1) == y)[codes < 0].mean() > 0.85


def test_new_points_that_are_fitted_ones(problem):
    """With each point its own neighbor the formula for new points is the fit's, but for the last step."""
    X, _, op, codes = problem
    labeler = Labeler(op, X)
    found = labeler.label(codes, 3)
    P = blended_new_points(sparse.eye_array(600), X, found.new)
    rest = codes < 0
    assert (P.argmax(axis=1) == found.P.argmax(axis=1))[rest].mean() > 0.95
    assert_allclose(P.sum(axis=1), 1)
    copy = pickle.loads(pickle.dumps(found.new))
    assert_array_equal(blended_new_points(sparse.eye_array(600), X, copy), P)


def test_the_learning_curve(problem):
    X, _, op, codes = problem
    labeler = Labeler(op, X)
    full = labeler.label(codes, 3)
    curve = labeler.learning_curve(codes, 3, full)
    n = (codes >= 0).sum()
    assert [round(n / n_used) for n_used in curve.n_labels] == [4, 2, 1]
    assert curve.accuracy[-1] == full.outcome.accuracy
    assert curve.accuracy[0].value < curve.accuracy[-1].value


def test_a_curve_counts_what_few_labels_cannot_know_as_wrong(problem):
    """Classes of one label in all, or of none among those used; known probabilities lose these columns."""
    _, y, op, codes = problem
    rare = np.where(codes == 2, -1, codes)
    rare[np.flatnonzero(codes == 2)[0]] = 2
    P = np.eye(3)[y] * 0.9 + 0.1 / 3
    labeler = Labeler(op, None, P)
    curve = labeler.learning_curve(rare, 3, labeler.label(rare, 3))
    n = (rare >= 0).sum()
    assert curve.accuracy[-1].value == (n - 1) / n


# -- weights of labels, alpha ------------------------------------------------------------------------------


def test_a_weight_is_so_many_labels_to_every_expert(problem):
    """Points that are there twice, as rows of the features, against weights of 2."""
    X, _, _, codes = problem
    labeled = np.flatnonzero(codes >= 0)
    weight = np.ones(600)
    weight[labeled[::3]] = 2.0
    folds = Folds.of(codes, 3, weight=weight)
    twice = np.concatenate([np.arange(600), labeled[::3]])
    fold = np.concatenate([folds.fold, folds.fold[::3]])
    at = np.concatenate([labeled, np.arange(600, len(twice))])
    double = Folds(len(twice), 3, at, codes[twice][at], fold, folds.n_folds, np.ones(len(fold)))
    assert_allclose(folds.class_counts(), double.class_counts())
    scale = FeatureScale.of(X)
    rows, doubled = Table(scale.rows(X)), Table(scale.rows(X[twice]))

    def bayes(rows, f):
        return naive_bayes_expert(rows, f.targets()).scores[:600]

    def linear(rows, f):  # stops at a hundredth of its gradient
        return linear_expert(rows, f)[0].scores[:600]

    for expert, close in ((bayes, 1e-4), (linear, 0.02)):
        weighed, copied, plain = (
            expert(rows, folds),
            expert(doubled, double),
            expert(rows, Folds.of(codes, 3)),
        )
        assert np.abs(weighed - copied).mean() < close < np.abs(weighed - plain).mean()
    v = label_weights(folds, np.ones(3), np.full(3, 1 / 3))
    assert_allclose(v, folds.weight[folds.tested])
    share, _, _, _ = last_step(folds, *[np.full((600, 6, 3), 1 / 3, np.float32)] * 2, v)
    assert share == 0.6


def test_the_walk_weighs_labels(problem):
    _, _, op, codes = problem
    S = symmetrized(op)
    weight = np.where(np.arange(600) % 2 == 0, 3.0, 1.0)
    weighed, plain = (walk_expert(S, Folds.of(codes, 3, weight=w), 0.875) for w in (weight, None))
    Y = np.where(codes[:, None] == np.arange(3), weight[:, None], 0.0)
    slow = 0.125 * np.linalg.solve(np.eye(600) - 0.875 * S.toarray(), Y)
    assert_allclose(weighed.own.sum(axis=1), slow, atol=2e-3)
    assert np.abs(weighed.scores - plain.scores).max() > 0.1


def test_a_label_of_little_weight_is_hardly_there(problem):
    X, y, op, codes = problem
    labeler = Labeler(op, X)
    wrong = codes.copy()
    at = np.flatnonzero(codes >= 0)[::4]
    wrong[at] = (codes[at] + 1) % 3
    trusted = np.ones(600)
    trusted[at] = 1e-3
    rest = codes < 0
    right = {
        name: (labeler.label(wrong, 3, weight=w).P.argmax(axis=1) == y)[rest].mean()
        for name, w in {"weighed": trusted, "plain": None}.items()
    }
    without = (labeler.label(np.where(trusted < 1, -1, codes), 3).P.argmax(axis=1) == y)[rest].mean()
    assert right["weighed"] > right["plain"]
    assert_allclose(right["weighed"], without, atol=0.03)


def test_alpha_is_chosen_in_the_same_folds(problem):
    X, _, op, codes = problem
    found = Labeler(op, X, alpha="auto").label(codes, 3)
    folds = Folds.of(codes, 3)
    Y0 = np.where(codes[:, None] == np.arange(3), 1.0, 0.0)
    assert found.alpha == choose_alpha(op, Y0, folds=folds.of_points())
    assert found.alpha in ALPHAS
    with pytest.raises(ValueError, match=r'alpha needs a value from 0 to 1, or "auto"; got \'large\''):
        Labeler(op, X, alpha="large").label(codes, 3)


@pytest.mark.parametrize("n", [12, 60, 300])
def test_a_temperature_of_few_labels_is_not_trusted(n):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    folds = Folds.of(y, 3)
    sharp = softmax(4 * rng.normal(size=(n, 3)) + 2 * np.eye(3)[y]).astype(np.float32)
    P = np.repeat(sharp[:, None], folds.n_slices, axis=1)
    _, power, _, hidden = last_step(folds, P, P, np.ones(n))
    (fitted,) = fit_weights([hidden], y, TEMPERATURE, np.ones(n))
    assert_allclose(power, fitted ** {12: 0.0, 60: 0.2, 300: 1.0}[n], rtol=1e-5)
    assert fitted < 0.8
