"""Hidden labels: every label tested once, no class hidden whole, an interval that covers."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from bvdt import LabelPropagation
from bvdt.documents.holdout import (
    Holdout,
    Measured,
    label_folds,
    measure_holdout,
    n_folds_for,
    why_not,
)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    drawn = np.random.default_rng(0).permutation(600) < 120  # neighbors in the file are of one writer
    codes = np.where(drawn, y, -1)
    return y, codes, LabelPropagation("squared_euclidean", random_state=0, n_jobs=1, blend=None).fit(X, codes)


def test_the_estimate_is_near_the_truth(digits):
    y, codes, model = digits
    found = measure_holdout(model, model.operator_, codes, list("0123456789"), random_state=0)
    truth = (model.transduction_ == y)[codes < 0].mean()
    assert found.n == 120
    assert found.folds == 5
    assert found.confusion.sum(axis=1).tolist() == np.bincount(codes[codes >= 0]).tolist()
    assert found.accuracy == np.trace(found.confusion) / 120
    assert found.low <= truth <= found.high
    assert found.low < found.accuracy < found.high
    assert f"{found.accuracy:.3f}" in str(found)


def test_it_measures_the_hidden_labels_not_the_given_ones(digits):
    """Random labels are predicted no better than by chance, though the fit reproduces them."""
    _, codes, model = digits
    rng = np.random.default_rng(0)
    noise = np.where(codes >= 0, rng.integers(2, size=len(codes)), -1)
    found = measure_holdout(model, model.operator_, noise, ["a", "b"], random_state=0)
    chance = float(found.confusion.sum(axis=1) @ found.confusion.sum(axis=0)) / found.n**2
    assert found.low < chance < found.high


def test_the_model_and_its_operator_stay_as_they_are(digits):
    _, codes, model = digits
    before = model.label_distributions_.copy()
    steps = []
    measure_holdout(
        model, model.operator_, codes, list("0123456789"), share=0.5, random_state=1, advance=steps.append
    )
    assert steps == [1, 1]
    np.testing.assert_array_equal(model.label_distributions_, before)


@pytest.mark.parametrize("n_folds", [2, 5, 20])
def test_folds(n_folds):
    rng = np.random.default_rng(n_folds)
    codes = rng.choice([-1, 0, 1, 2], p=[0.5, 0.3, 0.15, 0.05], size=300)
    codes[7] = 3  # one label only
    fold, n = label_folds(codes, n_folds, 0)
    assert n == n_folds
    assert fold[7] == -1
    assert (fold[codes < 0] == -1).all()
    assert (fold[(codes >= 0) & (codes < 3)] >= 0).all()
    sizes = np.bincount(fold[fold >= 0], minlength=n)
    assert sizes.max() - sizes.min() <= 1
    for number in range(n):
        assert set(codes[(codes >= 0) & (fold != number)]) == {0, 1, 2, 3}
    for k in range(3):
        counts = np.bincount(fold[(codes == k)], minlength=n)
        assert counts.max() - counts.min() <= 1
    assert (label_folds(codes, n_folds, 0)[0] == fold).all()
    assert (label_folds(codes, n_folds, 1)[0] != fold).any()


def test_two_labels_a_class():
    fold, n = label_folds(np.array([0, 0, 1, 1, -1]), 20, 0)
    assert n == 4
    assert sorted(fold.tolist()) == [-1, 0, 1, 2, 3]


def test_lone_classes_are_named(digits):
    _, codes, model = digits
    few = np.where(codes == 9, -1, codes)
    few[np.flatnonzero(codes == 9)[0]] = 9
    found = measure_holdout(model, model.operator_, few, list("0123456789"), random_state=0)
    assert found.untested == ("9",)
    assert found.n == int((few >= 0).sum()) == found.on_hidden().n + 1
    assert found.accuracy == np.trace(found.confusion) / found.n < found.on_hidden().accuracy
    assert found.confusion[9].sum() == 0
    assert "1 class has one label, which cannot be hidden (9): untested" in found.sentences()[1]


@pytest.mark.parametrize(("share", "folds"), [(0.5, 2), (0.2, 5), (0.1, 10), (0.05, 20), (0.3, 3)])
def test_shares(share, folds):
    assert n_folds_for(share) == folds


@pytest.mark.parametrize("share", [-0.1, 0, 0.01, 0.6, 1, 20, float("nan")])
def test_bad_shares(share):
    with pytest.raises(ValueError, match=r"share from 0\.05 to 0\.5"):
        n_folds_for(share)


@pytest.mark.parametrize(
    ("codes", "names", "reason"),
    [
        ([0, 0, 0, -1], ["a"], "one class"),
        ([0, 1, 2, -1], ["a", "b", "c"], "no class has two"),
        ([0] * 9 + [1] * 10, ["a", "b"], "19 labels; 20 are needed"),
        ([0] * 19 + [1], ["a", "b"], None),
    ],
)
def test_why_not(codes, names, reason):
    found = why_not(np.array(codes), names)
    assert (found is None) if reason is None else (reason in found)


def test_too_few_labels_are_refused(digits):
    _, _, model = digits
    codes = np.full(600, -1)
    codes[:2] = [0, 1]
    with pytest.raises(ValueError, match="no class has two labels"):
        measure_holdout(model, model.operator_, codes, ["a", "b"])


def test_a_model_with_a_prior_tells_about_its_experts():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    codes = np.where(np.random.default_rng(0).permutation(600) < 120, y, -1)
    model = LabelPropagation("squared_euclidean", random_state=0, n_jobs=1, blend="auto").fit(X, codes)
    names = list("0123456789")
    found = measure_holdout(model, model.operator_, codes, names)
    assert found.n == 120
    assert found.accuracy == model.expected_accuracy().value
    assert found.on_hidden().accuracy == model.blend_.accuracy.value == found.curve[-1].accuracy
    assert [expert.name for expert in found.alone] == ["walk", "linear", "linear student"]
    assert found.low <= (model.transduction_ == y)[codes < 0].mean() <= found.high
    assert found.curve[0].n < found.curve[-1].n < 120
    assert "labels" in found.more_labels()
    assert measure_holdout(model, model.operator_, codes, names, share=0.1).folds == 10
    with pytest.raises(ValueError, match="the labels that it was fitted to"):
        measure_holdout(model, model.operator_, np.where(codes == 3, 4, codes), names)


def test_what_the_curve_says():
    measured = Measured("", 50, 0.8, 0.7, 0.9), Measured("", 100, 0.85, 0.75, 0.92)
    gains = Measured("", 0, 0.05, 0.01, 0.09), Measured("", 0, 0.05, -0.01, 0.11)
    found = Holdout(9, 0.9, 0.8, 1.0, [], np.zeros((0, 0), np.int64), curve=measured, gains=gains)
    said = "80.0 % (70 to 90) from 50, 85.0 % (75 to 92) from 100 labels"
    assert found.more_labels() == f"more labels would help: {said}"
    assert replace(found, gains=()).more_labels() == said
    assert replace(found, curve=()).more_labels() == ""
