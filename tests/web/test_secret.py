"""The gallery's secret stays with its owner: how a browser is told, one exchange an address, another one by Enter."""

import json
import os
import pty
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from manyview.web.invitation import Invitation

from .test_server import serving

SECONDS = float(os.environ.get("MANYVIEW_WATCH_SECONDS", "3"))
LOOKER = Path(__file__).with_name("looker.py")
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})")

STAND_IN = """#!{python}
import http.client, json, os, re, sys, time, urllib.parse, urllib.request
given = sys.argv[1]
told = {{"given": given}}
if given.startswith("file:"):
    path = urllib.request.url2pathname(urllib.parse.urlsplit(given).path)
    told["modes"] = [os.stat(path).st_mode & 0o777, os.stat(os.path.dirname(path)).st_mode & 0o777]
    given = re.search("http://[^\\"]+", open(path).read()).group()
time.sleep({seconds})
place = urllib.parse.urlsplit(given)
asked = http.client.HTTPConnection(place.netloc)
asked.request("GET", place.path + "?" + place.query, headers={{"Sec-Fetch-Site": "cross-site"}})
answer = asked.getresponse()
told |= {{"address": given, "status": answer.status, "cookie": answer.getheader("Set-Cookie")}}
with open({result!r} + ".part", "w") as file:
    json.dump(told, file)
os.rename({result!r} + ".part", {result!r})
"""


@contextmanager
def open_place(template):
    """A folder that others can enter, with a collection and a place for temporary files, as on a shared machine."""
    top = Path(tempfile.mkdtemp(prefix="shared-"))
    try:
        top.chmod(0o755)
        (top / "temporary").mkdir()
        (top / "temporary").chmod(0o1777)
        shutil.copytree(template, top / "small.manyview")
        yield top
    finally:
        shutil.rmtree(top)


class Started:
    """``manyview serve`` at a terminal; a ``with`` block ends it. Its errors are in a log that others can read."""

    def __init__(self, top, *options, **environment):
        ours, theirs = pty.openpty()
        self.terminal = ours
        self.rest, self.errors = "", (top / "errors.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "manyview", "serve", str(top / "small.manyview"), "--port", "0", *options],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**os.environ, "TMPDIR": str(top / "temporary"), "PYTHONUNBUFFERED": "1", **environment},
        )
        os.close(theirs)

    def __enter__(self):
        self.port, self.token = self.address()
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.rest = self.process.communicate(timeout=30)[0]
        os.close(self.terminal)
        self.errors.close()

    def address(self):
        """Port and token of the next address it prints."""
        for line in self.process.stdout:
            if found := ADDRESS.search(line):
                return int(found[1]), found[2]
        raise AssertionError("no address was printed")

    def press_enter(self):
        os.write(self.terminal, b"\n")
        return self.address()

    def get(self, path, **headers):
        return get(self.port, path, **headers)


def get(port, path, **headers):
    """Status, the cookie it sets and the body."""
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, (answer.getheader("Set-Cookie") or "").partition(";")[0], answer.read().decode()
    finally:
        connection.close()


@pytest.mark.slow  # MANYVIEW_WATCH_SECONDS says how long they look
def test_others_never_see_the_secret(template, tmp_path, record_property):
    record_property("count", int(SECONDS))
    """The stand-in browser takes its time, so that the secret lies about as long as it ever does."""
    decoys = [os.urandom(16).hex() for _ in range(2)]
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    with open_place(template) as top:
        result, script = private / "result.json", top / "browser"
        script.write_text(STAND_IN.format(python=sys.executable, seconds=SECONDS / 2, result=str(result)))
        script.chmod(0o755)
        (top / "temporary" / "left.txt").write_text(decoys[0])
        loud = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", decoys[1]])
        # the owner may read what is its own, so where we are nobody else the temporary files are judged by their modes
        folders = [str(top)] if os.getuid() == 0 else [str(top / "small.manyview"), str(top / "temporary" / "left.txt")]
        looker = subprocess.Popen(
            [sys.executable, str(LOOKER), str(SECONDS + 2), *folders], stdout=subprocess.PIPE, text=True
        )
        try:
            assert looker.stdout.readline() == "looking\n"
            with Started(top, BROWSER=f"{script} %s") as started:
                until = time.monotonic() + SECONDS + 20
                while not result.exists() and time.monotonic() < until:
                    time.sleep(0.02)
                told = json.loads(result.read_text())
                seen = json.loads(looker.communicate(timeout=SECONDS + 30)[0])
                left = [path.name for path in (top / "temporary").iterdir()]
                errors = (top / "errors.log").read_text()
        finally:
            for process in (loud, looker):
                process.kill()
                process.wait()
            looker.stdout.close()
        after = [path.name for path in (top / "temporary").iterdir()]
    browsers = ADDRESS.fullmatch(told["address"])[2]
    cookie = told["cookie"].partition(";")[0].partition("=")[2]
    secrets = {"printed": started.token, "browser's": browsers, "cookie": cookie}
    assert {name: seen["seen"][secret] for name, secret in secrets.items() if secret in seen["seen"]} == {}
    assert seen["n_looks"] > 3 and (os.getuid() != 0 or seen["user"] != 0)
    assert len(set(secrets.values())) == 3 and told["status"] == 200
    assert decoys[1] in seen["seen"] and (os.getuid() != 0 or decoys[0] in seen["seen"])  # it looks well
    assert told["modes"] == [0o600, 0o700]
    assert "token" not in errors and "token=" not in started.rest
    assert left == after == ["left.txt"]  # the file went with the exchange


