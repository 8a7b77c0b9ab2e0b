"""Lifted form of Eq. (11): after one pass over the data no later stage needs to know φ.

    d_ij = u_i + w_j − ⟨x_i, h_j⟩

Dense points: x is the (smoothed) point x', h = ∇φ(x'), u = φ(x').
Sparse points, with every coordinate's baseline e: x = x' − e and h = ∇φ(x') − ∇φ(e) vanish wherever the datum
is zero, and u = d_φ(x', e). Either way d_ii = 0 leaves w = ⟨x, h⟩ − u, which is φ*(h) or d_φ(e, x').
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._support import memory
from .._support.arrays import Chosen, Float, Index, Integers
from .._support.defaults import DIVERGENCE
from .._support.mixed import Mixed, above, blocks_of, inner_products
from .._support.running import n_threads
from .._support.sparse import CSR, Points, PointsLike, is_sparse
from ..divergences import BregmanDivergence, Product, get
from .columns import Columns
from .points import as_points, extremes, refuse_entry
from .rounding import refuse_rounding
from .smoothing import resolve_smoothing

_NEAR = 1 << 15  # values handled several times while the CPU keeps them near
_BATCH = 1 << 19  # values handled at once: the temporaries stay small beside the data
_MIDDLE = 512  # rows that the data's middle is found on
_PER_FEATURE = 8  # values per feature that are held while sparse data are lifted and cut, at most
_CSR = ("data", "indices", "indptr")
KernelArrays: TypeAlias = tuple[Any, ...]  # what ``Lifted.arrays`` gives, and the kernels' overloads take
_FAR = 10.0  # median of a sparse column over its deviation from which on the column is centered


@dataclass(frozen=True, eq=False)
class Lifting:
    """The map from data to lifted points: x' = scale·x + smoothing − offset, and where x' is stored."""

    divergence: BregmanDivergence  # with what it learned from the data
    smoothing: Float  # (d,) e; zeros for none
    scale: Float | float  # 1, or (d,) where x + e would leave the domain
    offset: Float | None  # (d,) the data's middle, for a translation-invariant divergence
    sparse: bool
    columns: Columns | None = None  # those in use, where most of the data's are not

    @property
    def n_features(self) -> int:
        """Of the data; ``smoothing`` has an entry per feature in use."""
        if self.columns is not None:
            return self.columns.width
        return len(self.smoothing) - self.divergence.n_added

    def transform(self, X: PointsLike) -> Lifted:
        """New points, lifted as the first ones were, so that both can be mixed in d_ij."""
        given, X = X, as_points(X, minimum=1)
        points = X
        if X.shape[1] != self.n_features:
            raise ValueError(f"X needs {self.n_features} features, as the lifted data; it has {X.shape[1]}")
        _check_closed_domain(X, self.divergence, given)
        apart = self.divergence.apart(X)
        _, X = self.divergence.prepare(X)
        X = sparse.csr_array(X) if self.sparse else _dense(X, self.divergence)
        if self.columns is None:
            lifted = self._lift(self._owned(X, points), given)
        else:
            kept = self.columns.kept(X)
            kept.resize(kept.shape[0], len(self.smoothing))
            lifted = _with_elsewhere(self._lift(kept, given), *self.columns.elsewhere(X))
        return lifted if apart is None else replace(lifted, u=lifted.u + apart)

    def observe(self, X: Points) -> Lifted:
        """``transform(X).observations()`` of points that are validated and prepared."""
        X = sparse.csr_array(X) if self.sparse else _dense(X, self.divergence)
        if self.columns is None:
            return self._lift(self._owned(X, X), X).observations()
        kept = self.columns.kept(X)
        kept.resize(kept.shape[0], len(self.smoothing))
        lifted, (rows, x) = self._lift(kept, X).observations(), self.columns.elsewhere(X)
        phi, slope = self.divergence.phi, self.divergence.grad(self.smoothing[-1:])
        elsewhere = np.bincount(rows, phi(x) - phi(np.zeros(1)) - x * slope, lifted.n_points)
        return replace(lifted, u=lifted.u + elsewhere)

    @property
    def total_smoothing(self) -> float:
        """Σe over all features, those that are not in use among them."""
        unused = self.n_features + self.divergence.n_added - len(self.smoothing)
        return float(self.smoothing.sum() + unused * self.smoothing[-1])

    @property
    def off_plane(self) -> float:
        """By how much divergences from the smoothed centers are too large for a density."""
        return self.divergence.off_plane(self.total_smoothing)

    def admitting(self, X: Points) -> Lifting:
        """The lifting under which new data can be centers, too; most need no other."""
        divergence = self.divergence.admitting(X)
        added = divergence.n_added - self.divergence.n_added
        if not added:
            return self
        zeros = np.zeros(added)
        offset = None if self.offset is None else np.append(self.offset, zeros)
        scale = np.append(self.scale, zeros + 1) if np.ndim(self.scale) else self.scale
        smoothing = np.append(self.smoothing, zeros)
        return replace(self, divergence=divergence, smoothing=smoothing, scale=scale, offset=offset)

    def _owned(self, X: Points, points: Points) -> Points:
        """X, or a copy where lifted points would share the user's memory: theirs never changes."""
        moved = self.offset is not None or (not self.sparse and bool(self.smoothing.any()))
        return X.copy() if not moved and _shares_memory(X, points) else X

    def _lift(self, X: Points, given: PointsLike, own: bool = False) -> Lifted:
        """``own`` says that X may be written over."""
        _check_open_domain(X, self, given)
        with np.errstate(over="ignore", invalid="ignore"):
            return _check_finite(_lift_sparse(X, self) if self.sparse else _lift_dense(X, self, own))


