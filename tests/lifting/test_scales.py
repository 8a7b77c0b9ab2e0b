"""Where one column is all that distances see."""

import warnings

import numpy as np
import pytest

import bvdt

RNG = np.random.default_rng(0)
BLOBS = RNG.normal(size=(200, 4))
SALARY = np.column_stack([BLOBS, 1e4 * RNG.normal(size=200)])
ONE_FAR = BLOBS + 1e6 * np.eye(200, 4)[:, ::-1]


def test_one_column_that_drowns_the_others_is_told():
    with pytest.warns(
        UserWarning, match="column 4 of X is nearly all .* the other 4 hardly count.*StandardScaler"
    ):
        bvdt.transition_matrix(SALARY, "squared_euclidean")


@pytest.mark.parametrize(
    ("X", "divergence"),
    [
        (SALARY / SALARY.std(axis=0), "squared_euclidean"),
        (SALARY, "mahalanobis"),  # which knows of units
        (SALARY[:, 3:], "squared_euclidean"),  # points along a line
        (SALARY[:, [0, 0, 4]] * [0, 0, 1], "squared_euclidean"),  # the others are constant
        (ONE_FAR, "squared_euclidean"),  # a few far points, not units
    ],
    ids=["standardised", "mahalanobis", "two", "constant", "far"],
)
def test_other_points_are_taken_without_a_word(X, divergence):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bvdt.transition_matrix(X, divergence)
