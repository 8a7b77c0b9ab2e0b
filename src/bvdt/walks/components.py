"""Parts of a walk that hardly touch: functions constant on them are eigenvectors of eigenvalue 1, nearly.

The links of a near field, or of a sparse matrix, may fall into c parts. What a tree adds between them can be
as little as e^(−200) of a row, and then the c functions √D·1_C are eigenvectors of S within rounding, and so
are all of their mixtures. They are where the block of :mod:`bvdt.walks.subspace` starts from; only where
there are more of them than vectors are wanted is a choice to be made, and it is made here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from .._support.arrays import Float
from ..operators import ForestOperator, SymmetrizedOperator
from .inputs import symmetrized

_LINK = 1e-10  # v_Cᵀ·S·v_B of two parts' unit vectors above which they are one
_MOST = 256  # parts that are looked at one by one
_DRAWS = 16  # of random places
_PAIRED = 32  # places that are compared all with all
_LARGEST = 1 << 26  # points times parts that are looked at; beyond, there are hardly parts but crumbs


@dataclass(frozen=True, eq=False)
class Places:
    """A place of its own for each part: of mean 0, mean square 1 and orthogonal under the parts' masses."""

    values: Float  # (c, k)
    distance: float  # between the two nearest


def part_vectors(part: NDArray[np.intp] | None, root: Float) -> Float | None:  # (N,) ×2 -> (N, c)
    """√D·1_C of every part, scaled to length 1: a space to start from; None without parts, or with crumbs."""
    if part is None or part.max() == 0 or part.max() >= min(_MOST, _LARGEST // len(part)):
        return None
    return indicators(part, root, least=1e-150)


def closed_parts(S: Any, part: NDArray[np.intp], tol: float) -> bool:
    """Whether functions that are constant on the parts are eigenvectors of 1 but for residuals of ``tol``.

    Asked of a few random ones.
    """
    values = np.random.default_rng(0).normal(size=(int(part.max()) + 1, 4))
    V = np.sqrt(S.degrees)[:, None] * values[part]
    V /= np.linalg.norm(V, axis=0)
    return bool((np.linalg.norm(np.asarray(S.dot(V)) - V, axis=0) <= tol).all())


def closed_groups(op: Any, n_groups: int, tol: float) -> NDArray[np.intp] | None:  # (N,)
    """Each point's group, parts of the strongest links joined; None unless closed parts are as many."""
    part = parts_of(op)
    if part is None or not n_groups <= part.max() + 1 <= min(_MOST, _LARGEST // len(part)):
        return None
    S = symmetrized(op)
    if not closed_parts(S, part, tol):
        return None
    vectors = indicators(part, np.sqrt(S.degrees), least=1e-150)
    return strongest_joined(vectors.T @ np.asarray(S @ vectors), n_groups, least=np.inf)[part]


def mixed_parts(
    part: NDArray[np.intp], mass: Float, n_columns: int, rng: np.random.Generator
) -> Places:  # (N,) ×2
    """Places drawn at random, from the draw whose two nearest parts are furthest apart."""
    masses = np.bincount(part, mass)
    n_draws = _DRAWS if len(masses) <= _MOST else 1
    root = np.sqrt(masses)[:, None]
    drawn = rng.normal(size=(n_draws, len(masses), n_columns))
    drawn -= (masses @ drawn / masses.sum())[:, None]
    drawn = np.linalg.qr(root * drawn)[0] / root
    distances = _nearest_two(drawn)
    best = int(np.argmax(distances))
    return Places(drawn[best], float(distances[best]))


def _nearest_two(drawn: Float) -> Float:  # (n, c, k) -> (n,)
    """Distance of the two nearest places, of every draw."""
    if drawn.shape[1] <= _PAIRED:
        one, other = np.triu_indices(drawn.shape[1], 1)
        apart = drawn[:, one] - drawn[:, other]
        return np.asarray(np.sqrt(np.einsum("npj,npj->np", apart, apart).min(axis=1)))
    from scipy.spatial import cKDTree  # here: few walks need it, and it takes 4 MiB

    return np.array([cKDTree(places).query(places, 2)[0][:, 1].min() for places in drawn])


def separate_parts(op: Any, S: SymmetrizedOperator) -> NDArray[np.intp]:  # (N,)
    """Number of each point's part, parts with a link that counts being one; all 0 where there are none."""
    if isinstance(op, np.ndarray):
        return np.asarray(connected_components(csr_array(op), directed=False)[1], np.intp)
    part = parts_of(op)
    n_parts = 1 if part is None else int(part.max()) + 1
    if part is None or n_parts == 1 or n_parts > _LARGEST // len(part):
        return np.zeros(S.shape[0], np.intp)
    if issparse(op):
        return part
    vectors = indicators(part, np.sqrt(S.degrees))
    return strongest_joined(vectors.T @ np.asarray(S @ vectors), n_parts)[part]


def indicators(part: NDArray[Any], root: Float, least: float = 0.0) -> Float:  # (N,), (N,) -> (N, c)
    """√D·1_C of every part, scaled to length 1; of length 0 for a part without links, if ``least`` > 0."""
    found = np.zeros((len(part), int(part.max()) + 1))
    found[np.arange(len(part)), part] = root
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=0), least))


def sparse_indicators(part: NDArray[Any], root: Float) -> Any:  # (N,), (N,) -> CSR (N, c)
    """√D·1_C of every part, scaled to length 1, as a sparse matrix."""
    length = np.sqrt(np.bincount(part, root**2))
    values = root / np.maximum(length, 1e-150)[part]
    return csr_array((values, part, np.arange(len(part) + 1)), shape=(len(part), len(length)))


def parts_of(op: Any) -> NDArray[np.intp] | None:  # (N,)
    """Number of each point's part in the near field, or in a sparse matrix; None without either."""
    near = op.near if isinstance(op, ForestOperator) else None
    if near is not None:
        return near.parts
    return np.asarray(connected_components(op, directed=False)[1], np.intp) if issparse(op) else None


def strongest_joined(link: Float, n_groups: int, least: float = _LINK) -> NDArray[np.intp]:  # (c, c) -> (c,)
    """Groups of parts: pairs are joined, the strongest first, while a link exceeds ``least`` or groups are
    too many.

    Links range over hundreds of orders of magnitude, so their order is all that tells.
    """
    n_parts = len(link)
    group = np.arange(n_parts)
    one, other = np.triu_indices(n_parts, 1)
    strength = np.maximum(link, link.T)[one, other]
    for pair in np.argsort(-strength, kind="stable"):
        if strength[pair] <= least and len(np.unique(group)) <= n_groups:
            break
        group[group == group[other[pair]]] = group[one[pair]]
    return np.unique(group, return_inverse=True)[1]
