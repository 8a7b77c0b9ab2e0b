"""The walk on Dask: ``transition_matrix`` and ``propagate_labels`` for data in many places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .._support.arrays import Float, LabelArray, Numbers
from .._support.defaults import DIVERGENCE
from .._support.memory import GIB
from .._support.progress import Progress
from .._support.running import RandomState
from .._support.sparse import PointsLike
from ..divergences import BregmanDivergence
from ..operators import Side
from ..sharded import Columns, Executor, LocalExecutor, ShardedOperator, build_operator
from ..sharded import columns as column
from ..sharded.executors import Reference
from ..sharded.labels import propagate
from ..sharded.sizing import slab_bytes
from .executor import DaskExecutor, check_workers, find_client
from .inputs import columns_of, is_dask, slabs_of

if TYPE_CHECKING:
    from distributed import Client

    from ..dask.inputs import DaskArray

_UNITS = {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}


class DaskOperator(ShardedOperator):
    """The walk over shards; Dask arrays in X's order are taken and given besides NumPy's.

    See :class:`bvdt.sharded.ShardedOperator`. ``op @ v`` of a Dask array is a Dask array, and nothing but one
    number per shard and column goes through the driver.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import bvdt.dask
    >>> X = np.random.default_rng(0).normal(size=(600, 3))
    >>> op = bvdt.dask.transition_matrix(X, "squared_euclidean", memory_limit="1GiB", shard_points=200)
    >>> type(op @ da.ones(600)).__name__, bool(np.allclose(op @ np.ones(600), 1))
    ('Array', True)
    >>> v = op.columns(np.eye(600)[:, :2])  # stays with the shards
    >>> op.to_array(op.times(v, "transpose")).shape
    (600, 2)
    """

    def __matmul__(self, other: DaskArray | Columns | ArrayLike) -> DaskArray | Numbers:
        return self._dask_product(other, "forward") if is_dask(other) else super().__matmul__(other)

    def rmatmat_dask(self, other: DaskArray) -> DaskArray:
        """Qᵀ v of a Dask array."""
        return self._dask_product(other, "transpose")

    def _dask_product(self, v: DaskArray, side: Side) -> DaskArray:
        product = self.to_dask(self.times(self.from_dask(v), side))
        return product[:, 0] if v.ndim == 1 else product

    def from_dask(self, v: DaskArray) -> Columns:  # (N,) or (N, k)
        """A Dask array in X's order as columns in the shards' layout."""
        layout = self.shards.layout
        parts = columns_of(v, layout.lengths.tolist(), self._executor)
        dtype = np.float32 if v.dtype == np.float32 else np.float64
        width = 1 if v.ndim == 1 else int(v.shape[1])
        typed = self._executor.map("columns", np.asarray, parts, [dtype] * len(parts))
        return column.from_slabs(self._executor, layout, typed, width, dtype, self.places)

    def to_dask(self, v: Columns) -> DaskArray:  # (N, k)
        """Columns as a Dask array in X's order."""
        layout = self.shards.layout
        slabs = column.to_slabs(self._executor, layout, v)
        return as_dask_array(self._executor, slabs, layout.lengths.tolist(), v.width, v.dtype)


def as_dask_array(
    executor: Executor, slabs: list[Reference], lengths: list[int], width: int | None, dtype: DTypeLike
) -> DaskArray:
    """References of slabs as one Dask array, (N, width) or (N,)."""
    import dask.array as da

    from dask import delayed

    more = () if width is None else (width,)
    read = [
        delayed(slab) if isinstance(executor, DaskExecutor) else delayed(_value)(executor, slab)
        for slab in slabs
    ]
    arrays = [da.from_delayed(slab, (n, *more), dtype) for slab, n in zip(read, lengths, strict=True) if n]
    return da.concatenate(arrays)


def _value(executor: Executor, reference: Reference) -> object:
    return executor.gather([reference])[0]


