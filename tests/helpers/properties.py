"""How many examples a property is tried on."""

from __future__ import annotations

import os

from hypothesis import settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "fixed")


def examples(usual: int) -> settings:
    """So many examples; in the profile "random" as many as it asks for."""
    return settings(max_examples=usual if PROFILE == "fixed" else settings.get_profile(PROFILE).max_examples)
