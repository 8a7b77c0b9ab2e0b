"""bvdt demo: the real command on fewer documents, what it measures, and the example of a report."""

from __future__ import annotations

import base64
import contextlib
import html
import json
import re
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from bvdt._support import memory
from bvdt.cli import app
from bvdt.experiments import demo, docstrings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The command's JSON on 800 documents, and its folder."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "N_DOCUMENTS", 800)
        result = CliRunner().invoke(app, ["demo", "--out", str(folder), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), folder


def test_every_method_on_every_problem(ran):
    problems = ran[0]["problems"]
    assert list(problems) == ["digits", "documents"]
    for problem, outcomes in problems.items():
        assert [outcome["method"] for outcome in outcomes] == list(demo.PROBLEMS[problem])
        for outcome in outcomes:
            assert len(outcome["accuracies"]) == demo.N_LABELINGS
            assert outcome["seconds"] > 0
    digits, documents = (
        {outcome["method"]: np.mean(outcome["accuracies"]) for outcome in problems[name]}
        for name in ("digits", "documents")
    )
    assert min(digits.values()) > 0.85
    assert min(digits[name] for name in digits if "LinearSVC" not in name) > 0.9
    assert documents[demo.BLEND] == max(documents.values())
    assert documents[demo.BLEND] > 0.55


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the high-water mark needs Linux")
def test_exact_needs_the_matrix(ran):
    needed = {outcome["method"]: outcome["bytes"] for outcome in ran[0]["problems"]["digits"]}
    assert needed["exact, GID"] > 8 * 1797**2 > 0


def test_exact_is_timed_without_our_tree(monkeypatch):
    """The bandwidth, which only our tree gives, is there before the clock starts."""
    from bvdt import estimators  # noqa: F401  the estimators hold the function under a name of their own
    from bvdt import operators as build

    calls = []
    found = build.transition_matrix
    monkeypatch.setattr(build, "transition_matrix", lambda *a, **k: calls.append("tree") or found(*a, **k))
    monkeypatch.setattr(memory, "start_peak", lambda: calls.append("clock") or 0.0)
    outcome = demo.measure(demo.load("documents", 200), "exact, GID")
    assert calls == ["tree", "clock"]
    assert min(outcome.accuracies) > 1.2 / len(demo.load("documents", 200).class_names)


def test_report_is_whole(ran):
    result, folder = ran
    assert result["report"] == str(folder / "report.html")
    assert sorted(path.name for path in folder.iterdir()) == ["documents.csv", "report.html"]
    assert result["documents"] == str(folder / "documents.csv")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Handwritten digits: 1,797 images" in page
    assert "scikit-learn LabelSpreading" in page
    assert "800 docstrings of Python's own library" in html.unescape(page)
    assert page.rstrip().endswith("</html>")


def test_folder_that_cannot_be_is_told_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "file")])
    assert result.exit_code == 2
    assert "file" in result.output
    assert "Traceback" not in result.output


def test_a_python_without_its_sources_is_told_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(docstrings.sysconfig, "get_path", lambda name: str(tmp_path))
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert f"in {tmp_path} 0 of 8 subjects have 100" in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_failure_of_the_measuring_process_is_told(monkeypatch):
    monkeypatch.setattr(demo, "N_DOCUMENTS", "many")
    with pytest.raises(RuntimeError, match="ended with code 1: ValueError"):
        list(demo.measure_all())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes as on Linux")
