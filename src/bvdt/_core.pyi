"""Kernels: stateless functions of C-contiguous arrays; bad sizes raise ValueError.

Shapes: N points, d features, n of them in play, S segments. ``num_threads`` never changes a result.
"""

from typing import overload

import numpy as np
from numpy.typing import NDArray

_F = NDArray[np.float64]
_I = NDArray[np.int32]
_L = NDArray[np.int64]

# -- anchor.cpp: Eq. (7) and Proposition 1 -----------------------------------------------------------------

@overload
def anchor_steal(
    X: _F,  # (N, d)
    H: _F,  # (N, d)
    u: _F,  # (N,)
    w: _F,  # (N,)
    points: _I,  # (n,)
    distance: _F,  # (n,) to its pivot, changed
    owner: _I,  # (n,) its anchor, changed
    threshold: _F,  # (anchors so far,), or empty for no pruning
    pivot: int,  # the new one's position in points
    anchor: int,  # the new one's number
    num_threads: int,
    /,
) -> tuple[int, int]:
    """Gives a new anchor what is nearer to its pivot: (divergences evaluated, farthest position or −1)."""

@overload
def anchor_steal(
    indptr: _L,  # (N+1,)
    indices: _I,  # (nnz,)
    x: _F,  # (nnz,)
    h: _F,  # (nnz,)
    d: int,
    u: _F,
    w: _F,
    points: _I,
    distance: _F,
    owner: _I,
    threshold: _F,
    pivot: int,
    anchor: int,
    num_threads: int,
    /,
) -> tuple[int, int]: ...
@overload
def anchor_grow(
    X: _F,  # (N, d)
    H: _F,  # (N, d)
    u: _F,  # (N,)
    w: _F,  # (N,)
    points: _I,  # (n,)
    distance: _F,  # (n,) filled
    owner: _I,  # (n,) filled, from 0 in each segment
    offsets: _L,  # (S+1,) into points
    first: _L,  # (S,) the first pivot's position in its segment
    pivot_offsets: _L,  # (S+1,) into pivots; the differences are the anchors wanted
    pivots: _I,  # (pivot_offsets[S],) filled
    grown: _I,  # (S,) filled: anchors grown
    num_threads: int,
    /,
) -> int:
    """All anchors of S segments, without pruning; returns the divergences evaluated."""

@overload
def anchor_grow(
    indptr: _L,
    indices: _I,
    x: _F,
    h: _F,
    d: int,
    u: _F,
    w: _F,
    points: _I,
    distance: _F,
    owner: _I,
    offsets: _L,
    first: _L,
    pivot_offsets: _L,
    pivots: _I,
    grown: _I,
    num_threads: int,
    /,
) -> int: ...
