"""What the tests share: the folder of labelled count data, and how hypothesis draws."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before bvdt: threads that spin slow a busy machine down

import pytest
from hypothesis import settings

from helpers.properties import PROFILE

# No verdict by the clock or by luck: the same examples at every run. HYPOTHESIS_PROFILE=random draws others,
# 10 000 per property, and takes hours; what it finds becomes an example of the property.
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None, max_examples=10_000, print_blob=True)
settings.load_profile(PROFILE)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder with bbc.npz and its like: $BVDT_DATA, or shared/data beside the repository."""
    folder = Path(os.environ.get("BVDT_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not (folder / "bbcsport.npz").exists():
        pytest.skip(
            f"no labelled count data in {folder}; set BVDT_DATA to the folder that holds bbcsport.npz"
        )
    return folder
