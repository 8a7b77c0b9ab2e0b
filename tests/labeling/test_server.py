"""The server as a process: who is let in, what is bounded, what it survives; kill -9 loses nothing."""

from __future__ import annotations

import http.client
import json
import socket
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bvdt.labeling import Store
from helpers.labeling import Process, until, write_corpus

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    truth = write_corpus(folder / "docs.csv")
    process = Process(folder, "--classes", "sport,money,garden", "--name", "ann")
    yield process, truth, folder
    assert process.stop() == 0


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    """One that waits 3 s for a request, not 15."""
    folder = tmp_path_factory.mktemp("impatient")
    write_corpus(folder / "docs.csv", n=60)
    process = Process(folder, "--classes", "sport,money,garden", patience=3.0)
    yield process
    assert process.stop() == 0


# -- who is let in -------------------------------------------------------------------------------------------


def test_the_page_needs_no_token_and_holds_no_data(served):
    process, _, _ = served
    for path in ("/", "/style.css", "/map.js", "/app.js", "/ask.js", "/board.js", "/server.js"):
        status, body = process.ask("GET", path, X_Bvdt_Token="")
        assert status == 200
        assert b"doc-" not in body
        assert b"http://" not in body.replace(b"http://www.w3.org", b"")
        assert b"https://" not in body


def test_a_browsers_command_line_holds_no_token(tmp_path):
    """Process lists show it: what stands there is a code that serves once."""
    write_corpus(tmp_path / "docs.csv", n=60)
    opener, shown = tmp_path / "opener", tmp_path / "shown"
    opener.write_text(f'#!/bin/sh\necho "$1" > {shown}\n')
    opener.chmod(0o755)
    process = Process(tmp_path, browser=f"{opener} %s")
    try:
        until(lambda: shown.exists() and shown.read_text().strip())
        address, code = shown.read_text().strip().split("#")
        assert process.token not in address + code
        assert process.ask("GET", "/token", X_Bvdt_Once="once-guess")[0] == 401
        assert process.ask("GET", "/token", X_Bvdt_Once=code) == (200, process.token.encode())
        assert process.ask("GET", "/token", X_Bvdt_Once=code)[0] == 401
    finally:
        process.stop()


@pytest.mark.parametrize(
    "path",
    [
        "state",
        "map",
        "changes",
        "next",
        "document/0",
        "glimpse/0",
        "why/0",
        "search?q=a",
        "slips",
        "export",
        "events",
    ],
)
def test_reading_needs_the_token(served, path):
    process, _, _ = served
    for token in ("", "guess", process.token[:-1], process.token + "x"):
        assert process.ask("GET", f"/api/{path}", X_Bvdt_Token=token)[0] == 401


@pytest.mark.parametrize("path", ["decide", "undo", "class"])
def test_writing_needs_token_origin_and_json(served, path):
    process, _, folder = served
    body = {"request": "x", "rows": [0], "kind": "label", "label": "sport", "name": "evil"}
    before = rows_in(folder / "docs.labels.sqlite")
    assert process.ask("POST", f"/api/{path}", body, X_Bvdt_Token="")[0] == 401
    assert process.ask("POST", f"/api/{path}", body, Origin="http://evil.example")[0] == 403
    assert process.ask("POST", f"/api/{path}", body, Origin="null")[0] == 403
    assert process.ask("POST", f"/api/{path}", body, Sec_Fetch_Site="cross-site")[0] == 403
    assert process.ask("POST", f"/api/{path}", body, Host="evil.example")[0] == 421
    assert process.ask("POST", f"/api/{path}", body, Host=f"evil.example:{process.port}")[0] == 421
    assert process.ask("POST", f"/api/{path}", body, Host="")[0] in (400, 421)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert process.ask("POST", f"/api/{path}", body, Content_Type=kind)[0] == 415
    assert process.ask("GET", f"/api/{path}")[0] == 405
    assert rows_in(folder / "docs.labels.sqlite") == before


def test_every_answer_says_what_a_page_may_do(served):
    process, _, _ = served
    with socket.create_connection(("127.0.0.1", process.port), 20) as client:
        client.sendall(f"GET / HTTP/1.1\r\nHost: {process.host}\r\nConnection: close\r\n\r\n".encode())
        head = b"".join(iter(lambda: client.recv(65536), b"")).split(b"\r\n\r\n")[0].decode().lower()
    for wanted in (
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "nosniff",
        "no-referrer",
        "no-store",
    ):
        assert wanted in head
    assert "unsafe" not in head
    assert "access-control" not in head
    assert "uvicorn" not in head


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "rows"),
        ({"request": "x", "rows": [], "kind": "skip"}, "rows"),
        ({"request": "x", "rows": [240], "kind": "skip"}, "from 0 to 239"),
        ({"request": "x", "rows": [-1], "kind": "skip"}, "from 0 to 239"),
        ({"request": "x", "rows": ["0"], "kind": "skip"}, "from 0 to 239"),
        ({"request": "x", "rows": [True], "kind": "skip"}, "from 0 to 239"),
        ({"request": "x", "rows": [1, 1], "kind": "skip"}, "different"),
        ({"request": "x", "rows": [1], "kind": "import", "label": "a"}, "import"),
        ({"request": "x", "rows": [1], "kind": "label"}, "a label"),
        ({"request": "x", "rows": [1], "kind": "label", "label": 7}, "text"),
        ({"request": "x", "rows": [1], "kind": "label", "label": " "}, "printable"),
        ({"request": "x" * 500, "rows": [1], "kind": "skip"}, "400 characters"),
        ({"rows": [1], "kind": "skip"}, "request"),
        ([1], "object"),
    ],
)
def test_broken_requests_are_told_why(served, body, reason):
    process, _, _ = served
    status, answer = process.ask("POST", "/api/decide", body)
    assert status == 400
    assert reason in json.loads(answer)["error"]


