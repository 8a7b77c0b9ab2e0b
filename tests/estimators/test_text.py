"""The pipeline for texts."""

import doctest

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import bvdt
import bvdt.estimators.text


def test_the_example():
    assert doctest.testmod(bvdt.estimators.text).failed == 0


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_counts(storage):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.poisson(np.where(np.arange(20) % 2 == y[:, None], 1.5, 0.2))
    few = np.where(np.arange(60) % 10 == 0, y, -1)
    model = clone(bvdt.text_pipeline(near=5, random_state=0)).fit(storage(X), few)
    assert (model[-1].transduction_ == y).mean() > 0.9
    assert (model.predict(storage(X)) == y).mean() > 0.85
    assert model[-1].operator_.n_trees == 2
    model.set_params(labels__near=3)
    assert model[-1].near == 3


def test_wrong_arguments():
    with pytest.raises(ValueError, match='input needs "counts" or "text"'):
        bvdt.text_pipeline("words")
    with pytest.raises(TypeError, match="nearest"):
        bvdt.text_pipeline(nearest=3)
