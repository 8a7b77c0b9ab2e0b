"""The way of a point to its region, against one plane after the other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from bvdt import _core
from bvdt.lifting import lift
from bvdt.sharded.regions import Regions, grow_regions


def region_by_hand(regions: Regions, x, h) -> int:
    plane = 0 if len(regions.border) else -1
    while plane >= 0:
        delta_x, delta_h = (
            np.ravel(values[[plane]].toarray() if sparse.issparse(values) else values[plane])
            for values in (regions.x, regions.h)
        )
        plane = int(regions.child[plane, int(x @ delta_h + h @ delta_x > regions.border[plane])])
    return -1 - plane


@pytest.mark.kernel
@pytest.mark.parametrize("divergence", ["squared_euclidean", "kl", "gid"])
@pytest.mark.parametrize("n_regions", [1, 2, 40])
def test_every_point_finds_its_region(divergence, n_regions):
    rng = np.random.default_rng(3)
    X = rng.dirichlet(np.ones(9), 700) if divergence == "kl" else rng.poisson(0.3, (700, 9)).astype(float)
    lifted = lift(sparse.csr_array(X) if divergence == "gid" else X, divergence)
    regions, means = grow_regions(lifted, n_regions, rng)
    assert len(means.x) == regions.n_regions >= min(n_regions, 2) / 2
    dense = [values.toarray() if sparse.issparse(values) else values for values in (lifted.X, lifted.H)]
    by_hand = [region_by_hand(regions, x, h) for x, h in zip(*dense, strict=True)]
    found = regions.find(lifted)
    assert_array_equal(found, by_hand)
    assert_array_equal(regions.find(lifted, n_jobs=2), found)
    halves = [regions.find(lifted.slice(a, b)) for a, b in ((0, 333), (333, 700))]
    assert_array_equal(np.concatenate(halves), found)


def test_a_way_that_would_never_end_is_refused():
    X, plane = np.zeros((2, 1)), np.ones((1, 1))
    child = np.array([[0, -1]], np.int32)
    with pytest.raises(ValueError, match=r"child\[0\] needs planes after its own, or regions; it has 0"):
        _core.find_regions(X, X, plane, plane, np.zeros(1), child, np.zeros(2, np.int32), 1)
