"""A user's data stay the user's, and what cannot be read as points is refused by name."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import bvdt
from bvdt.lifting import lift


def broken_csr(indptr=None, indices=None, n=40, d=6):
    X = sparse.random(n, d, 0.5, format="csr", random_state=0)
    X.sort_indices()
    good = sparse.csr_array((X.data + 0.1, X.indices.copy(), X.indptr.copy()), shape=X.shape)
    if indptr is not None:
        at, value = indptr
        good.indptr[at] = value
    if indices is not None:
        at, value = indices
        good.indices[at] = value
    return good


# -- 4: operators do not alias X -----------------------------------------------------------------------------


@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid", "itakura_saito"])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("n_neighbors", [0, 5])
def test_changing_the_data_afterwards_changes_no_operator(divergence, as_sparse, n_neighbors):
    X = np.random.default_rng(0).gamma(1.0, size=(60, 8)) + 0.01
    if as_sparse:
        if divergence == "itakura_saito":
            pytest.skip("zeros are outside its domain")
        X = sparse.csr_array(X * (np.arange(8) % 2))
    op = bvdt.transition_matrix(X, divergence, n_neighbors=n_neighbors, random_state=0)
    points = op.lifted.X.toarray() if as_sparse else op.lifted.X.copy()
    row, extended = op.row(3), op.extend(X[:4]).toarray()
    query = X[:4].copy()
    X *= 3
    if as_sparse:
        X.indices[:] = 0
    assert_array_equal(op.lifted.X.toarray() if as_sparse else op.lifted.X, points)
    assert_array_equal(op.row(3), row)
    assert_array_equal(op.extend(query).toarray(), extended)


# -- 6: masked arrays, and bandwidths near the least number --------------------------------------------------


def test_masked_arrays_are_refused_where_something_is_masked():
    X = np.random.default_rng(0).normal(size=(20, 3))
    masked = np.ma.masked_greater(X, 1.5)
    with pytest.raises(ValueError, match=r"X needs .*masked.*X\[\d+, \d+\]"):
        bvdt.transition_matrix(masked, "squared_euclidean")
    whole = np.ma.masked_array(X)
    op = bvdt.transition_matrix(whole, "squared_euclidean", random_state=0)
    assert_array_equal(op.row(0), bvdt.transition_matrix(X, "squared_euclidean", random_state=0).row(0))


@pytest.mark.parametrize("bandwidth", [1e-320, 5e-324, 1e-280, 1e-130, 1e300])
@pytest.mark.parametrize("n_neighbors", [0, 4])
def test_any_bandwidth_that_is_accepted_gives_finite_figures(bandwidth, n_neighbors):
    X = np.random.default_rng(0).normal(size=(50, 3))
    options = {"bandwidth": bandwidth, "n_neighbors": n_neighbors, "random_state": 0}
    if bandwidth < 1e-140:
        with pytest.raises(ValueError, match="bandwidth needs at least"):
            bvdt.transition_matrix(X, "squared_euclidean", **options)
        return
    op = bvdt.transition_matrix(X, "squared_euclidean", **options)
    for rows in (op.toarray(), op.extend(X[:5] + 0.1).toarray()):
        assert np.isfinite(rows).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert all(np.isfinite(value) for value in op.quality(10, random_state=0).values())


# -- 7: the structure of a user's CSR ------------------------------------------------------------------------

BROKEN = {
    "negative column": {"indices": (7, -1)},
    "column too large": {"indices": (7, 6)},
    "huge column": {"indices": (7, 2**31 - 1)},
    "first offset": {"indptr": (0, 1)},
    "falling offsets": {"indptr": (5, 10**6)},
    "negative offset": {"indptr": (5, -3)},
    "last offset": {"indptr": (40, 10**6)},
}


CALLS = {
    "fit": lambda X: bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=3),
    "extend": lambda X: bvdt.transition_matrix(broken_csr(), "squared_euclidean").extend(X),
    "exact": lambda X: bvdt.exact_transition_matrix(X, "squared_euclidean"),
    "estimator": lambda X: bvdt.LabelPropagation("squared_euclidean").fit(X, [0, 1] * 20),
    "predict": lambda X: bvdt.LabelPropagation("squared_euclidean").fit(broken_csr(), [0, 1] * 20).predict(X),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("call", CALLS)
def test_broken_csr_is_refused(case, call):
    X = broken_csr(**BROKEN[case])
    with pytest.raises(ValueError, match=r"X needs .*(indptr|indices)"):
        CALLS[call](X)


def _spoilt(X, **arrays):
    for name, value in arrays.items():
        setattr(X, name, value)
    return X


def _odd_formats():
    good = broken_csr()
    coo, bsr, csc = good.tocoo(), good.tobsr((2, 2)), good.tocsc()
    row, col = coo.coords
    yield "coo row", _spoilt(coo.copy(), coords=(np.where(row == 3, 10**6, row), col))
    yield "coo column", _spoilt(coo.copy(), coords=(row, np.where(col == 3, -1, col)))
    yield "coo length", _spoilt(coo.copy(), coords=(row[:-1], col))
    yield "bsr indices", _spoilt(bsr.copy(), indices=np.where(bsr.indices == 2, 3, bsr.indices))
    yield "bsr falling", _spoilt(bsr.copy(), indptr=np.where(np.arange(21) == 4, 10**6, bsr.indptr))
    yield "bsr swapped", _spoilt(bsr.copy(), indptr=bsr.indptr[np.r_[0, 2, 1, 3:21]])
    yield "bsr flat", _spoilt(bsr.copy(), data=bsr.data.ravel())
    yield "csc indices", _spoilt(csc.copy(), indices=np.where(csc.indices == 2, 40, csc.indices))
    yield "csr floats", _spoilt(good.copy(), indptr=good.indptr.astype(float))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("case", "X"), list(_odd_formats()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_broken_matrices_of_other_formats_are_refused(call, case, X):
    with pytest.raises(ValueError, match=r"X needs .*(indptr|indices|coords|blocks)"):
        CALLS[call](X)


@pytest.mark.parametrize("call", CALLS)
def test_masked_data_are_refused_everywhere(call):
    with pytest.raises(ValueError, match="masked"):
        CALLS[call](np.ma.masked_less(np.random.default_rng(0).random((40, 6)), 0.1))


def test_sound_csr_in_any_order_is_taken():
    good = broken_csr()
    shuffled = good.copy()
    for i in range(40):
        part = slice(shuffled.indptr[i], shuffled.indptr[i + 1])
        shuffled.indices[part], shuffled.data[part] = shuffled.indices[part][::-1], shuffled.data[part][::-1]
    shuffled.has_sorted_indices = shuffled.has_canonical_format = False
    assert_array_equal(lift(shuffled, "squared_euclidean").u, lift(good, "squared_euclidean").u)


def test_a_wrong_claim_of_order_is_not_believed():
    X = sparse.csr_array(np.tile([1.0, 2.0, 0.0, 0.0, 0.0], (30, 1)))
    X.indices[:2] = [1, 0]
    X.has_canonical_format = True
    expected = sparse.csr_array(np.tile([1.0, 2.0, 0.0, 0.0, 0.0], (30, 1))).toarray()
    expected[0] = [2.0, 1.0, 0.0, 0.0, 0.0]
    assert_array_equal(
        lift(X, "squared_euclidean").X.toarray(),
        lift(sparse.csr_array(expected), "squared_euclidean").X.toarray(),
    )
