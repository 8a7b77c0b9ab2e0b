"""The accuracy to expect: intervals that cover, classes not seen, sentences that figures bear out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom, binomtest

from bvdt.stacking.expectation import (
    HELP,
    LEAST,
    LITTLE,
    Estimate,
    LearningCurve,
    expected_accuracy,
)


@pytest.mark.parametrize(("right", "n"), [(0, 5), (3, 5), (5, 5), (37, 40), (1, 1000)])
def test_the_interval_is_scipys(right, n):
    found = Estimate.of_share(right, n)
    assert_allclose([found.low, found.high], binomtest(right, n).proportion_ci(method="wilson"), atol=1e-7)


@pytest.mark.parametrize(("n", "p"), [(20, 0.8), (50, 0.95), (200, 0.6)])
def test_the_interval_covers(n, p):
    right = np.arange(n + 1)
    found = [Estimate.of_share(int(r), n) for r in right]
    inside = [e.low <= p <= e.high for e in found]
    assert binom.pmf(right, n, p)[inside].sum() > 0.92


@given(st.integers(1, 200), st.integers(0, 20), st.integers(0, 10**6))
def test_shares_stay_shares(n, n_alone, seed):
    rng = np.random.default_rng(seed)
    right, confidence, others = rng.random(n) < rng.random(), rng.random(n), rng.random(50)
    codes = rng.integers(0, 1 + n // 3, n)
    for found in (
        expected_accuracy(right, codes, n + n_alone),
        expected_accuracy(right, codes, n + n_alone, confidence, others),
    ):
        assert (found is None) == (n + n_alone < LEAST)
        assert found is None or 0 <= found.low <= found.value + 1e-12 <= found.high + 2e-12 <= 1 + 3e-12


def test_only_labels_of_their_class_count_as_wrong():
    assert expected_accuracy(np.ones(30, bool), np.zeros(30, int), 40).value == 0.75


def test_labels_that_are_harder_than_the_rest():
    """Half of the labels are easy, four fifths of the others: calibrated confidence tells it."""
    confidence = np.repeat([0.95, 0.55], 100)
    right = np.concatenate([np.arange(100) < 95, np.arange(100) < 55])
    others = np.repeat([0.95, 0.55], [800, 200])
    assert_allclose(expected_accuracy(right, np.zeros(200, int), 200, confidence, others).value, 0.87)
    assert expected_accuracy(right, np.zeros(200, int), 200).value == 0.75
    assert expected_accuracy(right, np.zeros(200, int), 200, confidence, others[:0]).value == 0.75


def test_expected_from_labels_drawn_at_random():
    """Classes of Zipf's sizes, predicted by whatever label there is: covers what is true of the others."""
    rng = np.random.default_rng(0)
    size = 1 / np.arange(1, 61)
    covered = []
    for _ in range(500):
        classes = rng.choice(60, 2000, p=size / size.sum())
        hard = rng.random(2000)
        n = int(rng.integers(20, 200))
        counts = np.bincount(classes[:n], minlength=60)
        right = (counts[classes] > 0) & (hard < 0.8)  # right where its class has a label
        alone = counts[classes[:n]] < 2
        found = expected_accuracy(right[:n][~alone], classes[:n][~alone], n)
        covered.append(found.low <= right[n:].mean() <= found.high)
    assert np.mean(covered) > 0.92


def curve_of(n, *shares):
    """Each label predicted or not by one threshold: labels that few get right most get right, too."""
    rank = np.arange(n) % 100 / 100
    part = np.arange(n)
    right = [
        np.where(part < n * used, -1, rank < share)
        for used, share in zip((0.25, 0.5, 0.0), shares, strict=True)
    ]
    return LearningCurve.of([n // 4, n // 2, 8 * n // 10], right)


@pytest.mark.parametrize(
    ("n", "shares", "said"),
    [
        (1000, (0.5, 0.6, 0.7), HELP),
        (1000, (0.8, 0.8, 0.8), LITTLE),
        (1000, (0.5, 0.8, 0.8), LITTLE),
        (1000, (0.9, 0.85, 0.8), LITTLE),
        (40, (0.8, 0.8, 0.8), "too few"),
        (40, (0.5, 0.6, 0.6), "too few"),
    ],
)
def test_what_a_curve_says(n, shares, said):
    curve = curve_of(n, *shares)
    assert curve.verdict().startswith(said)
    assert curve.gain.low < curve.gain.value < curve.gain.high
    if n == 1000:
        assert_allclose(curve.gain.value, (shares[2] - shares[0]) / np.log2(0.8 / 0.25), atol=0.02)


def test_gains_cover():
    """Matched pairs: the interval of a gain from draws of labels holds the true one."""
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(400):
        hard = rng.random(80)
        few = np.where(np.arange(80) < 20, -1, hard + rng.normal(0, 0.1, 80) < 0.6)
        most = (hard + rng.normal(0, 0.1, 80) < 0.7).astype(int)
        found = LearningCurve.of([20, 40], [few, most]).gain
        covered.append(found.low <= 0.1 <= found.high)
    assert 0.92 < np.mean(covered) < 0.985
