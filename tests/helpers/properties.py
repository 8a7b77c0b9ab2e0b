"""How many examples a property is tried on."""

from __future__ import annotations

import os

from hypothesis import settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
FEW, QUICK, MANY = 8, 30, 10_000


def examples(usual: int) -> settings:
    """So many examples in the profile "fixed", no more in "few" and "quick", and MANY in "random"."""
    of = {"few": min(usual, FEW), "quick": min(usual, QUICK), "fixed": usual, "random": MANY}
    return settings(max_examples=of[PROFILE])
