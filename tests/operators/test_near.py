"""The near field (theory: Near and far field): nearest centers and their weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import bvdt
from bvdt.lifting.lifted import lift
from bvdt.neighbors import NeighborIndex, SearchParams
from bvdt.operators.near_field import FALL, SHARE, UNIT, NearField, near_weights
from helpers.engine_cases import DIVERGENCES, random_data, random_lifted


def true_neighbors(lifted, k):
    d = lifted.divergences(slice(None), slice(None))
    np.fill_diagonal(d, np.inf)
    indices = np.argsort(d, axis=1, kind="stable")[:, :k]
    return indices, np.take_along_axis(d, indices, axis=1)


def empty_lists(n_points, k):
    return np.full((n_points, k), -1, np.int32), np.full((n_points, k), np.inf)


@pytest.mark.kernel
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_one_chunk_is_exact(divergence, as_sparse):
    if as_sparse and divergence == "itakura_saito":
        pytest.skip("zeros are outside its domain")
    lifted = random_lifted(divergence, 150, np.random.default_rng(0), n_features=8, as_sparse=as_sparse)
    near = NearField.of(lifted, 7, np.random.default_rng(0))
    _, d = true_neighbors(lifted, 7)
    assert_allclose(near.divergences, d, rtol=1e-5, atol=1e-6)  # near ties may be ranked in single precision
    chosen = np.take_along_axis(lifted.divergences(slice(None), slice(None)), near.indices, axis=1)
    assert_allclose(near.divergences, chosen, rtol=1e-9, atol=1e-9)
    assert all(len(set(row)) == 7 for row in near.indices)
    assert (near.indices != np.arange(150)[:, None]).all()


@pytest.mark.kernel
@pytest.mark.parametrize("as_sparse", [False, True])
def test_large_data_find_most_and_threads_do_not_matter(as_sparse, monkeypatch):
    monkeypatch.setattr(bvdt.neighbors.index, "ALL_PAIRS", 100)
    monkeypatch.setattr(bvdt.neighbors.postings, "CHUNK", 100)
    monkeypatch.setattr(bvdt.neighbors.ivf, "LIST_SIZE", 30)
    lifted = random_lifted("gid", 600, np.random.default_rng(0), n_features=6, as_sparse=as_sparse)
    one, two = (NearField.of(lifted, 8, np.random.default_rng(0), jobs) for jobs in (1, 2))
    assert_array_equal(one.indices, two.indices)
    assert_array_equal(one.divergences, two.divergences)
    assert (np.diff(one.divergences, axis=1) >= 0).all()
    _, d = true_neighbors(lifted, 8)
    assert (one.divergences <= d[:, -1:] * (1 + 1e-9) + 1e-9).mean() > 0.9


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("divergence", "scale"),
    [*((d, 1.0) for d in DIVERGENCES), ("squared_euclidean", 1e-12), ("squared_euclidean", 1e25)],
)
def test_inverted_lists_that_are_all_probed_are_exact(divergence, scale):
    """Random lists, so that every part of the divergence in ivf.hpp matters; scales beyond a float's."""
    rng = np.random.default_rng(0)
    if scale == 1:
        lifted = random_lifted(divergence, 150, rng, n_features=8)
    else:
        lifted = lift(scale * rng.normal(size=(150, 8)), divergence)
    order, bounds = rng.permutation(150).astype(np.int32), np.append(np.arange(0, 150, 37), 150)
    lists = bvdt.neighbors.ivf.InvertedLists._packed(lifted, None, lifted, order, bounds, 2)
    indices, divergences = lists.knn_graph(7, SearchParams(150))
    _, d = true_neighbors(lifted, 7)
    assert_allclose(divergences / scale**2, d / scale**2, rtol=1e-9, atol=1e-12)
    chosen = np.take_along_axis(lifted.divergences(slice(None), slice(None)), indices, axis=1)
    assert_allclose(divergences, chosen, rtol=1e-9, atol=1e-9 * scale**2)
    assert (np.diff(divergences, axis=1) >= 0).all()
    assert all(len(set(row)) == 7 for row in indices)
    assert (indices != np.arange(150)[:, None]).all()


