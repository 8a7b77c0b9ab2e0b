"""Where pictures end: far points at the edge, all others where they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bvdt.report.extent import drawn_in, map_places


@pytest.mark.parametrize(("n", "n_far"), [(10, 1), (60, 1), (5000, 6)])
def test_far_points_do_not_shrink_the_rest(n, n_far):
    points = np.random.default_rng(0).normal(size=(n, 2))
    points[:n_far] = np.array([100.0, -200.0]) * np.arange(1, n_far + 1)[:, None]
    places = map_places(points).astype(int)
    far, rest = places[:n_far], places[n_far:]
    assert (np.ptp(rest, axis=0) > 65535 / 4).all()
    assert far[:, 0].min() > rest[:, 0].max()
    assert far[:, 1].max() < rest[:, 1].min()
    assert (np.diff(far[:, 0]) > 0).all()  # none on another
    assert (np.diff(far[:, 1]) < 0).all()


def test_points_without_far_ones_keep_their_places():
    points = np.random.default_rng(0).uniform(size=(500, 2)) * [4, 1]
    np.testing.assert_array_equal(drawn_in(points), points)
    places = map_places(points)
    assert places[:, 0].min() == 0
    assert places[:, 0].max() == 65535
    assert abs(int(places[:, 1].min()) + int(places[:, 1].max()) - 65535) <= 1  # in the middle


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((0, 2)),
        np.zeros((1, 2)),
        np.array([[0.0, 0.0], [1.0, 5.0]]),
        np.array([[0.0, 0.0], [1.0, 5.0], [9.0, 9.0]]),
        np.zeros((50, 2)),
    ],
)
def test_too_few_points_have_no_far_ones(points):
    np.testing.assert_array_equal(drawn_in(points), points)


def test_a_far_point_beside_a_line():
    points = np.column_stack([np.arange(50.0), np.zeros(50)])
    points[0, 1] = 1e9
    assert map_places(points)[:, 0].max() == 65535
    assert np.ptp(map_places(points)[:, 0]) == 65535


coordinates = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 30), st.just(2)), elements=st.floats(-1e9, 1e9)
)


@given(coordinates)
def test_order_along_each_axis_is_kept(points):
    drawn = drawn_in(points)
    for axis in range(2):
        order = np.argsort(points[:, axis], kind="stable")
        assert (np.diff(drawn[order, axis]) >= 0).all()
