"""Every SIMD level that this CPU has gives the same results to the bit, and no other is taken."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bvdt import _core, _cpu

RESULTS = """
import hashlib
import bvdt, numpy as np
from scipy import sparse

def show(name, *arrays):
    print(name, *(hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()[:12] for a in arrays))

rng = np.random.default_rng(0)
n = 4000
X = 3 * rng.normal(size=(9, 20))[rng.integers(9, size=n)] + rng.normal(size=(n, 20))
data = {
    "squared_euclidean": X,
    "gid": np.abs(X),
    "sparse": sparse.random(n, 500, density=0.02, format="csr", random_state=1),
}
y = np.full(n, -1)
y[:100] = rng.integers(3, size=100)
for name, points in data.items():
    metric = "squared_euclidean" if name == "sparse" else name
    for recall in (0.95, 0.99):
        search = bvdt.NearestNeighbors(7, metric=metric, recall=recall, random_state=0).fit(points)
        show(name, *search.kneighbors(), *search.kneighbors(points[:50]))
    op = bvdt.transition_matrix(points, divergence=metric, random_state=0)
    show(name, op.tree.size, op.tree.order, op.partition.q, op @ np.eye(n, 5))
    walk = bvdt.LabelPropagation(divergence=metric, random_state=0).fit(points, y)
    show(name, walk.transduction_, walk.label_distributions_)
"""


def run(level: str, program: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"BVDT_SIMD": level}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env)


@pytest.mark.slow
def test_results_are_the_same_at_every_level():
    found = {level: run(level, RESULTS) for level in _cpu.levels()}
    assert [done.stderr for done in found.values()] == [""] * len(found)
    assert len({done.stdout for done in found.values()}) == 1
    assert found["baseline"].stdout.count("\n") == 12


@pytest.mark.parametrize("level", _cpu.levels())
def test_a_level_is_taken_and_told(level):
    done = run(level, "import bvdt; bvdt.show_versions()")
    assert done.stderr == ""
    assert ["SIMD", "level", level] in [line.split() for line in done.stdout.splitlines()]


def test_another_level_is_refused():
    done = run("avx1024", "from bvdt import Tree")
    assert done.returncode == 1
    levels = ", ".join(_cpu.levels())
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: BVDT_SIMD=avx1024: this CPU and this build of bvdt have the levels {levels}"
    )


@pytest.mark.skipif("BVDT_SIMD" in os.environ, reason="a level is forced")
def test_the_best_level_is_taken():
    assert _core.build_info()["simd"] == _cpu.levels()[0]
