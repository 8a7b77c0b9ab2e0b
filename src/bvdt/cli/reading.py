"""What the commands on documents share: check the outputs, read, learn the features, build the walk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..labelling import WalkSettings, build_walk
from .session import Session

if TYPE_CHECKING:
    from ..features import Features
    from ..files import Documents
    from ..linear import WalkOperator


@dataclass(frozen=True)
class Source:
    """Where the documents are, and which columns are what."""

    path: Path
    text: str | None = None
    id: str | None = None
    labels: str | None = None
    missing: str | None = None
    encoding: str | None = None


def check_outputs(source: Source, table: Path, *others: Path | None) -> None:
    """Refuse, before any work, outputs that could not be written or would replace an input or each other."""
    from ..files import check_table, check_writable

    seen = {source.path.resolve(): "the input"}
    if source.labels and Path(source.labels).is_file():
        seen[Path(source.labels).resolve()] = "the labels"
    for path in (table, *(other for other in others if other is not None)):
        if path.resolve() in seen:
            raise ValueError(f"{path} needs another name: it is {seen[path.resolve()]} as well")
        seen[path.resolve()] = "another output"
    check_table(table)
    for other in others:
        if other is not None:
            check_writable(other)


def read(session: Session, source: Source, *, least: int, purpose: str = "") -> Documents:
    """The documents, at least so many for the purpose; what was guessed is told."""
    from ..files import read_documents

    with session.stage("read"):
        documents = read_documents(
            source.path,
            text=source.text,
            id=source.id,
            labels=source.labels,
            encoding=source.encoding,
            missing=source.missing,
        )
    for note in documents.notes:
        session.note(note)
    n_documents = len(documents.ids)
    if n_documents < least:
        raise ValueError(f"{source.path} needs at least {least} documents{purpose}; it has {n_documents}")
    session.result |= {"input": str(source.path), "documents": n_documents}
    return documents


def walk(
    session: Session, documents: Documents, settings: WalkSettings
) -> tuple[Features, Any, WalkOperator]:
    """Features, their matrix and its walk; says what they are."""
    from ..features import TextSettings, learn_features

    if documents.texts is None and settings.text != TextSettings():
        session.note(f"{documents.path} has no texts: options on terms have no effect")
    with session.stage("weigh"):
        features, X = learn_features(
            documents, scale=settings.scale, divergence=settings.divergence, text=settings.text
        )
    tell_empty(session, X)
    parameters = settings.parameters(features)
    with session.stage("build the walk", own_bar=settings.progress):
        try:
            op = build_walk(X, parameters)
        except ValueError as error:  # values outside the divergence's domain
            raise ValueError(f"{documents.path}: {error}") from error
    described = describe(features, op)
    session.say(f"Walk: {described}")
    session.result["walk"] = {
        "kind": features.kind,
        "features": features.n_features,
        "scale": features.scale,
        "divergence": parameters["divergence"].name,
        "bandwidth": op.bandwidth,
        "trees": len(op.members),
        "blocks": op.n_blocks,
    }
    return features, X, op


def tell_empty(session: Session, X: Any) -> None:
    """A note on documents in which no known term occurs."""
    from scipy import sparse

    n_empty = int((np.diff(X.indptr) == 0).sum()) if sparse.issparse(X) else 0
    if n_empty:
        what = (
            "1 document holds no known term: its"
            if n_empty == 1
            else f"{n_empty:,} documents hold no known term: their"
        )
        session.note(f"{what} place is a guess")


def describe(features: Features, op: WalkOperator) -> str:
    """One line on what is walked over."""
    names = {"text": "terms", "counts": "counted terms", "columns": "columns of numbers"}
    scale = {"tfidf": ", tf-idf", "standard": ", standardised"}.get(features.scale, "")
    lifting = op.lifted.lifting
    divergence = "" if lifting is None else f", {lifting.divergence.name}"
    trees = f"{len(op.members)} tree" + ("s" if len(op.members) > 1 else "")
    near = getattr(op, "near", None)
    kept = "" if near is None else f", {near.indices.shape[1]} nearest"
    return f"{features.n_features:,} {names.get(features.kind, 'features')}{scale}{divergence}, {trees}{kept}"