@dataclass(frozen=True, eq=False)
class Lifted:
    """N points, each as a row (u_i, x_i) and as a center (w_j, h_j), with d_ij = u_i + w_j − ⟨x_i, h_j⟩.

    ``X`` and ``H`` are both C-contiguous float64 arrays, or both CSR arrays that share ``indices`` and
    ``indptr`` (sorted, no duplicates). For squared Euclidean data they are one and the same object.
    ``base`` is None for dense data; for sparse data it is the baseline e, (d,): the point is X[i] + base and
    its gradient H[i] + ∇φ(base).
    """

    u: Float  # (N,)
    w: Float  # (N,)
    X: Any  # (N, d) Points: which of the two, ``is_sparse`` says
    H: Any  # (N, d)
    base: Float | None = None  # (d,)
    lifting: Lifting | None = None

    @property
    def n_values(self) -> int:
        """Numbers that x holds: a measure of the work of reading them all."""
        return int(self.X.nnz if self.is_sparse else self.X.size)  # of mixed rows both

    @property
    def n_points(self) -> int:
        return len(self.u)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def dimension(self) -> int:
        """Number of the data's features, those that never occur among them."""
        return self.n_features if self.lifting is None else self.lifting.n_features

    @property
    def is_sparse(self) -> bool:
        return is_sparse(self.X)

    @property
    def is_mixed(self) -> bool:
        """Whether the points are dense and sparse blocks side by side, whose inner products add."""
        return isinstance(self.X, Mixed)

    @property
    def blocks(self) -> list[Lifted]:
        """Dense and sparse points whose inner products add up to these; u and w are in none of them."""
        if not self.is_mixed:
            return [self]
        none = np.zeros(self.n_points)
        same = self.H is self.X
        pairs = zip(blocks_of(self.X), blocks_of(self.H), strict=True)
        return [Lifted(none, none, x, x if same else h) for x, h in pairs]

    @property
    def arrays(self) -> KernelArrays:
        """What the kernels take first: (X, H), or (indptr, indices, X.data, H.data, d) for sparse data."""
        if not self.is_sparse:
            return self.X, self.H
        return (
            self.X.indptr.astype(np.int64, copy=False),
            self.X.indices.astype(np.int32, copy=False),
            self.X.data,
            self.H.data,
            self.n_features,
        )

    def take(self, chosen: Chosen) -> Lifted:
        """Some of the points, copied."""
        X = self.X[chosen]
        H = X if self.H is self.X else self.H[chosen]
        return Lifted(self.u[chosen], self.w[chosen], X, H, self.base, self.lifting)

    def slice(self, first: int, last: int) -> Lifted:
        """Points first … last − 1, sharing memory where they are dense."""
        if first == 0 and last == self.n_points:
            return self
        X = self.X[first:last]
        H = X if self.H is self.X else self.H[first:last]
        return Lifted(self.u[first:last], self.w[first:last], X, H, self.base, self.lifting)

    def joined(self, X_new: PointsLike) -> Lifted:
        """These points and new ones after them, lifted alike: nothing is learnt from the new data.

        Features that no point of a table of ``columns`` uses stay one feature.
        """
        assert self.lifting is not None
        X_new = X_new if hasattr(X_new, "blocks") else as_points(X_new, minimum=1)
        lifting = self.lifting.admitting(X_new)
        new, old = lifting.transform(X_new), self._widened(lifting)
        X = above(old.X, new.X)
        H = X if old.H is old.X and new.H is new.X else above(old.H, new.H)
        u, w = np.concatenate([old.u, new.u]), np.concatenate([old.w, new.w])
        return Lifted(u, w, X, H, old.base, lifting)

    def _widened(self, lifting: Lifting) -> Lifted:
        """The same points with zeros in the features that ``lifting`` has added."""
        assert self.lifting is not None
        added = len(lifting.smoothing) - len(self.lifting.smoothing)
        if not added:
            return self
        X = _with_zeros(self.X, added)
        H = X if self.H is self.X else _with_zeros(self.H, added)
        base = None if self.base is None else lifting.smoothing
        return Lifted(self.u, self.w, X, H, base, lifting)

    def observations(self) -> Lifted:
        """The rows as they were observed, beside the smoothed centers: d_ij = d_φ(x_i, x'_j), d_ii ≥ 0.

        It is what a likelihood asks for: Eq. (15) is the density of an observation, and x + e is none.
        """
        assert self.lifting is not None
        e, divergence = self.lifting.smoothing, self.lifting.divergence
        if not e.any():
            return self
        if isinstance(divergence, Product):
            seen: Lifted = self.lifting.observed(self)  # type: ignore[attr-defined]  # a ViewsLifting
            return seen
        if not self.is_sparse:
            dense = whole((self.X - e) / self.lifting.scale)
            with np.errstate(all="ignore"):  # an observation on the edge of the domain may have no φ
                return replace(self, u=divergence.phi_sum(dense), X=dense)  # w is φ*(h)
        scale = np.broadcast_to(self.lifting.scale, e.shape)[self.X.indices]
        X = whole(_with_data(self.X, self.X.data / scale))
        at_e, zero = divergence.grad(e), float(divergence.phi(np.zeros(1))[0])
        stored = divergence.phi(X.data) - zero - X.data * at_e[X.indices]
        above = e * at_e - divergence.phi(e) + zero  # φ*(∇φ(e)) + φ(0), which is d_φ(0, e)
        unused = (self.dimension + divergence.n_added - self.n_features) * above[-1]
        u = _segment_sums(stored, X.indptr) + above.sum() + unused
        return replace(self, u=u, w=self.w + self.H @ e, X=X)

    def divergences(self, rows: Chosen, centers: Chosen) -> Float:  # (n_rows, n_centers)
        """Exact divergences d_ij of chosen rows against chosen centers, never below 0."""
        inner = inner_products(self.X[rows], self.H[centers])
        return np.asarray(np.maximum(self.u[rows][:, None] + self.w[centers][None, :] - inner, 0.0))


