"""The trees by their names."""

from __future__ import annotations

from collections.abc import Callable

from .anchor import anchor_tree
from .structure import Tree
from .ward import ward_tree

BUILDERS: dict[str, Callable[..., Tree]] = {"ward": ward_tree, "anchor": anchor_tree}


def tree_builder(name: str) -> Callable[..., Tree]:
    """The function (lifted, *, random_state, n_jobs, progress) -> Tree of that name."""
    if name not in BUILDERS:
        raise ValueError(f'tree needs "ward", "anchor" or a bvdt.Tree; got {name!r}')
    return BUILDERS[name]
