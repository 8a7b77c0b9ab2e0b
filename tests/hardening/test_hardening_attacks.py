"""Forks, Ctrl-C and SIGKILL at random times: nothing hangs, nothing is lost.

``BVDT_ATTACKS=100`` makes it a hundred of each; docs/reliability.md names them.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest

ATTACKS = int(os.environ.get("BVDT_ATTACKS", "10"))
LIMIT = 60 + 3 * ATTACKS  # seconds for what takes a few
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="neither fork nor these signals here"),
]


def start(code, *arguments):
    """A Python process of that code, its output read line by line; on one thread its time is its work."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )


def finished(code, *arguments):
    """What the code printed, word by word, after it ended well."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


# -- forks ---------------------------------------------------------------------------------------------------


def test_forked_children_after_use():
    out = finished(
        """
        import multiprocessing, sys, warnings
        import numpy as np, bvdt
        warnings.simplefilter("ignore")
        X = np.random.default_rng(0).normal(size=(3000, 5))
        op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=5, n_jobs=2, random_state=0)
        V = np.random.default_rng(1).random((3000, 64))
        expected = op @ V

        def child(seed):
            again = bvdt.transition_matrix(X[:600], "squared_euclidean", n_jobs=2, random_state=seed)
            return int((op @ V == expected).all() and (op.T @ V).shape == V.shape and again.n_blocks == 1198)

        context = multiprocessing.get_context("fork")
        with context.Pool(4, maxtasksperchild=1) as pool:  # a child each
            print(sum(pool.map(child, range(int(sys.argv[1])), chunksize=1)))
        print((op @ V == expected).all())
        """,
        ATTACKS,
    )
    assert out == [str(ATTACKS), "True"]


# -- Ctrl-C --------------------------------------------------------------------------------------------------

LONG_CALLS = {
    "quality": "op.quality(n)",
    "refine": "op.refine(100 * n)",
    "refine sparse": "thin_op.refine(20 * n)",
    "toarray": "op.toarray()",
    "exact": 'bvdt.exact_transition_matrix(X, "squared_euclidean")',
    "extend": "op.extend(np.random.default_rng(1).normal(size=(20 * n, 5)))",
    "build": 'bvdt.transition_matrix(np.repeat(X, 40, axis=0), "cosine", n_neighbors=30, n_trees=4)',
    "near sparse": 'bvdt.transition_matrix(thin, "gid", n_neighbors=30)',
    "anchor": 'bvdt.transition_matrix(np.repeat(X, 8, axis=0), "squared_euclidean", tree="anchor")',
    "fit": 'bvdt.LabelPropagation("gid", blend="linear", random_state=0).fit(thin, y)',
}
INTERRUPTED = """
    import signal, sys, time
    import numpy as np, bvdt
    from scipy import sparse

    def data(n):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 5))
        counts, places = rng.integers(1, 4, 40 * n).astype(float), rng.integers(0, 4000, 40 * n)
        thin = sparse.csr_array((counts, places, np.arange(0, 40 * n + 1, 40)), shape=(n, 4000))
        thin.sum_duplicates()
        y = np.where(np.arange(n) % 20 == 0, np.arange(n) % 3, -1)
        op = bvdt.transition_matrix(X, "squared_euclidean", random_state=0)
        op.row_values()
        thin_op = bvdt.transition_matrix(thin, "gid", random_state=0) if "thin_op" in CALL else None
        return {"np": np, "bvdt": bvdt, "n": n, "X": X, "thin": thin, "y": y, "op": op, "thin_op": thin_op}

    eval(CALL, data(300))  # what is imported late: Python itself loses an interrupt of an import now and then
    large = data(20_000)
    op = large["op"]
    one = np.ones(20_000)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    for _ in range(int(sys.argv[1])):
        print("ready", flush=True)
        try:
            while True:
                eval(CALL, large)
        except KeyboardInterrupt:
            used = time.process_time()
            assert np.abs(op @ one - 1).max() < 1e-9  # what was there is as it was
            print(used, flush=True)
    """


def processor_time(pid):
    """Seconds that the process has used."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs Linux's figures of a process")
@pytest.mark.parametrize("call", LONG_CALLS)
def test_ctrl_c_is_answered_within_a_second(call):
    """Of processor time, so that a busy machine counts for nothing."""
    times = max(1, ATTACKS // len(LONG_CALLS))
    rng = random.Random()
    with start(f"CALL = {LONG_CALLS[call]!r}\n" + textwrap.dedent(INTERRUPTED), times) as process:
        try:
            for _ in range(times):
                assert process.stdout.readline() == "ready\n"
                began, wait = processor_time(process.pid), rng.uniform(0.0, 2.0)
                given_up = time.monotonic() + LIMIT
                while processor_time(process.pid) - began < wait and time.monotonic() < given_up:
                    time.sleep(0.02)
                sent = processor_time(process.pid)
                process.send_signal(signal.SIGINT)
                line = process.stdout.readline()
                assert line, f"{call} ended by SIGINT after {wait:.2f} s"
                assert float(line) - sent < 1.0, f"{call} after {wait:.2f} s"
        finally:
            process.kill()


# -- SIGKILL while writing -----------------------------------------------------------------------------------

KILLED = """
    import os, random, signal, sys, time
    from pathlib import Path
    import numpy as np, bvdt
    from bvdt._support import atomic
    from bvdt.documents.files.write import write_table

    folder, times = Path(sys.argv[1]), int(sys.argv[2])
    X = np.random.default_rng(0).normal(size=(2000, 40))
    op = bvdt.transition_matrix(X, "squared_euclidean", random_state=0, n_jobs=1)
    table = {"id": [str(i) for i in range(20_000)], "label": ["a"] * 20_000}
    model, csv = folder / "m.bvdt", folder / "t.csv"
    op.save(model)
    write_table(csv, table)
    killed = left = 0
    for _ in range(times):
        child = os.fork()
        if child == 0:
            while True:
                op.save(model)
                write_table(csv, table)
        time.sleep(random.uniform(0.0, 0.3))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        assert (bvdt.load(model).row(3) == op.row(3)).all()
        assert len(csv.read_text().splitlines()) == 20_001
        left += len(list(folder.glob(".*.tmp")))
    time.sleep(atomic._YOUNG + 0.1)
    op.save(model)
    write_table(csv, table)
    print(killed, left, len(list(folder.iterdir())))
    """


def test_sigkill_while_writing_loses_nothing(tmp_path):
    killed, left, files = map(int, finished(KILLED, tmp_path, ATTACKS))
    assert killed == ATTACKS
    assert left > 0  # some were killed in the middle
    assert files == 2  # and the next run removed what they left
