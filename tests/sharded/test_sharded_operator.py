"""The walk over shards against the local operator on the same tree."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import bvdt
from bvdt.lifting import MANY
from bvdt.sharded import LocalExecutor, build_operator

DENSE, COUNTS, TWINS = "dense", "counts", "twins"


def points(kind: str):
    rng = np.random.default_rng(1)
    if kind == COUNTS:
        return sparse.csr_array(rng.poisson(0.15, (700, 120)).astype(float)), "gid"
    X = rng.normal(size=(900, 4)) + 6 * rng.integers(0, 3, (900, 1))
    return (X if kind == DENSE else np.repeat(X[:200], 3, axis=0)), "squared_euclidean"


def slabs_of(X, n_slabs=4):
    cuts = np.linspace(0, X.shape[0], n_slabs + 1).astype(int)
    return [X[a:b] for a, b in pairwise(cuts)], np.diff(cuts).tolist()


def built(kind: str, **options):
    X, divergence = points(kind)
    options = {"shard_points": 150, "random_state": 0, **options}
    return X, divergence, build_operator(LocalExecutor(), *slabs_of(X), divergence, **options)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", [DENSE, COUNTS, TWINS])
@pytest.mark.parametrize("bandwidth", ["auto", "learn", 0.7])
def test_it_equals_the_local_operator_on_its_tree(kind, bandwidth):
    X, divergence, op = built(kind, bandwidth=bandwidth)
    assert op.n_shards > 3
    local = bvdt.transition_matrix(X, divergence, bandwidth=bandwidth, tree=op.tree.validate())
    assert_allclose(op.bandwidth, local.bandwidth, rtol=1e-12)
    assert_allclose(op.q, local.partition.q, rtol=1e-12)
    assert_allclose(op.lower_bound, local.lower_bound, rtol=1e-12)
    v = np.random.default_rng(0).normal(size=(X.shape[0], 3))
    assert_allclose(op @ v, local @ v, atol=1e-12)
    assert_allclose(op.T @ v, local.T @ v, atol=1e-12)
    assert_allclose(op.mean_with_transpose(v), local.mean_with_transpose(v), atol=1e-12)
    assert_allclose(op @ v[:, 0], local @ v[:, 0], atol=1e-12)
    labels = bvdt.propagate_labels(op, v, alpha=0.9, max_iter=20)
    assert_allclose(labels, bvdt.propagate_labels(local, v, alpha=0.9, max_iter=20), atol=1e-12)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", [DENSE, COUNTS, TWINS])
def test_the_near_field_is_that_of_the_local_operator(kind):
    X, _, op = built(kind, n_neighbors=6)
    local = op.to_local()
    assert_allclose(op.lower_bound, local.lower_bound, rtol=1e-12)
    v = np.random.default_rng(0).normal(size=(X.shape[0], 3))
    for side in ("forward", "transpose", "mean"):
        assert_allclose(op.apply(v, side), local.apply(v, side), atol=1e-12)


def test_slabs_change_nothing():
    X, divergence = points(DENSE)
    ops = [
        build_operator(LocalExecutor(), *slabs_of(X, n), divergence, shard_points=150, random_state=0)
        for n in (1, 7)
    ]
    assert np.array_equal(ops[0].tree.size, ops[1].tree.size)
    assert np.array_equal(ops[0].tree.order, ops[1].tree.order)
    assert np.array_equal(ops[0].q, ops[1].q)


def test_the_seed_decides():
    first, again, other = (built(DENSE, random_state=seed)[2] for seed in (0, 0, 1))
    assert np.array_equal(first.q, again.q)
    assert not np.array_equal(first.tree.order, other.tree.order)


@pytest.mark.parametrize("limit", [1e4, 1e5, 1e8])
def test_files_change_nothing(limit, tmp_path):
    X, divergence = points(DENSE)
    v = np.random.default_rng(0).normal(size=(len(X), 2))
    options = {"shard_points": 150, "random_state": 0, "n_neighbors": 5}
    ops = [
        build_operator(executor, *slabs_of(X), divergence, **options)
        for executor in (LocalExecutor(), LocalExecutor(kept_limit=limit, folder=tmp_path))
    ]
    assert any(tmp_path.iterdir()) == (limit < 1e8)
    assert np.array_equal(ops[0] @ v, ops[1] @ v)
    assert np.array_equal(ops[0].T @ v, ops[1].T @ v)
    del ops
    assert not any(tmp_path.iterdir()), "files go with the operator"


def test_shards_at_once_change_nothing(tmp_path):
    X, divergence = points(DENSE)
    executor = LocalExecutor(2**30, kept_limit=1e5, folder=tmp_path, n_jobs=2)
    options = {"shard_points": 150, "random_state": 0, "n_neighbors": 5}
    op, alone = (
        build_operator(each, *slabs_of(X), divergence, **options) for each in (executor, LocalExecutor())
    )
    assert any(tmp_path.iterdir())
    v = np.random.default_rng(0).normal(size=(len(X), 2))
    assert np.array_equal(op @ v, alone @ v)
    assert np.array_equal(op.tree.order, alone.tree.order)


def test_a_limit_too_small_for_a_shard_says_what_is_needed():
    X, divergence = points(DENSE)
    with pytest.raises(MemoryError, match=r"a shard needs a memory_limit of .* GiB; it is"):
        build_operator(LocalExecutor(1e4), *slabs_of(X), divergence)


def test_equal_points_are_dealt_out():
    op = build_operator(
        LocalExecutor(), *slabs_of(np.ones((60, 2))), "squared_euclidean", shard_points=10, random_state=0
    )
    assert op.n_shards >= 5
    assert max(op.shard_sizes) <= 13
    assert_allclose(op @ np.ones(60), 1.0)
    assert_allclose(op @ np.eye(60), (1 - np.eye(60)) / 59, atol=1e-12)


def test_single_points_and_empty_slabs():
    X = np.concatenate([np.random.default_rng(0).normal(size=(20, 2)), [[1e3, 0.0]], [[0.0, 1e4]]])
    slabs = [X[:0], X[:7], X[7:7], X[7:], X[:0]]
    op = build_operator(
        LocalExecutor(), slabs, [len(s) for s in slabs], "squared_euclidean", shard_points=1, random_state=0
    )
    assert 1 in op.shard_sizes
    local = bvdt.transition_matrix(X, "squared_euclidean", tree=op.tree.validate())
    assert_allclose(op @ np.eye(22), local.toarray(), atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.__setitem__((650, 2), -1.0), r"gid needs values ≥ 0.*X\[650, 2\] = -1"),
        (lambda X: X.__setitem__((3, 1), np.nan), r"X\[3, 1\] = nan"),
    ],
)
def test_errors_name_rows_of_the_whole_data(change, message):
    X = np.random.default_rng(0).random((900, 4))
    change(X)
    with pytest.raises(ValueError, match=message.replace("values ≥ 0", ".*")):
        build_operator(LocalExecutor(), *slabs_of(X), "gid")


def test_slabs_are_of_one_kind():
    X = np.random.default_rng(0).random((20, 4))
    with pytest.raises(ValueError, match="all dense or all sparse; the first is dense, part 1 is sparse"):
        build_operator(LocalExecutor(), [X, sparse.csr_array(X)], [20, 20], "gid")
    with pytest.raises(ValueError, match="4 features in every part; part 1 has 3"):
        build_operator(LocalExecutor(), [X, X[:, :3]], [20, 20], "gid")


@pytest.mark.parametrize("divergence", ["squared_euclidean", "mahalanobis", "kl", "gid", "itakura_saito"])
def test_every_divergence_is_lifted_as_on_one_machine(divergence):
    X = np.random.default_rng(0).gamma(1.0, size=(300, 5))
    X = X / X.sum(axis=1, keepdims=True) if divergence == "kl" else X
    X[::7, 0] = 0.0 if divergence == "gid" else X[::7, 0]
    op = build_operator(LocalExecutor(), *slabs_of(X), divergence, shard_points=60, random_state=0)
    local = bvdt.transition_matrix(X, divergence, tree=op.tree)
    assert_allclose(op.q, local.partition.q, rtol=1e-9)
    assert_allclose(op.lower_bound, local.lower_bound, rtol=1e-11)


def test_columns_that_no_point_uses_are_left_out_as_on_one_machine():
    rng = np.random.default_rng(0)
    words = np.sort(rng.choice(MANY + 5, 40, replace=False))
    few = sparse.csr_array(rng.poisson(0.5, (300, 40)).astype(float))
    X = sparse.csr_array((few.data, words[few.indices], few.indptr), shape=(300, MANY + 5))
    op = build_operator(LocalExecutor(), *slabs_of(X), "gid", shard_points=60, random_state=0)
    columns = op.shards.lifting.columns
    assert columns is not None
    assert np.array_equal(columns.used, words)
    local = bvdt.transition_matrix(X, "gid", tree=op.tree)
    assert_allclose(op.q, local.partition.q, rtol=1e-9)
    assert_allclose(op.lower_bound, local.lower_bound, rtol=1e-12)


def test_points_of_which_only_rounding_is_left_are_refused():
    X = 1e9 + np.random.default_rng(0).random((300, 3))
    with pytest.raises(ValueError, match="gid needs points whose differences exceed rounding"):
        build_operator(LocalExecutor(), *slabs_of(X), "gid")
