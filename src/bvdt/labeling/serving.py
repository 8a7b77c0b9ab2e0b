"""The server: uvicorn on one address, which does not wait for ever for anyone."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Awaitable, Callable

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from .guard import SECONDS, Guard

MOST_CONNECTIONS = 1000
BACKLOG = 512


class Impatient(H11Protocol):
    """HTTP whose head has to be complete within some seconds, from the first byte or the connection on."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._patience = self.loop.call_later(SECONDS, self._give_up)

    def data_received(self, data: bytes) -> None:
        if self._patience is None and self.cycle is None:
            self._patience = self.loop.call_later(SECONDS, self._give_up)
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._calm()

    def connection_lost(self, exc: Exception | None) -> None:
        self._calm()
        super().connection_lost(exc)

    def _calm(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self._patience = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


def new_token() -> str:
    """128 random bits, for the address."""
    return secrets.token_urlsafe(16)


def bind(host: str, port: int | None) -> socket.socket:
    """A listening socket; without a port any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port or 0))
        listening.listen(BACKLOG)  # now: whoever reads the address may connect before the server runs
    except OSError as error:
        listening.close()
        reason = error.strerror or str(error)
        raise ValueError(f"--host {host} --port {port or 'any'} cannot be listened on: {reason}") from None
    return listening


def names_of(host: str, port: int) -> frozenset[str]:
    """Values of Host that are answered: the address itself, and this machine's own names for it."""
    shown = f"[{host}]" if ":" in host else host
    names = {shown}
    if host in ("127.0.0.1", "::1", "localhost"):
        names |= {"127.0.0.1", "localhost", "[::1]"}
    if host in ("0.0.0.0", "::"):
        names |= {"127.0.0.1", "localhost", "[::1]", socket.gethostname(), *_own_addresses()}
    return frozenset(f"{name}:{port}" for name in names)


def _own_addresses() -> set[str]:
    try:
        found = socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        return set()
    return {f"[{a[4][0]}]" if ":" in str(a[4][0]) else str(a[4][0]) for a in found}


class Server:
    """Runs the app until it is stopped."""

    def __init__(
        self, app: Callable[..., Awaitable[None]], listening: socket.socket, token: str, host: str
    ) -> None:
        self._listening = listening
        port = listening.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else shown
        self._page = f"http://{shown}:{port}/"
        self.address = f"{self._page}#{token}"
        self._guard = Guard(app, token, names_of(host, port))
        config = uvicorn.Config(
            self._guard,
            http=Impatient,
            ws="none",
            lifespan="off",
            access_log=False,
            log_level="critical",
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            backlog=BACKLOG,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=1 << 16,
        )
        self._server = uvicorn.Server(config)

    def address_for_once(self) -> str:
        """An address that serves once, for a browser's command line, which others here can read."""
        code = f"once-{new_token()}"
        self._guard.codes.append(code)
        return f"{self._page}#{code}"

    def run(self) -> None:
        """Until Ctrl-C or ``stop``."""
        self._server.run(sockets=[self._listening])

    def stop(self) -> None:
        self._server.should_exit = True