def lift(
    X: PointsLike,
    divergence: str | BregmanDivergence = DIVERGENCE,
    smoothing: float | str | ArrayLike = "auto",
    copy: bool = True,
) -> Lifted:
    """Lifted form of dense or sparse points; O(nnz) time and memory for a separable φ.

    Parameters
    ----------
    X : (N, d) array, scipy.sparse matrix or array, or DataFrame of numbers, N ≥ 2.
    divergence : a name of ``bvdt.divergences.get`` or an instance.
    smoothing : e of x' = x + e, which moves zeros inside the domain: a number, an array (d,), "background"
        (a share of every feature's mean), "likelihood" (that of a few under which counts are likeliest, each
        row left out) or "auto" (none unless a point lies on the domain's edge).
    copy : False lets X be written over and kept, where it is an array of float64 or a CSR matrix of them.
    """
    divergence = get(divergence)
    if isinstance(divergence, Product) or hasattr(X, "blocks"):
        from . import views  # which lifts each part by this function

        if isinstance(X, views.Views):
            return views.lift_views(X, divergence, smoothing)
        assert isinstance(divergence, Product)
        return views.lift_product(X, divergence, smoothing)
    given, X = X, as_points(X)
    points, columns = X, None
    if is_sparse(X) and divergence.separable and np.ndim(smoothing) == 0:
        columns = Columns.of(X)
        X = X if columns is None else columns.kept(X)
    if is_sparse(X):  # arrays of one value per feature, and each thread's two
        values = X.shape[1] * (_PER_FEATURE + 2 * n_threads(None))
        memory.require(8.0 * values, f"sparse X of {X.shape[1]} features in use")
    _check_closed_domain(points, divergence, given)
    if not divergence.separable:
        X = _dense(X, divergence)
    divergence, X = divergence.prepare(X)
    e = resolve_smoothing(X, divergence, smoothing, points.shape[1])
    if columns is None and is_sparse(X) and 3 * X.nnz > 2 * X.shape[0] * X.shape[1]:
        X = X.toarray()  # no larger than the sparse form, and centered
    offset = None
    if divergence.translation_invariant:
        offset = _far_columns(X) if is_sparse(X) else _middle(X)
    # A converted array has no other owner: it is centered in place, not held twice.
    converted = isinstance(given, np.ndarray) and not is_sparse(X) and not np.may_share_memory(X, given)
    own = converted or (not copy and not is_sparse(X) and X.flags.writeable)
    lifting = Lifting(divergence, e, divergence.smoothing_scale(e), offset, is_sparse(X), columns)
    lifted = lifting._lift(lifting._owned(X, points) if copy else X, given, own)
    if not divergence.translation_invariant:
        refuse_rounding(lifted, divergence.name)
    return lifted


