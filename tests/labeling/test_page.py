"""The page in a real browser: a scripted person at work; hostile pages, names and texts."""

from __future__ import annotations

import csv
import http.server
import json
import os
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks.docstrings import read_docstrings
from bvdt.labeling import Store
from helpers.browser import Browser
from helpers.labeling import Process, until, write_corpus

pytestmark = pytest.mark.slow
PICTURES = os.environ.get("BVDT_PICTURES")  # a folder: the pictures of docs/labeling.md are written there


@pytest.fixture(scope="module")
def browser():
    browser = Browser("--host-resolver-rules=MAP evil.example 127.0.0.1")
    yield browser
    browser.close()


class Person:
    """Reads what is asked, answers by keyboard, and remembers what was done."""

    def __init__(self, browser: Browser, process: Process, truth: dict[str, str], **more) -> None:
        self.truth, self.done = truth, {}
        self.page = browser.open(process.address, width=1200, height=860, **more)
        self.ready()

    def ready(self) -> None:
        self.page.wait_for_selector('body[data-row]:not([data-row=""])', state="attached")

    @property
    def asked(self) -> str:
        return self.page.inner_text("#asked")

    def class_names(self) -> list[str]:
        return [
            one.get_attribute("data-class") for one in self.page.query_selector_all("#classes [data-class]")
        ]

    def moved_on(self, act) -> None:
        row = self.page.get_attribute("body", "data-row")
        act()
        self.page.wait_for_selector(f'body:not([data-row="{row}"]):not(.busy)', state="attached")

    def answer(self) -> None:
        name = self.asked
        topic = self.truth[name]
        if topic not in self.class_names():
            self.page.keyboard.press("n")
            self.page.keyboard.type(topic)
            self.page.keyboard.press("Enter")
            self.page.wait_for_selector(f'#classes [data-class="{topic}"]')
        key = self.class_names().index(topic) + 1
        button = f'#classes [data-class="{topic}"]'  # of the tenth class on
        self.moved_on(lambda: self.page.keyboard.press(str(key)) if key < 10 else self.page.click(button))
        self.done[name] = topic

    def undo(self) -> None:
        self.moved_on(lambda: self.page.keyboard.press("z"))
        self.done.pop(self.asked)

    def picture(self, name: str) -> None:
        if PICTURES:
            self.page.screenshot(path=str(Path(PICTURES) / name))

    def lasso(self, left: float, top: float, right: float, bottom: float) -> None:
        """Around a part of the map, in shares of its width and height."""
        box = self.page.locator("#map canvas").bounding_box()
        at = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in at]
        self.page.click("#lasso")
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for x, y in places[1:]:
            self.page.mouse.move(x, y, steps=4)
        if PICTURES:
            self.picture("labeling-lasso.png")
        self.page.mouse.up()
        self.page.wait_for_selector("#many[open]")


def exported(process: Process, kind: str = "csv") -> bytes:
    status, body = process.ask("GET", f"/api/export?format={kind}")
    assert status == 200
    return body


def docstrings_corpus(path: Path) -> dict[str, str]:
    """The docstrings of Python's own library, by subject."""
    found = read_docstrings()
    rows = np.random.default_rng(0).permutation(len(found.texts))
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "text", "class"])
        table.writerows((found.names[i], found.texts[i], found.subjects[found.labels[i]]) for i in rows)
    return {found.names[i]: found.subjects[found.labels[i]] for i in rows}


CORPORA = {"small": partial(write_corpus, n=400), "docstrings": docstrings_corpus}


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_person_labels_undoes_draws_reloads_goes_on_and_exports(browser, tmp_path, corpus):
    truth = CORPORA[corpus](tmp_path / "docs.csv")
    *known, added = dict.fromkeys(truth.values())
    process = Process(tmp_path, "--classes", ",".join(known))
    try:
        person = Person(browser, process, truth)
        page = person.page
        person.picture("labeling-start.png")
        for _ in range(20):
            person.answer()
        person.undo()
        person.undo()
        for _ in range(12):
            person.answer()
        assert len(person.done) == 30
        while added not in person.class_names() and len(person.done) < 100:  # on the way, as a rule
            person.answer()
        assert added in person.class_names()

        page.wait_for_selector("#drawing", state="hidden")
        page.wait_for_selector('#accuracy:not(:text("–"))')
        until(lambda: process.get("/api/state")["gain"] is not None)
        page.wait_for_timeout(500)
        person.picture("labeling.png")
        before = dict(labels_of(tmp_path))
        person.lasso(0.02, 0.02, 0.45, 0.6)
        n = int(page.inner_text("#many-title").split()[0].replace(",", ""))
        page.click(f'#many [data-class="{added}"]')
        if n > 20:
            assert f"Label {n} documents as {added}?" in page.inner_text("#sure").replace(",", "")
            assert labels_of(tmp_path) == before  # nothing before the question is answered
            page.click("#yes")

        def drawn() -> int:
            now = labels_of(tmp_path)
            return sum(row["label"] == added and before.get(name) != row for name, row in now.items())

        until(lambda: drawn() == n)
        page.wait_for_selector("#said:text-matches('Saved')")
        page.keyboard.press("z")  # one undo takes all of it back; the question may be the same
        until(lambda: {k: v["label"] for k, v in labels_of(tmp_path).items()} == person.done)

        page.reload()
        person.ready()
        assert page.inner_text("#labeled") == str(len(person.done))
        for _ in range(3):
            person.answer()
        person.moved_on(lambda: page.keyboard.press("s"))
        person.moved_on(lambda: page.keyboard.press("u"))
        page.click("#menu summary")
        with page.expect_download() as download:
            page.click('[data-export="csv"]')
        text = Path(download.value.path()).read_text(encoding="utf-8")
        rows = list(csv.DictReader(text.splitlines()))
        assert {row["id"]: row["label"] for row in rows} == person.done
        assert len(rows) == len(person.done) >= 33
        assert browser.complaints() == []
        assert all(
            one.startswith((f"http://{process.host}/", "data:,", "blob:")) for one in browser.requests()
        )
    finally:
        assert process.stop() == 0
    again = Store(tmp_path / "docs.labels.sqlite", create=False)
    assert again.labels() == person.done
    again.close()


