"""Conjugate gradients, Chebyshev's steps and Poisson learning against dense solves; scores to classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import bvdt
from bvdt.solvers import CHEBYSHEV_MOST as LARGEST
from bvdt.walks import balance_divisor, class_balance, distribute, label_scores, symmetrized
from bvdt.walks.poisson import poisson_mbo_scores, poisson_potential, volume_weights
from bvdt.walks.solving import solve_singular, solve_spread


def random_walk(n, n_empty, seed):
    """A row-stochastic matrix; its last rows and columns are 0."""
    rng = np.random.default_rng(seed)
    M = rng.gamma(0.3, size=(n, n)) + 1e-6
    np.fill_diagonal(M, 0.0)
    M /= M.sum(axis=1, keepdims=True)
    M[n - n_empty :] = M[:, n - n_empty :] = 0.0
    return M


@given(
    n=st.integers(3, 40),
    n_empty=st.integers(0, 2),
    m=st.integers(1, 7),
    alpha=st.floats(0, 0.999),
    seed=st.integers(0, 99),
    dtype=st.sampled_from([np.float32, np.float64]),
    warm=st.booleans(),
)
def test_spread_is_the_dense_solution(n, n_empty, m, alpha, seed, dtype, warm):
    S = symmetrized(random_walk(n, n_empty, seed))
    rng = np.random.default_rng(seed)
    Y = rng.random((n, m)) * (rng.random((n, m)) < 0.5)
    expected = np.linalg.solve(np.eye(n) - alpha * (S @ np.eye(n)), (1 - alpha) * Y)
    start = rng.random((n, m)).astype(dtype) if warm else None
    single = dtype == np.float32
    F, products = solve_spread(S, Y.astype(dtype), alpha, tol=1e-5 if single else 1e-11, start=start)
    assert F.dtype == dtype
    # The error is at most the residual over the least eigenvalue, 1 − α, a factor of the right-hand side.
    size = np.linalg.norm(Y, axis=0)
    assert (np.linalg.norm(F - expected, axis=0) <= (1e-3 if single else 1e-9) * size).all()
    assert products <= 500


def test_products_are_few_and_counted():
    """0 columns need none; α = 0.99 takes tens where stepping takes hundreds; the limit holds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=5, random_state=0)
    S = op.symmetrized()
    assert solve_spread(S, np.zeros((400, 2)), 0.9)[1] == 0
    Y = np.eye(400)[:, :3]
    F, products = solve_spread(S, Y, 0.99, tol=1e-4)
    assert 10 < products < 120
    stepped, steps = Y, 0
    while np.linalg.norm(stepped - F) > 1e-3 * np.linalg.norm(F):
        stepped, steps = 0.99 * (S @ stepped) + 0.01 * Y, steps + 1
    assert steps > 2 * products
    assert solve_spread(S, Y, 0.99, tol=1e-12, max_products=7)[1] == 7
    again, products = solve_spread(S, Y, 0.99, tol=1e-3, start=F)
    assert products == 1
    assert_array_equal(again, F)


def test_bad_systems():
    S = symmetrized(random_walk(5, 0, 0))
    with pytest.raises(ValueError, match="alpha needs a value from 0 to below 1; got 1"):
        solve_spread(S, np.ones((5, 1)), 1)
    with pytest.raises(ValueError, match="two dimensions"):
        solve_spread(S, np.ones(5), 0.5)


@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.99])
def test_solved_and_stepped_scores_agree(alpha):
    """What stepping comes to, at its tolerance, is what is solved; no score is negative."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=8, random_state=0)
    Y0 = np.zeros((300, 3))
    Y0[np.arange(9), np.arange(9) % 3] = 1
    S, stepped = op.symmetrized(), Y0
    for _ in range(4000):
        stepped = alpha * (S @ stepped) + (1 - alpha) * Y0
    scores, products = label_scores(op, Y0, alpha=alpha, tol=1e-4)
    assert (scores >= 0).all()
    assert (np.abs(scores - stepped).sum(axis=0) <= 1e-4 / (1 - alpha) * stepped.sum(axis=0)).all()
    assert (scores.argmax(axis=1) == stepped.argmax(axis=1)).mean() > 0.99
    assert products < 300


@pytest.mark.kernel
@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.5, LARGEST])
@pytest.mark.parametrize("n_neighbors", [0, 6])
def test_steps_solve_the_system(alpha, n_neighbors):
    """Chebyshev's steps and conjugate gradients come to the dense solution; labels may be sparse."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 3))
    op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=n_neighbors, random_state=0)
    Y0 = np.zeros((500, 4))
    Y0[np.arange(40), np.arange(40) % 4] = rng.random(40)
    S = op.symmetrized()
    exact = np.linalg.solve(np.eye(500) - alpha * S.toarray(), (1 - alpha) * Y0)
    scores, products = label_scores(op, Y0, alpha=alpha, tol=1e-11)
    assert_allclose(scores, exact, rtol=1e-7, atol=1e-12)
    assert_allclose(solve_spread(S, Y0, alpha, tol=1e-12)[0], exact, rtol=1e-7, atol=1e-12)
    again, same = label_scores(op, sparse.csr_array(Y0), alpha=alpha, tol=1e-11)
    assert_array_equal(again, scores)
    assert same == products


