"""The data that a lifted form was made from are found again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from bvdt.lifting import lift
from bvdt.stacking import rows_of_lifted


def counts(common):
    """Rows of a few counts, and one column near the same value in all."""
    rng = np.random.default_rng(0)
    X = rng.integers(1, 9, (60, 30)) * (rng.random((60, 30)) < 0.1).astype(float)
    X[:, 3] = common * (1 + 1e-3 * rng.random(60))
    return sparse.csr_array(X)


@pytest.mark.parametrize("common", [1.0, 1e5])
@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid"])
def test_sparse_rows_are_found_again(divergence, common):
    """Also where a column far from 0 was centered."""
    X = counts(common)
    lifted = lift(X, divergence)
    centered = divergence == "squared_euclidean" and common > 1
    assert (lifted.lifting.offset is not None) == centered
    rows = rows_of_lifted(lifted)
    assert sparse.issparse(rows)
    assert rows.nnz == X.nnz
    assert_allclose(rows.toarray(), X.toarray(), rtol=1e-12)


def test_dense_rows_are_found_again():
    X = np.random.default_rng(0).random((50, 4)) + 7
    for divergence in ("squared_euclidean", "gid", "itakura_saito"):
        assert_allclose(rows_of_lifted(lift(X, divergence)), X, rtol=1e-12)
