"""Diffusion coordinates and spectral clusters, against dense linear algebra and on shapes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bvdt
from bvdt import SpectralClustering, SpectralEmbedding
from bvdt.walks.components import strongest_joined, walk_parts
from bvdt.walks.eigenvectors import cluster_coordinates, diffusion_coordinates, leading_eigenvectors
from bvdt.walks.haar import TreeLaplacian
from bvdt.walks.inputs import operator_of, symmetrized

SEEDED = {"random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).gamma(1.0, size=(150, 5))


@pytest.fixture(scope="module")
def op(points):
    return bvdt.transition_matrix(points, random_state=0, n_neighbors=10, n_jobs=1)


def test_eigenvectors_against_the_dense_solver(op):
    found = leading_eigenvectors(op, 4, 0)
    values, vectors, degrees = found.values, found.vectors, found.degrees
    S = op.symmetrized().toarray()
    assert_allclose(values, np.linalg.eigvalsh(S)[::-1][:4], atol=1e-10)
    assert_allclose(S @ vectors, vectors * values, atol=1e-9)
    assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-9)
    assert_allclose(vectors[:, 0], np.sqrt(degrees / degrees.sum()), atol=1e-9)
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(4)] > 0).all()
    assert_allclose(found.residuals, 0, atol=1e-9)
    assert_array_equal(leading_eigenvectors(op, 4, 0).vectors, vectors)
    assert_allclose(leading_eigenvectors(op, 4, 1).vectors, vectors, atol=1e-8)
    for n_vectors in (0, 151):
        with pytest.raises(ValueError, match="n_vectors"):
            leading_eigenvectors(op, n_vectors)


@pytest.mark.parametrize("n_points", [5, 60, 70])
def test_small_and_large_take_the_same_answer(points, n_points):
    op = bvdt.transition_matrix(points[:n_points], random_state=0)
    assert_allclose(
        leading_eigenvectors(op, 4, 0).values,
        np.linalg.eigvalsh(op.symmetrized().toarray())[::-1][:4],
        atol=1e-10,
    )


@pytest.fixture(scope="module")
def one_tree(points):
    return bvdt.transition_matrix(points, random_state=0, n_jobs=1)


@pytest.mark.slow
def test_laplacian_of_one_tree_against_dense_algebra(one_tree):
    W = one_tree.toarray()
    W = (W + W.T) / 2
    L, laplacian = np.diag(W.sum(axis=1)) - W, TreeLaplacian.of(one_tree)
    nu = laplacian.eigenvalues
    assert_allclose(np.sort(nu), np.linalg.eigvalsh(L)[1:], rtol=1e-10, atol=1e-12)
    product, diagonal = laplacian.inverse(nu)
    found = np.empty_like(L)
    product.apply(np.eye(len(L)), "forward", found, 1)
    found += np.diag(diagonal)
    assert_allclose(found, np.linalg.pinv(L, rcond=1e-14), rtol=1e-8, atol=1e-8 * np.abs(found).max())
    D = np.random.default_rng(0).random(len(L))
    for place, node in enumerate(np.flatnonzero(one_tree.tree.left >= 0)):
        a, b = (one_tree.tree.members(child[node]) for child in (one_tree.tree.left, one_tree.tree.right))
        h = np.zeros(len(L))
        h[a], h[b] = 1 / len(a), -1 / len(b)
        assert_allclose(laplacian.mean_over_haar(D)[place], h @ (D * h) / (h @ h), rtol=1e-12)
        assert_allclose(L @ h, nu[place] * h, atol=1e-12)


def test_only_a_single_coarsest_tree_has_that_laplacian(op, one_tree):
    assert TreeLaplacian.of(op) is None
    assert TreeLaplacian.of(one_tree.refine(400)) is None
    assert TreeLaplacian.of(operator_of(one_tree.toarray())) is None


@pytest.mark.parametrize("bandwidth", ["auto", 0.3, 5.0])
@pytest.mark.parametrize("n_vectors", [1, 2, 6, 40])
def test_eigenvectors_of_one_tree_against_the_dense_solver(points, bandwidth, n_vectors):
    op = bvdt.transition_matrix(points, random_state=0, n_jobs=1, bandwidth=bandwidth)
    found = leading_eigenvectors(op, n_vectors, 0)
    values, vectors = found.values, found.vectors
    S = op.symmetrized().toarray()
    assert_allclose(values, np.linalg.eigvalsh(S)[::-1][:n_vectors], atol=1e-10)
    assert_allclose(S @ vectors, vectors * values, atol=1e-8)
    assert_allclose(vectors.T @ vectors, np.eye(n_vectors), atol=1e-9)


@pytest.mark.parametrize("bandwidth", [1e-3, 1e-2, 0.1])
def test_groups_that_hardly_touch_are_found_from_the_widest_gap_down(bandwidth):
    """Eight groups of ten points, pairs within pairs; to leave one takes from e^-10 to 0 of a row."""
    rng = np.random.default_rng(0)
    at = np.array([0, 1, 10, 11, 100, 101, 110, 111.0]).repeat(10)
    X = np.stack([at, np.zeros(80)], axis=1) + 0.01 * rng.normal(size=(80, 2))
    op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=bandwidth, random_state=0, n_jobs=1)
    found = leading_eigenvectors(op, 4, 0)
    values, vectors, degrees = found.values, found.vectors, found.degrees
    assert_allclose(values, 1.0, atol=1e-9)
    S = op.symmetrized().toarray()
    assert_allclose(S @ vectors, vectors * values, atol=1e-9)
    assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-9)
    # Three functions after the constant one tell four groups apart: each pair of neighbors is one.
    functions = (vectors / np.sqrt(degrees)[:, None]).reshape(4, 20, 4)
    assert_allclose(functions, functions[:, :1] + np.zeros((4, 20, 4)), atol=1e-5 * np.abs(functions).max())
    assert np.linalg.matrix_rank(functions[:, 0], tol=1e-3 * np.abs(functions).max()) == 4


def test_parts_are_joined_by_their_strongest_links(op):
    assert walk_parts(symmetrized(op)).max() == 0
    link = np.array([[1, 1e-3, 1e-20, 0], [1e-3, 1, 1e-15, 0], [1e-20, 1e-15, 1, 1e-30], [0, 0, 1e-30, 1]])
    assert_array_equal(strongest_joined(link, 4), [0, 1, 2, 3])
    assert_array_equal(strongest_joined(link, 3), [0, 0, 1, 2])
    assert_array_equal(strongest_joined(link, 2), [0, 0, 0, 1])
    assert_array_equal(strongest_joined(link, 1), [0, 0, 0, 0])


def test_distances_are_diffusion_distances(op):
    """With all components ‖c_i − c_j‖² = Σ_k (Wᵗ_ik − Wᵗ_jk)²/π_k; with t = 0 they are white under π."""
    Q = op.toarray()
    A = (Q + Q.T) / 2
    degrees = A.sum(axis=1)
    pi, W2 = degrees / degrees.sum(), np.linalg.matrix_power(A / degrees[:, None], 2)
    values, vectors = np.linalg.eigh(A / np.sqrt(np.outer(degrees, degrees)))
    coordinates, found = diffusion_coordinates(op, 149, time=2.0)
    expected = np.sum((W2[3] - W2[77]) ** 2 / pi)
    negative = (
        vectors / np.sqrt(pi)[:, None] * np.minimum(values, 0.0) ** 2
    )  # counted as 0 by the coordinates
    expected -= np.sum((negative[3] - negative[77]) ** 2)
    assert_allclose(np.sum((coordinates[3] - coordinates[77]) ** 2), expected, rtol=1e-8)
    assert (np.diff(found.values) <= 0).all()
    whitened, _ = diffusion_coordinates(op, 3, time=0.0)
    assert_allclose((whitened * pi[:, None]).T @ whitened, np.eye(3), atol=1e-9)
    assert_allclose(np.linalg.norm(cluster_coordinates(op, 3)[0], axis=1), 1.0)


def test_embedding_estimator(points, op):
    model = SpectralEmbedding(3, n_neighbors=10, **SEEDED).fit(points)
    assert model.embedding_.shape == (150, 3)
    assert model.residuals_.shape == (3,)
    assert (model.residuals_ < 1e-6).all()
    assert_allclose(model.embedding_, diffusion_coordinates(op, 3, random_state=0)[0], atol=1e-8)
    assert_array_equal(model.transform(points), model.embedding_)
    reused = SpectralEmbedding(3, **SEEDED).fit(operator=op)
    assert_allclose(reused.embedding_, model.embedding_, atol=1e-8)
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(points), model.embedding_)
    for X in (sparse.csr_array(points), pd.DataFrame(points).add_prefix("f")):
        assert_allclose(clone(model).fit(X).embedding_, model.embedding_, atol=1e-6)
    with pytest.raises(NotFittedError):
        SpectralEmbedding().transform(points)


def test_output_names(points):
    model = SpectralEmbedding(2, **SEEDED).set_output(transform="pandas")
    frame = model.fit_transform(pd.DataFrame(points).add_prefix("f"))
    assert list(frame.columns) == ["spectralembedding0", "spectralembedding1"]
    assert list(model.get_feature_names_out()) == list(frame.columns)


def test_new_digits_land_among_their_own():
    X, y = load_digits(return_X_y=True)
    X, y, X_new, y_new = X[:1200], y[:1200], X[1200:], y[1200:]
    pipeline = make_pipeline(
        SpectralEmbedding(10, divergence="squared_euclidean", **SEEDED), KNeighborsClassifier(5)
    )
    assert pipeline.fit(X, y).score(X_new, y_new) > 0.9


def test_two_moons():
    X, y = make_moons(1000, noise=0.05, random_state=0)
    model = SpectralClustering(2, divergence="squared_euclidean", **SEEDED)
    assert adjusted_rand_score(y, model.fit_predict(X)) > 0.95
    scaled = make_pipeline(StandardScaler(), clone(model)).fit(X)
    assert adjusted_rand_score(y, scaled[-1].labels_) > 0.95
    assert_array_equal(clone(model).fit(X).labels_, model.labels_)
    assert_array_equal(np.unique(clone(model).fit(operator=model.operator_).labels_), [0, 1])


def test_number_of_clusters_from_the_data():
    X, y = make_blobs([150] * 4, n_features=3, cluster_std=0.6, random_state=3)
    model = SpectralClustering("auto", divergence="squared_euclidean", **SEEDED).fit(X)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(y, model.labels_) > 0.95
    chosen = next(choice for choice in model.selection_ if choice.n_clusters == 4)
    assert chosen.stability > 0.95
    assert chosen.score == max(choice.score for choice in model.selection_)
    assert [choice.n_clusters for choice in model.selection_] == list(range(2, 21))
    with pytest.raises(ValueError, match="n_clusters needs"):
        SpectralClustering("many").fit(np.abs(X))


def test_new_points_join_the_clusters_around_them():
    X, y = make_moons(1200, noise=0.05, random_state=0)
    model = SpectralClustering(2, divergence="squared_euclidean", **SEEDED).fit(X[:900])
    assert adjusted_rand_score(y[900:], model.predict(X[900:])) > 0.95
    assert_array_equal(model.predict(X[:900]), model.labels_)
    with pytest.raises(NotFittedError):
        SpectralClustering().predict(X)