def transition_matrix(
    X: DaskArray | PointsLike,
    divergence: str | BregmanDivergence = DIVERGENCE,
    *,
    bandwidth: float | str = "auto",
    smoothing: float | str | ArrayLike = "auto",
    n_neighbors: int = 0,
    shard_points: int | None = None,
    random_state: RandomState = None,
    client: Client | None = None,
    memory_limit: float | str | None = None,
    folder: str | None = None,
    n_jobs: int | None = None,
    retries: int = 2,
    progress: Progress = False,
) -> DaskOperator:
    """Random-walk matrix of N points in many places; the mathematics of ``bvdt.transition_matrix``.

    Parameters
    ----------
    X : Dask array (N, d) of dense or CSR parts, Dask DataFrame of numbers, or an array, which may be mapped
        from a file.
    divergence, bandwidth, smoothing, n_neighbors : those of ``bvdt.transition_matrix``.
    shard_points : points that are kept and worked on in one place; None: 500 000, or 60 000 for sparse data,
        fewer of many columns, and about eight shards at least from 32 768 points on.
    random_state : the same seed gives the same bytes for any number of workers and any cut of X into parts.
    client : a ``distributed.Client``; None for the current one.
    memory_limit : without a cluster, on this machine alone: bytes, or "6GiB", beyond which results are kept
        in files.
    folder : where these files are; None for the system's temporary folder.
    n_jobs : threads of one task; None: 1 on a cluster, all cores without.
    retries : how often work begins again that was lost with its worker, beyond what Dask itself tolerates.
    progress : True writes the progress on stderr; a callable gets ``progress(stage, done, total)``.

    Examples
    --------
    With a cluster, ``client=distributed.Client(...)`` instead of the memory limit.

    >>> import dask.array as da
    >>> import bvdt.dask
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> op = bvdt.dask.transition_matrix(
    ...     X, "squared_euclidean", memory_limit="1GiB", shard_points=500, random_state=0
    ... )
    >>> op.shape, op.n_blocks
    ((2000, 2000), 3998)
    """
    executor = executor_for(client, memory_limit, folder, n_jobs, retries, progress)
    slabs = slabs_of(X, executor)
    if slabs.width is not None:
        remedy = "X.rechunk makes parts smaller"
        executor.reserve(slab_bytes(slabs.lengths, slabs.width), "a part of X", remedy)
    built = build_operator(
        executor,
        slabs.parts,
        slabs.lengths,
        divergence,
        bandwidth=bandwidth,
        smoothing=smoothing,
        n_neighbors=n_neighbors,
        shard_points=shard_points,
        random_state=random_state,
        kind=DaskOperator,
    )
    assert isinstance(built, DaskOperator)
    return built


def executor_for(
    client: Client | None,
    memory_limit: float | str | None,
    folder: str | None,
    n_jobs: int | None,
    retries: int,
    progress: Progress,
) -> Executor:
    """The cluster's, or with a ``memory_limit`` this machine's."""
    if memory_limit is not None:
        if client is not None:
            raise ValueError("memory_limit needs no cluster; got client too (give one of them)")
        return LocalExecutor(parse_bytes(memory_limit), folder=folder, n_jobs=n_jobs, progress=progress)
    client = find_client(client)
    check_workers(client)
    return DaskExecutor(client, n_jobs=1 if n_jobs is None else n_jobs, retries=retries, progress=progress)


def parse_bytes(limit: float | str) -> float:
    """Bytes from a number or a text such as "6GiB"."""
    if isinstance(limit, str):
        text = limit.strip().lower()
        unit = next((name for name in _UNITS if text.endswith(name)), "")
        try:
            value = float(text.removesuffix(unit)) * _UNITS.get(unit, 1)
        except ValueError:
            raise ValueError(f'memory_limit needs bytes or a text such as "6GiB"; got {limit!r}') from None
    else:
        value = float(limit)
    if not value >= GIB / 64:
        raise ValueError(f"memory_limit needs at least 16 MiB; got {limit!r}")
    return value


def propagate_labels(
    op: DaskOperator, Y0: DaskArray | Float, alpha: float = 0.01, max_iter: int = 300, tol: float = 0.0
) -> DaskArray | Numbers:
    """Label propagation, Eq. (29): y ← α·Q·y + (1 − α)·y⁰, ``max_iter`` times; as ``bvdt.propagate_labels``.

    A Dask array gives a Dask array, an array an array; in between the labels stay with the points.

    Examples
    --------
    >>> import numpy as np
    >>> import bvdt.dask
    >>> X = np.concatenate([np.random.default_rng(0).normal(size=(300, 3)) + c for c in (0, 9)])
    >>> op = bvdt.dask.transition_matrix(X, "squared_euclidean", memory_limit="1GiB", shard_points=200)
    >>> Y0 = np.zeros((600, 2))
    >>> Y0[0, 0] = Y0[-1, 1] = 1  # one label of each kind
    >>> labels = bvdt.dask.propagate_labels(op, Y0, alpha=0.9).argmax(axis=1)
    >>> np.bincount(labels).tolist()
    [300, 300]
    """
    if is_dask(Y0):
        scores = op.to_dask(propagate(op, op.from_dask(Y0), alpha, max_iter, tol))
        return scores[:, 0] if Y0.ndim == 1 else scores
    Y0 = np.asarray(Y0)
    found: LabelArray = op.to_array(propagate(op, op.columns(Y0), alpha, max_iter, tol))
    return found.reshape(Y0.shape)
