"""Label spreading in single precision, against the same in double and against the dense solution."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import bvdt
from bvdt.solvers import ArraySpreading
from bvdt.walks import label_scores, propagation

N = 600


@pytest.fixture
def single(monkeypatch):
    """Any number of scores is many; the types that were tried."""
    tried, made = [], ArraySpreading.__init__

    def noting(self, S, labels, alpha, dtype=np.float64, **options):
        tried.append(dtype)
        made(self, S, labels, alpha, dtype, **options)

    monkeypatch.setattr(propagation, "SINGLE", 1)
    monkeypatch.setattr(ArraySpreading, "__init__", noting)
    return tried


def walk(apart=1.5, n_neighbors=5, n=N, n_jobs=None):
    """Points in three groups so far apart, and their labels: none in the last group."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 3)) + apart * group[:, None]
    op = bvdt.transition_matrix(
        X, "squared_euclidean", n_neighbors=n_neighbors, random_state=0, n_jobs=n_jobs
    )
    Y0 = np.zeros((n, 2))
    for label in range(2):
        Y0[np.flatnonzero(group == label)[:5], label] = 1.0
    return op, Y0


@pytest.mark.kernel
@pytest.mark.parametrize("n_neighbors", [0, 5])
@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.95])
def test_single_precision_gives_the_scores_of_double(single, monkeypatch, n_neighbors, alpha):
    op, Y0 = walk(n_neighbors=n_neighbors)
    Y0 *= [1.0, 1e-20]  # as an eager and a careful labeler may weigh their labels
    scores, products = label_scores(op, sparse.csr_array(Y0), alpha=alpha)
    assert single == [np.float32]
    assert scores.dtype == np.float64
    monkeypatch.setattr(propagation, "SINGLE", scores.size + 1)
    double, as_many = label_scores(op, Y0, alpha=alpha)
    assert single == [np.float32, np.float64]
    assert products == as_many
    for one, other in zip(scores.T, double.T, strict=True):
        assert_allclose(one, other, rtol=1e-4, atol=1e-6 * other.max())
    S = op.symmetrized().toarray()
    exact = (1 - alpha) * np.linalg.solve(np.eye(N) - alpha * S, Y0)
    assert (np.abs(scores - exact).sum(axis=0) <= 3e-4 / (1 - alpha) * exact.sum(axis=0)).all()


@pytest.mark.kernel
def test_it_does_not_depend_on_threads(single):
    results = []
    for threads in (1, 2, 3):
        op, Y0 = walk(n_jobs=threads)
        results.append(label_scores(op, Y0)[0])
    assert set(single) == {np.float32}
    for other in results[1:]:
        assert_array_equal(other, results[0])


def test_double_is_used_for_a_fine_tolerance(single):
    op, Y0 = walk()
    label_scores(op, Y0, tol=1e-6)
    assert single == [np.float64]


@pytest.mark.parametrize("power", [-900, 900])
def test_the_size_of_labels_does_not_matter(single, power):
    op, Y0 = walk()
    assert_array_equal(label_scores(op, np.ldexp(Y0, power))[0], np.ldexp(label_scores(op, Y0)[0], power))
    assert set(single) == {np.float32}


def test_points_too_far_from_labels_for_single_precision_get_double(single):
    op, Y0 = walk(apart=4.0)
    scores, _ = label_scores(op, Y0)
    assert single == [np.float32, np.float64]
    assert 0 < scores.max(axis=1).min() < 1e-100


@pytest.mark.parametrize("n_steps", [4, 5])
@pytest.mark.parametrize("n", [3, 5000])
def test_widening_over_both_halves_loses_nothing(n_steps, n):
    work = ArraySpreading.__new__(ArraySpreading)
    work._both = np.random.default_rng(0).random((2, n, 3)).astype(np.float32)
    work._Z, work._before = work._both if n_steps % 2 else work._both[::-1]
    wanted = work._before.copy()
    got = work._widened()
    assert got.dtype == np.float64
    assert np.shares_memory(got, work._both)
    assert_array_equal(got, wanted)
