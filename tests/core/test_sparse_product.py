"""Sparse products on threads against SciPy's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bvdt._support import sparse as ours


@pytest.mark.kernel
@pytest.mark.parametrize("dtypes", [("f4", "f4"), ("f8", "f8"), ("f4", "f8"), ("f8", "f4")])
@pytest.mark.parametrize("k", [1, 2, 6, 15, 16, 17, 40])
def test_products_are_scipys(k, dtypes, monkeypatch):
    monkeypatch.setattr(ours, "SERIAL", 0)
    rng = np.random.default_rng(k)
    A = sparse.random_array((500, 70), density=0.1, format="csr", rng=rng).astype(dtypes[0])
    V = rng.normal(size=(70, k)).astype(dtypes[1])
    one, two = (ours.sparse_times(A, V, n_jobs) for n_jobs in (1, 2))
    slow = A @ V
    assert one.dtype == slow.dtype
    assert_allclose(one, slow, atol=1e-5 if one.dtype == np.float32 else 1e-12)
    assert_array_equal(one, two)


@pytest.mark.kernel
def test_odd_shapes_and_layouts():
    empty = sparse.csr_array((3, 4))
    assert_array_equal(ours.sparse_times(empty, np.ones((4, 2))), np.zeros((3, 2)))
    A = sparse.csr_array(np.arange(12.0).reshape(3, 4))
    assert ours.sparse_times(A, np.ones((4, 0))).shape == (3, 0)
    V = np.arange(12.0).reshape(3, 4).T  # columns first
    assert_array_equal(ours.sparse_times(A, V), A.toarray() @ V)
    wide = A.copy()
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    assert_array_equal(ours.sparse_times(wide, V), A.toarray() @ V)
