"""LabelPropagation with a blend: what it takes, keeps and refuses."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

import bvdt
from bvdt.documents.features import Features
from bvdt.documents.model import Model, load_model, save_model


@pytest.fixture(scope="module")
def counted():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 3
    X = sparse.csr_array(rng.poisson(np.where(np.arange(60) % 3 == y[:, None], 0.5, 0.2)).astype(float))
    op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=10, random_state=0)
    return X, y, op, np.where(rng.random(400) < 0.2, y, -1)


def with_blend(prior):
    return bvdt.LabelPropagation("squared_euclidean", alpha=0.875, random_state=0, n_jobs=1, blend=prior)


@pytest.mark.parametrize(
    "blend",
    ["auto", "linear", "naive_bayes", MultinomialNB(), LinearSVC(random_state=0), "array"],
    ids=["auto", "linear", "naive_bayes", "probabilities", "margins", "array"],
)
def test_priors(counted, blend):
    X, y, op, few = counted
    if isinstance(blend, str) and blend == "array":
        blend = np.full((400, 3), 0.2) + 0.4 * np.eye(3)[y]
    model = with_blend(blend).fit(X, few, operator=op)
    walk = with_blend(None).fit(y=few, operator=op)
    rest = few < 0
    assert (model.transduction_ == y)[rest].mean() >= (walk.transduction_ == y)[rest].mean() - 0.01
    assert_array_equal(model.transduction_[~rest], y[~rest])
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert model.blend_.n_tested == (~rest).sum()
    np.testing.assert_allclose(sum(model.blend_.shares.values()), 1)
    assert not hasattr(walk, "blend_")
    P = model.predict_proba(X[:50])
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_log_proba(X[:50]), np.log(P))
    assert (model.predict(X)[rest] == y[rest]).mean() > 0.7
    assert clone(model).blend is not None


def test_a_prior_without_x_takes_the_operators_data(counted):
    X, _, op, few = counted
    given = with_blend("auto").fit(X, few, operator=op)
    recovered = with_blend("auto").fit(y=few, operator=op)
    assert_array_equal(given.label_distributions_, recovered.label_distributions_)
    np.testing.assert_allclose(given.predict_proba(X), recovered.predict_proba(X), atol=1e-6)
    dense = X.toarray()
    made = bvdt.transition_matrix(dense, "gid", n_neighbors=5, random_state=0)
    given, recovered = (
        with_blend("auto").fit(dense, few, operator=made),
        with_blend("auto").fit(y=few, operator=made),
    )
    np.testing.assert_allclose(given.label_distributions_, recovered.label_distributions_, atol=1e-3)
    np.testing.assert_allclose(given.predict_proba(dense), recovered.predict_proba(dense), atol=1e-3)


def test_a_prior_without_features_is_refused(counted):
    _, _, op, few = counted
    with pytest.raises(ValueError, match="a blend needs X, or an operator that knows its data"):
        with_blend("linear").fit(y=few, operator=op.toarray())
    P = with_blend(np.full((400, 3), 1 / 3)).fit(y=few, operator=op.toarray()).label_distributions_
    assert np.isfinite(P).all()


@pytest.mark.parametrize(
    ("blend", "match"),
    [
        ("svm", "blend needs None"),
        (KMeans(), "classifier with decision_function"),
        (np.ones((400, 2)), r"shape \(400, 3\)"),
        (-np.ones((400, 3)), "finite and ≥ 0"),
    ],
)
def test_priors_that_are_none(counted, blend, match):
    X, _, op, few = counted
    with pytest.raises(ValueError, match=match):
        with_blend(blend).fit(X, few, operator=op)


@pytest.mark.slow
def test_more_labels_start_from_the_last_fit(counted):
    X, y, op, few = counted
    model = with_blend("auto").fit(X, few, operator=op)
    labeler = model._labeling[0]
    more = few.copy()
    more[np.flatnonzero(few < 0)[:8]] = y[np.flatnonzero(few < 0)[:8]]
    model.fit(X, more, operator=op)
    assert model._labeling[0] is labeler
    cold = with_blend("auto").fit(X, more, operator=op)
    assert (model.transduction_ == cold.transduction_).mean() > 0.97  # new labels joined other folds
    model.set_params(blend="linear").fit(X, more, operator=op)
    assert model._labeling[0] is not labeler
    model.set_params(blend=None).fit(X, more, operator=op)
    assert not hasattr(model, "blend_")


def test_a_prior_with_one_class(counted):
    X, _, op, few = counted
    model = with_blend("auto").fit(X, np.where(few == 0, 0, -1), operator=op)
    assert_array_equal(model.label_distributions_, 1)
    with pytest.raises(ValueError, match="hidden labels need a fit with a blend and two classes"):
        model.learning_curve()


@pytest.mark.slow
def test_hidden_labels_in_other_folds(counted):
    X, _, op, few = counted
    model = with_blend("auto").fit(X, few, operator=op)
    assert model.hidden_labels().outcome == model.blend_
    assert model.hidden_labels(10).folds.n_folds == 10
    assert len(model.learning_curve().accuracy) == 3


def test_explains_after_a_fit_with_a_prior(counted):
    X, _, op, few = counted
    model = with_blend("auto").fit(X, few, operator=op)
    point = int(np.flatnonzero(few < 0)[0])
    givers, shares = model.explain(point)
    label = model.label_distributions_[point].argmax()
    assert_array_equal(model.codes_[givers], label)
    assert 0 < shares.sum() <= model.reasons(point).parts["walk"][0] + 1e-9


@pytest.mark.parametrize("blend", ["auto", "linear", "naive_bayes", LinearSVC(random_state=0), "array", None])
@pytest.mark.parametrize("dense", [True, False])
def test_reasons_are_parts_that_sum_to_one(counted, blend, dense):
    X, y, op, few = counted
    X = X.toarray() if dense else X
    if isinstance(blend, str) and blend == "array":
        blend = np.full((400, 3), 0.2) + 0.4 * np.eye(3)[y]
    model = with_blend(blend).fit(X, few, operator=op)
    found = model.reasons(n=400)
    np.testing.assert_allclose(sum(found.parts.values()), 1)
    assert all((part >= 0).all() for part in found.parts.values())
    np.testing.assert_allclose(found.point_shares.sum(axis=1), found.parts["walk"], atol=1e-9)
    linear = found.parts.get("linear", np.zeros(400))
    np.testing.assert_allclose(found.feature_shares.sum(axis=1), linear, atol=1e-9)
    own = "walk" if blend is None else "linear" if isinstance(blend, str) else "prior"
    assert found.parts[own].mean() > 0.1
    best = model.label_distributions_.argmax(axis=1)
    named = found.points >= 0
    assert_array_equal(model.codes_[found.points][named], np.broadcast_to(best[:, None], named.shape)[named])
    for point in np.flatnonzero(few < 0)[:5]:
        one, new = model.reasons(int(point)), model.reasons(X[point])
        for name, part in found.parts.items():
            np.testing.assert_allclose(one.parts[name], part[point], atol=1e-6)
        np.testing.assert_allclose(sum(new.parts.values()), 1)
        assert one.features[0, 0] == found.features[point, 0]


def test_the_parts_of_a_blend_are_what_its_scores_add(counted):
    X, _, op, few = counted
    model = with_blend("auto").fit(X, few, operator=op)
    state, best = model.new_points, model.label_distributions_.argmax(axis=1)
    (labeler, _), every = model._labeling, np.arange(400)
    by_feature = labeler.rows.T.toarray() * state.weights.T[best]  # (N, d)
    experts = np.maximum([state.walk[every, best], by_feature.sum(axis=1), state.constant[best]], 0)
    stepped = state.share * labeler.step(state.unstepped)[every, best]
    neighbors = stepped / (stepped + (1 - state.share) * state.unstepped[every, best])
    shares = np.where(experts.sum(axis=0) > 0, (1 - neighbors) * experts / experts.sum(axis=0), 0)
    found = model.reasons(n=1)
    told = ~(experts.sum(axis=0) == 0)
    for name, share in zip(("walk", "linear", "class shares"), shares, strict=True):
        np.testing.assert_allclose(found.parts[name][told], share[told], atol=1e-6)
    strongest = told & (shares[1] > 0)
    assert_array_equal(found.features[strongest, 0], by_feature.argmax(axis=1)[strongest])


@pytest.mark.parametrize("several", [False, True])
def test_a_walk_without_weight_explains_nothing(several, monkeypatch):
    """Every point is linked to some of the other class, and the last column tells the classes."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    X = np.column_stack([rng.normal(size=(600, 6)), y + 0.4 * rng.normal(size=600)])
    half = sparse.random_array((300, 300), density=0.03, rng=rng)
    op = sparse.kron(half, [[0, 1], [0, 0]]) + sparse.kron(half.T, [[0, 0], [1, 0]]) + 1e-6 * sparse.eye(600)
    few = np.where(rng.random(600) < 0.5, y, -1)
    model = with_blend("linear").fit(X, few, operator=op)
    assert model.blend_.weights["walk"] == 0
    monkeypatch.setattr("bvdt.estimators._explaining.label_contributions", None)  # no solve either
    monkeypatch.setattr("bvdt.estimators._explaining.largest_contributions", None)
    point = int(np.flatnonzero(few < 0)[0])
    if several:
        points, shares = model.explain_all(3)
        assert (points == -1).all()
        assert not shares.any()
        found = model.reasons()
        assert (found.features[:, 0] == 6)[few < 0].mean() > 0.8
    else:
        assert not len(model.explain(point)[0])
        assert model.reasons(point).features[0, 0] == 6


