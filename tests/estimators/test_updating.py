"""``LabelPropagation.update``: new points and new labels for a fitted model."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

import bvdt
from bvdt import LabelPropagation
from bvdt.documents.features import Features
from bvdt.documents.model import Model, load_model, save_model
from bvdt.operators.learning import with_learned_bandwidth

KINDS = {
    "dense": {"divergence": "squared_euclidean"},
    "one tree": {"divergence": "squared_euclidean", "n_neighbors": 0},
    "forest": {"divergence": "gid", "n_trees": 2},
    "sparse": {"divergence": "cosine", "n_trees": 2},
}


def digits(kind, n=600):
    X, y = load_digits(return_X_y=True)
    return (sparse.csr_array(X[:n]) if kind in ("forest", "sparse") else X[:n]), y[:n]


def labels_of(y, n, seed=0):
    few = np.full(len(y), -1)
    chosen = np.random.default_rng(seed).choice(len(y), n, replace=False)
    few[chosen] = y[chosen]
    return few


def fitted(kind="dense", blend="auto", n_labels=80, **options):
    X, y = digits(kind)
    few = np.concatenate([labels_of(y[:500], n_labels), labels_of(y[500:], 20)])
    model = LabelPropagation(**KINDS[kind], blend=blend, random_state=0, **options).fit(X[:500], few[:500])
    return model, X, y, few


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_prior_labels_are_those_of_a_fit_on_the_grown_walk(kind):
    model, X, _, few = fitted(kind, None)
    assert model.update(X[500:], few[500:]) is model
    again = LabelPropagation(**KINDS[kind], blend=None).fit(y=few, operator=model.operator_)
    assert_array_equal(model.label_distributions_, again.label_distributions_)
    assert_array_equal(model.codes_, again.codes_)
    assert_array_equal(model.transduction_, again.transduction_)


@pytest.mark.parametrize("blend", [None, "auto", "linear"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_update_is_as_right_as_a_refit(kind, blend):
    model, X, y, few = fitted(kind, blend)
    model.update(X[500:], few[500:])
    refit = LabelPropagation(**KINDS[kind], blend=blend, random_state=0).fit(X, few)
    rest, loss = few < 0, 0.05 if kind == "one tree" else 0.03  # no neighbors mend a tree
    right = [(m.transduction_[rest] == y[rest]).mean() for m in (model, refit)]
    assert right[0] > right[1] - loss
    right = [(m.predict(X[500:]) == y[500:]).mean() for m in (model, refit)]
    assert right[0] > right[1] - 2 * loss
    assert_allclose(model.label_distributions_.sum(axis=1), 1)


def test_what_hidden_labels_decided_holds_until_there_are_half_as_many_labels_more():
    model, X, _, few = fitted(n_labels=80)
    before = model.blend_
    model.update(X[500:], few[500:])
    assert model.blend_ is before
    assert model.hidden_labels().folds.n_folds == 5
    assert len(model.hidden_labels().hidden) == 100
    assert model.learning_curve().accuracy[-1].value > 0.7
    model, X, _, few = fitted(n_labels=30)
    model.update(X[500:], few[500:])
    assert model.blend_.n_tested > 40


@pytest.mark.parametrize("blend", [None, "auto"])
def test_classes_may_be_new(blend):
    X, y = digits("sparse")
    old, late = np.flatnonzero(y < 8), np.flatnonzero(y >= 8)
    few = labels_of(y[old], 100)
    model = LabelPropagation(**KINDS["sparse"], blend=blend, random_state=0).fit(X[old], few)
    given = np.where(np.arange(len(late)) < 20, y[late], -1)
    model.update(X[late], given)
    every = np.concatenate([old, late])
    refit = LabelPropagation(**KINDS["sparse"], blend=blend, random_state=0)
    refit.fit(X[every], np.concatenate([few, given]))
    assert_array_equal(model.classes_, np.arange(10))
    assert_array_equal(model.codes_, refit.codes_)
    for part in (slice(0, len(old)), slice(len(old), None)):
        right = [(m.transduction_[part] == y[every][part]).mean() for m in (model, refit)]
        assert right[0] > right[1] - 0.03
    assert set(model.predict(X[late])) >= {8, 9}


@pytest.mark.parametrize("blend", [None, "auto"])
def test_fitted_points_get_other_labels_and_lose_them(blend):
    model, X, y, few = fitted(blend=blend)
    labeled = np.flatnonzero(few[:500] >= 0)
    operator, wrong = model.operator_, (y[labeled[0]] + 1) % 10
    model.update(labels={0: y[0], labeled[0]: wrong, labeled[1]: -1, labeled[2]: None})
    assert model.operator_ is operator
    assert model.classes_[model.codes_[0]] == y[0]
    assert model.transduction_[labeled[0]] == wrong
    assert_array_equal(model.codes_[labeled[1:3]], -1)
    model.update(X[500:], few[500:], labels={labeled[0]: y[labeled[0]]})
    assert model.transduction_[labeled[0]] == y[labeled[0]]
    assert len(model.transduction_) == 600


def test_a_class_without_labels_is_no_class_any_more():
    model = LabelPropagation("squared_euclidean", n_neighbors=2, random_state=0)
    X = np.array([[0.0], [1.0], [5.0], [8.0], [9.0]])
    model.fit(X, ["low", "", "middle", "", "high"]).update(labels={2: ""})
    assert model.classes_.tolist() == ["high", "low"]
    assert set(model.transduction_) == {"high", "low"}
    with pytest.raises(ValueError, match="leave at least one label"):
        model.update(labels={0: None, 4: None})


def test_updates_without_labels_and_one_after_the_other():
    model, X, y, _ = fitted(n_labels=150)
    for first in range(500, 600, 25):
        model.update(X[first : first + 25])
    assert (model.codes_[500:] == -1).all()
    assert (model.transduction_[500:] == y[500:]).mean() > 0.85
    assert model.operator_.shape == (600, 600)


def test_weights_of_new_labels():
    X = np.array([[0.0], [0.1], [4.0], [4.1]])
    model = LabelPropagation("squared_euclidean", n_neighbors=2, random_state=0).fit(X[[0, 1]], [0, -1])
    one, other = (
        LabelPropagation("squared_euclidean", n_neighbors=1, random_state=0)
        .fit(X[[0, 1]], [0, -1])
        .update(X[2:], [1, 0], weight)
        for weight in ([1.0, 0.0], [0.0, 1.0])
    )
    assert one.transduction_[2] == 1
    assert set(other.transduction_) == {0}
    with pytest.raises(ValueError, match="sample_weight needs one entry per point, 2"):
        model.update(X[2:], [1, 0], [1.0])


def test_what_a_fitted_model_does_an_updated_one_does(tmp_path):
    model, X, y, few = fitted("sparse")
    model.update(X[500:], few[500:])
    giver, share = model.explain(550)
    assert (few[giver] == model.transduction_[550]).all()
    assert 0 < share.sum() <= model.reasons(550).parts["walk"][0] + 1e-9
    points, _ = model.explain_all(2)
    assert points.shape == (600, 2)
    suggested = model.suggest(5)
    assert (few[suggested] < 0).all()
    path = tmp_path / "model.bvdt"
    save_model(path, Model(Features("matrix", "none", 64), model, [str(k) for k in range(10)]))
    stored = load_model(path).propagation
    assert_allclose(stored.predict_proba(X[:50]), model.predict_proba(X[:50]), atol=1e-6)
    later = stored.update(X[:30], few[:30])
    assert (later.transduction_[600:] == y[:30]).mean() > 0.8
    assert later.blend_.n_tested > 80


def test_users_classifiers_and_probabilities():
    model, X, y, few = fitted(blend=GaussianNB())
    model.update(X[500:], few[500:])
    assert (model.transduction_[500:] == y[500:]).mean() > 0.85
    known = np.full((600, 10), 0.1)
    model, X, y, few = fitted(blend=known[:500])
    with pytest.raises(ValueError, match="a blend of 600 rows, one per point, new points last; it has 500"):
        model.update(X[500:], few[500:])
    model.set_params(blend=known).update(X[500:], few[500:])
    assert len(model.transduction_) == 600


def test_another_prior_or_alpha_is_weighed_anew():
    for options in ({"blend": "linear"}, {"alpha": 0.5}):
        model, X, _, few = fitted("sparse")
        before = model.blend_
        model.set_params(**options).update(X[500:], few[500:])
        assert model.blend_ is not before
        assert model.alpha_ == options.get("alpha", 0.9)


def test_names_of_features_stay():
    X, y = digits("dense")
    frame = pd.DataFrame(X, columns=[f"pixel {j}" for j in range(64)])
    few = labels_of(y[:500], 100)
    model = LabelPropagation("squared_euclidean", random_state=0).fit(frame[:500], few)
    model.update(frame[500:])
    assert model.n_features_in_ == 64
    assert model.feature_names_in_[3] == "pixel 3"
    with pytest.raises(ValueError, match="feature names"):
        model.update(frame[500:].rename(columns={"pixel 3": "other"}))


def test_a_learnt_bandwidth_is_learnt_again():
    model, X, _, few = fitted(blend=None, bandwidth="learn")
    before = model.operator_.bandwidth
    model.update(X[500:], few[500:])
    assert model.operator_.bandwidth == with_learned_bandwidth(model.operator_).bandwidth != before


REFUSED = {
    "nothing": ((), {}, "update needs X_new"),
    "labels of nobody": ((None, [1]), {}, "y_new and sample_weight need X_new"),
    "a feature too few": ((np.zeros((2, 63)),), {}, "features"),
    "too few labels": ((np.zeros((2, 64)), [1]), {}, "y_new needs 2 labels, one per row of X_new; it has 1"),
    "texts among numbers": ((np.zeros((2, 64)), ["a", ""]), {}, "y_new needs labels as those of the fit"),
    "no such point": ((), {"labels": {500: 1}}, "a point of labels needs an integer from 0 to 499; got 500"),
    "not finite": ((np.full((2, 64), np.nan),), {}, "X needs finite values"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_leaves_the_model_as_it_was(case):
    model, *_ = fitted()
    before = dict(vars(model))
    arguments, options, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        model.update(*arguments, **options)
    assert vars(model) == before


def test_a_model_needs_to_be_fitted():
    with pytest.raises(NotFittedError):
        LabelPropagation().update(np.zeros((2, 2)))
    model = LabelPropagation().fit(y=[0, 1, -1], operator=np.full((3, 3), 1 / 3))
    with pytest.raises(ValueError, match="new points need an operator with extend"):
        model.update(np.zeros((2, 2)))


@pytest.mark.slow
def test_news_that_come_later_are_labeled_as_by_a_refit(data_folder):
    with np.load(data_folder / "bbc.npz") as file:
        arrays = file["data"].astype(float), file["indices"].astype(np.int32), file["indptr"]
        X, y = sparse.csr_array(arrays, shape=tuple(file["shape"])), file["labels"]
    X, y = X[(order := np.random.default_rng(0).permutation(len(y)))], y[order].astype(str)
    few = np.full(len(y), "", object)
    few[:100], few[1900:1920] = y[:100], y[1900:1920]
    model = bvdt.text_pipeline(random_state=0).fit(X[:1900], few[:1900])
    model[-1].update(model[:-1].transform(X[1900:]), few[1900:])
    refit = bvdt.text_pipeline(random_state=0).fit(X, few)
    rest = few == ""
    right = [(m[-1].transduction_[rest] == y[rest]).mean() for m in (model, refit)]
    assert right[0] > right[1] - 0.01
