"""Leading spaces by blocks: against dense algebra, with closed parts, multiple eigenvalues, any links."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import aslinearoperator, eigsh
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier

import bvdt
from bvdt.solvers import three_terms
from bvdt.solvers.lobpcg import leading_space, orthonormal, recurrence
from bvdt.walks import eigenvectors
from bvdt.walks.components import closed_groups, closed_parts, mixed_parts, walk_parts
from bvdt.walks.eigenvectors import (
    TOL,
    cluster_coordinates,
    diffusion_coordinates,
    leading_eigenvectors,
    mixed_eigenvectors,
)
from bvdt.walks.hierarchy import Hierarchy
from bvdt.walks.inputs import symmetrized

AIM = 1e-5  # what residuals end at, or less
SEEDED = {"random_state": 0, "n_jobs": 1}


def walk(X, **options):
    return bvdt.transition_matrix(X, "squared_euclidean", **{"n_neighbors": 8, **SEEDED, **options})


@pytest.fixture(scope="module")
def moons():
    return walk(make_moons(800, noise=0.05, random_state=0)[0])


@pytest.fixture(scope="module")
def six_parts():
    """Six groups of 100 points far apart: the near field falls into six parts, the tree adds nothing."""
    X, y = make_blobs([100] * 6, n_features=3, center_box=(-200, 200), random_state=1)
    return walk(X), y


def check_space(op, n_vectors, atol=AIM):
    """Vectors against numpy's dense solver, as the space up to the last gap."""
    found = leading_eigenvectors(op, n_vectors, 0)
    S = symmetrized(op) @ np.eye(op.shape[0])
    values, vectors = (x[..., ::-1] for x in np.linalg.eigh((S + S.T) / 2))
    assert_allclose(found.values, values[:n_vectors], atol=10 * atol**2)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(n_vectors), atol=1e-9)
    assert_allclose(
        np.linalg.norm(S @ found.vectors - found.vectors * found.values, axis=0), found.residuals, atol=1e-13
    )
    assert found.residuals.max() < max(atol, AIM)
    large = np.flatnonzero(values[:n_vectors] - values[1 : n_vectors + 1] > 1e-3)
    last = int(large[-1]) + 1 if len(large) else 0
    if last:
        assert subspace_angles(found.vectors[:, :last], vectors[:, :last]).max() < 1e-3
    return found


@pytest.mark.slow
@pytest.mark.parametrize("n_vectors", [1, 2, 3, 7, 20])
def test_connected_walk_against_dense_algebra(moons, n_vectors):
    found = check_space(moons, n_vectors)
    assert_allclose(found.vectors[:, 0], np.sqrt(found.degrees / found.degrees.sum()), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n_vectors", [6, 7, 12, 30])
def test_closed_parts_and_what_is_inside_them(six_parts, n_vectors):
    """Six eigenvalues of 1 at once, then those of the parts."""
    op, y = six_parts
    found = check_space(op, n_vectors)
    assert_allclose(found.values[:6], 1, atol=1e-12)
    places = found.vectors[:, :6] / np.sqrt(found.degrees)[:, None]
    for part in range(6):
        assert np.ptp(places[y == part], axis=0).max() < 1e-5 * np.ptp(places, axis=0).max()


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["two trees", "refined", "sparse", "product alone", "without near field", "array"]
)
def test_every_kind_of_matrix(moons, kind):
    made = {
        "two trees": lambda: moons.add_trees(1),
        "refined": lambda: moons.refine(3_000),
        "sparse": lambda: sparse.csr_matrix(moons.near_field.matrix),
        "product alone": lambda: aslinearoperator(moons.near_field.matrix),
        "without near field": lambda: walk(
            make_moons(400, noise=0.05, random_state=0)[0], n_neighbors=0, n_trees=2
        ),
        "array": lambda: moons.toarray(),
    }
    check_space(made[kind](), 5, TOL)


