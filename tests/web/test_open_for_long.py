"""A gallery that stays open: memory and open files stay where they are, whatever is asked for.

MANYVIEW_GALLERY_SECONDS and MANYVIEW_GALLERY_ITEMS say for how long and with how many items; an hour with 50,000 is
the count of a release.
"""

import json
import os
import random
import statistics
import time
from http.client import HTTPConnection

import pytest

from benchmarks.gallery.made import make_collection

from ..browser.demo import Server

SECONDS = float(os.environ.get("MANYVIEW_GALLERY_SECONDS", "12"))
N_ITEMS = int(os.environ.get("MANYVIEW_GALLERY_ITEMS", "2000"))
WARM = 300
"""Requests after which every reader has opened and kept what it will."""
PAUSE = 0.005
MOST_GROWTH = 0.05


class Visitor:
    """A browser with the gallery open: one connection that is kept, and every so often another."""

    def __init__(self, server, draw):
        self.server, self.draw = server, draw
        self.connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.headers = {"Sec-Fetch-Site": "none", "Origin": server.base.rstrip("/")}
        address = server.new_url()
        cookie = self._ask("GET", address[len(server.base) - 1 :])[1]
        self.headers |= {"Cookie": cookie.partition(";")[0], "Sec-Fetch-Site": "same-origin"}
        self.clusters = [one["id"] for one in self.get("/api/clusters")["clusters"]]
        self.runs = [one["id"] for one in self.get("/api/runs")["runs"] if one["kind"] == "fit"]

    def _ask(self, method, path, body=None):
        headers = self.headers | ({"Content-Type": "application/json"} if body else {})
        self.connection.request(method, path, body=body, headers=headers)
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status in (200, 303), (path, answer.status, content[:200])
        return content, answer.getheader("Set-Cookie", "")

    def get(self, path):
        return json.loads(self._ask("GET", path)[0])

    def post(self, path, body):
        return json.loads(self._ask("POST", path, json.dumps(body))[0])

    def look(self):
        """One thing that a page asks for."""
        draw = self.draw
        item, cluster, word = draw.randint(1, N_ITEMS), draw.choice(self.clusters), f"word {draw.randrange(2000):04d}"
        offset = draw.randrange(0, N_ITEMS, 60)
        pages = [
            "/",
            "/assets/app.js",
            "/api/state",
            "/api/state",
            "/api/clusters",
            f"/api/clusters/{cluster}",
            f"/api/items?cluster={cluster}&offset=0&limit=60",
            f"/api/items?offset={offset}&limit=60",
            f"/api/items?q=tag:%22{word.replace(' ', '%20')}%22",
            f"/api/items/{item}",
            f"/api/facets?q=caption%20{item}",
            f"/api/tags?text={word[:7].replace(' ', '%20')}",
            f"/api/proposals?offset={offset}&limit=60",
            f"/api/proposals?by=tag&tag={word.replace(' ', '%20')}&all=true",
            f"/api/proposals/line?probability={draw.random():.2f}",
            "/api/history",
            "/api/runs",
            "/api/map/points",
            f"/api/compare?first={self.runs[0]}&second={self.runs[-1]}",
            f"/thumbs/{item}",
            f"/api/export?view=items&cluster={cluster}&format=csv",
        ]
        self._ask("GET", draw.choice(pages))

    def answer(self):
        """A person's yes, and the way back."""
        one = self.get("/api/proposals?limit=1")["proposals"][0]
        pairs = [{"item": one["item"], "tag": one["tag"]}]
        steps = [{"pairs": pairs, "answer": True}, {"pairs": pairs, "answer": None}]
        for step in self.post("/api/decisions/steps", {"steps": steps})["steps"]:
            assert step["error"] is None

    def connect_anew(self):
        self.connection.close()
        self.connection.connect()


def measured(process):
    """Resident bytes and open descriptors."""
    with open(f"/proc/{process}/status") as file:
        kilobytes = next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
    return kilobytes * 1024, len(os.listdir(f"/proc/{process}/fd"))


def visit(visitor, seconds, at_least=0):
    """Look about for that long; the medians of what was measured meanwhile, since a large answer comes and goes."""
    process, until, found, n = visitor.server.process.pid, time.monotonic() + seconds, [], 0
    while time.monotonic() < until or n < at_least:
        visitor.look()
        n += 1
        if n % 10 == 0:
            found.append(measured(process))
        if n % 40 == 0:
            visitor.answer()
        if n % 100 == 0:
            visitor.connect_anew()
        time.sleep(PAUSE)
    return tuple(statistics.median(column) for column in zip(*found, strict=True))


@pytest.mark.slow
def test_memory_and_descriptors_stay(tmp_path, seed, record_property):
    record_property("count", int(SECONDS))
    server = Server(make_collection(tmp_path / "large.manyview", N_ITEMS))
    try:
        visitor = Visitor(server, random.Random(seed))  # noqa: S311  not a secret
        visit(visitor, SECONDS / 3, at_least=WARM)
        memory, handles = visit(visitor, SECONDS / 3, at_least=50)
        memory_after, handles_after = visit(visitor, SECONDS / 3, at_least=50)
        visitor.connection.close()
    finally:
        server.stop()
    growth = memory_after / memory - 1
    print(f"{memory / 2**20:.0f} MB {growth:+.1%}, {handles:.0f} descriptors, then {handles_after:.0f}")
    assert growth <= MOST_GROWTH and handles_after <= handles
