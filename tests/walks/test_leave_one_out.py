"""Scores without a point's own label are those of a solve without it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import bvdt
from bvdt.walks import label_scores
from bvdt.walks.leave_one_out import leave_one_out_scores

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(center, 1.0, (50, 3)) for center in (0.0, 3.0)] + [[[90.0] * 3]])
OPERATORS = {
    "near field": lambda: bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=8, random_state=0),
    "one tree": lambda: bvdt.transition_matrix(X, "squared_euclidean", random_state=0),
    "matrix": lambda: sparse.csr_array(np.exp(-((X[:, None] - X) ** 2).sum(axis=2))),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("method", ["spread", "walk"])
def test_leaving_a_label_out_is_a_solve_without_it(name, method):
    op = OPERATORS[name]()
    points = np.array([*RNG.permutation(100)[:40], 100])  # the last is far from all others
    codes, weight = points // 50 % 2, RNG.uniform(0.5, 2.0, 41)
    M = op if method == "spread" else bvdt.transition_matrix(X, "squared_euclidean", random_state=0)
    found = leave_one_out_scores(M, points, codes, weight, 2, method=method, alpha=0.8, tol=1e-13)
    for i in (0, 7, 33, 40):
        Y = np.zeros((len(X), 2))
        Y[points, codes] = weight
        Y[points[i]] = 0.0
        refit, _ = label_scores(M, Y, method=method, alpha=0.8, tol=1e-14, max_iter=10_000)
        np.testing.assert_allclose(found[i], refit[points[i]], atol=1e-10)


def test_progress_counts_the_labels():
    done: list[int] = []
    op = OPERATORS["near field"]()
    leave_one_out_scores(op, np.arange(40), np.zeros(40, int), np.ones(40), 1, advance=done.append)
    assert sum(done) == 40
