"""``bvdt demo``: thousands of generated documents, labels for all of them from forty, and a report of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from .._support.arrays import Index
from . import options as o
from .session import Session

if TYPE_CHECKING:
    from ..estimators import LabelPropagation
    from ..stacking.expectation import Estimate

DEMO_HELP = """Show what it does: no arguments, no data, no network, seconds.

Draws documents from the paper's generative model, labels all of them from 5 per
class, and prints how many are right; writes report.html.

\b
Example:
  bvdt demo --out bvdt-demo
"""

N_DOCUMENTS, N_CLASSES, LABELS_PER_CLASS = 10_000, 8, 5
DIFFICULTY = 0.85  # the share of a document's words that say nothing of its class
SURE = 0.8

Out = Annotated[Path, o.option("--out", "-o", help="Folder for report.html.", metavar="FOLDER")]


def demo(
    out: Out = Path("bvdt-demo"), quiet: o.Quiet = False, json: o.Json = False, debug: o.Debug = False
) -> None:
    from .._support.atomic import check_writable
    from ..datasets import make_documents
    from ..estimators import text_pipeline

    session = Session(quiet=quiet, json=json)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "report.html"
    check_writable(path)
    with session.stage("documents"):
        corpus = make_documents(N_DOCUMENTS, n_classes=N_CLASSES, difficulty=DIFFICULTY, random_state=0)
    given = _given(corpus.labels)
    n, d = corpus.counts.shape
    session.say(f"{n:,} documents of {N_CLASSES} classes, counts of {d:,} words; {(given >= 0).sum()} labels")
    with session.stage("labels"):
        model = text_pipeline(random_state=0).fit(corpus.counts, given)[-1]
        expected = model.expected_accuracy()
    session.result |= {"command": "demo", "report": str(path), "points": n, "labels": int((given >= 0).sum())}
    _tell(session, model, corpus.labels, expected)
    with session.stage("report"):
        _write_report(session, path, model, corpus.class_names)
    session.say(f"{path}: look at it in a browser. {session.seconds:.1f} s in all.")
    session.finish()


def _given(y: Index) -> Index:
    """Codes with −1 for unlabeled; ``LABELS_PER_CLASS`` of every class, chosen at random."""
    rng, given = np.random.default_rng(0), np.full(len(y), -1)
    for c in range(N_CLASSES):
        given[rng.choice(np.flatnonzero(y == c), LABELS_PER_CLASS, replace=False)] = c
    return given


def _tell(session: Session, model: LabelPropagation, y: Index, expected: Estimate) -> None:
    """How long it took, and how many of the labels are right: as the model expects, and in truth."""
    from ..documents.holdout import percent

    unlabeled = model.codes_ < 0
    right = (model.transduction_ == y)[unlabeled]
    confidence = model.label_distributions_.max(axis=1)[unlabeled]
    sure = confidence >= SURE
    seconds = dict(session.timings)["labels"]
    session.say(f"{len(right):,} labeled in {seconds:.1f} s, {percent(right.mean())} of them right")
    session.say(
        f"expected from the given labels alone: {percent(expected.value)} "
        f"(95 % interval {100 * expected.low:.1f} to {100 * expected.high:.1f})"
    )
    most = percent(right[sure].mean())
    session.say(f"{sure.sum():,} have a calibrated confidence of {SURE:g} or more, {most} of them right")
    session.result |= {
        "accuracy": float(right.mean()),
        "expected": {"accuracy": expected.value, "low": expected.low, "high": expected.high},
        "sure": {"documents": int(sure.sum()), "accuracy": float(right[sure].mean())},
        "confidence": float(confidence.mean()),
    }


def _write_report(session: Session, path: Path, model: LabelPropagation, classes: list[str]) -> None:
    from ..documents.holdout import measure_holdout
    from ..documents.predictions import Labeling
    from ..report import Report, map_coordinates, write_report

    n, codes = len(model.codes_), model.codes_
    labeling = Labeling.of(model.label_distributions_, classes, codes)
    report = Report(
        title="Generated documents",
        summary=[f"{(codes < 0).sum():,} of {n:,} documents got their labels from {(codes >= 0).sum()}."],
        ids=[f"document {i}" for i in range(n)],
        labels=labeling.labels,
        given=labeling.given,
        confidence=labeling.confidence,
        runner_up=labeling.runner_up,
        coordinates=map_coordinates(model.operator_, random_state=0),
        holdout=measure_holdout(model, model.operator_, codes, classes, random_state=0),
        suggestions=model.suggest(10).tolist(),
        operator=model.operator_,
        timings=session.timings,
        calibrated=True,
    )
    write_report(path, report)
