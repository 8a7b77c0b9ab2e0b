"""bvdt demo: what it says is what it found, and its report opens."""

from __future__ import annotations

import json
import sys
from itertools import product

import numpy as np
import pytest
from typer.testing import CliRunner

from bvdt.cli import app

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The command's JSON, and its folder."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    result = CliRunner().invoke(app, ["demo", "--out", str(folder), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), folder


def test_a_few_labels_go_far(ran):
    found = ran[0]
    assert (found["points"], found["labels"]) == (10_000, 40)
    assert found["accuracy"] > 0.9
    assert found["expected"]["low"] < found["accuracy"] < found["expected"]["high"]
    assert found["sure"]["documents"] > 1000
    assert found["sure"]["accuracy"] > 0.95


def test_the_lines_say_what_the_json_says(ran, tmp_path):
    lines = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)]).stdout.splitlines()
    assert len(lines) == 5
    assert f"{100 * ran[0]['accuracy']:.1f} % of them right" in lines[1]
    assert f"{100 * ran[0]['expected']['accuracy']:.1f} %" in lines[2]
    assert f"{ran[0]['sure']['documents']:,} have" in lines[3]
    assert lines[4].startswith(f"{tmp_path / 'report.html'}: ")


def test_report_is_whole(ran):
    result, folder = ran
    assert result["report"] == str(folder / "report.html")
    assert [path.name for path in folder.iterdir()] == ["report.html"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "9,960 of 10,000 documents got their labels from 40." in page
    assert page.rstrip().endswith("</html>")


def test_nothing_is_needed_beyond_the_package(monkeypatch, tmp_path):
    """Neither matplotlib nor a data set."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["demo", "--quiet"]).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["bvdt-demo"]


def test_folder_that_cannot_be_is_told_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "file")])
    assert result.exit_code == 2
    assert "file" in result.output
    assert "Traceback" not in result.output


def test_report_opens_in_a_browser(ran):
    from helpers.browser import Browser

    browser = Browser()
    try:
        browser.open(ran[1] / "report.html")
        left, top, width, height = browser.evaluate(
            "(c => { c.scrollIntoView({block: 'center'}); const b = c.getBoundingClientRect();"
            " return [b.x, b.y, b.width, b.height]; })(document.querySelector('canvas'))"
        )
        tips = []
        for across, down in product(np.linspace(0.3, 0.7, 9), repeat=2):  # wherever the map has documents
            browser.move(left + across * width, top + down * height)
            tips.append(browser.evaluate("document.querySelector('.tip-id')?.textContent ?? ''"))
            if tips[-1]:
                break
        assert tips[-1].startswith("document ")
        assert browser.complaints() == []
    finally:
        browser.close()