def _with_zeros(X: Points, added: int) -> Points:  # (N, d) -> (N, d + added)
    if not is_sparse(X):
        return np.hstack([X, np.zeros((len(X), added))])
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], X.shape[1] + added))


def _shares_memory(X: Points, points: Points) -> bool:
    if is_sparse(X) != is_sparse(points):
        return False
    if not is_sparse(X):
        return np.may_share_memory(X, points)
    return any(np.may_share_memory(getattr(X, name), getattr(points, name)) for name in _CSR)


def _some_rows(X: Points) -> Points:
    if X.shape[0] <= _MIDDLE:
        return X
    return X[np.sort(np.random.default_rng(0).choice(X.shape[0], _MIDDLE, replace=False))]


def _middle(X: Float) -> Float:  # (N, d) -> (d,)
    """Each column's median, found on some rows: one far point would move the mean away from all others."""
    return np.asarray(np.median(_some_rows(X), axis=0))


def middle_rows(n_points: int) -> NDArray[np.int64]:  # (≤ 512,)
    """The rows on which the data's middle is found."""
    if n_points <= _MIDDLE:
        return np.arange(n_points)
    return np.random.default_rng(0).choice(n_points, _MIDDLE, replace=False)


def lifting_from_rows(
    divergence: BregmanDivergence,
    baseline: Float,
    stored_sparse: bool,
    rows: Points,
    columns: Columns | None = None,
) -> Lifting:
    """The map of data of which only some rows are at hand, dense ones being ``middle_rows``."""
    offset = None
    if divergence.translation_invariant:
        offset = _far_columns(rows) if stored_sparse else _middle(rows)
    scale = divergence.smoothing_scale(baseline)
    return Lifting(divergence, baseline, scale, offset, stored_sparse, columns)


def _far_columns(X: CSR) -> Float | None:  # CSR (N, d) -> (d,)
    """The middle of each column that most rows store, far from 0 beside its spread, else 0; on some rows.

    None unless rows get far shorter by it: a word in every document has such a column, and costs no digits.
    """
    some: CSR = _some_rows(X)
    count = np.bincount(some.indices, minlength=X.shape[1])
    often = np.flatnonzero(2 * count > some.shape[0])
    if not often.size:
        return None
    columns = some.tocsc()[:, often]
    offset = np.zeros(X.shape[1])
    for k, column in enumerate(often):
        stored = columns.data[columns.indptr[k] : columns.indptr[k + 1]]
        middle = np.median(stored)
        if abs(middle) > _FAR * np.median(np.abs(stored - middle)):
            offset[column] = middle
    length = np.asarray(some.multiply(some).sum(axis=1)).ravel()  # squared, as that of the shifted rows
    after = length - 2 * (some @ offset) + offset @ offset
    return offset if np.median(length) > _FAR**2 * np.median(after) else None


