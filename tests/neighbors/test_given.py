"""Neighbor lists made elsewhere: what they become, and what is said of bad ones."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors, radius_neighbors_graph

from bvdt.neighbors import NeighborLists
from helpers.properties import examples

KINDS = ("int32", "int64", "uint32", "uint64")


@st.composite
def raw_lists(draw):
    """Lists with −1, points that come again and rows in their own lists; distances, if any, with anything
    where there is nobody."""
    n, k = draw(st.integers(2, 12)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    indices = rng.integers(-1, n, (n, k))
    indices[0, 0] = n - 1  # one at least
    distances = rng.integers(0, 4, (n, k)) / 2
    own = np.arange(n)[:, None]
    distances[(indices < 0) | (indices == own)] = rng.choice([np.nan, -1.0, np.inf])
    return indices, distances if draw(st.booleans()) else None


def reference(indices, distances):
    """Each row's others with their first distance, by index."""
    rows = []
    for i, row in enumerate(indices):
        others = {}
        for place, j in enumerate(row):
            if j >= 0 and j != i and j not in others:
                others[int(j)] = None if distances is None else distances[i, place]
        rows.append(dict(sorted(others.items())))
    return rows


@examples(200)
@given(raw_lists(), st.sampled_from(KINDS))
def test_lists_hold_every_other_point_once(raw, kind):
    indices, distances = raw
    expected = reference(indices, distances)
    lists = NeighborLists.of((indices.astype(kind), distances), len(indices))
    assert lists.indices.shape == (len(indices), max(map(len, expected)))
    assert lists.indices.dtype == np.int32
    for i, row in enumerate(expected):
        found = lists.indices[i] >= 0
        assert_array_equal(lists.indices[i, : len(row)], list(row))
        assert found.sum() == len(row)
        if distances is not None:
            assert_array_equal(lists.distances[i, : len(row)], list(row.values()))
            assert (lists.distances[i, len(row) :] == np.inf).all()
    assert_array_equal(lists.empty, [i for i, row in enumerate(expected) if not row])
    n_others = ((indices >= 0) & (indices != np.arange(len(indices))[:, None])).sum()
    assert len(lists.repeated) == n_others - sum(map(len, expected))


@examples(100)
@given(raw_lists(), st.sampled_from(["csr", "csc", "coo", "lil"]))
def test_a_graph_is_the_lists_of_its_entries(raw, form):
    """Explicit zeros are entries; the diagonal is not."""
    expected = reference(raw[0], np.full(raw[0].shape, 0.5) if raw[1] is None else np.nan_to_num(raw[1]))
    entries = [(i, j, abs(d)) for i, row in enumerate(expected) for j, d in row.items()]
    row, column, d = map(np.array, zip(*entries, strict=True))
    n = len(expected)
    d = d + (form == "lil")  # which keeps no zeros
    graph = sparse.coo_array((np.append(d, 1.0), (np.append(row, 0), np.append(column, 0))), (n, n))
    lists = NeighborLists.of(graph.asformat(form))
    found = lists.indices >= 0
    assert_array_equal(np.nonzero(found)[0], row)
    assert_array_equal(lists.indices[found], column)
    assert_array_equal(lists.distances[found], d)


def test_a_row_in_its_own_list_takes_no_place():
    X = np.random.default_rng(0).normal(size=(40, 3))
    search = NearestNeighbors(n_neighbors=6).fit(X)
    distances, indices = search.kneighbors(X)  # each row its own first neighbor
    with_own = NeighborLists.of((indices, distances))
    without = NeighborLists.of(search.kneighbors(n_neighbors=5, return_distance=False))
    graph = NeighborLists.of(KNeighborsTransformer(n_neighbors=5).fit_transform(X))
    assert with_own.width == without.width == graph.width == 5
    assert_array_equal(with_own.indices, without.indices)
    assert_array_equal(graph.indices, without.indices)
    assert_allclose(graph.distances, with_own.distances)


