"""The experts against scikit-learn's, slower and one at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

import bvdt
from bvdt.lifting import lift
from bvdt.stacking.experts import SMOOTHING, balance, linear_expert, naive_bayes_expert, walk_expert
from bvdt.stacking.folds import Folds
from bvdt.stacking.linear import ridge_steps, squared_hinge
from bvdt.stacking.rows import FeatureScale, Table, rows_of_lifted
from bvdt.walks import labels_look_random, symmetrized


def corpus(n=90, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.poisson(np.where(np.arange(40) % n_classes == y[:, None], 0.8, 0.3)).astype(float)
    return sparse.csr_array(X), y


@pytest.mark.parametrize("dense", [False, True])
def test_squared_hinge_is_linear_svc(dense):
    X, y = corpus()
    T = FeatureScale().rows(X)
    rows = np.hstack([T.toarray(), np.ones((len(y), 1), np.float32)])
    signs = np.where(y[:, None] == np.arange(3), 1, -1).astype(np.float32)
    table = Table(rows if dense else sparse.csr_array(rows))
    W = squared_hinge(table, signs, np.ones_like(signs), 1.0, tol=1e-5, max_newton=100, max_products=100)
    svc = LinearSVC(C=1, loss="squared_hinge", tol=1e-8, max_iter=100_000, random_state=0).fit(T, y)
    assert_allclose(W[:-1].T, svc.coef_, atol=1e-3)
    assert_allclose(W[-1], svc.intercept_, atol=1e-3)


@pytest.mark.slow
def test_rare_classes_are_learnt_at_the_default_tolerance():
    """Forty classes of which a row is one: the constant is nearly all of the gradient at 0."""
    rng = np.random.default_rng(0)
    y = rng.integers(40, size=800)
    X = np.zeros((800, 400), np.float32)
    X[np.arange(800)[:, None], (10 * y[:, None] + rng.integers(10, size=(800, 3)))] = 1
    rows = np.hstack([X / np.linalg.norm(X, axis=1, keepdims=True), np.ones((800, 1), np.float32)])
    signs = np.where(y[:, None] == np.arange(40), 1, -1).astype(np.float32)
    W = squared_hinge(Table(rows), signs, np.ones_like(signs))
    svc = LinearSVC(random_state=0).fit(rows[:, :-1], y)
    assert_allclose(W[:-1].T, svc.coef_, atol=0.1)
    assert np.abs(svc.coef_).max() > 1


def test_hidden_rows_are_left_out_of_a_column():
    X, y = corpus()
    T = FeatureScale().rows(X)
    rows = sparse.csr_array(sparse.hstack([T, np.ones((len(y), 1), np.float32)]))
    sign = np.where(y == 1, 1, -1).astype(np.float32)[:, None]
    seen = np.arange(len(y)) % 4 > 0
    both = squared_hinge(
        Table(rows), np.hstack([sign, sign]), np.column_stack([seen, np.ones_like(seen)]).astype(np.float32),
        tol=1e-5, max_newton=100, max_products=100,
    )  # fmt: skip
    alone = squared_hinge(
        Table(rows[seen]), sign[seen], np.ones((seen.sum(), 1), np.float32),
        tol=1e-5, max_newton=100, max_products=100,
    )  # fmt: skip
    assert_allclose(both[:, :1], alone, atol=1e-4)
    assert np.abs(both[:, 1] - both[:, 0]).max() > 0.01


def test_a_warm_start_ends_where_a_cold_one_does():
    X, y = corpus()
    rows = Table(FeatureScale().rows(X))
    signs = np.where(y[:, None] == np.arange(3), 1, -1).astype(np.float32)
    sees = np.repeat((np.arange(90) < 60).astype(np.float32)[:, None], 3, axis=1)
    exact = {"tol": 1e-5, "max_newton": 100, "max_products": 100}
    few = squared_hinge(rows, signs, sees, **exact)
    cold = squared_hinge(rows, signs, np.ones_like(sees), **exact)
    warm = squared_hinge(rows, signs, np.ones_like(sees), start=few, **exact)
    assert np.abs(few - cold).max() > 0.05
    assert_allclose(warm, cold, atol=1e-3)


def test_all_slices_of_the_linear_expert_are_its_weights():
    X, y = corpus()
    rows = Table(FeatureScale().rows(X))
    found, weights = linear_expert(rows, Folds.of(np.where(np.arange(90) < 40, y, -1), 3))
    assert weights.shape == (X.shape[1] + 1, 6 * 3)
    assert_allclose(rows.T @ found.weights + found.constant, found.scores[:, -1], atol=1e-5)
    assert (found.scores[:40, -1].argmax(axis=1) == y[:40]).mean() > 0.9


@pytest.mark.parametrize("n_classes", [2, 3])
def test_naive_bayes_is_scikit_learns(n_classes):
    X, y = corpus(n_classes=n_classes)
    T = FeatureScale().rows(X)
    folds = Folds.of(np.where(np.arange(90) < 60, y, -1), n_classes)
    found = naive_bayes_expert(Table(T), folds.targets())
    for number, seen in enumerate(folds.sees().T):
        points = folds.labeled[seen]
        theirs = MultinomialNB(alpha=SMOOTHING, fit_prior=False).fit(T[points].astype(float), y[points])
        joint = T @ theirs.feature_log_prob_.T
        assert_allclose(found.scores[:, number], joint - joint.mean(axis=1, keepdims=True), atol=2e-4)
    assert_allclose(T @ found.weights + found.constant, found.scores[:, -1], atol=2e-4)


def test_ridge_is_scikit_learns_after_enough_steps():
    X, y = corpus()
    T = FeatureScale().rows(X)
    B = np.where(y[:, None] == np.arange(3), 1, -1).astype(np.float32)
    W = ridge_steps(Table(T), B, 1.0, 60)
    assert_allclose(
        W.T, Ridge(1.0, fit_intercept=False, solver="cholesky").fit(T.toarray(), B).coef_, atol=1e-3
    )


def test_the_walk_is_label_spreading_of_what_a_slice_sees():
    X, y = corpus()
    op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=5, random_state=0)
    S = symmetrized(op)
    folds = Folds.of(np.where(np.arange(90) < 30, y, -1), 3)
    found = walk_expert(S, folds, 0.9)
    dense = np.linalg.inv(np.eye(90) - 0.9 * S.toarray()) * 0.1
    for number in range(folds.n_slices):
        F = dense @ folds.targets()[:, number]
        counts = folds.class_counts()[number]
        shares = F / np.sqrt(counts)  # even labels: the power is ½
        shares = np.log(shares / shares.sum(axis=1, keepdims=True) + 0.01 / 3)
        assert_allclose(found.scores[:, number], shares - shares.mean(axis=1, keepdims=True), atol=0.02)


def folds_and_scores(counts, share, seed=0):
    """1 000 points of two classes, ``share`` of them the first; labels, and scores by number of labels."""
    rng = np.random.default_rng(seed)
    y = (np.arange(1000) >= 1000 * share).astype(int)
    labeled = np.concatenate([np.flatnonzero(y == k)[:n] for k, n in enumerate(counts)])
    codes = np.full(1000, -1)
    codes[labeled] = y[labeled]
    folds = Folds.of(codes, 2)
    reach = np.where(y[:, None] == np.arange(2), 1.0, 0.3) * rng.uniform(0.9, 1.1, (1000, 2))
    return folds, (reach[:, None] * folds.class_counts()).astype(np.float32)


def test_labels_that_were_not_drawn_at_random_are_noticed():
    power, _, _, unequal = balance(*folds_and_scores((15, 15), 0.5)[::-1])
    assert (power, unequal) == (0.5, False)
    power, share, weight, unequal = balance(*folds_and_scores((27, 3), 0.5)[::-1])
    assert (power, unequal) == (1.0, False)
    assert_allclose(share, 0.5, atol=0.01)
    assert weight[1] > 3 * weight[0]


def test_random_labels_of_unequal_classes_keep_their_shares():
    _, share, weight, unequal = balance(*folds_and_scores((90, 10), 0.9)[::-1])
    assert unequal
    assert_allclose(share, [0.9, 0.1])
    assert_allclose(weight, 1)


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_random_labels_are_seldom_taken_for_others(share):
    """By any classifier: here one that is right about 70 % of the first class and 60 % of the second."""
    rng, mistaken = np.random.default_rng(0), 0
    shares = np.array([share * 0.7 + (1 - share) * 0.4, share * 0.3 + (1 - share) * 0.6])
    for _ in range(300):
        hidden, others = rng.multinomial(40, shares), rng.multinomial(2000, shares)
        mistaken += not labels_look_random(hidden.astype(float), others.astype(float), 0)
    assert mistaken <= 15


@pytest.mark.parametrize("blend", [None, "auto"])
def test_a_dominant_class_makes_no_answer_worse_than_it(blend):
    made = bvdt.datasets.make_documents(1500, n_classes=8, random_state=0)
    y = np.where(made.labels < 3, made.labels, 3)  # the last is 5 of 8
    rng = np.random.default_rng(0)
    kept = rng.permutation(np.flatnonzero((y == 3) | (rng.random(1500) < 0.2)))
    X, y = made.counts[kept], y[kept]
    few = np.where(np.arange(len(y)) < 60, y, -1)
    model = bvdt.text_pipeline("counts", blend=blend, random_state=0).fit(X, few)
    right = np.mean(model[-1].transduction_[60:] == y[60:])
    assert right >= np.mean(y[60:] == 3) - 0.01


@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("dense", [False, True])
def test_threads_do_not_change_products(n_jobs, dense, monkeypatch):
    monkeypatch.setattr("bvdt.stacking.rows._BATCH", 100)
    X, _ = corpus()
    T = X.toarray().astype(np.float32) if dense else FeatureScale().rows(X)
    V = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    one, many = Table(T, 1), Table(T, n_jobs)
    assert_array_equal(one.times(V), many.times(V))
    assert_allclose(one.times(V), T @ V, atol=1e-4)
    B = one.times(V)
    assert_array_equal(one.transposed(B), many.transposed(B))
    assert_allclose(one.transposed(B), T.T @ B, rtol=1e-3, atol=1e-3)


def test_scales():
    X, _ = corpus()
    rows = FeatureScale.of(X).rows(3 * X)
    assert_allclose(np.sqrt((rows.toarray() ** 2).sum(axis=1)), 1, atol=1e-6)
    empty = FeatureScale().rows(sparse.csr_array((2, 4)))
    assert empty.nnz == 0
    D = np.random.default_rng(0).normal(3, 2, (50, 4))
    D[:, 2] = 0.1
    scaled = FeatureScale.of(D).rows(D)
    assert_allclose(scaled.mean(axis=0), 0, atol=1e-6)
    assert_allclose(scaled.std(axis=0), [0.5, 0.5, 0, 0.5], atol=1e-6)


@pytest.mark.parametrize("divergence", ["gid", "squared_euclidean"])
@pytest.mark.parametrize("dense", [False, True])
def test_lifted_data_are_recovered(divergence, dense):
    X, _ = corpus()
    X = X.toarray()
    X[:, 3] += 1000  # a column far from 0, which is centered even where the data are sparse
    X = X if dense else sparse.csr_array(X)
    lifted = lift(X, divergence)
    assert (lifted.lifting.offset is None) == (divergence == "gid")
    found = rows_of_lifted(lifted)
    found, X = (A.toarray() if sparse.issparse(A) else A for A in (found, X))
    assert_allclose(found, X, atol=1e-12)
