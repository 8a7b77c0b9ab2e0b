"""What the page asks, as Starlette routes; the page itself holds no data and needs no token."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from importlib.resources import files
from typing import TypeAlias

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .._support.json import JsonObject
from ..report.page import resource, style
from ..report.palette import N_CLASSES
from .guard import RefusedError
from .session import LabelingSession
from .transfer import FORMATS, exported

MOST_LISTENERS = 64
BEAT = 15.0  # seconds between signs of life of the stream of events
SCRIPTS = ("app.js", "ask.js", "board.js", "server.js")


def make_app(session: LabelingSession, title: str, who: str) -> Starlette:
    """Routes over one desk; ``who`` is the person's name where the page sends none."""
    api = _Api(session, title, who)
    routes = [
        Route("/", _static("index.html", "text/html; charset=utf-8")),
        Route("/style.css", _given(style() + _page("app.css"), "text/css; charset=utf-8")),
        Route("/map.js", _given(resource("map.js"), "text/javascript; charset=utf-8")),
        *(Route(f"/{name}", _static(name, "text/javascript; charset=utf-8")) for name in SCRIPTS),
        Route("/api/state", api.state),
        Route("/api/map", api.map),
        Route("/api/changes", api.changes),
        Route("/api/next", api.next),
        Route("/api/document/{row:int}", api.document),
        Route("/api/snippet/{row:int}", api.snippet),
        Route("/api/why/{row:int}", api.why),
        Route("/api/search", api.search),
        Route("/api/suspected", api.suspected_errors),
        Route("/api/export", api.export),
        Route("/api/events", api.events),
        Route("/api/decide", api.decide, methods=["POST"]),
        Route("/api/undo", api.undo, methods=["POST"]),
        Route("/api/class", api.add_class, methods=["POST"]),
    ]
    handlers = {ValueError: _mendable, HTTPException: _http, RefusedError: _refused}
    return Starlette(routes=routes, exception_handlers=handlers)


Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


def _page(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")


def _static(name: str, kind: str) -> Endpoint:
    return _given(_page(name), kind)


def _given(content: str, kind: str) -> Endpoint:
    async def answer(request: Request) -> Response:
        return Response(content, media_type=kind)

    return answer


async def _mendable(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, status_code=400)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, status_code=error.status_code)


async def _refused(request: Request, error: Exception) -> Response:
    """A body that was too long or did not arrive: answered, and the connection closed."""
    assert isinstance(error, RefusedError)
    return Response(error.reason, status_code=error.status, headers={"connection": "close"})


