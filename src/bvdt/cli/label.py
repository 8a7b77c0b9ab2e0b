"""``bvdt label``: label documents in the browser, or export what a session holds."""

from __future__ import annotations

import getpass
import threading
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..documents.files.sessions import refuse_other_texts
from ..documents.settings import propagation
from . import options as o
from .reading import Source, read, walk
from .session import Session

if TYPE_CHECKING:
    from ..documents.settings import WalkSettings
    from ..estimators import LabelPropagation
    from ..labeling import Corpus, Store

LABEL_HELP = """Label documents in the browser; all others follow within moments.

INPUT as for propagate. Every label is in the session's file before the page
says so; the same command goes on where it ended. Needs the extra "app".

\b
Examples:
  bvdt label docs.csv --text text --classes sport,money
  bvdt label --session docs.labels.sqlite --export labels.csv
  bvdt propagate docs.csv --labels docs.labels.sqlite -o out.csv
"""

Documents = Annotated[Path | None, typer.Argument(metavar="INPUT", show_default=False, hidden=True)]
Labels = Annotated[
    str | None, o.option("--labels", "-l", help="Labels to begin with.", metavar="COLUMN_OR_FILE")
]
Classes = Annotated[str | None, o.option("--classes", help="Names with commas between.", metavar="NAMES")]
SessionFile = Annotated[
    Path | None, o.option("--session", help="Default: INPUT.labels.sqlite, here.", metavar="FILE")
]
Export = Annotated[
    Path | None, o.option("--export", help="Write labels to .csv .jsonl .json .parquet.", metavar="FILE")
]
Import = Annotated[Path | None, o.option("--import", help="Add labels of such a file first.", metavar="FILE")]
Host = Annotated[str, o.option("--host", help="Address to listen on.", metavar="ADDRESS")]
Port = Annotated[int | None, o.count("--port", help="Default: any free one.", low=1)]
NoBrowser = Annotated[bool, o.option("--no-browser", help="Only print the address.")]
Name = Annotated[str | None, o.option("--name", help="Who labels; default: you.", metavar="NAME")]

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Task:
    """What to do with the session."""

    path: Path
    classes: tuple[str, ...]
    export: Path | None
    imported: Path | None
    host: str
    port: int | None
    browser: bool
    who: str


def label(
    input: Documents = None,
    text: o.Text = None,
    vectors: o.Vectors = None,
    encoder: o.Encoder = None,
    id: o.Id = None,
    labels: Labels = None,
    classes: Classes = None,
    session: SessionFile = None,
    export: Export = None,
    import_: Import = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    no_browser: NoBrowser = False,
    name: Name = None,
    missing: o.Missing = None,
    encoding: o.Encoding = None,
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
    said = Session(quiet=quiet, json=json)
    said.result["command"] = "label"
    if input is None and session is None:
        raise ValueError("bvdt label needs documents to label, or --session with --export")
    path = session or Path(f"{input.stem if input is not None else ''}.labels.sqlite")
    names = tuple(part.strip() for part in (classes or "").split(",") if part.strip())
    who = name or _user()
    task = Task(path, names, export, import_, host, port, not no_browser, who)
    if input is None:
        _export_alone(said, task)
    else:
        terms = o.text_settings(ngrams, chars, min_df, stop_words)
        settings = o.walk_settings(None, None, None, None, scale, terms, seed, jobs)
        source = Source(
            input, text, id, labels, missing, encoding, stop_words, vectors=vectors, encoder=encoder
        )
        _with_documents(said, source, settings, task)
    said.finish()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "someone"


def _export_alone(said: Session, task: Task) -> None:
    from ..labeling import Store, export_format, write_export

    if task.export is None:
        raise ValueError("bvdt label without documents needs --export: it writes what the session holds")
    export_format(task.export)
    store = Store(task.path, create=False)
    n = write_export(task.export, store)
    store.close()
    said.result |= {"session": str(task.path), "labels": n, "output": str(task.export)}
    said.say(f"Wrote {task.export}: {n:,} labels of {task.path}")


def _with_documents(said: Session, source: Source, settings: WalkSettings, task: Task) -> None:
    from ..labeling import Corpus, Store, export_format

    if task.export is not None:
        export_format(task.export)
    else:
        _need_app()
    documents = read(said, source, least=2)
    features, X, operator = walk(said, documents, settings)
    corpus = Corpus(documents, features, X, operator)
    store = Store(task.path)
    try:
        store.claim()
        _fill(said, corpus, store, source, task)
        model = propagation(features, settings)
        if task.export is not None:
            _export_all(said, corpus, store, model, task.export)
        else:
            _serve(said, corpus, store, model, task, settings.seed)
    finally:
        store.close()


def _need_app() -> None:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"bvdt label needs Starlette and uvicorn: pip install 'bvdt[app]' ({error})"
        ) from None


