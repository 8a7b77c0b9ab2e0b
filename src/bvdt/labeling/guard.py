"""Who may ask: the right token, host and origin, in time and of bounded size; and what pages may do.

A page of another site in the same browser can send requests here. It cannot read this address's token, which
stands behind the # of the address and is sent as a header of its own; a name that is rebound to this machine
arrives with its own Host; a form of another site with its own Origin. Each of the three is refused alone.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

LARGEST = 1 << 20  # bytes of a request's body
SECONDS = 15.0  # for a request's body to arrive

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]


class RefusedError(Exception):
    """A request that is not answered, with the status and one sentence."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass(frozen=True)
class Guard:
    """ASGI middleware around the app."""

    app: Callable[[Scope, Receive, Send], Awaitable[None]]
    token: str
    hosts: frozenset[str]  # values of Host, port included
    codes: list[str] = field(default_factory=list)  # each is given the token for, once

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        begun = False

        async def sending(message: Scope) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                kept = [(k, v) for k, v in message.get("headers", []) if k.decode().lower() not in HEADERS]
                message["headers"] = kept + [(k.encode(), v.encode()) for k, v in HEADERS.items()]
            await send(message)

        try:
            self._check(scope)
            if scope["path"] == "/token":
                return await _answer(sending, 200, self._exchanged(scope))
            await self.app(scope, _bounded(receive), sending)
        except RefusedError as refused:
            if not begun:
                await _refuse(sending, refused)
        return None

    def _check(self, scope: Scope) -> None:
        if scope["type"] != "http":
            raise RefusedError(400, "only plain requests are answered")
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key = name.decode("latin-1").lower()
            if key in ("host", "origin", "x-bvdt-token") and key in headers:
                raise RefusedError(400, f"one {key} is needed, not two")
            headers[key] = value.decode("latin-1")
        host = headers.get("host", "")
        if host not in self.hosts:
            raise RefusedError(421, "this address is not served under that name")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            raise RefusedError(403, "requests of other sites are refused")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and scope["path"] != "/":
            raise RefusedError(403, "requests of other sites are refused")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > LARGEST:
            raise RefusedError(413, f"a request needs at most {LARGEST} bytes")
        if scope["path"].startswith("/api/"):
            given = headers.get("x-bvdt-token", "")
            if not hmac.compare_digest(given.encode(), self.token.encode()):
                raise RefusedError(
                    401, "the token of the address is needed; open the address that was printed"
                )

    def _exchanged(self, scope: Scope) -> str:
        """The token for a code that was not used yet."""
        given = b"".join(value for name, value in scope["headers"] if name.lower() == b"x-bvdt-once")
        for code in self.codes:
            if hmac.compare_digest(given, code.encode()):
                self.codes.remove(code)
                return self.token
        raise RefusedError(401, "this address has served already; open the address that was printed")


def _bounded(receive: Receive) -> Receive:
    """The body, in time and not too much of it, whatever its head says."""
    total, ended = 0, False

    async def bounded() -> Scope:
        nonlocal total, ended
        if ended:  # only whether the client has gone is of interest now
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), SECONDS)
        except TimeoutError:
            raise RefusedError(408, f"the request did not arrive within {SECONDS:g} s") from None
        total += len(message.get("body", b""))
        ended = not message.get("more_body", False)
        if total > LARGEST:
            raise RefusedError(413, f"a request needs at most {LARGEST} bytes")
        return message

    return bounded


async def _refuse(send: Send, refused: RefusedError) -> None:
    await _answer(send, refused.status, refused.reason, (b"connection", b"close"))


async def _answer(send: Send, status: int, text: str, *more: tuple[bytes, bytes]) -> None:
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