@pytest.mark.slow
def test_an_address_is_good_once_and_enter_prints_another(template):
    here = {"Sec_Fetch_Site": "none"}
    with open_place(template) as top, Started(top, "--no-browser") as started:
        status, cookie, body = started.get(f"/?token={started.token}", **here)
        assert status == 303 and cookie and started.token not in cookie + body
        for _ in range(2):
            status, none, body = started.get(f"/?token={started.token}", **here)
            assert status == 401 and not none
            assert "has been used" in body and "press Enter" in body
        assert "press Enter" in started.get("/")[2]
        assert started.get("/api/state", Cookie=cookie)[0] == 200
        tokens = {started.token}
        for _ in range(3):
            port, token = started.press_enter()
            assert port == started.port and token not in tokens
            tokens.add(token)
            assert started.get(f"/?token={token}", **here)[:2] == (303, cookie)
            assert started.get(f"/?token={token}", **here)[0] == 401
        assert started.get(f"/?token={token}", Cookie=cookie, **here)[0] == 200  # who is in may use an old link
    assert started.process.returncode in (0, 130) and not ADDRESS.search(started.rest)


@pytest.mark.slow
def test_the_terminal_going_away_does_not_end_the_gallery(template):
    with open_place(template) as top, Started(top, "--no-browser") as started:
        os.write(started.terminal, b"\x04")  # the end of what is typed
        time.sleep(0.6)
        assert started.get("/")[0] == 401


def test_an_invitation_is_for_its_owner_alone():
    before = os.umask(0)
    try:
        invitation = Invitation("http://127.0.0.1:1/?token=0&x='\"<")
    finally:
        os.umask(before)
    try:
        path = Path(invitation.path)
        assert [stat.S_IMODE(one.stat().st_mode) for one in (path, path.parent)] == [0o600, 0o700]
        assert 'url=http://127.0.0.1:1/?token=0&amp;x=&#x27;&quot;&lt;"' in path.read_text()
        assert invitation.url.startswith("file:///")
    finally:
        invitation.remove()
    invitation.remove()
    assert not path.parent.exists()


@pytest.mark.slow
def test_the_file_leads_a_real_browser_in(template, browser):
    """A file is another site: the cookie must be there when the page comes, and the page must work."""
    with serving(template) as live:
        invitation = live.invite()
        context = browser.new_context()
        page, refused = context.new_page(), []
        page.on("response", lambda answer: answer.status >= 400 and refused.append((answer.status, answer.url)))
        page.on("console", lambda said: said.type == "error" and refused.append(said.text))
        page.goto(invitation.url)
        page.wait_for_url(f"http://127.0.0.1:{live.port}/*")
        page.get_by_role("heading", level=1).wait_for()
        assert "token" not in page.url and not refused
        assert page.evaluate("async () => (await fetch('/api/state')).status") == 200
        assert page.evaluate("document.referrer + document.cookie") == ""
        assert not Path(invitation.path).exists()
        page.reload()
        page.get_by_role("heading", level=1).wait_for()
        assert not refused
        context.close()


def test_the_printed_address_leads_a_real_browser_in(template, browser):
    with serving(template) as live:
        context = browser.new_context()
        page = context.new_page()
        assert page.goto(live.new_address()).ok
        page.get_by_role("heading", level=1).wait_for()
        context.close()


def test_nothing_is_left_when_the_gallery_ends(template):
    with serving(template) as live:
        invitation = live.invite()
        assert Path(invitation.path).exists()
        with socket.create_connection(("127.0.0.1", live.port)):
            pass
    assert not Path(invitation.path).parent.exists()