def test_interrupt_leaves_nothing(tmp_path):
    run = [sys.executable, "-m", "bvdt", "demo", "--out", str(tmp_path / "out")]
    command = subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (children := _children(command.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    command.send_signal(signal.SIGINT)
    _, errors = command.communicate(timeout=60)
    assert children
    assert command.returncode == 130
    assert "Traceback" not in errors
    assert list((tmp_path / "out").iterdir()) == []
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


def _children(pid: int) -> list[str]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if stat.read_text().rpartition(")")[2].split()[1] == str(pid):
                found.append(stat.parent.name)
    return found


def test_without_forks_every_method_has_a_process(monkeypatch):
    monkeypatch.setattr(demo, "FORKS", False)
    monkeypatch.setattr(demo, "PROBLEMS", {"digits": ("BVDT, GID", "scikit-learn LabelSpreading")})
    found = list(demo.measure_all())
    assert [problem for problem, _ in found] == ["digits", "digits"]
    assert [outcome.method for _, outcome in found] == ["BVDT, GID", "scikit-learn LabelSpreading"]
    assert min(np.mean(outcome.accuracies) for _, outcome in found) > 0.9


def test_labelings_keep_as_many_labels_a_class():
    problem = demo.load("documents", 800)
    for codes in problem.labelings():
        known = codes >= 0
        assert np.bincount(codes[known]).tolist() == [demo.LABELS_PER_CLASS] * len(problem.class_names)
        np.testing.assert_array_equal(codes[known], problem.y[known])
    assert not np.array_equal(*problem.labelings()[:2])


def test_docstrings_are_found_without_running_anything(tmp_path):
    """Modules and packages, classes and methods, once each; tests and broken files are left out."""
    words = "says at some length what it is for, number {}"
    method = "class C:\n    def f(self):\n        '{}'\n    def g(self):\n        'short'\n"
    for subject, modules in docstrings.SUBJECTS.items():
        package = tmp_path / modules.split()[0]
        (package / "test").mkdir(parents=True)
        (package / "__init__.py").write_text(f"'''{subject} {words.format('of all')}'''\nraise SystemExit\n")
        for k in range(docstrings.LEAST_TEXTS):
            (package / f"m{k}.py").write_text(method.format(f"{subject[:4]} {words.format(k)}"))
        (package / "test" / "t.py").write_text(method.format(words))
        (package / "same.py").write_text(method.format(words.format("nine in every package")))
        (package / "broken.py").write_text("def (")
    found = docstrings.read_docstrings(tmp_path)
    assert found.subjects == list(docstrings.SUBJECTS)
    assert np.bincount(found.labels).tolist() == [docstrings.LEAST_TEXTS + 1] * 8
    assert len(set(found.texts)) == len(set(found.names)) == len(found.texts) == len(found.labels)
    at = found.names.index("asyncio.m7.C.f")
    assert found.texts[at] == "conc says at some length what it is for, number 7"
    assert found.names[0] == "asyncio"


def test_the_documents_are_pythons_own():
    problem = demo.load("documents")
    assert len(problem.texts) > 2000
    at = problem.ids.index("pathlib.Path.mkdir" if "pathlib.Path.mkdir" in problem.ids else "shutil.copyfile")
    assert problem.class_names[problem.y[at]] == "files"
    assert np.bincount(problem.y).min() >= 50
    assert problem.X.shape == problem.scaled.shape


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the high-water mark needs Linux")
def test_peak_sees_what_was_freed():
    before = memory.start_peak()
    np.ones(20_000_000).sum()
    assert 1.5e8 < memory.peak_bytes() - before < 2.5e8
    again = memory.start_peak()
    assert memory.peak_bytes() - again < 5e7


def test_example_of_a_report(tmp_path):
    path = tmp_path / "digits.html"
    run = [sys.executable, str(ROOT / "examples" / "report.py"), str(path)]
    result = subprocess.run(run, capture_output=True, text=True, check=True)
    assert "95 % interval" in result.stdout
    page = path.read_text(encoding="utf-8")
    assert "Handwritten digits" in page
    data = json.loads(re.search(r'id="map-data">(.*?)</script>', page).group(1))
    number, share = (np.frombuffer(base64.b64decode(data[name]), "<u2") for name in ("label", "confidence"))
    given = np.frombuffer(base64.b64decode(data["given"]), "u1") == 1
    labels = np.array(data["classes"])[number[given]]
    assert labels.tolist() == [f"digit {c}" for c in load_digits(return_X_y=True)[1][:100]]
    assert (share[given] == 1000).all()


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
        assert tips[-1] in demo.load("documents", 800).ids
        assert browser.complaints() == []
    finally:
        browser.close()
