"""``bvdt propagate``: labels for all documents from the labels of a few, or with a saved model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from .._support.arrays import Float, Index
from .._support.sparse import Points
from ..documents.labels import encode
from ..documents.predictions import Labeling, ReasonTexts, kept_columns
from ..documents.settings import WalkSettings, propagation
from ..walks import METHODS
from . import options as o
from .guard import after_writing
from .page import issue_tables, labeling_report, unnamed_tables
from .reading import Source, note_empty, read, walk
from .session import Session, shortened
from .writing import check_outputs, say_written, write_columns

if TYPE_CHECKING:
    from ..documents.features import Features
    from ..documents.files import Documents
    from ..documents.files.table import Column
    from ..documents.holdout import Holdout
    from ..documents.model import Model
    from ..estimators import LabelPropagation
    from ..estimators._label_issues import LabelIssues
    from ..report import ResultTable

PROPAGATE_HELP = """Label all documents from the labels of a few.

INPUT: .csv .tsv .jsonl .parquet, a folder of texts, .mtx .svm .npz .npy.
Writes id, label, confidence, runner_up, entropy, given, novelty.

\b
Examples:
  bvdt propagate docs.csv --labels topic -o out.csv --save topics.bvdt
  bvdt propagate new.csv --model topics.bvdt -o new-out.csv
