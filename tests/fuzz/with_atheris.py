"""The same targets guided by coverage: ``python -m fuzz.with_atheris TARGET [libFuzzer's options]``.

Needs atheris (pip install atheris; Linux and macOS) and an ordinary installation of bvdt: an editable one is
not instrumented. A crash leaves its bytes in a file, as libFuzzer does.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import atheris
from hypothesis import HealthCheck, given, settings

from fuzz.__main__ import targets
from fuzz.engine import FAILURES, outcome_of

# Recipes are a few hundred bytes: shorter inputs say nothing.
OPTIONS = ("-len_control=0", "-max_len=4096")


def main() -> None:
    with atheris.instrument_imports(include=["bvdt"]):
        target = targets()[sys.argv[1]]
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(target.recipes)
    def attempt(recipe: Any) -> None:
        outcome, told = outcome_of(target, recipe, folder)
        assert outcome not in FAILURES, f"{outcome}: {told}\n{recipe!r}"

    atheris.Setup([sys.argv[0], *OPTIONS, *sys.argv[2:]], attempt.hypothesis.fuzz_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