@pytest.mark.kernel
def test_steps_fall_as_their_bound_says():
    op = bvdt.transition_matrix(
        np.random.default_rng(3).normal(size=(2000, 3)), "squared_euclidean", n_neighbors=8
    )
    Y0 = np.zeros((2000, 2))
    Y0[:20, 0] = Y0[20:40, 1] = 1
    exact = label_scores(op, Y0, alpha=0.9, tol=1e-12)[0]
    with pytest.warns(ConvergenceWarning, match="label propagation did not reach tol=1e-12 in 21 steps"):
        stopped, products = label_scores(op, Y0, alpha=0.9, tol=1e-12, max_iter=21)
    assert products == 21
    rate = (1 - np.sqrt(1 - 0.9**2)) / 0.9
    # Lengths shrink by twice the rate's power; here they are those of S's own symmetric form.
    assert np.linalg.norm(stopped - exact) <= 2 * rate**20 * np.linalg.norm(exact)


@pytest.mark.kernel
def test_steps_do_not_depend_on_the_threads():
    X = np.random.default_rng(4).normal(size=(20_000, 4))
    Y0 = np.zeros((20_000, 10))
    Y0[np.arange(200), np.arange(200) % 10] = 1
    scores = []
    for n_jobs in (1, 2, 5):
        op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=5, random_state=0, n_jobs=n_jobs)
        scores.append(label_scores(op, Y0)[0])
    assert_array_equal(scores[0], scores[1])
    assert_array_equal(scores[0], scores[2])


@given(n=st.integers(3, 30), n_empty=st.integers(0, 2), m=st.integers(1, 4), seed=st.integers(0, 99))
def test_singular_is_the_pseudo_inverse(n, n_empty, m, seed):
    S = symmetrized(random_walk(n, min(n_empty, n - 3), seed))
    L = np.eye(n) - (S @ np.eye(n))
    B = np.random.default_rng(seed).normal(size=(n, m))
    null = np.sqrt(S.degrees)[:, None]
    V, _ = solve_singular(S, B, null / np.linalg.norm(null), tol=1e-12)
    assert_allclose(V, np.linalg.pinv(L, rcond=1e-9) @ B, atol=1e-7 * np.abs(B).max())


# -- Poisson learning ---------------------------------------------------------------------------------------


def labels(n, k, seed):
    rng = np.random.default_rng(seed)
    Y0 = np.zeros((n, k))
    chosen = rng.choice(n, min(n, 2 * k), replace=False)
    Y0[chosen, np.arange(len(chosen)) % k] = rng.integers(1, 4, len(chosen))
    return Y0


@given(n=st.integers(6, 30), k=st.integers(2, 4), seed=st.integers(0, 99))
def test_potential_is_the_dense_one(n, k, seed):
    M = random_walk(n, 0, seed)
    W = (M + M.T) / 2
    d = W.sum(axis=1)
    Y0 = labels(n, k, seed)
    weight = Y0.sum(axis=1)
    source = Y0 - weight[:, None] * (Y0.sum(axis=0) / Y0.sum())
    u = np.linalg.pinv(np.diag(d) - W, rcond=1e-12) @ source
    u -= (d @ u) / d.sum()
    U, part, _ = poisson_potential(M, Y0, tol=1e-12)
    assert_array_equal(part, 0)
    assert_allclose(U, u, atol=1e-8 * np.abs(u).max())
    assert_array_equal(label_scores(M, Y0, method="poisson", tol=1e-12)[0].argmax(axis=1), U.argmax(axis=1))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("method", ["poisson", "poisson_mbo"])
