"""Workers that are killed, taken away and added in the middle: the same bytes, or an error in time."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is in the extra dask")

import dask.array as da
from distributed import Client, LocalCluster

import bvdt.dask as bd
from bvdt.dask.executor import DaskExecutor

pytestmark = pytest.mark.slow
N = 3000
STAGES = ["counts", "places", "trees", "near field", "product", "propagation"]


def points():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 4)) + 6 * rng.integers(0, 3, (N, 1))
    return X, np.where(np.arange(N) % 40 == 0, (X[:, 0] > 3).astype(int) + (X[:, 0] > 9), -1)


def fitted(client, progress=False):
    X, y = points()
    model = bd.LabelPropagation(
        "squared_euclidean",
        n_neighbors=3,
        alpha=0.5,
        shard_points=1000,
        random_state=0,
        client=client,
        progress=progress,
    )
    model.fit(da.from_array(X, chunks=(500, 4)), y)
    return client.compute(model.label_distributions_).result(timeout=120)


class At:
    """Does something once, when a stage begins."""

    def __init__(self, stage, action):
        self.stage, self.action, self.done = stage, action, False

    def __call__(self, title, done, total):
        if title == self.stage and not self.done:
            self.done = True
            self.action()


@pytest.fixture(scope="module")
def undisturbed(client):
    return fitted(client)


def kill(client, count):
    for pid in list(client.run(os.getpid).values())[:count]:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("stage", STAGES)
def test_a_killed_worker_changes_no_byte(client, undisturbed, stage):
    client.wait_for_workers(2, timeout=60)  # the last test's may still be starting again
    at = At(stage, lambda: kill(client, 1))
    assert np.array_equal(fitted(client, at), undisturbed)
    assert at.done


@pytest.mark.parametrize("stage", ["product", "propagation"])
def test_all_workers_killed_at_once_change_no_byte(client, undisturbed, stage):
    client.wait_for_workers(2, timeout=60)
    at = At(stage, lambda: kill(client, 2))
    assert np.array_equal(fitted(client, at), undisturbed)
    assert at.done


def test_results_lost_before_they_are_fetched_are_made_again(client):
    client.wait_for_workers(2, timeout=60)
    executor = DaskExecutor(client)
    futures = executor.map("trees", abs, [-1, -2, -3])
    executor.gather(futures)
    kill(client, 2)
    assert executor.gather(futures) == [1, 2, 3]


def test_scaling_down_and_up_changes_no_byte(undisturbed):
    with cluster(2) as made, Client(made, set_as_default=False) as client:
        down, up = At("trees", lambda: made.scale(1)), At("product", lambda: made.scale(3))

        def progress(*told):
            down(*told)
            up(*told)

        assert np.array_equal(fitted(client, progress), undisturbed)
        assert down.done
        assert up.done


def cluster(n_workers, **options):
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit="1GiB", **options
    )


def test_no_worker_left_is_an_error_in_time():
    with cluster(1) as made, Client(made, set_as_default=False) as client:
        executor = DaskExecutor(client, patience=3.0)
        made.scale(0)
        begin = time.monotonic()
        with pytest.raises(
            RuntimeError, match=r"needs a worker to go on with trees; .* none that runs for 3 s"
        ):
            executor.gather(executor.map("trees", abs, [-1]))
        assert time.monotonic() - begin < 60


def test_tasks_that_no_worker_takes_are_an_error_in_time():
    with cluster(1) as made, Client(made, set_as_default=False) as client:
        waits = client.submit(abs, -1, key="bvdt-trees-0-0", workers=["tcp://127.0.0.1:1"])
        with pytest.raises(RuntimeError, match="1 of trees have waited for 3 s while no worker had any"):
            DaskExecutor(client, patience=3.0).gather([waits])


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_always_dies_is_an_error():
    once = {"scheduler_kwargs": {"allowed_failures": 0}}  # no waiting for a worker's return
    with cluster(1, **once) as made, Client(made, set_as_default=False) as client:
        executor = DaskExecutor(client, retries=0)
        with pytest.raises(RuntimeError, match="workers that live through trees"):
            executor.gather(executor.map("trees", die, [0]))
