"""Starting the server: its socket, its addresses with the secret, and a protocol that does not wait for ever."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import OldFormat, ParameterError
from ..workflow.collection import Collection
from .app import guarded
from .gallery import Gallery
from .invitation import Invitation
from .security import HEADERS, LARGEST_HEADERS, Access

__all__ = ["PORT", "Serving", "bind"]

PORT = 8765
_LOOPBACK = ("127.0.0.1", "localhost")
_MOST_CONNECTIONS = 200
_HEADER_SECONDS = 10.0
_READER_SECONDS = 30.0
"""How long an answer that does not fit into the buffers may wait to be read."""


class _Protocol(H11Protocol):
    """HTTP for a few honest browsers: requests arrive and answers are read in time; refusals carry the headers."""

    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    # Uvicorn promises a narrower transport than asyncio does.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > _MOST_CONNECTIONS:
            transport.abort()
            return
        self._deadline = self.loop.call_later(_HEADER_SECONDS, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        self._read_on()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(_READER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._read_on()
        super().resume_writing()

    def _read_on(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._arrived()
        elif self._deadline is None and not self.transport.is_closing():  # the beginning of another request
            self._deadline = self.loop.call_later(_HEADER_SECONDS, self.transport.abort)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._arrived()

    def _arrived(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):  # an answer is on its way already
            self.transport.close()
            return
        body = b'{"error": "this is not HTTP, or its headers are too long.", "hint": null}'
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            (b"cache-control", b"no-store"),
            *((name.lower().encode(), value.encode()) for name, value in HEADERS.items()),
        ]
        for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def bind(host: str, port: int | None) -> socket.socket:
    """A socket on that address. Without a port the usual one, or any free one where that is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last: OSError | None = None
    for number in (PORT, 0) if port is None else (port,):
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio lets answers wait
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, number))
            return found
        except OSError as error:
            found.close()
            last = error
    raise ParameterError(
        f"cannot serve on {host}, port {port or PORT}: {last and last.strerror}. Choose another --port."
    )


class Serving:
    """A gallery with its socket: ``new_address`` lets one browser in, ``run`` serves until it is told to stop."""

    def __init__(self, path: Path, *, host: str = "127.0.0.1", port: int | None = None) -> None:
        _check(path)
        from ..workflow import undo  # noqa: F401  so that no request waits for them
        from ..workflow.clusters import edits  # noqa: F401  so that no request waits for them
        from ..workflow.proposing import decide, suggest  # noqa: F401  so that no request waits for them
        from ..workflow.reading import explain  # noqa: F401  so that no request waits for them

        self.socket = bind(host, port)
        self.port: int = self.socket.getsockname()[1]
        self.is_local = host in (*_LOOPBACK, "::1")
        self.access = Access(_names(host), self.port)
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104  compared, not bound
        self._base = f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}/"
        self._invitations: list[Invitation] = []
        self.gallery = Gallery(path)
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # strangers' nonsense is no news
        self._app = guarded(self.gallery, self.access)
        self._server = uvicorn.Server(
            uvicorn.Config(
                self._app,
                http=_Protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                h11_max_incomplete_event_size=LARGEST_HEADERS,
                timeout_keep_alive=20,
                timeout_graceful_shutdown=3,
            )
        )

    def new_address(self, used: Callable[[], object] = lambda: None) -> str:
        """An address that lets one browser in, once; ``used`` is called when it does."""
        return f"{self._base}?token={self.access.new_token(used)}"

    def invite(self) -> Invitation:
        """A file that leads a browser to such an address; it goes when it was used, or with the gallery."""
        invitation = Invitation(self.new_address(lambda: invitation.remove()))
        self._invitations.append(invitation)
        return invitation

    def run(self, ready: Callable[[], Any] | None = None) -> None:
        """Serve until Ctrl-C or ``stop``; ``ready`` is called when the first request can come."""
        try:
            asyncio.run(self._run(ready))
        finally:
            self.socket.close()
            self.gallery.close()
            for invitation in self._invitations:
                invitation.remove()

    async def _run(self, ready: Callable[[], Any] | None) -> None:
        serving = asyncio.ensure_future(self._server.serve(sockets=[self.socket]))
        while not self._server.started and not serving.done():
            await asyncio.sleep(0.01)
        if ready is not None and not serving.done():
            await self._warm()
            ready()
        await serving

    async def _warm(self) -> None:
        """Warm up: request the first screen once at start, so that no visitor pays for lazy set-up."""
        await self.gallery.warm()
        secret = f"{self.access.cookie_name}={self.access.cookie}".encode()
        host = next(iter(self.access.hosts)).encode()

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def nobody(_: Any) -> None:
            return None

        for path in ("/", "/api/state", "/api/clusters", "/thumbs/1"):
            scope: dict[str, Any] = {
                "type": "http",
                "http_version": "1.1",
                "method": "GET",
                "scheme": "http",
                "path": path,
            }
            scope |= {"raw_path": path.encode(), "query_string": b"", "headers": [(b"host", host), (b"cookie", secret)]}
            await self._app(scope, receive, nobody)

    def stop(self) -> None:
        """End ``run`` from another thread."""
        self._server.should_exit = True


def _check(path: Path) -> None:
    """Say what is wrong before anything is started; a collection of an older format becomes one of this."""
    try:
        Collection.open(path).close()
    except OldFormat:
        Collection.open(path, write=True).close()


def _names(host: str) -> set[str]:
    """The names by which a browser may ask for this server."""
    names = {f"[{host}]" if ":" in host else host}
    if host in (*_LOOPBACK, "0.0.0.0", "::1", "::"):  # noqa: S104  compared, not bound
        names |= set(_LOOPBACK)
    if host in ("0.0.0.0", "::"):  # noqa: S104  compared, not bound
        names |= {socket.gethostname(), socket.getfqdn()}
        names |= {str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    return names
