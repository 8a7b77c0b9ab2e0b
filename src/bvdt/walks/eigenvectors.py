"""Leading eigenvectors of the symmetrised walk, and the coordinates made of them; no N×N matrix."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Float, Index, Int
from .._support.running import generator
from ..operators import SymmetrizedOperator
from ..solvers import Space, Tolerance, amplified, leading_space, three_terms
from .components import (
    closed_groups,
    closed_parts,
    core_points,
    from_nearest_node,
    mixed_parts,
    part_vectors,
    sparse_indicators,
    walk_parts,
)
from .haar import TreeLaplacian
from .hierarchy import Hierarchy
from .inputs import symmetrized

TOL = 1e-4  # ‖S·v − λ·v‖ that a vector may have without a warning
_AIM, _FINE_AIM = 1e-5, 1e-7  # the same, that is aimed at; the least where a small gap asks for less
_EXACT_AIM = 1e-9  # the same, where the inverse of 1 − S is at hand
_CLOSE_AIM = 1e-6  # where values lie so close that there is no gap
_SMALL, _GAP, _ANGLE = 5_000, 1e-4, 1e-3  # up to so many points, so large a gap is resolved to such an angle
_DENSE, _DENSE_TREE = 300, 64  # up to this many points the matrix is made and solved whole; of one tree
_DENSE_LATE = 2_000  # the same, where a block has not ended after ``_STEPS``
_STEPS = 100
_GUARDS = 6  # columns beside the wanted ones, and a tenth of these
_INSIDE = 4  # vectors at least that tell the points of closed parts apart, where there are too many parts
_HIDDEN = 1e-14  # 1 − λ that rounding hides
_FLOOR = 1e-6  # of the last wanted 1 − λ: the least that the inverse is made with
_INVERSE = 2.0  # products that the inverse of one tree's 1 − S costs
_RANDOM_START = 10_000  # points up to which a hierarchy of the links is made only if it is needed
_SETUP = 100.0  # products that making it costs


@dataclass(frozen=True, eq=False)
class Eigenvectors:
    """k unit eigenvectors of S, the largest eigenvalue first, and D's diagonal."""

    values: Float  # (k,)
    vectors: Float  # (N, k)
    residuals: Float  # (k,) ‖S·v − λ·v‖
    degrees: Float  # (N,)


def leading_eigenvectors(op: Any, n_vectors: int, random_state: Any = None) -> Eigenvectors:
    """Those of the largest eigenvalues of S = D^(−1/2)·(M + Mᵀ)/2·D^(−1/2).

    The first pair, 1 and D^(1/2)·1, is known. The others come from one block, so that multiple and close
    eigenvalues are found as others are (``bvdt.solvers.lobpcg``), with a hierarchy of the links as its
    preconditioner (``bvdt.walks.hierarchy``), or for a single tree of the coarsest partition the inverse of
    1 − S. Residuals are computed; one above 1e-4 gives a warning. ``random_state`` draws a start
    where there are no links to begin with; each vector's entry of largest size is positive.
    """
    return _leading(symmetrized(op), n_vectors, generator(random_state))


def _leading(
    S: SymmetrizedOperator, n_vectors: int, rng: np.random.Generator, detail: bool = False
) -> Eigenvectors:
    """Those of S; ``detail``: see ``_with_detail``."""
    n_points = S.shape[0]
    if not 1 <= n_vectors <= n_points:
        raise ValueError(f"n_vectors needs a number from 1 to {n_points}, the points; got {n_vectors}")
    first = np.sqrt(S.degrees / S.degrees.sum())
    points = np.arange(n_points) if S.kept is None else np.flatnonzero(S.kept)
    laplacian = TreeLaplacian.of(S.operator, S.kept)
    most = max(_DENSE if laplacian is None else _DENSE_TREE, 4 * (n_vectors - 1))
    if n_vectors == 1:
        return _measured(S.dot, first[:, None], S.degrees)
    if laplacian is None and len(points) > most:
        by_block = _Blocks(S).after(first, n_vectors - 1, rng, detail)
        if by_block is not None:
            return by_block
    if laplacian is None or len(points) <= most:
        found = _dense(S, points)[:, : n_vectors - 1]
    else:
        found = _by_haar(laplacian, S, points, n_vectors - 1)
    vectors = np.zeros((n_points, 1 + found.shape[1]))
    vectors[:, 0], vectors[points, 1:] = first, found
    return _measured(S.dot, _signed(vectors), S.degrees, n_vectors)


