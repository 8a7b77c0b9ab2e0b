"""Label mass, what is left of it without a label, and the novelty that is read off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bvdt
from bvdt.walks import symmetrized
from bvdt.walks.label_mass import ALPHA, PROBES, label_mass, mass_left_out
from bvdt.walks.novelty import Ranks, class_levels, mean_divergence, remoteness

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(center, 1.0, (60, 3)) for center in (0.0, 5.0, 10.0)])
OP = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=8, random_state=0)
POINTS = np.array([0, 5, 9, 70, 75, 80, 90])
CODES = np.array([0, 0, 0, 1, 1, 1, 1])
WEIGHT = np.array([1.0, 2.0, 1.0, 1.0, 0.5, 1.0, 3.0])


def inverse() -> np.ndarray:
    """(1 − α)·D^(−½)·(I − α·S)⁻¹, dense."""
    S = symmetrized(OP)
    return (1 - ALPHA) * S.scale[:, None] * np.linalg.inv(np.eye(len(X)) - ALPHA * S.toarray())


def test_label_mass_is_that_of_the_inverse():
    G = inverse()
    mass, own = label_mass(OP, POINTS, CODES, WEIGHT, 2)
    for k in range(2):
        wanted = G[:, POINTS[k == CODES]] @ WEIGHT[k == CODES]
        np.testing.assert_allclose(mass[:, k], wanted, rtol=0.02, atol=1e-30)
    np.testing.assert_allclose(own, G[POINTS, POINTS] * WEIGHT, rtol=0.02)


def test_own_parts_of_more_labels_than_columns_are_right_in_the_mean():
    points = np.arange(len(X))
    own = label_mass(OP, points, points // 60, np.ones(len(X)), 3)[1]
    wanted = inverse()[points, points]
    assert len(points) > PROBES
    assert own.mean() == pytest.approx(wanted.mean(), rel=0.15)


def test_mass_without_a_label_is_that_of_the_others_scaled_to_all_of_the_class():
    G, total = inverse(), np.array([4.0, 5.5])
    mass, own = label_mass(OP, POINTS, CODES, WEIGHT, 2)
    found = mass_left_out(mass, own, POINTS, CODES, WEIGHT)
    for i, (point, k) in enumerate(zip(POINTS, CODES, strict=True)):
        others = (k == CODES) & (np.arange(len(POINTS)) != i)
        same = G[point, POINTS[others]] @ WEIGHT[others] * total[k] / WEIGHT[others].sum()
        wanted = same + G[point, POINTS[k != CODES]] @ WEIGHT[k != CODES]
        assert found[i] == pytest.approx(wanted, rel=0.03)


def test_a_classes_only_label_has_no_mass_without_itself():
    mass, own = label_mass(OP, POINTS[:4], CODES[:4], WEIGHT[:4], 2)
    assert np.isnan(mass_left_out(mass, own, POINTS[:4], CODES[:4], WEIGHT[:4])).tolist() == [False] * 3 + [
        True
    ]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_novelty_rises_with_the_score_from_0_to_1(scores, seed):
    ranks = Ranks.of(np.array(scores), np.random.default_rng(seed).random(len(scores)) + 0.01)
    tried = np.sort(np.concatenate([np.linspace(-20, 20, 101), scores]))
    found = ranks.share_below(tried)
    assert (np.diff(found) >= -1e-12).all()
    assert found.min() >= 0
    assert found.max() <= 1


def test_a_threshold_is_the_share_of_the_labels_beyond_it():
    scores = RNG.normal(size=999)
    found = Ranks.of(scores, np.ones(999)).share_below(scores)
    for reject in (0.05, 0.1, 0.5):
        assert (found > 1 - reject).mean() == pytest.approx(reject, abs=0.002)


def test_levels_follow_the_classes_only_where_they_differ_by_more_than_their_labels():
    codes = np.repeat([0, 1], 20)
    alike = class_levels(RNG.normal(size=40), codes, 2)[0]
    apart = class_levels(RNG.normal(size=40) + 5 * codes, codes, 2)[0]
    assert abs(alike[1] - alike[0]) < 0.3
    assert 2 < apart[1] - apart[0] < 5
    assert class_levels(np.empty(0), np.empty(0, int), 2)[1] == 1.0


def test_remoteness_is_that_beside_the_neighbors_and_none_without_neighbors():
    own = mean_divergence(np.array([[1.0, 3.0], [2.0, np.inf], [np.inf, np.inf]]))
    np.testing.assert_allclose(own, [2, 2, np.nan])
    found = remoteness(own, np.array([[2.0, 2.0], [1.0, np.nan], [1.0, 1.0]]), 0.0)
    np.testing.assert_allclose(found, [0, np.log(2), 0], atol=1e-9)
