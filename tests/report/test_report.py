"""The report: sections follow the data, text stays text, nothing is loaded, sizes are bounded."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import bvdt
from bvdt.documents.holdout import Holdout
from bvdt.report import Report, ResultTable, palette, points, render_report, write_report
from bvdt.report.escape import beginning, clean, script_json

NASTY = "<script>window.hacked = 1</script> </script><img src=x onerror=alert(1)> & \"quotes\" 'x' \u202eולש"
NAMES = ["cats & <dogs>", "birds", "]]>--><!--", "Ünïcödé 🦊 字", "</script>"]


def walk(n: int = 60, **options) -> bvdt.operators.WalkOperator:
    X = np.random.default_rng(0).normal(size=(n, 4)) + 4 * (np.arange(n) % 3)[:, None]
    return bvdt.transition_matrix(X, "squared_euclidean", random_state=0, **options)


def full_report(n: int = 60) -> Report:
    """Every section, with text that tries to break out; points 0 and 1 are the map's corners."""
    rng = np.random.default_rng(0)
    coordinates = rng.uniform(0.1, 0.9, size=(n, 2))
    coordinates[:2] = [[0.0, 1.0], [1.0, 0.0]]
    labels = [NAMES[i % len(NAMES)] for i in range(n)]
    holdout = Holdout(40, 0.9, 0.77, 0.96, NAMES, np.diag([8, 8, 7, 6, 7]) + np.eye(5, k=1, dtype=int))
    return Report(
        title=f"Report {NASTY}",
        summary=["All was done.", NASTY],
        facts=[("points", str(n)), (NASTY, NASTY)],
        ids=["first <b>id</b>", *(f"point {i}" for i in range(1, n))],
        labels=labels,
        given=np.arange(n) % 7 == 3,
        confidence=rng.random(n),
        runner_up=labels[1:] + labels[:1],
        texts=[NASTY] * n,
        because=[NASTY] * n,
        coordinates=coordinates,
        holdout=holdout,
        suggestions=[5, 2, 9],
        operator=walk(n, n_neighbors=5),
        timings=[("fit", 1.25), (NASTY, 0.5)],
        tables=[ResultTable(f"Table {NASTY}", ["what", "value"], [[NASTY, "1"]], NASTY)],
    )


class Outline(HTMLParser):
    """Tags, headings, attributes and text of a page; tags must close in order."""

    VOID = frozenset({"meta", "br", "img", "circle", "rect", "path"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.headings: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self.scripts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attributes]
        if tag not in self.VOID or (tag == "rect" and "block" in str(attributes)):
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attributes):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attributes]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] != "style":
            self.text += data
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


@pytest.fixture(scope="module")
def full() -> Outline:
    return Outline(render_report(full_report()))


# -- structure ---------------------------------------------------------------------------------------------


def test_all_sections(full):
    wanted = ["Map", "Classes", "Mistakes on hidden labels", "What to label next", "Blocks", "Time"]
    assert [h for h in full.headings if not h.startswith("Table")] == wanted
    assert full.tags["canvas"] == 1
    for fact in ("90.0\N{NO-BREAK SPACE}%", "77.0\N{NO-BREAK SPACE}%", "96.0\N{NO-BREAK SPACE}%", "1.25 s"):
        assert fact in full.text


@pytest.mark.parametrize(
    ("changes", "gone"),
    [
        ({"coordinates": None}, ["Map"]),
        ({"holdout": None}, ["Mistakes on hidden labels"]),
        ({"suggestions": ()}, ["What to label next"]),
        ({"operator": None}, ["Blocks"]),
        ({"timings": ()}, ["Time"]),
        ({"labels": None}, ["Classes"]),
    ],
)
def test_sections_without_data_are_left_out(full, changes, gone):
    less = Outline(render_report(replace(full_report(), **changes)))
    assert [h for h in full.headings if h not in gone] == less.headings


def test_least_report():
    outline = Outline(render_report(Report("Title", ["Nothing else."])))
    assert outline.headings == []
    assert outline.tags["script"] == 0
    assert "Nothing else." in outline.text


