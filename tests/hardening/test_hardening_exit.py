"""Python may end while daemon threads compute: the process ends with code 0 and without a word."""

from __future__ import annotations

import subprocess
import sys

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
