"""The one call: data in, operator out."""

from __future__ import annotations

from typing import Any, overload

from numpy.typing import ArrayLike

from .._support import memory
from .._support.arrays import checked_integer
from .._support.defaults import DIVERGENCE
from .._support.progress import Progress
from ..divergences import BregmanDivergence
from ..lifting import Lifted, lift, warn_of_one_column
from ..neighbors import checked_recall
from ..tree import Tree, tree_builder
from .forest import grow_forest
from .given import given_near_field, graph_walk
from .learning import with_learned_bandwidth
from .single_tree import TransitionOperator
from .walk import WalkOperator


@overload
def transition_matrix(X: None, *, neighbors: Any) -> Any: ...  # CSR (N, N)


@overload
def transition_matrix(
    X: Any,
    divergence: str | BregmanDivergence = DIVERGENCE,
    *,
    bandwidth: float | str = "auto",
    smoothing: float | str | ArrayLike = "auto",
    tree: str | Tree = "ward",
    n_blocks: int | None = None,
    n_trees: int = 1,
    n_neighbors: int = 0,
    recall: float | None = None,
    neighbors: Any = None,
    weights: str | ArrayLike = "uniform",
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress = False,
    copy: bool = True,
) -> WalkOperator: ...


@memory.explain_memory_error("building the walk")
def transition_matrix(
    X: Any,
    divergence: str | BregmanDivergence = DIVERGENCE,
    *,
    bandwidth: float | str = "auto",
    smoothing: float | str | ArrayLike = "auto",
    tree: str | Tree = "ward",
    n_blocks: int | None = None,
    n_trees: int = 1,
    n_neighbors: int = 0,
    recall: float | None = None,
    neighbors: Any = None,
    weights: str | ArrayLike = "uniform",
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress = False,
    copy: bool = True,
) -> Any:
    """Random-walk matrix of N points, p_ij ∝ exp(−d_φ(x_i, x_j)/bandwidth), in O(N) numbers.

    Parameters
    ----------
    X : (N, d) array, scipy.sparse matrix or array, or DataFrame of numbers, N ≥ 2. None: ``neighbors``
        alone.
    divergence : a name of ``bvdt.divergences.get`` or an instance.
    bandwidth : a number > 0; "auto" (rows of a perplexity of about 5); "learn" (maximizes the bound).
    smoothing : e of x' = x + e, see ``bvdt.lifting.lift``.
    tree : "ward", "anchor" (the paper's), or a ``bvdt.Tree`` over the rows of X.
    n_blocks : number of blocks over all trees; None for the coarsest partition, 2(N − 1) per tree.
    n_trees : trees whose matrices are averaged (theory: A forest): cost and quality grow with it.
    n_neighbors : k > 0 keeps each row's k nearest centers exactly (theory: Near and far field).
    recall : share of those that the search is to find, by its own measurement; 1 compares all pairs. None:
        a fixed effort that serves labels, unmeasured.
    neighbors : lists made elsewhere, in the place of ``n_neighbors``: integers (N, k), −1 for none; a tuple
        (indices, distances); or a sparse graph (N, N) of distances, as scikit-learn's KNeighborsTransformer
        gives. A row in its own list is left out. Beside X the divergences are those of X. Without X the
        distances take their place, and the walk is the near field alone, a CSR array (N, N): then the other
        parameters have no effect.
    weights : of the trees: "uniform", "bound" (∝ exp(bound per row)), or values ≥ 0.
    random_state : seed of the tree; the same seed gives the same result for any number of threads.
    n_jobs : threads; None or −1 for all cores.
    copy : whether the operator holds a copy of X, so that X may change afterwards. False saves that memory
        where X is an array of float64 or a CSR matrix of them: X is written over and kept, and is not to be
        used again. Nothing checks that it is not.
    progress : True writes the progress on stderr; a callable gets ``progress(stage, done, total)``.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, random_state=0)
    >>> op.shape, op.n_blocks
    ((4, 4), 6)
    >>> (op @ [1.0, 1.0, 0.0, 0.0]).round(3)
    array([0.989, 0.989, 0.02 , 0.02 ])
    """
    if X is None and neighbors is not None:
        return graph_walk(neighbors)
    lifted = lift(X, divergence, smoothing, copy)
    if lifted.lifting is not None:
        warn_of_one_column(lifted.X, lifted.lifting.divergence.name)
    n_trees = checked_integer(n_trees, "n_trees", 1)
    n_neighbors = checked_integer(n_neighbors, "n_neighbors", 0, lifted.n_points - 1)
    recall = None if recall is None else checked_recall(recall)
    if n_neighbors and neighbors is not None:
        raise ValueError(
            f"n_neighbors needs to be 0 beside neighbors, whose lists say how many; got {n_neighbors}"
        )
    op: WalkOperator
    if n_trees == 1 and n_neighbors == 0 and neighbors is None:
        built = _one_tree(lifted, tree, random_state=random_state, n_jobs=n_jobs, progress=progress)
        op = TransitionOperator(lifted, built, bandwidth=bandwidth, n_jobs=n_jobs)
    else:
        op = grow_forest(
            lifted,
            _kind(tree),
            n_trees,
            n_neighbors if neighbors is None else given_near_field(lifted, neighbors, n_jobs),
            recall=recall,
            bandwidth=bandwidth,
            weights=weights,
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
        )
    op = op if n_blocks is None else op.refine(n_blocks)
    plain = isinstance(op, TransitionOperator) and n_blocks is None  # learned while it was built
    return with_learned_bandwidth(op) if bandwidth == "learn" and not plain else op


def _one_tree(lifted: Lifted, tree: str | Tree, **options: Any) -> Tree:
    if not isinstance(tree, Tree):
        return tree_builder(tree)(lifted, **options)
    if tree.n_points != lifted.n_points:
        raise ValueError(f"tree needs {lifted.n_points} points, as X; it has {tree.n_points}")
    return tree.validate()


def _kind(tree: str | Tree) -> str:
    if isinstance(tree, Tree):
        raise ValueError(
            'tree needs "ward" or "anchor" beside n_trees > 1, n_neighbors > 0 or neighbors; got a bvdt.Tree'
        )
    tree_builder(tree)
    return tree
