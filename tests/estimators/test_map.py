"""The map as an estimator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

import bvdt

SEEDED = {"random_state": 0, "n_jobs": 1}


@pytest.mark.slow
def test_digits_lie_among_their_own_and_new_ones_too():
    X, y = load_digits(return_X_y=True)
    model = bvdt.Map("squared_euclidean", **SEEDED)
    places = model.fit_transform(X[:1200])
    assert places.shape == (1200, 2)
    vote = KNeighborsClassifier(15).fit(places, y[:1200])
    assert vote.score(places, y[:1200]) > 0.9
    assert vote.score(model.transform(X[1200:]), y[1200:]) > 0.8
    assert_allclose(model.transform(X[:50]), places[:50], atol=1e-9)
    assert_array_equal(
        bvdt.Map("squared_euclidean", **SEEDED).fit(operator=model.operator_).embedding_, places
    )
    assert list(model.get_feature_names_out()) == ["map0", "map1"]


def test_not_fitted():
    with pytest.raises(NotFittedError):
        bvdt.Map().transform(np.ones((2, 2)))