def test_parts_are_problems_of_their_own(make, method):
    """Three parts: with a label of each class, with one class, without labels; and a lone point."""
    M = np.zeros((31, 31))
    for first in (0, 10, 20):
        M[first : first + 10, first : first + 10] = random_walk(10, 0, first)
    Y0 = np.zeros((31, 2))
    Y0[[0, 1, 10], [0, 1, 1]] = 1
    scores, _ = label_scores(make(M), Y0, method=method, tol=1e-10)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    alone, _ = label_scores(M[:10, :10], Y0[:10], method="poisson", tol=1e-10)
    if method == "poisson":
        assert_array_equal(scores[:10].argmax(axis=1), alone.argmax(axis=1))
    assert_array_equal(scores[:2].argmax(axis=1), [0, 1])
    assert_array_equal(scores[10:20].argmax(axis=1), 1)
    assert_array_equal(scores[20:], 0.0)


def test_volumes_are_kept():
    """Two overlapping groups, 3 : 1, labels in equal numbers: given the true shares the classes have them."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 100])
    X = rng.normal(size=(400, 2)) + np.array([[0, 0], [2.5, 0]])[y]
    op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=8, random_state=0)
    Y0 = np.zeros((400, 2))
    Y0[[0, 1, 300, 301], [0, 0, 1, 1]] = 1
    shares = np.array([0.75, 0.25])
    got = poisson_mbo_scores(op, Y0, shares=shares)[0].argmax(axis=1)
    assert abs(np.mean(got == 1) - 0.25) < 0.03
    assert (got == y).mean() > 0.85
    with pytest.raises(ValueError, match='clamp needs method "walk" or "spread"'):
        label_scores(op, Y0, method="poisson", clamp=Y0.any(axis=1))


@given(seed=st.integers(0, 99), k=st.integers(2, 5))
def test_volume_weights_come_nearer_to_the_shares(seed, k):
    rng = np.random.default_rng(seed)
    scores, shares = rng.random((300, k)), rng.dirichlet(np.full(k, 20.0))

    def gap(weights):
        return np.abs(np.bincount((scores * weights).argmax(axis=1), minlength=k) / 300 - shares).sum()

    weights = volume_weights(scores, shares)
    assert gap(weights) <= gap(np.ones(k))
    assert gap(weights) < 0.05


# -- scores to classes --------------------------------------------------------------------------------------


@pytest.mark.kernel
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_rows_become_distributions(n_jobs):
    """By NumPy, on scores with rows of zeros, tiny ones and equal ones."""
    rng = np.random.default_rng(5)
    scores = rng.random((20_000, 7)) * 10.0 ** rng.integers(-300, 3, (20_000, 1))
    scores[::50], scores[1::50, 2:4] = 0.0, 1e10
    divisor, prior = rng.uniform(1, 3, 7), rng.dirichlet(np.ones(7))
    divisor[2] = divisor[3]
    expected = scores / divisor
    peak = expected.max(axis=1, keepdims=True)
    expected = np.where(peak > 0, expected / np.where(peak > 0, peak, 1), prior)
    expected /= expected.sum(axis=1, keepdims=True)
    P, best = distribute(scores, prior, n_jobs, divisor)
    assert P is scores
    assert_allclose(P, expected, rtol=1e-14)
    assert_array_equal(best, P.argmax(axis=1))


@pytest.mark.kernel
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_divisor_follows_the_classes_that_balanced_scores_find(n_jobs):
    rng = np.random.default_rng(6)
    counts = np.array([20.0, 3, 0, 6, 4, 7])
    scores = rng.random((30_000, 6)) * counts  # balanced, each labeled class wins as often
    scores[::7] = 0.0
    known = counts > 0
    found = np.bincount((scores[scores.any(axis=1)][:, known] / counts[known]).argmax(axis=1), minlength=5)
    power, _ = class_balance(counts[known], found.astype(float))
    assert 0.5 < power < 1
    expected = np.where(known, counts, 1.0) ** power
    assert_allclose(balance_divisor(scores, counts, n_jobs), expected, rtol=1e-14)
    assert_array_equal(balance_divisor(scores, np.array([0, 5.0, 0, 0, 0, 0])), np.ones(6))
