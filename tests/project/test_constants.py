"""Defaults and constants that the guides name are those of the code."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from bvdt._support import defaults
from bvdt.blocks import bandwidth
from bvdt.estimators import label_propagation
from bvdt.labeling import session
from bvdt.neighbors import index
from bvdt.report import points
from bvdt.sharded import sizing, survey
from bvdt.walks import layout

ROOT = Path(__file__).parents[2]
demo = importlib.import_module("bvdt.cli.demo")  # the package has the command of that name


def spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")


NAMED = [
    ("README.md", f"each point's {defaults.N_NEIGHBORS} nearest neighbors"),
    ("README.md", f"label {spaced(demo.N_DOCUMENTS)} generated documents from 40"),
    ("docs/command-line.md", f"{defaults.N_NEIGHBORS} neighbors and α = {defaults.ALPHA}"),
    ("docs/command-line.md", f"| cosine | {defaults.TEXT_TREES} |"),
    ("docs/guides/accuracy.md", f"estimators have {defaults.N_NEIGHBORS}, `bvdt.transition_matrix` none"),
    ("docs/guides/accuracy.md", f"data: {defaults.TEXT_TREES} |"),
    ("docs/guides/accuracy.md", "a perplexity of five points" if bandwidth.NEIGHBORS == 5.0 else "not five"),
    ("docs/guides/texts.md", f"the {defaults.N_NEIGHBORS} nearest documents"),
    ("docs/guides/new-points.md", f"their {label_propagation.NEIGHBORS} nearest fitted points"),
    ("docs/guides/maps.md", f"({defaults.N_NEIGHBORS} by default"),
    ("docs/guides/maps.md", f"in\n  {sum(phase.steps for phase in layout.PHASES)} steps"),
    ("docs/guides/neighbors.md", f"Up to {spaced(index.ALL_PAIRS)} points the lists are exact"),
    ("docs/labeling.md", f"is {session.QUIET} s old, or\nevery {session.LONGEST_WAIT:g} s"),
    ("docs/labeling.md", f"another {session.MORE} labels"),
    ("docs/report.md", f"up to {spaced(points.MAX_POINTS)} points"),
    ("docs/scale.md", f"draws {spaced(survey.SAMPLE)} rows"),
    ("docs/scale.md", f"at most {spaced(sizing._REGIONS)} regions"),
    ("docs/scale.md", f"about {spaced(sizing._SHARD_POINTS)} points"),
]


@pytest.mark.parametrize(("page", "words"), NAMED)
def test_a_page_names_what_the_code_has(page, words):
    assert words in (ROOT / page).read_text(encoding="utf-8")
