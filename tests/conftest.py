"""What the tests share: the folder of labeled count data, and how hypothesis draws."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before bvdt: threads that spin slow a busy machine down

import pytest
from hypothesis import settings

from bvdt._support import running
from helpers.properties import FEW, MANY, PROFILE, QUICK

# No verdict by the clock or by luck: the same examples at every run, "quick" ones while one works, "fixed" in
# the gate, "few" of them under the sanitizers. HYPOTHESIS_PROFILE=random draws others and takes hours; what
# it finds becomes an example.
settings.register_profile("few", deadline=None, derandomize=True, max_examples=FEW)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=QUICK)
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None, max_examples=MANY, print_blob=True)
settings.load_profile(PROFILE)


@pytest.fixture(scope="session", autouse=True)
def threads_for_little_work() -> Iterator[None]:
    """Threads are tested on small data, which outside the tests run on one."""
    usual, running.SERIAL = running.SERIAL, 0
    yield
    running.SERIAL = usual


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder with bbc.npz and its like: $BVDT_DATA, or shared/data beside the repository."""
    folder = Path(os.environ.get("BVDT_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not (folder / "bbcsport.npz").exists():
        pytest.skip(f"no labeled count data in {folder}; set BVDT_DATA to the folder that holds bbcsport.npz")
    return folder