"""

BLENDS = {"auto": "auto", "walk": None, "linear": "linear", "naive-bayes": "naive_bayes"}

Labels = Annotated[
    str | None, o.option("--labels", "-l", help="Column with blanks, or a file.", metavar="COLUMN_OR_FILE")
]
Report = Annotated[Path | None, o.option("--report", help="Write a page to look at, .html.", metavar="FILE")]
Save = Annotated[Path | None, o.option("--save", help="Write the model, .bvdt.", metavar="FILE")]
ModelFile = Annotated[
    Path | None, o.option("--model", help="Predict by a model; --labels adds to it.", metavar="FILE")
]
Suggest = Annotated[
    int | None,
    o.option("--suggest", help="List N documents to label next.", metavar="N", parser=o.at_least(0)),
]
Explain = Annotated[
    int | None,
    o.option("--explain", help="Name N labels behind each.", metavar="N", parser=o.at_least(0)),
]
KeepColumns = Annotated[bool, o.option("--keep-columns", help="Write the input's other columns, too.")]
Hidden = Annotated[
    float | None,
    o.option(
        "--holdout",
        help="Labels hidden to test; default 0.2, 0: none.",
        metavar="SHARE",
        parser=o.parse_share,
    ),
]
BlendWith = Annotated[
    str | None,
    o.option(
        "--blend",
        help="auto (default), walk, linear, naive-bayes.",
        metavar="NAME",
        parser=o.one_of(*BLENDS),
    ),
]
Reject = Annotated[
    float | None,
    o.option(
        "--reject",
        help="Share of known documents called unknown.",
        metavar="SHARE",
        parser=o.parse_fraction,
        rich_help_panel=o.RARE,
    ),
]
Unknown = Annotated[
    str | None, o.option("--unknown", help="Label of documents like no class.", metavar="NAME")
]
CheckLabels = Annotated[
    Path | None,
    o.option("--check-labels", help="Write the labels, the most doubtful first.", metavar="FILE"),
]
Method = Annotated[
    str | None,
    o.option(
        "--method",
        help="spread (default), walk, poisson, poisson_mbo.",
        metavar="NAME",
        parser=o.one_of(*METHODS),
        rich_help_panel=o.RARE,
    ),
]
Alpha = Annotated[
    o.Parsed,
    o.option("--alpha", help="Share taken from neighbors, 0-1, auto.", metavar="A", parser=o.parse_alpha),
]
Dask = Annotated[
    str | None,
    o.option(
        "--dask",
        help="Parquet beyond memory: tcp://... or local.",
        metavar="ADDRESS",
        rich_help_panel=o.RARE,
    ),
]


REASONS = 3  # labels named per document in a report
MARK, REJECT = "unknown", 0.05  # where only one of --unknown and --reject is given
QUICK_REASONS = 5_000_000  # labels × documents that take some seconds to explain
MOST_CLASSES = 100  # beyond, most labels occurring once are taken for a mistake


@dataclass(frozen=True)
class Task:
    """What to do with the documents."""

    output: Path
    escape_formulas: bool
    report: Path | None
    save: Path | None
    suggest: int
    explain: int
    holdout: float | None
    alpha: float | str | None
    blend: str | None
    method: str
    reject: float | None
    unknown: str
    check_labels: Path | None
    settings: WalkSettings


def propagate(
    input: o.Input,
    output: o.Output,
    labels: Labels = None,
    text: o.Text = None,
    vectors: o.Vectors = None,
    encoder: o.Encoder = None,
    id: o.Id = None,
    missing: o.Missing = None,
    encoding: o.Encoding = None,
    keep_columns: KeepColumns = False,
    escape_formulas: o.EscapeFormulas = False,
    report: Report = None,
    save: Save = None,
    model: ModelFile = None,
    suggest: Suggest = None,
    explain: Explain = None,
    holdout: Hidden = None,
    reject: Reject = None,
    unknown: Unknown = None,
    check_labels: CheckLabels = None,
    blend: BlendWith = None,
    method: Method = None,
    alpha: Alpha = None,
    dask: Dask = None,
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
    source = Source(
        input, text, id, labels, missing, encoding, stop_words, model, keep_columns, vectors, encoder
    )
    terms = o.text_settings(ngrams, chars, min_df, stop_words)
    settings = o.walk_settings(divergence, bandwidth, n_neighbors, trees, scale, terms, seed, jobs, blocks)
    if method not in (None, "spread") and blend not in (None, "walk"):
        raise ValueError(f"--method {method} is for the walk alone; leave out --blend {blend}, or --method")
    labeled_by = BLENDS[blend or "auto"], method or "spread"
    if unknown is not None and reject is None:
        reject = REJECT
    rejected = reject, MARK if unknown is None else unknown
    more = suggest or 0, explain or 0, holdout, alpha, *labeled_by, *rejected, check_labels, settings
    task = Task(output, escape_formulas, report, save, *more)
    session.result["command"] = "propagate"
    if dask is not None:
        made: dict[str, object] = {
            "--text": text,
            "--vectors": vectors,
            "--encoder": encoder,
            "--encoding": encoding,
            "--report": report,
            "--keep-columns": keep_columns,
        }
        made |= {"--save": save, "--model": model, "--suggest": suggest, "--holdout": holdout}
        made |= {"--reject": reject, "--check-labels": check_labels}
        made |= {"--blend": blend, "--trees": trees, "--blocks": blocks, "--scale": scale, "--ngrams": ngrams}
        made |= {"--chars": chars, "--min-df": min_df, "--stop-words": stop_words, "--jobs": jobs}
        _refuse(made, "--dask labels a table of numbers by the walk alone", "--dask")
        from .on_dask import label_on_dask

        chosen = {
            "divergence": divergence,
            "alpha": alpha,
            "bandwidth": bandwidth,
            "n_neighbors": n_neighbors,
            "method": method,
        }
        label_on_dask(session, input, output, labels, missing, id, dask, seed, chosen)
    elif model is None:
        _label(session, source, task)
    else:
        made = {"--suggest": suggest, "--blend": blend, "--method": method, "--explain": explain}
        made |= {"--check-labels": check_labels}
        made |= {
            "--alpha": alpha,
            "--divergence": divergence,
            "--bandwidth": bandwidth,
            "--neighbors": n_neighbors,
        }
        made |= {"--trees": trees, "--blocks": blocks, "--scale": scale, "--ngrams": ngrams, "--chars": chars}
        made |= {"--min-df": min_df, "--stop-words": stop_words}
        if labels is None:
            made |= {"--save": save, "--holdout": holdout, "--unlabeled": missing}
        _refuse(made, "--model brings its own settings, and labels unless --labels adds some", "--model")
        (_predict if labels is None else _update)(session, source, model, task)
    session.finish()


def _need_html(report: Path | None) -> None:
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{report} needs the suffix .html: a report is a page for the browser")


def _refuse(made: dict[str, object], reason: str, option: str) -> None:
    useless = [name for name, value in made.items() if value is not None and value is not False]
    if useless:
        raise ValueError(f"{reason}; leave out {', '.join(useless)}, or {option}")


# -- labels from labels ------------------------------------------------------------------------------------


def _label(session: Session, source: Source, task: Task) -> None:
    from ..documents.model import Model

    check_outputs(source, task.output, task.report, task.save, task.check_labels)
    _need_html(task.report)
    if source.labels is None and not source.path.is_dir():
        raise ValueError(
            "--labels is missing: name the column of labels (blank where there is none), or a file of them; "
            'the labels inside an svmlight file are "target"'
        )
    documents = read(session, source, least=2)
    kept = kept_columns(documents.columns)
    classes, codes = _classes(session, source, documents)
    _check_unknown(classes, task)
    features, X, operator = walk(session, documents, task.settings)
    with session.stage("propagate"):
        fitted = propagation(features, task.settings, task.alpha, task.blend, task.method)
        fitted.fit(X, codes, operator=operator, terms=features.terms)
    _say_blend(session, fitted)
    measured = _measure(session, fitted, classes, codes, task)
    labeling = Labeling.of(fitted.label_distributions_, classes, codes)
    labeling = _with_novelty(session, labeling, lambda: fitted.novelty_, classes, task)
    suggestions = _suggest(session, fitted, task)
    reasons = _reasons(session, fitted, documents, features, task)
    columns = labeling.columns(documents.ids) | ({"because": reasons} if task.explain else {})
    write_columns(session, task.output, columns | kept, task.escape_formulas)
    written = [task.output]
    issues = _check_labels(session, fitted, classes, task)
    if task.check_labels is not None and issues is not None:
        with after_writing(*written):
            _write_issues(session, issues, documents, classes, task)
        written.append(task.check_labels)
    model = Model(features, fitted, classes, measured, source.path.name)
    if task.save is not None:
        with after_writing(*written):
            _save(session, model, task.save)
        written.append(task.save)
    if task.report is not None:
        with after_writing(*written):
            tables = [] if issues is None else issue_tables(issues, documents, model)
            tables += unnamed_tables(fitted.unnamed_classes(), documents)
            _report(
                session, documents, labeling, task.report, model, suggestions, reasons=reasons, tables=tables
            )
        written.append(task.report)
    _say_counts(session, labeling, classes, task)
    if task.suggest:
        _say_suggestions(session, suggestions[: task.suggest], documents, labeling)
    say_written(session, written)


def _reasons(
    session: Session, fitted: LabelPropagation, documents: Documents, features: Features, task: Task
) -> list[str]:  # (N,) or empty
    """What gave each document its label: where asked for, and for a report where that is quick."""
    n_labels = int((fitted.codes_ >= 0).sum())
    quick = task.report is not None and n_labels * len(documents.ids) <= QUICK_REASONS
    if not task.explain and not quick:
        return []
    with session.steps("explain", n_labels) as advance:
        found = fitted.reasons(n=task.explain or REASONS, advance=advance)
    kind = "words" if features.kind == "text" else "columns"
    return ReasonTexts(found, documents.ids, fitted.codes_ >= 0, features.row_names, kind).all()


def _with_novelty(
    session: Session, labeling: Labeling, find: Callable[[], Float], classes: list[str], task: Task
) -> Labeling:
    """The labels with their novelty, those that are rejected by another name."""
    _check_unknown(classes, task)
    with session.stage("novelty"):
        novelty = find()
    if task.reject is not None:
        n = int(np.sum((novelty > 1 - task.reject) & ~labeling.given))
        session.say(f"Like no class: {n:,} documents are {task.unknown!r}")
        session.result["rejected"] = n
    return labeling.with_novelty(novelty, task.reject, task.unknown)


def _check_unknown(classes: list[str], task: Task) -> None:
    if task.reject is not None and task.unknown in classes:
        raise ValueError(f"--unknown needs a name that is no class; {task.unknown!r} is one")


def _check_labels(
    session: Session, fitted: LabelPropagation, classes: list[str], task: Task
) -> LabelIssues | None:
    """Where asked for, and for a report where it costs nothing."""
    if task.check_labels is None and (task.report is None or not hasattr(fitted, "blend_")):
        return None
    with session.steps("check the labels", int((fitted.codes_ >= 0).sum())) as advance:
        return fitted.label_issues(advance=advance)


def _write_issues(
    session: Session, issues: LabelIssues, documents: Documents, classes: list[str], task: Task
) -> None:
    assert task.check_labels is not None
    columns: dict[str, Column] = {
        "id": [documents.ids[i] for i in issues.points],
        "given": [classes[k] for k in issues.given],
        "suggested": [classes[k] for k in issues.suggested],
        "probability": np.round(issues.probability, 6),
        "confidence": np.round(issues.confidence, 6),
    }
    write_columns(session, task.check_labels, columns, task.escape_formulas)
    n = len(issues.contradicted().points)
    session.say(f"Labels that the others contradict: {n:,} of {len(issues.points):,}")
    session.result["contradicted"] = n


def _classes(session: Session, source: Source, documents: Documents) -> tuple[list[str], Index]:
    given = documents.labels or []
    classes, codes = encode(given)
    n_labels = int((codes >= 0).sum())
    if not n_labels:
        where = f"{source.labels!r}" if source.labels else "its subfolders"
        raise ValueError(
            f"{source.path} has no labels in {where}: all {len(documents.ids)} documents are without; "
            "label a few of each class first"
        )
    n = len(documents.ids)
    if len(classes) > MOST_CLASSES and 4 * len(classes) > 3 * n_labels:
        raise ValueError(
            f"{source.path}: {source.labels!r} gives {len(classes):,} different labels to {n_labels:,} "
            "documents; is it the labels? A class needs several documents"
        )
    kinds = f"{len(classes):,} class" + ("es" if len(classes) != 1 else "")
    session.say(f"Read {source.path}: {n:,} documents, {n_labels:,} of them labeled, {kinds}")
    session.result |= {"labeled": n_labels, "classes": classes}
    if len(classes) == 1:
        session.note(f"there is only one class, {classes[0]!r}: every document will get it")
    if n_labels == n:
        session.note("every document has a label: there is nothing to predict")
    return classes, codes


def _say_blend(session: Session, fitted: LabelPropagation) -> None:
    blend = getattr(fitted, "blend_", None)
    session.result["blend"] = None if blend is None else asdict(blend)
    if blend is not None:
        parts = ", ".join(f"{name} {100 * share:.0f} %" for name, share in blend.shares.items())
        step = f"; neighbors' answers then count {100 * blend.share:.0f} %" if blend.share else ""
        session.say(f"Shares in the answer, by how well each named hidden labels: {parts}{step}")


def _measure(
    session: Session, fitted: LabelPropagation, classes: list[str], codes: Index, task: Task
) -> Holdout | None:
    from ..documents.holdout import measure_holdout, n_folds_for, why_not

    session.result["holdout"] = None
    if task.holdout == 0:
        return None
    reason = why_not(codes, classes)
    if reason:
        session.say(f"Accuracy: not measured, {reason}")
        return None
    share = 0.2 if task.holdout is None else task.holdout
    with session.steps("measure accuracy", n_folds_for(share)) as advance:
        found = measure_holdout(
            fitted,
            fitted.operator_,
            codes,
            classes,
            share=share,
            random_state=task.settings.seed,
            advance=advance,
        )
    for sentence in found.sentences():
        session.say(sentence)
    if found.alone:
        parts = ", ".join(f"{e.name} {100 * e.accuracy:.1f}" for e in found.alone)
        blended = f"all together {100 * found.on_hidden().accuracy:.1f}"
        session.say(f"Right about hidden labels, %: {blended}; each expert alone: {parts}")
    if found.more_labels():
        session.say(f"Learning curve: {found.more_labels()}")
    more = {"confusion": found.confusion.tolist(), "more_labels": found.more_labels()}
    session.result["holdout"] = asdict(found) | more
    return found


def _suggest(session: Session, fitted: LabelPropagation, task: Task) -> list[int]:
    """What to label next: as many as asked for; for a report at least 20."""
    wanted = max(task.suggest, 20 if task.report else 0)
    if not wanted:
        return []
    with session.stage("suggest"):
        return [int(i) for i in fitted.suggest(wanted)]


def _say_suggestions(session: Session, found: list[int], documents: Documents, labeling: Labeling) -> None:
    texts = documents.texts
    session.result["suggestions"] = []
    if not found:
        session.say("\nNothing to label next: every document has a label")
        return
    session.say("\nLabel these next, the most useful first:")
    head = ["id", "label", "confidence", "runner_up"] + ([] if texts is None else ["text"])
    rows = [
        [documents.ids[i], labeling.labels[i], f"{labeling.confidence[i]:.2f}", labeling.runner_up[i]]
        + ([] if texts is None else [shortened(texts[i], 40)])
        for i in found
    ]
    session.table(head, rows)
    session.result["suggestions"] = [
        {"id": row[0], "label": row[1], "confidence": float(labeling.confidence[i]), "runner_up": row[3]}
        for i, row in zip(found, rows, strict=True)
    ]


# -- labels from a model -----------------------------------------------------------------------------------


def _predict(session: Session, source: Source, path: Path, task: Task) -> None:
    check_outputs(source, task.output, task.report)
    _need_html(task.report)
    model, documents = _opened(session, source, path, task)
    kept = kept_columns(documents.columns)
    n, kinds = len(documents.ids), len(model.classes)
    session.say(f"Read {source.path}: {n:,} documents; {path}: {kinds} classes")
    with session.stage("predict"):
        X = model.features.transform(documents)
        P = model.propagation.predict_proba(X)
    note_empty(session, X, model.features)
    labeling = Labeling.of(P, model.classes)
    labeling = _with_novelty(session, labeling, lambda: model.propagation.novelty(X), model.classes, task)
    session.result |= {"model": str(path), "classes": model.classes}
    if model.holdout is not None:
        session.say(f"Accuracy when the model was made: {model.holdout}")
    write_columns(session, task.output, labeling.columns(documents.ids) | kept, task.escape_formulas)
    written = [task.output]
    if task.report is not None:
        with after_writing(*written):
            _report(session, documents, labeling, task.report, model, _least_sure(labeling), fitted=False)
        written.append(task.report)
    _say_counts(session, labeling, model.classes, task)
    say_written(session, written)


def _update(session: Session, source: Source, path: Path, task: Task) -> None:
    """New documents, some of them labeled, join those of the model."""
    from ..documents.model import Model

    check_outputs(source, task.output, task.report, task.save)
    _need_html(task.report)
    model, documents = _opened(session, source, path, task)
    classes, codes = encode(documents.labels or [])
    n, n_labels, n_before = len(documents.ids), int((codes >= 0).sum()), len(model.codes)
    session.say(f"Read {source.path}: {n:,} documents, {n_labels:,} labeled; {path}: {n_before:,} more")
    added = [name for name in classes if name not in model.classes]
    if added:
        session.note(f"classes that the model did not have: {', '.join(added)}")
    known = [*model.classes, *added]
    place = np.array([*(known.index(name) for name in classes), -1])
    X = _transformed(session, model, documents)
    with session.stage("update"):
        fitted = model.propagation.update(X, place[codes])
    classes = [known[k] for k in fitted.classes_]
    _say_blend(session, fitted)
    measured = _measure(session, fitted, classes, fitted.codes_, task)
    labeling = Labeling.of(fitted.label_distributions_[-n:], classes, fitted.codes_[-n:])
    labeling = _with_novelty(session, labeling, lambda: fitted.novelty_[-n:], classes, task)
    session.result |= {"labeled": n_labels, "classes": classes}
    kept = kept_columns(documents.columns)
    write_columns(session, task.output, labeling.columns(documents.ids) | kept, task.escape_formulas)
    written = [task.output]
    model = Model(model.features, fitted, classes, measured, f"{model.source}, {source.path.name}")
    if task.save is not None:
        with after_writing(*written):
            _save(session, model, task.save)
        written.append(task.save)
    if task.report is not None:
        with after_writing(*written):
            _report(session, documents, labeling, task.report, model, _least_sure(labeling), fitted=False)
        written.append(task.report)
    _say_counts(session, labeling, classes, task)
    say_written(session, written)


def _opened(session: Session, source: Source, path: Path, task: Task) -> tuple[Model, Documents]:
    """A model, and documents to be read as its own were."""
    from ..documents.model import load_model

    with session.stage("load the model"):
        model = load_model(path, n_jobs=task.settings.jobs)
    columns = (model.features.names or ()) if model.features.kind == "columns" else ()
    return model, read(session, source, least=1, numbers=columns)


def _transformed(session: Session, model: Model, documents: Documents) -> Points:
    """The documents as the model's features have them; says what these do not hold."""
    with session.stage("weigh"):
        X = model.features.transform(documents)
        unknown = model.features.unknown_share(documents)
    note_empty(session, X, model.features)
    session.result["unknown_words"] = unknown
    if unknown:
        session.note(
            f"{100 * unknown:.1f} % of the words are unknown to the model and left out; where they matter, "
            "label all documents together, without --model"
        )
    return X