def _dense(S: SymmetrizedOperator, points: Index) -> Float:  # (n,) -> (n, n − 1)
    """Eigenvectors after the first on these points, all others being isolated, by dense algebra."""
    first = np.sqrt(S.degrees[points] / S.degrees.sum())
    ends = np.zeros((S.shape[0], len(points)))
    ends[points, np.arange(len(points))] = 1.0
    A = np.asarray(S @ ends)[points]
    return np.asarray(np.linalg.eigh((A + A.T) / 2 - 3 * np.outer(first, first))[1][:, :0:-1])


def _signed(vectors: Float) -> Float:
    """With each vector's entry of largest size positive."""
    largest = np.abs(vectors).argmax(axis=0)
    return np.asarray(vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0))


def _measured(
    product: Callable[[Float], Float], vectors: Float, degrees: Float, n_vectors: int | None = None
) -> Eigenvectors:
    """Vectors with their Rayleigh quotients and residuals, in order.

    ``n_vectors``: so many with those of isolated points, which are eigenvectors of eigenvalue 0.
    """
    if n_vectors is not None:
        ends = np.flatnonzero(degrees == 0)[:n_vectors]
        alone = np.zeros((len(vectors), len(ends)))
        alone[ends, np.arange(len(ends))] = 1.0
        vectors = np.hstack([vectors, alone])
    images = np.asarray(product(vectors))
    values = np.einsum("ij,ij->j", vectors, images)
    residuals = np.linalg.norm(images - vectors * values, axis=0)
    return _in_order(values, vectors, residuals, degrees, n_vectors)


def _in_order(
    values: Float, vectors: Float, residuals: Float, degrees: Float, n_vectors: int | None = None
) -> Eigenvectors:
    """The first, and then the largest values first, so many; warns of a residual above ``TOL``."""
    order = np.append(0, 1 + np.argsort(-values[1:], kind="stable"))[:n_vectors]
    if (worst := float(residuals[order].max())) > TOL:
        from sklearn.exceptions import ConvergenceWarning  # here, so that ``import bvdt`` stays light

        at = int(residuals[order].argmax())
        text = f"eigenvectors need residuals of at most {TOL:g}; that of number {at} is {worst:.2g}"
        warnings.warn(text, ConvergenceWarning, stacklevel=4)
    return Eigenvectors(values[order], vectors[:, order], residuals[order], degrees)


def one_blas_thread() -> Any:
    """Short matrix products and the walk's take turns; threads of both would wait for each other."""
    return _thread_controller().limit(limits=1, user_api="blas")


@cache
def _thread_controller() -> Any:
    """Made once: it looks through all libraries of the process, which takes 5 ms."""
    from threadpoolctl import ThreadpoolController  # here, so that ``import bvdt`` stays light

    return ThreadpoolController()


