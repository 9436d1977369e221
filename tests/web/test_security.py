"""Who is let in, and what leaves: the rules of SECURITY.md on every route that the application has."""

import asyncio
import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.routing import APIRoute

from manyview.web.app import STATIC, build_app
from manyview.web.security import HEADERS

from .made import HOST, ORIGIN, OURS

PORT = HOST.partition(":")[2]


def all_routes():
    """Every route of the application, with numbers where its address has gaps; new ones come by themselves."""
    found = []
    for route in _flat(build_app().routes):
        for method in sorted(route.methods):
            address = route.path
            for name in route.param_convertors:
                address = address.replace(f"{{{name}}}", "1").replace(f"{{{name}:path}}", "assets/none.js")
            found.append((method, address))
    return sorted(set(found))


def _flat(routes):
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        elif inner := getattr(route, "original_router", route if hasattr(route, "routes") else None):
            yield from _flat(inner.routes)


ROUTES = all_routes()
PAGES = {("GET", "/"), ("GET", "/assets/none.js")}
CHANGING = [address for method, address in ROUTES if method == "POST"]
BODIES = {
    "/api/decisions": {"pairs": [{"item": 1, "tag": "red"}], "answer": True},
    "/api/decisions/steps": {"steps": [{"pairs": [{"item": 1, "tag": "red"}], "answer": True}]},
    "/api/decisions/line": {"probability": 0.5},
    "/api/audit": {"share": 0.8},
    "/api/audit/1/answer": {"item": 1, "tag": "red", "answer": True},
    "/api/audit/1/back": {},
    "/api/audit/1/accept": {},
    "/api/tags": {"items": [1], "tag": "x", "answer": True},
    "/api/clusters/merge": {"clusters": [1, 2]},
    "/api/clusters/level": {"to": "coarser"},
    "/api/clusters/1/rename": {"name": "x"},
    "/api/clusters/1/tag": {"tag": "x", "items": [1]},
    "/api/clusters/1/pin": {"pinned": True},
    "/api/clusters/1/split": {"n": 2},
    "/api/items/move": {"items": [1], "cluster": 2},
    "/api/links": {"first": 1, "second": 2, "together": True},
    "/api/vocabulary": {"action": "rename", "words": ["red", "Red"]},
    "/api/vocabulary/preview": {"action": "retire", "words": ["red"]},
    "/api/duplicates/mark": {"tag": "copy"},
    "/api/undo": {},
    "/api/runs/1/delete": {},
    "/api/jobs": {"kind": "fit", "settings": {}},
    "/api/jobs/1/cancel": {},
}


def check_headers(answer):
    for name, value in HEADERS.items():
        assert answer.headers.get(name) == value, f"{name} on {answer.url}"
    assert "access-control-allow-origin" not in answer.headers
    assert "server" not in answer.headers


def test_the_list_of_routes_is_whole():
    assert len(ROUTES) >= 35 and set(CHANGING) == set(BODIES)
    assert {method for method, _ in ROUTES} == {"GET", "POST"}


# --- the secret ---