# -- what it survives ----------------------------------------------------------------------------------------


def test_two_hundred_requests_at_once(served):
    process, _, _ = served
    began = time.monotonic()
    with ThreadPoolExecutor(200) as pool:
        found = list(pool.map(lambda k: process.ask("GET", f"/api/document/{k % 240}")[0], range(200)))
    assert found == [200] * 200
    assert time.monotonic() - began < 60
    assert answers_in_time(process)


def test_half_requests_wait_alone_and_are_given_up(impatient):
    process = impatient
    waiting = [socket.create_connection(("127.0.0.1", process.port), 60) for _ in range(50)]
    for client in waiting[:25]:
        client.sendall(b"POST /api/decide HTTP/1.1\r\nHost: ")
    for client in waiting[25:]:
        head = f"POST /api/decide HTTP/1.1\r\nHost: {process.host}\r\nX-Bvdt-Token: {process.token}\r\n"
        client.sendall((head + "Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{").encode())
    assert answers_in_time(process)
    for client in waiting:  # closed by the server, or answered with 408, within its patience
        client.settimeout(60)
        assert client.recv(4096)[:12] in (b"", b"HTTP/1.1 408")
        client.close()
    assert answers_in_time(process)


def test_a_body_of_fifty_megabytes_is_not_read(served):
    process, _, _ = served
    for head in ("Content-Length: 52428800\r\n", "Transfer-Encoding: chunked\r\n"):
        with socket.create_connection(("127.0.0.1", process.port), 60) as client:
            first = f"POST /api/decide HTTP/1.1\r\nHost: {process.host}\r\nX-Bvdt-Token: {process.token}\r\n"
            client.sendall((first + "Content-Type: application/json\r\n" + head + "\r\n").encode())
            piece, sent = b"x" * 65536, 0
            chunk = b"10000\r\n" + piece + b"\r\n" if "chunked" in head else piece
            try:
                while sent < 50 << 20:
                    client.sendall(chunk)
                    sent += len(piece)
            except OSError:
                pass
            try:
                answer = client.recv(65536)
            except OSError:
                answer = b""
        assert answer == b"" or b" 413 " in answer
        assert sent < 50 << 20
    assert answers_in_time(process)


def test_nonsense_does_not_stop_it(impatient):
    process = impatient
    rng = np.random.default_rng(0)
    for junk in (
        b"\x16\x03\x01\x02",
        b"GET\r\n\r\n",
        b"A" * 100_000,
        rng.bytes(2000),
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 5000,
    ):
        with socket.create_connection(("127.0.0.1", process.port), 30) as client:
            try:
                client.sendall(junk)
                client.recv(100)
            except OSError:
                pass
    assert answers_in_time(process)


def answers_in_time(process: Process) -> bool:
    return process.alive and process.ask("GET", "/api/state", timeout=10)[0] == 200


# -- nothing is lost -----------------------------------------------------------------------------------------


def rows_in(path) -> int:
    with sqlite3.connect(path) as db:
        found = db.execute("SELECT COUNT(*) FROM decisions").fetchone()[0]
    db.close()
    return found


def test_two_people_at_once_are_consistent(served):
    process, truth, folder = served
    ids = list(truth)

    def person(who: str) -> list[str]:
        done = []
        for k in range(15):
            row = process.get(f"/api/next?client={who}&how=auto")["document"]["row"]
            assert process.decide(row, truth[ids[row]], f"{who}-{k}", who=who)[0] == 200
            done.append(ids[row])
        return done

    with ThreadPoolExecutor(2) as pool:
        ann, bob = pool.map(person, ["ann", "bob"])
    assert not set(ann) & set(bob)  # nobody is asked what the other has before them
    until(lambda: process.get("/api/state")["followed"] >= 30)
    store = Store(folder / "docs.labels.sqlite", create=False)
    assert {d.document for d in store.current() if d.who == "bob"} == set(bob)
    store.close()


@pytest.mark.parametrize("kills", [3])
def test_kill_at_any_moment_loses_no_acknowledged_label(tmp_path, kills):
    lost, duplicates = killed(tmp_path, kills)
    assert lost == []
    assert duplicates == 0


def killed(folder, kills: int, seed: int = 0) -> tuple[list[str], int]:
    """Label as fast as one can while the server is killed at random moments: what was lost or is twice."""
    rng = np.random.default_rng(seed)
    truth = write_corpus(folder / "docs.csv", n=120)
    ids, acknowledged, sent = list(truth), {}, 0
    for _ in range(kills):
        process = Process(folder, "--classes", "sport,money,garden")
        timer = threading.Timer(rng.uniform(0.0, 1.5), process.strike)
        while True:
            row, sent = int(rng.integers(120)), sent + 1
            try:
                status, _ = process.decide(row, list(TOPIC)[sent % 3], f"request {sent}", who="ann")
            except (OSError, http.client.HTTPException):
                break
            assert status == 200
            acknowledged[f"request {sent}"] = (ids[row], list(TOPIC)[sent % 3])
            if not timer.ident:  # the moments count from the first label on, however busy the machine is
                timer.start()
        process.kill()
    with sqlite3.connect(folder / "docs.labels.sqlite") as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        rows = db.execute("SELECT request, document, label FROM decisions").fetchall()
    db.close()
    there = {request: (document, label) for request, document, label in rows}
    assert len(acknowledged) >= kills
    return [r for r, what in acknowledged.items() if there.get(r) != what], len(rows) - len(there)


TOPIC = ("sport", "money", "garden")
