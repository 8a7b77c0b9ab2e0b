"""``bvdt demo``: the method beside its rivals on two problems, and a report to look at."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from .._support.arrays import Index
from .._support.json import JsonObject
from . import options as o
from .session import Session

if TYPE_CHECKING:
    from ..experiments.demo import Outcome, Problem
    from ..report import ResultTable

DEMO_HELP = """Show what it does: no arguments, no network, under a minute.

Digits of scikit-learn and the docstrings of Python's own library, 10 labels per
class; writes report.html, and documents.csv to try bvdt label on.

\b
Example:
  bvdt demo --out bvdt-demo
"""

COLUMNS = ("method", "accuracy", "±", "seconds", "memory, MiB")
SHOWN = "documents"  # the problem of which the report shows map, blocks and what to label next

Out = Annotated[Path, o.option("--out", "-o", help="Folder for report.html.", metavar="FOLDER")]


def demo(
    out: Out = Path("bvdt-demo"), quiet: o.Quiet = False, json: o.Json = False, debug: o.Debug = False
) -> None:
    from .._support.atomic import check_writable
    from ..experiments.demo import NOTE, PROBLEMS, load

    session = Session(quiet=quiet, json=json)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "report.html"
    check_writable(path)
    found: dict[str, list[Outcome]] = {name: [] for name in PROBLEMS}
    problems = {name: load(name) for name in PROBLEMS}
    with session.steps("comparison", sum(map(len, PROBLEMS.values()))) as advance:
        for name, outcome in _measured():
            found[name].append(outcome)
            advance(1)
    tables = [_table(problems[name].title, outcomes) for name, outcomes in found.items()]
    for table in tables:
        session.say(table.title)
        session.table(table.columns, table.rows)
        session.say()
    session.say(textwrap.fill(NOTE, 80))
    session.say()
    _write_report(session, path, problems[SHOWN], tables)
    documents = out / "documents.csv"
    write_documents(documents, problems[SHOWN])
    session.result |= {"command": "demo", "report": str(path), "documents": str(documents)}
    session.result["problems"] = _as_json(found)
    session.say(f"{path}: look at it in a browser. {session.seconds:.0f} s in all.")
    session.say(f"Label such documents yourself: bvdt label {documents} --text text")
    session.finish()


def _measured() -> Iterator[tuple[str, Outcome]]:
    from ..experiments.demo import measure_all

    return measure_all()


def _table(title: str, outcomes: Sequence[Outcome]) -> ResultTable:
    from ..report import ResultTable

    return ResultTable(title, COLUMNS, [_row(outcome) for outcome in outcomes])


def _row(outcome: Outcome) -> list[str]:
    memory = "-" if outcome.bytes is None else f"{outcome.bytes / 2**20:.0f}"
    mean, deviation = np.mean(outcome.accuracies), np.std(outcome.accuracies)
    return [outcome.method, f"{mean:.3f}", f"{deviation:.3f}", f"{outcome.seconds:.2f}", memory]


def _as_json(found: dict[str, list[Outcome]]) -> JsonObject:
    from dataclasses import asdict

    return {name: [asdict(outcome) for outcome in outcomes] for name, outcomes in found.items()}


def _write_report(session: Session, path: Path, problem: Problem, tables: list[ResultTable]) -> None:
    """The first labeling of the shown problem, by the blend."""
    from dataclasses import replace

    from ..documents.holdout import measure_holdout
    from ..documents.predictions import Labeling, ReasonTexts
    from ..experiments.demo import NOTE, blend
    from ..report import Report, map_coordinates, write_report

    codes, ids = problem.labelings()[0], problem.ids or []
    with session.stage("labels"):
        model = blend(problem, codes)
    with session.stage("hold-out"):
        holdout = measure_holdout(model, model.operator_, codes, problem.class_names, random_state=0)
    labeling = Labeling.of(model.label_distributions_, problem.class_names, codes)
    with session.stage("map"):
        coordinates = map_coordinates(model.operator_, random_state=0)
    with session.stage("explain"):
        reasons = ReasonTexts(model.reasons(), ids, codes >= 0, problem.words, "words").all()
    truth = float((model.transduction_ == problem.y)[codes < 0].mean())
    report = Report(
        title="What Python's docstrings are about",
        summary=_summary(codes, len(problem.class_names), truth),
        facts=_facts(codes, problem.class_names),
        ids=ids,
        labels=labeling.labels,
        given=labeling.given,
        confidence=labeling.confidence,
        runner_up=labeling.runner_up,
        texts=problem.texts,
        coordinates=coordinates,
        holdout=holdout,
        suggestions=model.suggest(10).tolist(),
        operator=model.operator_,
        timings=session.timings,
        tables=[*tables[:-1], replace(tables[-1], note=NOTE)],
        because=reasons,
        calibrated=model.new_points is not None,
    )
    with session.stage("report"):
        write_report(path, report)


def write_documents(path: Path, problem: Problem) -> None:
    """The shown problem's documents with their true classes, to try labeling on."""
    from ..documents.files import write_table

    names = [problem.class_names[c] for c in problem.y]
    columns = {"id": problem.ids or [], "text": problem.texts or [], "class": names}
    write_table(path, columns, escape_formulas=True)


def _summary(codes: Index, n_classes: int, truth: float) -> list[str]:
    n, n_given = len(codes), int((codes >= 0).sum())
    return [
        f"Of {n:,} docstrings of Python's own library, {n_given} were given their subject, "
        f"{n_given // n_classes} per class. A random walk over all of them, a linear model and naive Bayes "
        f"labeled the other {n - n_given:,}.",
        f"Their true subjects are known, by the modules they stand in: {100 * truth:.1f} % of these labels "
        "are right.",
    ]


def _facts(codes: Index, class_names: Sequence[str]) -> list[tuple[str, str]]:
    return [
        ("docstrings", f"{len(codes):,}"),
        ("labels given", f"{int((codes >= 0).sum()):,}"),
        ("subjects", f"{len(class_names)}"),
    ]