def labels_of(folder: Path) -> dict[str, dict[str, str]]:
    store = Store(folder / "docs.labels.sqlite", create=False)
    found = {d.document: {"label": d.label, "at": d.at} for d in store.current() if d.label}
    store.close()
    return found


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    truth = write_corpus(folder / "docs.csv")
    process = Process(folder, "--classes", "sport,money,garden")
    yield process, truth, folder
    process.stop()


def test_search_map_and_reasons_open_documents(browser, served):
    process, truth, _ = served
    person = Person(browser, process, truth)
    page = person.page
    for _ in range(8):
        person.answer()
    until(lambda: process.get("/api/state")["search"])
    page.keyboard.press("/")
    page.keyboard.type("tournam")
    page.keyboard.press("Enter")
    page.wait_for_selector("#found li button")
    wanted = page.inner_text("#found li button")
    page.click("#found li button")
    page.wait_for_selector(f'#asked:text-is("{wanted}")')
    assert "tournament" in page.inner_text("#text")
    page.wait_for_selector("#drawing", state="hidden")
    page.focus("#map canvas")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#map .tip:visible .tip-text")
    name = page.inner_text(".tip-id")
    page.keyboard.press("Enter")
    page.wait_for_selector(f'#asked:text-is("{name}")')
    page.select_option("#how", label="guessed: money")
    page.wait_for_selector("#guess .name")
    assert browser.complaints() == []


@pytest.mark.parametrize("dark", [False, True])
def test_phone(browser, served, dark):
    process, _, _ = served
    page = browser.open(process.address, width=375, height=740, dark=dark)
    page.wait_for_selector('body[data-row]:not([data-row=""])', state="attached")
    page.wait_for_selector("#drawing", state="hidden")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    for name in ("#skip", "#undo", "#classes button"):
        assert page.locator(name).first.bounding_box()["height"] >= 44
    if PICTURES and dark:
        page.screenshot(path=str(Path(PICTURES) / "labeling-phone.png"))
    assert browser.complaints() == []


def test_everything_has_a_name_for_screen_readers(browser, served):
    process, _, _ = served
    page = browser.open(process.address)
    page.wait_for_selector('body[data-row]:not([data-row=""])', state="attached")
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, select, canvas, svg[role=img]')].filter(e => !("
        "e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map(e => e.outerHTML)"
    )
    assert nameless == []


def test_a_lost_server_is_told_and_the_label_sent_again(browser, tmp_path):
    truth = write_corpus(tmp_path / "docs.csv")
    process = Process(tmp_path, "--classes", "sport,money,garden")
    person = Person(browser, process, truth)
    person.answer()
    person.ready()
    asked, row = person.asked, int(person.page.get_attribute("body", "data-row"))
    person.page.context.set_offline(True)
    person.page.keyboard.press("1")
    person.page.wait_for_selector("#said.failed:text-matches('Not saved')")
    with person.page.expect_event("requestfailed", lambda request: "/api/state" in request.url):
        process.decide(row - 1 if row else 1, "money", "another's")  # the open stream tells of it
    time.sleep(0.5)
    assert "Not saved" in person.page.inner_text("#said")  # the other failure does not hide it
    assert person.asked == asked
    person.page.context.set_offline(False)
    until(lambda: asked in labels_of(tmp_path), 40)
    assert process.stop() == 0


def test_an_undo_right_after_an_answer_is_not_lost(browser, tmp_path):
    truth = write_corpus(tmp_path / "docs.csv")
    process = Process(tmp_path, "--classes", "sport,money,garden")
    person = Person(browser, process, truth)
    person.answer()
    person.page.route("**/api/decide", lambda route: (time.sleep(0.5), route.continue_()))
    for key in "1z":  # a hand that knows at once that it slipped
        person.page.keyboard.press(key)
    person.page.wait_for_selector("#said:text-is('Undone')")
    assert {name: one["label"] for name, one in labels_of(tmp_path).items()} == person.done
    assert process.stop() == 0


