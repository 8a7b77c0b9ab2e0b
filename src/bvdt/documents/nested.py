"""Nested clusters: the top of the walk's tree, every node described as a cluster is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._support.json import JsonObject
from .._support.sparse import Points
from ..tree import Tree
from .cluster_terms import PIECES, ClusterSummary, contrastive_terms, describe_one


@dataclass(frozen=True)
class NestedCluster:
    """One node; numbers go from 1, the root, in pre-order."""

    parent: int  # 0 for the root
    depth: int  # 0 for the root
    leaf: bool  # whether it is not cut any further
    summary: ClusterSummary

    @property
    def number(self) -> int:
        return self.summary.cluster

    def contents(self) -> JsonObject:
        """For JSON, without what is not known."""
        summary = self.summary.contents()
        return {"node": summary.pop("cluster"), "parent": self.parent, "depth": self.depth} | summary


@dataclass(frozen=True, eq=False)
class NestedClusters:
    nodes: list[NestedCluster]  # in pre-order
    leaf_of: NDArray[np.intp]  # (N,) number of the leaf that each document is in

    def tree(self, at: int = 0) -> JsonObject:
        """Node ``at`` with its children inside it, for JSON."""
        summary = self.nodes[at].contents()
        children = [k for k, node in enumerate(self.nodes) if node.parent == self.nodes[at].number]
        return summary | ({"children": [self.tree(k) for k in children]} if children else {})

    def columns(self) -> dict[str, list[object]]:
        """One row per node."""
        summary = [node.summary for node in self.nodes]
        columns: dict[str, list[object]] = {
            "node": [node.number for node in self.nodes],
            "parent": [node.parent or None for node in self.nodes],
            "depth": [node.depth for node in self.nodes],
            "documents": [one.documents for one in summary],
            "typical": [one.representative for one in summary],
        }
        if any(one.terms for one in summary):
            columns["terms"] = [", ".join(one.terms) for one in summary]
        if any(one.purity is not None for one in summary):
            columns |= {"purity": [one.purity for one in summary], "label": [one.label for one in summary]}
        return columns


def nested_clusters(
    tree: Tree,
    n_leaves: int,
    X: Points,  # (N, d)
    ids: Sequence[str],
    names: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    labels: Sequence[str | None] | None = None,
) -> NestedClusters:
    """The nodes above and at ``tree.cut(n_leaves)``."""
    leaves = tree.cut_nodes(min(n_leaves, tree.n_points))
    nodes = _with_ancestors(tree, leaves)
    place = {int(node): k for k, node in enumerate(nodes)}
    inside = (leaves >= nodes[:, None]) & (leaves < (nodes + 2 * tree.size[nodes] - 1)[:, None])
    leaf = tree.cut(len(leaves))
    terms: list[list[str]] = [[] for _ in nodes]
    if names is not None:
        parts = tree.cut(min(PIECES, tree.n_points))
        terms = contrastive_terms(X, leaf + 1, names, groups=inside, parts=parts)
    described: list[NestedCluster] = []
    for k, node in enumerate(nodes):
        parent = int(tree.parent[node])
        above = described[place[parent]] if parent >= 0 else None
        members = np.flatnonzero(inside[k][leaf])
        summary = describe_one(k + 1, members, terms[k], X, ids, texts, labels)
        depth = 0 if above is None else above.depth + 1
        described.append(
            NestedCluster(0 if above is None else above.number, depth, bool(inside[k].sum() == 1), summary)
        )
    return NestedClusters(described, np.array([place[int(node)] + 1 for node in leaves])[leaf])


def _with_ancestors(tree: Tree, leaves: NDArray[np.intp]) -> NDArray[np.intp]:
    """These nodes and all above them, in pre-order."""
    found = {int(node) for node in leaves}
    for leaf in leaves:
        node = int(tree.parent[leaf])
        while node >= 0 and node not in found:
            found.add(node)
            node = int(tree.parent[node])
    return np.sort(np.array(list(found), np.intp))
