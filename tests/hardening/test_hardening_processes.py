"""Threads, forks and limits: no call hangs, nor starts or asks for more than the machine has."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import bvdt
from bvdt._support import limits, memory, running
from bvdt._support.running import available_cores, n_threads

LIMIT = 60  # seconds for what takes one


def run(code, *, env=None, limit=LIMIT):
    """Exit code and output of Python code in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=limit,
        env=os.environ | (env or {}),
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


# -- 9: numbers of threads -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_more_threads_than_cores(monkeypatch):
    monkeypatch.setattr(running, "SERIAL", 1000)
    assert n_threads(2, work=999) == 1
    assert n_threads(200_000, work=1000) == available_cores()
    assert n_threads(200_000) == available_cores() <= (os.cpu_count() or 1)
    code, out, err = run(
        """
        import numpy as np, bvdt
        X = np.random.default_rng(0).normal(size=(3000, 4))
        op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=5, n_jobs=200_000)
        print(op.matmat(np.ones((3000, 64))).std() < 1e-9)
        """
    )
    assert (code, out.strip()) == (0, "True"), err


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "two", float("nan"), float("inf")])
def test_nonsense_is_no_number_of_threads(n_jobs):
    with pytest.raises((ValueError, TypeError), match="n_jobs needs"):
        n_threads(n_jobs)


@pytest.mark.slow
def test_the_environment_counts_where_no_number_is_given():
    program = "from bvdt._support.running import n_threads; print(n_threads(None), n_threads(2))"
    assert run(program, env={"OMP_NUM_THREADS": "1"})[1].split()[0] == "1"
    assert run(program, env={"OMP_NUM_THREADS": "1,2"})[1].split()[0] == "1"
    assert run(program, env={"OMP_NUM_THREADS": "many"})[1].split()[0] == str(available_cores())


# -- 10: forks -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_forked_children_multiply_and_fit(n_jobs):
    code, out, err = run(
        f"""
        import multiprocessing, warnings
        import numpy as np, bvdt
        warnings.simplefilter("ignore")
        X = np.random.default_rng(0).normal(size=(5000, 5))
        op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=5, n_jobs={n_jobs}, random_state=0)
        V = np.random.default_rng(1).random((5000, 40))
        expected = op @ V  # on all threads

        def child(seed):
            again = bvdt.transition_matrix(X[:2500], "squared_euclidean", n_jobs={n_jobs}, random_state=seed)
            return bool((op @ V == expected).all() and (op.T @ V).shape == V.shape and again.n_blocks == 4998)

        with multiprocessing.get_context("fork").Pool(4) as pool:
            print(all(pool.map(child, range(20), chunksize=1)))
        print((op @ V == expected).all())
        """
    )
    assert (code, out.split()) == (0, ["True", "True"]), err


# -- 13: limits of memory ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_address_space_limit_counts():
    code, out, err = run(
        """
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
        from bvdt._support import memory
        print(memory.available_bytes() / 2**30)
        """,
        env={"OPENBLAS_NUM_THREADS": "1"},
    )
    assert code == 0, err
    assert 0 < float(out) < 4


@pytest.mark.parametrize("version", [1, 2])
def test_control_groups_count(version, tmp_path, monkeypatch):
    groups, root = tmp_path / "cgroup", tmp_path / "fs"
    inner = (root if version == 2 else root / "memory") / "a" / "b"
    inner.mkdir(parents=True)
    groups.write_text("0::/a/b\n" if version == 2 else "7:cpu,cpuacct:/a/b\n5:memory:/a/b\n")
    limit, used = (
        ("memory.max", "memory.current")
        if version == 2
        else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    )
    (inner / limit).write_text("max\n" if version == 2 else f"{2**63 - 4096}\n")
    (inner / used).write_text("1000\n")
    (inner.parent / limit).write_text("5000000\n")
    (inner.parent / used).write_text("3000000\n")
    (inner.parent / "memory.stat").write_text("anon 5\ninactive_file 500000\n")
    cpu = inner if version == 2 else root / "cpu" / "a" / "b"
    cpu.mkdir(parents=True, exist_ok=True)
    if version == 2:
        (cpu / "cpu.max").write_text("150000 100000\n")
    else:
        (cpu / "cpu.cfs_quota_us").write_text("150000\n")
        (cpu / "cpu.cfs_period_us").write_text("100000\n")
    monkeypatch.setattr(limits, "ROOT", root)
    monkeypatch.setattr(limits, "GROUPS", groups)
    limits._folders.cache_clear(), limits.cpu_quota.cache_clear()
    try:
        assert limits.memory_left() == 2_500_000
        assert memory.available_bytes() == 2_500_000
        assert limits.cpu_quota() == 1.5
        with pytest.raises(MemoryError, match=r"needs 0\.0 GiB; 0\.0 GiB are available"):
            memory.require(3e6, "this")
    finally:
        limits._folders.cache_clear(), limits.cpu_quota.cache_clear()


def test_a_dense_matrix_beyond_the_limit_is_refused(monkeypatch):
    op = bvdt.transition_matrix(np.random.default_rng(0).normal(size=(200, 2)), "squared_euclidean")
    monkeypatch.setattr(memory, "available_bytes", lambda: 1e5)
    with pytest.raises(MemoryError, match="GiB"):
        op.toarray()
