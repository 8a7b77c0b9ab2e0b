"""A small HTTP server of files for the tests, with the habits of good and bad servers."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Habits:
    """How the server answers; ``log`` holds (status, Range asked for, bytes of body sent) of each answer."""

    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True  # honour Range
    etag: str | None = '"one"'
    date: str | None = None
    length: bool = True  # announce Content-Length
    break_after: list[int] = field(default_factory=list)  # bytes after which each next answer breaks off
    refuse: list[int] = field(default_factory=list)  # status of each next answer, instead of a file
    moved: str | None = None  # the first answer leads there
    pause: float = 0.0  # seconds before the body
    shift: int = 0  # of the part sent, against the part asked for
    log: list[tuple[int, str | None, int]] = field(default_factory=list)


def _handler(habits: Habits) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if habits.moved is not None:
                where, habits.moved = habits.moved, None
                return self.fail(302, {"Location": where})
            content = habits.files.get(self.path)
            if habits.refuse or content is None:
                return self.fail(habits.refuse.pop(0) if habits.refuse else 404)
            start = self.start()
            if start is not None and start >= len(content):
                return self.fail(416, {"Content-Range": f"bytes */{len(content)}"})
            return self.give(content, start)

        def start(self) -> int | None:
            asked, condition = self.headers["Range"], self.headers["If-Range"]
            same = condition in (None, habits.etag, habits.date) and not (condition or "").startswith("W/")
            if not habits.ranges or asked is None or not same:  # a weak ETag never proves the same bytes
                return None
            return int(asked.removeprefix("bytes=").removesuffix("-"))

        def fail(self, status: int, headers: dict[str, str] | None = None) -> None:
            habits.log.append((status, self.headers["Range"], 0))
            self.send_response(status)
            self.head({"Content-Length": "0"} | (headers or {}))

        def give(self, content: bytes, start: int | None) -> None:
            headers = {"ETag": habits.etag, "Last-Modified": habits.date}
            body = content[start or 0 :]
            if start is not None:
                first = start + habits.shift
                headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
            if habits.length:
                headers["Content-Length"] = str(len(body))
            if habits.break_after:
                body = body[: habits.break_after.pop(0)]
            status = 200 if start is None else 206
            habits.log.append((status, self.headers["Range"], len(body)))
            self.send_response(status)
            self.head(headers)
            time.sleep(habits.pause)
            self.wfile.write(body)

        def head(self, headers: dict[str, str | None]) -> None:
            for name, value in headers.items():
                if value is not None:
                    self.send_header(name, value)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    return Handler


class FileServer:
    """``with FileServer() as server``: serves ``server.habits.files`` below ``server.url``."""

    def __init__(self) -> None:
        self.habits = Habits()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.habits))
        self._server.handle_error = lambda *_: None  # a client that hangs up is part of the tests
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> FileServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
