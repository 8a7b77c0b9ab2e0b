"""The code of docs/scale.md as scripts, in processes of their own."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
PAGE = Path(__file__).parents[2] / "docs" / "scale.md"

pytestmark = pytest.mark.slow


def test_the_pages_scripts_run(tmp_path):
    """The first starts workers: without a guard each of them would start workers again."""
    y = np.repeat([0, 1], 300)
    X = np.random.default_rng(0).normal(size=(600, 3)) + 9 * y[:, None]
    da.to_npy_stack(tmp_path / "points", da.from_array(X, chunks=(200, 3)))
    np.save(tmp_path / "points.npy", X)
    np.save(tmp_path / "labels.npy", np.where(np.arange(600) % 100 == 0, y, -1))
    (tmp_path / "scratch").mkdir()
    scripts = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    for number, script in enumerate(scripts):
        path = tmp_path / f"script_{number}.py"
        path.write_text(script, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, path.name], cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
    classes = da.from_npy_stack(tmp_path / "classes").compute()
    np.testing.assert_array_equal(classes, y)
