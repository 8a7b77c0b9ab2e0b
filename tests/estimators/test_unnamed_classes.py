"""Groups of points that are like no class that has labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

import bvdt
from bvdt import LabelPropagation

X, DIGITS = load_digits(return_X_y=True)
NOVEL = DIGITS >= 7
LABELED = np.isin(np.arange(len(X)), [np.flatnonzero(d == DIGITS)[:150:10] for d in range(7)])
FEW = np.where(LABELED, DIGITS, -1)


@pytest.fixture(scope="module")
def model() -> LabelPropagation:
    return LabelPropagation(random_state=0).fit(X, FEW)


def test_hidden_digits_are_most_of_a_group_each(model):
    groups = model.unnamed_classes(6)
    most = {int(np.bincount(DIGITS[group.points]).argmax()) for group in groups}
    assert most >= {7, 8, 9}
    assert [group.size for group in groups] == sorted((group.size for group in groups), reverse=True)


def test_groups_are_of_different_unlabeled_novel_points(model):
    groups = model.unnamed_classes(4)
    points = np.concatenate([group.points for group in groups])
    assert len(groups) <= 4
    assert len(set(points)) == len(points)
    assert not LABELED[points].any()
    assert (model.novelty_[points] > 0.9).all()
    assert groups[0].novelty == pytest.approx(model.novelty_[groups[0].points].mean())


def test_words_name_a_group():
    corpus = bvdt.datasets.make_documents(600, n_classes=4, random_state=0)
    few = np.where((np.arange(600) < 200) & (corpus.labels < 3), corpus.labels, -1)
    names = [f"word{j}" for j in range(corpus.counts.shape[1])]
    model = LabelPropagation("cosine", random_state=0).fit(corpus.counts, few, terms=names)
    groups = model.unnamed_classes(2)
    assert all(group.terms and set(group.terms) <= set(names) for group in groups)


def test_few_novel_points_make_few_groups_and_a_bad_number_is_refused(model):
    X = [[0.0], [0.1], [0.2], [5.0]]
    small = LabelPropagation(n_neighbors=2, random_state=0).fit(X, ["a", "a", "", ""])
    assert len(small.unnamed_classes()) <= 1
    with pytest.raises(ValueError, match="n needs an integer ≥ 1; got 0"):
        model.unnamed_classes(0)
