"""Parts of a walk that hardly touch: its eigenvectors of eigenvalue 1, to rounding, are known beforehand.

The links of a near field, or of a sparse matrix, may fall into c parts. What a tree adds between them can be
as little as e^(−200) of a row, and then the c functions √D·1_C are eigenvectors of S within rounding. Lanczos
finds a few of them at most: 3 of 12 on 50 000 digits in 13 parts, after 4 000 products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from .._support.arrays import Float
from ..operators import ForestOperator, SymmetrizedOperator

_LINK = 1e-10  # v_Cᵀ·S·v_B of two parts' unit vectors above which they are one
_LARGEST = 1 << 26  # points times parts that are looked at; beyond, there are hardly parts but crumbs


def known_vectors(
    op: Any, S: SymmetrizedOperator, n_further: int, rng: np.random.Generator | None = None
) -> Float:  # (N, at most 1 + n_further)
    """Orthonormal eigenvectors of S with eigenvalue 1 within rounding, D^(1/2)·1 first.

    There may be more than are wanted, and all of their mixtures are eigenvectors too. Without ``rng`` the
    parts with the strongest links count as one, which leaves ``n_further + 1`` groups; with it the vectors
    are mixtures drawn at random, in which every part has a place of its own.
    """
    root = np.sqrt(S.degrees)
    part = parts_of(op)
    n_parts = 1 if part is None else int(part.max()) + 1
    if part is None or n_parts > _LARGEST // len(root):
        part, n_parts = np.zeros(len(root), np.intp), 1
    if n_parts > 1:
        vectors = indicators(part, root)
        n_groups = n_parts if rng is not None else n_further + 1
        part = strongest_joined(vectors.T @ np.asarray(S @ vectors), n_groups)[part]
    vectors = indicators(part, root)
    # Turned so that the first one is D^(1/2)·1.
    whole = root / np.linalg.norm(root)
    size = (vectors.shape[1], vectors.shape[1] - 1)
    others = np.eye(*size) if rng is None else rng.normal(size=size)
    turned = np.linalg.qr(np.column_stack([vectors.T @ whole, others]))[0]
    return np.column_stack([whole, vectors @ turned[:, 1 : n_further + 1]])


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


def parts_of(op: Any) -> NDArray[np.intp] | None:  # (N,)
    """Number of each point's part in the near field, or in a sparse matrix; None without either."""
    near = op.near if isinstance(op, ForestOperator) else None
    links = op if issparse(op) else None if near is None else near.matrix
    return None if links is None else np.asarray(connected_components(links, directed=False)[1], np.intp)


def strongest_joined(link: Float, n_groups: int) -> NDArray[np.intp]:  # (c, c) -> (c,)
    """Groups of parts: pairs are joined, the strongest first, while their link counts or groups are too many.

    Links range over hundreds of orders of magnitude, so their order is all that tells.
    """
    n_parts = len(link)
    group = np.arange(n_parts)
    one, other = np.triu_indices(n_parts, 1)
    strength = np.maximum(link, link.T)[one, other]
    for pair in np.argsort(-strength, kind="stable"):
        if strength[pair] <= _LINK and len(np.unique(group)) <= n_groups:
            break
        group[group == group[other[pair]]] = group[one[pair]]
    return np.unique(group, return_inverse=True)[1]