@pytest.mark.parametrize(("method", "address"), ROUTES)
def test_nothing_without_the_secret(seen, method, address):
    kept = dict(seen.cookies)
    seen.cookies.clear()
    try:
        name, right = seen.access.cookie_name, seen.access.cookie
        for cookies in ({}, {name: "0" * 32}, {"manyview-1": right}, {"token": seen.access.new_token()}):
            header = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())} if cookies else {}
            answer = seen.request(method, address, headers={**OURS, **header}, json=BODIES.get(address))
            assert answer.status_code == 401 and "error" in answer.json()
            check_headers(answer)
        for other in ("HEAD", "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
            answer = seen.request(other, address, headers=OURS, json=BODIES.get(address))
            assert answer.status_code == 401
            check_headers(answer)
    finally:
        seen.cookies.update(kept)


def test_no_file_of_the_pages_without_the_secret_and_none_with_it_inside(seen):
    files = ["/", *(f"/{path.relative_to(STATIC).as_posix()}" for path in STATIC.rglob("*") if path.is_file())]
    assert len(files) > 3
    for address in [*files, *(address for method, address in ROUTES if method == "GET")]:
        answer = call(seen.app_, "GET", address, [(b"host", HOST.encode())])
        assert answer["status"] == 401 and not any(name == b"set-cookie" for name in answer["headers"])
        shown = seen.get(address)
        assert shown.status_code == 200 or address not in files
        for secret in (*seen.access._open, seen.access.cookie):
            assert secret not in f"{shown.text}{shown.headers}"


@pytest.mark.parametrize(
    "query",
    [
        b"&" * 1000,
        b"&".join(b"a%d=1" % n for n in range(1000)),
        b"token",
        b"token=",
        b"token=%ff%fe%00",
        b"token=\xff\xfe",
        b"token[]=1",
        b"=" * 1000,
        b"%" * 1000,
        b";" * 1000,
        b"\xed\xa0\x80",
    ],
)
def test_odd_questions_at_the_entrance(seen, query):
    for address in ("/", "/api/state"):
        answer = call(seen.app_, "GET", address, [(b"host", HOST.encode())], query)
        assert answer["status"] == 401 and b"set-cookie" not in answer["headers"]
        assert all(answer["headers"][name.lower().encode()] == value.encode() for name, value in HEADERS.items())


def test_a_printed_address_is_swapped_for_a_cookie_once(seen):
    kept = dict(seen.cookies)
    seen.cookies.clear()
    try:
        for site, status in (("none", 303), ("cross-site", 200), (None, 200)):
            token = seen.access.new_token()
            assert len(token) == 32  # 128 bits
            headers = {"Sec-Fetch-Site": site} if site else {}
            answer = seen.get(f"/?token={token}", headers=headers)
            assert answer.status_code == status
            assert answer.headers["location"] == "/" if status == 303 else 'content="0; url=/"' in answer.text
            cookie = answer.headers["set-cookie"]
            assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
            assert token not in cookie and token not in answer.text
            check_headers(answer)
            assert seen.get("/api/state").status_code == 200  # the cookie of the answer was kept
            seen.cookies.clear()
            again = seen.get(f"/?token={token}", headers=headers)
            assert again.status_code == 401 and "has been used" in again.json()["error"]
            assert "set-cookie" not in again.headers
    finally:
        seen.cookies.clear()
        seen.cookies.update(kept)


def test_a_wrong_secret_opens_nothing_and_uses_nothing(seen):
    kept = dict(seen.cookies)
    seen.cookies.clear()
    try:
        used = []
        token = seen.access.new_token(lambda: used.append(1))
        for wrong in ("0" * 32, "", token[:-1], token + "0", token.upper(), seen.access.cookie):
            if wrong != token:
                assert seen.get(f"/?token={wrong}").status_code == 401
        assert seen.get(f"/api/state?token={token}").status_code == 401  # only at the entrance
        assert seen.post(f"/?token={token}", headers=OURS, json={}).status_code == 401
        assert seen.request("HEAD", f"/?token={token}").status_code == 401
        assert not used
        assert seen.get(f"/?token={token}").status_code == 200 and used == [1]
    finally:
        seen.cookies.clear()
        seen.cookies.update(kept)


def test_addresses_that_nobody_used_do_not_pile_up(seen):
    first = seen.access.new_token()
    later = [seen.access.new_token() for _ in range(60)]
    assert len(seen.access._open) == 50 and first not in seen.access._open
    assert seen.access.exchange(f"token={later[-1]}".encode()) and not seen.access.exchange(f"token={first}".encode())


# --- Host ---

BAD_HOSTS = [
    "",
    "127.0.0.1",
    "localhost",
    "127.0.0.1:80",
    f"127.0.0.1:{PORT}0",
    f"127.0.0.1:0{PORT}",
    f"127.0.0.1:+{PORT}",
    f"127.0.0.1: {PORT}",
    f"127.0.0.1.:{PORT}",
    f"127.0.0.2:{PORT}",
    f"127.1:{PORT}",
    f"0.0.0.0:{PORT}",
    f"[::1]:{PORT}",
    f"[::ffff:127.0.0.1]:{PORT}",
    f"2130706433:{PORT}",
    f"0x7f000001:{PORT}",
    f"017700000001:{PORT}",
    f"evil.example:{PORT}",
    "evil.example",
    f"127.0.0.1.evil.example:{PORT}",
    f"localhost.evil.example:{PORT}",
    f"evil.example#127.0.0.1:{PORT}",
    f"127.0.0.1:{PORT}@evil.example",
    f"evil.example@127.0.0.1:{PORT}",
    f"127.0.0.1:{PORT}.evil.example",
    f"127.0.0.1:{PORT}/",
    f"127.0.0.1:{PORT},evil.example",
    f"http://127.0.0.1:{PORT}",
    f"localhost.:{PORT}",
    f"127.0.0.1:{PORT}\t",
    f"\xb9127.0.0.1:{PORT}",
    f"*:{PORT}",
]


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_other_hosts_are_refused(seen, host):
    assert len(BAD_HOSTS) >= 30
    for method, address in (("GET", "/"), ("GET", "/api/state"), ("POST", "/api/undo"), ("GET", "/thumbs/1")):
        answer = call(seen.app_, method, address, [(b"host", host.encode("latin-1")), *secrets(seen)])
        assert answer["status"] == 421 and answer["headers"][b"content-security-policy"]
    token = seen.access.new_token()
    entrance = call(seen.app_, "GET", "/", [(b"host", host.encode("latin-1"))], f"token={token}".encode())
    assert entrance["status"] == 421 and b"set-cookie" not in entrance["headers"]


def test_two_hosts_or_none_are_refused(seen):
    ours = (b"host", HOST.encode())
    for hosts in ([], [ours, ours], [ours, (b"host", b"evil.example")]):
        assert call(seen.app_, "GET", "/api/state", [*hosts, *secrets(seen)])["status"] == 421
    assert call(seen.app_, "GET", "/api/state", [ours, *secrets(seen)])["status"] == 200
    loud = (b"host", f"LOCALHOST:{PORT}".encode())
    assert call(seen.app_, "GET", "/api/state", [loud, *secrets(seen)])["status"] == 200


@pytest.mark.parametrize("host", [HOST, *BAD_HOSTS])
def test_there_are_no_web_sockets(seen, host):
    sent = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    headers = [(b"host", host.encode("latin-1")), *secrets(seen)]
    _run(seen.app_, {"type": "websocket", "path": "/api/state", "headers": headers}, receive, send)
    assert [message["type"] for message in sent] == ["websocket.close"]


def secrets(seen):
    return [(b"cookie", f"{seen.access.cookie_name}={seen.access.cookie}".encode())]


def call(app, method, address, headers, query=b"", body=b""):
    """The application called with raw headers, as no honest client would send them."""
    found = {"status": 0, "headers": {}, "body": b""}
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        return messages.pop() if messages else await asyncio.Event().wait()

    async def send(message):
        if message["type"] == "http.response.start":
            found["status"], found["headers"] = message["status"], dict(message["headers"])
        else:
            found["body"] += message.get("body", b"")

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": address,
        "raw_path": address.encode("latin-1", "replace"),
        "query_string": query,
        "headers": headers,
        "scheme": "http",
        "server": ("127.0.0.1", int(PORT)),
        "client": ("127.0.0.1", 1),
        "root_path": "",
    }
    _run(app, scope, receive, send)
    return found


