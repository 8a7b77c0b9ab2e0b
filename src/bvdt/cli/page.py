"""The pages that the commands write with ``--report`` and ``--plot``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._support.arrays import Float
from ..documents.holdout import percent
from ..documents.predictions import Labeling

if TYPE_CHECKING:
    from ..documents.files import Documents
    from ..documents.holdout import Measured
    from ..documents.model import Model
    from ..estimators._label_issues import LabelIssues
    from ..estimators._unnamed import UnnamedClass
    from ..report import ResultTable


ISSUES = 20  # doubtful labels shown
LEAST_SURE = {
    "suggestions_title": "The least certain",
    "suggestions_note": "Documents whose classes' weights have the largest entropy, the least certain first.",
}


def labeling_report(
    path: Path,
    documents: Documents,
    labeling: Labeling,
    model: Model,
    suggestions: Sequence[int],
    timings: Sequence[tuple[str, float]],
    fitted: bool,
    reasons: Sequence[str],
    tables: Sequence[ResultTable] = (),
) -> None:
    """What was done and how sure it is; only documents of the fit itself (``fitted``) have a map."""
    from ..report import Report, map_coordinates, write_report

    operator = model.propagation.operator_
    seed = model.propagation.random_state
    write_report(
        path,
        Report(
            title=f"Labels of {documents.path.name}",
            summary=_summary(documents, labeling, model, fitted),
            facts=_facts(documents, labeling, model),
            ids=documents.ids,
            labels=labeling.labels,
            given=labeling.given,
            confidence=labeling.confidence,
            runner_up=labeling.runner_up,
            texts=documents.texts,
            coordinates=map_coordinates(operator, random_state=seed) if fitted else None,
            holdout=model.holdout if fitted else None,
            suggestions=suggestions,
            **({} if fitted else LEAST_SURE),
            operator=operator if fitted else None,
            timings=list(timings),
            tables=[*tables, *_experts(model)] if fitted else [],
            because=reasons or None,
            calibrated=model.propagation.new_points is not None,
        ),
    )


def issue_tables(issues: LabelIssues, documents: Documents, model: Model) -> list[ResultTable]:
    """The most doubtful labels."""
    from ..report import ResultTable

    found, names = issues.contradicted(), model.classes
    if not len(found.points):
        return []
    rows = [
        (documents.ids[point], names[given], names[instead], percent(probability))
        for point, given, instead, probability, _ in zip(
            *found.rows(np.arange(len(found.points))[:ISSUES]), strict=True
        )
    ]
    note = "Given labels that the others contradict when they are hidden, the least probable first."
    return [ResultTable("Labels to check", ("document", "given", "rather", "given is right"), rows, note)]


def unnamed_tables(found: Sequence[UnnamedClass], documents: Documents) -> list[ResultTable]:
    """Groups of documents that are like no class, by words or typical documents."""
    from ..report import ResultTable

    rows = [
        (f"group {number}", f"{group.size:,}", f"{group.novelty:.2f}", _described(group, documents))
        for number, group in enumerate(found, 1)
    ]
    heads = ("", "documents", "novelty", "such as")
    note = "Documents like each other and like no class that has labels, the largest group first."
    return [ResultTable("Classes not named", heads, rows, note)] if rows else []


def _described(group: UnnamedClass, documents: Documents) -> str:
    return ", ".join(group.terms or [documents.ids[i] for i in group.points[:3]])


def _experts(model: Model) -> list[ResultTable]:
    """Each expert's accuracy beside the blend's, on the same hidden labels; the learning curve."""
    from ..report import ResultTable

    found = model.holdout
    if found is None or not found.alone:
        return []
    rows = [("blend of all", found.on_hidden()), *((m.name, m) for m in found.alone)]
    tables = [
        ResultTable(
            "Experts",
            ("expert", "accuracy", "95 % interval"),
            [(name, *_figures(m)) for name, m in rows],
            "All of them predicted the same hidden labels, from the same others.",
        )
    ]
    if found.curve:
        said = found.more_labels().split(":")[0] if found.gains else ""
        tables.append(
            ResultTable(
                "Learning curve",
                ("labels used", "accuracy", "95 % interval"),
                [(f"{m.n:,}", *_figures(m)) for m in found.curve],
                f"{said[:1].upper()}{said[1:]}." if said else "",
            )
        )
    return tables


def _figures(found: Measured) -> tuple[str, str]:
    return percent(found.accuracy), f"{percent(found.low)} to {percent(found.high)}"


def _summary(documents: Documents, labeling: Labeling, model: Model, fitted: bool) -> list[str]:
    n, n_given, k = len(documents.ids), int(labeling.given.sum()), len(model.classes)
    if fitted:
        first = f"{n - n_given:,} of {n:,} documents got one of {k} labels from the {n_given:,} labeled ones."
    else:
        source = f" made from {model.source}" if model.source else ""
        first = f"{n:,} documents got one of {k} labels from a model{source}."
    confidence = labeling.confidence[~labeling.given]
    more = []
    if len(confidence):
        unsure = int((confidence < 0.5).sum())
        more.append(f"Their mean confidence is {confidence.mean():.2f}; {unsure:,} are below 0.5.")
    if fitted and model.holdout is None:
        more.append("The accuracy was not measured.")
    return [first, *more]


def _facts(documents: Documents, labeling: Labeling, model: Model) -> list[tuple[str, str]]:
    from .reading import describe

    return [
        ("documents", f"{len(documents.ids):,}"),
        ("labels given", f"{int(labeling.given.sum()):,}"),
        ("classes", f"{len(model.classes):,}"),
        ("walk", describe(model.features, model.propagation.operator_)),
        ("bandwidth", f"{model.propagation.operator_.bandwidth:.4g}"),
        ("α", f"{model.propagation.alpha_:g}"),
    ]


def scatter(
    path: Path,
    title: str,
    documents: Documents,
    coordinates: Float,
    labels: Sequence[str] | None,
    tables: Sequence[ResultTable] = (),
) -> None:
    """Points colored by label: a page with a map for .html, else a picture."""
    if path.suffix.lower() in (".html", ".htm"):
        from ..report import Report, write_report

        n = len(documents.ids)
        page = Report(
            title=title,
            summary=[f"{n:,} documents of {documents.path.name}."],
            ids=documents.ids,
            labels=labels,
            texts=documents.texts,
            coordinates=np.asarray(coordinates[:, :2], float),
            tables=tables,
        )
        write_report(path, page)
    else:
        from ..report.scatter import write_scatter

        write_scatter(path, coordinates, labels, title)


def check_plot(path: Path | None) -> None:
    """Refuse early what ``scatter`` could not write."""
    if path is None or path.suffix.lower() in (".html", ".htm"):
        return
    from ..report.scatter import check_scatter

    check_scatter(path)
