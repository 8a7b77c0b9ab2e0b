"""Rows of zeros, such as texts without a known word, are far from all others and change nothing for them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.neighbors import NearestNeighbors

import bvdt
from bvdt.estimators.text import DEFAULTS

pytestmark = pytest.mark.kernel


@pytest.fixture(scope="module")
def corpus():
    made = bvdt.datasets.make_documents(600, n_classes=3, random_state=0)
    return TfidfTransformer(sublinear_tf=True).fit_transform(made.counts), made.labels


def with_empty(X, share):
    return sparse.csr_array(sparse.vstack([X, sparse.csr_array((int(share * X.shape[0]), X.shape[1]))]))


@pytest.mark.parametrize("share", [0.01, 0.2])
@pytest.mark.parametrize("as_sparse", [True, False])
def test_neighbors_are_scikit_learns(corpus, share, as_sparse):
    X = with_empty(corpus[0], share)
    X = X if as_sparse else X.toarray()
    ours = bvdt.NearestNeighbors(n_neighbors=5, metric="cosine").fit(X)
    theirs = NearestNeighbors(n_neighbors=5, metric="cosine", algorithm="brute").fit(X)
    found, indices = ours.kneighbors(X[:600])
    assert_allclose(found, theirs.kneighbors(X[:600])[0], atol=1e-12)
    assert (indices < 600).all()


@pytest.mark.parametrize("as_sparse", [True, False])
def test_a_new_empty_row_is_far_from_all(corpus, as_sparse):
    X = corpus[0] if as_sparse else corpus[0].toarray()
    for fitted in (X, with_empty(X, 0.01) if as_sparse else np.vstack([X, np.zeros((6, X.shape[1]))])):
        lifted = bvdt.transition_matrix(fitted, "cosine", random_state=0).lifted
        new = lifted.lifting.transform(
            with_empty(corpus[0][:1], 1) if as_sparse else np.eye(2, X.shape[1]) * [[1], [0]]
        )
        d = (
            new.u[1]
            + lifted.w[:600]
            - np.asarray(
                (new.X[[1]] @ lifted.H[:600].T).todense() if as_sparse else new.X[[1]] @ lifted.H[:600].T
            ).ravel()
        )
        assert_allclose(d, 1.0, atol=1e-12)


@pytest.mark.parametrize("blend", [None, "auto"])
def test_labels_of_the_others_stay(corpus, blend):
    X, y = corpus
    labels = np.full(600, -1)
    for k in range(3):
        labels[np.flatnonzero(y == k)[:5]] = k
    shares = []
    for share in (0.0, 0.01, 0.05, 0.2):
        data = with_empty(X, share)
        few = np.append(labels, np.full(data.shape[0] - 600, -1))
        model = bvdt.LabelPropagation(**(DEFAULTS | {"blend": blend}), random_state=0).fit(data, few)
        shares.append(np.mean(model.transduction_[:600] == y))
    assert round(600 * np.ptp(shares)) <= 6  # documents


def test_a_file_keeps_the_coordinate(corpus, tmp_path):
    X = with_empty(corpus[0], 0.01)
    op = bvdt.transition_matrix(X, "cosine", n_neighbors=5, random_state=0)
    op.save(tmp_path / "walk.npz")
    again = bvdt.load(tmp_path / "walk.npz")
    new = with_empty(corpus[0][:3], 1)
    assert_allclose((again.extend(new) @ np.eye(606)), op.extend(new) @ np.eye(606))


def test_parts_of_a_dask_array_agree_on_it(corpus):
    da = pytest.importorskip("dask.array")
    X = np.vstack([corpus[0].toarray(), np.zeros((30, corpus[0].shape[1]))])
    parts = da.from_array(X, chunks=(100, -1))
    op = bvdt.dask.transition_matrix(
        parts, "cosine", n_neighbors=5, memory_limit="1GiB", shard_points=200, random_state=0
    )
    product = np.asarray(op @ np.eye(630)[:, :600])
    assert product[600:].max() < 0.2  # empty rows lead to each other