@pytest.mark.parametrize("name", ["given", "confidence", "runner_up", "texts", "because"])
def test_columns_may_be_missing(name):
    outline = Outline(render_report(replace(full_report(), **{name: None})))
    assert "Map" in outline.headings
    assert "What to label next" in outline.headings


def test_class_counts(full):
    report = full_report()
    known = Counter(label for label, given in zip(report.labels, report.given, strict=True) if given)
    rows = re.findall(
        r"<tr><th>.*?<bdi>(.*?)</bdi></th><td class=\"number\">(\d+)</td><td class=\"number\">(\d+)",
        render_report(report),
    )
    assert len(rows) == len(NAMES)
    assert sorted(int(given) for _, given, _ in rows) == sorted(known[name] for name in NAMES)
    assert sum(int(given) + int(predicted) for _, given, predicted in rows) == report.n_points


def test_confusion_of_many_classes_is_a_list_of_pairs():
    names = [f"c{k}" for k in range(40)]
    M = np.eye(40, dtype=int)
    M[3, 17] = 9
    holdout = Holdout(49, 0.8, 0.7, 0.9, names, M)
    page = render_report(replace(full_report(), holdout=holdout))
    assert '<th><bdi>c3</bdi></th><td class="number">c17</td><td class="number">9</td>' in page


def test_wrong_lengths_are_refused():
    with pytest.raises(ValueError, match=r"Report\.labels needs 60 entries, as ids; it has 2"):
        replace(full_report(), labels=["a", "b"])
    with pytest.raises(ValueError, match="finite"):
        replace(full_report(), coordinates=np.full((60, 2), np.nan))


def test_write_report_replaces_whole_files_only(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    write_report(path, full_report())
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(OSError, match="no folder"):
        write_report(tmp_path / "absent" / "report.html", full_report())


# -- text stays text ---------------------------------------------------------------------------------------


def test_scripts_are_ours_alone(full):
    assert full.tags["script"] == 2  # the points, and map.js
    assert full.tags["img"] == 0
    assert not [name for _, name, _ in full.attributes if name.startswith("on")]
    assert "hacked" not in full.scripts[1]
    assert full.text.count(NASTY) >= 8


def test_points_survive_the_script_block(full):
    data = json.loads(full.scripts[0])
    report = full_report()
    assert data["texts"] == [NASTY] * 60
    assert data["ids"][0] == "first <b>id</b>"
    assert not set("<>&\u2028\u2029") & set(full.scripts[0])
    labels = np.frombuffer(base64.b64decode(data["label"]), "<u2")
    assert [data["classes"][k] for k in labels] == list(report.labels)
    xy = np.frombuffer(base64.b64decode(data["xy"]), "<u2").reshape(-1, 2)
    np.testing.assert_allclose(xy / 65535, report.coordinates, atol=1e-5)


def test_nothing_is_loaded(full):
    page = render_report(full_report())
    assert "http://" not in page
    assert "https://" not in page
    assert "@import" not in page
    assert "url(" not in page
    assert not [a for a in full.attributes if a[1] in ("src", "href", "srcset", "data")]
    policy = next(v for t, n, v in full.attributes if t == "meta" and n == "content" and "default-src" in v)
    assert policy.startswith("default-src 'none'")
    assert "script-src 'sha256-" in policy


@pytest.mark.parametrize(
    "text", ["a\x00b", "lone \ud800 surrogate", "\ufffe", "\x1b[31mred", "\x85", "e\u0301 🦊"]
)
def test_any_string_can_be_written(tmp_path, text):
    report = replace(full_report(), texts=[text] * 60, title=text, labels=[text] * 60)
    write_report(tmp_path / "r.html", report)
    written = (tmp_path / "r.html").read_bytes().decode("utf-8")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe]", written)
    assert clean("e\u0301 🦊") == "e\u0301 🦊"


def test_script_json_is_json():
    value = {"a<b": ["</script>", "&amp;", "\u2028", 'quote " and \\']}
    assert json.loads(script_json(value)) == value


@pytest.mark.parametrize(
    ("text", "short"),
    [("a  b\n\tc", "a b c"), ("x" * 20, "x" * 10 + "…"), ("", ""), ("1234567890", "1234567890")],
)
def test_beginning(text, short):
    assert beginning(text, 10) == short