@pytest.mark.kernel
def test_a_point_probes_the_nearest_lists():
    """Four far groups as lists: with candidates for one of them, each point finds its own group's alone."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 20)
    lifted = lift(rng.normal(size=(80, 3)) + 1e4 * group[:, None], "squared_euclidean")
    order, bounds = np.arange(80, dtype=np.int32), np.array([0, 20, 40, 60, 80])
    lists = bvdt.neighbors.ivf.InvertedLists._packed(lifted, None, lifted, order, bounds, 1)
    indices, divergences = lists.knn_graph(19, SearchParams(20))
    assert (group[indices] == group[:, None]).all()
    true, d = true_neighbors(lifted, 19)
    assert_allclose(divergences, d, rtol=0, atol=1e-5)  # the groups' distance, squared, takes eight digits
    assert (indices == true).mean() > 0.95


def test_equal_points_beyond_one_chunk(monkeypatch):
    monkeypatch.setattr(bvdt.neighbors.index, "ALL_PAIRS", 100)
    near = NearField.of(lift(np.ones((500, 3)), "squared_euclidean"), 4, np.random.default_rng(0))
    assert_array_equal(near.divergences, 0.0)
    assert (near.indices >= 0).all()
    assert (near.indices != np.arange(500)[:, None]).all()


@pytest.mark.parametrize("name", ["squared_euclidean", "gid"])
def test_divergences_are_found_again(name, monkeypatch):
    """Not held for many dense points: the search's again, in batches, and +∞ where there is nobody."""
    monkeypatch.setattr(bvdt.operators.near_field, "_HELD", 0)
    monkeypatch.setattr(bvdt.operators.near_field, "_ROWS", 7)
    lifted = random_lifted(name, 60, np.random.default_rng(3))
    near = NearField.of(lifted, 5, np.random.default_rng(0))
    indices, divergences = NeighborIndex.build(lifted).knn_graph(5)
    assert near.given is None
    assert_array_equal(near.indices, indices)
    assert_allclose(near.divergences, divergences, rtol=1e-12, atol=1e-13)
    weight, sums = near.whole_weights(n_jobs=2)
    held = NearField(indices, divergences)
    assert_allclose(weight, held.whole_weights()[0], rtol=0, atol=5)  # units of 2⁻²⁹
    for found, expected in zip(sums, held.whole_weights()[1], strict=True):
        assert_allclose(found, expected, rtol=1e-9)
    order = np.random.default_rng(4).permutation(60).astype(np.int32)
    assert_array_equal(near.whole_weights(order=order)[0], weight)
    columns, entries = near.row(11)
    assert_array_equal(columns, indices[11])
    assert_array_equal(entries, UNIT * weight[11])
    assert_array_equal(near.indices, indices)
    few = NearField(np.where(np.arange(5) < 3, indices, -1).astype(np.int32), None, lifted=lifted)
    assert_array_equal(np.isinf(few.divergences), few.indices < 0)
    assert_array_equal(few.divergences[:, :3], near.divergences[:, :3])


def test_the_weights_are_the_formula():
    lifted = random_lifted("gid", 30, np.random.default_rng(0))
    near = NearField.of(lifted, 4, np.random.default_rng(0))
    S = near_weights(near.divergences)
    for i in range(30):
        weight = np.exp(-FALL * near.divergences[i] / near.divergences[i, -1])
        assert_allclose(S[i], weight / weight.sum(), rtol=1e-12)
    weight, _ = near.whole_weights()
    stored = near.matrix.toarray()
    assert_array_equal(np.take_along_axis(stored, near.indices, axis=1), UNIT * weight)
    assert_array_equal(stored.sum(axis=1), SHARE)
    assert_allclose(UNIT * weight, SHARE * near_weights(near.divergences), rtol=0, atol=4 * UNIT)
    assert_array_equal(UNIT * weight.sum(axis=1), SHARE)


