"""What to label next: against dense solves, and on points whose best labels one knows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs

import bvdt
from bvdt.walks import suggest_points
from bvdt.walks.suggesting import ALPHA, DEGREE_CAP, AbsorbedWalk


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(300, 3, centers=6, cluster_std=0.3, center_box=(-20, 20), random_state=0)
    return X, y, bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=8, random_state=0)


def dense_walk(op) -> tuple[np.ndarray, np.ndarray]:
    """D⁻¹W of the near field, and the degrees."""
    W = op.near_field.symmetric.toarray()
    degrees = W.sum(axis=1)
    return W / degrees[:, None], degrees


def dense_steps(P: np.ndarray, absorbed: np.ndarray) -> np.ndarray:
    h, going = np.zeros(len(P)), ~absorbed
    h[going] = np.linalg.solve(np.eye(going.sum()) - ALPHA * P[np.ix_(going, going)], np.ones(going.sum()))
    return h


def some(n: int, *points: int) -> np.ndarray:
    mask = np.zeros(n, bool)
    mask[list(points)] = True
    return mask


def test_steps_are_those_of_the_dense_system(blobs):
    _, _, op = blobs
    P, _ = dense_walk(op)
    absorbed = some(300, 3, 77, 200)
    h = AbsorbedWalk.of(op).steps(absorbed)
    exact = dense_steps(P, absorbed)
    assert np.linalg.norm(h - exact) < 0.03 * np.linalg.norm(exact)
    assert_array_equal(h[absorbed], 0.0)
    again = AbsorbedWalk.of(op).steps(absorbed, start=h)
    assert np.linalg.norm(again - exact) < 0.03 * np.linalg.norm(exact)


def test_a_label_takes_off_the_sum_of_steps_what_the_head_says(blobs):
    _, _, op = blobs
    P, d = dense_walk(op)
    labeled = some(300, 3, 77)
    h, going = dense_steps(P, labeled), ~labeled
    g = np.linalg.inv(np.eye(300) - ALPHA * np.where(going[:, None] & going, P, 0.0))
    for j in (0, 10, 250):
        after = dense_steps(P, labeled | some(300, j))
        assert_allclose(d @ h - d @ after, d[j] * h[j] ** 2 / g[j, j], rtol=1e-8)


def test_returns_are_near_the_diagonal_of_the_inverse(blobs):
    _, _, op = blobs
    P, d = dense_walk(op)
    exact = np.linalg.inv(np.eye(300) - ALPHA * P).diagonal()
    capped = np.minimum(d, DEGREE_CAP * np.median(d))
    found = capped / AbsorbedWalk.of(op).typical
    assert np.median(np.abs(found / exact - 1)) < 0.1
    assert np.corrcoef(found, exact)[0, 1] > 0.8


def test_the_first_choices_are_one_per_group(blobs):
    _, y, op = blobs
    assert len(set(y[suggest_points(op, some(300), 6)])) == 6
    assert set(y[suggest_points(op, some(300, 0), 5)]) == set(range(6)) - {y[0]}


def test_copies_are_chosen_once():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(200, 4)), np.repeat(rng.normal(size=(4, 4)) + 6, 50, axis=0)])
    op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=10, random_state=0)
    first = suggest_points(op, some(400), 30)
    copies = [(i - 200) // 50 for i in first if i >= 200]
    assert len(copies) < 15
    near_copies = suggest_points(op, some(400, 200, 250, 300, 350), 10)
    assert (near_copies < 200).sum() >= 8


def test_a_hub_counts_at_most_as_twice_the_usual():
    walk = AbsorbedWalk(sparse.eye_array(4, format="csr"), np.array([1.0, 1.0, 1.0, 400.0]), np.arange(4))
    assert walk.typical[3] == pytest.approx(2 * walk.typical[0])


@pytest.mark.parametrize("strategy", ["auto", "margin", "entropy", "random"])
def test_every_strategy_gives_distinct_unlabeled_points(blobs, strategy):
    _, y, op = blobs
    labeled = some(300, *range(0, 300, 3))
    P = np.eye(6)[y]
    chosen = suggest_points(op, labeled, 250, P=P, strategy=strategy, random_state=0)
    assert len(set(chosen)) == 200
    assert not labeled[chosen].any()
    again = suggest_points(op, labeled, 250, P=P, strategy=strategy, random_state=0)
    assert_array_equal(chosen, again)


def test_margin_takes_the_least_sure_first(blobs):
    _, _, op = blobs
    P = np.tile([0.9, 0.1], (300, 1))
    P[17], P[5] = [0.5, 0.5], [0.4, 0.6]
    assert suggest_points(op, some(300), 2, P=P, strategy="margin").tolist() == [17, 5]


def test_uncertain_points_come_before_sure_ones_alike(blobs):
    _, y, op = blobs
    P = np.tile([0.99, 0.01], (300, 1))
    P[y == 2] = [0.5, 0.5]
    assert y[suggest_points(op, some(300), 1, P=P)[0]] == 2


def test_matrices_without_a_tree_or_a_near_field(blobs):
    X, y, op = blobs
    for matrix in (op.near_field.matrix, op.near_field.matrix.toarray()):
        assert len(set(y[suggest_points(matrix, some(300), 6)])) == 6
    # Blocks alone tie some of these groups together: not one each, but most of them.
    walk = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=0, n_trees=2, random_state=0)
    assert len(set(y[suggest_points(walk, some(300), 6)])) >= 4


def test_unknown_strategy_is_named(blobs):
    with pytest.raises(ValueError, match="strategy needs one of auto, margin, entropy, random; got 'best'"):
        suggest_points(blobs[2], some(300), 1, strategy="best")


@pytest.mark.slow
def test_labels_chosen_beat_labels_drawn():
    """Digits: twenty labels in batches of five from one; random takes about twice as many."""
    X, y = load_digits(return_X_y=True)
    y += 10
    op = bvdt.transition_matrix(X, "gid", n_neighbors=10, random_state=0)
    accuracy = {}
    for strategy in ("auto", "random", "margin"):
        found = []
        for seed in range(5):
            codes = np.full(len(y), -1)  # −1 and 1 alone would draw a warning: classes from 10 on
            start = np.random.default_rng(seed).integers(len(y))
            codes[start] = y[start]
            for step in range(4):
                model = bvdt.LabelPropagation(random_state=10 * seed + step).fit(y=codes, operator=op)
                chosen = model.suggest(5, strategy=strategy)
                codes[chosen] = y[chosen]
            model = bvdt.LabelPropagation().fit(y=codes, operator=op)
            found.append((model.transduction_ == y)[codes < 0].mean())
        accuracy[strategy] = np.mean(found)
    assert accuracy["auto"] > max(accuracy["random"], accuracy["margin"]) + 0.02
