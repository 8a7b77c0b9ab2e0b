"""The symmetrised walk against its definition: far rows, equal rows, rows whose entries underflow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import bvdt
from bvdt.operators.symmetrized import ISOLATED
from bvdt.walks import label_contributions, label_scores

DIVERGENCES = (
    "squared_euclidean",
    "mahalanobis",
    "cosine",
    "gid",
    "kl",
    "multinomial",
    "itakura_saito",
    "logistic",
)
pytestmark = pytest.mark.kernel


def inside(divergence, X):
    """Rows X moved into the divergence's domain."""
    if divergence in ("squared_euclidean", "mahalanobis", "cosine"):
        return X
    if divergence == "logistic":
        return 1 / (1 + np.exp(-np.clip(X, -30, 30)))
    E = np.exp(np.clip(X, -12, 12))
    return E / E.sum(axis=1, keepdims=True) if divergence in ("kl", "multinomial") else E


def by_definition(op):
    """S and the points that are not isolated, from the dense Q."""
    Q = op.toarray()
    kept = np.ones(len(Q), bool)
    while (out := kept & (Q[kept].sum(axis=0) < ISOLATED)).any():
        kept &= ~out
    W = (Q + Q.T) / 2 * np.outer(kept, kept)
    degrees = W.sum(axis=1)
    scale = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1)), 0)
    return scale[:, None] * W * scale, kept


@st.composite
def walks(draw):
    divergence = draw(st.sampled_from(DIVERGENCES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_points, n_far = draw(st.integers(3, 60)), draw(st.integers(0, 20))
    X = rng.normal(size=(n_points, draw(st.sampled_from([1, 2, 5, 20]))))
    X = X[rng.integers(0, draw(st.integers(1, n_points)), n_points)]  # some are equal
    far = rng.normal(size=(n_far, X.shape[1])) * 10.0 ** draw(st.floats(0.5, 6))
    far[1:] = np.where(rng.random((max(n_far - 1, 0), 1)) < 0.3, far[:-1], far[1:])
    X = inside(divergence, np.concatenate([X, far]))
    options = {
        "n_neighbors": draw(st.sampled_from([0, 1, 10])),
        "n_trees": draw(st.sampled_from([1, 2])),
        "bandwidth": draw(st.sampled_from(["auto", 1e-3, 1.0, 1e3])),
    }
    options["n_neighbors"] = min(options["n_neighbors"], len(X) - 1)
    if divergence == "mahalanobis" and len(np.unique(X, axis=0)) <= X.shape[1] + 1:
        divergence = "squared_euclidean"  # no covariance to speak of
    return bvdt.transition_matrix(X, divergence, random_state=0, n_jobs=1, **options)


@settings(max_examples=80, deadline=None)
@given(op=walks(), seed=st.integers(0, 100))
def test_it_is_its_definition(op, seed):
    S, (dense, kept) = op.symmetrized(), by_definition(op)
    assert_array_equal(S.isolated, np.flatnonzero(~kept))
    product = np.asarray(S @ np.eye(len(dense)))
    assert_allclose(product, dense, atol=1e-12)
    assert_allclose(product, product.T, atol=1e-12)
    assert_allclose(S.toarray(), dense, atol=1e-12)
    assert np.abs(np.linalg.eigvalsh(dense)).max() <= 1 + 1e-12
    V = np.random.default_rng(seed).normal(size=(len(dense), 3))
    dots = np.empty((2, V.shape[1]))
    assert_allclose(S.shifted(V, 0.7, np.empty_like(V), dots), V - 0.7 * dense @ V, atol=1e-11)
    assert_allclose(S @ np.sqrt(S.degrees), np.sqrt(S.degrees), atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(op=walks(), alpha=st.sampled_from([0.5, 0.9, 0.99]), seed=st.integers(0, 100))
def test_scores_follow_it_and_isolated_points_follow_their_rows(op, alpha, seed):
    n_points = op.shape[0]
    Y = np.eye(3)[np.random.default_rng(seed).integers(0, 3, n_points)]
    Y[np.random.default_rng(seed + 1).random(n_points) < 0.7] = 0
    dense, kept = by_definition(op)
    F = np.linalg.solve(np.eye(n_points) - alpha * dense, (1 - alpha) * Y)
    Q = op.toarray()
    for _ in range(n_points):  # isolated points may lead to isolated points
        F[~kept] = (alpha * Q @ F + (1 - alpha) * Y)[~kept]
    found, _ = label_scores(op, Y, alpha=alpha, tol=1e-9, max_iter=2000)
    assert_allclose(found, F, atol=1e-7)
    points = np.arange(n_points)
    assert_allclose(label_contributions(op, points, alpha=alpha).T @ Y, F, atol=1e-6)


@pytest.mark.parametrize("n_trees", [1, 2])
def test_a_chain_of_far_points_is_isolated_link_by_link(n_trees):
    """Each of three far points leads to the next one in, and nothing leads to it but the one further out."""
    X = np.concatenate([np.random.default_rng(0).normal(size=40), [1e2, 1e4, 1e6]])[:, None]
    op = bvdt.transition_matrix(X, "squared_euclidean", n_trees=n_trees, random_state=0)
    assert {40, 41, 42} <= set(op.symmetrized().isolated)
    Y = np.zeros((43, 2))
    Y[:40][X[:40, 0] < 0, 0], Y[:40][X[:40, 0] >= 0, 1] = 1, 1
    scores = label_scores(op, Y)[0]
    assert (scores[40:].sum(axis=1) > 0).all()
