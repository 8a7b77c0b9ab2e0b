"""The walk on Dask against the local operator on the same tree, and what it takes and refuses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

pytest.importorskip("distributed", reason="Dask is in the extra dask")

import dask.array as da

import bvdt
import bvdt.dask as bd
import dask
from bvdt.dask.executor import DaskExecutor
from bvdt.operators import near_weights

N = 1500
OPTIONS = {"shard_points": 300, "random_state": 0}


def dense():
    rng = np.random.default_rng(1)
    return rng.normal(size=(N, 4)) + 6 * rng.integers(0, 3, (N, 1))


def counts():
    return sparse.csr_array(np.random.default_rng(1).poisson(0.15, (N, 120)).astype(float))


def dask_csr(X, step=400):
    parts = [dask.delayed(X[a : a + step]) for a in range(0, X.shape[0], step)]
    meta = sparse.csr_array((0, X.shape[1]))
    arrays = [
        da.from_delayed(part, (min(step, X.shape[0] - k * step), X.shape[1]), meta=meta)
        for k, part in enumerate(parts)
    ]
    return da.concatenate(arrays)


def given(kind):
    X = dense() if kind == "dense" else counts()
    divergence = "squared_euclidean" if kind == "dense" else "gid"
    return X, da.from_array(X, chunks=(400, 4)) if kind == "dense" else dask_csr(X), divergence


@pytest.mark.slow
@pytest.mark.parametrize("n_neighbors", [0, 5])
@pytest.mark.parametrize("kind", ["dense", "counts"])
def test_it_equals_the_local_operator(client, kind, n_neighbors):
    X, D, divergence = given(kind)
    op = bd.transition_matrix(D, divergence, n_neighbors=n_neighbors, client=client, **OPTIONS)
    assert op.n_shards > 3
    op.tree.validate()
    local = op.to_local()
    v = np.random.default_rng(0).random((N, 3))
    assert_allclose(op.lower_bound, local.lower_bound, rtol=1e-12)
    assert_allclose(op @ v, local @ v, atol=1e-12)
    assert_allclose(op.T @ v, local.T @ v, atol=1e-12)
    if not n_neighbors:
        again = bvdt.transition_matrix(X, divergence, tree=op.tree)
        assert_allclose(op.q, again.partition.q, rtol=1e-12)
    lazy = op @ da.from_array(v, chunks=(700, 3))
    assert isinstance(lazy, da.Array)
    assert_allclose(client.compute(lazy).result(), local @ v, atol=1e-12)
    labels = bd.propagate_labels(op, v, alpha=0.8, max_iter=5)
    assert_allclose(labels, bvdt.propagate_labels(local, v, alpha=0.8, max_iter=5), atol=1e-12)


@pytest.mark.slow
def test_the_number_of_workers_changes_no_byte(cluster):
    v = np.random.default_rng(0).random((N, 2))
    told = []
    for n_workers in (1, 2, 4):
        D = da.from_array(dense(), chunks=(400, 4))
        op = bd.transition_matrix(D, "squared_euclidean", n_neighbors=4, client=cluster(n_workers), **OPTIONS)
        told.append((op.tree.size, op.tree.order, op.q, op @ v, op.T @ v, np.float64(op.lower_bound)))
    for other in told[1:]:
        assert all(a.tobytes() == b.tobytes() for a, b in zip(told[0], other, strict=True))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bd.transition_matrix(da.zeros((9, 2))), ValueError, "needs a cluster: client="),
        (
            lambda: bd.transition_matrix(da.zeros((9, 2)), client=3),
            TypeError,
            "distributed.Client; got a int",
        ),
        (
            lambda: bd.transition_matrix(dense()[:9], client=3, memory_limit="1GiB"),
            ValueError,
            "give one of them",
        ),
        (
            lambda: bd.transition_matrix(dense(), memory_limit="much"),
            ValueError,
            "such as .6GiB.; got 'much'",
        ),
        (lambda: bd.transition_matrix(dense(), memory_limit=100), ValueError, "at least 16 MiB; got 100"),
        (
            lambda: bd.transition_matrix(unknown(), memory_limit="1GiB"),
            ValueError,
            r"parts of known size.*compute_chunk_sizes",
        ),
        (
            lambda: bd.transition_matrix(mixed(), "gid", memory_limit="1GiB"),
            ValueError,
            "all dense or all sparse",
        ),
        (
            lambda: bd.transition_matrix(da.zeros(9), memory_limit="1GiB"),
            ValueError,
            r"2 dimensions.*\(9,\)",
        ),
        (lambda: bd.LabelPropagation(method="x").fit(1, 2), ValueError, "method needs one of spread, walk"),
        (lambda: bd.LabelPropagation().fit(), ValueError, "requires y"),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def unknown():
    X = da.from_array(np.arange(20.0).reshape(10, 2), chunks=(5, 2))
    return X[X[:, 0] > 3]


def mixed():
    X = np.ones((6, 2))
    parts = [da.from_delayed(dask.delayed(sparse.csr_array(X)), X.shape, float), da.from_array(X)]
    return da.concatenate(parts)


@pytest.mark.slow
def test_a_worker_too_small_says_by_how_much(client):
    X = da.zeros((4_000_000, 100), chunks=(1_342_177, 100))
    said = r"a part of X needs 3 GiB on a worker; .* limit of 1 GiB, 2 GiB too little; X.rechunk"
    with pytest.raises(MemoryError, match=said):
        bd.transition_matrix(X, "squared_euclidean", client=client)
    with pytest.raises(MemoryError, match=r"a shard needs 2 GiB .* 1 GiB too little; fewer points"):
        DaskExecutor(client).reserve(2 * 2**30, "a shard", "fewer points")


def test_without_a_cluster_in_a_memory_limit(tmp_path):
    X = dense()
    D = da.from_array(X, chunks=(400, 4))
    op = bd.transition_matrix(D, "squared_euclidean", memory_limit="16MiB", folder=tmp_path, **OPTIONS)
    mapped = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", shape=X.shape)
    mapped[:] = X
    same = bd.transition_matrix(mapped, "squared_euclidean", memory_limit="16MiB", **OPTIONS)
    v = np.random.default_rng(0).random((N, 3))
    assert_allclose(op @ v, op.to_local() @ v, atol=1e-12)
    assert np.array_equal(op @ v, same @ v)


def test_labels_without_a_cluster_equal_the_local_estimator():
    X = dense()
    y = np.where(np.arange(N) % 40 == 0, (X[:, 0] > 3).astype(int) + (X[:, 0] > 9), -1)
    for mode in ("spread", "walk"):
        model = bd.LabelPropagation(
            "squared_euclidean", memory_limit="64MiB", method=mode, n_neighbors=6, **OPTIONS
        )
        model.fit(da.from_array(X, chunks=(400, 4)), y)
        local = bvdt.LabelPropagation("squared_euclidean", method=mode, blend=None)
        local.fit(None, y, operator=model.operator_.to_local())
        P = model.label_distributions_.compute(scheduler="synchronous")
        assert_allclose(P, local.label_distributions_, atol=1e-12)
        named = model.transduction_.compute(scheduler="synchronous")
        assert np.array_equal(named, local.transduction_)
        new = model.predict(X[:50]).compute(scheduler="synchronous")
        assert np.array_equal(new, named[:50])


@pytest.mark.parametrize("method", ["spread", "walk"])
@pytest.mark.parametrize("random", [True, False])
def test_a_dominant_class_is_balanced_as_in_memory(method, random):
    """Labels of a class that is nine tenths of the points, or of one of two alike that is labeled so."""
    rng = np.random.default_rng(3)
    true = (rng.random(N) < (0.1 if random else 0.5)).astype(int)
    X = rng.normal(size=(N, 3)) + 2.5 * true[:, None]
    chosen = rng.random(N) < (0.06 if random else np.where(true, 0.012, 0.11))
    y = np.where(chosen, true, -1)
    options = {"divergence": "squared_euclidean", "n_neighbors": 5, "random_state": 0, "method": method}
    model = bd.LabelPropagation(memory_limit="1GiB", shard_points=300, **options).fit(X, y)
    local = bvdt.LabelPropagation(**options, blend=None).fit(y=y, operator=model.operator_.to_local())
    assert_allclose(model.label_distributions_.compute(), local.label_distributions_, atol=1e-9)
    right = np.mean(local.transduction_ == true)
    assert right > max(true.mean(), 1 - true.mean()) - (0.0 if random else 0.05)


def test_labels_may_be_names():
    X = dense()[:300]
    y = np.full(300, "", dtype=object)
    y[::10] = np.where(X[::10, 0] > 3, "far", "n_neighbors")
    model = bd.LabelPropagation("squared_euclidean", memory_limit="64MiB", n_neighbors=4, random_state=0).fit(
        X, y
    )
    assert set(model.classes_) == {"far", "n_neighbors"}
    assert set(model.transduction_.compute(scheduler="synchronous")) == {"far", "n_neighbors"}
    with pytest.raises(ValueError, match="at least one label"):
        model.fit(None, np.full(300, ""), operator=model.operator_)
    with pytest.raises(ValueError, match="300 labels, one per point"):
        model.fit(None, y[:10], operator=model.operator_)
    few = np.where(np.arange(300) % 10, -1, np.arange(300) // 10 % 2)
    with pytest.raises(ValueError, match='y holds the text "-1": did you mean unlabeled'):
        model.fit(None, few.astype(str), operator=model.operator_)
    with pytest.raises(ValueError, match=r"y holds 18446744073709551615, .* y\.astype"):
        model.fit(None, few.astype(np.uint64), operator=model.operator_)
    with pytest.warns(UserWarning, match="'Far' and 'far ' are different classes"):
        model.fit(
            None,
            np.where(y == "n_neighbors", "Far", np.where(y == "far", "far ", "")),
            operator=model.operator_,
        )


def test_a_point_that_no_walk_reaches_labels_no_other():
    X = np.concatenate([dense()[:600], [[1e5, 0, 0, 0]]])
    y = np.where(np.arange(601) % 40 == 0, (X[:, 0] > 3).astype(int) + (X[:, 0] > 9), -1)
    model = bd.LabelPropagation("squared_euclidean", n_neighbors=0, memory_limit="64MiB", **OPTIONS).fit(X, y)
    op = model.operator_
    assert (op.T @ np.ones(601)).min() < 1e-12
    local = bvdt.LabelPropagation("squared_euclidean", blend=None).fit(None, y, operator=op.to_local())
    P = model.label_distributions_.compute(scheduler="synchronous")
    assert_allclose(P, local.label_distributions_, atol=1e-9)


def test_new_points_find_their_neighbors_in_every_shard():
    X = dense()
    y = np.where(
        np.arange(N) % 10 == 0, (4 * X[:, 1]).astype(int) % 3, -1
    )  # labels that change within shards
    model = bd.LabelPropagation("squared_euclidean", memory_limit="64MiB", n_neighbors=4, **OPTIONS).fit(X, y)
    assert model.operator_.n_shards > 3
    P = model.label_distributions_.compute(scheduler="synchronous")
    rng = np.random.default_rng(5)
    new = rng.normal(size=(200, 4)) + 6 * rng.integers(0, 3, (200, 1))
    d = ((new[:, None] - X) ** 2).sum(axis=2)
    nearest = np.argsort(d, axis=1)[:, :15]
    weight = near_weights(np.take_along_axis(d, nearest, axis=1))
    expected = np.einsum("ij,ijk->ik", weight, P[nearest])
    found = model.predict_proba(da.from_array(new, chunks=(70, 4))).compute(scheduler="synchronous")
    assert np.mean(np.abs(found - expected).max(axis=1) < 1e-9) > 0.98
    named = model.predict(sparse.csr_array(new)).compute(scheduler="synchronous")
    assert np.array_equal(named, model.classes_[found.argmax(axis=1)])
