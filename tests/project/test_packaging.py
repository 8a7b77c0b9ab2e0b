"""What pyproject.toml promises, and the files that hold it to that."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import bvdt

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_oldest_versions_are_the_lower_bounds():
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["plot"], *extras["parquet"], *extras["app"]]
    pinned = dict(re.findall(r"^(\S+)==(\S+)$", (ROOT / ".ci/oldest.txt").read_text(), flags=re.MULTILINE))
    for one in wanted:
        name, bound = one.split(">=")
        assert re.sub(r"(\.0)+$", "", pinned[name]) == re.sub(r"(\.0)+$", "", bound)


def test_the_demo_installs_what_the_gate_tests():
    """Every package of its lock stands in the gate's, with the same files."""
    locked, demo = (
        set(re.split(r"\n(?=[A-Za-z0-9#])", (ROOT / name).read_text(encoding="utf-8").rstrip()))
        for name in ("requirements.lock", ".ci/demo.lock")
    )
    packages = {one for one in demo if not one.startswith("#")}
    assert len(packages) > 20
    assert packages <= locked


def test_one_version():
    assert bvdt.__version__ == PROJECT["version"]
    assert f"\nversion: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_actions_are_pinned_by_hash():
    uses = [
        line.split("uses:")[1].strip()
        for workflow in (ROOT / ".github/workflows").glob("*.yml")
        for line in workflow.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    assert uses
    assert [one for one in uses if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", one)] == []
