"""README: its examples print what it says, its links work, its table is that of the measurements."""

from __future__ import annotations

import csv
import json
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
    shown = re.findall(r"^# prints: (.*)$", code, flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == shown != []


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


def test_the_table_is_that_of_the_measurements(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import readme_table

    found = json.loads(readme_table.KEPT.read_text(encoding="utf-8"))
    assert len(found["rows"]) == len(readme_table.DATA) * len(readme_table.LABELS)
    written = TEXT.split(readme_table.BEGIN)[1].split(readme_table.END)[0]
    assert written.strip() == readme_table.table(found)