def _fill(said: Session, corpus: Corpus, store: Store, source: Source, task: Task) -> None:
    """Classes and labels that the command line brings; what is there already stays."""
    from ..labeling import import_labels, read_import

    docs = corpus.documents
    refuse_other_texts(task.path, store.texts(), docs.path, docs.ids, docs.texts)
    store.keep("documents", str(source.path))
    if task.classes:
        store.add_classes(task.classes, task.who)

    def text(name: str) -> str:
        return corpus.text(corpus.rows[name])

    given = corpus.documents.labels or [None] * len(corpus.ids)
    labels = {name: label for name, label in zip(corpus.ids, given, strict=True) if label is not None}
    n = import_labels(store, labels, text, task.who)
    if task.imported is not None:
        n += import_labels(store, read_import(task.imported, corpus), text, task.who)
    there = len(store.labels())
    said.say(f"Session {task.path}: {there:,} labels" + (f", {n:,} of them new" if n else ""))
    said.result |= {"session": str(task.path), "labels": there, "imported": n}


def _export_all(said: Session, corpus: Corpus, store: Store, model: LabelPropagation, path: Path) -> None:
    """The labels; for Label Studio also all other documents with their guesses."""
    from ..labeling import task_of, write_export

    tasks = None
    labels = store.labels()
    if path.suffix.lower() == ".json" and labels:
        with said.stage("propagate"):
            given = [labels.get(name, "") for name in corpus.ids]
            fitted = model.fit(corpus.X, given, operator=corpus.operator, terms=corpus.features.terms)
        P = fitted.label_distributions_
        tasks = [
            task_of(name, corpus.text(row), str(fitted.classes_[P[row].argmax()]), float(P[row].max()))
            for row, name in enumerate(corpus.ids)
        ]
    n = write_export(path, store, tasks)
    said.result["output"] = str(path)
    said.say(f"Wrote {path}: {n:,} labels")


def _serve(
    said: Session, corpus: Corpus, store: Store, model: LabelPropagation, task: Task, seed: int
) -> None:
    from ..labeling import LabelingSession
    from ..labeling.app import make_app
    from ..labeling.serving import Server, bind, new_token

    assert not isinstance(model.alpha, str)
    listening = bind(task.host, task.port)
    session = LabelingSession(corpus, store, model, alpha=model.alpha, seed=seed)
    server = Server(
        make_app(session, corpus.documents.path.name, task.who), listening, new_token(), task.host
    )
    session.start()
    said.result["address"] = server.address
    said.say(f"\nLabel at {server.address}\nCtrl-C ends it; nothing is lost.")
    if task.host not in LOOPBACK:
        said.note(
            f"--host {task.host}: everyone on that network who has the address can read and label these "
            "documents, unencrypted"
        )
    if task.browser:
        threading.Timer(0.5, webbrowser.open, (server.address_for_once(),)).start()
    try:
        server.run()
    except KeyboardInterrupt:
        pass
    finally:
        session.stop()
    said.say(f"{len(store.labels()):,} labels in {task.path}")
