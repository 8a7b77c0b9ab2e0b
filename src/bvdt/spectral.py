"""Leading eigenvectors of the symmetrised walk, and the coordinates made of them; no N×N matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from ._running import generator
from .walks import symmetrized

Float = NDArray[np.float64]

_DENSE = 64  # up to this many points the matrix is made and solved whole


def leading_eigenvectors(
    op: Any, n_vectors: int, random_state: Any = None
) -> tuple[Float, Float, Float]:  # (k,), (N, k), (N,)
    """Largest eigenvalues of S = D^(−1/2)·(M + Mᵀ)/2·D^(−1/2), their unit eigenvectors, and D's diagonal.

    The first pair, 1 and D^(1/2)·1, is known and moved to −1, so that parts which hardly touch, with further
    eigenvalues next to 1, do not keep Lanczos from converging. Its start is drawn from ``random_state``; each
    vector's entry of largest size is positive.
    """
    S = symmetrized(op)
    n_points = S.shape[0]
    if not 1 <= n_vectors <= n_points:
        raise ValueError(f"n_vectors needs a number from 1 to {n_points}, the points; got {n_vectors}")
    first = np.sqrt(S.degrees / S.degrees.sum())
    if n_points <= max(_DENSE, n_vectors + 1):
        values, vectors = np.linalg.eigh(S @ np.eye(n_points) - 2 * np.outer(first, first))
    else:
        rest = LinearOperator(S.shape, matvec=lambda v: S @ v - 2 * first * (first @ v), dtype=np.float64)
        start = generator(random_state).normal(size=n_points)
        n_lanczos = min(n_points, max(4 * n_vectors, 40))
        values, vectors = eigsh(rest, max(n_vectors - 1, 1), which="LA", v0=start, ncv=n_lanczos)
    leading = np.argsort(-values, kind="stable")[: n_vectors - 1]
    values = np.concatenate([[1.0], values[leading]])
    vectors = np.column_stack([first, vectors[:, leading]])
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.where(vectors[largest, np.arange(n_vectors)] < 0, -1.0, 1.0)
    return values, vectors, S.degrees


def diffusion_coordinates(
    op: Any, n_components: int, *, time: float = 1.0, random_state: Any = None
) -> tuple[Float, Float]:  # (N, k), (k,)
    """Diffusion coordinates λ_k^t·ψ_k(i) (Coifman and Lafon 2006), and the eigenvalues λ_k.

    ψ = D^(−1/2)·v are the eigenvectors of the reversible walk D^(−1)·(M + Mᵀ)/2, of mean square 1 under its
    stationary distribution; the constant one is left out. An eigenvalue below 0 counts as 0.
    """
    values, vectors, degrees = leading_eigenvectors(op, n_components + 1, random_state)
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
    (``bvdt.extend``), which gives ((1 − m)·λ + m)·ψ(twin), divided by the eigenvalue (1 − m)·λ + m of such a
    row. So a new point has its twin's coordinates, and a fitted point its own.
    """
    return np.asarray(coordinates[extended.twin])
