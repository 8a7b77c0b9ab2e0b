"""The near field of lists made elsewhere, and walks over graphs alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

import bvdt
from bvdt.operators import near_weights
from helpers.points import draw

N, K = 150, 6
SEED = {"random_state": 0, "n_jobs": 1}


@pytest.mark.kernel
@pytest.mark.parametrize("n_trees", [1, 2])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("name", ["squared_euclidean", "gid", "cosine"])
def test_lists_in_any_order_give_the_walk_that_finds_them(name, as_sparse, n_trees):
    rng = np.random.default_rng(0)
    X = draw(name, rng, n=N)
    X = sparse.csr_array(X) if as_sparse else X
    found = bvdt.transition_matrix(X, name, n_neighbors=K, n_trees=n_trees, **SEED)
    lists = np.hstack([np.arange(N)[:, None], rng.permuted(found.neighbors[0], axis=1)])
    op = bvdt.transition_matrix(X, name, neighbors=lists, n_trees=n_trees, **SEED)
    assert_array_equal(np.sort(op.neighbors[0]), np.sort(found.neighbors[0]))
    assert_allclose(op.neighbors[1], found.neighbors[1], rtol=1e-9, atol=1e-12)
    assert op.bandwidth == pytest.approx(found.bandwidth, rel=1e-9)
    assert_allclose(op.toarray(), found.toarray(), atol=1e-7)


@pytest.mark.kernel
def test_distances_beside_points_do_not_count():
    X = np.random.default_rng(0).normal(size=(N, 4))
    distances, indices = NearestNeighbors(n_neighbors=K).fit(X).kneighbors()
    given = [indices, (indices, distances), (indices, 7 * distances), KNeighborsTransformer(n_neighbors=K)]
    given[-1] = given[-1].fit_transform(X)
    ops = [bvdt.transition_matrix(X, "squared_euclidean", neighbors=lists, **SEED) for lists in given]
    for op in ops[1:]:
        assert_array_equal(op.toarray(), ops[0].toarray())


@pytest.mark.kernel
def test_an_empty_row_follows_the_tree():
    X = np.random.default_rng(0).normal(size=(N, 4))
    indices = NearestNeighbors(n_neighbors=K).fit(X).kneighbors(return_distance=False)
    indices[[3, 9]] = -1
    with pytest.warns(UserWarning, match=r"lists no point in 2 of 150 rows, first in row 3"):
        op = bvdt.transition_matrix(X, "squared_euclidean", neighbors=indices, **SEED)
    assert_allclose(op.row(3), op.members[0].row(3))
    assert_allclose(op @ np.ones(N), 1)
    assert_allclose(op.toarray()[5, indices[5]].sum(), 0.95, atol=0.05)


@pytest.mark.kernel
def test_it_is_saved_and_takes_new_points(tmp_path):
    X = np.random.default_rng(0).normal(size=(N, 4))
    indices = NearestNeighbors(n_neighbors=K).fit(X).kneighbors(return_distance=False)
    op = bvdt.transition_matrix(X, "squared_euclidean", neighbors=indices, **SEED)
    op.save(tmp_path / "op.bvdt")
    v = np.random.default_rng(1).normal(size=N)
    assert_array_equal(bvdt.load(tmp_path / "op.bvdt") @ v, op @ v)
    assert op.add_points(X[:3] + 0.1).shape == (N + 3, N + 3)


def test_a_graph_alone_is_the_near_field_alone():
    X = np.random.default_rng(0).normal(size=(N, 4))
    distances, indices = NearestNeighbors(n_neighbors=K).fit(X).kneighbors()
    expected = np.zeros((N, N))
    np.put_along_axis(expected, indices, near_weights(distances), axis=1)
    graph = KNeighborsTransformer(n_neighbors=K).fit_transform(X)
    for given in ((indices, distances), graph):
        walk = bvdt.transition_matrix(None, neighbors=given)
        assert_allclose(walk.toarray(), expected, atol=1e-12)
        assert walk.has_canonical_format
    squared = bvdt.transition_matrix(None, neighbors=(indices, distances**2 / 2))
    beside = bvdt.transition_matrix(X, "squared_euclidean", neighbors=indices, **SEED)
    assert_allclose(0.95 * squared.toarray(), beside.near_field.matrix.toarray(), atol=1e-8)


def test_copies_at_distance_zero_are_neighbors():
    walk = bvdt.transition_matrix(None, neighbors=([[1, 2], [0, 2], [0, 1]], [[0, 1], [0, 1], [1, 1]]))
    assert walk[0, 1] > 0.9
    equal = bvdt.transition_matrix(None, neighbors=([[1, 2], [0, 2], [0, 1]], np.zeros((3, 2))))
    assert_allclose(equal.toarray(), (1 - np.eye(3)) / 2)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            ([[1, 2], [0, 2], [-1, 2]], np.ones((3, 2))),
            r"another point in every row .*; row 2 has none",
        ),
        ([[1], [0]], r"needs distances where there is no X: \(indices, distances\)"),
    ],
)
def test_what_a_graph_alone_needs(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        bvdt.transition_matrix(None, neighbors=given)


def test_what_does_not_go_with_lists():
    X = np.random.default_rng(0).normal(size=(4, 2))
    lists = [[1], [0], [3], [2]]
    with pytest.raises(ValueError, match=r"n_neighbors needs to be 0 beside neighbors, .*; got 1"):
        bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=1, neighbors=lists)
    tree = bvdt.transition_matrix(X, "squared_euclidean").tree
    with pytest.raises(ValueError, match=r"or neighbors; got a bvdt\.Tree"):
        bvdt.transition_matrix(X, "squared_euclidean", tree=tree, neighbors=lists)
    with pytest.raises(ValueError, match="one list per point, 4; it has 3"):
        bvdt.transition_matrix(X, "squared_euclidean", neighbors=lists[:3])
    with pytest.warns(UserWarning, match="lists 1 points more than once, row 0 point 1"):
        bvdt.transition_matrix(X, "squared_euclidean", neighbors=[[1, 1], [0, 2], [3, 0], [2, 1]])
