"""LabelPropagation with a prior: what it takes, keeps and refuses."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

import bvdt


@pytest.fixture(scope="module")
def counted():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 3
    X = sparse.csr_array(rng.poisson(np.where(np.arange(60) % 3 == y[:, None], 0.5, 0.2)).astype(float))
    op = bvdt.transition_matrix(X, "squared_euclidean", near=10, random_state=0)
    return X, y, op, np.where(rng.random(400) < 0.2, y, -1)


def with_prior(prior):
    return bvdt.LabelPropagation("squared_euclidean", alpha=0.875, random_state=0, n_jobs=1, prior=prior)


@pytest.mark.parametrize(
    "prior",
    ["auto", "linear", "naive_bayes", MultinomialNB(), LinearSVC(random_state=0), "array"],
    ids=["auto", "linear", "naive_bayes", "probabilities", "margins", "array"],
)
def test_priors(counted, prior):
    X, y, op, few = counted
    if isinstance(prior, str) and prior == "array":
        prior = np.full((400, 3), 0.2) + 0.4 * np.eye(3)[y]
    model = with_prior(prior).fit(X, few, operator=op)
    walk = with_prior(None).fit(y=few, operator=op)
    rest = few < 0
    assert (model.transduction_ == y)[rest].mean() >= (walk.transduction_ == y)[rest].mean() - 0.01
    assert_array_equal(model.transduction_[~rest], y[~rest])
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert model.blend_.n_tested == (~rest).sum()
    assert not hasattr(walk, "blend_")
    P = model.predict_proba(X[:50])
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_log_proba(X[:50]), np.log(P))
    assert (model.predict(X)[rest] == y[rest]).mean() > 0.7
    assert clone(model).prior is not None


def test_a_prior_without_x_takes_the_operators_data(counted):
    X, _, op, few = counted
    given = with_prior("auto").fit(X, few, operator=op)
    recovered = with_prior("auto").fit(y=few, operator=op)
    assert_array_equal(given.label_distributions_, recovered.label_distributions_)
    np.testing.assert_allclose(given.predict_proba(X), recovered.predict_proba(X), atol=1e-6)
    dense = X.toarray()
    made = bvdt.transition_matrix(dense, "gid", near=5, random_state=0)
    given, recovered = (
        with_prior("auto").fit(dense, few, operator=made),
        with_prior("auto").fit(y=few, operator=made),
    )
    np.testing.assert_allclose(given.label_distributions_, recovered.label_distributions_, atol=1e-3)
    np.testing.assert_allclose(given.predict_proba(dense), recovered.predict_proba(dense), atol=1e-3)


def test_a_prior_without_features_is_refused(counted):
    _, _, op, few = counted
    with pytest.raises(ValueError, match="a prior needs X, or an operator that knows its data"):
        with_prior("auto").fit(y=few, operator=op.toarray())
    P = with_prior(np.full((400, 3), 1 / 3)).fit(y=few, operator=op.toarray()).label_distributions_
    assert np.isfinite(P).all()


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        ("svm", "prior needs None"),
        (KMeans(), "classifier with decision_function"),
        (np.ones((400, 2)), r"shape \(400, 3\)"),
        (-np.ones((400, 3)), "finite and ≥ 0"),
    ],
)
def test_priors_that_are_none(counted, prior, match):
    X, _, op, few = counted
    with pytest.raises(ValueError, match=match):
        with_prior(prior).fit(X, few, operator=op)


@pytest.mark.slow
def test_more_labels_start_from_the_last_fit(counted):
    X, y, op, few = counted
    model = with_prior("auto").fit(X, few, operator=op)
    labeller = model._labelling[0]
    more = few.copy()
    more[np.flatnonzero(few < 0)[:8]] = y[np.flatnonzero(few < 0)[:8]]
    model.fit(X, more, operator=op)
    assert model._labelling[0] is labeller
    cold = with_prior("auto").fit(X, more, operator=op)
    assert (model.transduction_ == cold.transduction_).mean() > 0.97  # new labels joined other folds
    model.set_params(prior="linear").fit(X, more, operator=op)
    assert model._labelling[0] is not labeller
    model.set_params(prior=None).fit(X, more, operator=op)
    assert not hasattr(model, "blend_")


def test_a_prior_with_one_class(counted):
    X, _, op, few = counted
    model = with_prior("auto").fit(X, np.where(few == 0, 0, -1), operator=op)
    assert_array_equal(model.label_distributions_, 1)
    with pytest.raises(ValueError, match="hidden labels need a fit with a prior and two classes"):
        model.learning_curve()


@pytest.mark.slow
def test_hidden_labels_in_other_folds(counted):
    X, _, op, few = counted
    model = with_prior("auto").fit(X, few, operator=op)
    assert model.hidden_labels().outcome == model.blend_
    assert model.hidden_labels(10).folds.n_folds == 10
    assert len(model.learning_curve().accuracy) == 3


def test_explains_after_a_fit_with_a_prior(counted):
    X, _, op, few = counted
    model = with_prior("auto").fit(X, few, operator=op)
    point = int(np.flatnonzero(few < 0)[0])
    givers, shares = model.explain(point)
    label = model.label_distributions_[point].argmax()
    assert_array_equal(model.codes_[givers], label)
    assert 0 < shares.sum() <= 1 + 1e-9
