"""Downloads from a local server that breaks off, ignores ranges, changes its file, stalls or refuses."""

from __future__ import annotations

import hashlib
import json
import socket
import urllib.request

import numpy as np
import pytest

from helpers.file_server import FileServer
from reproduction.data.download import _SafeRedirects, download, file_digest, forget

CONTENT = np.random.default_rng(0).bytes(300_000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    with FileServer() as running:
        running.habits.files["/a.zip"] = CONTENT
        yield running


def get(server, path, **options):
    return download(f"{server.url}/a.zip", path, **({"wait": 0.001, "timeout": 5} | options))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_whole(server, tmp_path):
    seen = []
    path = tmp_path / "deep" / "a.zip"
    assert get(server, path, sha256=DIGEST.upper(), progress=lambda *now: seen.append(now)) == DIGEST
    assert path.read_bytes() == CONTENT
    assert names(path.parent) == ["a.zip", "a.zip.sha256"]
    assert (path.parent / "a.zip.sha256").read_text() == f"{DIGEST}  a.zip\n"
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def test_a_file_that_is_here_is_not_asked_for(server, tmp_path):
    get(server, tmp_path / "a.zip")
    get(server, tmp_path / "a.zip", sha256=DIGEST)
    assert len(server.habits.log) == 1
    (tmp_path / "a.zip").write_bytes(b"changed")
    with pytest.raises(ValueError, match=rf"but {DIGEST} is required \(as a.zip.sha256 recorded.* delete it"):
        get(server, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == b"changed"


@pytest.mark.parametrize(
    ("etag", "date"),
    [('"one"', None), (None, "Wed, 21 Oct 2015 07:28:00 GMT"), ('W/"one"', None), (None, None)],
    ids=["etag", "date", "weak etag", "neither"],
)
def test_a_broken_download_brings_only_the_rest(server, tmp_path, etag, date):
    server.habits.etag, server.habits.date = etag, date
    server.habits.break_after = [100_000, 50_000]
    assert get(server, tmp_path / "a.zip") == DIGEST
    assert server.habits.log == [
        (200, None, 100_000),
        (206, "bytes=100000-", 50_000),
        (206, "bytes=150000-", 150_000),
    ]


def test_only_fruitless_tries_are_counted(server, tmp_path):
    server.habits.break_after = [30_000] * 9
    assert get(server, tmp_path / "a.zip", tries=2) == DIGEST
    assert len(server.habits.log) == 10
    assert sum(sent for _, _, sent in server.habits.log) == len(CONTENT)


def test_a_second_run_goes_on_where_the_first_stopped(server, tmp_path):
    server.habits.break_after = [100_000]
    with pytest.raises(
        ConnectionError, match=r"broke off 1 times .* after 100000 of 300000 .* run the command again"
    ):
        get(server, tmp_path / "a.zip", tries=1)
    assert names(tmp_path) == ["a.zip.part", "a.zip.part.json"]
    assert get(server, tmp_path / "a.zip") == DIGEST
    assert server.habits.log[1:] == [(206, "bytes=100000-", 200_000)]
    assert names(tmp_path) == ["a.zip", "a.zip.sha256"]


def test_a_server_that_ignores_ranges_sends_all_again(server, tmp_path):
    server.habits.ranges = False
    server.habits.break_after = [100_000]
    assert get(server, tmp_path / "a.zip") == DIGEST
    assert server.habits.log == [(200, None, 100_000), (200, "bytes=100000-", 300_000)]


def test_a_file_that_changed_meanwhile_is_sent_whole(server, tmp_path):
    server.habits.break_after = [100_000]
    with pytest.raises(ConnectionError):
        get(server, tmp_path / "a.zip", tries=1)
    new = CONTENT[::-1]
    server.habits.files["/a.zip"], server.habits.etag = new, '"two"'
    get(server, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == new
    assert server.habits.log[1] == (200, "bytes=100000-", 300_000)


def test_a_part_of_a_file_of_another_size_is_not_gone_on_with(server, tmp_path):
    """Without ETag and date only the size tells that the file is another."""
    server.habits.etag = None
    server.habits.break_after = [100_000]
    with pytest.raises(ConnectionError):
        get(server, tmp_path / "a.zip", tries=1)
    new = CONTENT[::-1] + b"more"
    server.habits.files["/a.zip"] = new
    get(server, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == new


def test_a_wrong_part_is_not_appended(server, tmp_path):
    server.habits.break_after, server.habits.shift = [100_000], 7
    get(server, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == CONTENT
    assert [status for status, _, _ in server.habits.log] == [200, 206, 200]


@pytest.mark.parametrize(
    "note", [None, "{", '{"url": "http://elsewhere/a.zip", "validator": null, "total": null}']
)
def test_a_part_of_unknown_origin_is_not_used(server, tmp_path, note):
    (tmp_path / "a.zip.part").write_bytes(b"something else")
    if note:
        (tmp_path / "a.zip.part.json").write_text(note)
    get(server, tmp_path / "a.zip", sha256=DIGEST)
    assert server.habits.log == [(200, None, 300_000)]


@pytest.mark.parametrize("total", [300_000, None], ids=["size known", "size unknown"])
def test_a_complete_part_needs_no_more_bytes(server, tmp_path, total):
    """Stopped between the last byte and the renaming."""
    (tmp_path / "a.zip.part").write_bytes(CONTENT)
    note = {"url": f"{server.url}/a.zip", "validator": '"one"', "total": total}
    (tmp_path / "a.zip.part.json").write_text(json.dumps(note))
    assert get(server, tmp_path / "a.zip") == DIGEST
    assert sum(sent for _, _, sent in server.habits.log) == 0


def test_a_part_longer_than_the_file_starts_anew(server, tmp_path):
    (tmp_path / "a.zip.part").write_bytes(CONTENT + b"too much")
    note = {"url": f"{server.url}/a.zip", "validator": None, "total": None}
    (tmp_path / "a.zip.part.json").write_text(json.dumps(note))
    assert get(server, tmp_path / "a.zip") == DIGEST
    assert [status for status, _, _ in server.habits.log] == [416, 200]


def test_no_announced_length(server, tmp_path):
    server.habits.length = False
    assert get(server, tmp_path / "a.zip") == DIGEST


# -- refusals ------------------------------------------------------------------------------------------------


def test_a_wrong_checksum_is_refused_and_deleted(server, tmp_path):
    with pytest.raises(
        ValueError, match=rf"has the SHA-256 {DIGEST}, but {'0' * 64} is required .* was deleted"
    ):
        get(server, tmp_path / "a.zip", sha256="0" * 64)
    assert names(tmp_path) == []


def test_the_recorded_checksum_is_required_of_the_next_download(server, tmp_path):
    path = tmp_path / "a.zip"
    get(server, path)
    path.unlink()
    server.habits.files["/a.zip"] = CONTENT[::-1]
    with pytest.raises(ValueError, match=r"a.zip.sha256 recorded; delete that file to accept another"):
        get(server, path)
    assert names(tmp_path) == ["a.zip.sha256"]
    forget(path)
    assert get(server, path) == file_digest(path) != DIGEST


def test_what_is_not_a_checksum(server, tmp_path):
    with pytest.raises(ValueError, match="64 hexadecimal digits; it is 'abc'"):
        get(server, tmp_path / "a.zip", sha256="abc")
    (tmp_path / "a.zip.sha256").write_text("")
    with pytest.raises(ValueError, match="does not begin with a SHA-256"):
        get(server, tmp_path / "a.zip")


def test_not_found_is_said_at_once(server, tmp_path):
    with pytest.raises(
        ConnectionError, match=r"/b.zip cannot be had: the server answered 404 Not Found.*--url"
    ):
        download(f"{server.url}/b.zip", tmp_path / "b.zip")
    assert len(server.habits.log) == 1
    assert names(tmp_path) == []


def test_a_busy_server_is_asked_again(server, tmp_path):
    server.habits.refuse = [503, 500]
    assert get(server, tmp_path / "a.zip") == DIGEST
    server.habits.refuse = [503] * 3
    with pytest.raises(ConnectionError, match=r"3 times in a row, .* answered 503 Service Unavailable"):
        download(f"{server.url}/a.zip", tmp_path / "b.zip", tries=3, wait=0.001)
    assert [status for status, _, _ in server.habits.log] == [503, 500, 200, 503, 503, 503]


def test_the_waits_grow(server, tmp_path, monkeypatch):
    waits = []
    monkeypatch.setattr("reproduction.data.download.time.sleep", waits.append)
    server.habits.refuse = [503] * 9
    with pytest.raises(ConnectionError):
        download(f"{server.url}/a.zip", tmp_path / "a.zip", tries=9, wait=1)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_silent_server_is_given_up(server, tmp_path):
    server.habits.pause = 0.5
    with pytest.raises(
        ConnectionError, match="2 times in a row, the last time because nothing came for too long"
    ):
        get(server, tmp_path / "a.zip", timeout=0.1, tries=2)


def test_no_network_is_one_sentence(tmp_path, monkeypatch):
    with FileServer() as gone:
        url = gone.url
    with pytest.raises(ConnectionError, match=r"127.0.0.1 cannot be reached \(Connection refused\): look at"):
        download(f"{url}/a.zip", tmp_path / "a.zip")

    def no_resolver(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_resolver)
    with pytest.raises(ConnectionError, match=r"^host.invalid cannot be reached \(Name or .*\): look at"):
        download("https://host.invalid/a.zip", tmp_path / "a.zip")


OTHER = ["file:///etc/passwd", "ftp://host/a.zip", "a.zip", "https:///a.zip", "http://host/a.zip"]


@pytest.mark.parametrize("url", OTHER)
def test_other_addresses_are_refused(tmp_path, url):
    with pytest.raises(ValueError, match=r"begin with https://"):
        download(url, tmp_path / "a.zip")


@pytest.mark.parametrize("url", OTHER[:2] + OTHER[-1:])
def test_no_server_leads_elsewhere(server, tmp_path, url):
    server.habits.moved = url
    with pytest.raises((ValueError, ConnectionError), match=r"begin with https://|answered 302"):
        get(server, tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


def test_a_server_may_lead_to_another_of_its_files(server, tmp_path):
    server.habits.files["/b.zip"] = server.habits.files["/a.zip"]
    server.habits.moved = f"{server.url}/b.zip"
    get(server, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == server.habits.files["/b.zip"]


def test_https_leads_to_https_only():
    request = urllib.request.Request("https://example.org/a")
    with pytest.raises(ValueError, match="leads from https to"):
        _SafeRedirects().redirect_request(request, None, 302, "", {}, "http://localhost/a")


def test_every_source_is_https():
    from reproduction.data.fetch import SOURCES

    assert all(source.url.startswith("https://") for source in SOURCES.values())


@pytest.mark.parametrize("length", [True, False])
def test_too_large_a_file_is_refused(server, tmp_path, monkeypatch, length):
    monkeypatch.setattr("reproduction.data.download.LIMIT", 200_000)
    server.habits.length = length
    with pytest.raises(ValueError, match="no original has"):
        get(server, tmp_path / "a.zip")
