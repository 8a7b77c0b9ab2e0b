"""Section 4.2 of the paper: the data and what its parameters mean."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from bvdt import propagate_labels
from reproduction.data.corpus import CORPORA

TABLE_2 = {
    "bbcsport": (737, 4613, 5),
    "bbc": (2225, 9636, 5),
    "20news": (11269, 61188, 20),
    "nsf": (16405, 18674, 10),
    "imdb": (50000, 89527, 2),
}


def test_table_2():
    """N, d and C; but for one term of BBC."""
    ours = {name: (*info.shape, info.n_classes) for name, info in CORPORA.items()}
    assert {name for name in TABLE_2 if ours[name] != TABLE_2[name]} == {"bbc"}
    assert ours["bbc"] == (2225, 9635, 5)


def test_eight_of_the_three_hundred_steps_suffice():
    """At α = 0.01 a step leaves a hundredth of the error."""
    P = np.random.default_rng(0).dirichlet(np.ones(20), size=20)
    Y0 = np.eye(20)[:, :3]
    limit = 0.99 * np.linalg.solve(np.eye(20) - 0.01 * P, Y0)
    assert_allclose(propagate_labels(P, Y0, alpha=0.01, max_iter=8, tol=0), limit, rtol=1e-13, atol=1e-16)
