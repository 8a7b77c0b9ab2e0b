"""Leading eigenvectors of the symmetrised walk, and the coordinates made of them; no N×N matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from .._support.arrays import Float
from .._support.running import generator, n_threads
from ..operators import SymmetrizedOperator
from .components import known_vectors
from .haar import TreeLaplacian
from .inputs import symmetrized

_DENSE = 64  # up to this many points the matrix is made and solved whole
_GRADED = (1e-8, 1e-6)  # of the last wanted 1 − λ: what smaller ones are raised to; see ``_by_inverse``


def leading_eigenvectors(
    op: Any, n_vectors: int, random_state: Any = None, *, mixed: bool = False
) -> tuple[Float, Float, Float]:  # (k,), (N, k), (N,)
    """Largest eigenvalues of S = D^(−1/2)·(M + Mᵀ)/2·D^(−1/2), their unit eigenvectors, and D's diagonal.

    The first pair, 1 and D^(1/2)·1, is known. The others are Lanczos's: for a single tree of the coarsest
    partition with the inverse of 1 − S, which converges at once; else with S, without the eigenvectors that
    are known already (``bvdt.walks.components``; ``mixed`` where there are more parts than vectors). Its
    start is drawn from ``random_state``; each vector's entry of largest size is positive.
    """
    S = symmetrized(op)
    n_points = S.shape[0]
    if not 1 <= n_vectors <= n_points:
        raise ValueError(f"n_vectors needs a number from 1 to {n_points}, the points; got {n_vectors}")
    first = np.sqrt(S.degrees / S.degrees.sum())
    if n_points <= max(_DENSE, n_vectors + 1):
        values, vectors = np.linalg.eigh(S @ np.eye(n_points) - 2 * np.outer(first, first))
    else:
        from threadpoolctl import threadpool_limits  # here, so that ``import bvdt`` stays light

        rng, laplacian = generator(random_state), TreeLaplacian.of(op)
        start = rng.normal(size=n_points)
        # Lanczos turns between short vector products and the walk's; threads of both would wait in turn.
        with threadpool_limits(1, "blas"):
            if laplacian is None:
                known = known_vectors(op, S, n_vectors - 1, rng if mixed else None)
                values, vectors = _by_products(S, known, n_vectors - 1, start)
            else:
                values, vectors = _by_inverse(laplacian, S, first, n_vectors - 1, start)
    leading = np.argsort(-values, kind="stable")[: n_vectors - 1]
    values = np.concatenate([[1.0], values[leading]])
    vectors = np.column_stack([first, vectors[:, leading]])
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.where(vectors[largest, np.arange(n_vectors)] < 0, -1.0, 1.0)
    return values, vectors, S.degrees


def _by_products(
    S: SymmetrizedOperator, known: Float, n_vectors: int, start: Float
) -> tuple[Float, Float]:  # (k,), (N, k)
    """Eigenpairs after the first, which is the first of the ``known`` ones; what is missing by Lanczos on S.

    The known ones are moved from 1 to −1: Lanczos may find one vector of a multiple eigenvalue and miss the
    others, and is slow where they are close.
    """
    values, vectors = np.ones(known.shape[1] - 1), known[:, 1:]
    missing = n_vectors - len(values)
    if missing <= 0 and n_vectors > 0:
        return values, vectors
    rest = LinearOperator(S.shape, matvec=lambda v: S @ v - 2 * known @ (known.T @ v), dtype=np.float64)
    n_lanczos = min(len(start), max(4 * missing + 4, 40))
    further = eigsh(rest, max(missing, 1), which="LA", v0=start, ncv=n_lanczos)
    return np.append(values, further[0]), np.column_stack([vectors, further[1]])


def _by_inverse(
    laplacian: TreeLaplacian, S: SymmetrizedOperator, first: Float, n_vectors: int, start: Float
) -> tuple[Float, Float]:  # (k,), (N, k)
    """Eigenpairs after the first, by Lanczos on Π·√D·L⁺·√D·Π, whose eigenvalues are 1/(1 − λ).

    A small bandwidth makes groups that are left with probabilities like e^(−500): eigenvalues with 1 − λ from
    1e-250 to 1 in one matrix, all of them 1 in floating point. Each Haar function's own 1 − λ,
    ν_P/(mean of D over h_P²), tells which are the leading ones. Those that are far smaller than the last
    wanted one are raised to a millionth of it and below, in their order: λ does not change, nor the space
    that the vectors span, but for about a millionth, and Lanczos sees them all.
    """
    k, root, threads = max(n_vectors, 1), np.sqrt(S.degrees), n_threads(S.operator.n_jobs)
    spread = laplacian.mean_over_haar(S.degrees)
    gaps = laplacian.eigenvalues / spread  # 1 − λ
    ascending = np.argsort(gaps, kind="stable")
    last = max(float(gaps[ascending[k - 1]]), 1e-290)
    scaled = np.maximum(gaps / last, 1.0)
    leading = gaps[ascending[:k]] / last
    tiny = leading < _GRADED[1]
    leading[tiny] = np.geomspace(*_GRADED, np.count_nonzero(tiny))
    scaled[ascending[:k]] = leading
    product, diagonal = laplacian.inverse(scaled * spread)

    def apply(v: Float) -> Float:  # (N,) -> (N,)
        v = root * (v - first * (first @ v))
        out = np.empty((len(v), 1))
        product.apply(v[:, None], out, False, threads)
        v = root * (out[:, 0] + diagonal * v)
        return v - first * (first @ v)

    inverse = LinearOperator(S.shape, matvec=apply, dtype=np.float64)
    values, vectors = eigsh(inverse, k, which="LA", v0=start, ncv=min(len(first), 2 * k + 20), tol=1e-8)
    return 1.0 - last / values, vectors


def diffusion_coordinates(
    op: Any, n_components: int, *, time: float = 1.0, random_state: Any = None
) -> tuple[Float, Float]:  # (N, k), (k,)
    """Diffusion coordinates λ_k^t·ψ_k(i) (Coifman and Lafon 2006), and the eigenvalues λ_k.

    ψ = D^(−1/2)·v are the eigenvectors of the reversible walk D^(−1)·(M + Mᵀ)/2, of mean square 1 under its
    stationary distribution; the constant one is left out. An eigenvalue below 0 counts as 0.
    """
    values, vectors, degrees = leading_eigenvectors(op, n_components + 1, random_state, mixed=True)
    psi = vectors[:, 1:] * np.sqrt(degrees.sum() / degrees)[:, None]
    values = np.maximum(values[1:], 0.0)
    return psi * values**time, values


def cluster_coordinates(op: Any, n_clusters: int, random_state: Any = None) -> Float:  # (N, k)
    """The leading eigenvectors of S with every row scaled to length 1 (Ng, Jordan and Weiss 2002)."""
    _, vectors, _ = leading_eigenvectors(op, n_clusters, random_state)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def extended_coordinates(extended: Any, coordinates: Float) -> Float:  # (n_new, N) · (N, k) -> (n_new, k)
    """Nyström's formula for new points: (row · coordinates) / eigenvalue.

    A new point's row is its twin's in the reversible walk but for a share m at the twin itself
    (``bvdt.operators.extended``), which gives ((1 − m)·λ + m)·ψ(twin), divided by the eigenvalue
    (1 − m)·λ + m of such a row. So a new point has its twin's coordinates, and a fitted point its own.
    """
    return np.asarray(coordinates[extended.twin])
