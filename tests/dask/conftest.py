"""Real clusters of separate processes, one per number of workers, made when first asked for."""

from __future__ import annotations

from contextlib import ExitStack

import pytest


def pytest_collection_modifyitems(items):
    """Sockets that Dask itself leaves open while it starts or stops are not ours to close."""
    for item in items:
        if "/dask/" in item.path.as_posix():
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="session", autouse=True)
def slow_starts_are_no_losses():
    """Dask's own clusters give a worker up for good if it is not back within 15 s; busy cores need longer."""
    dask = pytest.importorskip("dask", reason="Dask is in the extra dask")
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "5 minutes"}):
        yield


@pytest.fixture(scope="session")
def cluster():
    """cluster(n) is a client of n workers of one thread each, the same one for all tests."""
    from distributed import Client, LocalCluster

    clients = {}
    with ExitStack() as stack:

        def get(n_workers: int):
            if n_workers not in clients:
                made = LocalCluster(
                    n_workers=n_workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=":0",
                    memory_limit="1GiB",
                )
                clients[n_workers] = stack.enter_context(
                    Client(stack.enter_context(made), set_as_default=False)
                )
            return clients[n_workers]

        yield get


@pytest.fixture(scope="session")
def client(cluster):
    return cluster(2)
