"""Some of the points in groups: k-means on the eigenvectors of the walk among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.arrays import Float, Index, Mask
from .eigenvectors import cluster_coordinates


def grouped_points(op: Any, chosen: Mask, n_groups: int, random_state: int = 0) -> list[Index]:
    """Groups of the chosen points, the largest first; in each the most typical point is the first.

    Points without a link to others of them are in none.
    """
    from sklearn.cluster import KMeans  # 17 MiB that little else needs

    n_groups = min(n_groups, int(chosen.sum()) // 2)
    if n_groups < 1:
        return [np.flatnonzero(chosen)] if chosen.any() else []
    if n_groups == 1:
        return [np.flatnonzero(chosen)]
    rows, kept = cluster_coordinates(op, n_groups, np.random.default_rng(random_state), chosen)
    points = np.flatnonzero(chosen if kept is None else kept & chosen)
    found = KMeans(min(n_groups, len(points)), n_init=5, random_state=random_state).fit(rows[points])
    groups = [_by_typicality(rows, points[found.labels_ == k]) for k in range(found.n_clusters)]
    return sorted((g for g in groups if len(g)), key=lambda g: -len(g))


def _by_typicality(rows: Float, members: Index) -> Index:
    """The nearest to their mean first."""
    mean = rows[members].mean(axis=0)
    return members[np.argsort(((rows[members] - mean) ** 2).sum(axis=1), kind="stable")]
