"""A page of another name that points to this machine, in a real browser."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from .test_server import serving


@pytest.fixture
def rebound(launch):
    """A browser that takes every name for this machine, as after a rebinding of DNS."""
    browser = launch("--host-resolver-rules=MAP evil.example 127.0.0.1")
    yield browser
    browser.close()


class _Evil(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<!doctype html><title>evil</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ATTACK = """async (base) => {
    const found = [];
    const bodies = [['application/json', '{}'], ['text/plain', '{}']];
    for (const [type, body] of bodies) {
        try {
            const answer = await fetch(base + '/api/undo',
                {method: 'POST', body, headers: {'Content-Type': type}, credentials: 'include'});
            found.push(answer.status);
        } catch (error) { found.push('blocked'); }
    }
    try { found.push((await fetch(base + '/api/state', {credentials: 'include'})).status); }
    catch (error) { found.push('blocked'); }
    found.push(await new Promise((done) => {
        const picture = new Image();
        picture.onload = () => done('shown');
        picture.onerror = () => done('blocked');
        picture.src = base + '/thumbs/1';
    }));
    return found;
}"""


@pytest.mark.slow
def test_a_rebound_name_and_other_pages_get_nothing(rebound, collection):
    with serving(collection) as live:
        before = live.gallery._read(lambda index: index.version)
        page = rebound.new_context().new_page()
        answer = page.goto(f"http://evil.example:{live.port}/?token={live.access.new_token()}")
        assert answer.status == 421 and "set-cookie" not in answer.headers

        evil = ThreadingHTTPServer(("127.0.0.1", 0), _Evil)
        threading.Thread(target=evil.serve_forever, daemon=True).start()
        try:
            context = rebound.new_context()
            mine, asked = context.new_page(), []
            mine.on("request", lambda request: asked.append((request.url, request.headers.get("referer"))))
            address = live.new_address()
            token = address.partition("token=")[2]
            assert mine.goto(address, wait_until="networkidle").ok  # this browser is let in
            assert "token" not in mine.url and token not in mine.content()
            assert mine.evaluate("document.referrer + document.cookie") == ""
            assert asked[0] == (address, None) and len(asked) > 3  # the secret went there once, and nowhere after
            assert not [url for url, referer in asked[1:] if token in url or referer]
            other = context.new_page()
            for name in ("evil.example", "127.0.0.1"):  # another site, and the same site on another port
                other.goto(f"http://{name}:{evil.server_port}/")
                found = other.evaluate(ATTACK, f"http://127.0.0.1:{live.port}")
                assert set(found) <= {"blocked"}, (name, found)
            assert mine.evaluate("async () => (await fetch('/api/state')).status") == 200
        finally:
            evil.shutdown()
            evil.server_close()
        assert live.gallery._read(lambda index: index.version) == before
