"""``bvdt inspect``: what a model file or an operator file holds, and how good the operator is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._support.json import JsonObject
from ..operators import storage
from . import options as o
from .session import Session

if TYPE_CHECKING:
    from ..documents.model import Model
    from ..operators import WalkOperator

INSPECT_HELP = """Show what a model file or an operator file holds.

FILE: of propagate --save, or of op.save in Python. The quality is measured on
sampled rows against the exact matrix.

\b
Example:
  bvdt inspect topics.bvdt
"""

File = Annotated[Path, typer.Argument(metavar="FILE", show_default=False, hidden=True)]
Rows = Annotated[int, o.count("--rows", help="Rows to measure on; default 256, 0: none.", low=0)]


def inspect(
    file: File,
    rows: Rows = 256,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    session = Session(quiet=quiet, json=json)
    model: Model | None = None
    with session.stage("load"):
        header, arrays = storage.read(file)
        if "model" in header:
            from ..documents.model import model_from

            model = model_from(file, header, arrays, n_jobs=jobs)
            operator = model.propagation.operator_
        else:
            operator = storage.operator_from(file, header, arrays, n_jobs=jobs)
    session.result |= {"command": "inspect", "file": str(file), "kind": "model" if model else "operator"}
    session.say(f"{file}: {_title(header, model)}\n")
    facts = operator_facts(operator) | ({} if model is None else model_facts(model))
    session.result |= facts
    width = max(map(len, facts)) + 2
    for name, value in facts.items():
        session.say(f"  {name.replace('_', ' ').ljust(width)}{_shown(value)}")
    if rows:
        with session.stage("measure quality"):
            quality = operator.quality(rows, random_state=seed)
        session.result["quality"] = dict(quality)
        session.say(f"\n{quality}")
    session.finish()


def _title(header: JsonObject, model: Model | None) -> str:
    version = f"format version {header['version']}"
    if model is None:
        return f"an operator, {version}"
    source = f" made from {model.source}" if model.source else ""
    return f"a model{source}, {version}, bvdt {header['model'].get('made_by', '?')}"


def operator_facts(op: WalkOperator) -> JsonObject:
    """What the operator is: sizes, settings, bound."""
    lifted, near_field = op.lifted, getattr(op, "near_field", None)
    return {
        "points": op.shape[0],
        "features": lifted.dimension,
        "stored_values": int(lifted.X.nnz if lifted.is_sparse else lifted.X.size),
        "divergence": "of your own" if lifted.lifting is None else lifted.lifting.divergence.name,
        "bandwidth": op.bandwidth,
        "trees": len(op.members),
        "depth": max(int(member.tree.depth) for member in op.members),
        "n_blocks": op.n_blocks,
        "n_neighbors": 0 if near_field is None else near_field.k,
        "lower_bound": op.lower_bound,
        "bound_per_row": op.lower_bound / op.shape[0],
    }


def model_facts(model: Model) -> JsonObject:
    """What the model adds: data, labels, accuracy."""
    facts = {
        "data": model.features.kind,
        "scale": model.features.scale,
        "alpha": model.propagation.alpha,
        "labels_given": int((model.codes >= 0).sum()),
        "classes": model.classes,
    }
    return facts | {"accuracy": None if model.holdout is None else str(model.holdout)}


def _shown(value: object) -> str:
    if isinstance(value, list):
        more = f" and {len(value) - 8} more" if len(value) > 8 else ""
        return f"{len(value)}: {', '.join(value[:8])}{more}"
    if value is None:
        return "not measured"
    return (
        f"{value:,}" if isinstance(value, int) else f"{value:.5g}" if isinstance(value, float) else str(value)
    )
