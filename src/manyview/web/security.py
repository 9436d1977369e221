"""Who may ask the gallery for what. Everything passes through here before any route sees it.

The rules, and what they are for, are in SECURITY.md: an exact Host (a page that rebinds its name to this machine sends
its own), a secret that only a printed address carries, once (other people on this machine), Origin and Sec-Fetch-Site
for everything that changes something (other pages in the same browser), limits on what is read, and headers on every
answer. Pure ASGI, so that errors of the application are answered with the same headers.
"""

from __future__ import annotations

import asyncio
import hmac
import html
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

__all__ = ["HEADERS", "Access", "Guard"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
RawHeaders = list[tuple[bytes, bytes]]

HEADERS: dict[str, str] = {
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; media-src 'self'; script-src 'self'; "
    "style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""On every answer, errors included."""

_ARRIVED = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=/">
<title>manyview</title>
<p><a href="/">Open the gallery</a></p>
</html>
"""
"""Leads on to the gallery. Who comes from another site, as a file is one, and is sent on by a redirect, would still
count as coming from there: the browser would keep the cookie to itself."""

_REFUSED = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>manyview</title>
<h1>manyview</h1>
<p>{}</p>
</html>
"""
"""For a person who opened an address; programs are answered in JSON."""

LARGEST_HEADERS = 16 * 1024
MOST_HEADERS = 100
LARGEST_BODY = 8 * 2**20
BODY_SECONDS = 20.0
_OVERRIDES = frozenset({b"x-http-method-override", b"x-http-method", b"x-method-override"})
_LOOKING = ("GET", "HEAD")
_MOST_TOKENS = 50


class Access:
    """The names this server answers to, and the secrets of this start."""

    def __init__(self, hosts: Iterable[str], port: int) -> None:
        self.port = port
        self.hosts = frozenset(f"{host}:{port}".lower() for host in hosts)
        self.origins = frozenset(f"http://{host}" for host in self.hosts)
        self._open: dict[str, Callable[[], object]] = {}
        self.cookie = secrets.token_hex(16)
        self.cookie_name = f"manyview-{port}"  # cookies know no ports, so two galleries would share one name

    def new_token(self, used: Callable[[], object] = lambda: None) -> str:
        """A secret for one more address, good for one exchange; ``used`` is called when that happens."""
        token = secrets.token_hex(16)
        self._open[token] = used
        for oldest in list(self._open)[:-_MOST_TOKENS]:
            del self._open[oldest]
        return token

    def exchange(self, query: bytes) -> bool:
        """Does the address carry a secret that nobody has used? From now on it is used."""
        given = _token(query).encode()
        for token in list(self._open):
            if hmac.compare_digest(given, token.encode()) and (used := self._open.pop(token, None)):
                used()
                return True
        return False

    def has_cookie(self, headers: RawHeaders) -> bool:
        """Does the request carry the secret that the printed one was swapped for?"""
        wanted = self.cookie_name.encode()
        for name, value in headers:
            if name == b"cookie":
                for part in value.split(b";"):
                    key, _, secret = part.strip().partition(b"=")
                    if key == wanted and hmac.compare_digest(secret, self.cookie.encode()):
                        return True
        return False

    def set_cookie(self) -> str:
        return f"{self.cookie_name}={self.cookie}; HttpOnly; SameSite=Strict; Path=/"


class Refusal(Exception):
    """A request that is not let through: status, sentence, and whether the connection ends with it."""

    def __init__(self, status: int, sentence: str, *, close: bool = False) -> None:
        self.status, self.sentence, self.close = status, sentence, close


class Guard:
    """Lets through what the rules allow and puts the headers on everything that leaves."""

    def __init__(self, app: App, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # there are none
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sealed = _with_headers(send)
        try:
            self._check_place(scope["headers"])
            if self._is_entrance(scope):
                await self._let_in(sealed, _only(scope["headers"], b"sec-fetch-site"))
                return
            self._check_secret(scope)
            self._check_intent(scope["method"], scope["headers"], scope["path"])
            if scope["method"] not in _LOOKING:
                receive = _whole_body(await _read_body(scope["headers"], receive), receive)
        except Refusal as refusal:
            extra = [("Connection", "close")] if refusal.close else []
            if refusal.status == 405:
                extra.append(("Allow", "GET, POST"))
            if _only(scope["headers"], b"sec-fetch-mode") == "navigate":
                sentence = refusal.sentence[0].upper() + refusal.sentence[1:]
                kind, body = "text/html; charset=utf-8", _REFUSED.format(html.escape(sentence)).encode()
            else:
                kind, body = "application/json", json.dumps({"error": refusal.sentence, "hint": None}).encode()
            await _answer(sealed, refusal.status, body, [("Content-Type", kind), *extra])
            return
        await self.app(scope, receive, sealed)

    def _check_place(self, headers: RawHeaders) -> None:
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0].decode("latin-1").lower() not in self.access.hosts:
            raise Refusal(421, "this server does not answer to that name.")
        if len(headers) > MOST_HEADERS or sum(len(name) + len(value) for name, value in headers) > LARGEST_HEADERS:
            raise Refusal(431, "the headers of the request are too long.", close=True)
        if any(name in _OVERRIDES for name, _ in headers):
            raise Refusal(400, "method-override headers are not accepted.")

    def _is_entrance(self, scope: MutableMapping[str, Any]) -> bool:
        return (
            scope["method"] == "GET" and scope["path"] == "/" and self.access.exchange(scope.get("query_string", b""))
        )

    async def _let_in(self, send: Send, site: str | None) -> None:
        cookie = ("Set-Cookie", self.access.set_cookie())
        if site in ("none", "same-origin"):
            await _answer(send, 303, b"", [("Location", "/"), cookie])
        else:
            await _answer(send, 200, _ARRIVED, [("Content-Type", "text/html; charset=utf-8"), cookie])

    def _check_secret(self, scope: MutableMapping[str, Any]) -> None:
        if self.access.has_cookie(scope["headers"]):
            return
        another = "press Enter in the terminal where `manyview serve` runs, and open the address that it prints."
        if _token(scope.get("query_string", b"")):
            raise Refusal(401, f"this address has been used, or belongs to an earlier start: {another}")
        raise Refusal(401, f"this browser has not been let in, or has forgotten it: {another}")

    def _check_intent(self, method: str, headers: RawHeaders, path: str) -> None:
        site, origin = _only(headers, b"sec-fetch-site"), _only(headers, b"origin")
        if method in _LOOKING:
            arriving = path == "/" and _only(headers, b"sec-fetch-mode") == "navigate"
            if site in ("cross-site", "same-site") and not arriving:
                raise Refusal(403, "another page asked for this.")
            return
        if method != "POST":
            raise Refusal(405, "this server answers only GET and POST.")
        if site not in ("same-origin", "none") or origin not in self.access.origins:
            raise Refusal(403, "only the gallery's own page may change something.")
        if (_only(headers, b"content-type") or "").partition(";")[0].strip().lower() != "application/json":
            raise Refusal(415, "changes must be sent as JSON: Content-Type: application/json.")


def _token(query: bytes) -> str:
    """The secret that an address carries, or nothing."""
    try:
        return dict(parse_qsl(query.decode("latin-1"), max_num_fields=20)).get("token", "")
    except ValueError:  # more fields than that
        return ""


def _only(headers: RawHeaders, wanted: bytes) -> str | None:
    """The value of a header that is there once; twice is as good as wrong."""
    found = [value.decode("latin-1") for name, value in headers if name == wanted]
    return found[0] if len(found) == 1 else None


async def _read_body(headers: RawHeaders, receive: Receive) -> bytes:
    """The body, unless it is too long or too slow."""
    length = _only(headers, b"content-length")
    too_long = Refusal(413, f"a request may have {LARGEST_BODY >> 20} MB at most.", close=True)
    if length is not None and length.isdecimal() and int(length[:15]) > LARGEST_BODY:
        raise too_long
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refusal(400, "the request ended too early.", close=True)
                body += message.get("body", b"")
                if len(body) > LARGEST_BODY:
                    raise too_long
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise Refusal(408, "the request took too long to arrive.", close=True) from None


def _whole_body(body: bytes, receive: Receive) -> Receive:
    given = False

    async def whole() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return whole


def _with_headers(send: Send) -> Send:
    ours = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
    names = {name for name, _ in ours}

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in names]
            if not any(name.lower() == b"cache-control" for name, _ in kept):
                kept.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*kept, *ours]}
        await send(message)

    return sealed


async def _answer(send: Send, status: int, body: bytes, headers: Iterable[tuple[str, str]]) -> None:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    raw.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
