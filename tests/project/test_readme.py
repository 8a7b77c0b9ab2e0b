"""README: its examples run, its links lead somewhere, its head names the two commands a newcomer needs."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
COMMANDS = re.findall(r"```sh\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.parametrize("code", EXAMPLES)
def test_example_runs(code, capsys):
    exec(code, {})
    assert capsys.readouterr().out.strip()


def write_documents(path: Path, n: int, rng: np.random.Generator, labeled: int) -> None:
    """Documents of two topics, the first ``labeled`` with their label."""
    topics = {"sport": ["ball", "goal", "team", "match"], "money": ["bank", "stock", "price", "market"]}
    names = list(topics)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "text", "topic"])
        for i in range(n):
            topic = names[i % 2]
            text = " ".join(rng.choice(topics[topic] + ["the", "day"], size=12))
            table.writerow([f"d{i}", text, topic if i < labeled else ""])


@pytest.mark.slow
@pytest.mark.parametrize("script", COMMANDS)
def test_commands_run(script, tmp_path):
    rng = np.random.default_rng(0)
    write_documents(tmp_path / "docs.csv", 120, rng, labeled=40)
    write_documents(tmp_path / "new.csv", 20, rng, labeled=0)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e"],
        input=script,
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for name in re.findall(r"(?:-o|--report|--save) (\S+)", script):
        assert (tmp_path / name).stat().st_size > 0
    with (tmp_path / "new-predictions.csv").open(encoding="utf-8") as file:
        assert [row["label"] for row in csv.DictReader(file)] == ["sport", "money"] * 10


def test_head_names_the_commands():
    head = "\n".join(TEXT.splitlines()[:30])
    commands = re.findall(r"^    (make \w+)", TEXT, flags=re.MULTILINE)
    assert commands == ["make demo", "make test"]
    assert all(command in head for command in commands)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{command.split()[1]}:", makefile, flags=re.MULTILINE) for command in commands)


def test_every_example_is_run():
    assert TEXT.count("```") == 2 * (len(EXAMPLES) + len(COMMANDS))


@pytest.mark.parametrize(
    "page",
    [
        Path("README.md"),
        Path("benchmarks/README.md"),
        *(p.relative_to(ROOT) for p in (ROOT / "docs").rglob("*.md")),
    ],
    ids=str,
)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    local = [link for link in links if link and "://" not in link]
    assert [link for link in local if not (ROOT / page.parent / link).exists()] == []


def test_is_short():
    assert len(TEXT.splitlines()) < 120


def _rows(text: str, width: int) -> list[list[str]]:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"
    ]
    return [row for row in rows if len(row) == width]


def test_accuracies_are_those_measured():
    with (ROOT / "benchmarks/measured/labels.csv").open(encoding="utf-8", newline="") as file:
        measured = {(row["corpus"], row["percent"]): row for row in csv.DictReader(file)}
    table = [row for row in _rows(TEXT, 4) if re.fullmatch(r"[\d.]+, [\d.]+", row[1])]
    assert len(table) == 5
    for corpus, *cells in table:
        for share, cell in zip(("1", "10", "30"), cells, strict=True):
            names = ("linear_svc", "naive_bayes", "blend")
            svc, bayes, blend = (float(measured[corpus, share][name]) for name in names)
            blended, rival = map(float, cell.split(", "))
            assert (blended, rival) == (
                pytest.approx(blend, abs=5.1e-4),
                pytest.approx(max(svc, bayes), abs=5.1e-4),
            )


def test_timings_are_those_of_the_page_of_benchmarks():
    page = (ROOT / "docs/benchmarks/README.md").read_text(encoding="utf-8")
    numbers = [float(x) for x in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", page.replace("\u202f", ""))]
    rows = [row for row in _rows(TEXT, 6) if re.fullmatch(r"[\d.]+", row[2])]
    assert len(rows) == 8
    for row in rows:
        for cell in row[2:]:
            digits = len(cell.partition(".")[2])
            half = 0.501 * 10.0**-digits
            assert any(abs(number - float(cell)) <= half for number in numbers), (row, cell)