def test_multiple_eigenvalues_below_one():
    """A torus of 20 × 20 points: λ = (cos a + cos b)/2, the next four equal, then four again."""
    ring = sparse.diags_array([1.0, 1.0], offsets=[1, -19], shape=(20, 20))
    ring = (ring + ring.T) / 4
    torus = sparse.kron(ring, sparse.eye(20)) + sparse.kron(sparse.eye(20), ring)
    found = leading_eigenvectors(sparse.csr_array(torus), 9, 0)
    turn = np.cos(2 * np.pi / 20)
    assert_allclose(found.values, [1, *[(1 + turn) / 2] * 4, *[turn] * 4], atol=1e-9)
    assert found.residuals.max() < AIM


@pytest.mark.slow
def test_threads_do_not_change_it():
    X = make_blobs(6_000, n_features=4, centers=5, cluster_std=2.0, random_state=0)[0]
    one, two = (leading_eigenvectors(walk(X, n_jobs=threads), 6, 0).vectors for threads in (1, 2))
    assert_array_equal(one, two)


def test_an_isolated_point_is_no_obstacle():
    X = np.vstack([make_blobs(500, n_features=2, centers=3, random_state=0)[0], [[1e4, 1e4]]])
    op = walk(X)
    assert_array_equal(symmetrized(op).isolated, [500])
    check_space(op, 4)


@st.composite
def odd_data(draw):
    """Tables, groups, equal rows, lines and far rows: a walk, and how many vectors are wanted of it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_points, n_features = draw(st.integers(2, 360)), draw(st.sampled_from([1, 2, 5]))
    X = rng.normal(size=(n_points, n_features))
    kind = draw(st.sampled_from(["groups", "equal", "whole numbers", "line", "far", "table"]))
    if kind == "groups":
        centers = rng.normal(size=(draw(st.integers(1, 20)), n_features)) * 10 ** draw(st.floats(0, 3))
        X += centers[rng.integers(0, len(centers), n_points)]
    elif kind == "equal":
        X = X[rng.integers(0, draw(st.integers(1, n_points)), n_points)]
    elif kind == "whole numbers":
        X = rng.integers(0, draw(st.integers(2, 6)), X.shape).astype(float)
    elif kind == "line":
        X = np.sort(X[:, :1], axis=0)
    elif kind == "far":
        X[: draw(st.integers(0, min(20, n_points)))] *= 10 ** draw(st.floats(1, 6))
    else:
        X *= 10 ** rng.uniform(-3, 3, n_features)
    near = min(draw(st.sampled_from([0, 3, 10])), n_points - 1)
    return walk(X, n_neighbors=near, n_trees=draw(st.sampled_from([1, 1, 2]))), draw(st.integers(1, 30))


@settings(max_examples=40, deadline=None)
@given(data=odd_data())
def test_any_data_have_eigenvectors_coordinates_and_clusters(data):
    op, k = data
    n_points = op.shape[0]
    k = min(k, n_points)
    found = leading_eigenvectors(op, k, 0)
    S = np.asarray(symmetrized(op) @ np.eye(n_points))
    values = np.linalg.eigvalsh((S + S.T) / 2)[::-1]
    assert_allclose(found.values, values[:k], atol=1e-5)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-8)
    assert_allclose(S @ found.vectors, found.vectors * found.values, atol=TOL)
    embedding = bvdt.SpectralEmbedding(min(k, n_points - 1), random_state=0).fit(operator=op).embedding_
    assert np.isfinite(embedding).all()
    labels = bvdt.SpectralClustering(k, random_state=0, n_init=1, n_jobs=1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Number of distinct clusters")  # equal rows
        assert len(labels.fit(operator=op).labels_) == n_points


@pytest.mark.parametrize("seed", [2, 4, 5])
def test_fourteen_groups_stay_apart_in_ten_coordinates(seed):
    """Near fields join some groups: fewer closed parts than groups, of which ten vectors do not tell all."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 14, 6000)
    X = (rng.normal(size=(14, 8)) * 4)[y] + rng.normal(size=(6000, 8))
    E = bvdt.SpectralEmbedding(10, divergence="squared_euclidean", random_state=0).fit_transform(X)
    nearest = KNeighborsClassifier(10).fit(E[:3000], y[:3000])
    assert nearest.score(E[3000:], y[3000:]) > 0.995