def _least_sure(labeling: Labeling, n: int = 20) -> list[int]:
    return [int(i) for i in np.argsort(-labeling.entropy, kind="stable")[:n]]


# -- results -----------------------------------------------------------------------------------------------


def _say_counts(session: Session, labeling: Labeling, classes: list[str], task: Task) -> None:
    named = [*classes, task.unknown] if task.reject is not None else classes
    counts = labeling.counts(named)
    shown = sorted(counts, key=lambda row: -row[1] - row[2])[:25]
    head = ["label", "given", "predicted", "mean confidence"]
    rows = [
        [name, f"{given:,}", f"{predicted:,}", "-" if mean is None else f"{mean:.2f}"]
        for name, given, predicted, mean in shown
    ]
    if not labeling.given.any():
        head, rows = [head[0], *head[2:]], [[row[0], *row[2:]] for row in rows]
    session.say()
    session.table(head, rows)
    if len(counts) > len(shown):
        session.say(f"  ... and {len(counts) - len(shown)} more classes")
    session.result["predicted"] = {name: predicted for name, _, predicted, _ in counts}


def _save(session: Session, model: Model, path: Path) -> None:
    from ..documents.model import save_model

    with session.stage("save the model"):
        save_model(path, model)
    session.result["model"] = str(path)


def _report(
    session: Session,
    documents: Documents,
    labeling: Labeling,
    path: Path,
    model: Model,
    suggestions: list[int],
    fitted: bool = True,
    reasons: Sequence[str] = (),
    tables: Sequence[ResultTable] = (),
) -> None:
    with session.stage("report"):
        labeling_report(
            path, documents, labeling, model, suggestions, session.timings, fitted, reasons, tables
        )
    session.result["report"] = str(path)
