"""How many examples a property is tried on."""

from __future__ import annotations

import os

from hypothesis import settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
QUICK, MANY = 30, 10_000


def examples(usual: int) -> settings:
    """So many examples in the profile "fixed"; as many as the others ask for."""
    return settings(max_examples={"quick": min(usual, QUICK), "fixed": usual, "random": MANY}[PROFILE])
