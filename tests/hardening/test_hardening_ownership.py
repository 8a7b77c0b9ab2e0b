"""What is fitted holds data of its own: the caller's arrays may change afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import bvdt

N = 60  # × 4: about 1 KiB
METRIC = "squared_euclidean"


def as_memmap(X, folder):
    mapped = np.memmap(folder / "X.dat", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    return mapped


FORMS = {
    "float64": lambda X, _: X.copy(),
    "float32": lambda X, _: X.astype(np.float32),
    "Fortran": lambda X, _: np.asfortranarray(X),
    "CSR": lambda X, _: sparse.csr_array(X),
    "CSC": lambda X, _: sparse.csc_array(X),
    "memmap": as_memmap,
}


def spoil(X):
    """Other values, and other places of them where X is sparse."""
    if sparse.issparse(X):
        X.data[:] = -1e3 * np.arange(len(X.data))
        X.indices[:] = X.indices[::-1].copy()
        X.indptr[1:-1] = 0
    else:
        X[::2] *= -1
        X[1::2] += 100


def labels(n):
    y = np.full(n, -1)
    y[: n // 2] = np.arange(n // 2) % 2
    return y


def walk(X, Q, folder):
    op = bvdt.transition_matrix(X, METRIC, n_neighbors=3, n_trees=2, random_state=0)
    blocks = bvdt.transition_matrix(X, METRIC, random_state=0)

    def results():
        op.save(folder / "walk.bvdt")
        yield op.quality(random_state=0)["kl"]
        yield op.extend(Q).toarray()
        yield from op.nearest(Q, 3)
        yield op.add_trees(1).toarray()
        yield blocks.refine(blocks.n_blocks + 20).toarray()
        yield bvdt.load(folder / "walk.bvdt").extend(Q).toarray()

    return results


def search(X, Q, _):
    nearest = bvdt.NearestNeighbors(4, random_state=0).fit(X)

    def results():
        yield from nearest.kneighbors(Q)
        yield from nearest.kneighbors()
        yield from nearest.kneighbors(n_neighbors=9)

    return results


def queries(X, Q, _):
    nearest = bvdt.NearestNeighbors(4, random_state=0).fit(X)
    return lambda: nearest.kneighbors(Q)


def labeled(prior):
    def make(X, Q, _):
        walk = bvdt.LabelPropagation(METRIC, n_neighbors=5, random_state=0, blend=prior).fit(
            X, labels(X.shape[0])
        )

        def results():
            yield walk.predict_proba(Q)
            yield walk.predict(Q)
            yield from walk.explain(X.shape[0] - 1)
            yield walk.suggest(3)
            if prior is not None:
                yield walk.hidden_labels(3).P

        return results

    return make


def embedded(estimator):
    def make(X, Q, _):
        fitted = estimator.fit(X)
        return lambda: [(fitted.predict if hasattr(fitted, "predict") else fitted.transform)(Q)]

    return make


FITTED = {
    "transition_matrix": walk,
    "NearestNeighbors": search,
    "LabelPropagation": labeled(None),
    "LabelPropagation, prior": labeled("auto"),
    "LabelPropagation, classifier": labeled(LogisticRegression()),
    "SpectralEmbedding": embedded(bvdt.SpectralEmbedding(2, divergence=METRIC, random_state=0)),
    "SpectralClustering": embedded(bvdt.SpectralClustering(2, divergence=METRIC, random_state=0)),
    "Map": embedded(bvdt.Map(divergence=METRIC, random_state=0)),
}


def points(n, d):
    rng = np.random.default_rng(0)
    return 3 * (np.arange(n) % 2)[:, None] + rng.normal(size=(n, d))


def check_unchanged(make, X, Q, folder):
    """Results after the caller's array is changed are those of a fit whose array never is."""
    changed, kept = make(X, Q, folder), make(X.copy(), Q, folder)
    spoil(X)
    for value, expected in zip(changed(), kept(), strict=True):
        assert_array_equal(value, expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fitted", FITTED)
def test_a_change_of_the_callers_array_changes_nothing(fitted, form, tmp_path):
    X = points(N, 4)
    check_unchanged(FITTED[fitted], FORMS[form](X, tmp_path), X[:7] + 0.1, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("fitted", [walk, queries])
def test_nor_does_one_of_64_mib(fitted, tmp_path):
    X = points(4200, 2000)
    check_unchanged(fitted, X, X[:3] + 0.1, tmp_path)


def test_a_refit_sees_what_was_changed():
    X, y = points(N, 4), labels(N)
    walk = bvdt.LabelPropagation(METRIC, n_neighbors=5, random_state=0, blend="linear").fit(X, y)
    op = walk.operator_
    X[:] = X[::-1].copy()
    again = walk.fit(X, y, operator=op).predict_proba(X)
    fresh = bvdt.LabelPropagation(METRIC, n_neighbors=5, random_state=0, blend="linear").fit(
        X, y, operator=op
    )
    assert_array_equal(again, fresh.predict_proba(X))


@pytest.mark.parametrize("metric", [METRIC, "gid"])
@pytest.mark.parametrize("form", ["float64", "CSR", "float32"])
def test_without_a_copy_the_walk_is_the_same_in_the_callers_memory(metric, form, tmp_path):
    X = FORMS[form](np.random.default_rng(0).gamma(1.0, size=(N, 4)) + 0.1, tmp_path)
    kept = bvdt.transition_matrix(X, metric, n_neighbors=3, random_state=0)
    given = bvdt.transition_matrix(X, metric, n_neighbors=3, random_state=0, copy=False)
    assert_array_equal(given.toarray(), kept.toarray())
    if form == "float64":
        assert np.shares_memory(given.lifted.X, X)
    assert not np.shares_memory(kept.lifted.X.data, getattr(X, "data", X))
