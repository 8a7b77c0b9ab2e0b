"""Tables of polars and pyarrow go in as those of pandas do, and come out where they are asked for."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

import bvdt

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9):
    pytest.skip("scikit-learn takes these tables from 1.9 on", allow_module_level=True)

X, y = load_iris(return_X_y=True)
FEW = np.where(np.arange(150) % 5 == 0, y, -1)
NAMES = ["a", "b", "c", "d"]
TABLES = {
    "polars": pl.DataFrame(X, schema=NAMES),
    "pyarrow": pa.table({name: X[:, j] for j, name in enumerate(NAMES)}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_are_read_as_arrays_with_names(kind):
    table, array = TABLES[kind], bvdt.LabelPropagation(random_state=0).fit(X, FEW)
    model = bvdt.LabelPropagation(random_state=0).fit(table, FEW)
    assert list(model.feature_names_in_) == NAMES
    assert_array_equal(model.label_distributions_, array.label_distributions_)
    assert_array_equal(model.predict(table), array.predict(X))
    v = np.linspace(0, 1, 150)
    assert_array_equal(
        bvdt.transition_matrix(table, random_state=0) @ v, bvdt.transition_matrix(X, random_state=0) @ v
    )
    for estimator in (bvdt.SpectralClustering(3, random_state=0), bvdt.NearestNeighbors()):
        assert list(estimator.fit(table).feature_names_in_) == NAMES


@pytest.mark.parametrize("make", [bvdt.SpectralEmbedding, bvdt.Map], ids=["embedding", "map"])
def test_coordinates_come_out_as_asked_for(make):
    plain = make(random_state=0).fit_transform(TABLES["polars"])
    found = make(random_state=0).set_output(transform="polars").fit_transform(TABLES["polars"])
    assert isinstance(found, pl.DataFrame)
    assert_array_equal(found.to_numpy(), plain)


def test_labels_of_a_series():
    words = pl.Series([["setosa", "versicolor", "virginica"][k] if k >= 0 else None for k in FEW])
    for labels, classes in ((pl.Series(FEW), [0, 1, 2]), (words, ["setosa", "versicolor", "virginica"])):
        assert list(bvdt.LabelPropagation(random_state=0).fit(X, labels).classes_) == classes