def shifted(X: CSR, offset: Float) -> CSR:  # CSR (N, d), (d,) -> CSR (N, d)
    """Sparse X less the offset in every row: columns with an offset become full."""
    columns = np.flatnonzero(offset)
    n_rows = X.shape[0]
    first = np.arange(n_rows + 1) * len(columns)
    rows = sparse.csr_array(
        (np.tile(offset[columns], n_rows), np.tile(columns, n_rows), first), shape=X.shape
    )
    difference = sparse.csr_array(X - rows)
    difference.sort_indices()
    return difference


def _dense(X: Points, divergence: BregmanDivergence) -> Float:
    if not is_sparse(X):
        return X
    n_points, n_features = X.shape
    purpose = f"{divergence.name} on sparse X ({n_points} × {n_features}) is computed dense; it"
    memory.require(8.0 * (3 * n_points * n_features + 3 * n_features**2), purpose)
    dense: Float = X.toarray()
    return dense


# -- the two storages --------------------------------------------------------------------------------------


def _lift_dense(X: Float, lifting: Lifting, own: bool) -> Lifted:
    divergence, out = lifting.divergence, X if own else None
    if lifting.offset is not None and divergence.self_dual:
        return _lift_centered(X, lifting.offset, lifting, own)
    if lifting.offset is not None:
        X = np.subtract(X, lifting.offset, out=out)
    elif lifting.smoothing.any():
        X = np.multiply(lifting.scale, X, out=out)
        X += lifting.smoothing
    H = divergence.grad(X)
    u = np.empty(len(X))
    for rows in _row_batches(np.arange(len(X) + 1) * X.shape[1]):
        u[rows] = divergence.phi_sum(X[rows])
    w = np.einsum("ij,ij->i", X, H) - u  # φ*(h) = ⟨x, h⟩ − φ(x)
    return Lifted(u, w, X, np.ascontiguousarray(H), None, lifting)