def test_an_eigenvalue_of_minus_one_is_told_from_the_first():
    """Two pairs of equal points: S has 1 twice and −1 twice."""
    found = leading_eigenvectors(walk([[0.0], [0.0], [1e3], [1e3]], n_neighbors=1, bandwidth=1e-3), 4, 0)
    assert_allclose(found.values, [1, 1, -1, -1], atol=1e-9)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(4), atol=1e-9)


def test_order_of_the_tree_changes_nothing(moons):
    S = symmetrized(moons)
    order = S.inner.order
    V = np.random.default_rng(0).normal(size=(800, 3))
    assert_allclose(S.inner @ V[order], (S @ V)[order], atol=1e-14)
    assert_allclose(S.inner.degrees, S.degrees[order])
    assert_allclose(symmetrized(moons.toarray()) @ V, S @ V, atol=1e-13)


@pytest.mark.kernel
@pytest.mark.parametrize("n_trees", [1, 2])
def test_recurrence_is_that_of_its_products(n_trees):
    """In single precision, beside the slow twin in double."""
    op = walk(make_moons(800, noise=0.05, random_state=0)[0], n_trees=n_trees)
    inner = symmetrized(op).inner
    rng = np.random.default_rng(0)
    Y, R = rng.normal(size=(2, 800, 5))
    weights = rng.uniform([[0], [-0.1], [-1]], [[1], [0], [0]], size=(12, 3, 5))
    for start, rest in ((Y, R), (Y, None), (None, R), (1e-60 * Y, 1e-60 * R)):
        expected = recurrence(inner.dot)(start, rest, weights)
        found = three_terms(inner, start, rest, weights)
        assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


def test_an_isolated_point_in_the_order_of_the_tree():
    X = np.vstack([make_blobs(500, n_features=2, centers=3, random_state=0)[0], [[1e4, 1e4]]])
    S = symmetrized(walk(X))
    inner, order = S.inner, S.inner.order
    V = np.random.default_rng(0).normal(size=(501, 3))
    assert_allclose(inner @ V[order], (S @ V)[order], atol=1e-12)
    powers = np.ones((8, 3, 3)) * [[1], [0], [0]]
    others = order != 500
    expected = recurrence(inner.dot)(V, None, powers)
    found = three_terms(inner, V, None, powers)
    assert_allclose(found[others], expected[others], atol=1e-4)
    assert_allclose(found[~others], (inner @ found)[~others], atol=1e-9)


@pytest.mark.slow
def test_few_points_far_from_one_and_close_to_it():
    """The polynomial alone, without a hierarchy; then a spectrum for which it is made late."""
    for X in (make_blobs(3_000, n_features=10, centers=4, cluster_std=3, random_state=0)[0], thread(3_000)):
        op = walk(X)
        found = leading_eigenvectors(op, 6, 0)
        assert found.residuals.max() < AIM
        expected = eigsh(symmetrized(op), 6, which="LA", tol=1e-10, ncv=200, return_eigenvectors=False)
        assert_allclose(found.values, expected[::-1], atol=1e-8)


def thread(n_points):
    """Points along a line, each with its neighbors: eigenvalues 1e-6 from 1 and from each other."""
    return np.column_stack([np.arange(n_points), np.zeros(n_points)]).astype(float)


@pytest.mark.parametrize("kind", ["tree", "links"])
def test_hierarchy_solves_its_laplacian(kind):
    X = make_moons(6_000, noise=0.05, random_state=0)[0]
    op = walk(X)
    op = op if kind == "tree" else sparse.csr_array(op.near_field.matrix)
    S = symmetrized(op)
    hierarchy = Hierarchy.of(S)
    sizes = [level.n_unknowns for level in hierarchy.levels]
    assert sizes[0] == 6_000
    assert sizes[-1] <= 320
    for level in hierarchy.levels:
        assert_allclose(level.laplacian @ level.null, 0, atol=1e-4 * level.null.max())
    finest = hierarchy.levels[0]
    null = finest.null / np.linalg.norm(finest.null)
    b = np.random.default_rng(0).normal(size=(6_000, 2))
    b -= np.outer(null, null @ b)
    b = finest.laplacian @ b  # in the range of L
    x = np.zeros_like(b)
    for _ in range(12):  # plain iteration: every cycle leaves a share of the error
        x += hierarchy.solve(b - finest.laplacian @ x)
    assert np.linalg.norm(b - finest.laplacian @ x) < 1e-3 * np.linalg.norm(b)


