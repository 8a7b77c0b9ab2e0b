"""The compiled core loads; under `make sanitize` this is the instrumented build."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.kernel
def test_core_loads():
    assert importlib.import_module("bvdt._core").__name__ == "bvdt._core"
