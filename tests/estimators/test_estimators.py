"""LabelPropagation: what it computes, takes, keeps and refuses."""

import io
import pickle
import re
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

import bvdt
from bvdt import LabelPropagation
from bvdt.estimators._labels import encode_labels
from bvdt.walks.class_scores import class_distributions, match_class_mass
from bvdt.walks.propagation import label_scores


def propagation(**parameters):
    """The walk alone, unless a test asks for a blend."""
    return LabelPropagation(**{"random_state": 0, "n_jobs": 1, "blend": None, **parameters})


@pytest.fixture(scope="module")
def counts():
    """Three classes of 40 Poisson points."""
    rng = np.random.default_rng(0)
    rates = rng.gamma(1.0, 3.0, size=(3, 8))
    y = np.repeat(np.arange(3), 40)
    return rng.poisson(rates[y]).astype(float), y


@pytest.fixture(scope="module")
def few(counts):
    """Two labels per class, −1 for the rest."""
    y = counts[1].copy()
    y[np.arange(120) % 40 > 1] = -1
    return y


@pytest.fixture(scope="module")
def fitted(counts, few):
    return propagation().fit(counts[0], few)


# -- what it computes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["walk", "spread"])
@pytest.mark.parametrize("clamp", [False, True])
def test_scores_are_equation_29(fitted, few, method, clamp):
    op, labeled = fitted.operator_, few >= 0
    Y0 = np.eye(3)[few] * labeled[:, None]
    scores, steps = label_scores(
        op, Y0, method=method, alpha=0.7, max_iter=500, tol=1e-12, clamp=labeled if clamp else None
    )
    M = (op if method == "walk" else op.symmetrized()).toarray()
    alpha = np.full(120, 0.7)
    if clamp:
        M[labeled], Y0 = 0.0, np.where(labeled[:, None], Y0 / 0.3, 0.0)
    expected = np.linalg.solve(np.eye(120) - alpha[:, None] * M, 0.3 * Y0)
    assert (np.abs(scores - expected).sum(axis=0) < 1e-11 * expected.sum(axis=0)).all()
    assert 1 < steps < 500


@pytest.mark.parametrize("method", ["walk", "spread"])
def test_scores_of_any_matrix(method):
    """An array, a sparse matrix and an operator that hands back its argument give what their matrix gives."""
    P = np.random.default_rng(0).dirichlet(np.ones(30), size=30)
    Y0 = np.eye(30)[:, :2]
    expected = label_scores(aslinearoperator(P), Y0, method=method)[0]
    for M in (P, sparse.csr_array(P)):
        assert_allclose(label_scores(M, Y0, method=method)[0], expected, rtol=1e-12)
    same = LinearOperator((30, 30), matvec=lambda v: v, matmat=lambda v: v, rmatvec=lambda v: v, dtype=float)
    scores, _ = label_scores(same, Y0, method=method, tol=1e-12)
    assert_allclose(scores, Y0, atol=1e-10)
    assert_allclose(bvdt.propagate_labels(same, Y0, alpha=0.5), Y0)


@pytest.mark.parametrize("method", ["walk", "spread"])
def test_scores_of_one_column_keep_its_shape(method):
    P = np.random.default_rng(0).dirichlet(np.ones(20), size=20)
    Y0 = np.eye(20)[0]
    scores, _ = label_scores(P, Y0, method=method)
    assert_allclose(scores, label_scores(P, Y0[:, None], method=method)[0][:, 0])
    with pytest.raises(ValueError, match="clamp needs one entry per point, 20"):
        label_scores(P, Y0, method=method, clamp=[True, False, True])


def test_a_point_without_links_keeps_its_own_label():
    P = np.zeros((4, 4))
    P[:2, :2] = [[0, 1], [1, 0]]
    Y0 = np.eye(4)[:, [0, 3]]
    scores, _ = label_scores(P, Y0, method="spread", tol=1e-12)
    assert np.isfinite(scores).all()
    assert_allclose(scores[3], [0.0, 0.1])
    assert_allclose(scores[2], 0.0)