@dataclass(frozen=True, eq=False)
class _Blocks:
    """S in the order that its products like best, with the hierarchy of its links where that is needed."""

    S: SymmetrizedOperator

    @property
    def inner(self) -> SymmetrizedOperator:
        return self.S.inner

    @cached_property
    def order(self) -> Int:  # (N,)
        order = self.inner.order
        return np.arange(self.S.shape[0], dtype=np.int32) if order is None else order

    @cached_property
    def hierarchy(self) -> Hierarchy | None:
        return Hierarchy.of(self.S)

    def product(self, V: Float) -> Float:  # (N, m)
        """S·V, without the detour by SciPy's interface."""
        return np.asarray(self.inner.apply(np.ascontiguousarray(V), "mean"), np.float64)

    @cached_property
    def part(self) -> Index:  # (N,)
        """Number of each point's part, points in the order."""
        return walk_parts(self.S)[self.order]

    @cached_property
    def root(self) -> Float:  # (N,)
        """√D, points in the order."""
        return np.sqrt(self.S.degrees[self.order])

    def after(
        self, first: Float, n_vectors: int, rng: np.random.Generator, detail: bool
    ) -> Eigenvectors | None:
        """The first vector and the leading ones orthogonal to it.

        None where they take too many steps, as those of values close to 0 may, and all are soon found whole.
        """
        with one_blas_thread():
            known = first[self.order][:, None]
            start = self.start(n_guarded(n_vectors, len(self.order)), rng)
            space = self.leading(known, n_vectors, start, self._aim(n_vectors))
            if len(self.order) <= _DENSE_LATE and (space.residuals[:n_vectors] > _AIM).any():
                return None
            vectors = _with_detail(space, n_vectors, rng) if detail else space.vectors[:, :n_vectors]
            image = self.product(known)
            value = float(known[:, 0] @ image[:, 0])
            found = _in_order(
                np.append(value, space.values[:n_vectors]),
                _signed(np.column_stack([known, vectors])),
                np.append(np.linalg.norm(image - value * known), space.residuals[:n_vectors]),
                self.S.degrees,
            )
            return replace(found, vectors=self.in_own_order(found.vectors))

    def measured(self, vectors: Float) -> Eigenvectors:
        """Vectors in the order, as eigenvectors in the points' own."""
        found = _measured(self.product, vectors, self.S.degrees)
        return replace(found, vectors=self.in_own_order(found.vectors))

    def _aim(self, n_vectors: int) -> Tolerance:
        """Residuals that leave the space up to the last gap in place, if there are few points."""
        if len(self.order) > _SMALL:
            return lambda values, lengths: _AIM
        return lambda values, lengths: _gap_aim(values, lengths, n_vectors)

    def leading(self, known: Any, n_vectors: int, start: Float, tol: float | Tolerance) -> Space:
        """The leading space orthogonal to the ``known`` columns, guards included; points in the order."""
        late = len(self.order) <= _RANDOM_START
        return leading_space(
            self.product,
            start,
            n_vectors,
            n_guarded(n_vectors, len(self.order)),
            precondition=self._precondition if late or self.hierarchy is not None else None,
            tol=tol,
            max_steps=_STEPS,
            known=known,
            setup=_SETUP if late else 0.0,
            recur=self._recur,
        )

    def _recur(self, Y: Float | None, R: Float | None, weights: Float) -> Float:
        return three_terms(self.inner, Y, R, weights)

    def start(self, n_columns: int, rng: np.random.Generator) -> Float:
        """The parts' vectors beside the hierarchy's leading ones, or smoothed random columns without it."""
        parts = part_vectors(self.part, self.root)
        if len(self.order) > _RANDOM_START and self.hierarchy is not None:
            start = self.hierarchy.start(n_columns)
        else:
            drawn = _drawn(rng, len(self.order), n_columns)
            start = self.smooth(drawn if parts is None else drawn - parts @ (parts.T @ drawn))
        return start if parts is None else np.column_stack([parts, start])

    def smooth(self, V: Float) -> Float:
        """Columns of which what varies slowly along the links is left."""
        if len(self.order) > _RANDOM_START and self.hierarchy is not None:
            return self.hierarchy.solve(V)
        return amplified(self._recur, V)

    def smooth_and_start(
        self, n_smooth: int, n_columns: int, rng: np.random.Generator
    ) -> tuple[Float, Float]:  # (N, n_smooth), (N, n_columns)
        """Smoothed random columns, and others to start from."""
        if len(self.order) > _RANDOM_START:
            drawn = rng.normal(size=(len(self.order), n_smooth))
            return self.smooth(drawn), self.start(n_columns, rng)
        both = self.smooth(_drawn(rng, len(self.order), n_smooth + n_columns))
        return both[:, :n_smooth], both[:, n_smooth:]

    def _precondition(self, R: Float) -> Float | None:
        return None if self.hierarchy is None else self.hierarchy.solve(R)

    def in_own_order(self, V: Float) -> Float:  # (N, m)
        out = np.empty_like(V)
        out[self.order] = V
        return out