def test_a_row_of_a_table_is_a_new_point(counted):
    frames = pytest.importorskip("pandas")
    X, _, _, few = counted
    table = frames.DataFrame(X.toarray(), columns=[f"word{j}" for j in range(60)])
    model = with_blend("linear").fit(table, few)
    found = model.reasons(table[5:6])  # without a warning of names that are missing
    assert_array_equal(found.features, with_blend("linear").fit(X.toarray(), few).reasons(X[5]).features)


def test_an_updated_or_stored_blend_gives_its_reasons(counted, tmp_path):
    X, _, op, few = counted
    model = with_blend("auto").fit(X, few, operator=op)
    path = tmp_path / "m.bvdt"
    save_model(path, Model(Features("matrix", "none", 60), model, ["a", "b", "c"]))
    stored = load_model(path).propagation.reasons(5)
    for name, part in model.reasons(5).parts.items():
        np.testing.assert_allclose(stored.parts[name], part, atol=1e-5)
    model.update(X[:3])
    np.testing.assert_allclose(sum(model.reasons().parts.values()), np.ones(403))


def test_without_memory_the_walk_labels_alone(counted, monkeypatch):
    X, _, op, few = counted
    monkeypatch.setattr(bvdt._support.memory, "available_bytes", lambda: 1e5)
    with pytest.warns(UserWarning, match=r'blend="auto" needs 0 GiB for 400 points and 3 classes; .* alone'):
        model = with_blend("auto").fit(X, few, operator=op)
    assert_array_equal(model.transduction_, with_blend(None).fit(X, few, operator=op).transduction_)
