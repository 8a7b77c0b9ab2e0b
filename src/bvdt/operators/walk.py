"""What every walk matrix shares: products both ways, symmetrised and dense form, quality, storage."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from .._support import memory
from .._support.arrays import Float, Index, Numbers
from ..lifting import Lifted
from ..neighbors import NeighborIndex, for_new_points
from ..tree import Tree
from .base import RealOperator, Side
from .ordered import OrderedWalk
from .symmetrized import SymmetrizedOperator

if TYPE_CHECKING:
    from .extended import ExtendedOperator
    from .quality import Quality


class WalkOperator(RealOperator):
    """Row-stochastic N×N matrix over the points of a tree, or of several: a SciPy linear operator.

    A kind of walk gives ``members``, ``n_blocks``, ``row``, ``row_values``, ``astype``, ``refine`` and
    ``add_trees``; the rest is here. Operators never change: methods return new objects.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, random_state=0)
    >>> isinstance(op, bvdt.operators.WalkOperator), op.rows_sum_to_one
    (True, True)
    >>> op.T.shape, op.symmetrized().shape
    ((4, 4), (4, 4))
    """

    rows_sum_to_one = True
    tree: Tree
    lifted: Lifted
    bandwidth: float
    lower_bound: float

    @property
    @abstractmethod
    def n_blocks(self) -> int:
        """Number of blocks, over all trees."""

    @abstractmethod
    def row(self, i: int) -> Float:  # (N,)
        """Row i, dense."""

    @abstractmethod
    def row_values(self) -> Float:  # (N,)
        """Each row's share of ``lower_bound``."""

    @abstractmethod
    def astype(self, dtype: DTypeLike) -> WalkOperator:
        """The same operator with results in float32 for float32 vectors."""

    @abstractmethod
    def refine(self, n_blocks: int) -> WalkOperator:
        """An operator with exactly that many blocks, split where the bound gains (theory: Refinement)."""

    @abstractmethod
    def add_trees(self, n_trees: int, random_state: Any = None) -> WalkOperator:
        """A forest with that many trees more (theory: A forest)."""

    # -- products -----------------------------------------------------------------------------------------

    @property
    def inner(self) -> OrderedWalk:
        """The same walk with its points in the order of its first tree."""
        trees = [member.product for member in self.members]
        make = lambda: OrderedWalk(self.near_field, trees, self.weights, self.tree.order, self.n_jobs)  # noqa: E731
        return self.cached("inner", make)

    def apply(self, V: Numbers, side: Side, out: Numbers | None = None) -> Numbers:
        return self.inner.apply_unordered(V, side, out)

    @property
    def links(self) -> csr_array | None:  # type: ignore[override]  # found when it is asked for
        return None if self.near_field is None else self.near_field.symmetric

    def symmetrized(self) -> SymmetrizedOperator:
        """S = D^(−1/2)·(Q + Qᵀ)/2·D^(−1/2), for eigenvectors and for label spreading (Zhou et al. 2003)."""
        return SymmetrizedOperator(self)

    # -- entries ------------------------------------------------------------------------------------------

    def _checked_row(self, i: int) -> int:
        n_points = int(self.shape[0])
        if not -n_points <= i < n_points:
            raise IndexError(f"row needs an index below {n_points}; got {i}")
        return int(i) % n_points

    def toarray(self) -> Float:  # (N, N)
        """Q as a dense array; refuses with a MemoryError that names the GiB when it would not fit."""
        n_points = self.shape[0]
        memory.require(8.0 * n_points**2, f"the dense matrix of {n_points} points")
        Q = np.empty(self.shape, self.dtype)
        for i in range(n_points):
            Q[i] = self.row(i)
        return Q

    # -- what the others do -------------------------------------------------------------------------------

    def quality(self, n_rows: int = 256, random_state: Any = None) -> Quality:
        """How far Q is from the exact P, on sampled rows; O(N) memory per row."""
        from .quality import quality

        return quality(self, n_rows, random_state)

    def log_likelihood(self) -> float:
        """A lower bound on log p(D) of Eq. (17), in nats: each point under the kernels at all others.

        It is the bound of Eq. (18) with its constant, and equals log p(D) for blocks of one entry each.
        A likelihood needs an exponential family with a known constant: squared_euclidean, mahalanobis
        and itakura_saito (the gamma distribution of shape 1/bandwidth) at any bandwidth; gid (Poisson),
        negative_binomial, multinomial and logistic (Bernoulli) at bandwidth 1, on counts. ValueError
        otherwise. A density of measurements compares with another, a probability of counts with another; see
        ``bvdt.divergences.compare``.

        Examples
        --------
        >>> import bvdt
        >>> X = [[0.0], [1.0], [3.0], [4.5]]
        >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, random_state=0)
        >>> round(op.log_likelihood(), 3)
        -9.838
        """
        from .likelihood import log_likelihood

        return log_likelihood(self)

    def score_samples(self, X_new: Any = None) -> Float:  # (n_new,)
        """log p(x) of new points under the mean of the kernels at all fitted points, from below.

        Without ``X_new``: of the fitted points, each left out; their sum is ``log_likelihood()``, and only
        the sum is a bound. For which divergences and bandwidths see there.
        """
        from .likelihood import fitted_scores, new_scores

        return fitted_scores(self) if X_new is None else new_scores(self, X_new)

    def extend(self, X_new: Any) -> ExtendedOperator:
        """Rows for points that are not in the tree, as an operator n_new × N."""
        from .extended import extend

        return extend(self, X_new)

    def add_points(self, X_new: Any, bandwidth: float | str | None = None) -> WalkOperator:
        """The walk over these points and new ones, which come last; trees grow leaves and are not rebuilt.

        A new point is beside its nearest fitted one. The near field is of all points, exact where it was.
        The bandwidth stays, or is found anew ("auto", "learn"). Time O(N·n_new).
        """
        from .adding import add_points

        return add_points(self, X_new, bandwidth)

    def nearest(self, X_new: Any, k: int = 15) -> tuple[Index, Float]:  # (n_new, k) ×2
        """The k nearest fitted points of each new point and the divergences from them, ascending.

        By ``index``; −1 and +∞ where fewer than k were found.
        """
        from .extended import nearest

        return nearest(self, X_new, k)

    @property
    def index(self) -> NeighborIndex:
        """The points' neighbor index: the near field's, or one built and tuned when it is first needed."""
        make = lambda: for_new_points(self._built_index, self.lifted, self.n_jobs)  # noqa: E731
        return self.cached("index", make)

    @property
    def _built_index(self) -> NeighborIndex | None:
        """One that is there already."""
        return None

    def save(self, path: str | Path) -> None:
        """Write one file without pickle, which ``bvdt.load`` reads."""
        from .storage import save

        save(self, path)

    def _describe(self, kind: str, *figures: str) -> str:
        lifting = self.lifted.lifting
        name = [] if lifting is None else [f"divergence={lifting.divergence.name!r}"]
        parts = [f"n_points={self.shape[0]}", f"n_blocks={self.n_blocks}", *figures, *name]
        return f"{kind}({', '.join(parts)}, bandwidth={self.bandwidth:.4g}, dtype={self.dtype})"


def check_dtype(dtype: DTypeLike) -> np.dtype[np.floating]:
    """float32 or float64, as a dtype."""
    for allowed in (np.float32, np.float64):
        if np.dtype(dtype) == allowed:
            return np.dtype(allowed)
    raise ValueError(f"dtype needs float32 or float64; got {np.dtype(dtype)}")
