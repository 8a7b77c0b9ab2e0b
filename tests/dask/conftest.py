"""Real clusters of separate processes, one per number of workers, made when first asked for."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

pytest.importorskip("distributed", reason="Dask is in the extra dask")


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
                    dashboard_address=None,
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