def _with_detail(space: Space, n_vectors: int, rng: np.random.Generator) -> Float:  # (N, n_vectors)
    """The leading vectors, those of closed parts moved along the next ones by half of their tolerance.

    They are constant on a part, whatever groups it holds; the next ones tell these apart.
    """
    values, leading, guards = space.values, space.vectors[:, :n_vectors], space.vectors[:, n_vectors:]
    gaps = np.maximum(values[:n_vectors] - values[n_vectors:, None], 1e-300)  # (guards, n_vectors)
    sizes = np.minimum(_ANGLE, _AIM / gaps) / 2 / np.sqrt(max(len(gaps), 1))
    sizes[:, values[:n_vectors] < 1 - _AIM] = 0.0
    moved = leading + guards @ (sizes * rng.choice([-1.0, 1.0], gaps.shape))
    return np.asarray(moved / np.linalg.norm(moved, axis=0))


def _gap_aim(values: Float, lengths: Float, n_vectors: int) -> Float:  # (b,) ×2 -> (b,)
    """Residuals at which the space up to the last gap among the wanted ones is in place by ``_ANGLE``.

    A vector of residual r is r/δ away from what lies outside the block, δ its distance from there; and by
    way of it r·r'/(δ·γ) from one inside, of residual r' at a distance γ. So guards help here, too.
    """
    aim = np.full(len(values), _CLOSE_AIM)
    gaps = np.flatnonzero(values[:n_vectors] - values[1 : n_vectors + 1] > _GAP)
    if len(gaps):
        last = int(gaps[-1])
        aim[:] = _AIM
        below = slice(last + 1, None)
        outside = values[last] - values[(last + len(values)) // 2]  # half-way: the last ones may be too low
        inside = np.linalg.norm(lengths[below] / (values[last] - values[below]))
        enough = max(_ANGLE / 2 * outside / max(1.0, inside), _ANGLE * (values[last] - values[last + 1]))
        aim[: last + 1] = np.clip(enough, _FINE_AIM, _AIM)
    return aim


def _drawn(rng: np.random.Generator, n_points: int, n_columns: int) -> Float:  # (n_points, n_columns)
    """Whole numbers of one byte, drawn in a twentieth of the time that normal ones take."""
    return rng.integers(-127, 127, (n_points, n_columns), np.int8, endpoint=True).astype(np.float64)


def n_guarded(n_vectors: int, n_points: int) -> int:
    """Columns of a block that seeks so many vectors."""
    if n_points <= _RANDOM_START:
        n = n_vectors + max(_GUARDS, n_vectors // 2)
        return min(-(-n // 8) * 8, n_points // 3)
    return min(n_vectors + _GUARDS + n_vectors // 10, n_points // 3)


def _by_haar(
    laplacian: TreeLaplacian, S: SymmetrizedOperator, points: Index, n_vectors: int
) -> Float:  # (n, k)
    """Eigenvectors after the first on the tree's points, from the Haar functions of the least 1 − λ.

    A small bandwidth makes groups that are left with probabilities like e^(−500): eigenvalues with 1 − λ from
    1e-250 to 1 in one matrix, all of them 1 in floating point. Each Haar function's own 1 − λ,
    ν_P/(mean of D over h_P²), decides which come first. Those hidden by rounding are eigenvectors already,
    made orthogonal in their order; the others are found by one block with the inverse of 1 − S (theory: The
    Haar Laplacian of one tree) as its preconditioner.
    """
    degrees = S.degrees[points]
    root = np.sqrt(degrees)[:, None]
    spread = laplacian.mean_over_haar(degrees)
    gaps = laplacian.eigenvalues / spread  # 1 − λ
    ascending = np.argsort(gaps, kind="stable")
    n_hidden = min(int(np.count_nonzero(gaps < _HIDDEN)), n_vectors)
    n_columns = n_guarded(n_vectors - n_hidden, len(points))
    functions = root * laplacian.functions(ascending[: n_hidden + n_columns])
    known = np.linalg.qr(np.column_stack([root, functions[:, :n_hidden]]))[0]
    if n_hidden == n_vectors:
        return np.asarray(known[:, 1:])
    product, diagonal = laplacian.inverse(np.maximum(gaps, _FLOOR * gaps[ascending[n_vectors - 1]]) * spread)

    def precondition(R: Float) -> Float:
        R = np.ascontiguousarray(root * R)
        out = np.empty_like(R)
        product.apply(R, "forward", out, S.n_jobs)
        return np.asarray(root * (out + diagonal[:, None] * R))

    def times(V: Float) -> Float:
        whole = np.zeros((S.shape[0], V.shape[1]))
        whole[points] = V
        return np.asarray(S.dot(whole))[points]

    with one_blas_thread():
        space = leading_space(
            times,
            functions[:, n_hidden:],
            n_vectors - n_hidden,
            n_columns,
            precondition=precondition,
            tol=_EXACT_AIM,
            max_steps=_STEPS,
            known=known,
            cycle=_INVERSE,
        )
    return np.column_stack([known[:, 1:], space.vectors[:, : n_vectors - n_hidden]])


def diffusion_coordinates(
    op: Any, n_components: int, *, time: float = 1.0, random_state: Any = None
) -> tuple[Float, Eigenvectors]:  # (N, k), with k + 1 vectors
    """Diffusion coordinates λ_k^t·ψ_k(i) (Coifman and Lafon 2006), and the eigenvectors they are made of.

    ψ = D^(−1/2)·v are the eigenvectors of the reversible walk D^(−1)·(M + Mᵀ)/2, of mean square 1 under its
    stationary distribution; the constant one is left out. An eigenvalue below 0 counts as 0. Where the walk
    has more closed parts than there are coordinates, all mixtures of the parts' vectors are eigenvectors of
    eigenvalue 1; those taken give every part a place of its own (``mixed_eigenvectors``).
    """
    rng, S = generator(random_state), symmetrized(op)
    S, kept = _on_core(S, n_components + 1)
    found = mixed_eigenvectors(S, n_components, rng) or _leading(S, n_components + 1, rng, True)
    degrees = np.where(found.degrees > 0, found.degrees, 1.0)
    psi = found.vectors[:, 1:] * np.sqrt(found.degrees.sum() / degrees)[:, None]
    psi *= np.maximum(found.values[1:], 0.0) ** time
    if kept is not None and S.operator.tree is not None:
        psi = from_nearest_node(S.operator.tree, psi, kept)
    return np.asarray(psi), found


def _on_core(S: SymmetrizedOperator, n_groups: int) -> tuple[SymmetrizedOperator, NDArray[np.bool_] | None]:
    """S of the points that may be in one of so many groups, and these; None for all points."""
    if S.operator.tree is None:
        return S, None
    kept = core_points(walk_parts(S), S, n_groups)
    if kept.all() or kept.sum() <= n_groups:
        return S, None
    return S.restricted(kept), kept


def mixed_eigenvectors(
    S: SymmetrizedOperator, n_components: int, rng: np.random.Generator
) -> Eigenvectors | None:
    """Eigenvectors of 1 within half of ``TOL`` that tell all closed parts apart; None where parts are fewer.

    Each part has one place of its own. Inside it, the leading vectors that are 0 on average over every part
    are added, μ their eigenvalue, at a size of at most ``TOL``/(1 − μ): so residuals stay below ``TOL``, and
    what a part nearly falls into is the further apart the more it does.
    """
    blocks = _Blocks(S)
    part = blocks.part
    if part.max() + 1 <= n_components + 1:
        return None
    if not closed_parts(blocks.inner, part, TOL / 4):
        return None
    root = blocks.root / np.linalg.norm(blocks.root)
    places = mixed_parts(part, root**2, n_components, rng)
    with one_blas_thread():
        inside = _inside_parts(blocks, n_components, rng)
        share = TOL / 2 / np.sqrt(max(inside.shape[1] / n_components, 1.0))
        residuals = np.maximum(np.linalg.norm(blocks.product(inside) - inside, axis=0), TOL)
        # Not so far from its part's place that it would come near another's.
        reach = np.max(np.abs(inside) / np.where(root > 0, root, np.inf)[:, None], axis=0, initial=1e-300)
        sizes = np.minimum(share / residuals, 0.1 * places.distance / reach)
        vectors = root[:, None] * places.values[part]
        for first in range(0, inside.shape[1], n_components):
            block = slice(first, first + n_components)
            vectors[:, : len(sizes[block])] += inside[:, block] * sizes[block]
        vectors /= np.linalg.norm(vectors, axis=0)
        return blocks.measured(np.column_stack([root, vectors]))


def _inside_parts(
    blocks: _Blocks, n_components: int, rng: np.random.Generator
) -> Float:  # (N, m), unit columns, points in the blocks' order
    """Vectors orthogonal to the parts' own, which tell the points of a part apart.

    One smooth one per coordinate, of equal size in all parts; then the leading ones, which lie where a part
    nearly falls apart: as many as coordinates, and 4 at least.
    """
    part, n_points = blocks.part, len(blocks.order)
    known = sparse_indicators(part, blocks.root)
    n_vectors = min(max(n_components, _INSIDE), (n_points - known.shape[1]) // 4)
    smooth, start = blocks.smooth_and_start(n_components, n_guarded(n_vectors, n_points), rng)
    smooth -= known @ (known.T @ smooth)
    sizes = np.sqrt(np.column_stack([np.bincount(part, column**2) for column in smooth.T]))
    smooth *= np.sqrt(np.bincount(part) / len(part))[part, None] / np.maximum(sizes, 1e-300)[part]
    smooth /= np.maximum(np.linalg.norm(smooth, axis=0), 1e-300)
    if n_vectors < 1:
        return np.asarray(smooth)
    leading = blocks.leading(known, n_vectors, start, _roughly).vectors[:, :n_vectors]
    return np.column_stack([smooth, leading])


def _roughly(values: Float, lengths: Float) -> Float:  # (b,) ×2 -> (b,)
    """Residuals of vectors that are to tell points apart, no more: a twentieth of 1 − λ."""
    return np.maximum(10 * TOL, (1 - values) / 20)


def cluster_coordinates(
    op: Any, n_clusters: int, random_state: Any = None, among: NDArray[np.bool_] | None = None
) -> tuple[Float, NDArray[np.bool_] | None]:  # (N, k), (N,)
    """The leading eigenvectors of S with every row scaled to length 1 (Ng et al. 2002).

    Where the walk has at least as many closed parts as clusters, those of the strongest links count as one.
    Outliers and isolated points are left out of S (``core_points``): the mask says who is in, None for all.
    ``among`` (N,) are the points to begin with.
    """
    S = symmetrized(op)
    S, kept = _on_core(S if among is None else S.restricted(among), n_clusters)
    group = closed_groups(S, walk_parts(S), n_clusters, TOL / 4)
    if group is not None:
        return np.eye(n_clusters)[group], kept
    return unit_rows(_leading(S, n_clusters, generator(random_state)).vectors), kept


def cluster_spectrum(
    op: Any, n_vectors: int, random_state: Any = None
) -> tuple[Eigenvectors, NDArray[np.bool_] | None]:
    """The eigenvectors from which the number of clusters is chosen, and who is in, as above."""
    S, kept = _on_core(symmetrized(op), n_vectors)
    return _leading(S, n_vectors, generator(random_state)), kept


def unit_rows(vectors: Float) -> Float:  # (N, k)
    """Every row scaled to length 1; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def extended_coordinates(extended: Any, coordinates: Float) -> Float:  # (n_new, N) · (N, k) -> (n_new, k)
    """Nyström's formula for new points: (row · coordinates) / eigenvalue.

    A new point's row is its nearest training point's in the reversible walk but for a share m at that one
    (``bvdt.operators.extended``), which gives ((1 − m)·λ + m)·ψ, divided by the eigenvalue (1 − m)·λ + m of
    such a row. So a new point has the coordinates of its nearest, and a fitted point its own.
    """
    return np.asarray(coordinates[extended.nearest])