def _near_rows(X: Float) -> Iterator[slice]:
    """Slices of rows that the CPU keeps near."""
    step = max(1, _NEAR // X.shape[1])
    return (slice(first, min(first + step, len(X))) for first in range(0, len(X), step))


def _lift_centered(X: Float, offset: Float, lifting: Lifting, own: bool) -> Lifted:
    """x = h = the point less the offset: one read of the data, each batch while it is near."""
    centered, u, w = X if own else np.empty_like(X), np.empty(len(X)), np.empty(len(X))
    for rows in _near_rows(X):
        x = np.subtract(X[rows], offset, out=centered[rows])
        u[rows] = lifting.divergence.phi_sum(x)
        w[rows] = np.einsum("ij,ij->i", x, x) - u[rows]
    return Lifted(u, w, centered, centered, None, lifting)


def _lift_sparse(X: CSR, lifting: Lifting) -> Lifted:
    divergence, e = lifting.divergence, lifting.smoothing
    if lifting.offset is not None:
        X = shifted(X, lifting.offset)
    if np.ndim(lifting.scale):
        X = _with_data(X, X.data * np.asarray(lifting.scale)[X.indices])
    phi_e, grad_e = divergence.phi(e), divergence.grad(e)
    H = X if divergence.self_dual else _with_data(X, np.empty_like(X.data))
    u, w = np.empty(X.shape[0]), np.empty(X.shape[0])
    for rows in _row_batches(X.indptr):
        stored = slice(X.indptr[rows.start], X.indptr[rows.stop])
        x, j = X.data[stored], X.indices[stored]
        point = x + e[j]
        if H is not X:
            H.data[stored] = divergence.grad(point) - grad_e[j]
        starts = X.indptr[rows.start : rows.stop + 1] - X.indptr[rows.start]
        u[rows] = _segment_sums(divergence.phi(point) - phi_e[j] - x * grad_e[j], starts)  # d_φ(x', e)
        w[rows] = _segment_sums(x * H.data[stored], starts) - u[rows]  # d_φ(e, x')
    return Lifted(u, w, X, H, e, lifting)


def _with_elsewhere(lifted: Lifted, rows: Index, x: Float) -> Lifted:
    """The points with what they have in columns that no fitted point uses, as their last column.

    There every center's h is 0, so only u takes part in divergences: it is the sum over all those entries.
    """
    lifting = lifted.lifting
    if not len(rows) or lifting is None:
        return lifted
    divergence = lifting.divergence
    e = lifting.smoothing[[-1 - divergence.n_added]]
    x = x * (np.asarray(lifting.scale)[-1 - divergence.n_added] if np.ndim(lifting.scale) else 1.0)
    n_points, last = lifted.n_points, lifted.n_features - 1 - divergence.n_added
    terms = divergence.phi(x + e) - divergence.phi(e) - x * divergence.grad(e)
    added = np.bincount(rows, terms, n_points)
    length = np.sqrt(np.bincount(rows, x * x, n_points))
    filled = np.flatnonzero(length)
    h = divergence.grad(length[filled] + e) - divergence.grad(e)
    at = lifted.X.indptr[1:][filled]
    indptr = lifted.X.indptr + np.concatenate([[0], np.cumsum(length > 0)])
    indices = np.insert(lifted.X.indices, at, last)

    def joined(values: Float, new: Float) -> CSR:
        return sparse.csr_array((np.insert(values, at, new), indices, indptr), shape=lifted.X.shape)

    X = joined(lifted.X.data, length[filled])
    H = X if lifted.H is lifted.X else joined(lifted.H.data, h)
    own = np.zeros(n_points)
    own[filled] = length[filled] * h
    return _check_finite(Lifted(lifted.u + added, lifted.w + own - added, X, H, lifted.base, lifting))


def whole(X: Any) -> Any:
    """Whole numbers again where smoothing and back have rounded; dense or CSR."""
    x = X.data if is_sparse(X) else X
    nearest = np.rint(x)
    values = np.where(np.abs(x - nearest) < 1e-9 * np.maximum(np.abs(nearest), 1.0), nearest, x)
    return _with_data(X, values) if is_sparse(X) else values


def _with_data(X: CSR, data: Float) -> CSR:
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def _row_batches(indptr: Integers) -> Iterator[slice]:
    """Consecutive slices of rows with about _BATCH values each, at least one row."""
    n_rows, start = len(indptr) - 1, 0
    while start < n_rows:
        stop = int(np.searchsorted(indptr, indptr[start] + _BATCH, "right")) - 1
        stop = min(max(stop, start + 1), n_rows)
        yield slice(start, stop)
        start = stop


def _segment_sums(values: Float, starts: Integers) -> Float:
    """Sums of values[starts[k]:starts[k+1]]; an empty segment gives 0."""
    sums = np.zeros(len(starts) - 1)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        sums[filled] = np.add.reduceat(values, starts[filled])
    return sums


# -- domains -----------------------------------------------------------------------------------------------


def _check_closed_domain(X: Points, divergence: BregmanDivergence, given: PointsLike) -> None:
    domain = divergence.domain
    if domain.is_everything:
        return
    if not domain.closure_contains(extremes(X)).all():
        requirement = f"{divergence.name} needs {domain.requirement(closed=True)}"
        negative = domain.low == 0 and extremes(X)[0] < 0
        hint = ". Negative values in data: squared_euclidean takes them" if negative else ""
        refuse_entry(X, lambda x, _: ~domain.closure_contains(x), requirement, given, hint)


def _check_open_domain(X: Points, lifting: Lifting, given: PointsLike) -> None:
    """Every smoothed point strictly inside: only there has φ a gradient."""
    domain, e, scale = lifting.divergence.domain, lifting.smoothing, lifting.scale
    if domain.is_everything:
        return
    least, greatest = extremes(X)
    if domain.contains([np.min(least * scale + e), np.max(greatest * scale + e)]).all():
        return
    scales = np.broadcast_to(scale, e.shape)
    refuse_entry(
        X,
        lambda x, j: ~domain.contains(scales[j] * x + e[j]),
        f"{lifting.divergence.name} needs {domain.requirement(closed=False)}",
        given,
        hint=" (smoothing= moves points off the edge, e.g. smoothing=0.01)",
        columns=None if lifting.columns is None else lifting.columns.used,
    )


def _check_finite(lifted: Lifted) -> Lifted:
    """Finite data may still overflow φ."""
    finite = np.isfinite(lifted.u) & np.isfinite(lifted.w)
    if not finite.all():
        name = lifted.lifting.divergence.name if lifted.lifting else "the divergence"
        raise ValueError(f"{name} needs values whose phi is finite; row {int(np.argmin(finite))} overflows")
    return lifted