def test_the_largest_unsigned_number_is_nobody_unless_it_is_a_point():
    lists = NeighborLists.of(np.array([[1, 2**32 - 1], [0, 2], [0, 1]], np.uint32))
    assert_array_equal(lists.indices, [[1, -1], [0, 2], [0, 1]])
    indices = np.zeros((256, 1), np.uint8)
    indices[0] = 255
    assert NeighborLists.of(indices).indices[0, 0] == 255


def test_rows_of_a_graph_may_differ_in_length():
    X = np.array([[0.0], [0.1], [0.2], [5.0]])
    lists = NeighborLists.of(radius_neighbors_graph(X, 0.15, mode="distance"))
    assert_array_equal(lists.indices, [[1, -1], [0, 2], [1, -1], [-1, -1]])
    assert_array_equal(lists.empty, [3])


def test_rounding_below_zero_is_zero():
    lists = NeighborLists.of(([[1], [0]], [[-1e-7], [1.0]]))
    assert_array_equal(lists.distances, [[0.0], [1.0]])


def test_points_that_come_again_are_told():
    lists = NeighborLists.of([[1, 1, 2], [0, 2, 2], [0, 1, -1]])
    with pytest.warns(UserWarning, match=r"lists 2 points more than once, row 0 point 1: each counts once"):
        lists.warn_of_repeats()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NeighborLists.of([[1], [0]]).warn_of_repeats()


GOOD = np.array([[1, 2], [0, 2], [0, 1]])
ONES = np.ones((3, 2))
BAD = {
    "out of range": (np.array([[1, 2], [0, 3], [0, 1]]), r"indices from 0 to 2, or −1 .*; row 1 lists 3"),
    "below -1": (np.array([[1, 2], [0, -2], [0, 1]]), r"row 1 lists -2"),
    "unsigned": (np.array([[1], [2**63]], np.uint64), r"row 1 lists \d+"),
    "other length": (GOOD[:2], r"one list per point, 3; it has 2"),
    "one dimension": (np.array([1, 0, 1]), r"needs an integer array \(N, k\).*; got shape \(3,\)"),
    "no places": (np.empty((3, 0), int), r"got shape \(3, 0\)"),
    "ragged": ([[1, 2], [0], [1]], r"lists of one length; −1 fills short ones up"),
    "distances first": ((ONES, GOOD), r"integers as indices; their type is float64 \(.*turn them around\)"),
    "floats": (GOOD.astype(float), r"integers as indices; their type is float64"),
    "booleans": (GOOD > 1, r"needs an integer array"),
    "words": ("lists", r"needs an integer array .*; got str"),
    "nobody": (np.full((3, 2), -1), r"other points in its lists; they hold −1 and the points themselves"),
    "only self links": (np.arange(3)[:, None], r"other points in its lists"),
    "distances of another shape": (
        (GOOD, ONES[:, :1]),
        r"distances of the indices' shape, \(3, 2\); .*\(3, 1\)",
    ),
    "distances that are words": ((GOOD, ONES.astype(str)), r"needs real distances"),
    "NaN": ((GOOD, ONES * [[1], [1], [np.nan]]), r"finite distances ≥ 0; that of row 2 to 0 is nan"),
    "infinite": ((GOOD, ONES * [[1], [np.inf], [1]]), r"that of row 1 to 0 is inf"),
    "negative": ((GOOD, ONES * [[1], [-1], [1]]), r"that of row 1 to 0 is -1"),
    "NaN in a graph": (sparse.csr_array([[0, 1.0, 0], [np.nan, 0, 1], [1, 0, 0]]), r"row 1 to 0 is nan"),
    "graph that is not square": (sparse.csr_array(np.ones((3, 4))), r"square graph; its shape is \(3, 4\)"),
    "complex graph": (sparse.csr_array(np.eye(3) * 1j), r"real distances; their type is complex128"),
    "empty graph": (sparse.csr_array((3, 3)), r"other points in its lists"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_lists_get_one_sentence(name):
    lists, sentence = BAD[name]
    with pytest.raises(ValueError, match=sentence):
        NeighborLists.of(lists, 3 if name != "unsigned" else None)


def test_one_point_has_no_neighbors():
    with pytest.raises(ValueError, match="at least 2 points; it has 1"):
        NeighborLists.of([[0]])