def test_class_mass_has_the_labels_shares():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([5.0, 1.0], size=2000)
    prior = np.array([0.5, 0.5])
    matched = match_class_mass(P, np.ones(2000, bool), prior)
    assert_allclose(matched.sum(axis=1), 1.0)
    weighted = P * (prior / P.mean(axis=0))
    assert_allclose(weighted.mean(axis=0), prior)
    assert_allclose(matched, weighted / weighted.sum(axis=1, keepdims=True))
    assert match_class_mass(P, np.zeros(2000, bool), prior) is P


def test_rows_that_no_label_reaches_get_the_prior():
    scores = np.array([[0.0, 0.0], [1e-320, 0.0], [3.0, 1.0]])
    assert_allclose(class_distributions(scores, np.array([0.2, 0.8])), [[0.2, 0.8], [1.0, 0.0], [0.75, 0.25]])


def test_classes_and_attributes(fitted, counts, few):
    X, y = counts
    assert (fitted.transduction_ == y).mean() > 0.9
    assert_array_equal(fitted.classes_, [0, 1, 2])
    assert_allclose(fitted.label_distributions_.sum(axis=1), 1.0)
    assert fitted.n_features_in_ == 8
    assert 1 < fitted.n_iter_ < 300
    assert isinstance(fitted.operator_, bvdt.operators.WalkOperator)
    walk = propagation(method="walk", alpha=0.01, class_mass_normalization=False).fit(X, few)
    Y0 = np.eye(3)[few] * (few >= 0)[:, None]
    assert_array_equal(walk.transduction_, bvdt.propagate_labels(walk.operator_, Y0).argmax(axis=1))


def test_new_points_of_digits():
    """Out of sample within two points of the transductive accuracy."""
    X, y = load_digits(return_X_y=True)
    known, new = np.split(np.random.default_rng(0).permutation(len(y)), [1257])
    labels = np.where(np.arange(1257) < 100, y[known], -1)
    model = propagation(divergence="squared_euclidean").fit(X[known], labels)
    inside = (model.transduction_ == y[known])[100:].mean()
    assert inside > 0.9
    assert model.score(X[new], y[new]) > inside - 0.02


def test_new_points_are_the_mean_of_their_nearest(fitted, counts):
    """A fitted point keeps its distribution; another has its neighbors', weighted as in a near field."""
    X, _ = counts
    distinct = np.array([(row == X).all(axis=1).sum() == 1 for row in X])
    assert_allclose(fitted.predict_proba(X[distinct]), fitted.label_distributions_[distinct])
    new = X[:5] + 0.5
    index, d = fitted.operator_.nearest(new, 15)
    weight = np.exp(-3 * d / d[:, -1:])
    expected = (weight[:, :, None] * fitted.label_distributions_[index]).sum(axis=1)
    assert_allclose(fitted.predict_proba(new), expected / weight.sum(axis=1, keepdims=True))
    assert_allclose(fitted.predict_log_proba(new), np.log(fitted.predict_proba(new)))


@pytest.mark.parametrize("method", ["spread", "walk"])
def test_explanations_are_what_a_label_adds(counts, few, method):
    """Shares against scores with one label left out, and against the whole inverse."""
    X, _ = counts
    weight = np.where(np.arange(120) % 2, 2.0, 1.0)
    model = propagation(method=method, tol=1e-12, max_iter=5000).fit(X, few, sample_weight=weight)
    op, i = model.operator_, 57
    label = model.label_distributions_[i].argmax()
    givers = np.flatnonzero(few == model.classes_[label])
    M = (op if method == "walk" else op.symmetrized()).toarray()
    G = np.linalg.inv(np.eye(120) - 0.9 * M)[i, givers] * weight[givers]
    points, shares = model.explain(i, n=2)
    order = np.argsort(-G)
    assert_array_equal(points, givers[order])
    assert_allclose(shares, (G / G.sum())[order], rtol=1e-5)
    assert len(model.explain(i, n=1)[0]) == 1
    # A new point: the mean of its neighbors' shares, by their weight and their probability of the class.
    new = X[i] + 0.5
    near, d = op.nearest(new[None], 15)
    P = model.label_distributions_[near[0]] * np.exp(-3 * d[0] / d[0, -1])[:, None]
    label = P.sum(axis=0).argmax()
    givers = np.flatnonzero(few == model.classes_[label])
    G = np.linalg.inv(np.eye(120) - 0.9 * M)[np.ix_(near[0], givers)] * weight[givers]
    expected = P[:, label] @ (G / G.sum(axis=1, keepdims=True))
    points, shares = model.explain(new, n=10)
    order = np.argsort(-expected)
    assert_array_equal(points, givers[order])
    assert_allclose(shares, (expected / expected.sum())[order], rtol=1e-5)


