"""Matrix Market files, against SciPy's reader."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import mmread, mmwrite

from bvdt.documents.files.market import parse_market


def written(X, **options) -> bytes:
    file = io.BytesIO()
    mmwrite(file, X, **options)
    return file.getvalue()


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 12),
    is_sparse=st.booleans(),
    kind=st.sampled_from(["real", "integer", "pattern"]),
    symmetry=st.sampled_from(["general", "symmetric", "skew-symmetric"]),
    ending=st.sampled_from([b"\n", b"\r\n"]),
)
def test_reads_what_scipy_reads(seed, n, is_sparse, kind, symmetry, ending):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n if symmetry != "general" else 7)) * (rng.random((n, 1)) < 0.7)
    X = np.rint(9 * X) if kind != "real" else X
    if symmetry != "general":
        X = X + X.T if symmetry == "symmetric" else X - X.T
    X = X.astype(int) if kind == "integer" else X
    if kind == "pattern" and not is_sparse:
        kind = "real"
    if kind == "pattern" and symmetry == "skew-symmetric":  # which has no such thing
        symmetry = "general"
    content = written(sparse.coo_array(X) if is_sparse else X, field=kind, symmetry=symmetry)
    found = dense(parse_market(content.replace(b"\n", ending)))
    assert_array_equal(found, dense(mmread(io.BytesIO(content))))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("%%MatrixMarket vector coordinate real general\n2 2 0\n", "its first line is"),
        ("%%MatrixMarket matrix array pattern general\n2 2\n", "an array has values"),
        ("%%MatrixMarket matrix coordinate real general\n2 2\n", "its line of sizes is '2 2'"),
        ("%%MatrixMarket matrix coordinate real general\n2 -2 1\n1 1 1\n", "its line of sizes"),
        ("%%MatrixMarket matrix coordinate real general\n2 2.5 1\n1 1 1\n", "line of sizes is 2.5"),
        (
            "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n",
            "but not square: 2 × 3",
        ),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", "1 of the 2 lines"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1 1\n1 2\n", "entry 1 has 4 numbers"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 1\n", "an index is 1.5"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", "it has row 0 of 2"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", "it has column 3 of 2"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 one\n", "no number"),
    ],
)
def test_damaged(body, reason):
    with pytest.raises(ValueError, match=reason):
        parse_market(body.encode())
    with pytest.raises(ValueError, match=reason):
        parse_market(body.rstrip().encode())


def test_nothing_in_it():
    X = parse_market(b"%%MatrixMarket matrix coordinate real general\n% no entry\n\n3 2 0\n")
    assert X.shape == (3, 2)
    assert X.nnz == 0
