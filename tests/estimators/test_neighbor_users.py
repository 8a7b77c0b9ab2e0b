"""The examples of what takes precomputed neighbors: run as one would, their figures beside the defaults'."""

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "neighbors"

pytestmark = pytest.mark.slow


def figures(example, *needed):
    """What an example prints, in a process of its own; skipped where a package that it needs is absent."""
    for package in needed:
        try:
            version(package)
        except PackageNotFoundError:
            pytest.skip(f"{package} is in the extra libraries")
    command = [sys.executable, str(EXAMPLES / f"{example}.py")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def test_scanpy_finds_the_same_clusters():
    agreement = figures("with_scanpy", "scanpy", "leidenalg", "igraph")
    assert agreement["bvdt"] >= agreement["default"] - 0.02
    assert agreement["both"] > 0.9


def test_umap_draws_as_trustworthy_a_map():
    trust = figures("with_umap", "umap-learn")
    assert trust["bvdt"] > trust["default"] - 0.01


def test_scikit_learn_takes_the_graph():
    for name, (default, ours) in figures("with_sklearn").items():
        assert ours > default - 0.02, name


def test_cleanlab_finds_the_same_rows():
    for name, (default, ours) in figures("with_cleanlab", "cleanlab", "datasets").items():
        assert len({*default} & {*ours}) >= 0.95 * len({*default, *ours}), name
        assert len(default) >= 10
