"""What the commands on documents share: read, learn the features, build the walk."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._support.arrays import Float
from .._support.sparse import Points, is_sparse
from ..documents.files.vectors import read_vectors
from ..documents.settings import WalkSettings, build_walk
from ..lifting import Views
from .session import Session

if TYPE_CHECKING:
    from ..documents.features import Features
    from ..documents.files import Documents
    from ..operators import WalkOperator


@dataclass(frozen=True)
class Source:
    """Where the documents are, and which columns are what."""

    path: Path
    text: str | None = None
    id: str | None = None
    labels: str | None = None
    missing: str | None = None
    encoding: str | None = None
    stop_words: str | None = None
    model: Path | None = None
    keep_columns: bool = False
    vectors: Path | None = None
    encoder: Path | None = None

    def files(self) -> Iterator[tuple[Path, str]]:
        """Every file that is read, and what it is."""
        yield self.path, "the input"
        named = {"the labels": self.labels, "the stop words": self.stop_words, "the model": self.model}
        named |= {"the vectors": self.vectors}
        for what, name in named.items():
            if name is not None and Path(name).is_file():
                yield Path(name), what


def read(
    session: Session, source: Source, *, least: int, purpose: str = "", numbers: Collection[str] = ()
) -> Documents:
    """The documents, at least so many for the purpose; guesses are reported."""
    from ..documents.files import read_documents

    with session.stage("read"):
        documents = read_documents(
            source.path,
            text=source.text,
            id=source.id,
            labels=source.labels,
            encoding=source.encoding,
            missing=source.missing,
            numbers=numbers,
            keep=source.keep_columns,
        )
    for note in documents.notes:
        session.note(note)
    n_documents = len(documents.ids)
    if n_documents < least:
        raise ValueError(f"{source.path} needs at least {least} documents{purpose}; it has {n_documents}")
    session.result |= {"input": str(source.path), "documents": n_documents}
    vectors = _vectors(session, source, documents)
    return documents if vectors is None else replace(documents, vectors=vectors)


def _vectors(session: Session, source: Source, documents: Documents) -> Float | None:
    """Those of a file, or of an encoder."""
    if source.vectors is not None and source.encoder is not None:
        raise ValueError("--vectors and --encoder are two ways to the same; leave out one of them")
    if source.vectors is not None:
        vectors = read_vectors(source.vectors, len(documents.ids))
        n_empty = int((~vectors.any(axis=1)).sum())
        if n_empty:
            session.note(f"{n_empty:,} rows of {source.vectors} are zero: only the other features place them")
        return vectors
    if source.encoder is None:
        return None
    if documents.texts is None:
        raise ValueError(f"--encoder makes vectors of texts, and {documents.path} has none")
    from ..documents.encoders import vectors_of

    with session.steps("encode the texts", len(documents.texts)) as advance:
        found, kept = vectors_of(documents.texts, source.encoder, source.path, advance)
    session.say(
        f"Vectors of {source.encoder}: {found.shape[1]} columns" + (f", kept in {kept}" if kept else "")
    )
    return found.astype(np.float64)


def walk(
    session: Session, documents: Documents, settings: WalkSettings
) -> tuple[Features, Points | Views, WalkOperator]:
    """Features, their matrix and its walk; says what they are."""
    from ..documents.features import TextSettings, learn_features
    from ..walks import looks_like_graph

    if documents.texts is None and settings.text != TextSettings():
        session.note(f"{documents.path} has no texts: options on terms have no effect")
    looks = "" if documents.texts is not None else looks_like_graph(documents.X)
    if looks:
        session.note(
            f"{documents.path} is {looks}, and its rows are taken as points; graphs are for Python: "
            "bvdt.LabelPropagation().fit(operator=graph, y=labels)"
        )
    with session.stage("weigh"):
        features, X = learn_features(
            documents, scale=settings.scale, divergence=settings.divergence, text=settings.text
        )
    note_empty(session, X, features)
    parameters = settings.parameters(features)
    with session.bars("build the walk") as progress:
        try:
            op = build_walk(X, parameters, progress)
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
        "n_blocks": op.n_blocks,
    }
    return features, X, op


def note_empty(session: Session, X: Points | Views, features: Features) -> None:
    """A note on documents in which no known term occurs, or whose rows are empty."""
    words = next(iter(X.blocks.values())) if isinstance(X, Views) else X
    n_empty = int((np.diff(words.indptr) == 0).sum()) if is_sparse(words) else 0
    if n_empty:
        what = "no known term" if features.kind == "text" else "only zeros"
        who = f"1 document holds {what}: its" if n_empty == 1 else f"{n_empty:,} documents hold {what}: their"
        session.note(f"{who} place is {'that of the vectors' if isinstance(X, Views) else 'a guess'}")


def describe(features: Features, op: WalkOperator) -> str:
    """One line on what is walked over."""
    names = {"text": "terms", "counts": "counted terms", "columns": "columns of numbers"}
    scale = {"tfidf": ", tf-idf", "standard": ", standardised"}.get(features.scale, "")
    lifting = op.lifted.lifting
    parts = () if lifting is None else getattr(lifting, "parts", (lifting,))  # of views their own
    divergence = f", {' and '.join(dict.fromkeys(part.divergence.name for part in parts))}" if parts else ""
    trees = f"{len(op.members)} tree" + ("s" if len(op.members) > 1 else "")
    near_field = getattr(op, "near_field", None)
    kept = "" if near_field is None else f", {near_field.k} nearest"
    vectors = f" and {features.n_vectors:,} columns of vectors" if features.n_vectors else ""
    what = f"{features.n_features:,} {names.get(features.kind, 'features')}{scale}{vectors}"
    return f"{what}{divergence}, {trees}{kept}"
