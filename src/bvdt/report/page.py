"""The page: sections, style and script put together into one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

import numpy as np

from .._support.atomic import atomic
from . import sections
from .drawing import WHOLE, partition_svg, q_range
from .escape import escape, isolated, script_json
from .model import Report
from .palette import DARK, LIGHT, N_CLASSES, css_variables, swatch
from .points import class_order, mark_of, packed_points, shown_points

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
<footer class="soft">Made by bvdt: random walks over N points without the N×N matrix.</footer>
{script}
</body>
</html>
"""


def write_report(path: str | Path, report: Report) -> None:
    """Write the page to a file, which appears whole or not at all."""
    page = render_report(report)
    with atomic(path) as file:
        file.write(page)


def render_report(report: Report) -> str:
    """One self-contained HTML page; sections without data are left out."""
    script = resource("map.js") + resource("report.js")
    the_map = map_section(report)
    body = "\n".join(
        part
        for part in (
            sections.head(report),
            the_map,
            sections.extra_tables(report),
            sections.class_counts(report),
            sections.confusion(report),
            sections.suggestions(report),
            partition_section(report),
            sections.timings(report),
        )
        if part
    )
    return _PAGE.format(
        policy=_policy(script),
        title=escape(report.title),
        style=style(),
        body=body,
        script=f"<script>{script}</script>" if the_map else "",
    )


def map_section(report: Report) -> str:
    """The map: a canvas, its legend, and the points for the script."""
    if report.coordinates is None or not report.n_points:
        return ""
    order, points = class_order(report), shown_points(report)
    data = script_json(packed_points(report, order, points))
    n_shown, n_points = len(points), report.n_points
    sample = "" if n_shown == n_points else f" A sample of {n_shown:,} of the {n_points:,} points is shown."
    rim = " A rim marks the labels that were given." if report.is_given().any() else ""
    return sections.section(
        "Map",
        f'<p class="soft">Points near each other are linked by the walk.{rim}{sample} <span class="screen">'
        "Hover over a point, tap it or step to it with the arrow keys to see what it is; click on a class to "
        "see it alone.</span></p>",
        '<figure id="map"><div class="stage"><canvas tabindex="0" role="application" '
        f'aria-label="Map of {n_shown} points; arrow keys go from point to point"></canvas>'
        '<div class="zoom screen"><button data-zoom="1.6" aria-label="zoom in">+</button>'
        '<button data-zoom="0.625" aria-label="zoom out">−</button>'
        '<button data-zoom="0.0001" aria-label="whole map">⤢</button></div>'
        '<div class="tip" role="status" hidden></div></div>'
        f"{_legend(report, order)}</figure>"
        "<noscript><p>The map needs JavaScript; nothing else on this page does.</p></noscript>"
        f'<script type="application/json" id="map-data">{data}</script>',
    )


def _legend(report: Report, order: list[str]) -> str:
    if report.labels is None:
        return ""
    entries = [(mark, isolated(label)) for mark, label in enumerate(order[:N_CLASSES])]
    if len(order) > N_CLASSES:
        entries.append((N_CLASSES, f"{len(order) - N_CLASSES} other classes"))
    buttons = "".join(
        f'<button data-mark="{mark}" aria-pressed="false">{swatch(mark)}<span>{name}</span></button>'
        for mark, name in entries
    )
    return f'<div class="legend" role="group" aria-label="classes">{buttons}</div>'


def partition_section(report: Report) -> str:
    """The block partition of the operator's first tree."""
    if report.operator is None:
        return ""
    op = report.operator.members[0]
    n_points = op.shape[0]
    marks = None
    if report.labels is not None and len(report.labels) == n_points:
        mark = mark_of(class_order(report))
        marks = np.array([mark[label] for label in report.labels])
    low, high = q_range(op)
    sentences = [
        f"The {n_points:,}×{n_points:,} transition matrix, in the order of the tree's leaves, "
        f"in {op.n_blocks:,} blocks of one probability each (darker: larger; {low:.1g} to {high:.1g}).",
    ]
    if n_points > WHOLE:
        sentences.append(
            f"Only the top of the tree, nodes of at least {-(-n_points // WHOLE)} points, is drawn."
        )
    if len(report.operator.members) > 1:
        sentences.append(f"It is the first of {len(report.operator.members)} trees that are averaged.")
    if getattr(report.operator, "near_field", None) is not None:
        sentences.append("Each row's nearest points have probabilities of their own on top, not drawn.")
    if marks is not None:
        sentences.append("The strip between tree and matrix shows the labels.")
    text = " ".join(sentences)
    return sections.section(
        "Blocks", f'<p class="soft">{text}</p>', f'<figure id="partition">{partition_svg(op, marks)}</figure>'
    )


def _policy(script: str) -> str:
    """Nothing is loaded, and no script runs but ours, whatever a document's text may try."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def style() -> str:
    """The style sheet, with the classes' colors."""
    printed = css_variables(LIGHT, "#8a93a1").replace("--", "--print-") + "--print-ink:#1b1f26;"
    sheet = resource("page.css").replace("PALETTE_LIGHT", css_variables(LIGHT, "#8a93a1"))
    return sheet.replace("PALETTE_DARK", css_variables(DARK, "#7c8696")).replace("PALETTE_PRINT", printed)


def resource(name: str) -> str:
    """A script or style sheet of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
