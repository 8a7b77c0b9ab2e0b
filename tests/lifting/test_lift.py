"""Lifted form: d_ij = u_i + w_j − ⟨x_i, h_j⟩ equals the direct formula, for every divergence and storage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bvdt import divergences as dv
from bvdt._support import memory
from bvdt.lifting import row_hashes
from bvdt.lifting.lifted import Lifted, lift
from bvdt.lifting.smoothing import DataFacts
from helpers.points import draw, draw_with_zeros, make
from helpers.properties import examples

NAMES = (
    "squared_euclidean",
    "mahalanobis",
    "gid",
    "kl",
    "multinomial",
    "itakura_saito",
    "logistic",
    "negative_binomial",
    "custom",
)
SPARSE_FORMATS = (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix, sparse.lil_array)
seeds = st.integers(0, 2**32 - 1)


def all_pairs(lifted: Lifted) -> np.ndarray:
    return lifted.divergences(slice(None), slice(None))


def smoothed(lifted: Lifted, X: np.ndarray) -> np.ndarray:
    return lifted.lifting.scale * X + lifted.lifting.smoothing


def assert_equals_direct(lifted: Lifted, points: np.ndarray) -> None:
    """To 1e-10 relative to the largest term of Eq. (11)."""
    divergence = lifted.lifting.divergence
    direct = divergence.pairwise(points, points)
    inner = np.abs(points) @ np.abs(divergence.grad(points)).T
    largest = max(np.abs(divergence.phi_sum(points)).max(), inner.max())
    assert np.abs(all_pairs(lifted) - direct).max() <= 1e-10 * largest


@pytest.mark.parametrize("name", NAMES)
@examples(200)
@given(seed=seeds)
def test_dense_equals_direct(name, seed):
    X = draw(name, np.random.default_rng(seed))
    lifted = lift(X, make(name, X.shape[1]))
    assert lifted.base is None
    assert not lifted.lifting.smoothing.any()  # auto: every point is inside the domain
    assert_equals_direct(lifted, X)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@examples(200)
@given(seed=seeds, smoothing=st.sampled_from([1e-3, 0.01, 0.3, "background"]))
def test_sparse_equals_direct(name, seed, smoothing):
    rng = np.random.default_rng(seed)
    X = draw_with_zeros(name, rng)
    make_sparse = SPARSE_FORMATS[seed % len(SPARSE_FORMATS)]
    smoothing = 0.1 if name == "custom" and smoothing == "background" else smoothing
    lifted = lift(make_sparse(X), make(name, X.shape[1]), smoothing)
    points = smoothed(lifted, X)
    assert_equals_direct(lifted, points)
    if lifted.is_sparse:
        gradient = lifted.lifting.divergence.grad
        offset = lifted.lifting.offset
        points = points if offset is None else points - offset
        assert_allclose(lifted.X.toarray() + lifted.base, points, rtol=1e-14)
        assert_allclose(lifted.H.toarray() + gradient(lifted.base), gradient(points), rtol=1e-10, atol=1e-12)
        assert lifted.X.indices is lifted.H.indices or np.shares_memory(lifted.X.indices, lifted.H.indices)
        assert (lifted.u >= -1e-12 * np.abs(lifted.u).max()).all()  # d(x', e)
        assert (lifted.w >= -1e-12 * np.abs(lifted.w).max() - 1e-12).all()  # d(e, x')


@pytest.mark.parametrize("name", ["gid", "kl", "multinomial", "logistic", "negative_binomial"])
@given(seed=seeds)
def test_dense_and_sparse_agree_with_auto(name, seed):
    X = draw_with_zeros(name, np.random.default_rng(seed))
    dense, thin = lift(X, name), lift(sparse.csr_array(X), name)
    assert_allclose(dense.lifting.smoothing, thin.lifting.smoothing, rtol=1e-12)
    assert (dense.lifting.smoothing > 0).all()
    assert_equals_direct(dense, smoothed(dense, X))
    assert_equals_direct(thin, smoothed(thin, X))


@pytest.mark.parametrize("name", ["squared_euclidean", "mahalanobis"])
def test_far_from_the_origin(name):
    """Shifted by 1e6, at most 6 of 16 digits are lost."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    divergence = make(name, 4)
    far = all_pairs(lift(X + 1e6, divergence))
    assert_allclose(far, divergence.pairwise(X, X), rtol=1e-10, atol=1e-9)


