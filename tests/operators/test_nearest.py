"""The nearest fitted points of new ones, against all pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import bvdt
from helpers.engine_cases import DIVERGENCES, random_data


def all_divergences(op, X_new):  # (n_new, N)
    """Slow twin: every pair."""
    new, fitted = op.lifted.lifting.transform(X_new), op.lifted
    inner = new.X @ fitted.H.T
    inner = inner.toarray() if sparse.issparse(inner) else inner
    return np.maximum(new.u[:, None] + fitted.w - inner, 0.0)


@pytest.mark.kernel
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("options", [{}, {"n_neighbors": 5}, {"n_trees": 2}])
def test_where_all_are_read_they_are_the_nearest(divergence, as_sparse, options):
    rng = np.random.default_rng(0)
    X = random_data(divergence, 200, rng, as_sparse=as_sparse)
    smoothing = 0.1 if as_sparse and divergence != "squared_euclidean" else "auto"
    op = bvdt.transition_matrix(
        X[:150], divergence, smoothing=smoothing, bandwidth=0.5, random_state=0, **options
    )
    index, d = op.nearest(X[150:], 7)
    expected = all_divergences(op, X[150:])
    assert_allclose(d, np.sort(expected, axis=1)[:, :7], atol=1e-9)
    assert_allclose(np.take_along_axis(expected, index, 1), d, atol=1e-9)
    assert (np.diff(d, axis=1) >= 0).all()
    assert all(len(set(row)) == 7 for row in index)
    all_of_them, _ = op.nearest(X[150:153], 150)
    assert_array_equal(np.sort(all_of_them, axis=1), np.tile(np.arange(150), (3, 1)))
    back, d = op.nearest(X[:150], 3)
    assert_allclose(d[:, 0], 0.0)
    assert_allclose(np.take_along_axis(all_divergences(op, X[:150]), back[:, :1], 1), 0.0, atol=1e-8)


@pytest.mark.kernel
@pytest.mark.parametrize("options", [{"n_neighbors": 10}, {"n_trees": 2}])
def test_most_are_found_where_few_are_compared(options, monkeypatch):
    """The divergences are those of the points named, and most of the true ones are among them."""
    monkeypatch.setattr(bvdt.neighbors.index, "ALL_PAIRS", 100)
    monkeypatch.setattr(bvdt.neighbors.ivf, "LIST_SIZE", 25)
    X = np.random.default_rng(0).normal(size=(1300, 3))
    op = bvdt.transition_matrix(X[:1200], "squared_euclidean", random_state=0, **options)
    index, d = op.nearest(X[1200:], 10)
    expected = all_divergences(op, X[1200:])
    assert_allclose(np.take_along_axis(expected, index, 1), d, atol=1e-9)
    assert all(len(set(row)) == 10 for row in index)
    true = np.argsort(expected, axis=1)[:, :10]
    found = [len(set(a) & set(b)) for a, b in zip(index, true, strict=True)]
    assert np.mean(found) > 8.5
    assert_array_equal(op.nearest(X[:50], 1)[0][:, 0], np.arange(50))


def test_a_number_of_neighbors_that_is_none():
    X = np.random.default_rng(0).normal(size=(60, 2))
    op = bvdt.transition_matrix(X, "squared_euclidean", random_state=0)
    for k in (0, 61):
        with pytest.raises(ValueError, match="k needs an integer from 1 to 60"):
            op.nearest(X[:1], k)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_an_operator_keeps_the_index_of_its_near_field(as_sparse):
    X = random_data("gid", 200, np.random.default_rng(0), as_sparse=as_sparse)
    op = bvdt.transition_matrix(X, n_neighbors=5, random_state=0)
    assert op.index is op.index
    assert op.index.strategy is op.near_field.index.strategy
    tree = bvdt.transition_matrix(X, random_state=0)
    assert tree.index is tree.index
    assert_array_equal(op.nearest(X[:9], 4)[0], tree.nearest(X[:9], 4)[0])


def test_a_sparse_query_that_shares_few_features_has_neighbors_all_the_same(monkeypatch):
    monkeypatch.setattr(bvdt.neighbors.index, "ALL_PAIRS", 10)
    X = sparse.csr_array(np.eye(40, 45) + np.eye(40, 45, 1))
    op = bvdt.transition_matrix(X, "squared_euclidean", random_state=0)
    Q = sparse.csr_array(np.vstack([np.zeros(45), np.eye(45)[44], np.eye(45)[3]]))
    index, d = op.nearest(Q, 6)
    assert_allclose(d, np.sort(all_divergences(op, Q), axis=1)[:, :6], atol=1e-12)
    assert (index >= 0).all()
    assert_allclose((op.extend(Q) @ np.ones(40)), 1.0)
