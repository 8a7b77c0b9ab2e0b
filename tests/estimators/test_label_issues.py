"""Doubtful labels: judged without themselves, the least probable first."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from bvdt import LabelPropagation

X, DIGITS = load_digits(return_X_y=True)
X, DIGITS = X[:1000], DIGITS[:1000]
RNG = np.random.default_rng(0)
LABELED = RNG.choice(len(X), 200, replace=False)
WRONG = LABELED[:20]
GIVEN = np.full(len(X), -1)
GIVEN[LABELED] = DIGITS[LABELED]
GIVEN[WRONG] = (GIVEN[WRONG] + RNG.integers(1, 10, 20)) % 10


@pytest.mark.parametrize(
    "settings", [{}, {"blend": None}, {"blend": None, "method": "walk"}, {"method": "poisson"}]
)
def test_wrong_labels_come_first(settings):
    found = LabelPropagation(random_state=0, **settings).fit(X, GIVEN).label_issues()
    assert sorted(found.points) == sorted(LABELED)
    assert (np.diff(found.probability) >= 0).all()
    assert roc_auc_score(np.isin(found.points, WRONG), -found.probability) > 0.97
    np.testing.assert_array_equal(found.given, GIVEN[found.points])
    doubted = found.contradicted()
    assert (doubted.suggested == DIGITS[doubted.points]).mean() > 0.6


def test_a_walk_judges_as_a_fit_without_the_label():
    model = LabelPropagation(blend=None, alpha=0.9, tol=1e-10, random_state=0).fit(X, GIVEN)
    found = model.label_issues()
    for i in (0, 50, 199):
        without = GIVEN.copy()
        without[found.points[i]] = -1
        refit = LabelPropagation(blend=None, alpha=0.9, tol=1e-10).fit(
            None, without, operator=model.operator_
        )
        P = refit.label_distributions_[found.points[i]]
        assert P[refit.classes_ == found.given[i]] == pytest.approx(found.probability[i], abs=0.02)


def test_forty_labels_are_enough():
    few = np.full(len(X), -1)
    few[LABELED[16:56]] = GIVEN[LABELED[16:56]]
    found = LabelPropagation(random_state=0).fit(X, few).label_issues()
    assert roc_auc_score(np.isin(found.points, WRONG), -found.probability) > 0.75


def test_a_classes_only_label_is_not_judged():
    y = np.full(len(X), -1)
    y[[0, 10, 1]] = [0, 0, 1]
    for blend in (None, "auto"):
        found = LabelPropagation(blend=blend, random_state=0).fit(X, y).label_issues()
        assert sorted(found.points) == [0, 10]
