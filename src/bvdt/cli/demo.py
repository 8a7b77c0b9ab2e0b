"""``bvdt demo``: the method beside its rivals on two problems, and a report to look at."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from . import options as o
from .session import Session

if TYPE_CHECKING:
    from ..experiments.demo import Outcome, Problem
    from ..report import ResultTable

DEMO_HELP = """Show what it does: no arguments, no network, under a minute.

Digits of scikit-learn and generated documents, 10 labels per class; writes
report.html, and documents.csv to try bvdt label on.

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
    from ..experiments.demo import METHODS, NOTE, PROBLEMS, load

    session = Session(quiet=quiet, json=json)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "report.html"
    check_writable(path)
    found: dict[str, list[Outcome]] = {name: [] for name in PROBLEMS}
    with session.steps("comparison", len(PROBLEMS) * len(METHODS)) as advance:
        for name, outcome in _measured():
            found[name].append(outcome)
            advance(1)
    problems = {name: load(name) for name in PROBLEMS}
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


def _measured() -> Any:
    from ..experiments.demo import measure_all

    return measure_all()


def _table(title: str, outcomes: Sequence[Outcome]) -> ResultTable:
    from ..report import ResultTable

    return ResultTable(title, COLUMNS, [_row(outcome) for outcome in outcomes])


def _row(outcome: Outcome) -> list[str]:
    memory = "-" if outcome.bytes is None else f"{outcome.bytes / 2**20:.0f}"
    mean, deviation = np.mean(outcome.accuracies), np.std(outcome.accuracies)
    return [outcome.method, f"{mean:.3f}", f"{deviation:.3f}", f"{outcome.seconds:.2f}", memory]


def _as_json(found: dict[str, list[Outcome]]) -> dict[str, Any]:
    from dataclasses import asdict

    return {name: [asdict(outcome) for outcome in outcomes] for name, outcomes in found.items()}


def _write_report(session: Session, path: Path, problem: Problem, tables: list[ResultTable]) -> None:
    """The first labeling of the shown problem, by BVDT with GID."""
    from dataclasses import replace

    from ..documents.holdout import measure_holdout
    from ..documents.predictions import Labelling
    from ..estimators import LabelPropagation
    from ..experiments.demo import NOTE
    from ..report import Report, map_coordinates, write_report

    codes = problem.labelings()[0]
    with session.stage("labels"):
        model = LabelPropagation("gid", random_state=0).fit(problem.X, codes)
    with session.stage("hold-out"):
        holdout = measure_holdout(model, model.operator_, codes, problem.class_names, random_state=0)
    labelling = Labelling.of(model.label_distributions_, problem.class_names, codes)
    with session.stage("map"):
        coordinates = map_coordinates(model.operator_, random_state=0)
    truth = float((model.transduction_ == problem.y)[codes < 0].mean())
    report = Report(
        title="bvdt demo",
        summary=_summary(problem, codes, truth),
        facts=_facts(problem, codes, model.operator_),
        ids=_ids(problem),
        labels=labelling.labels,
        given=labelling.given,
        confidence=labelling.confidence,
        runner_up=labelling.runner_up,
        texts=problem.texts(),
        coordinates=coordinates,
        holdout=holdout,
        suggestions=model.suggest(10).tolist(),
        operator=model.operator_,
        timings=session.timings,
        tables=[*tables[:-1], replace(tables[-1], note=NOTE)],
    )
    with session.stage("report"):
        write_report(path, report)


def write_documents(path: Path, problem: Problem) -> None:
    """The shown problem's documents with their true classes, to try labelling on."""
    from ..documents.files import write_table

    names = [problem.class_names[c] for c in problem.y]
    write_table(path, {"id": _ids(problem), "text": list(problem.texts() or ()), "class": names})


def _ids(problem: Problem) -> list[str]:
    return [f"{problem.noun.split()[-1][:-1]} {i}" for i in range(len(problem.y))]


def _summary(problem: Problem, codes: Any, truth: float) -> list[str]:
    n, n_given = len(codes), int((codes >= 0).sum())
    return [
        f"Of {n:,} {problem.noun}, {n_given} have a label, {n_given // len(problem.class_names)} per class. "
        f"A random walk over all of them, BVDT with the generalised I-divergence, labelled the other "
        f"{n - n_given:,}.",
        f"Their true classes are known here: {100 * truth:.1f} % of these labels are right.",
    ]


def _facts(problem: Problem, codes: Any, op: Any) -> list[tuple[str, str]]:
    return [
        (problem.noun, f"{len(codes):,}"),
        ("labels given", f"{int((codes >= 0).sum()):,}"),
        ("numbers kept for the matrix", f"{op.n_blocks + op.near.n_points * op.near.k:,}"),
        ("numbers in the matrix", f"{len(codes) ** 2:,}"),
    ]
