"""Clusters put in order and described: what separates each from the rest, a typical document, purity.

A term's documents inside a cluster are compared with those outside. With the shares p inside and r outside,
both a little smoothed, the term's score is (p − r)·log²(p/r): high for terms that are frequent here and rare
elsewhere. The words of every sentence are as frequent elsewhere, so they need no list: a term is to be at
least ``LIFT`` times as frequent inside as outside. A phrase that a cluster's documents repeat may carry such
words all the same; they are told by what they do outside, where they are spread evenly over the other
clusters, as no term with a subject is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._support.arrays import Float

N_TERMS = 10
LIFT = 3.0  # a term is at least so many times as frequent inside a cluster as outside
EVEN, MOST = 0.5, 0.5  # half as often as usual, in half of the other clusters
FEW = 3  # clusters or fewer: too few to tell
SMOOTHING = 0.5  # documents added to both counts


@dataclass(frozen=True)
class ClusterSummary:
    """What is said of one cluster, numbered from 1."""

    cluster: int
    documents: int
    terms: list[str]  # the most telling first; empty unless the documents are texts
    representative: str  # id of the document nearest to the cluster's mean direction
    excerpt: str  # the beginning of its text, if it has one
    purity: float | None  # share of its labelled documents that have the most frequent label
    label: str | None  # that label

    def contents(self) -> dict[str, Any]:
        """For JSON, without what is not known."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", [])}


def by_size(labels: ArrayLike) -> NDArray[np.intp]:  # (N,)
    """Cluster numbers from 1, the largest first."""
    _, code, count = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(len(count), np.intp)
    rank[np.argsort(-count, kind="stable")] = np.arange(1, len(count) + 1)
    return np.asarray(rank[code])


def summarise(
    X: Any,  # (N, d)
    number: NDArray[np.intp],  # (N,) from 1
    ids: Sequence[str],
    names: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    labels: Sequence[str | None] | None = None,
) -> list[ClusterSummary]:
    """One summary per cluster; ``names`` are X's terms, where it has any."""
    terms = (
        contrastive_terms(X, number, names) if names is not None else [[] for _ in range(int(number.max()))]
    )
    found = []
    for k in range(1, int(number.max()) + 1):
        inside = np.flatnonzero(number == k)
        at = int(inside[_nearest_to_mean(X[inside])])
        purity, label = _purity([labels[int(i)] for i in inside] if labels is not None else [])
        excerpt = " ".join(texts[at].split())[:200] if texts is not None else ""
        found.append(ClusterSummary(k, len(inside), terms[k - 1], ids[at], excerpt, purity, label))
    return found


def contrastive_terms(
    X: Any, number: NDArray[np.intp], names: Sequence[str], n: int = N_TERMS
) -> list[list[str]]:
    """Of each cluster up to n terms that separate it from the rest, the most telling first."""
    sizes = np.bincount(number)[1:].astype(float)  # (k,)
    member = sparse.csr_array(
        (np.ones(len(number)), (number - 1, np.arange(len(number)))), shape=(len(sizes), len(number))
    )
    present = sparse.csr_array(X) != 0
    inside = (member @ present.astype(np.float64)).toarray()  # (k, d) documents
    share = inside / sizes[:, None]
    outside = inside.sum(axis=0) - inside
    p = (inside + SMOOTHING) / (sizes[:, None] + 2 * SMOOTHING)
    r = (outside + SMOOTHING) / (sizes.sum() - sizes[:, None] + 2 * SMOOTHING)
    score = np.where((p >= LIFT * r) & (inside >= 2), (p - r) * np.log(p / r) ** 2, 0.0)
    return [
        [names[j] for j in np.argsort(-row, kind="stable")[:n] if row[j] > 0]
        for row in score * ~_spread_evenly(share, r, sizes)
    ]


def _spread_evenly(
    share: Float, outside: Float, sizes: Float
) -> NDArray[np.bool_]:  # (k, d) ×2, (k,) -> (k, d)
    """Whether most of the other clusters use a term about as often as all of them do."""
    found, weight = np.zeros(share.shape, bool), np.sqrt(sizes)  # small clusters tell less
    for k in range(len(sizes) if len(sizes) > FEW else 0):
        usual = (share >= EVEN * outside[k]) * weight[:, None]
        found[k] = usual.sum(axis=0) - usual[k] >= MOST * (weight.sum() - weight[k])
    return found


def _nearest_to_mean(rows: Any) -> int:
    """Place of the row whose direction is nearest to that of the rows' mean."""
    mean = np.asarray(rows.mean(axis=0)).ravel()
    if sparse.issparse(rows):
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        return int(np.argmax(np.asarray(rows @ mean).ravel() / np.maximum(lengths, 1e-300)))
    return int(np.argmin(((rows - mean) ** 2).sum(axis=1)))


def _purity(labels: Sequence[str | None]) -> tuple[float | None, str | None]:
    given = [label for label in labels if label is not None]
    if not given:
        return None, None
    names, counts = np.unique(given, return_counts=True)
    return float(counts.max() / len(given)), str(names[counts.argmax()])