# -- sizes -------------------------------------------------------------------------------------------------


def many(n: int, text: str) -> Report:
    labels = [f"class {k % 30}" for k in range(n)]
    xy = np.random.default_rng(0).normal(size=(n, 2))
    given = np.arange(n) % 1000 == 1
    return Report("Many", [], ids=[f"doc-{i:06d}.txt" for i in range(n)], labels=labels, texts=[text] * n,
                  coordinates=xy, given=given, suggestions=[n - 1])  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", ["some english words " * 30, "漢字かな交じり文" * 40])
def test_page_for_fifty_thousand_documents(text):
    page = render_report(many(50_000, text))
    assert len(page.encode()) < 8e6
    assert "sample" not in page


@pytest.mark.slow
def test_more_points_are_sampled_and_the_page_says_so():
    report = many(70_000, "word " * 100)
    page = render_report(report)
    assert "A sample of 50,000 of the 70,000 points is shown." in page
    shown = points.shown_points(report)
    assert len(shown) == 50_000
    assert report.given[shown].sum() == report.given.sum()
    assert 69_999 in shown
    assert len(page.encode()) < 8e6


def test_classes_beyond_twenty_share_a_mark():
    page = render_report(many(300, "x"))
    assert page.count("data-mark=") == palette.N_CLASSES + 1
    assert "10 other classes" in page


def test_classes_are_in_natural_order():
    assert points.class_order(many(25, "x"))[:3] == ["class 0", "class 1", "class 2"]
    assert points.class_order(many(15, "x"))[9:11] == ["class 9", "class 10"]


def test_numbers_of_any_length_are_ordered():
    """int() refuses more than 4300 digits."""
    labels = ["9" * 5000, "10", "1" + "0" * 5000, "9", "a"]
    report = Report("Long", [], ids=list("abcde"), labels=labels)
    assert points.class_order(report) == ["9", "10", *labels[:3:2], "a"]


def test_more_classes_than_two_bytes_hold():
    n = 70_000
    labels = [f"{k:05d}" for k in range(n)]
    report = Report(
        "Many", [], ids=labels, labels=labels, runner_up=[*labels[1:], ""], coordinates=np.eye(n, 2)
    )
    order = points.class_order(report)
    shown = np.array([0, 65_536, n - 1])
    data = points.packed_points(report, order, shown)
    kind = f"<u{data['classBytes']}"
    number, second = (np.frombuffer(base64.b64decode(data[name]), kind) for name in ("label", "runnerUp"))
    assert [data["classes"][k] for k in number] == [labels[i] for i in shown]
    assert [data["classes"][k] for k in second[:2]] == [labels[1], labels[65_537]]
    assert second[2] >= len(data["classes"])  # none


# -- the drawing -------------------------------------------------------------------------------------------


def blocks_of(op) -> list[tuple[float, float, float, float]]:
    page = render_report(Report("Blocks", [], operator=op))
    found = re.findall(r'<rect class="block" x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', page)
    return [tuple(map(float, rectangle)) for rectangle in found]


@pytest.mark.parametrize("n_blocks", [None, 200])
def test_blocks_tile_the_matrix(n_blocks):
    n = 40
    op = walk(n, n_blocks=n_blocks)
    rectangles = blocks_of(op)
    assert len(rectangles) == op.n_blocks
    side = 420.0
    assert sum(w * h for _, _, w, h in rectangles) == pytest.approx(side**2 * (1 - 1 / n), rel=1e-4)
    cover = np.zeros((n, n), int)
    for x, y, w, h in rectangles:
        a, b = round(y / side * n), round(x / side * n)
        cover[a : a + round(h / side * n), b : b + round(w / side * n)] += 1
    np.testing.assert_array_equal(cover, 1 - np.eye(n, dtype=int))


def test_only_the_top_of_a_large_tree_is_drawn():
    page = render_report(Report("Blocks", [], operator=walk(900)))
    assert "Only the top of the tree, nodes of at least 5 points, is drawn." in page
    assert 20 < page.count('class="block"') < 400
    assert 'class="inside"' in page