def test_two_tabs_see_each_other(browser, served):
    process, truth, _ = served
    person = Person(browser, process, truth)
    other = browser.another(process.address)
    other.wait_for_selector('body[data-row]:not([data-row=""])', state="attached")
    assert other.inner_text("#asked") != person.asked
    person.answer()
    n = process.get("/api/state")["labeled"]
    other.wait_for_selector(f'#labeled:text-is("{n}")')


# -- hostile -------------------------------------------------------------------------------------------------

EVIL = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>",
    "javascript:window.hacked = 3",
    '"><svg onload=window.hacked=4>',
    "</textarea></style><script>window.hacked=5</script>",
    "{{7*7}} ${window.hacked=6} \u202e gnihtemos",
)


def test_hostile_texts_ids_and_classes_run_nothing(browser, tmp_path):
    with open(tmp_path / "docs.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "text"])
        for row in range(60):
            evil = EVIL[row % len(EVIL)]
            table.writerow(
                [f"{evil} {row}", f"{evil} words of document {row} {'apple' if row % 2 else 'car'}"]
            )
    process = Process(tmp_path)
    try:
        page = browser.open(process.address)
        page.wait_for_selector('body[data-row]:not([data-row=""])', state="attached")
        for name in EVIL:
            page.keyboard.press("n")
            page.keyboard.type(name)
            page.keyboard.press("Enter")
        page.wait_for_selector("#said.failed:text-matches('printable')")  # the last turns text around
        page.wait_for_selector(f"#classes button:nth-child({len(EVIL) - 1})")
        for k in range(8):
            row = page.get_attribute("body", "data-row")
            page.keyboard.press(str(k % 4 + 1))
            page.wait_for_selector(f'body:not([data-row="{row}"]):not(.busy)', state="attached")
        until(lambda: process.get("/api/state")["search"])
        page.fill("#query", "words")
        page.keyboard.press("Enter")
        page.wait_for_selector("#found li button")
        page.wait_for_selector("#drawing", state="hidden")
        page.focus("#map canvas")
        page.keyboard.press("ArrowRight")
        page.wait_for_selector("#map .tip:visible")
        page.wait_for_timeout(500)
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.querySelectorAll('main script, main img, main iframe').length") == 0
        assert EVIL[0] in page.inner_text("#classes")
        refused = [said for said in browser.complaints() if "400 (Bad Request)" in said]  # that class
        assert browser.complaints() == refused
    finally:
        process.stop()


HOSTILE = (Path(__file__).parent / "hostile.html").read_text(encoding="utf-8")


@pytest.fixture
def hostile(served):
    """A page of another origin that tries everything on the served session."""
    address = f"http://{served[0].host}"

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            page = HOSTILE.replace("ADDRESS", address).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_a_page_of_another_origin_reads_and_writes_nothing(browser, served, hostile):
    process, truth, folder = served
    person = Person(browser, process, truth)  # the session is open in the same browser
    before = labels_of(folder)
    page = browser.another(hostile)
    page.wait_for_selector("body[data-tried]", timeout=90_000)
    tried = json.loads(page.get_attribute("body", "data-tried"))
    for name in ("read", "read page", "guess token", "write json", "event source", "script"):
        assert tried[name] == "failed", name
    assert tried["read blind"] in ("failed", "opaque 0")
    assert tried["write plain"] in ("failed", "opaque 0")
    assert tried["frame"] in ("nothing", "")
    page.evaluate("document.getElementById('form').submit()")
    page.wait_for_timeout(1000)
    assert labels_of(folder) == before
    assert "evil" not in person.class_names()


def test_a_name_bound_to_this_machine_is_not_answered(browser, served):
    process, _, _ = served
    page = browser.open(f"http://evil.example:{process.port}/")
    assert "not served under that name" in page.inner_text("body")
    ask = f"fetch('/api/state', {{headers: {{'X-Bvdt-Token': '{process.token}'}}}}).then(r => r.status)"
    assert page.evaluate(ask) == 421  # even with the right token


def test_a_page_opened_by_a_code_works_and_keeps_no_code(browser, tmp_path):
    write_corpus(tmp_path / "docs.csv", n=60)
    opener, shown = tmp_path / "opener", tmp_path / "shown"
    opener.write_text(f'#!/bin/sh\necho "$1" > {shown}\n')
    opener.chmod(0o755)
    process = Process(tmp_path, browser=f"{opener} %s")
    until(lambda: shown.exists() and shown.read_text().strip())
    page = browser.open(shown.read_text().strip())
    for _ in range(2):
        page.wait_for_selector('body[data-row]:not([data-row=""])', state="attached")
        assert "#" not in page.url
        page.reload()
    assert process.stop() == 0
