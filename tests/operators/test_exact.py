"""The exact transition matrix against the direct softmax."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

import bvdt
from bvdt._support import memory
from bvdt.lifting.lifted import lift
from bvdt.operators import exact
from helpers.points import draw, draw_with_zeros, make
from helpers.properties import examples

NAMES = (
    "squared_euclidean",
    "mahalanobis",
    "gid",
    "kl",
    "multinomial",
    "itakura_saito",
    "logistic",
    "negative_binomial",
    "custom",
)
seeds = st.integers(0, 2**32 - 1)


def direct_softmax(d: np.ndarray, bandwidth: float) -> np.ndarray:
    P = np.zeros_like(d)
    for i in range(len(d)):
        others = np.arange(len(d)) != i
        weights = np.exp(-(d[i, others] - d[i, others].min()) / bandwidth)
        P[i, others] = weights / weights.sum()
    return P


@pytest.mark.parametrize("name", NAMES)
@examples(200)
@given(seed=seeds, bandwidth=st.sampled_from([0.5, 1.0, 7.0]))
def test_dense_equals_direct_softmax(name, seed, bandwidth):
    X = draw(name, np.random.default_rng(seed))
    X = X / max(1.0, np.abs(X).max()) if name not in ("kl", "multinomial") else X
    divergence = make(name, X.shape[1])
    P = bvdt.exact_transition_matrix(X, divergence, bandwidth=bandwidth)
    assert_allclose(P, direct_softmax(divergence.pairwise(X, X), bandwidth), rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@examples(200)
@given(seed=seeds)
def test_sparse_equals_direct_softmax(name, seed):
    X = draw_with_zeros(name, np.random.default_rng(seed))
    divergence = make(name, X.shape[1])
    P = bvdt.exact_transition_matrix(sparse.csr_array(X), divergence, smoothing=0.05)
    points = lift(X, divergence, 0.05).lifting.scale * X + (0.05 if name not in NAMES[:2] else 0)
    assert_allclose(P, direct_softmax(divergence.pairwise(points, points), 1.0), rtol=0, atol=1e-12)


@given(seed=seeds, bandwidth=st.floats(1e-300, 1e300))
def test_rows_are_distributions_at_any_bandwidth(seed, bandwidth):
    X = draw("gid", np.random.default_rng(seed))
    X[0] *= 1e6  # one far outlier
    P = bvdt.exact_transition_matrix(X, "gid", bandwidth=bandwidth)
    assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert (P >= 0).all()
    assert (np.diag(P) == 0).all()


def test_equal_points_share_equally():
    P = bvdt.exact_transition_matrix(np.ones((4, 2)), "squared_euclidean")
    assert_allclose(P, (1 - np.eye(4)) / 3)


def test_batches_of_rows_agree(monkeypatch):
    X = draw("gid", np.random.default_rng(0), n=23)
    whole = bvdt.exact_transition_matrix(X, "gid")
    monkeypatch.setattr(exact, "_BATCH", 50)
    assert_allclose(bvdt.exact_transition_matrix(X, "gid"), whole, rtol=1e-13)
    assert_allclose(exact.exact_rows(lift(X, "gid"), [4, 2]), whole[[4, 2]], rtol=1e-13)
    assert exact.exact_rows(lift(X, "gid"), 3).shape == (1, 23)


def test_refuses_what_does_not_fit(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 0.1 * memory.GIB)
    X = sparse.csr_array((20_000, 3))
    with pytest.raises(MemoryError, match=r"20000 points needs 3\.1 GiB; 0\.1 GiB are available"):
        bvdt.exact_transition_matrix(X, "squared_euclidean")


def test_available_memory_is_known_here():
    assert 2**20 < memory.available_bytes() < 2**60


@pytest.mark.parametrize("bandwidth", [0, -1.0, np.nan, np.inf])
def test_refuses_a_bandwidth(bandwidth):
    with pytest.raises(ValueError, match="bandwidth needs a finite number > 0; got"):
        bvdt.exact_transition_matrix(np.eye(3), "squared_euclidean", bandwidth=bandwidth)
