"""The side-by-side benchmark's logic, without a rival: what is left to do, limits, tables, requirements."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import peak  # noqa: E402
from harness import acceptance, environments, measure, render, summary  # noqa: E402
from harness.jobs import GROWTH_DENSE, JOBS, chosen, labeled  # noqa: E402
from harness.measure import Record, Run  # noqa: E402
from harness.methods import ABSENT, LIBRARIES, METHODS  # noqa: E402
from harness.stages import STAGES, Clock  # noqa: E402
from rivals import common, spreading  # noqa: E402


def runs_of(job: str, method: str, warm: float, cold: float, *, accuracy: float = 0.9, peak: int = 2**20):
    """Three runs around a median."""
    return [Run(job, method, r, cold * f, warm * f, peak, accuracy) for r, f in enumerate((1.0, 0.8, 1.3))]


def test_every_library_is_accounted_for_in_every_kind():
    """A library has a method or a reason, never neither, wherever all are compared."""
    for job in JOBS.values():
        rows = [
            summary.Row(job.name, method, None, None, None, None, 1, "") for method in summary.methods_of(job)
        ]
        assert all(summary.missing(job, rows, {}).values()), job.name
    assert {name for reasons in ABSENT.values() for name in reasons} <= {x.name for x in LIBRARIES}


def test_every_method_exists_and_says_its_settings():
    for method in METHODS:
        assert len(render.described(method.call)) > 8, method.call
        assert method.library in {library.name for library in LIBRARIES}


@pytest.mark.parametrize("place", [place for places in STAGES.values() for place in places])
def test_every_profiled_function_is_there(place):
    module, _, path = place.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    assert callable(found)


def test_libraries_are_pinned():
    pins = environments.pinned()
    constraints = (environments.ROOT / "constraints.txt").read_text().splitlines()
    for name in (name for library in LIBRARIES for name in library.pins):
        assert "==" in pins[name]
        assert pins[name] in constraints


def test_interrupted_record_goes_on(tmp_path: Path):
    record = Record(tmp_path / "runs.jsonl")
    job = JOBS["bbc"]
    methods = summary.methods_of(job)[:2]
    for method, repeat in list(measure.pending(job, methods, record.runs, 3))[:3]:
        record.add("run", asdict(Run("bbc", method.name, repeat, 1.0, 1.0, 1)))
    with record.path.open("a") as file:
        file.write('{"run": {"job": "bbc", "meth')  # the machine went down here
    again = Record(record.path)
    left = [(m.name, r) for m, r in measure.pending(job, methods, again.runs, 3)]
    assert left == [(methods[1].name, 1), (methods[0].name, 2), (methods[1].name, 2)]
    again.add("run", asdict(Run("bbc", methods[1].name, 1, 1.0, 1.0, 1)))
    assert len(Record(record.path).runs) == 4
    again.drop({"bbc"})
    assert Record(record.path).runs == []


def test_methods_take_turns_and_trouble_is_not_repeated():
    job, runs = JOBS["bbc"], []
    methods = summary.methods_of(job)[:3]
    order = []
    for method, repeat in measure.pending(job, methods, runs, 3):
        order.append((repeat, method.name))
        runs.append(Run("bbc", method.name, repeat, trouble="late" if method is methods[1] else ""))
    names = [m.name for m in methods]
    assert order == [(0, n) for n in names] + [(r, n) for r in (1, 2) for n in (names[0], names[2])]


def test_slow_methods_run_once_if_so_asked():
    job, methods = JOBS["bbc"], summary.methods_of(JOBS["bbc"])[:2]
    runs = [Run("bbc", methods[0].name, 0, 70.0, 60.0, 1), Run("bbc", methods[1].name, 0, 7.0, 6.0, 1)]
    assert len(list(measure.pending(job, methods, runs, 3))) == 4
    assert [m for m, _ in measure.pending(job, methods, runs, 3, slow=120.0)] == [methods[1]] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("pass", ""),
        ("import time; time.sleep(60)", "the first call did not finish in 0.5 s"),
        (
            "import sys, time, pathlib; pathlib.Path(sys.argv[1], 'cold.json').touch(); time.sleep(60)",
            "the second call did not finish in 0.5 s",
        ),
        ("raise RuntimeError('no such index')", "failed: RuntimeError: no such index"),
        ("import os; os.kill(os.getpid(), 9)", "killed by signal 9"),
    ],
)
def test_limit_and_failures(tmp_path: Path, code: str, trouble: str):
    command = [sys.executable, "-c", code, str(tmp_path)]
    assert measure.supervise(command, {}, tmp_path, 0.5 if "sleep" in code else 30.0) == trouble
    stopped = tmp_path / "stopped.json"
    assert stopped.exists() == ("sleep" in code)
    if stopped.exists() and sys.platform == "linux":
        assert 2**20 < json.loads(stopped.read_text())["peak"] < 2**30


@pytest.mark.parametrize(("mebibytes", "holds"), [(2000, True), (500, None)])
def test_the_peak_of_a_stopped_rival_is_what_it_needs_at_least(mebibytes: int, holds: bool | None):
    job = JOBS["blobs-1m"]
    mine, rival = (
        next(m for m in summary.methods_of(job) if m.library == name) for name in ("bvdt", "faiss")
    )
    late = Run(
        job.name, rival.name, 0, peak=mebibytes * 2**20, trouble="the first call did not finish in 1 s"
    )
    runs = [*runs_of(job.name, mine.name, 1.0, 2.0, peak=1000 * 2**20), late]
    rows = {name: summary.rows_of(JOBS[name], runs) for name in JOBS}
    line = next(x for x in acceptance.lines(rows, {}) if "1 000 000" in x.text and "peak" in x.text)
    assert line.holds is holds
    assert "when it was stopped" in line.figures


def test_a_run_measures_the_real_method(tmp_path: Path):
    """From the data to the accuracy, in a process of its own."""
    job = JOBS["dense-1000"]
    place = job.prepare(tmp_path, points=300)
    method = next(m for m in summary.methods_of(job) if m.role == "one tree")
    run = measure.measure(job, method, 0, place, 60.0)
    assert run.trouble == ""
    assert 0 < run.warm < run.cold
    assert 10 * 2**20 < run.peak < 2**30
    assert 0.1 < run.accuracy <= 1


def test_quadratic_methods_are_not_started_on_a_million_points():
    method = next(m for m in METHODS if m.quadratic)
    runs = runs_of("blobs-50k", method.name, 2.0, 3.0)
    assert "800 s" in summary.too_long(method, JOBS["blobs-1m"], runs, 600.0)
    assert summary.too_long(method, JOBS["blobs-1m"], runs, 900.0) == ""
    assert summary.too_long(method, JOBS["blobs-50k"], runs, 1.0) == ""


def made_up(ours: float) -> dict[str, list[summary.Row]]:
    """Rows of all jobs: ours in so many seconds, every rival in 10 warm and 20 cold, and labeling better."""
    runs = []
    for job in JOBS.values():
        for method in summary.methods_of(job):
            seconds, accuracy = (10.0, 0.95) if method.library != "bvdt" else (ours, 0.9)
            peak = 2**20 if method.library == "bvdt" else 2**21
            runs += runs_of(job.name, method.name, seconds, 2 * seconds, accuracy=accuracy, peak=peak)
    return {job.name: summary.rows_of(job, runs) for job in JOBS.values()}


def test_requirements_follow_the_figures():
    reasons = {job.name: summary.missing(job, summary.rows_of(job, []), {}) for job in JOBS.values()}
    none = acceptance.lines({}, reasons)
    assert [line.holds for line in none if line.number != 1] == [None] * (len(none) - 1)
    quick, slow = made_up(0.6), made_up(1.0)
    of = {n: [x.holds for x in acceptance.lines(quick, {}) if x.number == n] for n in range(1, 8)}
    assert all(of[n] and all(of[n]) for n in range(1, 8))
    lines = [x for x in acceptance.lines(slow, {}) if x.number == 2]
    assert [x.holds for x in lines] == [True, False]  # 1/10: enough for 1/8, not for 1/15
    assert "1/10.0" in lines[0].figures
    for row in (rows := slow["digits-50k"]):
        if row.method.role == "forest":
            rows.remove(row)
            break
    assert [x.text[:6] for x in acceptance.lines(slow, {}) if x.number == 7 and not x.holds] == ["Digits"]


def test_growth_exponent():
    assert_allclose(acceptance.exponent([10, 100, 1000], [2.0, 20.0, 200.0]), 1.0)
    rows = made_up(0.6)
    assert acceptance.growth(rows).holds
    job = JOBS[GROWTH_DENSE[1_000_000]]
    rows[job.name] = summary.rows_of(job, runs_of(job.name, "bvdt, one tree", 6000.0, 6000.0))
    assert acceptance.growth(rows).holds is False


def test_table_and_page():
    job = JOBS["bbc"]
    runs = runs_of("bbc", "bvdt, one tree", 0.5, 1.0) + runs_of("bbc", "nmslib, HNSW", 0.25, 2.0)
    runs.append(Run("bbc", "pynndescent", 0, trouble="the first call did not finish in 600 s"))
    rows = summary.rows_of(job, runs)
    text = render.table(job, rows)
    body = [line for line in text.splitlines() if line.startswith("| ")]
    assert body[1] == "| nmslib, HNSW | 0.25 | 2.00 | 1 | 0.900 |"
    assert body[2].startswith("| **bvdt, one tree** | 0.5 |")
    assert "The first call did not finish in 600 s: pynndescent." in text
    page = render.markdown(
        {"machine": "2 cores", "versions": {}}, {"bbc": rows}, {"bbc": {"faiss": "has none"}}
    )
    assert "- bbc: faiss: has none." in page


def test_the_page_is_that_of_the_results():
    folder = BENCHMARKS.parent / "docs" / "benchmarks"
    facts = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    runs = [Run(**run) for run in facts["runs"]]
    rows = {name: summary.rows_of(job, runs) for name, job in JOBS.items()}
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert render.markdown(facts, rows, facts["absent"]) == page


@pytest.mark.parametrize("name", ["embedding", "maps", "neighbors"])
def test_the_other_pages_are_those_of_their_figures(name):
    folder = BENCHMARKS.parent / "docs" / "benchmarks"
    found = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    module = importlib.import_module("neighbors_page" if name == "neighbors" else name)
    page = module.page(found["found"], found["note"]) if name == "maps" else module.page(found)
    assert page == (folder / f"{name}.md").read_text(encoding="utf-8")


def test_common_propagation_and_tf_idf_are_the_usual_ones():
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.neighbors import kneighbors_graph

    rng = np.random.default_rng(0)
    counts = sparse.csr_array(rng.poisson(0.4, size=(60, 30)).astype(float) + np.eye(60, 30))
    usual = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    assert_allclose(common.tf_idf(counts).toarray(), usual.toarray(), atol=1e-12)
    X = rng.normal(size=(80, 3))
    directed = kneighbors_graph(X, 10).toarray()
    indices = np.stack([np.append(np.flatnonzero(row)[::-1], i) for i, row in enumerate(directed)])
    W = spreading.graph(spreading.without_self(indices))
    assert_allclose(W.toarray(), (directed + directed.T) / 2)
    S = spreading.normalized(W).toarray()
    Y0 = np.zeros((80, 2))
    Y0[[0, 1], [0, 1]] = 1.0
    limit = np.linalg.solve(np.eye(80) - 0.9 * S, Y0)
    assert (spreading.spread(S, Y0) == limit.argmax(axis=1)).mean() > 0.95


def test_labeling_has_every_class():
    y = np.repeat(np.arange(50), 4)
    known = labeled(y, 0.05)
    assert set(y[known]) == set(range(50))
    assert known.sum() < 70


def test_stage_times_exclude_what_is_inside():
    clock = Clock()
    inner = clock.timed("inner", lambda: sum(range(400_000)))
    clock.timed("outer", lambda: inner())()
    assert clock.seconds["inner"] > 5 * clock.seconds["outer"]


def test_unknown_job_is_refused():
    with pytest.raises(SystemExit, match="nonsense"):
        chosen(["nonsense"])
    assert [job.group for job in chosen(["growth", "bbc"])][:2] == ["", "growth"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the high-water mark needs Linux")
def test_peak_sees_what_was_freed():
    before = peak.start_peak()
    np.ones(20_000_000).sum()
    assert 1.5e8 < peak.peak_bytes() - before < 2.5e8
    again = peak.start_peak()
    assert peak.peak_bytes() - again < 5e7