class _Api:
    def __init__(self, session: LabelingSession, title: str, who: str) -> None:
        self.session, self.title, self.who = session, title, who
        self._n_listeners = 0

    # -- reading ----------------------------------------------------------------------------------------

    async def state(self, request: Request) -> Response:
        state = await run_in_threadpool(self.session.state)
        return JSONResponse(state | {"title": self.title, "who": self.who, "marks": N_CLASSES})

    async def map(self, request: Request) -> Response:
        xy = self.session.xy
        if xy is None:
            raise HTTPException(503, "the map is being drawn")
        return Response(xy.tobytes(), media_type="application/octet-stream")

    async def changes(self, request: Request) -> Response:
        since = _number(request.query_params.get("since", "0"), "since")
        version, packed = await run_in_threadpool(self.session.changes, since)
        return Response(packed, media_type="application/octet-stream", headers={"x-version": str(version)})

    async def next(self, request: Request) -> Response:
        asked = request.query_params
        found = await self._next(asked.get("client", ""), asked.get("how", "auto"), asked.get("label"))
        return JSONResponse(found)

    async def _next(self, client: str, how: str, label: str | None) -> JsonObject:
        if how not in ("auto", "margin", "random", "class"):
            raise ValueError(f"how needs one of auto, margin, random, class; got {how!r}")
        code = self._code(label) if how == "class" else None
        row = await run_in_threadpool(self.session.next_row, client[:100], how, code)
        return {"document": None if row is None else self.session.document(row)}

    def _code(self, label: str | None) -> int:
        if label not in self.session.classes:
            raise ValueError(f"label needs one of the classes; got {label!r}")
        return self.session.classes.index(label)

    async def document(self, request: Request) -> Response:
        row = self._row(request.path_params["row"])
        return JSONResponse(await run_in_threadpool(self.session.document, row))

    async def snippet(self, request: Request) -> Response:
        row = self._row(request.path_params["row"])
        return JSONResponse({"id": self.session.corpus.ids[row], "text": self.session.corpus.snippet(row)})

    async def why(self, request: Request) -> Response:
        row = self._row(request.path_params["row"])
        return JSONResponse(await run_in_threadpool(self.session.why, row))

    async def search(self, request: Request) -> Response:
        if self.session.search is None:
            raise HTTPException(503, "the index is being built")
        query = request.query_params.get("q", "")[:500]
        rows = await run_in_threadpool(self.session.search.find, query)
        return JSONResponse([self._listed(row) for row in rows])

    async def suspected_errors(self, request: Request) -> Response:
        now, classes = self.session.now, self.session.classes
        return JSONResponse(
            [
                self._listed(error.document) | {"instead": classes[error.instead], "share": error.confidence}
                for error in now.suspected_errors
                if self.session.codes[error.document] == error.given
            ]
        )

    def _listed(self, row: int) -> JsonObject:
        session = self.session
        code = int(session.codes[row])
        label = session.classes[code] if code >= 0 else None
        return {
            "row": row,
            "id": session.corpus.ids[row],
            "text": session.corpus.snippet(row),
            "label": label,
        }

    async def export(self, request: Request) -> Response:
        kind = request.query_params.get("format", "csv")
        if kind not in FORMATS:
            raise ValueError(f"format needs one of {', '.join(FORMATS)}; got {kind!r}")
        content = await run_in_threadpool(exported, self.session.store, kind)
        return Response(content, media_type="application/octet-stream")

    async def events(self, request: Request) -> Response:
        """Server-sent events: the number of every new version; a page fetches what changed."""
        if self._n_listeners >= MOST_LISTENERS:
            raise HTTPException(503, f"more than {MOST_LISTENERS} pages are open")
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[str]:
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        end = self.session.listen(lambda _: _tell(loop, news))
        self._n_listeners += 1
        try:
            while True:
                news.clear()
                yield f"data: {self.session.now.version}\n\n"
                try:
                    await asyncio.wait_for(news.wait(), BEAT)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._n_listeners -= 1
            end()

    # -- writing ----------------------------------------------------------------------------------------

    async def decide(self, request: Request) -> Response:
        """Written to the disk before this is answered; the answer brings the next document along."""
        asked = await _body(request)
        rows = asked.get("rows")
        if not isinstance(rows, list) or not rows or len(set(map(str, rows))) != len(rows):
            raise ValueError("a decision needs rows, a list of different numbers")
        rows = [self._row(row) for row in rows]
        kind, label = _word(asked, "kind"), asked.get("label")
        if label is not None and not isinstance(label, str):
            raise ValueError(f"label needs to be text; got {label!r}")
        if kind == "import":
            raise ValueError("a decision needs label, skip or unsure; got 'import'")
        number, who, how = _word(asked, "request"), self._who(asked), str(asked.get("how", ""))[:40]
        await run_in_threadpool(
            lambda: self.session.decide(number, kind, rows, who=who, label=label, how=how)
        )
        answer = {"done": True}
        if asked.get("next"):
            answer |= await self._next(_word(asked, "client"), str(asked["next"]), asked.get("of"))
        return JSONResponse(answer)

    async def undo(self, request: Request) -> Response:
        asked = await _body(request)
        rows = await run_in_threadpool(self.session.undo, _word(asked, "request"), self._who(asked))
        return JSONResponse({"rows": rows, "document": self.session.document(rows[0]) if rows else None})

    async def add_class(self, request: Request) -> Response:
        asked = await _body(request)
        await run_in_threadpool(self.session.add_class, _word(asked, "name"), self.who)
        return JSONResponse({"done": True})

    def _who(self, asked: JsonObject) -> str:
        name = asked.get("who")
        return name if isinstance(name, str) and name.strip() else self.who

    def _row(self, value: object) -> int:
        n = len(self.session.corpus.ids)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < n:
            raise ValueError(f"a row needs a number from 0 to {n - 1}; got {value!r:.40}")
        return value


def _tell(loop: asyncio.AbstractEventLoop, news: asyncio.Event) -> None:
    """From another thread; a loop that has ended wants no news."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(news.set)


async def _body(request: Request) -> JsonObject:
    if request.headers.get("content-type", "").split(";")[0] != "application/json":
        raise HTTPException(415, "a request needs the type application/json")
    try:
        asked = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise ValueError("a request needs JSON") from None
    if not isinstance(asked, dict):
        raise ValueError("a request needs a JSON object")
    return asked


def _word(asked: JsonObject, name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= 400:
        raise ValueError(f"{name} needs text of 1 to 400 characters; got {value!r:.40}")
    return value


def _number(text: str, name: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise ValueError(f"{name} needs a number; got {text!r:.40}")
    return int(text)