def test_row_values_are_those_of_the_formula():
    near = NearField.of(random_lifted("gid", 30, np.random.default_rng(0)), 4, np.random.default_rng(0))
    S = near_weights(near.divergences)
    assert_allclose(near.row_values(0.7), -(S * (near.divergences / 0.7 + np.log(S))).sum(axis=1), rtol=1e-12)


def test_the_near_field_brings_the_nearest_closer():
    X = random_data("gid", 200, np.random.default_rng(0))
    far, near = (bvdt.transition_matrix(X, n_neighbors=k, random_state=0, bandwidth=0.3) for k in (0, 8))
    assert near.quality(200)["top_kept"] > far.quality(200)["top_kept"]
    indices, divergences = near.neighbors
    assert indices.shape == divergences.shape == (200, 8)
    assert bvdt.transition_matrix(X, n_trees=2).neighbors is None


def test_duplicates_and_points_without_neighbors():
    X = np.ones((20, 3))
    op = bvdt.transition_matrix(X, n_neighbors=3, random_state=0)
    assert_allclose(op @ np.ones(20), 1.0, rtol=0, atol=1e-12)
    lone = NearField(np.array([[1], [0], [-1]], np.int32), np.array([[1.0], [1.0], [np.inf]]))
    assert_array_equal(lone.far_share, [1 - SHARE, 1 - SHARE, 1.0])
    assert_allclose(lone.matrix.toarray(), [[0, SHARE, 0], [SHARE, 0, 0], [0, 0, 0]])
    assert np.isfinite(lone.row_values(1.0)).all()
    empty = sparse.csr_array((6, 4))
    assert_allclose(bvdt.transition_matrix(empty, n_neighbors=2, smoothing=0.1).toarray().sum(axis=1), 1.0)
    assert_allclose(
        bvdt.transition_matrix(np.array([[1.0], [2.0]]), n_neighbors=1).toarray(), [[0, 1], [1, 0]]
    )


def test_text(data_folder):
    """Sports articles: all points are one chunk, so all true nearest centers are found."""
    with np.load(data_folder / "bbcsport.npz") as file:
        arrays = file["data"].astype(float), file["indices"].astype(np.int32), file["indptr"]
        lifted = lift(sparse.csr_array(arrays, shape=tuple(file["shape"])), "gid")
    near = NearField.of(lifted, 10, np.random.default_rng(0))
    _, d = true_neighbors(lifted, 10)
    assert_allclose(near.divergences, d, rtol=1e-4)


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_parts_are_those_of_the_graph(n_points, k, seed):
    """SciPy's connected components, numbered by their first points; −1 is nobody, also inside a list."""
    rng = np.random.default_rng(seed)
    indices = np.where(rng.random((n_points, k)) < 0.6, -1, rng.integers(n_points, size=(n_points, k)))
    near = NearField(indices.astype(np.int32), np.where(indices < 0, np.inf, 1.0))
    graph = np.zeros((n_points, n_points))
    row, column = np.nonzero(indices >= 0)
    graph[row, indices[row, column]] = 1
    _, expected = connected_components(graph, directed=False)
    _, first = np.unique(expected, return_index=True)
    assert_array_equal(near.parts(), np.argsort(np.argsort(first))[expected])


def test_shared_matrices_are_canonical_and_read_only():
    """Two threads once read one whose rows SciPy sorted in place meanwhile: the heap was corrupted."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    near = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=5, random_state=0).near_field
    lists = near.indices.copy()
    for matrix in (near.matrix, near.symmetric):
        assert matrix.has_canonical_format
        for part in (matrix.data, matrix.indices, matrix.indptr):
            assert not part.flags.writeable
    np.testing.assert_array_equal(near.indices, lists)
