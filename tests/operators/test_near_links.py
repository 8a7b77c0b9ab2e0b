"""Near and far field in one product, in the tree's order, against dense products in the points' own."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bvdt
from bvdt import ForestOperator, TransitionOperator, _core
from bvdt.operators import in_tree_order, links, ordered_walk
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


def walk(n_trees=1, near=4, lonely=(), seed=0, **options):
    """A walk over random trees with random lists: every place of every array matters."""
    rng = np.random.default_rng(seed)
    lifted = random_lifted("gid", N, rng)
    members = [TransitionOperator(lifted, random_tree(N, rng), bandwidth=0.5) for _ in range(n_trees)]
    field = lists(rng, near, lonely) if near else None
    return ForestOperator(members, near=field, **options)


KINDS = {
    "one tree": lambda: walk(),
    "one tree, refined": lambda: walk().refine(800),
    "three trees": lambda: walk(3, weights=[1, 2, 3]),
    "three trees, refined": lambda: walk(3).refine(2400),
    "three trees, no lists": lambda: walk(3, near=0),
    "lonely points": lambda: walk(2, lonely=[0, 17, 299]),
    "nobody has a neighbour": lambda: walk(lonely=range(N)),
}


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 2])
def test_products_are_the_dense_matrix_s(kind, threads, monkeypatch):
    monkeypatch.setattr(links, "SERIAL", 0)
    op, rng = KINDS[kind](), np.random.default_rng(1)
    op.n_jobs = threads
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
@pytest.mark.parametrize("kind", ["one tree", "three trees", "lonely points", "three trees, no lists"])
@pytest.mark.parametrize("direction", ["forward", "transpose", "both"])
def test_in_the_tree_s_order_with_a_diagonal(kind, direction):
    op, rng = KINDS[kind](), np.random.default_rng(1)
    ordered = ordered_walk(op)
    if direction == "both" and not ordered.even:
        pytest.skip("is two products")
    order, Q = ordered.order, op.toarray()
    M = {"forward": Q, "transpose": Q.T, "both": (Q + Q.T) / 2}[direction][np.ix_(order, order)]
    scale = rng.uniform(0.5, 2, N)
    for V in (rng.normal(size=N), rng.normal(size=(N, 12))):
        assert_allclose(ordered.product(V, direction), M @ V, atol=1e-13)
        DMD = scale[:, None] * M * scale
        dots = np.empty(1 if V.ndim == 1 else 12)
        got = ordered.product(V, direction, factor=-0.3, own=2.0, scale=scale, dots=dots)
        assert_allclose(dots, np.atleast_1d((V * got).sum(axis=0)), rtol=1e-12)
        assert_allclose(got, 2 * V - 0.3 * (DMD @ V), atol=1e-13)


def test_s_in_the_tree_s_order_and_shifted():
    op = walk()
    S = op.symmetrized()
    ordered, order = in_tree_order(S)
    assert ordered is not S
    V = np.random.default_rng(0).normal(size=(N, 5))
    assert_allclose(ordered @ V[order], (S @ V)[order], atol=1e-13)
    shifted, dots = ordered.shifted(V[order], 0.9)
    assert_allclose(shifted, (V - 0.9 * (S @ V))[order], atol=1e-13)
    assert_allclose(dots, (V * (V - 0.9 * (S @ V))).sum(axis=0), rtol=1e-12)
    assert_allclose(S.shifted(V, 0.9)[0], V - 0.9 * (S @ V), atol=1e-13)
    root = np.sqrt(ordered.degrees)
    assert_allclose(ordered @ root, root, rtol=1e-12)  # the eigenvector of 1


@pytest.mark.parametrize("kind", ["refined", "lonely", "dense"])
def test_what_is_not_one_product_stays_as_it_is(kind):
    op = {"refined": lambda: walk().refine(800), "lonely": lambda: walk(lonely=[3])}.get(kind, np.eye)
    op = np.eye(4) if kind == "dense" else op()
    S = bvdt.walks.symmetrized(op)
    same, order = in_tree_order(S)
    assert same is S
    assert_array_equal(order, np.arange(len(order)))


def test_copies_and_threads_give_the_same(monkeypatch):
    monkeypatch.setattr(links, "SERIAL", 0)
    op = walk(2)
    V = np.random.default_rng(0).random((N, 6))
    wanted = [op @ V, op.T @ V, op.mean_with_transpose(V)]
    again = pickle.loads(pickle.dumps(op))  # after its products: nothing compiled is in the copy
    for threads in (1, 2, 3):
        again.n_jobs = op.n_jobs = threads
        assert_array_equal([again @ V, again.T @ V, again.mean_with_transpose(V)], wanted)


@pytest.mark.kernel
def test_links_both_ways_are_one_entry():
    op = walk()
    field = links.Links(op.near, op.tree.order, None)
    n = N
    dense = np.zeros((n, n))
    for i in range(n):
        columns, entries = field.row(i)
        dense[i, columns] = entries
    mean, order = field.mean, op.tree.order
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
    op = ForestOperator((TransitionOperator(lifted, random_tree(N, rng), bandwidth=0.5),), near=near)
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
    assert_array_equal(again.near.indices, indices)
    assert_array_equal(again.mean_with_transpose(V), op.mean_with_transpose(V))
    other = random_tree(N, rng)  # another order, for which links of its own are made
    turned = ForestOperator((TransitionOperator(lifted, other, bandwidth=0.5),), near=near)
    Q = turned.toarray()
    assert_allclose(turned.mean_with_transpose(V), (Q + Q.T) @ V / 2, atol=1e-13)
    assert_allclose(turned.T @ V, Q.T @ V, atol=1e-13)


def test_one_mean_serves_all_walks_in_its_order():
    op = bvdt.transition_matrix(np.random.default_rng(0).normal(size=(N, 3)), "squared_euclidean", near=5)
    V = np.random.default_rng(1).random((N, 2))
    op.mean_with_transpose(V)
    more = op.add_trees(1)
    Q = more.toarray()
    assert_allclose(more.mean_with_transpose(V), (Q + Q.T) @ V / 2, atol=1e-13)
    assert more._links.mean is op._links.mean


@pytest.mark.kernel
def test_heads_of_rows_are_there_before_and_after_the_weights():
    listed = np.array([[1, 2], [0, -1], [1, 3], [2, 0]], np.int32)
    making = _core.MeanLinks(listed, 0.5, np.arange(4, dtype=np.int32), 1)
    making.weigh(0, np.ones((4, 2), np.int32))
    before, after, told = (np.empty((3, 2), np.int32) for _ in range(3))
    making.heads(1, before)
    links_ = making.finished(1)
    links_.heads(1, after)
    making.heads(1, told)  # which it leaves to the links
    assert_array_equal(before[1:], listed[2:])
    assert_array_equal(after, before)
    assert_array_equal(told, before)
    for ask in (lambda: making.finished(1), lambda: making.weigh(0, listed)):
        with pytest.raises(ValueError, match="MeanLinks needs to be unfinished"):
            ask()
