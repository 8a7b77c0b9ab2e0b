"""Sums and steps of all columns at once, against NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bvdt import _core

N = 9001  # batches of rows, the last not full


@pytest.mark.kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_a_step_of_conjugate_gradients_is_three_updates_and_a_sum(dtype, k):
    rng = np.random.default_rng(k)
    F, R, P, AP = (rng.normal(size=(N, k)).astype(dtype) for _ in range(4))
    length, turn = rng.normal(size=(2, k)).astype(dtype)
    left = R - length * AP
    expected = F + length * P, left, left + turn * P
    squares = []
    for threads in (1, 2):
        made, found = [V.copy() for V in (F, R, P)], np.empty(k)
        _core.conjugate_step(*made, AP, length, turn, found, threads)
        for V, wanted in zip(made, expected, strict=True):
            assert_array_equal(V, wanted)
        squares.append(found)
    assert_array_equal(*squares)
    assert_allclose(squares[0], np.square(left, dtype=np.float64).sum(axis=0))


@pytest.mark.kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_product_sums_its_squares_beside_the_inner_products(dtype):
    rng, n, k = np.random.default_rng(0), 700, 5
    listed = rng.integers(0, n, (n, 4)).astype(np.int32)
    weights = rng.integers(0, 100, (n, 4)).astype(np.int32)
    links = _core.Links(listed, weights, 0.01, np.arange(n, dtype=np.int32), 1)
    V = rng.normal(size=(n, k)).astype(dtype)
    sums, out, same = np.empty((2, k)), np.empty_like(V), np.empty_like(V)
    options = {"own": -1.0, "transpose": False, "threads": 2}
    _core.walk_product(None, links, V, out, dots=sums, **options)
    _core.walk_product(None, links, V, same, **options)
    assert_array_equal(out, same)
    assert_allclose(sums, [(V * out).sum(axis=0), (out * out).sum(axis=0)], rtol=1e-4)
