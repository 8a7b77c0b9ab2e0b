"""The recall of anybody's neighbor lists, on sampled rows with exact answers."""

from __future__ import annotations

import numpy as np

from .._support.arrays import Float, Index, Int, checked_integer
from .._support.running import RandomState, generator, n_threads
from .._support.sparse import PointsLike
from ..divergences import NAMES, BregmanDivergence, get
from ..lifting import Lifted, lift, pair_divergences
from .differences import ENOUGH, ROUNDING
from .exact import exact_lists
from .given import NeighborLists
from .recall import Recall, count_hits

# scikit-learn's names of distances, with the divergence that ranks alike.
_RANKED_ALIKE = {"euclidean": "squared_euclidean", "sqeuclidean": "squared_euclidean"}


def audit(
    X: PointsLike,
    indices: object,
    *,
    metric: str | BregmanDivergence = "squared_euclidean",
    n_rows: int = 500,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Recall:
    """Recall of neighbor lists made by any search, with its 95 % interval, in O(n_rows · N).

    The lists of sampled rows are compared with the ground truth, all pairs. Of equally near points any will
    do. A place with −1, or with a point that the row lists already, is a miss. A row's misses depend on each
    other, and the interval is as wide as they make it (theory: Neighbor search).

    Parameters
    ----------
    X : (N, d) array, scipy.sparse matrix or array, or DataFrame of numbers.
    indices : (N, k) array of integers, one list per row of X; or (indices, distances), or a sparse graph
        (N, N), of which only the indices count. The row itself, anywhere in its list, is left out, and k is
        one less where most rows list themselves.
    metric : "euclidean", "sqeuclidean", a name of ``bvdt.divergences.get`` or an instance: d(row, neighbor).
    n_rows : rows compared with all points; all N of them leave nothing to chance: the interval is a point.
    random_state : seed of the sample.
    n_jobs : threads; None or −1 for all cores.

    Examples
    --------
    >>> import numpy as np
    >>> import bvdt
    >>> X = np.random.default_rng(0).normal(size=(1000, 5))
    >>> distances, indices = bvdt.NearestNeighbors(n_neighbors=10).fit(X).kneighbors()
    >>> bvdt.neighbors.audit(X, indices, n_rows=1000).estimate
    1.0
    >>> indices[::10] = -1  # a tenth of the rows is lost
    >>> print(bvdt.neighbors.audit(X, indices, random_state=0))
    0.888 (0.859 to 0.913)
    """
    from threadpoolctl import threadpool_limits

    lifted = lift(X, ranking_divergence(metric))
    n = lifted.n_points
    lists = NeighborLists.of(indices, n)
    k = min(lists.width, n - 1)
    chosen = generator(random_state).choice(n, min(checked_integer(n_rows, "n_rows", 1), n), replace=False)
    listed = lists.indices[chosen]
    with threadpool_limits(n_threads(n_jobs)):
        _, exact = exact_lists(lifted, lifted, k, chosen, chosen)
    d = _listed(lifted, chosen, listed, n_jobs)
    for row in _lost_in_rounding(lifted, chosen, exact):
        d[row], exact[row] = _by_differences(lifted, chosen[row], listed[row], k)
    recall = Recall.of(np.minimum(count_hits(d, exact), k), k)
    if len(chosen) < n:
        return recall
    return Recall(recall.estimate, recall.estimate, recall.estimate, n)


def _listed(lifted: Lifted, rows: Index, listed: Int, n_jobs: int | None) -> Float:  # (m, k) -> (m, k)
    """Divergences of the listed, as small as rounding leaves open; +∞ for none."""
    row, center = np.repeat(rows, listed.shape[1]), np.maximum(listed, 0).ravel()
    d = pair_divergences(lifted, lifted, row, center, n_jobs)
    d -= ROUNDING * (np.abs(lifted.u[row]) + np.abs(lifted.w[center]))
    return np.where(listed >= 0, np.maximum(d, 0.0).reshape(listed.shape), np.inf)


def _lost_in_rounding(lifted: Lifted, rows: Index, exact: Float) -> Index:
    """Of the sampled rows those in whose divergences u + w − ⟨x, h⟩ cancels and differences would not."""
    lifting = lifted.lifting
    if lifted.is_sparse or lifting is None or lifting.divergence.name != "squared_euclidean":
        return np.empty(0, np.intp)
    noise = ROUNDING * (np.abs(lifted.u[rows]) + np.abs(lifted.w[rows]))
    return np.flatnonzero(noise > ENOUGH * exact[:, -1])


def _by_differences(lifted: Lifted, i: int, listed: Int, k: int) -> tuple[Float, Float]:  # (k,) ×2
    """½‖x_i − x_j‖² of the listed, and the k least of all."""
    away = lifted.X - lifted.X[i]
    d = np.einsum("ij,ij->i", away, away) / 2
    d[i] = np.inf
    return np.where(listed >= 0, d[listed], np.inf), np.sort(np.partition(d, k - 1)[:k])


def ranking_divergence(metric: str | BregmanDivergence) -> BregmanDivergence:
    """A divergence by its name, or that which ranks as scikit-learn's distance of that name."""
    if not isinstance(metric, str):
        return get(metric)
    names = sorted({*_RANKED_ALIKE, *NAMES})
    if metric not in names:
        raise ValueError(f"metric needs a divergence or a name of {names}; got {metric!r}")
    return get(_RANKED_ALIKE.get(metric, metric))
