"""``bvdt cluster``: groups of the documents that say what they are, nested ones too, and pictures of them."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .._support.arrays import Index
from .._support.atomic import atomic
from .._support.sparse import Operator, Points
from ..documents.cluster_terms import PIECES, ClusterSummary, by_size, summarise
from ..documents.files.table import Column
from ..lifting import Views
from . import options as o
from .embed import INPUT_LINE, Plot, read_for
from .guard import after_writing
from .page import scatter
from .reading import Source, walk
from .session import Session
from .writing import say_written, write_columns

if TYPE_CHECKING:
    from ..documents.features import Features
    from ..documents.files import Documents
    from ..documents.nested import NestedClusters
    from ..estimators import SpectralClustering

CLUSTER_HELP = f"""Group the documents into k clusters.

{INPUT_LINE}
Writes id, cluster, terms; cluster 1 is the largest. --hierarchy writes nested ones:
the top of the tree that the walk is made of, as many leaves as clusters.

\b
Example:
  bvdt cluster docs.csv -k auto -o clusters.csv --plot clusters.png
"""

LabelColumn = Annotated[
    str | None,
    o.option(
        "--labels", "-l", help="Labels for purity only; they do not take part.", metavar="COLUMN_OR_FILE"
    ),
]
Clusters = Annotated[
    Any,
    o.option(
        "--clusters", "-k", help="How many, or auto; default 8.", metavar="K", parser=o.at_least_or_auto(2)
    ),
]
Hierarchy = Annotated[
    Path | None, o.option("--hierarchy", help="Nested clusters, a table or .json.", metavar="FILE")
]
Dendrogram = Annotated[
    Path | None, o.option("--dendrogram", help="Their picture: .png, .svg or .pdf.", metavar="FILE")
]


def cluster(
    input: o.Input,
    output: o.Output,
    clusters: Clusters = 8,
    plot: Plot = None,
    hierarchy: Hierarchy = None,
    dendrogram: Dendrogram = None,
    labels: LabelColumn = None,
    text: o.Text = None,
    vectors: o.Vectors = None,
    encoder: o.Encoder = None,
    id: o.Id = None,
    encoding: o.Encoding = None,
    escape_formulas: o.EscapeFormulas = False,
    divergence: o.Divergence = None,
    bandwidth: o.Bandwidth = None,
    n_neighbors: o.Near = None,
    trees: o.Trees = None,
    blocks: o.Blocks = None,
    scale: o.Scale = None,
    ngrams: o.Ngrams = None,
    chars: o.Chars = False,
    min_df: o.MinDf = None,
    stop_words: o.StopWords = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    session = Session(quiet=quiet, json=json)
    source = Source(input, text, id, labels, None, encoding, stop_words, vectors=vectors, encoder=encoder)
    terms = o.text_settings(ngrams, chars, min_df, stop_words)
    settings = o.walk_settings(divergence, bandwidth, n_neighbors, trees, scale, terms, seed, jobs, blocks)
    session.result["command"] = "cluster"
    check_hierarchy(hierarchy, dendrogram)
    known = isinstance(clusters, int)
    purpose = f" for {clusters} clusters" if known else " for clusters"
    outputs = [output, plot, hierarchy, dendrogram]
    documents = read_for(session, source, outputs, plot, clusters if known else 3, purpose)
    features, rows, operator = walk(session, documents, settings)
    X = next(iter(rows.blocks.values())) if isinstance(rows, Views) else rows  # what clusters are told by
    with session.stage("clusters"):
        from ..estimators import SpectralClustering

        found = SpectralClustering(clusters, random_state=seed, n_jobs=jobs).fit(operator=operator)
    number = by_size(found.labels_)
    parts = operator.tree.cut(min(PIECES, len(number)))
    described = _describe(number, parts, documents, features, X)
    columns: dict[str, Column] = {"id": documents.ids, "cluster": number}
    if features.kind == "text":
        columns["terms"] = [", ".join(described[k - 1].terms) for k in number]
    nested = None
    if hierarchy is not None or dendrogram is not None:
        with session.stage("hierarchy"):
            nested = _nested(operator, found.n_clusters_, documents, features, X)
        columns["node"] = nested.leaf_of
    write_columns(session, output, columns, escape_formulas)
    with after_writing(output):
        if nested is not None:
            _write_nested(session, nested, hierarchy, dendrogram, input.name, escape_formulas)
        if plot is not None:
            with session.stage("plot"):
                _plot(plot, input.name, documents, operator, seed, number, described)
            session.result["plot"] = str(plot)
    if found.selection_:
        _say_choice(session, found)
    _say_clusters(session, described)
    say_written(session, outputs)
    session.finish()


def check_hierarchy(table: Path | None, picture: Path | None) -> None:
    """Refuse early what could not be written."""
    if table is not None and table.suffix.lower() != ".json":
        from ..documents.files import check_table

        check_table(table)
    if picture is not None:
        from ..report.scatter import check_scatter

        check_scatter(picture)


def _say_choice(session: Session, found: SpectralClustering) -> None:
    """The evidence for the number of clusters that was found."""
    session.say(f"\n{found.n_clusters_} clusters: the largest eigengap × stability")
    rows = [
        [f"{choice.n_clusters}", f"{choice.eigengap:.4f}", f"{choice.stability:.2f}", f"{choice.score:.4f}"]
        for choice in sorted(found.selection_, key=lambda choice: -choice.score)
        if choice.stability is not None
    ]
    session.table(["clusters", "eigengap", "stability", "product"], rows)
    session.result["selection"] = [
        {"clusters": c.n_clusters, "eigengap": c.eigengap, "stability": c.stability} for c in found.selection_
    ]


def _nested(
    operator: Operator, n_clusters: int, documents: Documents, features: Features, X: Points
) -> NestedClusters:
    from ..documents.nested import nested_clusters

    names = features.names if features.kind == "text" else None
    return nested_clusters(
        operator.tree, n_clusters, X, documents.ids, names, documents.texts, documents.labels
    )


def _write_nested(
    session: Session,
    nested: NestedClusters,
    table: Path | None,
    picture: Path | None,
    name: str,
    escape_formulas: bool,
) -> None:
    session.result["hierarchy"] = nested.tree()
    if table is not None and table.suffix.lower() == ".json":
        with atomic(table, "w") as file:
            json_format.dump(nested.tree(), file, indent=1, ensure_ascii=False)
    elif table is not None:
        from ..documents.files import write_table

        write_table(table, nested.columns(), escape_formulas=escape_formulas)
    if picture is not None:
        from ..report.dendrogram import Branch, write_dendrogram

        branches = [
            Branch(node.parent - 1, node.summary.documents, _words(node.summary)) for node in nested.nodes
        ]
        write_dendrogram(picture, branches, f"Nested clusters of {name}")


def _words(cluster: ClusterSummary) -> str:
    return ", ".join(cluster.terms) if cluster.terms else (cluster.label or "")


def _plot(
    path: Path,
    name: str,
    documents: Documents,
    operator: Operator,
    seed: int,
    number: Index,
    described: list[ClusterSummary],
) -> None:
    from ..report import ResultTable, map_coordinates

    points = map_coordinates(operator, random_state=seed)
    names = [_title(cluster) for cluster in described]
    columns, rows = _told(described)
    tables = [ResultTable("Clusters", columns, rows)]
    scatter(path, f"Clusters of {name}", documents, points, [names[k - 1] for k in number], tables)


def _describe(
    number: Index, parts: Index, documents: Documents, features: Features, X: Points
) -> list[ClusterSummary]:
    """Size, characteristic terms, a typical document and purity of every cluster."""
    names = features.names if features.kind == "text" else None
    return summarise(X, number, documents.ids, names, documents.texts, documents.labels, parts)


def _say_clusters(session: Session, found: list[ClusterSummary]) -> None:
    session.say()
    session.table(*_told(found))
    session.result["clusters"] = [cluster.contents() for cluster in found]


def _told(found: list[ClusterSummary]) -> tuple[list[str], list[list[str]]]:
    """The clusters as a table: its columns and rows."""
    pure = any(cluster.purity is not None for cluster in found)
    worded = any(cluster.terms for cluster in found)
    columns = ["cluster", "documents", *(["purity"] if pure else []), "typical"]
    rows = [
        [
            str(cluster.cluster),
            f"{cluster.documents:,}",
            *([_percent(cluster)] if pure else []),
            _short(cluster.representative, 24),
            *([", ".join(cluster.terms)] if worded else []),
        ]
        for cluster in found
    ]
    return [*columns, *(["terms"] if worded else [])], rows


def _percent(cluster: ClusterSummary) -> str:
    return "" if cluster.purity is None else f"{100 * cluster.purity:.0f} % {_short(cluster.label or '', 16)}"


def _title(cluster: ClusterSummary) -> str:
    """A cluster's name in a picture: its number and its first terms."""
    return (
        f"{cluster.cluster}: {', '.join(cluster.terms[:3])}"
        if cluster.terms
        else f"cluster {cluster.cluster}"
    )


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