def test_squared_euclidean_stores_the_points_once():
    X = np.random.default_rng(0).normal(size=(6, 3))
    for given_points in (X, sparse.csr_array(X)):
        lifted = lift(given_points, "squared_euclidean")
        assert lifted.H is lifted.X


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_transform_maps_new_points_the_same_way(name, storage):
    rng = np.random.default_rng(5)
    X = draw_with_zeros(name, rng, n=20)
    old, new = X[:15], X[15:]
    convert = sparse.csr_array if storage == "sparse" else np.asarray
    lifted = lift(convert(old), make(name, X.shape[1]), 0.05)
    for query in (new, sparse.coo_array(new), new[:1]):
        moved = lifted.lifting.transform(query)
        assert moved.is_sparse == lifted.is_sparse
        d = moved.u[:, None] + lifted.w[None, :] - _inner(moved.X, lifted.H)
        query = np.asarray(query.todense()) if sparse.issparse(query) else query
        expected = lifted.lifting.divergence.pairwise(smoothed(lifted, query), smoothed(lifted, old))
        assert_allclose(d, expected, rtol=1e-9, atol=1e-9 * max(expected.max(), 1))


def _inner(X, H):
    product = X @ H.T
    return product.toarray() if sparse.issparse(product) else product


def test_transform_refuses_other_features():
    lifting = lift(np.ones((3, 4)), "gid").lifting
    with pytest.raises(ValueError, match="X needs 4 features, as the lifted data; it has 3"):
        lifting.transform(np.ones((2, 3)))


def test_every_input_type_gives_the_same():
    X = np.random.default_rng(0).poisson(1.0, size=(8, 5))
    expected = all_pairs(lift(X.astype(float), "gid", 0.1))
    frame = pd.DataFrame(X, columns=list("abcde"))
    inputs = [X, X.astype(np.uint8), X.astype(np.float32), np.asfortranarray(X), X.tolist(), frame]
    inputs += [
        X.astype(object),
        sparse.csr_array(X.astype(np.int8)),
        sparse.csr_matrix(X),
        sparse.dok_array(X),
    ]
    for each in inputs:
        assert_allclose(all_pairs(lift(each, "gid", 0.1)), expected, atol=1e-12)
    booleans = X > 0
    assert_allclose(
        all_pairs(lift(booleans, "logistic")), all_pairs(lift(booleans.astype(float), "logistic"))
    )


def test_untidy_sparse_input_is_read_right_and_left_alone():
    """Duplicates (beyond what uint8 can hold), unsorted columns and stored zeros."""
    rows, columns = np.array([0, 0, 0, 1, 2, 1]), np.array([2, 0, 2, 1, 0, 0])
    values = np.array([200, 3, 100, 5, 0, 1], dtype=np.uint8)
    X = np.array([[3, 0, 300], [1, 5, 0], [0, 0, 0]], dtype=float)
    expected = all_pairs(lift(X, "gid", 0.1))
    coo = sparse.coo_matrix((values, (rows, columns)), shape=(3, 3))
    assert_allclose(all_pairs(lift(coo, "gid", 0.1)), expected)
    csr = sparse.csr_array((values, np.array([2, 0, 2, 1, 0, 0]), np.array([0, 3, 5, 6])), shape=(3, 3))
    before = csr.data.copy(), csr.indices.copy()
    lifted = lift(csr, "gid", 0.1)
    assert lifted.X.has_canonical_format
    assert lifted.X[0, 2] == 300
    assert np.array_equal(csr.data, before[0])
    assert np.array_equal(csr.indices, before[1])


def test_empty_rows_and_absent_features():
    X = sparse.csr_array(np.array([[0, 0, 0], [2, 0, 1], [0, 0, 0], [1, 0, 0]]))
    lifted = lift(X, "gid")
    assert (lifted.lifting.smoothing > 0).all()
    assert np.isfinite(all_pairs(lifted)).all()
    nothing = lift(sparse.csr_array((3, 4)), "gid")
    assert (all_pairs(nothing) == 0).all()


