"""Multigrid for the walk's Laplacian: coarser copies of the links on the nodes of the tree.

The near field's links (or a sparse matrix's), scaled as in S, make L = diag(s) − A, s_i = (A·√D)_i/√D_i, a
graph Laplacian with √D in its null space. Aggregates are the tree's nodes of about 4, 16, 64, … points, which
are close by construction and cost nothing to find; where there is no tree, pairs of strongest links. On each
level the vector √D·1_C of an aggregate C, scaled to length 1, is a coarse unknown and PᵀLP the coarse matrix:
again a graph Laplacian. A cycle over the levels solves (L + σ)·x = r within a third of its length, whatever
the number of points: the cure for eigenvalues 1e-5 from 1 and from each other, where every method that knows
S by its products alone takes hundreds of them.

Unsmoothed aggregation needs more than one visit to the coarse levels; each is visited twice and the two
answers are joined as conjugate gradients would (the K-cycle of Notay and Vassilevski 2008).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from .._support.arrays import Float
from .._support.sparse import sparse_times
from ..operators import SymmetrizedOperator
from ..solvers import leading_space
from ..tree import Tree

_FACTOR = 4  # points of an aggregate; with 8 the cycle takes twice as many turns on 50 000 digits
_COARSEST = 320  # unknowns that are solved by a dense inverse
_LARGEST = 4_000  # the same, beyond which links that do not pair up are left without a hierarchy
_SHIFT = np.float32(1e-5)  # σ: 1 − λ below which eigenvalues count as 1 to the cycle, in single precision
_COARSE_TOL, _COARSE_STEPS = 1e-3, 3  # of the start on coarser levels
_LEAST_GAIN = 0.8  # of the unknowns are left at most, or the level is not worth its cost
_DAMPING = 0.6  # of Jacobi's step; L's eigenvalues reach 2
_PASSES = 2  # of pairing, where there is no tree: up to 4 points per aggregate


@dataclass(frozen=True, eq=False)
class Level:
    """L on one level, n unknowns; ``down`` (n_coarser, n) and ``up``, its transpose, lead to the next."""

    laplacian: Any  # CSR (n, n), float32
    null: Float  # (n,) √D of the aggregates
    inverse_diagonal: NDArray[np.float32]  # (n, 1) of L + σ
    up: Any = None
    down: Any = None

    @property
    def n_unknowns(self) -> int:
        return int(self.laplacian.shape[0])


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The levels, the finest first; the coarsest one's eigenpairs are known."""

    levels: list[Level]
    eigenvalues: Float  # of the coarsest L, ascending
    eigenvectors: Float

    @classmethod
    def of(cls, S: SymmetrizedOperator) -> Hierarchy | None:
        """That of a walk with a near field or of a sparse matrix, in S's inner order; None for others."""
        op, order = S.operator, S.inner.order
        if op.links is None:
            return None
        A = S.scaled_links(op.links)
        A = A if order is None else A[order][:, order].tocsr()
        A.sort_indices()
        levels = list(_levels(A, np.sqrt(S.inner.degrees), None if order is None else op.tree))
        coarsest = levels[-1].laplacian
        if coarsest.shape[0] > _LARGEST:
            return None
        values, vectors = linalg.eigh(coarsest.toarray().astype(np.float64))
        return cls(levels, np.maximum(values, 0.0), vectors)

    def solve(self, R: Float) -> Float:  # (N, m) -> (N, m)
        """About (L + σ)⁻¹·R, by one cycle in single precision."""
        return np.asarray(self.cycle(R.astype(np.float32), 0), np.float64)

    def start(self, n_vectors: int) -> Float:  # (N, at most n_vectors)
        """Roughly the leading eigenvectors of 1 − L: the coarsest level's, improved on each finer one."""
        V = self.eigenvectors[:, :n_vectors]
        for at in range(len(self.levels) - 2, -1, -1):
            level = self.levels[at]
            V = np.asarray(level.up @ V, np.float64)
            if at == 0:
                break
            V = self._improved(V, at)
        return V

    def _improved(self, V: Float, at: int) -> Float:  # (n, m) -> (n, m)
        """A few steps towards the leading space of a level's 1 − L."""
        laplacian = self.levels[at].laplacian.astype(np.float64)

        def product(W: Float) -> Float:
            return np.asarray(W - _times(laplacian, W))

        def precondition(R: Float) -> Float:
            return self.cycle(R.astype(np.float32), at).astype(np.float64)

        options: dict[str, Any] = {"tol": _COARSE_TOL, "max_steps": _COARSE_STEPS}
        b = V.shape[1]
        return leading_space(product, V, b, b, precondition=precondition, **options).vectors

    def cycle(self, R: NDArray[np.float32], at: int) -> NDArray[np.float32]:  # (n, m) -> (n, m)
        """One cycle from a level down: two steps of Jacobi, the coarser levels, two steps of Jacobi."""
        level = self.levels[at]
        if at == len(self.levels) - 1:
            inverse = 1.0 / (self.eigenvalues + _SHIFT)
            U = self.eigenvectors.astype(np.float32)
            return np.asarray((U * inverse.astype(np.float32)) @ (U.T @ R))
        X = np.float32(_DAMPING) * level.inverse_diagonal * R
        X += self._correction(level, X, R)
        rest = _times(level.down, self._residual(level, X, R))
        last = at + 1 == len(self.levels) - 1
        coarse = self.cycle(rest, at + 1) if last else self._twice(rest, at + 1)
        X += _times(level.up, coarse)
        for _ in range(2):
            X += self._correction(level, X, R)
        return X

    def _residual(self, level: Level, X: Any, R: Any) -> Any:
        out = _times(level.laplacian, X)
        out += _SHIFT * X
        return np.subtract(R, out, out=out)

    def _correction(self, level: Level, X: Any, R: Any) -> Any:
        """A step of damped Jacobi."""
        out = self._residual(level, X, R)
        out *= np.float32(_DAMPING) * level.inverse_diagonal
        return out

    def _twice(self, R: Any, at: int) -> Any:
        """Two cycles, joined per column so that the energy norm of the error is least."""
        level = self.levels[at]
        one = self.cycle(R, at)
        image = _times(level.laplacian, one) + _SHIFT * one
        energy = _dots(one, image)
        step = _ratio(_dots(one, R), energy)
        rest = R - image * step.astype(np.float32)
        other = self.cycle(rest, at)
        across = _ratio(_dots(other, image), energy)
        other -= one * across.astype(np.float32)
        energy = _dots(other, _times(level.laplacian, other) + _SHIFT * other)
        one *= step.astype(np.float32)
        other *= _ratio(_dots(other, rest), energy).astype(np.float32)
        one += other
        return one


