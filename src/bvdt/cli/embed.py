"""``bvdt embed``: coordinates of the documents, and a scatter of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from .._support.arrays import Float
from .._support.json import JsonObject
from .._support.sparse import Operator
from ..documents.files.table import Column
from ..report.scatter import UNLABELED
from . import options as o
from .guard import after_writing
from .page import check_plot, scatter
from .reading import Source, read, walk
from .session import Session
from .writing import check_outputs, say_written, write_columns

if TYPE_CHECKING:
    from ..documents.files import Documents

INPUT_LINE = """INPUT: .csv .tsv .jsonl .parquet, a folder of texts, .mtx .svm .npz .npy."""
EMBED_HELP = f"""Write coordinates that place like documents near each other.

{INPUT_LINE}
Writes id, x1, x2: a map for the eye (bvdt.Map); with another -k, or --spectral, the
walk's leading eigenvectors (diffusion coordinates).

\b
Example:
  bvdt embed docs.csv -o map.csv --plot map.html
"""

Plot = Annotated[Path | None, o.option("--plot", help="Scatter: .html, .png, .svg or .pdf.", metavar="FILE")]
Labels = Annotated[
    str | None, o.option("--labels", "-l", help="Column or file, to color by.", metavar="COLUMN_OR_FILE")
]
Components = Annotated[int, o.count("--components", "-k", help="Coordinates; default 2.", low=1, metavar="K")]
Spectral = Annotated[bool, o.option("--spectral", help="Eigenvectors, not the map, for 2 coordinates too.")]


def embed(
    input: o.Input,
    output: o.Output,
    components: Components = 2,
    spectral: Spectral = False,
    plot: Plot = None,
    labels: Labels = None,
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
    session.result["command"] = "embed"
    purpose = f" for {components} coordinates"
    documents = read_for(session, source, [output, plot], plot, components + 1, purpose)
    _, _, operator = walk(session, documents, settings)
    with session.stage("coordinates"):
        points, facts = _coordinates(operator, components, spectral or components != 2, seed, jobs)
    session.result |= {"components": components} | facts
    columns: dict[str, Column] = {f"x{k + 1}": points[:, k] for k in range(components)}
    write_columns(session, output, {"id": documents.ids, **columns}, escape_formulas)
    if plot is not None:
        with after_writing(output), session.stage("plot"):
            flat = points if components > 1 else np.column_stack([points, np.zeros(len(points))])
            scatter(plot, f"Map of {input.name}", documents, flat, _names(documents.labels))
        session.result["plot"] = str(plot)
    say_written(session, [output, plot])
    session.finish()


def _coordinates(
    operator: Operator, components: int, spectral: bool, seed: int, jobs: int | None
) -> tuple[Float, JsonObject]:
    """Coordinates, and what is reported of them: a map, or eigenvectors."""
    from ..estimators import Map, SpectralEmbedding

    if not spectral:
        return Map(random_state=seed, n_jobs=jobs).fit(operator=operator).embedding_, {"method": "map"}
    found = SpectralEmbedding(components, random_state=seed, n_jobs=jobs).fit(operator=operator)
    values, residuals = found.eigenvalues_.tolist(), found.residuals_.tolist()
    return found.embedding_, {"method": "spectral", "eigenvalues": values, "residuals": residuals}


def read_for(
    session: Session, source: Source, outputs: list[Path | None], plot: Path | None, least: int, purpose: str
) -> Documents:
    """The documents, once it is sure that what is made of them can be written."""
    table, *others = outputs
    assert table is not None
    check_outputs(source, table, *others)
    check_plot(plot)
    documents = read(session, source, least=max(2, least), purpose=purpose)
    session.say(f"Read {source.path}: {len(documents.ids):,} documents")
    return documents


def _names(labels: Sequence[str | None] | None) -> list[str] | None:
    if labels is None or not any(label is not None for label in labels):
        return None
    return [UNLABELED if label is None else label for label in labels]