def test_explain_refuses(fitted, counts, few):
    X, _ = counts
    with pytest.raises(ValueError, match="one point at a time"):
        fitted.explain(X[:2])
    with pytest.raises(ValueError, match="point needs an integer from 0 to 119"):
        fitted.explain(120)
    for bad in ({"method": "poisson"}, {"clamp": True}):
        with pytest.raises(ValueError, match="explain needs method"):
            propagation(**bad).fit(X, few).explain(0)


def test_weights_of_labels(counts, few):
    """Weight 0 is no label, 2 is two labels; points stay."""
    X, _ = counts
    first = np.flatnonzero(few == 0)[0]
    weight = np.ones(120)
    weight[first] = 0.0
    op = propagation().fit(X, few).operator_
    without = propagation().fit(y=np.where(np.arange(120) == first, -1, few), operator=op)
    left_out = propagation().fit(y=few, sample_weight=weight, operator=op)
    assert_allclose(left_out.label_distributions_, without.label_distributions_)
    weight[first] = 3.0
    heavier = propagation().fit(y=few, sample_weight=weight, operator=op)
    assert (
        heavier.label_distributions_[first, 0]
        > propagation().fit(y=few, operator=op).label_distributions_[first, 0]
    )
    for bad, match in (
        (np.ones(3), "one entry per point, 120"),
        (-weight, r"finite values ≥ 0; sample_weight\[0\]"),
        (np.zeros(120), "other than zero"),
    ):
        with pytest.raises(ValueError, match=match):
            propagation().fit(X, few, sample_weight=bad)


def test_signs_are_warned_about():
    with pytest.warns(UserWarning, match="-1 means unlabeled"):
        encode_labels(np.array([-1, 1, -1, 1]))
    encode_labels(np.array([-1, 1, 2]))
    encode_labels(np.array([1, 1]))


def test_alpha_by_folds(counts, few):
    """Two chains with a label at every 25th point need a long walk; too few labels keep the default."""
    position = np.repeat(np.arange(300.0), 2)
    X = np.column_stack([position, np.tile([0.0, 4.0], 300)])
    y = np.tile([0, 1], 300)
    known = position % 25 == 0
    model = propagation(divergence="squared_euclidean", n_neighbors=3, alpha="auto").fit(
        X, np.where(known, y, -1)
    )
    assert model.alpha_ > 0.9
    assert (
        propagation(alpha="auto").fit(counts[0], np.where(np.arange(120) % 40, -1, counts[1])).alpha_ == 0.9
    )
    assert propagation().fit(counts[0], few).alpha_ == 0.9
    with pytest.raises(ValueError, match="alpha needs a value from 0 to 1"):
        propagation(alpha="best").fit(counts[0], few)


@pytest.mark.slow
def test_alpha_by_folds_costs_nothing_on_digits():
    """Sharp scores are no reason to choose a small alpha."""
    X, y = load_digits(return_X_y=True)
    known = np.random.default_rng(0).random(len(y)) < 0.1
    labels = np.where(known, y, -1)
    default = propagation(divergence="squared_euclidean").fit(X, labels)
    chosen = propagation(divergence="squared_euclidean", alpha="auto").fit(
        y=labels, operator=default.operator_
    )
    right = [(model.transduction_ == y)[~known].mean() for model in (default, chosen)]
    assert right[1] >= right[0] - 0.01


