"""Tables of numbers, categories and gaps go in as they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from bvdt import LabelPropagation, NearestNeighbors, SpectralEmbedding


def frame(n=300, seed=0):
    """Color and size tell the classes; some of each are missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    which = np.where(rng.random(n) < 0.8, y, rng.integers(3, size=n))
    color = np.array(["red", "green", "blue"], object)[which]
    size = 10.0 * y + rng.normal(size=n)
    table = pd.DataFrame(
        {"color": color, "size": size, "new": rng.random(n) < 0.5, "count": rng.poisson(3, n)}
    )
    table.loc[::17, "color"] = None
    table.loc[::13, "size"] = np.nan
    return table, y


def few(y, n=40):
    return np.where(np.arange(len(y)) < n, y, -1)


def test_a_table_goes_in_as_it_is():
    table, y = frame()
    model = LabelPropagation(random_state=0).fit(table, few(y))
    assert (model.transduction_ == y)[40:].mean() > 0.9
    assert set(model.views_) == {"numbers", "categories"}
    assert list(model.feature_names_in_) == list(table.columns)
    assert model.n_features_in_ == 4
    new, truth = frame(seed=1)
    assert (model.predict(new[list(reversed(new.columns))]) == truth).mean() > 0.85
    new.loc[0, "color"] = "a color that nobody has seen"
    assert model.predict(new[:2]).shape == (2,)
    assert model.reasons(45).features.shape == (1, 3)
    assert clone(model).fit(table, few(y)).update(new[:5]).transduction_.shape == (305,)


def test_polars_tables_are_the_same():
    table, y = frame()
    one = LabelPropagation(random_state=0).fit(table, few(y))
    other = LabelPropagation(random_state=0).fit(pl.from_pandas(table), few(y))
    assert_array_equal(one.transduction_, other.transduction_)


def test_other_estimators_take_them():
    table, _ = frame()
    assert SpectralEmbedding(2, random_state=0).fit_transform(table).shape == (300, 2)
    assert NearestNeighbors(n_neighbors=2).fit(table).kneighbors(table[:3])[1].shape == (3, 2)


def test_tables_of_numbers_are_the_array():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = few((X[:, 0] > 0).astype(int), 20)
    one = LabelPropagation(random_state=0).fit(X, y)
    other = LabelPropagation(random_state=0).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert_array_equal(one.label_distributions_, other.label_distributions_)
    X[3, 1] = np.nan
    filled = LabelPropagation(random_state=0).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert filled.views_["numbers"]["n_features"] == 3


def test_rare_categories_count_more():
    table = pd.DataFrame({"kind": ["common"] * 90 + ["rare"] * 10 + ["other"] * 20})
    model = SpectralEmbedding(1, n_neighbors=3, random_state=0).fit(table)
    d = model.operator_.lifted.divergences([0, 95], [119])
    assert d[1, 0] > d[0, 0]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([f"name {i}" for i in range(40)], "it holds the text 'name 0' in column 'x'"),
        (np.array(["2020-01-01"] * 40, "datetime64[D]"), "column 'x' holds dates"),
        ([np.inf] * 40, "column 'x' has an infinite one"),
    ],
)
def test_what_is_no_category(column, message):
    table = pd.DataFrame({"x": column, "kind": ["a", "b"] * 20})
    with pytest.raises(ValueError, match=message):
        LabelPropagation().fit(table, few(np.arange(40) % 2, 10))


def test_new_rows_of_another_kind():
    table, y = frame()
    model = LabelPropagation(random_state=0).fit(table, few(y))
    with pytest.raises(ValueError, match="none named 'size'"):
        model.predict(table.drop(columns="size"))
    with pytest.raises(ValueError, match=r"the fit's columns, color, size, new, count; got ndarray"):
        model.predict(np.ones((2, 4)))
    wrong = table.assign(size="large")
    with pytest.raises(ValueError, match="numbers in column 'size', as in the fit; it has 'large'"):
        model.predict(wrong)
