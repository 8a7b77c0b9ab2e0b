"""Python may end while daemon threads compute: the process ends with code 0 and without a word."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

PROGRAM = """
import sys, threading, time
import numpy as np, bvdt
X = np.random.default_rng(0).normal(size=(6000, 20))
started = threading.Barrier(4)

def work():
    started.wait()
    while True:
        op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=5, random_state=0)
        op @ X
        bvdt.NearestNeighbors(5).fit(X).kneighbors(X[:100])

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
started.wait()
time.sleep(float(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.02 * step for step in range(12)])
def test_the_end_of_python_while_daemon_threads_compute(seconds):
    command = [sys.executable, "-c", PROGRAM, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_labeling_session_ends_well_while_its_map_is_made(tmp_path):
    """A daemon thread inside a kernel when Python ended aborted eight of twenty sessions."""
    words = np.random.default_rng(0).integers(0, 2_000, (5_000, 8))
    rows = ["text", *(" ".join(f"w{word}" for word in row) for row in words)]
    (tmp_path / "docs.csv").write_text("\n".join(rows))
    command = [sys.executable, "-m", "bvdt", "label", "docs.csv", "--classes", "one,other", "--no-browser"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    for _ in range(4):
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
        ) as server:
            assert server.stdout is not None
            said = next(line for line in server.stdout if line.startswith("Label at "))
            urllib.request.urlopen(said.split()[-1].split("#")[0], timeout=60).read()
            server.send_signal(signal.SIGINT)
            _, said = server.communicate(timeout=60)
        assert (server.returncode, said) == (0, "")
