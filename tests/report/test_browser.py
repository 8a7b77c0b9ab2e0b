"""The report in a real browser: no errors, nothing loaded, hover, tap, keys, dark, print; 50 000 points."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest
from test_report import NASTY, full_report

from bvdt.report import Report, write_report
from helpers.browser import Browser

pytestmark = pytest.mark.slow

MARGIN = 14  # between the outermost points and the canvas's edge, as in map.js


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, full_report())
    return path


def corner(browser: Browser, right: bool, top: bool) -> tuple[float, float]:
    """Where the map shows the corner of the data's square, once the map is scrolled into view."""
    browser.evaluate("document.querySelector('canvas').scrollIntoView({block: 'center'})")
    browser.settle()
    x, y, width, height = browser.evaluate(
        "(b => [b.x, b.y, b.width, b.height])(document.querySelector('canvas').getBoundingClientRect())"
    )
    side = min(width, height) - 2 * MARGIN
    return x + width / 2 + (side / 2 if right else -side / 2), y + height / 2 + (
        -side / 2 if top else side / 2
    )


def tip(browser: Browser) -> dict:
    return browser.evaluate(
        "(t => ({hidden: t.hidden, id: t.hidden ? null : t.querySelector('.tip-id').textContent,"
        " text: t.textContent,"
        " elements: t.querySelectorAll('script, img, b').length}))(document.querySelector('.tip'))"
    )


def test_opens_without_errors_and_loads_nothing(browser, page):
    browser.open(page)
    assert browser.complaints() == []
    assert browser.requests() == [page.as_uri()]
    assert browser.evaluate("window.hacked") is None
    assert browser.evaluate("document.querySelector('canvas').width") > 500


def test_map_is_painted(browser, page):
    browser.open(page)
    painted = browser.evaluate(
        "(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data"
        ".filter((value, k) => k % 4 === 3 && value).length)(document.querySelector('canvas'))"
    )
    assert painted > 300


def test_hover_shows_id_label_and_text_as_text(browser, page):
    browser.open(page)
    assert tip(browser)["hidden"]
    browser.move(*corner(browser, right=False, top=True))
    shown = tip(browser)
    assert not shown["hidden"]
    assert shown["id"] == "first <b>id</b>"
    assert NASTY in shown["text"]
    assert "cats & <dogs>" in shown["text"]
    assert f"because of {NASTY}" in shown["text"]
    assert shown["elements"] == 0
    browser.move(*corner(browser, right=True, top=False))
    assert tip(browser)["id"] == "point 1"
    browser.move(5, 5)
    assert tip(browser)["hidden"]
    assert browser.complaints() == []


def test_keys_step_from_point_to_point(browser, page):
    browser.open(page)
    browser.evaluate("document.querySelector('canvas').focus()")
    browser.press("ArrowRight")
    first = tip(browser)["id"]
    browser.press("ArrowRight")
    second = tip(browser)["id"]
    assert first
    assert second
    assert first != second
    browser.press("Escape")
    assert tip(browser)["hidden"]


def test_legend_and_zoom(browser, page):
    browser.open(page)
    place = corner(browser, right=False, top=True)
    browser.evaluate("document.querySelector('[data-mark=\"1\"]').click()")  # another class alone
    browser.move(*place)
    assert tip(browser)["hidden"]
    browser.evaluate("document.querySelector('[data-mark=\"1\"]').click()")
    browser.move(place[0] + 1, place[1])
    assert tip(browser)["id"] == "first <b>id</b>"
    browser.evaluate("document.querySelector('[data-zoom]').click()")  # the corner leaves the picture
    browser.move(*place)
    assert tip(browser)["id"] != "first <b>id</b>"
    browser.evaluate("[...document.querySelectorAll('[data-zoom]')].at(-1).click()")
    browser.move(place[0] + 1, place[1])
    assert tip(browser)["id"] == "first <b>id</b>"
    assert browser.complaints() == []


def test_phone(browser, page):
    browser.open(page, width=375, height=700)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 375
    browser.tap(*corner(browser, right=False, top=True))
    assert tip(browser)["id"] == "first <b>id</b>"
    box = browser.evaluate("(b => [b.left, b.right])(document.querySelector('.tip').getBoundingClientRect())")
    assert 0 <= box[0] < box[1] <= 375
    assert browser.complaints() == []


@pytest.mark.parametrize("dark", [False, True])
def test_background_follows_the_reader(browser, page, dark):
    browser.open(page, dark=dark)
    colors = browser.evaluate(
        "(s => [s.backgroundColor, s.color])(getComputedStyle(document.documentElement))"
    )
    background, ink = (np.mean([int(v) for v in re.findall(r"\d+", color)[:3]]) for color in colors)
    assert (background < 60 and ink > 180) if dark else (background > 200 and ink < 80)


def test_prints_light_even_in_the_dark(browser, page):
    browser.open(page, dark=True)
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"])
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 2
    browser.page.emulate_media(media="print")
    background = browser.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    assert browser.complaints() == []


COUNT_FILLS = """(async () => {
  const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
  const kind = CanvasRenderingContext2D.prototype, fill = kind.fill;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  let fills = 0;
  kind.fill = function (...more) { fills += 1; return fill.apply(this, more); };
  for (let k = 0; k < 30; k++) {
    const at = {clientX: box.x + box.width * (0.3 + k / 80), clientY: box.y + box.height / 2};
    canvas.dispatchEvent(new PointerEvent("pointermove", {...at, pointerType: "mouse"}));
    await frame();
  }
  await frame();
  const moved = fills;
  document.querySelector("[data-zoom]").click();
  await frame();
  await frame();
  const zoomed = fills - moved;
  kind.fill = fill;
  canvas.dispatchEvent(
    new PointerEvent("pointermove",
      {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, pointerType: "mouse"}));
  return [moved, zoomed];
})()"""


def test_a_hover_over_fifty_thousand_points_paints_none_of_them(browser, tmp_path):
    n = 50_000
    rng = np.random.default_rng(0)
    labels = [f"class {k}" for k in rng.integers(30, size=n)]
    texts = ["The quick brown fox jumps over the lazy dog. " * 9] * n
    report = Report(
        "Many", ["Many points."], ids=[str(i) for i in range(n)], labels=labels, texts=texts,
        confidence=rng.random(n), coordinates=rng.normal(size=(n, 2)),
    )  # fmt: skip
    path = tmp_path / "many.html"
    write_report(path, report)
    assert path.stat().st_size < 8e6
    browser.open(path)
    moved, zoomed = browser.evaluate(COUNT_FILLS)
    assert moved == 0  # the points were not painted again
    assert zoomed >= n / 50 / 2
    assert not tip(browser)["hidden"]
    assert browser.complaints() == []