def test_full_sparse_data_without_smoothing_become_dense():
    X = np.random.default_rng(0).gamma(1.0, size=(5, 3)) + 0.1
    lifted = lift(sparse.csr_array(X), "itakura_saito")
    assert not lifted.is_sparse
    assert_equals_direct(lifted, X)


def test_kl_normalizes_and_multinomial_learns_its_length():
    X = np.random.default_rng(0).poisson(2.0, size=(9, 4)) + 1.0
    divergence = dv.KullbackLeibler(normalize=True)
    for given_points in (X, sparse.csr_array(X)):
        assert_equals_direct(lift(given_points, divergence), X / X.sum(axis=1, keepdims=True))
    counts = np.random.default_rng(0).multinomial(30, [0.2, 0.3, 0.5], size=8)
    assert lift(counts, "multinomial").lifting.divergence.length == 30


def test_mahalanobis_learns_its_covariance():
    X = np.random.default_rng(0).normal(size=(50, 3)) @ np.diag([1, 10, 100])
    lifted = lift(X, "mahalanobis")
    assert_allclose(lifted.lifting.divergence.covariance, np.cov(X, rowvar=False))
    assert_equals_direct(lifted, X)


def test_sparse_mahalanobis_says_what_it_would_need(monkeypatch):
    X = sparse.random_array((50, 40_000), density=1e-3, rng=np.random.default_rng(0))
    monkeypatch.setattr(memory, "available_bytes", lambda: 2.0 * memory.GIB)
    with pytest.raises(MemoryError, match=r"mahalanobis on sparse X \(50 × 40000\).* GiB; 2.0 GiB"):
        lift(X, "mahalanobis")


def test_arrays_for_the_kernels():
    X = sparse.csr_array(np.eye(4))
    indptr, indices, x, h, d = lift(X, "gid", 0.1).arrays
    assert (indptr.dtype, indices.dtype, x.dtype, h.dtype, d) == (
        np.int64,
        np.int32,
        np.float64,
        np.float64,
        4,
    )
    dense_x, dense_h = lift(np.eye(4), "gid", 0.1).arrays
    assert dense_x.flags.c_contiguous
    assert dense_h.flags.c_contiguous


def test_real_counts(data_folder):
    """A sample of BBC-Sport: sparse, lifted, against Eq. (28) written out."""
    with np.load(data_folder / "bbcsport.npz", allow_pickle=True) as f:
        arrays = (f["data"].astype(np.int32), f["indices"].astype(np.int32), f["indptr"].astype(np.int32))
        X = sparse.csr_array(arrays, shape=tuple(f["shape"]))[::50]
    lifted = lift(X, "gid")
    points = smoothed(lifted, X.toarray())
    expected = [[np.sum(x * np.log(x / y) - x + y) for y in points] for x in points]
    assert_allclose(all_pairs(lifted), expected, rtol=1e-10, atol=1e-8)


def test_auto_smoothing_follows_the_share_of_zeros():
    rng = np.random.default_rng(0)
    for share, expected in ((0.5, "mean"), (0.02, "background")):
        X = rng.gamma(1.0, size=(200, 30)) * (rng.random((200, 30)) < share)
        for points in (X, sparse.csr_array(X)):
            e = lift(points, "gid").lifting.smoothing
            assert_allclose(
                e, X.mean() if expected == "mean" else dv.get("gid").background(DataFacts(X).ordinary_means())
            )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_hashes_of_some_rows_are_those_of_all(form):
    X = np.random.default_rng(0).integers(0, 3, (50, 7)).astype(float)
    lifted = lift(form(X), "squared_euclidean")
    rows = np.array([3, 3, 49, 0])
    assert_array_equal(row_hashes(lifted, rows), row_hashes(lifted)[rows])


@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid"])
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.float64])
def test_the_users_array_stays_as_it_is(divergence, dtype):
    """What was converted is moved where it is; what the user holds never is, and is not shared."""
    X = np.random.default_rng(0).integers(0, 9, (50, 4)).astype(dtype)
    before = X.copy()
    lifted = lift(X, divergence, smoothing="auto" if divergence == "gid" else 0.0)
    assert_array_equal(X, before)
    assert not np.shares_memory(lifted.X, X)
    same = lift(before.astype(np.float64), divergence, smoothing="auto" if divergence == "gid" else 0.0)
    assert_array_equal(lifted.X, same.X)
    assert_array_equal(lifted.u, same.u)
