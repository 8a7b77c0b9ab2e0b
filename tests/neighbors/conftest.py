"""Every test of the search reaches its kernels."""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "/tests/neighbors/" in item.path.as_posix():
            item.add_marker(pytest.mark.kernel)