@pytest.mark.parametrize("method", ["poisson", "poisson_mbo"])
def test_poisson_modes(counts, few, method):
    X, y = counts
    model = propagation(method=method).fit(X, few)
    assert (model.transduction_ == y).mean() > 0.9
    assert_distributions(model, X)
    assert_array_equal(model.transduction_[few >= 0], few[few >= 0])


def test_skewed_labels():
    """27 labels of one class and 3 of another of about its size: no worse than scikit-learn's by 0.02."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    skewed = np.where(np.arange(len(y)) < 30, y, -1)
    theirs = (LabelSpreading().fit(X, skewed).transduction_ == y)[30:].mean()
    ours = (propagation(divergence="squared_euclidean").fit(X, skewed).transduction_ == y)[30:].mean()
    assert ours >= theirs - 0.02


# -- hard cases: finite probabilities that sum to 1, or a clear error ---------------------------------------


def assert_distributions(model, X):
    for P in (model.label_distributions_, model.predict_proba(X)):
        assert np.isfinite(P).all()
        assert (P >= 0).all()
        assert_allclose(P.sum(axis=1), 1.0)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("method", ["walk", "spread"])
@pytest.mark.parametrize("divergence", ["gid", "squared_euclidean"])
@pytest.mark.parametrize("n_neighbors", [0, 10])
def test_hard_cases(counts, few, divergence, method, normalize, n_neighbors):
    X, y = counts
    model = propagation(divergence=divergence, method=method, n_neighbors=n_neighbors, bandwidth=0.01)
    model.set_params(class_mass_normalization=normalize)
    far = np.vstack([X[:-1], np.full((1, 8), 1e6)])
    assert_distributions(model.fit(far, few), np.full((1, 8), 1e9))
    empty = sparse.csr_array(np.vstack([np.zeros((1, 8)), X[1:]]))
    assert_distributions(model.fit(empty, few), sparse.csr_array((2, 8)))
    one_label = np.where((few == 2) & (np.arange(120) != 80), -1, few)
    assert_distributions(model.fit(X, one_label), X)
    assert_array_equal(model.classes_, [0, 1, 2])
    one_class = np.where(few == 0, 0, -1)
    assert_distributions(model.fit(X, one_class), X)
    assert (model.transduction_ == 0).all()
    assert_distributions(model.fit(X, y), X)
    with pytest.raises(ValueError, match="all 120 points are unlabeled"):
        model.fit(X, np.full(120, -1))


# -- labels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        np.array(["b", "a", "", "b"]),
        np.array(["b", "a", None, "b"], dtype=object),
        np.array(["b", "a", np.nan, "b"], dtype=object),
        np.array(["b", "a", -1, "b"], dtype=object),
        pd.Series(["b", "a", None, "b"]),
        pd.Series(["b", "a", pd.NA, "b"], dtype="string"),
        pd.Series(["b", "a", None, "b"], dtype="category"),
        ["b", "a", "", "b"],
    ],
    ids=["str", "None", "nan", "object -1", "Series", "string dtype", "category", "list"],
)
def test_unlabeled_strings(y):
    classes, codes = encode_labels(y)
    assert_array_equal(classes, ["a", "b"])
    assert_array_equal(codes, [1, 0, -1, 1])


@pytest.mark.parametrize(
    "y", [[7, 3, -1, 7], [7.0, 3.0, np.nan, 7.0], pd.array([7, 3, None, 7], dtype="Int64")]
)
def test_unlabeled_numbers(y):
    classes, codes = encode_labels(y)
    assert_array_equal(classes.astype(int), [3, 7])
    assert_array_equal(codes, [1, 0, -1, 1])
    assert_array_equal(encode_labels(np.array([True, False]))[1], [1, 0])


def test_bad_labels(counts, few):
    X, _ = counts
    for y, match in (
        (few[:-1], "120 labels"),
        (np.linspace(0, 1, 120), "Unknown label type"),
        (np.array(["a", 1] * 60, dtype=object), "one type"),
        (None, "requires y"),
    ):
        with pytest.raises(ValueError, match=match):
            propagation().fit(X, y)
    with pytest.warns(DataConversionWarning):
        propagation().fit(X, few[:, None])


# -- inputs, tools ------------------------------------------------------------------------------------------


def test_sparse_and_frames(counts, few, fitted):
    X, _ = counts
    names = np.array([f"word{j}" for j in range(8)])
    frame = pd.DataFrame(X, columns=names)
    model = propagation().fit(frame, pd.Series(few))
    assert_array_equal(model.transduction_, fitted.transduction_)
    assert_array_equal(model.feature_names_in_, names)
    assert_array_equal(model.predict(frame[:5]), fitted.predict(X[:5]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.iloc[:, ::-1])
    for make in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert (propagation().fit(make(X), few).predict(make(X)) == fitted.predict(X)).mean() > 0.9


@pytest.mark.parametrize("word", ["-1", "nan", "None", "<NA>", "unlabeled"])
def test_words_for_unlabeled_are_no_classes(word):
    y = np.array(["0", "1", word, word])
    with pytest.raises(ValueError, match=rf'y\[2\] is the text "{word}": did you mean unlabeled\?'):
        bvdt.LabelPropagation("squared_euclidean", n_neighbors=1).fit([[0.0], [1.0], [0.1], [0.9]], y)


FOUR = [[0.0], [1.0], [0.1], [0.9]]


def on_four(y):
    return bvdt.LabelPropagation("squared_euclidean", n_neighbors=1, random_state=0).fit(FOUR, y)


@pytest.mark.parametrize(
    "y",
    [
        np.where([True, True, False, False], ["cat", "dog", "cat", "dog"], "-1"),
        np.array(["cat", "dog", "-1", -1], dtype=object),
        pd.Series([0, 1, -1, -1]).astype(str),
        np.array([b"0", b"1", b"-1", b"-1"]),
    ],
)
def test_minus_one_as_text_is_no_class(y):
    with pytest.raises(ValueError, match=r'y\[2\] is the text "-1": did you mean unlabeled\?'):
        on_four(y)


@pytest.mark.parametrize("word", ["NaN", "N/A", "null", "Unlabeled", "?", "unknown"])
def test_classes_that_look_like_none_are_told(word):
    with pytest.warns(
        UserWarning, match=rf"^y: {re.escape(repr(word))} was taken for a class; .* write \"\"$"
    ):
        model = on_four(np.array(["cat", "dog", word, ""]))
    assert word in model.classes_


def test_classes_that_look_alike_are_told():
    with pytest.warns(UserWarning, match=r"y: 'LIBS' and 'libs ' are different classes; .* write them alike"):
        assert list(on_four(np.array(["LIBS", "libs ", "", ""])).classes_) == ["LIBS", "libs "]
    assert list(on_four(np.array(["C", "C++", "C#", "1"], dtype=object)).classes_) == ["1", "C", "C#", "C++"]


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.uint64])
def test_minus_one_in_unsigned_numbers_is_refused(dtype):
    y = np.array([0, 1, -1, -1]).astype(dtype)
    with pytest.raises(ValueError, match=rf"y\[2\] = {np.iinfo(dtype).max}, which is what -1 .* in uint"):
        on_four(y)
    assert list(on_four(np.array([0, 1, 255, 0], np.uint8)).classes_) == [0, 1, 255]  # a mask's
    with pytest.warns(UserWarning, match="y is 255 for 3 of 4 points, and 255 is what -1"):
        on_four(np.array([0, 255, 255, 255], np.uint8))


@pytest.mark.parametrize(
    ("more", "kept"), [({"blend": None}, False), ({"clamp": True}, True), ({"blend": "linear"}, True)]
)
def test_given_labels_are_kept_with_a_prior_or_clamped(more, kept):
    y = np.repeat([0, 1], 30)
    X = np.random.default_rng(0).normal(size=(60, 2)) + 9 * y[:, None]
    wrong = np.where(np.arange(60) == 3, 1, y)
    model = bvdt.LabelPropagation("squared_euclidean", random_state=0, **more).fit(X, wrong)
    assert (model.transduction_[3] == wrong[3]) == kept
    assert_array_equal(np.delete(model.transduction_, 3), np.delete(y, 3))


def test_class_balance_has_no_part_in_a_blend(counts, few):
    X, _ = counts
    P = [
        bvdt.LabelPropagation(blend="linear", class_balance=on, random_state=0)
        .fit(X, few)
        .label_distributions_
        for on in (True, False)
    ]
    assert_array_equal(*P)


def test_masked_labels_are_unlabeled():
    y = np.ma.masked_array([0, 1, 1, 0], mask=[False, False, True, True])
    model = bvdt.LabelPropagation("squared_euclidean", n_neighbors=1, blend=None, random_state=0)
    assert_array_equal(model.fit([[0.0], [1.0], [0.1], [0.9]], y).transduction_, [0, 1, 0, 1])


def test_strings_in_a_pipeline():
    texts = [
        "ball goal team",
        "goal team win",
        "ball win",
        "vote law court",
        "law vote",
        "court law party",
    ] * 5
    y = np.array(["sport", "", "", "law", "", ""] + [""] * 24)
    model = make_pipeline(CountVectorizer(), propagation()).fit(texts, y)
    assert_array_equal(model.predict(["team goal", "party vote"]), ["sport", "law"])


def test_grid_search_and_clone(counts):
    X, y = counts
    grid = {"bandwidth": ["auto", 5.0], "divergence": ["gid", "squared_euclidean"], "alpha": [0.5, 0.9]}
    search = GridSearchCV(propagation(), grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_estimator_.get_params()["alpha"] in (0.5, 0.9)
    own = bvdt.divergences.get("itakura_saito")
    assert clone(propagation(divergence=own, n_blocks=500)).n_blocks == 500


@pytest.mark.parametrize("parameters", [{}, {"n_blocks": 1000}, {"method": "walk"}])
def test_pickle_and_joblib(counts, few, parameters):
    X = sparse.csr_array(counts[0])
    model = propagation(**parameters).fit(X, few)
    expected = model.predict_proba(X)
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(buffer)):
        assert_array_equal(copy.predict_proba(X), expected)
        assert_array_equal(copy.suggest(3), model.suggest(3))
        assert copy.get_params() == model.get_params()


def test_states_and_warnings(counts, few):
    X, _ = counts
    for call in (lambda m: m.predict(X), lambda m: m.predict_proba(X), lambda m: m.suggest()):
        with pytest.raises(NotFittedError):
            call(propagation())
    with pytest.warns(ConvergenceWarning, match="2 steps"):
        propagation(max_iter=2).fit(X, few)
    for bad in ({"alpha": 2}, {"method": "run"}, {"tol": -1}, {"max_iter": -1}, {"bandwidth": 0}):
        with pytest.raises(ValueError, match=f"{next(iter(bad))} needs"):
            propagation(**bad).fit(X, few)
    with pytest.raises(ValueError, match=r"gid needs X >= 0; X\[0, 0\] = -\d+\. Negative values in data"):
        propagation(divergence="gid").fit(-X - 1, few)


# -- one operator, many labelings ---------------------------------------------------------------------------


def test_relabeling_keeps_the_operator(fitted, counts, few):
    X, _ = counts
    other = np.where(few == 2, -1, few)
    again = propagation().fit(y=other, operator=fitted.operator_)
    fresh = propagation().fit(X, other)
    assert again.operator_ is fitted.operator_
    assert again.n_features_in_ == 8
    assert_array_equal(again.label_distributions_, fresh.label_distributions_)
    assert_array_equal(again.predict(X), fresh.predict(X))
    framed = propagation().fit(pd.DataFrame(X).add_prefix("w"), few, operator=fitted.operator_)
    assert_array_equal(framed.transduction_, fitted.transduction_)
    assert list(framed.feature_names_in_[:2]) == ["w0", "w1"]
    assert not hasattr(framed.fit(y=few, operator=fitted.operator_), "feature_names_in_")
    for X_bad, op, match in ((None, None, "X, operator or neighbors"), (X[:5], fitted.operator_, "120 rows")):
        with pytest.raises(ValueError, match=match):
            propagation().fit(X_bad, few, operator=op)


def test_any_graph_will_do(fitted, few):
    for graph in (fitted.operator_.toarray(), sparse.csr_array(fitted.operator_.toarray())):
        model = propagation().fit(y=few, operator=graph)
        assert_allclose(model.label_distributions_, fitted.label_distributions_, rtol=1e-9)
        with pytest.raises(ValueError, match="extend"):
            model.predict(np.ones((1, 8)))


def test_suggestions(fitted, few):
    chosen = fitted.suggest(7)
    assert len(set(chosen)) == 7
    assert (few[chosen] == -1).all()
    entropy = -(fitted.label_distributions_ * np.log(fitted.label_distributions_)).sum(axis=1)
    assert entropy[chosen].mean() > entropy[few == -1].mean()
    assert len(fitted.suggest(1000)) == 114
    with pytest.raises(ValueError, match="n needs"):
        fitted.suggest(0)


@pytest.mark.slow
def test_import_is_light():
    code = (
        "import bvdt, sys; assert not {'sklearn', 'scipy.spatial'} & {*sys.modules}; dir(bvdt)\n"
        "bvdt.LabelPropagation; assert 'sklearn.cluster' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert set(bvdt.__all__) <= set(dir(bvdt))
    with pytest.raises(AttributeError, match="Missing"):
        _ = bvdt.Missing


@pytest.mark.parametrize("method", ["spread", "walk"])
@pytest.mark.parametrize("blend", [None, "auto"])
def test_all_explanations_are_those_of_each(counts, few, method, blend, monkeypatch):
    monkeypatch.setattr("bvdt.walks.contributions.BATCH", 3)
    X, _ = counts
    weight = np.where(np.arange(120) % 2, 2.0, 1.0)
    model = propagation(method=method, blend=blend).fit(X, few, sample_weight=weight)
    done = []
    points, shares = model.explain_all(3, advance=done.append)
    assert sum(done) == (model.codes_ >= 0).sum()
    for i in range(0, 120, 11):
        one, share = model.explain(i, n=3)
        n = len(one)
        assert_allclose(shares[i, :n], share, rtol=1e-4)
        assert_array_equal(points[i, :n], one)
        assert (points[i, n:] == -1).all()
        assert (shares[i, n:] == 0).all()
    assert len(model.explain(X[3] + 0.5, n=2)[0]) <= 2


def test_sparse_rows_are_embedded_with_most_of_their_neighbors(monkeypatch):
    monkeypatch.setattr(bvdt.neighbors.index, "ALL_PAIRS", 100)
    X = sparse.random_array((400, 60), density=0.2, format="csr", rng=np.random.default_rng(0))
    options = {"divergence": "squared_euclidean", "random_state": 0}
    found = bvdt.SpectralEmbedding(**options).fit(X).operator_.near_field
    exact = bvdt.transition_matrix(X, n_neighbors=10, recall=1.0, **options).near_field
    assert found.recall.estimate >= 0.9
    same = [len(np.intersect1d(*pair)) for pair in zip(found.indices, exact.indices, strict=True)]
    assert np.mean(same) >= 9
    assert bvdt.SpectralEmbedding(**options).fit(X.toarray()).operator_.near_field.recall is None


def test_a_recall_of_the_near_field_can_be_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3200, 5))  # more than are compared all with all
    labels = np.where(np.arange(3200) < 20, X[:, 0] > 0, -1)
    asked = propagation(divergence="squared_euclidean", recall=0.9).fit(X, labels)
    assert asked.recall_ == asked.operator_.near_field.recall
    assert asked.recall_.low > 0.8
    assert asked.operator_.index.recall.estimate > 0.85  # of new points, too
    assert propagation(divergence="squared_euclidean").fit(X, labels).operator_.near_field.recall is None
