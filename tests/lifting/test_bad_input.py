"""Bad input: each error names the thing, the need and the first offending entry."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import bvdt
from bvdt import divergences as dv

GOOD = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 4.0], [5.0, 1.0, 1.0]])


def with_entry(value: float, row: int = 1, column: int = 2) -> np.ndarray:
    X = GOOD.copy()
    X[row, column] = value
    return X


def thin(X) -> sparse.csr_array:
    return sparse.csr_array(np.asarray(X, dtype=float))


SIMPLEX = np.array([[0.5, 0.5], [0.25, 0.75], [0.5, 0.6]])
CASES = {
    "nan": (with_entry(np.nan), "gid", r"X needs finite values; X\[1, 2\] = nan"),
    "inf": (with_entry(np.inf), "squared_euclidean", r"X needs finite values; X\[1, 2\] = inf"),
    "negative count": (with_entry(-3), "gid", r"gid needs X >= 0; X\[1, 2\] = -3"),
    "first of several": (-GOOD, "kl", r"kl needs X >= 0; X\[0, 0\] = -1"),
    "zero": (with_entry(0), "itakura_saito", r"itakura_saito needs X > 0; X\[1, 2\] = 0 \(smoothing="),
    "over one": (with_entry(1.5) / 1.5, "logistic", r"logistic needs 0 <= X <= 1; X\[0, 1\] = 1\.33"),
    "off the simplex": (SIMPLEX, "kl", r"kl needs rows that sum to 1; row 2 sums to 1\.1 \(.*normalize"),
    "lengths": (GOOD, "multinomial", r"multinomial needs rows that sum to 6; row 1 sums to 7"),
    "no length": (0 * GOOD, "multinomial", r"multinomial needs rows with a positive sum; row 0"),
    "empty row": (0 * GOOD, dv.KullbackLeibler(normalize=True), r"kl needs rows with a positive sum; row 0"),
    "no rows": (np.empty((0, 3)), "gid", r"X needs at least 2 points; it has 0"),
    "one row": (GOOD[:1], "gid", r"X needs at least 2 points; it has 1"),
    "no features": (np.empty((3, 0)), "gid", r"X needs at least 1 feature; its shape is \(3, 0\)"),
    "overflow": (
        with_entry(1e200),
        "squared_euclidean",
        r"squared_euclidean needs values whose phi is finite; row",
    ),
    "singular": (np.ones((3, 2)), "mahalanobis", r"mahalanobis needs a positive definite covariance"),
    "other d": (GOOD, dv.Mahalanobis(precision=np.eye(2)), r"mahalanobis needs 2 features; X has 3"),
    "wrong name": (GOOD, "gdi", r"divergence needs one of .*; got 'gdi'"),
}


@pytest.mark.parametrize("storage", [np.asarray, thin], ids=["dense", "sparse"])
@pytest.mark.parametrize("case", CASES)
def test_is_refused_with_the_reason(case, storage):
    X, divergence, message = CASES[case]
    with pytest.raises(ValueError, match=message):
        bvdt.exact_transition_matrix(storage(X), divergence)


def test_zeros_that_sparse_data_do_not_store_are_found():
    X = sparse.csr_array(np.array([[1.0, 2.0], [3.0, 0.0]]))
    with pytest.raises(ValueError, match=r"itakura_saito needs X > 0; X\[1, 1\] = 0"):
        bvdt.exact_transition_matrix(X, "itakura_saito")
    with pytest.raises(ValueError, match=r"gid needs X > 0; X\[1, 1\] = 0"):
        bvdt.exact_transition_matrix(X, "gid", smoothing=[0.1, 0.0])
    above_one = dv.BregmanDivergence(
        phi=lambda x: -np.log(x - 1), grad=lambda x: -1 / (x - 1), domain=(1, np.inf)
    )
    with pytest.raises(ValueError, match=r"custom needs X >= 1; X\[1, 1\] = 0"):
        bvdt.exact_transition_matrix(X, above_one)


@pytest.mark.parametrize(
    "X",
    [
        np.array([["a", "b"], ["c", "d"]]),
        np.array([["a", 1], [2, 3]], dtype=object),
        np.eye(2) * 1j,
        np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]").reshape(2, 1),
        pd.DataFrame({"word": ["a", "b"], "count": [1, 2]}),
        [[None, 1], [2, 3]],
    ],
)
def test_what_are_no_numbers(X):
    with pytest.raises(TypeError, match=r"X needs real numbers; X\[0, 0\] = "):
        bvdt.exact_transition_matrix(X, "squared_euclidean")


def test_complex_sparse():
    with pytest.raises(TypeError, match="X needs real numbers; its dtype is complex128"):
        bvdt.exact_transition_matrix(sparse.csr_array(np.eye(2) * 1j), "squared_euclidean")


@pytest.mark.parametrize("X", [np.arange(5.0), np.zeros((2, 2, 2)), 3.0, sparse.coo_array(np.arange(5.0))])
def test_other_dimensions(X):
    with pytest.raises(ValueError, match=r"X needs 2 dimensions, points × features; its shape is"):
        bvdt.exact_transition_matrix(X, "gid")


def test_ragged_rows():
    with pytest.raises(ValueError, match="X needs rows of one length"):
        bvdt.exact_transition_matrix([[1, 2], [3]], "gid")


def test_a_data_frame_is_named_by_column():
    frame = pd.DataFrame(with_entry(-3), columns=["apple", "pear", "plum"])
    with pytest.raises(ValueError, match=r"gid needs X >= 0; X\[1, 2\] = -3 \(column 'plum'\)"):
        bvdt.exact_transition_matrix(frame, "gid")


@pytest.mark.parametrize(
    ("smoothing", "error", "message"),
    [
        (
            "more",
            ValueError,
            'smoothing needs a number, an array, "background", "likelihood" or "auto"; got \'more\'',
        ),
        (-0.1, ValueError, r"smoothing needs finite values >= 0; smoothing\[0\] = -0.1"),
        ([0.1, np.nan, 0.1], ValueError, r"smoothing\[1\] = nan"),
        ([0.1, 0.2], ValueError, r"smoothing needs shape \(3,\), one value per feature; its shape is \(2,\)"),
        (["a", 1, 2], TypeError, "smoothing needs numbers; got"),
        (0.5, ValueError, "logistic needs smoothing < 0.5; got 0.5"),
    ],
)
def test_smoothing_is_refused(smoothing, error, message):
    with pytest.raises(error, match=message):
        bvdt.exact_transition_matrix(np.eye(3), "logistic", smoothing=smoothing)
