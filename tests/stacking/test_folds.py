"""No slice sees the labels that it hides, whatever else happens."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

import bvdt
from bvdt.stacking.experts import linear_expert, naive_bayes_expert, walk_expert
from bvdt.stacking.folds import Folds
from bvdt.stacking.labeler import Labeler

drawn = st.tuples(st.integers(0, 2**32 - 1), st.integers(5, 60), st.integers(2, 4), st.integers(2, 6))


def labels(seed, n_points, n_classes, share=0.6):
    """Codes of which every class has at least one."""
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(n_points) < share, rng.integers(n_classes, size=n_points), -1)
    codes[rng.choice(n_points, n_classes, replace=False)] = np.arange(n_classes)
    return codes


@given(drawn)
def test_slices(case):
    seed, n_points, n_classes, n_folds = case
    codes = labels(seed, n_points, n_classes)
    folds = Folds.of(codes, n_classes, n_folds)
    one, sees = folds.targets(), folds.sees()
    assert sees[:, -1].all()  # the last slice sees everything
    assert one[codes < 0].sum() == 0
    for number in range(folds.n_slices):
        visible = folds.labeled[sees[:, number]]
        assert_array_equal(one[visible, number].argmax(axis=1), codes[visible])
        assert one[folds.labeled[~sees[:, number]], number].sum() == 0
        assert set(codes[visible]) == set(codes[codes >= 0])  # no class is hidden whole
    assert_array_equal((~sees).sum(axis=1), folds.tested)  # each once, a class's only label never
    assert_array_equal(folds.hidden(one), 0)
    assert_array_equal(folds.class_counts()[-1], np.bincount(codes[codes >= 0], minlength=n_classes))


@given(drawn, st.integers(0, 2**32 - 1))
def test_folds_stay_when_labels_come_and_go(case, other):
    seed, n_points, n_classes, n_folds = case
    codes = labels(seed, n_points, n_classes)
    earlier = Folds.of(codes, n_classes, n_folds)
    rng = np.random.default_rng(other)
    more = np.where((codes < 0) & (rng.random(n_points) < 0.3), rng.integers(n_classes, size=n_points), codes)
    more = np.where((codes >= 0) & (rng.random(n_points) < 0.2), -1, more)
    more[rng.choice(n_points, n_classes, replace=False)] = np.arange(n_classes)
    joined = Folds.of(more, n_classes, n_folds, earlier=earlier)
    for number in range(joined.n_slices):
        seen = joined.sees()[:, number]
        assert set(joined.codes[seen]) == set(more[more >= 0])
    if joined.n_folds == earlier.n_folds:
        before = dict(
            zip(earlier.labeled.tolist(), zip(earlier.fold, earlier.codes, strict=True), strict=True)
        )
        moved = [
            point
            for point, fold, code in zip(joined.labeled.tolist(), joined.fold, joined.codes, strict=True)
            if point in before
            and before[point][1] == code
            and min(before[point][0], fold) >= 0
            and before[point][0] != fold
        ]
        assert len(moved) <= n_classes  # only to keep a class from being hidden whole


def test_one_label_per_class_is_never_hidden():
    folds = Folds.of(np.array([0, -1, 1, -1, 2]), 3)
    assert folds.n_folds == 0
    assert folds.n_slices == 1
    assert folds.hidden(folds.targets()).shape == (0, 3)


@pytest.mark.parametrize("blend", ["auto", "linear", "naive_bayes"])
def test_a_hidden_label_has_no_say_in_its_own_slice(blend):
    """Whatever class a label names, what an expert predicts without it stays.

    All columns of an iterative solution stop together, so that stays to its tolerance.
    """
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.poisson(np.where(np.arange(30) % 3 == y[:, None], 1.0, 0.3)).astype(float)
    op = bvdt.transition_matrix(sparse.csr_array(X), "squared_euclidean", n_neighbors=5, random_state=0)
    codes = np.where(np.arange(60) % 2 == 0, y, -1)
    folds = Folds.of(codes, 3)
    hidden = folds.labeled[folds.fold == 0]
    swapped = folds.codes.copy()
    at = np.flatnonzero(folds.fold == 0)
    swapped[at] = swapped[at[::-1]]  # as many labels per class as before
    other = Folds(60, 3, folds.labeled, swapped, folds.fold, folds.n_folds, folds.weight)
    assert (swapped != folds.codes).any()
    labeler = Labeler(op, sparse.csr_array(X), blend)

    def scores(f):
        found = [walk_expert(labeler.S, f, 0.875).own[:, 1:]]  # of the other folds' labels
        if blend != "naive_bayes":
            found.append(linear_expert(labeler.rows, f)[0].scores[:, 0])
        if blend != "linear":
            found.append(naive_bayes_expert(labeler.rows, f.targets()).scores[:, 0])
        return found

    for a, b in zip(scores(folds), scores(other), strict=True):
        np.testing.assert_allclose(a[hidden], b[hidden], atol=0.01)
    changed = Labeler(op, sparse.csr_array(X), blend).rows
    if blend != "naive_bayes":
        a, b = (linear_expert(changed, f)[0].scores[hidden, -1] for f in (folds, other))
        assert np.abs(a - b).max() > 0.3  # the slice that sees the labels follows them
