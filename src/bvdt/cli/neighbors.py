"""``bvdt neighbors``: what neighbor lists made elsewhere are worth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ..divergences import NAMES
from . import options as o
from .guard import guarded
from .help import TwoHelps
from .session import Session

NEIGHBORS_HELP = """Neighbor lists of faiss, hnswlib, pynndescent and others: audit them.

\b
Example:
  bvdt neighbors audit points.npy lists.npy
"""
AUDIT_HELP = """Measure the recall of neighbor lists, with its 95 % interval.

POINTS: a matrix, .npy or .npz, or .mtx or svmlight. LISTS: the indices, .npy, or
.npz with an array "indices" or a sparse graph; -1 for none. Sampled rows are
compared with all points.

\b
Example:
  bvdt neighbors audit points.npy lists.npy --metric cosine
"""

app = typer.Typer(
    help=NEIGHBORS_HELP,
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
)

Points = Annotated[Path, typer.Argument(metavar="POINTS", show_default=False, hidden=True)]
Lists = Annotated[Path, typer.Argument(metavar="LISTS", show_default=False, hidden=True)]
Metric = Annotated[
    Any,
    o.option(
        "--metric",
        help="euclidean (default), cosine, gid, kl, ...",
        metavar="NAME",
        parser=o.one_of("euclidean", *NAMES),
    ),
]
Rows = Annotated[int, o.count("--rows", help="Rows to measure on; default 500.", low=1)]


@app.callback()
def group() -> None:
    """A group, though it has one command."""


@app.command("audit", cls=TwoHelps, help=AUDIT_HELP, no_args_is_help=True)
@guarded
def audit(
    points: Points,
    lists: Lists,
    metric: Metric = "euclidean",
    rows: Rows = 500,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    from .. import neighbors
    from ..documents.files.formats import MATRICES, suffix_of
    from ..documents.files.matrices import read_matrix

    session = Session(quiet=quiet, json=json)
    suffix = suffix_of(points)
    if suffix not in MATRICES:
        raise ValueError(f"{points} needs to end in one of {' '.join(MATRICES)}; rename it")
    with session.stage("read"):
        X = read_matrix(points, suffix).X
        with _naming(lists):
            given = neighbors.NeighborLists.of(_read_lists(lists), X.shape[0])
    with session.stage("audit"), _naming(points):
        recall = neighbors.audit(X, given, metric=metric, n_rows=rows, random_state=seed, n_jobs=jobs)
    session.result |= {
        "command": "neighbors audit",
        "points": str(points),
        "lists": str(lists),
        "metric": metric,
        "recall": recall.estimate,
        "low": recall.low,
        "high": recall.high,
        "rows": recall.n_rows,
    }
    session.say(f"Recall {recall}, on {recall.n_rows:,} of {X.shape[0]:,} rows")
    session.finish()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """An error in here names the file, once."""
    try:
        yield
    except ValueError as error:
        raise ValueError(str(error) if str(path) in str(error) else f"{path}: {error}") from error


def _read_lists(path: Path) -> object:
    """An array of indices, or a sparse graph as SciPy saves it."""
    from ..documents.files.matrices import load_arrays, read_matrix

    arrays = load_arrays(path, "neighbor lists in NumPy's format")
    if not isinstance(arrays, dict):
        return arrays
    if "format" in arrays:
        return read_matrix(path, ".npz").X
    named = arrays.get("indices", next(iter(arrays.values())) if len(arrays) == 1 else None)
    if named is None:
        raise ValueError(f'{path} needs an array "indices"; it holds {", ".join(arrays)}')
    return named
