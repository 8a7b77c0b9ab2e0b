"""The one call: data in, operator out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from .divergences import BregmanDivergence
from .lift import lift
from .operator import TransitionOperator
from .tree import Tree, anchor_tree, ward_tree


def transition_matrix(
    X: Any,
    divergence: str | BregmanDivergence = "gid",
    *,
    bandwidth: float | str = "auto",
    smoothing: float | str | ArrayLike = "auto",
    tree: str | Tree = "ward",
    blocks: int | None = None,
    n_trees: int = 1,
    near: int = 0,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> TransitionOperator:
    """Random-walk matrix of N points, p_ij ∝ exp(−d_φ(x_i, x_j)/bandwidth), in O(N) numbers.

    Parameters
    ----------
    X : (N, d) array, scipy.sparse matrix or array, or DataFrame of numbers, N ≥ 2.
    divergence : a name of ``bvdt.divergences.get`` or an instance.
    bandwidth : a number > 0; "auto" (rows with about 20 effective neighbours); "learn" (maximises the bound).
    smoothing : e of x' = x + e, see ``bvdt.lift.lift``.
    tree : "ward", "anchor" (the paper's), or a ``bvdt.Tree`` over the rows of X.
    blocks : number of blocks; None for the coarsest partition, 2(N − 1).
    n_trees, near : reserved; only 1 and 0 so far.
    random_state : seed of the tree; the same seed gives the same result for any number of threads.
    n_jobs : threads; None or −1 for all cores.
    progress : whether the tree reports its progress.
    """
    if n_trees != 1:
        raise ValueError(f"n_trees needs to be 1, forests are not available yet; got {n_trees!r}")
    if near != 0:
        raise ValueError(f"near needs to be 0, the exact near field is not available yet; got {near!r}")
    lifted = lift(X, divergence, smoothing)
    if isinstance(tree, Tree):
        if tree.n_points != lifted.n_points:
            raise ValueError(f"tree needs {lifted.n_points} points, as X; it has {tree.n_points}")
        built = tree.validate()
    else:
        build = tree_builder(tree)
        built = build(lifted, random_state=random_state, n_jobs=n_jobs, progress=progress)
    op = TransitionOperator(lifted, built, bandwidth=bandwidth, n_jobs=n_jobs)
    return op if blocks is None else op.refine(blocks)


def tree_builder(name: str) -> Callable[..., Tree]:
    """The function (lifted, *, random_state, n_jobs, progress) -> Tree of that name."""
    builders: dict[str, Callable[..., Tree]] = {"ward": ward_tree, "anchor": anchor_tree}
    if name not in builders:
        raise ValueError(f'tree needs "ward", "anchor" or a bvdt.Tree; got {name!r}')
    return builders[name]