def _run(app, *given):
    """In a thread of its own: a browser that was started for other tests keeps this one's loop."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(app(*given))).result()


# --- who asks for a change ---

JSON = {"Content-Type": "application/json"}
OVERRIDES = ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override")
FORGED = {
    "from another site": {**JSON, "Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"},
    "from another site, our Origin": {**JSON, "Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"},
    "from another port": {**JSON, "Origin": "http://127.0.0.1:9999", "Sec-Fetch-Site": "same-site"},
    "same site, our Origin": {**JSON, "Origin": ORIGIN, "Sec-Fetch-Site": "same-site"},
    "null Origin": {**JSON, "Origin": "null", "Sec-Fetch-Site": "same-origin"},
    "no Origin": {**JSON, "Sec-Fetch-Site": "same-origin"},
    "no Sec-Fetch-Site": {**JSON, "Origin": ORIGIN},
    "neither": {**JSON},
    "malformed port": {**JSON, "Origin": "http://127.0.0.1:8765x", "Sec-Fetch-Site": "same-origin"},
    "no port": {**JSON, "Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"},
    "https": {**JSON, "Origin": "https://127.0.0.1:8765", "Sec-Fetch-Site": "same-origin"},
    "Origin with a path": {**JSON, "Origin": f"{ORIGIN}/", "Sec-Fetch-Site": "same-origin"},
    "rebound name": {**JSON, "Origin": "http://evil.example:8765", "Sec-Fetch-Site": "same-origin"},
    "text": {"Content-Type": "text/plain", **OURS},
    "form": {"Content-Type": "application/x-www-form-urlencoded", **OURS},
    "parts": {"Content-Type": "multipart/form-data; boundary=x", **OURS},
    "no type": {"Content-Type": "", **OURS},
    "text that mentions JSON": {"Content-Type": "text/plain; application/json", **OURS},
    **{f"method override by {name}": {**JSON, **OURS, name: "GET"} for name in OVERRIDES},
}


READ_TOO = ("/api/tags", "/api/audit", "/api/vocabulary", "/api/clusters/1/tag")
"""Addresses that can also be read."""


@pytest.mark.parametrize("address", CHANGING)
def test_forged_changes_are_refused(seen, address):
    before = seen.get("/api/state").json()["version"]
    body = json.dumps(BODIES[address])
    for why, headers in FORGED.items():
        answer = seen.post(address, content=body, headers=headers)
        assert answer.status_code in (400, 403, 415), f"{why}: {answer.status_code}"
        check_headers(answer)
    for name in ("Origin", "Sec-Fetch-Site", "Content-Type"):  # said twice, once rightly
        right = [(key.lower().encode(), value.encode()) for key, value in {**OURS, **JSON}.items()]
        twice = [*right, (name.lower().encode(), {**OURS, **JSON}[name].encode())]
        answer = call(
            seen.app_, "POST", address, [(b"host", HOST.encode()), *secrets(seen), *twice], body=body.encode()
        )
        assert answer["status"] in (403, 415), name
    for name, meant in itertools.product(OVERRIDES, ("POST", "PUT", "DELETE")):
        answer = seen.get(address, headers={**OURS, **JSON, name: meant})
        assert answer.status_code == 400, name
        check_headers(answer)
    others = ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
    for method, headers in itertools.product(others, ({}, OURS)):
        answer = seen.request(method, f"{address}?_method=POST", headers={**headers, **JSON}, content=body)
        is_a_page = method == "GET" and address in READ_TOO
        assert answer.status_code in ((200,) if is_a_page else (403, 404, 405, 422)), f"{method}: {answer.status_code}"
        check_headers(answer)
    after = seen.get("/api/state").json()
    assert after["version"] == before and after["jobs"] == []


@pytest.mark.parametrize(("method", "address"), [pair for pair in ROUTES if pair[0] == "GET"])
def test_looking_changes_nothing_and_is_for_our_pages(seen, method, address):
    before = seen.get("/api/state").json()["version"]
    for site in ("same-origin", "none", "cross-site", "same-site"):
        answer = seen.get(address, headers={"Sec-Fetch-Site": site})
        assert answer.status_code != 500 and (answer.status_code == 403) == (site in ("cross-site", "same-site"))
        check_headers(answer)
    assert seen.get("/api/state").json()["version"] == before


def test_a_link_from_elsewhere_may_lead_to_the_start(seen):
    arriving = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert seen.get("/", headers=arriving).status_code == 200
    assert seen.get("/api/state", headers=arriving).status_code == 403


# --- headers on errors ---


def test_errors_carry_the_headers(client, monkeypatch):
    def broken(*_args, **_options):
        raise RuntimeError("<script>")

    for address, status in (("/api/items?limit=0", 422), ("/api/items/99999", 404), ("/x", 404), ("/api/undo", 404)):
        answer = client.get(address)
        assert answer.status_code == status and "error" in answer.json()
        check_headers(answer)
    monkeypatch.setattr(client.gallery, "read", broken)
    answer = client.get("/api/state")
    assert answer.status_code == 500 and "<script>" not in answer.text
    check_headers(answer)


def test_long_bodies_are_refused(client):
    answer = client.post("/api/undo", content=b" " * (9 * 2**20), headers={**OURS, **JSON})
    assert answer.status_code == 413
    check_headers(answer)
    for content in (b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"entry": NaN}', b'{"entry": 1e400}', b"[" * 100_000):
        answer = client.post("/api/undo", content=content, headers={**OURS, **JSON})
        assert answer.status_code in (400, 422), content[:10]
        check_headers(answer)


def test_a_person_is_answered_with_a_page_and_a_program_with_json(seen):
    kept = dict(seen.cookies)
    seen.cookies.clear()
    try:
        for mode, kind in (("navigate", "text/html; charset=utf-8"), ("cors", "application/json")):
            answer = seen.get("/?token=0", headers={"Sec-Fetch-Mode": mode})
            assert answer.status_code == 401 and answer.headers["content-type"] == kind
            assert "has been used" in answer.text and ("<p>This address" in answer.text) == (mode == "navigate")
            check_headers(answer)
    finally:
        seen.cookies.update(kept)
