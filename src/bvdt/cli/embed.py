"""``bvdt embed`` and ``bvdt cluster``: coordinates or clusters of the documents, and a scatter of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from ..documents.cluster_terms import ClusterSummary, by_size, summarise
from ..report.scatter import UNLABELLED
from . import options as o
from .guard import after_writing
from .page import check_plot, scatter
from .reading import Source, read, walk
from .session import Session
from .writing import check_outputs, say_written, write_columns

if TYPE_CHECKING:
    from ..documents.features import Features
    from ..documents.files import Documents

_INPUT = """INPUT: .csv .tsv .jsonl .parquet, a folder of texts, .mtx .svm .npz .npy."""
EMBED_HELP = f"""Write coordinates that place like documents near each other.

{_INPUT}
Writes id, x1, x2: a map for the eye (bvdt.Map); with another -k, or --spectral, the
walk's leading eigenvectors (diffusion coordinates).

\b
Example:
  bvdt embed docs.csv -o map.csv --plot map.html
"""
CLUSTER_HELP = f"""Group the documents into k clusters.

{_INPUT}
Writes id, cluster; cluster 1 is the largest.

\b
Example:
  bvdt cluster docs.csv -k 8 -o clusters.csv --plot clusters.png
"""

Plot = Annotated[Path | None, o.option("--plot", help="Scatter: .html, .png, .svg or .pdf.", metavar="FILE")]
Labels = Annotated[
    str | None, o.option("--labels", "-l", help="Column or file, to colour by.", metavar="COLUMN_OR_FILE")
]
LabelColumn = Annotated[
    str | None, o.option("--labels", "-l", help="Column to leave out.", metavar="COLUMN_OR_FILE")
]
Components = Annotated[Any, o.count("--components", "-k", help="Coordinates; default 2.", low=1, metavar="K")]
Spectral = Annotated[bool, o.option("--spectral", help="Eigenvectors, not the map, for 2 coordinates too.")]
Clusters = Annotated[Any, o.count("--clusters", "-k", help="How many; default 8.", low=2, metavar="K")]


def embed(
    input: o.Input,
    output: o.Output,
    components: Components = 2,
    spectral: Spectral = False,
    plot: Plot = None,
    labels: Labels = None,
    text: o.Text = None,
    id: o.Id = None,
    encoding: o.Encoding = None,
    escape_formulas: o.EscapeFormulas = False,
    divergence: o.Divergence = None,
    bandwidth: o.Bandwidth = None,
    near: o.Near = None,
    trees: o.Trees = None,
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
    source = Source(input, text, id, labels, None, encoding, stop_words)
    terms = o.text_settings(ngrams, chars, min_df, stop_words)
    settings = o.walk_settings(divergence, bandwidth, near, trees, scale, terms, seed, jobs)
    session.result["command"] = "embed"
    documents = _read(session, source, output, plot, components + 1, f" for {components} coordinates")
    _, _, operator = walk(session, documents, settings)
    with session.stage("coordinates"):
        points, facts = _coordinates(operator, components, spectral or components != 2, seed, jobs)
    session.result |= {"components": components} | facts
    columns = {f"x{k + 1}": points[:, k] for k in range(components)}
    write_columns(session, output, {"id": documents.ids} | columns, escape_formulas)
    if plot is not None:
        with after_writing(output), session.stage("plot"):
            flat = points if components > 1 else np.column_stack([points, np.zeros(len(points))])
            scatter(plot, f"Map of {input.name}", documents, flat, _names(documents.labels))
        session.result["plot"] = str(plot)
    say_written(session, [output, plot])
    session.finish()


def _coordinates(operator: Any, components: int, spectral: bool, seed: int, jobs: int | None) -> Any:
    """Coordinates, and what is told of them: a map, or eigenvectors."""
    from ..estimators import Map, SpectralEmbedding

    if not spectral:
        return Map(random_state=seed, n_jobs=jobs).fit(operator=operator).embedding_, {"method": "map"}
    found = SpectralEmbedding(components, random_state=seed, n_jobs=jobs).fit(operator=operator)
    values, residuals = found.eigenvalues_.tolist(), found.residuals_.tolist()
    return found.embedding_, {"method": "spectral", "eigenvalues": values, "residuals": residuals}


def cluster(
    input: o.Input,
    output: o.Output,
    clusters: Clusters = 8,
    plot: Plot = None,
    labels: LabelColumn = None,
    text: o.Text = None,
    id: o.Id = None,
    encoding: o.Encoding = None,
    escape_formulas: o.EscapeFormulas = False,
    divergence: o.Divergence = None,
    bandwidth: o.Bandwidth = None,
    near: o.Near = None,
    trees: o.Trees = None,
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
    source = Source(input, text, id, labels, None, encoding, stop_words)
    terms = o.text_settings(ngrams, chars, min_df, stop_words)
    settings = o.walk_settings(divergence, bandwidth, near, trees, scale, terms, seed, jobs)
    session.result["command"] = "cluster"
    documents = _read(session, source, output, plot, clusters, f" for {clusters} clusters")
    features, X, operator = walk(session, documents, settings)
    with session.stage("clusters"):
        from ..estimators import SpectralClustering

        found = SpectralClustering(clusters, random_state=seed, n_jobs=jobs).fit(operator=operator)
    number = by_size(found.labels_)
    described = _describe(session, number, documents, features, X)
    columns: dict[str, Any] = {"id": documents.ids, "cluster": number}
    if features.kind == "text":
        columns["terms"] = [", ".join(described[k - 1].terms) for k in number]
    write_columns(session, output, columns, escape_formulas)
    if plot is not None:
        from ..report import map_coordinates

        with after_writing(output), session.stage("plot"):
            points = map_coordinates(operator, random_state=seed)
            names = [_title(cluster) for cluster in described]
            scatter(plot, f"Clusters of {input.name}", documents, points, [names[k - 1] for k in number])
        session.result["plot"] = str(plot)
    say_written(session, [output, plot])
    session.finish()


def _read(
    session: Session, source: Source, output: Path, plot: Path | None, least: int, purpose: str
) -> Documents:
    check_outputs(source, output, plot)
    check_plot(plot)
    documents = read(session, source, least=max(2, least), purpose=purpose)
    session.say(f"Read {source.path}: {len(documents.ids):,} documents")
    return documents


def _describe(
    session: Session, number: Any, documents: Documents, features: Features, X: Any
) -> list[ClusterSummary]:
    """Size, telling terms, a typical document and purity of every cluster, said and kept."""
    names = features.names if features.kind == "text" else None
    found = summarise(X, number, documents.ids, names, documents.texts, documents.labels)
    pure = any(cluster.purity is not None for cluster in found)
    columns = [
        "cluster",
        "documents",
        *(["purity"] if pure else []),
        "typical",
        *(["terms"] if names else []),
    ]
    rows = [
        [
            str(cluster.cluster),
            f"{cluster.documents:,}",
            *([_percent(cluster)] if pure else []),
            _short(cluster.representative, 24),
            *([", ".join(cluster.terms)] if names else []),
        ]
        for cluster in found
    ]
    session.say()
    session.table(columns, rows)
    session.result["clusters"] = [cluster.contents() for cluster in found]
    return found


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


def _names(labels: Any) -> list[str] | None:
    if labels is None or not any(label is not None for label in labels):
        return None
    return [UNLABELLED if label is None else label for label in labels]
