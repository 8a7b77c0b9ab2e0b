"""The report's sections but for map and drawing: each a function of the report that returns HTML or ""."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from .escape import beginning, escape, isolated
from .model import Report, ResultTable
from .palette import swatch
from .points import class_order, mark_of

if TYPE_CHECKING:
    from ..documents.holdout import Holdout

MANY_CLASSES = 25  # beyond, the confusion is a list of pairs, and the class counts are cut
SUGGESTIONS = 50  # rows shown
TEXT_CHARS = 180
_SHARES = (
    "The share of the class among what the walk brings to the point. It says which labels to trust more "
    "than others; it is not the chance to be right, which is often larger."
)
_CALIBRATED = (
    "The chance to be right, as far as the labels that were hidden can tell: of labels with 80 % about four "
    "in five are right. With fewer than 100 labels that is rough, and the chance is often larger."
)
LONG = 16  # characters of a fact that needs a wide card


def section(title: str, *parts: str) -> str:
    """A titled section, or nothing when all its parts are empty."""
    body = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{escape(title)}</h2>\n{body}\n</section>" if body else ""


def head(report: Report) -> str:
    """Title, what was done, how sure it is."""
    sentences = "".join(f'<p class="lead">{escape(sentence)}</p>' for sentence in report.summary)
    cards = "".join(
        f'<div class="card{" long" if len(value) > LONG else ""}"><b>{isolated(value)}</b>'
        f"<span>{escape(name)}</span></div>"
        for name, value in report.facts
    )
    accuracy = "" if report.holdout is None else _accuracy(report.holdout)
    return (
        f"<header><h1>{escape(report.title)}</h1>{sentences}</header>"
        f'<div class="cards" id="facts">{accuracy}{cards}</div>'
    )


def _accuracy(holdout: Holdout) -> str:
    unknown = "".join(f"<br><span>{isolated(sentence)}</span>" for sentence in holdout.unknown())
    return (
        f'<div class="card main" id="accuracy"><b>{_percent(holdout.accuracy)}</b><div>Accuracy to expect, '
        f"95 % interval {_percent(holdout.low)} to {_percent(holdout.high)}."
        f"<br><span>From {holdout.n:,} labels, each hidden once and predicted from the others.</span>"
        f"{unknown}</div></div>"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def class_counts(report: Report) -> str:
    """How often each class was given and predicted."""
    if report.labels is None or not report.n_points:
        return ""
    given = report.is_given()
    order = class_order(report)
    mark = mark_of(order)
    given_counts = Counter(label for label, known in zip(report.labels, given, strict=True) if known)
    all_counts = Counter(report.labels)
    most = max(all_counts.values())
    rows = []
    for label in order[: 2 * MANY_CLASSES]:
        known, total = given_counts[label], all_counts[label]
        rows.append(
            f"<tr><th>{swatch(mark[label])}{isolated(label)}</th>"
            f'<td class="number">{known:,}</td><td class="number">{total - known:,}</td>'
            f'<td class="share"><span class="bar" style="width:{100 * total / most:.1f}%"></span></td></tr>'
        )
    rest = len(order) - len(rows)
    note = f'<p class="soft">And {rest} smaller classes.</p>' if rest > 0 else ""
    table = (
        '<div class="scroll"><table class="wide"><thead><tr><th>class</th><th class="number">given</th>'
        f'<th class="number">predicted</th><th></th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )
    return section("Classes", table, note, _sureness(report))


def _sureness(report: Report) -> str:
    """How many predicted labels are how sure."""
    predicted = ~report.is_given()
    if report.confidence is None or not predicted.any():
        return ""
    confidence = np.asarray(report.confidence, float)[predicted]
    bounds = [
        (0.9, 1.01, "90 % or more"),
        (0.7, 0.9, "70 to 90 %"),
        (0.5, 0.7, "50 to 70 %"),
        (-1, 0.5, "below 50 %"),
    ]
    rows = "".join(
        f'<tr><th>{name}</th><td class="number">{count:,}</td><td class="share">'
        f'<span class="bar" style="width:{100 * count / len(confidence):.1f}%"></span></td></tr>'
        for low, high, name in bounds
        for count in [int(((confidence >= low) & (confidence < high)).sum())]
    )
    return (
        '<h3>Confidence of the predicted labels</h3><div class="scroll"><table class="wide"><tbody>'
        f"{rows}</tbody></table></div>"
        f'<p class="soft">{_CALIBRATED if report.calibrated else _SHARES}</p>'
    )


def confusion(report: Report) -> str:
    """True against predicted classes on the labels set aside."""
    holdout = report.holdout
    if holdout is None:
        return ""
    M = np.asarray(holdout.confusion)
    if len(holdout.classes) > MANY_CLASSES:
        return section("Mistakes on hidden labels", _confused_pairs(holdout))
    largest = np.maximum(M.sum(axis=1, keepdims=True), 1)
    names = "".join(f"<th>{isolated(name)}</th>" for name in holdout.classes)
    rows = []
    for i, name in enumerate(holdout.classes):
        cells = "".join(_confusion_cell(int(M[i, j]), M[i, j] / largest[i, 0], i == j) for j in range(len(M)))
        rows.append(f"<tr><th>{isolated(name)}</th>{cells}</tr>")
    many = " many" if len(holdout.classes) > 6 else ""
    table = (
        f'<div class="scroll"><table class="confusion{many}"><thead><tr><th>true ↓ guess →</th>{names}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
    note = (
        f'<p class="soft">{M.sum():,} given labels, each hidden once; the shade is the share of the row.</p>'
    )
    return section("Mistakes on hidden labels", table, note)


def _confusion_cell(count: int, share: float, hit: bool) -> str:
    kind = "nil" if count == 0 else "hit" if hit else "miss"
    strength = 0 if count == 0 else 15 + 70 * share
    return f'<td class="{kind}" style="--share:{strength:.0f}%">{count or "·"}</td>'


def _confused_pairs(holdout: Holdout) -> str:
    """The most frequent mistakes, where a matrix would be too large to read."""
    M = np.array(holdout.confusion)
    np.fill_diagonal(M, 0)
    pairs = [np.unravel_index(k, M.shape) for k in np.argsort(-M, axis=None, kind="stable")[:MANY_CLASSES]]
    rows = [(holdout.classes[i], holdout.classes[j], str(M[i, j])) for i, j in pairs if M[i, j]]
    return plain_table(ResultTable("", ("true", "predicted", "times"), rows)) if rows else "<p>None.</p>"


def suggestions(report: Report) -> str:
    """What to label next, or whatever else the report says that they are."""
    chosen = [int(i) for i in report.suggestions][:SUGGESTIONS]
    if not chosen:
        return ""
    columns = ["", "id"]
    columns += ["now"] if report.labels is not None else []
    columns += ["confidence"] if report.confidence is not None else []
    columns += ["or"] if report.runner_up is not None else []
    columns += ["text"] if report.texts is not None else []
    rows = "".join(_suggestion(report, rank, i) for rank, i in enumerate(chosen, 1))
    heads = "".join(f'<th class="{"number" if c == "confidence" else ""}">{c}</th>' for c in columns)
    note = f'<p class="soft">{escape(report.suggestions_note)}</p>'
    table = (
        f'<div class="scroll"><table class="wide" id="suggestions"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
    return section(report.suggestions_title, note, table)


def _suggestion(report: Report, rank: int, i: int) -> str:
    cells = [f'<td class="number">{rank}</td>', f"<th>{isolated(report.ids[i])}</th>"]
    if report.labels is not None:
        cells.append(f"<td>{isolated(report.labels[i])}</td>")
    if report.confidence is not None:
        cells.append(f'<td class="number">{100 * float(report.confidence[i]):.0f}\N{NO-BREAK SPACE}%</td>')
    if report.runner_up is not None:
        cells.append(f'<td class="next">{isolated(report.runner_up[i])}</td>')
    if report.texts is not None:
        cells.append(f'<td class="text">{isolated(beginning(report.texts[i], TEXT_CHARS))}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def plain_table(table: ResultTable) -> str:
    """A table as it is given, the first column the row's name."""
    heads = "".join(
        f'<th class="{"number" if k else ""}">{escape(column)}</th>' for k, column in enumerate(table.columns)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td class="number">{escape(cell)}</td>' if k else f"<th>{isolated(cell)}</th>"
            for k, cell in enumerate(row)
        )
        + "</tr>"
        for row in table.rows
    )
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'


def extra_tables(report: Report) -> str:
    """The tables that the caller adds."""
    return "\n".join(
        section(
            table.title, plain_table(table), f'<p class="soft">{escape(table.note)}</p>' if table.note else ""
        )
        for table in report.tables
    )


def timings(report: Report) -> str:
    """Seconds per step."""
    if not report.timings:
        return ""
    longest = max(max(seconds for _, seconds in report.timings), 1e-9)
    rows = "".join(
        f'<tr><th>{escape(name)}</th><td class="number">{seconds:.2f} s</td><td class="share">'
        f'<span class="bar" style="width:{100 * max(seconds, 0) / longest:.1f}%"></span></td></tr>'
        for name, seconds in report.timings
    )
    total = sum(seconds for _, seconds in report.timings)
    body = f'<div class="scroll"><table class="wide"><tbody>{rows}</tbody></table></div>'
    return section("Time", body, f'<p class="soft">Together {total:.1f} s.</p>')
