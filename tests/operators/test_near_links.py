"""Near and far field in one product, in the tree's order, against dense products in the points' own."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bvdt
from bvdt.operators import ForestOperator, TransitionOperator
from bvdt.operators.near_field import NearField
from helpers.engine_cases import random_lifted, random_tree

N = 300


@pytest.fixture(autouse=True)
def as_for_many_points(monkeypatch):
    """Divergences that a search found are not held; ``lists`` has those that are."""
    monkeypatch.setattr(bvdt.operators.near_field, "_HELD", 0)


def lists(rng, k, lonely=()):
    """Random lists without the point itself; some with fewer than k, and none for the lonely."""
    indices = np.stack([rng.choice(np.delete(np.arange(N), i), k, replace=False) for i in range(N)])
    divergences = np.sort(rng.exponential(size=(N, k)), axis=1)
    few = rng.random(N) < 0.3
    indices[few, k - 1], divergences[few, k - 1] = -1, np.inf
    indices[list(lonely)], divergences[list(lonely)] = -1, np.inf
    return NearField(indices.astype(np.int32), divergences)


def walk(n_trees=1, n_neighbors=4, lonely=(), seed=0, n_jobs=None, **options):
    """A walk over random trees with random lists: every place of every array matters."""
    rng = np.random.default_rng(seed)
    lifted = random_lifted("gid", N, rng)
    settings = {"bandwidth": 0.5, "n_jobs": n_jobs}
    members = [TransitionOperator(lifted, random_tree(N, rng), **settings) for _ in range(n_trees)]
    field = lists(rng, n_neighbors, lonely) if n_neighbors else None
    return ForestOperator(members, near_field=field, **options)


KINDS = {
    "one tree": walk,
    "one tree, refined": lambda **options: walk(**options).refine(800),
    "three trees": lambda **options: walk(3, weights=[1, 2, 3], **options),
    "three trees, refined": lambda **options: walk(3, **options).refine(2400),
    "three trees, no lists": lambda **options: walk(3, n_neighbors=0, **options),
    "lonely points": lambda **options: walk(2, lonely=[0, 17, 299], **options),
    "nobody has a neighbor": lambda **options: walk(lonely=range(N), **options),
}


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 2])
def test_products_are_the_dense_matrix_s(kind, threads):
    op, rng = KINDS[kind](n_jobs=threads), np.random.default_rng(1)
    Q = op.toarray()
    assert_allclose(Q.sum(axis=1), 1.0, rtol=1e-13)
    for k in (1, 2, 31, 32, 33, 70):
        V = rng.normal(size=(N, k))
        assert_allclose(op @ V, Q @ V, atol=1e-13)
        assert_allclose(op.T @ V, Q.T @ V, atol=1e-13)
        assert_allclose(op.mean_with_transpose(V), (Q + Q.T) @ V / 2, atol=1e-13)
        single = op.astype(np.float32) @ V.astype(np.float32)
        assert single.dtype == np.float32
        assert_allclose(single, Q @ V, atol=2e-6)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", ["forward", "transpose", "mean"])
def test_in_the_tree_s_order_with_a_diagonal(kind, side):
    op, rng = KINDS[kind](), np.random.default_rng(1)
    order, Q = op.inner.order, op.toarray()
    M = {"forward": Q, "transpose": Q.T, "mean": (Q + Q.T) / 2}[side]
    scale, V = rng.uniform(0.5, 2, N), rng.normal(size=(N, 12))
    wanted = 2 * V - 0.3 * (scale[:, None] * M * scale) @ V
    for form, rows in ((op, np.arange(N)), (op.inner, order)):
        columns = np.ascontiguousarray(V[rows])
        assert_allclose(form.apply(columns, side), (M @ V)[rows], atol=1e-13)
        dots = np.empty((2, 12))
        got = form.scaled(columns, side, scale[rows], factor=-0.3, own=2.0, dots=dots)
        assert_allclose(got, wanted[rows], atol=1e-13)
        assert_allclose(dots, [(columns * got).sum(axis=0), (got * got).sum(axis=0)], rtol=1e-12)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", ["forward", "mean"])
@pytest.mark.parametrize("weights", [(1.0, 0.0, 0.0), (1.3, 0.4, -0.7)])
def test_a_step_is_the_formula_s(kind, side, weights):
    op, rng = KINDS[kind](), np.random.default_rng(1)
    Q = op.toarray()
    M = Q if side == "forward" else (Q + Q.T) / 2
    D, Z, before = rng.uniform(0.5, 2, N), rng.random((N, 3)), rng.random((N, 3))
    row, given = np.where(rng.random(N) < 0.1, rng.integers(0, 4, N), -1).astype(np.int32), rng.random((4, 3))
    fixed = rng.random(N) < 0.05
    Y = np.where(row[:, None] >= 0, given[row], 0.0)
    for held in (None, fixed):
        G = 0.9 * D[:, None] ** 2 * (M @ Z) + 0.1 * D[:, None] * Y
        G = G if held is None else np.where(held[:, None], D[:, None] * Y, G)
        R = (G - Z) / D[:, None]
        for form, rows in ((op, np.arange(N)), (op.inner, op.inner.order)):
            out, sums = before[rows].copy(), np.empty((3, 3))
            labels, by = (np.ascontiguousarray(row[rows]), given), np.outer(weights, [1.0, 0.5, 2.0])
            mask = None if held is None else held[rows]
            form.step(Z[rows].copy(), out, labels, 0.9, 0.1, by, sums, mask, side=side, scale=D[rows])
            assert_allclose(out, (by[0] * G + by[1] * Z + by[2] * before)[rows], atol=1e-13)
            assert_allclose(
                sums, [np.abs(R).sum(0), np.abs(G / D[:, None]).sum(0), (R * R).sum(0)], rtol=1e-12
            )


@pytest.mark.parametrize("kind", KINDS)
def test_s_in_the_tree_s_order(kind):
    S = KINDS[kind]().symmetrized()
    order, V = S.inner.order, np.random.default_rng(0).normal(size=(N, 5))
    assert_allclose(S.inner @ V[order], (S @ V)[order], atol=1e-13)
    root = np.sqrt(S.inner.degrees)
    assert_allclose(S.inner @ root, root, rtol=1e-12)  # the eigenvector of 1


def test_a_matrix_has_no_order_of_its_own():
    S = bvdt.walks.symmetrized(np.eye(4))
    assert S.inner is S
    assert S.order is None


def test_copies_and_threads_give_the_same():
    op = walk(2)
    V = np.random.default_rng(0).random((N, 6))
    wanted = [op @ V, op.T @ V, op.mean_with_transpose(V)]
    again = pickle.loads(pickle.dumps(op))  # after its products: nothing compiled is in the copy
    for other in (again, *(walk(2, n_jobs=threads) for threads in (1, 2, 3))):
        assert_array_equal([other @ V, other.T @ V, other.mean_with_transpose(V)], wanted)


@pytest.mark.kernel
def test_links_both_ways_are_one_entry():
    op = walk()
    n = N
    dense = np.zeros((n, n))
    for i in range(n):
        columns, entries = op.near_field.row(i)
        dense[i, columns] = entries
    order = op.tree.order
    mean = op.near_field.in_order(order).mean(2)
    stored = np.zeros((n, n))
    rows = np.repeat(np.arange(n), np.diff(mean.first))
    assert len({*zip(rows.tolist(), mean.column.tolist(), strict=True)}) == len(rows)
    stored[rows, mean.column] = mean.unit * mean.weight
    assert_array_equal(stored, ((dense + dense.T) / 2)[np.ix_(order, order)])
    assert mean.weight.dtype == mean.column.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        mean.weight[0] = 1


@pytest.mark.kernel
@pytest.mark.parametrize("before", ["nothing", "a product"])
def test_the_lists_of_dense_points_stay_as_they_are(before):
    rng = np.random.default_rng(0)
    lifted = random_lifted("squared_euclidean", N, rng)
    others = [rng.choice(np.delete(np.arange(N), i), 4, replace=False) for i in range(N)]
    indices = np.stack(others).astype(np.int32)
    near = NearField(indices.copy(), None, lifted=lifted)
    op = ForestOperator((TransitionOperator(lifted, random_tree(N, rng), bandwidth=0.5),), near_field=near)
    divergences, weights, Q = near.divergences, near.whole_weights()[0], op.toarray()
    V = rng.random((N, 3))
    if before == "a product":
        assert_allclose(op @ V, Q @ V, atol=1e-13)
    assert_allclose(op.mean_with_transpose(V), (Q + Q.T) @ V / 2, atol=1e-13)
    assert_array_equal(near.indices, indices)
    assert_array_equal(near.divergences, divergences)
    assert_array_equal(near.whole_weights()[0], weights)
    assert_array_equal(op.toarray(), Q)
    again = pickle.loads(pickle.dumps(op))
    assert_array_equal(again.near_field.indices, indices)
    assert_array_equal(again.mean_with_transpose(V), op.mean_with_transpose(V))
    other = random_tree(N, rng)  # another order, for which links of its own are made
    turned = ForestOperator((TransitionOperator(lifted, other, bandwidth=0.5),), near_field=near)
    Q = turned.toarray()
    assert_allclose(turned.mean_with_transpose(V), (Q + Q.T) @ V / 2, atol=1e-13)
    assert_allclose(turned.T @ V, Q.T @ V, atol=1e-13)
