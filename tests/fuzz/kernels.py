"""The compiled functions themselves: a valid call of each, its arrays and numbers changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.damage import ArrayEdit, array_edits, damaged_array
from fuzz.engine import Target
from fuzz.walks import may_refuse
from helpers.binding_calls import CALLS


@dataclass(frozen=True)
class Spoilt:
    """A call, changes to its arrays and to its plain numbers."""

    call: str
    arrays: list[ArrayEdit]
    numbers: list[tuple[int, int]]


def arguments(recipe: Spoilt) -> dict[str, Any]:
    given = CALLS[recipe.call].arguments()
    names = [name for name, value in given.items() if isinstance(value, np.ndarray)]
    for edit in recipe.arrays if names else ():
        name = names[edit.which % len(names)]
        given[name] = damaged_array(given[name], edit)
    plain = [
        name
        for name, value in given.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    for which, value in recipe.numbers:
        if plain:
            name = plain[which % len(plain)]
            given[name] = type(given[name])(value)
    return given


def attempt(recipe: Spoilt, folder: Path) -> None:
    with may_refuse():
        CALLS[recipe.call].run(**arguments(recipe))


_kept = array_edits.filter(lambda edit: edit.how not in ("drop", "other"))
KERNELS = Target(
    "kernels",
    st.builds(
        Spoilt,
        st.sampled_from(sorted(CALLS)),
        st.lists(_kept, max_size=3),
        st.lists(
            st.tuples(st.integers(0, 9), st.sampled_from([-1, 0, 1, 2, 3, 5, 64, 4096, 10**6])), max_size=2
        ),
    ),
    attempt,
)
