"""Clusters put in order and described: what separates each from the rest, a typical document, purity.

A term's documents inside a cluster are compared with those outside. With the shares p inside and r outside,
both a little smoothed, the term's score is (p − r)·log²(p/r): high for terms that are frequent here and rare
elsewhere. The words of every sentence are as frequent elsewhere: a term is to be at least ``LIFT`` times as
frequent inside as outside. A phrase that a cluster's documents repeat may carry such words all the same; they
are recognized, in any language, by what they do outside, where they are spread evenly over the others, as
no term with a subject is. Where nearly all documents are in one cluster, or texts are a line each, that says
too little; English fillers are left out by scikit-learn's list, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._support.arrays import Float
from .._support.json import JsonObject
from .._support.sparse import Points, is_sparse

N_TERMS = 10
LIFT = 3.0  # a term is at least so many times as frequent inside a cluster as outside
EVEN, MOST = 0.5, 0.5  # half as often as usual, in half of the other clusters
FEW = 3  # other pieces at least; fewer cannot tell
PIECES = 30  # into which the tree's top cuts the documents for it
SMOOTHING = 0.5  # documents added to both counts


@dataclass(frozen=True)
class ClusterSummary:
    """What is said of one cluster, numbered from 1."""

    cluster: int
    documents: int
    terms: list[str]  # the most characteristic first; empty unless the documents are texts
    representative: str  # id of the document nearest to the cluster's mean direction
    excerpt: str  # the beginning of its text, if it has one
    purity: float | None  # share of its labeled documents that have the most frequent label
    label: str | None  # that label

    def contents(self) -> JsonObject:
        """For JSON, without what is not known."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", [])}


def by_size(labels: ArrayLike) -> NDArray[np.intp]:  # (N,)
    """Cluster numbers from 1, the largest first."""
    _, code, count = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(len(count), np.intp)
    rank[np.argsort(-count, kind="stable")] = np.arange(1, len(count) + 1)
    return np.asarray(rank[code])


def summarise(
    X: Points,  # (N, d)
    number: NDArray[np.intp],  # (N,) from 1
    ids: Sequence[str],
    names: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    labels: Sequence[str | None] | None = None,
    parts: NDArray[np.intp] | None = None,
) -> list[ClusterSummary]:
    """One summary per cluster; ``names`` are X's terms, where it has any; ``parts`` are for these."""
    terms = (
        contrastive_terms(X, number, names, parts=parts)
        if names is not None
        else [[] for _ in range(int(number.max()))]
    )
    return [
        describe_one(k, np.flatnonzero(number == k), terms[k - 1], X, ids, texts, labels)
        for k in range(1, int(number.max()) + 1)
    ]


def describe_one(
    number: int,
    members: NDArray[np.intp],
    terms: list[str],
    X: Points,
    ids: Sequence[str],
    texts: Sequence[str] | None,
    labels: Sequence[str | None] | None,
) -> ClusterSummary:
    """The summary of the documents ``members``."""
    at = int(members[_nearest_to_mean(X[members])])
    purity, label = _purity([labels[int(i)] for i in members] if labels is not None else [])
    excerpt = " ".join(texts[at].split())[:200] if texts is not None else ""
    return ClusterSummary(number, len(members), terms, ids[at], excerpt, purity, label)


def contrastive_terms(
    X: Points,
    number: NDArray[np.intp],
    names: Sequence[str],
    n: int = N_TERMS,
    groups: NDArray[np.bool_] | None = None,
    parts: NDArray[np.intp] | None = None,
) -> list[list[str]]:
    """Of each cluster up to n terms that separate it from the rest, the best first.

    ``groups`` (g, k) asks for unions of clusters instead: which of them each is made of. ``parts`` (N,) cuts
    the clusters into smaller pieces, which finds the words of every sentence; needed with few clusters.
    """
    pairs = np.column_stack([number - 1, number if parts is None else parts])
    pieces, piece = np.unique(pairs, axis=0, return_inverse=True)
    count = np.bincount(piece.ravel()).astype(float)  # (f,)
    member = sparse.csr_array(
        (np.ones(len(number)), (piece.ravel(), np.arange(len(number)))), shape=(len(count), len(number))
    )
    present = sparse.csr_array(X) != 0
    used = (member @ present.astype(np.float64)).toarray()  # (f, d) documents
    of = np.eye(int(number.max()), dtype=bool) if groups is None else groups
    of = of[:, pieces[:, 0]]  # (g, f)
    inside, sizes = of @ used, of @ count  # (g, d), (g,)
    p = (inside + SMOOTHING) / (sizes[:, None] + 2 * SMOOTHING)
    r = (used.sum(axis=0) - inside + SMOOTHING) / (count.sum() - sizes[:, None] + 2 * SMOOTHING)
    score = np.where((p >= LIFT * r) & (inside >= 2), (p - r) * np.log(p / r) ** 2, 0.0)
    score[of.all(axis=1)] = 0.0  # nothing to be compared with
    score[:, _english_fillers(names)] = 0.0
    return [
        [names[j] for j in np.argsort(-row, kind="stable")[:n] if row[j] > 0]
        for row in score * ~_spread_evenly(used / count[:, None], r, count, of)
    ]


def _english_fillers(names: Sequence[str]) -> NDArray[np.bool_]:  # (d,)
    """Terms of nothing but words of scikit-learn's list."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return np.array([all(word in ENGLISH_STOP_WORDS for word in name.split()) for name in names], bool)


def _spread_evenly(
    share: Float, outside: Float, sizes: Float, of: NDArray[np.bool_]
) -> NDArray[np.bool_]:  # (f, d), (g, d), (f,), (g, f) -> (g, d)
    """Whether most of the pieces outside a group use a term about as often as all of them do."""
    found, weight = np.zeros(outside.shape, bool), np.sqrt(sizes)  # small pieces tell less
    for g, own in enumerate(of):
        others = ~own
        if others.sum() >= FEW:
            usual = (share[others] >= EVEN * outside[g]) * weight[others, None]
            found[g] = usual.sum(axis=0) >= MOST * weight[others].sum()
    return found


def _nearest_to_mean(rows: Points) -> int:
    """Place of the row whose direction is nearest to that of the rows' mean."""
    mean = np.asarray(rows.mean(axis=0)).ravel()
    if is_sparse(rows):
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        return int(np.argmax(np.asarray(rows @ mean).ravel() / np.maximum(lengths, 1e-300)))
    return int(np.argmin(((rows - mean) ** 2).sum(axis=1)))


def _purity(labels: Sequence[str | None]) -> tuple[float | None, str | None]:
    given = [label for label in labels if label is not None]
    if not given:
        return None, None
    names, counts = np.unique(given, return_counts=True)
    return float(counts.max() / len(given)), str(names[counts.argmax()])
