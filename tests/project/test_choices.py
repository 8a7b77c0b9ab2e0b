"""docs/choices.md: its figures are those of benchmarks/measured, its constants those of the code."""

from __future__ import annotations

import csv
import importlib
import re
from pathlib import Path

import pytest

from bvdt._support import defaults
from bvdt.divergences import GeneralizedI, KullbackLeibler, Logistic, Multinomial
from bvdt.lifting.smoothing import FEW_ZEROS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "choices.md").read_text(encoding="utf-8")
INTERFACE = (ROOT / "docs" / "reference" / "interface.md").read_text(encoding="utf-8")
CONSTANTS = re.findall(r"^\| `bvdt\.([\w.]+)` \| ([\d.]+) \|", PAGE, re.MULTILINE)


def measured(name: str) -> list[dict[str, str]]:
    """The rows of a result file."""
    with (ROOT / "benchmarks" / "measured" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rows(title: str) -> list[list[str]]:
    """The cells of a section's table rows, without heads."""
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    cells = [
        [c.strip() for c in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"
    ]
    rules = [i for i, row in enumerate(cells) if set(row[0]) == {"-"}]
    return [row for i, row in enumerate(cells) if i not in rules and i + 1 not in rules]


def number(cell: str) -> float:
    return float(cell.removesuffix(" %").replace("−", "-"))


def least(found: list[dict[str, str]]) -> float:
    return min(float(row["difference"]) for row in found)


@pytest.mark.parametrize(("name", "value"), CONSTANTS, ids=[name for name, _ in CONSTANTS])
def test_a_constant_is_that_of_the_code(name, value):
    module, _, constant = name.rpartition(".")
    assert getattr(importlib.import_module(f"bvdt.{module}"), constant) == pytest.approx(
        float(value), rel=1e-8
    )


def test_there_are_constants():
    assert len(CONSTANTS) >= 8


def test_defaults_of_every_entry_point_are_those_of_the_code():
    table = INTERFACE.split("## Defaults")[1]
    values = [line.strip("|").split("|")[-1].strip() for line in table.splitlines() if line[:1] == "|"][2:]
    assert values == [
        f'`"{defaults.DIVERGENCE}"`',
        f'`"{defaults.TEXT_DIVERGENCE}"`, of tf-idf',
        f"{defaults.N_NEIGHBORS}",
        f"{defaults.N_TREES}, of texts {defaults.TEXT_TREES}",
        f"{defaults.ALPHA}",
        f'`"{defaults.BLEND}"`',
    ]


def test_accuracies_of_texts_are_those_measured():
    found = {(row["corpus"], row["percent"]): row for row in measured("labels")}
    table = rows("Texts")
    assert len(table) == 5
    for corpus, *cells in table:
        for percent, cell in zip(("1", "10", "30"), cells, strict=True):
            row = found[corpus, percent]
            rival = max(float(row["linear_svc"]), float(row["naive_bayes"]))
            wanted = [float(row["walk"]), rival, float(row["blend"])]
            assert [float(x) for x in cell.split(", ")] == pytest.approx(wanted, abs=5.1e-4)


def test_the_cases_against_the_blend_are_the_least_differences():
    blended = [
        float(row["blend"]) - max(float(row[x]) for x in ("walk", "linear_svc", "naive_bayes"))
        for row in measured("labels")
        if float(row["percent"]) >= 10
    ]
    wanted = [min(blended), *(least(measured(name)) for name in ("skew", "short_texts", "dense"))]
    table = [number(row[2]) for row in rows("Where others win")]
    assert table == pytest.approx(wanted, abs=5.1e-4)
    most = max(float(row["difference"]) for row in measured("dense"))
    assert f"Dense data gain {most:.3f} at most" in PAGE


def test_intervals_and_calibration_are_those_measured():
    found = measured("expected")
    held, of = (sum(int(row[name]) for row in found) for name in ("held", "intervals"))
    assert f"Of {of} intervals of `expected_accuracy()` at 95 %, {held} held" in PAGE
    assert f"they are {found[0]['least_width']} to {found[0]['most_width']} wide" in PAGE
    worst = max(float(row["ece"]) for row in measured("labels") if float(row["percent"]) >= 10)
    assert f"in ten bins is {worst:.3f} at most" in PAGE


def test_updates_are_those_measured():
    found = measured("update")
    differences = sorted(float(row["difference"]) for row in found)
    shares = sorted(int(row["time_percent"]) for row in found)
    low, high = (f"{d:.4f}".replace("-", "−") for d in (differences[0], differences[-1]))
    assert f"differs by {low} to {high}, at {shares[0]} % to {shares[-1]} % of the time" in PAGE


def test_blocks_and_forests_are_those_measured():
    found = {row["blocks"]: row for row in measured("forest_blocks") if row["corpus"] == "20 Newsgroups"}
    for blocks, refined, forest in rows("Trees, neighbors, blocks"):
        row = found[blocks]
        assert refined == f"{row['refined_accuracy']}, {row['refined_kl']}"
        assert forest == f"{row['forest_accuracy']}, {row['forest_kl']}"


def test_targets_of_the_bandwidth_are_those_measured():
    found = {row["method"]: row for row in measured("bandwidth") if row["data"] == "mean"}
    for method, *cells in rows("Bandwidth"):
        assert cells == [found[method][target] for target in ("2", "5", "10", "20", "100")]


def test_smoothing_is_that_of_the_code_and_as_measured():
    gid, kl = GeneralizedI(), KullbackLeibler()
    assert (gid.auto_smoothing, gid.background_share, gid.dense_smoothing) == ("background", 0.01, 1.0)
    assert (kl.auto_smoothing, kl.background_share, kl.dense_smoothing) == ("background", 0.3, None)
    assert Multinomial.background_share == kl.background_share
    assert Logistic.auto_smoothing == 0.01
    assert FEW_ZEROS == 0.1
    table = [row for row in rows("Smoothing") if len(row) == 4]
    assert len(table) == 2
    for divergence, *cells in table:
        for smoothing, cell in zip(("0.001", "background × 0.3", "background × 0.01"), cells, strict=True):
            values = [
                float(row["accuracy"])
                for row in measured("smoothing")
                if (row["divergence"], row["alpha"], row["smoothing"]) == (divergence, "0.9", smoothing)
            ]
            assert float(cell) == pytest.approx(sum(values) / len(values), abs=1.1e-3)