def _times(A: Any, X: Any) -> Any:
    """A·X, on one thread: a cycle is many short products, between which threads would wait."""
    return sparse_times(A, X, 1)


def _dots(A: Any, B: Any) -> Float:  # (n, m) ×2 -> (m,)
    return np.asarray(np.einsum("ij,ij->j", A, B), np.float64)


def _ratio(a: Float, b: Float) -> Float:
    """a/b, and 0 where b is not positive: a column that is solved."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 1e-300)


def _levels(A: Any, null: Float, tree: Tree | None) -> Iterator[Level]:
    """All levels of links A (n, n), scaled as in S, in the tree's order."""
    share = A @ null / np.where(null > 0, null, 1.0)
    share = np.where(share > 0, share, 1.0)
    unit = float(np.median(share))  # near field: λ, so that L's values are those of 1 − S
    aggregates = _by_links() if tree is None else _by_tree(tree)
    next(aggregates)
    while True:
        label = aggregates.send((A, null)) if len(null) > _COARSEST else None
        laplacian = ((sparse.diags_array(share) - A) / unit).tocsr()
        diagonal = laplacian.diagonal() + _SHIFT
        inverse = np.divide(1.0, diagonal, out=np.ones_like(diagonal), where=diagonal > 0)[:, None]
        level = Level(laplacian.astype(np.float32), null, inverse.astype(np.float32))
        if label is None:
            yield level
            return
        down, coarser = _joined(label, null)
        yield replace(level, down=down.astype(np.float32), up=down.T.tocsr().astype(np.float32))
        share = down.power(2) @ share
        A, null = (down @ A @ down.T).tocsr(), coarser


def _joined(label: NDArray[Any], null: Float) -> tuple[Any, Float]:  # (n,) ×2 -> CSR (c, n), (c,)
    """Unit vectors of the aggregates as rows, and the null vector's values on them."""
    n_points, n_aggregates = len(label), int(label.max()) + 1
    joined = np.sqrt(np.bincount(label, null**2, minlength=n_aggregates))
    values = null / np.where(joined > 0, joined, 1.0)[label]
    down = sparse.csr_array((values, (label, np.arange(n_points))), shape=(n_aggregates, n_points))
    return down, joined


Aggregates = Generator[NDArray[Any] | None, tuple[Any, Float], None]


def _by_tree(tree: Tree) -> Aggregates:
    """Aggregate of each unknown: the largest nodes of at most 4, 16, … points, which are runs of leaves."""
    first: NDArray[Any] = np.arange(tree.n_points)
    most = _FACTOR
    label: NDArray[Any] | None = None
    above = tree.size[np.maximum(tree.parent, 0)]
    while True:
        yield label
        label = None
        while label is None and most < tree.n_points:
            runs = tree.start[(tree.size <= most) & (above > most)]
            if len(runs) <= _LEAST_GAIN * len(first):
                label = np.searchsorted(runs, first, side="right") - 1
                first = runs
            most *= _FACTOR


def _by_links() -> Aggregates:
    """Aggregate of each unknown: pairs of the strongest links, and pairs of pairs."""
    label: NDArray[Any] | None = None
    while True:
        A, null = yield label
        label = np.arange(len(null))
        for _ in range(_PASSES):
            pair = _pairs(A)
            down, null = _joined(pair, null)
            A, label = (down @ A @ down.T).tocsr(), pair[label]
        if len(null) > _LEAST_GAIN * len(label):
            label = None


def _pairs(A: Any) -> NDArray[Any]:  # (n,)
    """Number of each unknown's pair: those that are each other's strongest link; three rounds."""
    links = A.tocoo()
    apart = links.row != links.col
    i, j, weight = links.row[apart], links.col[apart], links.data[apart]
    strongest_first = np.lexsort((j, -weight, i))
    i, j = i[strongest_first], j[strongest_first]
    label, n_pairs = np.full(A.shape[0], -1, np.intp), 0
    for _ in range(3):
        best = np.full(A.shape[0], -1, np.intp)
        heads = np.append(True, i[1:] != i[:-1]) if len(i) else np.empty(0, bool)
        best[i[heads]] = j[heads]
        one = np.flatnonzero(best >= 0)
        one = one[(best[best[one]] == one) & (one < best[one])]
        label[one] = label[best[one]] = n_pairs + np.arange(len(one))
        n_pairs += len(one)
        free = (label[i] < 0) & (label[j] < 0)
        i, j = i[free], j[free]
    alone = label < 0
    label[alone] = n_pairs + np.arange(np.count_nonzero(alone))
    return label