def test_what_did_not_converge_is_told(monkeypatch, moons):
    monkeypatch.setattr(eigenvectors, "_STEPS", 0)
    monkeypatch.setattr(eigenvectors, "_DENSE_LATE", 0)
    with pytest.warns(ConvergenceWarning, match=r"residuals of at most 0.0001; that of number \d+ is"):
        found = leading_eigenvectors(moons, 12, 0)
    assert found.residuals.max() > TOL


def test_known_columns_stay_out():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(200, 200)))[0]
    A = (Q * np.linspace(1, 0, 200) ** 2) @ Q.T
    found = leading_space(
        lambda V: A @ V,
        Q[:, :8] + 0.1 * Q[:, 8:16],
        4,
        8,
        precondition=None,
        tol=1e-9,
        max_steps=50,
        known=Q[:, :3],
    )
    assert found.vectors.shape == (200, 8)
    assert subspace_angles(found.vectors[:, :4], Q[:, 3:7]).max() < 1e-6
    assert orthonormal(np.ones((5, 3))).shape == (5, 1)


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_more_parts_than_coordinates(six_parts, n_components):
    """Each part has a place of its own, and its points differ; all vectors are eigenvectors of 1, nearly."""
    op, y = six_parts
    coordinates, found = diffusion_coordinates(op, n_components, random_state=0)
    assert mixed_eigenvectors(symmetrized(op), n_components, np.random.default_rng(0)) is not None
    assert found.residuals.max() < TOL
    assert_allclose(found.vectors.T @ found.vectors, np.eye(n_components + 1), atol=1e-3)
    centers = np.array([coordinates[y == part].mean(axis=0) for part in range(6)])
    radius = max(np.linalg.norm(coordinates[y == p] - centers[p], axis=1).max() for p in range(6))
    distances = np.linalg.norm(centers[:, None] - centers, axis=2) + 1e9 * np.eye(6)
    assert distances.min() > 3 * radius
    assert len(np.unique(coordinates, axis=0)) > 590
    again, _ = diffusion_coordinates(op, n_components, random_state=0)
    assert_array_equal(coordinates, again)


def test_mixing_is_for_closed_parts_only(six_parts, moons):
    op, _ = six_parts
    assert mixed_eigenvectors(symmetrized(op), 5, np.random.default_rng(0)) is None
    assert mixed_eigenvectors(symmetrized(moons), 1, np.random.default_rng(0)) is None
    part = walk_parts(symmetrized(op))
    assert closed_parts(symmetrized(op), part, 1e-6)
    assert not closed_parts(symmetrized(op), np.arange(600) % 6, 0.1)
    places = mixed_parts(part, np.full(600, 1 / 600), 2, np.random.default_rng(0))
    assert_allclose(places.values.T @ places.values / 6, np.eye(2), atol=1e-12)
    assert_allclose(places.values.mean(axis=0), 0, atol=1e-12)


def test_clusters_of_closed_parts(six_parts):
    """Fewer clusters than parts: those of the strongest links are one. As many or more: parts are found."""
    op, y = six_parts
    S = symmetrized(op)
    part = walk_parts(S)
    group = closed_groups(S, part, 4, TOL)
    assert len(np.unique(group)) == 4
    assert len(np.unique(np.column_stack([group, y]), axis=0)) == 6
    rows, kept = cluster_coordinates(op, 4)
    assert kept is None
    assert_array_equal(rows.argmax(axis=1), group)
    assert closed_groups(S, part, 7, TOL) is None
    rows, _ = cluster_coordinates(op, 6)
    assert len(np.unique(np.round(rows, 6), axis=0)) == 6
