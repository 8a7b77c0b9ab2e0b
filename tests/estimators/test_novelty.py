"""Novelty of fitted points and of new ones, and labels that are called unknown."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import scale

import bvdt
from bvdt import LabelPropagation

X, DIGITS = load_digits(return_X_y=True)
X, DIGITS = X[:1200], DIGITS[:1200]
NOVEL = DIGITS >= 8
LABELED = np.zeros(len(X), bool)
for digit in range(8):
    (of_digit,) = np.nonzero(digit == DIGITS)
    LABELED[np.random.default_rng(digit).choice(of_digit, 10, replace=False)] = True
FEW = np.where(LABELED, DIGITS, -1)


@pytest.fixture(scope="module")
def model() -> LabelPropagation:
    return LabelPropagation(random_state=0).fit(X, FEW)


def test_points_of_classes_without_labels_are_novel(model):
    found = model.novelty_
    assert roc_auc_score(NOVEL[~LABELED], found[~LABELED]) > 0.93
    assert found.min() >= 0
    assert found.max() <= 1


def test_a_threshold_rejects_its_share_of_points_of_known_classes(model):
    known = model.novelty_[~LABELED & ~NOVEL]
    for reject in (0.05, 0.1, 0.2):
        assert abs((known > 1 - reject).mean() - reject) < 0.08


@pytest.mark.parametrize(
    "settings",
    [
        {"blend": None},
        {"method": "walk"},
        {"method": "poisson"},
        {"blend": "linear"},
        {"n_neighbors": 0, "blend": None},
    ],
)
def test_every_method_and_blend_has_novelty(settings):
    found = LabelPropagation(random_state=0, **settings).fit(X, FEW)
    assert roc_auc_score(NOVEL[~LABELED], found.novelty_[~LABELED]) > (
        0.6 if "n_neighbors" in settings else 0.9
    )
    assert found.novelty(X[:5]).shape == (5,)


def test_new_points_of_classes_without_labels_and_far_ones_are_novel():
    known = np.flatnonzero(~NOVEL)
    fitted, new = known[: len(known) // 2], np.setdiff1d(np.arange(len(X)), known[: len(known) // 2])
    model = LabelPropagation(random_state=0).fit(X[fitted], FEW[fitted])
    assert roc_auc_score(NOVEL[new], model.novelty(X[new])) > 0.85
    far = model.novelty(np.full((1, X.shape[1]), 100.0))
    assert far[0] > 0.999


def test_new_points_of_fitted_classes_without_labels_are_novel():
    old = np.arange(len(X)) < 900
    model = LabelPropagation(random_state=0).fit(X[old], FEW[old])
    assert roc_auc_score(NOVEL[~old], model.novelty(X[~old])) > 0.9


@pytest.mark.parametrize(("names", "unknown", "mark"), [
    (np.arange(8), None, -1),
    (np.array(list("abcdefgh")), None, "unknown"),
    (np.array(list("abcdefgh")), "none of these", "none of these"),
    (np.arange(8), "new", "new"),
])  # fmt: skip
def test_rejected_points_get_the_mark(names, unknown, mark):
    y = np.full(len(X), "" if names.dtype.kind == "U" else -1, object)
    y[LABELED] = names[DIGITS[LABELED]]
    model = LabelPropagation(blend=None, random_state=0).fit(X, y)
    plain, found = model.predict(X), model.predict(X, reject=0.1, unknown=unknown)
    rejected = model.novelty(X) > 0.9
    assert set(found[rejected]) == {mark}
    assert (found[~rejected] == plain[~rejected]).all()


def test_bad_shares_and_marks_are_refused_in_one_sentence(model):
    with pytest.raises(ValueError, match="reject needs a share from 0 to 1, such as"):
        model.predict(X[:2], reject=5)
    with pytest.raises(ValueError, match="unknown needs a name that is no class; 3 is one"):
        model.predict(X[:2], reject=0.05, unknown=3)


def test_nothing_is_computed_before_it_is_asked_for(model):
    assert LabelPropagation(random_state=0).fit(X, FEW)._novelty is None
    assert not hasattr(LabelPropagation(), "novelty_")


def test_threads_do_not_change_it(model):
    other = LabelPropagation(random_state=0, n_jobs=2).fit(X, FEW)
    one = LabelPropagation(random_state=0, n_jobs=1).fit(X, FEW)
    np.testing.assert_array_equal(one.novelty_, other.novelty_)


def test_weights_are_honored():
    weight = np.where(DIGITS == 0, 1e-6, 1.0)
    model = LabelPropagation(blend=None, random_state=0).fit(X, FEW)
    light = LabelPropagation(blend=None, random_state=0).fit(X, FEW, sample_weight=weight)
    zeros = (DIGITS == 0) & ~LABELED
    assert light.novelty_[zeros].mean() > model.novelty_[zeros].mean() + 0.2


def test_after_an_update_it_is_found_anew():
    model = LabelPropagation(random_state=0).fit(X[:800], FEW[:800])
    before = model.novelty_
    (eights,) = np.nonzero(DIGITS[:800] == 8)
    model.update(labels={int(i): 8 for i in eights[:10]})
    assert model.novelty_[eights[10:]].mean() < before[eights[10:]].mean() - 0.2


def test_one_class_is_told_from_all_others():
    data = load_breast_cancer()
    Z, normal = scale(data.data), data.target == 1
    known = np.flatnonzero(normal)[:20]
    y = np.full(len(Z), "", object)
    y[known] = "benign"
    model = LabelPropagation(random_state=0).fit(Z, y)
    rest = np.setdiff1d(np.arange(len(Z)), known)
    assert roc_auc_score(~normal[rest], model.novelty_[rest]) > 0.95


def test_one_label_per_class_and_points_that_nothing_reaches_do_not_fail():
    y = np.full(len(X), -1)
    y[[0, 1, 2]] = DIGITS[:3]
    found = LabelPropagation(random_state=0).fit(X, y).novelty_
    assert np.isfinite(found).all()
    W = sparse.block_diag([np.ones((5, 5)), np.ones((5, 5))], format="csr")
    model = LabelPropagation().fit(operator=W, y=["a", "a", "", "", "", "", "", "", "", ""])
    assert model.novelty_[5:].min() > model.novelty_[2:5].max()


def test_a_pipeline_of_texts_rejects_too():
    corpus = bvdt.datasets.make_documents(300, n_classes=4, random_state=0)
    few = np.where((np.arange(300) < 120) & (corpus.labels < 3), corpus.labels, -1)
    pipeline = bvdt.text_pipeline(random_state=0).fit(corpus.counts, few)
    rest = few < 0
    assert roc_auc_score(corpus.labels[rest] == 3, pipeline[-1].novelty_[rest]) > 0.7
    found = pipeline.predict(corpus.counts[rest], reject=0.1)
    assert (found[corpus.labels[rest] == 3] == -1).mean() > 2 * (found[corpus.labels[rest] < 3] == -1).mean()
