"""One file over HTTPS: resumed where it broke off, checked, and put in place whole or not at all.

While it comes in, the file is NAME.part, and NAME.part.json holds what the server said of it (address, ETag
or date, size), so that a later run asks only for the rest, and only of the same file. Beside the finished
file stands NAME.sha256, in the form the ``sha256sum`` command reads.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from http.client import HTTPMessage, HTTPResponse
    from urllib.request import Request

__all__ = ["Progress", "download", "file_digest", "forget"]

Progress = Callable[[int, int | None], None]  # bytes so far, bytes in all if known

OWN = ("127.0.0.1", "::1", "localhost")
PIECE = 2**16
LIMIT = 2**30  # bytes: the largest original has 80 MiB
LONGEST_WAIT = 60.0  # seconds between two tries
PASSING = (408, 425, 429, 500, 502, 503, 504)  # answers that a later try may mend
BREAKS = (TimeoutError, ConnectionError, ssl.SSLError, http.client.HTTPException)


class _BrokenOffError(Exception):
    """The transfer stopped; what came is kept, and the rest may be asked for again."""


@dataclass(frozen=True)
class _Origin:
    """What the server said of the file whose first bytes are here."""

    url: str
    validator: str | None  # a strong ETag, or the date of the last change
    total: int | None


def download(
    url: str,
    path: str | Path,
    *,
    sha256: str | None = None,
    timeout: float = 30.0,
    tries: int = 5,
    wait: float = 1.0,
    progress: Progress | None = None,
) -> str:
    """Bring the file at ``url`` to ``path``, unless it is there, and return its SHA-256.

    A try that brings nothing new is repeated until ``tries`` in a row have, ``wait`` seconds after the first
    and twice as long after each. The digest has to be ``sha256``, or without one that of NAME.sha256 from an
    earlier download. A download with another is deleted: no resumption could make it right.
    """
    path = Path(path)
    expected, source = _expected(path, sha256)
    if path.exists():
        digest = file_digest(path)
        if expected not in (None, digest):
            raise ValueError(
                f"{path} has the SHA-256 {digest}, but {expected} is required ({source}): "
                "delete it to download it again"
            )
    else:
        _check_url(url)
        path.parent.mkdir(parents=True, exist_ok=True)
        _bring(url, path, timeout, tries, wait, progress)
        digest = _accept(url, path, expected, source)
    _record(path).write_text(f"{digest}  {path.name}\n", encoding="utf-8")
    return digest


def file_digest(path: str | Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_url(url: str) -> None:
    """Only https: anyone on the way may have changed what comes otherwise. This machine may do without."""
    parts = urllib.parse.urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in OWN)
    if not is_safe or not parts.hostname:
        raise ValueError(f"an address needs to begin with https:// and name a host; it is {url!r}")


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a server to another address only if that one is allowed, too."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if req.type == "https" and urllib.parse.urlsplit(newurl).scheme != "https":
            raise ValueError(f"{req.host} leads from https to {newurl!r}, which anyone may have changed")
        _check_url(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def forget(path: str | Path) -> None:
    """Delete a downloaded file and the record of its digest."""
    Path(path).unlink(missing_ok=True)
    _record(Path(path)).unlink(missing_ok=True)


# -- the files beside the file -------------------------------------------------------------------------------


def _part(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".part.json")


def _record(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _expected(path: Path, sha256: str | None) -> tuple[str | None, str]:
    """The digest the file has to have, if any, and who says so."""
    if sha256 is not None:
        if not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
            raise ValueError(f"a SHA-256 needs 64 hexadecimal digits; it is {sha256!r}")
        return sha256.lower(), "as you asked, or as published"
    record = _record(path)
    if not record.is_file():
        return None, ""
    digest = record.read_text(encoding="utf-8", errors="replace").split(maxsplit=1)[:1]
    if not digest or not re.fullmatch(r"[0-9a-f]{64}", digest[0]):
        raise ValueError(f"{record} does not begin with a SHA-256: delete it to do without")
    return digest[0], f"as {record.name} recorded; delete that file to accept another"


def _accept(url: str, path: Path, expected: str | None, source: str) -> str:
    digest = file_digest(_part(path))
    if expected not in (None, digest):
        _discard(path)
        raise ValueError(
            f"what {url} sent has the SHA-256 {digest}, but {expected} is required ({source}); it was deleted"
        )
    os.replace(_part(path), path)
    _discard(path)
    return digest


def _discard(path: Path) -> None:
    _part(path).unlink(missing_ok=True)
    _note(path).unlink(missing_ok=True)


def _size(path: Path) -> int:
    return _part(path).stat().st_size if _part(path).exists() else 0


def _origin(url: str, path: Path) -> _Origin | None:
    """What is known of the part that is here; None where there is none of this address."""
    try:
        origin = _Origin(**json.loads(_note(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return origin if origin.url == url and _size(path) <= (origin.total or LIMIT) else None


# -- the transfer --------------------------------------------------------------------------------------------


def _bring(url: str, path: Path, timeout: float, tries: int, wait: float, progress: Progress | None) -> None:
    """Have NAME.part complete, in as many transfers as it takes."""
    failures = 0
    while True:
        before = _size(path)
        try:
            _transfer(url, path, timeout, progress)
            return
        except _BrokenOffError as error:
            failures = 1 if _size(path) > before else failures + 1
            if failures >= tries:
                raise ConnectionError(
                    f"{url} broke off {tries} times in a row, the last time because {error}; "
                    f"{_size(path)} bytes are kept: run the command again to go on from there"
                ) from error
        time.sleep(min(wait * 2 ** (failures - 1), LONGEST_WAIT))


def _transfer(url: str, path: Path, timeout: float, progress: Progress | None) -> None:
    """One request for what is missing of NAME.part."""
    origin = _origin(url, path)
    start = _size(path) if origin else 0
    if origin and start and start == origin.total:
        return
    try:
        opener = urllib.request.build_opener(_SafeRedirects)
        response = opener.open(_request(url, start, origin), timeout=timeout)
    except urllib.error.HTTPError as error:
        with error:
            _answered(error, url, path, start)
        return
    except urllib.error.URLError as error:
        raise _unreachable(url, error.reason) from error
    except BREAKS as error:
        raise _BrokenOffError(_reason(error)) from error
    with response:
        total = _begin(response, url, path, start, origin)
        _receive(response, path, total, progress)


def _request(url: str, start: int, origin: _Origin | None) -> urllib.request.Request:
    headers = {"User-Agent": "bvdt", "Accept-Encoding": "identity"}
    if start and origin:
        headers["Range"] = f"bytes={start}-"
        if origin.validator:
            headers["If-Range"] = origin.validator  # the rest if it is the same file, else all of the new one
    return urllib.request.Request(url, headers=headers)


def _begin(response: HTTPResponse, url: str, path: Path, start: int, origin: _Origin | None) -> int | None:
    """Make NAME.part ready for what the answer brings; returns the size of the whole file."""
    if response.status == 206:
        span = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", "").strip())
        total = int(span[2]) if span and span[2] != "*" else None
        known = origin.total if origin else None
        if not span or int(span[1]) != start or (total and known and total != known):
            _discard(path)
            raise _BrokenOffError("the server sent another part than the one asked for")
        return total or known
    if response.status != 200:
        raise ConnectionError(f"{url} cannot be had: the server answered {response.status}")
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isdigit() else None
    if total and total > LIMIT:
        raise ValueError(f"{url} has {total} bytes; no original has more than {LIMIT}")
    tag, date = response.headers.get("ETag"), response.headers.get("Last-Modified")
    validator = tag if tag and not tag.startswith("W/") else date
    _discard(path)  # first, so that a note never stands beside another file's bytes
    _note(path).write_text(json.dumps(asdict(_Origin(url, validator, total))), encoding="utf-8")
    return total


def _receive(response: HTTPResponse, path: Path, total: int | None, progress: Progress | None) -> None:
    with _part(path).open("ab") as file:
        while True:
            try:
                piece = response.read(PIECE)
            except BREAKS as error:
                raise _BrokenOffError(_reason(error)) from error
            if not piece:
                break
            file.write(piece)
            if file.tell() > LIMIT:
                raise ValueError(f"{path.name} has more than {LIMIT} bytes; no original has")
            if progress:
                progress(file.tell(), total)
        size = file.tell()
    if total is not None and size < total:
        raise _BrokenOffError(f"the connection ended after {size} of {total} bytes")
    if total is not None and size > total:
        _discard(path)
        raise _BrokenOffError(f"{size} bytes came, {total} were announced")


# -- answers that are no file --------------------------------------------------------------------------------


def _answered(error: urllib.error.HTTPError, url: str, path: Path, start: int) -> None:
    if error.code == 416:  # nothing lies beyond what is here: it is complete, or of another file
        if error.headers.get("Content-Range", "").strip() == f"bytes */{start}":
            return
        _discard(path)
        raise _BrokenOffError("the server has no such part")
    if error.code in PASSING:
        raise _BrokenOffError(f"the server answered {error.code} {error.reason}")
    raise ConnectionError(
        f"{url} cannot be had: the server answered {error.code} {error.reason}; if the file has moved, "
        "name its new address with --url"
    )


def _unreachable(url: str, reason: object) -> Exception:
    final = (socket.gaierror, ConnectionRefusedError, ssl.SSLCertVerificationError)
    if isinstance(reason, OSError) and not isinstance(reason, final):
        return _BrokenOffError(_reason(reason))
    host = urllib.parse.urlsplit(url).hostname
    return ConnectionError(
        f"{host} cannot be reached ({_reason(reason)}): look at the network, or name another address "
        "with --url"
    )


def _reason(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "nothing came for too long"
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
