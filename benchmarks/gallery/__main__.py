"""``python -m benchmarks.gallery [FOLDER] [--items N]``: the gallery's times, in a browser and at the server."""

from __future__ import annotations

import argparse
import json
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

from manyview.web.server import Serving

from .. import table
from . import browser
from .made import make_collection


class Browser:
    """One connection's worth of a browser: a cookie, and the headers that a page of ours sends."""

    def __init__(self, serving: Serving) -> None:
        self._base = f"http://127.0.0.1:{serving.port}"
        self._headers = {
            "Cookie": f"{serving.access.cookie_name}={serving.access.cookie}",
            "Origin": self._base,
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/json",
        }

    def ask(self, address: str, body: Any = None) -> tuple[bytes, float, float]:
        """The answer, and how long it took: on the clock, and of the processor."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + address, data=data, headers=self._headers)  # noqa: S310  our own server
        wall, cpu = time.perf_counter(), time.process_time()
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310  our own server
            content = answer.read()
        return content, time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gallery", description=__doc__)
    parser.add_argument("folder", nargs="?", default=".bench/gallery.manyview", type=Path)
    parser.add_argument("--items", type=int, default=100_000)
    asked = parser.parse_args()
    if not asked.folder.exists():
        asked.folder.parent.mkdir(parents=True, exist_ok=True)
        started = time.perf_counter()
        make_collection(asked.folder, asked.items)
        print(f"made {asked.folder} in {time.perf_counter() - started:.0f} s")
    serving = Serving(asked.folder, port=0)
    ready = threading.Event()
    thread = threading.Thread(target=serving.run, args=(ready.set,))
    thread.start()
    ready.wait()
    about = table.machine()
    try:
        rows = browser.measure(serving.new_address())
        for row in rows:
            print("  ".join(f"{value:.0f} {name}" if name != "what" else value for name, value in row.items()))
        rows += _measure(Browser(serving))
    finally:
        serving.stop()
        thread.join()
    path = table.keep("gallery", False, about, rows)
    print(f"load {about['load_average_at_start']} at start; kept in benchmarks/results/{path.name}")


def _measure(asking: Browser) -> list[dict[str, Any]]:
    print(f"{'what':44}{'ms':>8}{'cpu ms':>8}{'kB':>9}")
    rows: list[dict[str, Any]] = []

    def show(what: str, address: str, body: Any = None) -> bytes:
        content, wall, cpu = asking.ask(address, body)
        print(f"{what:44}{wall * 1e3:8.0f}{cpu * 1e3:8.0f}{len(content) / 1e3:9.1f}")
        rows.append({"what": what, "ms": wall * 1e3, "cpu_ms": cpu * 1e3, "kB": len(content) / 1e3})
        return content

    show("state, first of this start", "/api/state")
    show("clusters, first of this start", "/api/clusters")
    show("state", "/api/state")
    clusters = json.loads(show("clusters", "/api/clusters"))["clusters"]
    first = clusters[0]["id"]
    show("one cluster", f"/api/clusters/{first}")
    show("items of a cluster, first page", f"/api/items?cluster={first}&sort=typical&limit=200")
    show("items of a cluster, next page", f"/api/items?cluster={first}&sort=typical&offset=200&limit=200")
    show("all items by name, first", "/api/items?sort=name&limit=200")
    show("all items by name, far down", "/api/items?sort=name&offset=90000&limit=200")
    show("search by words, first", "/api/items?q=caption%20group&limit=200")
    show("search by tag and confidence", "/api/items?q=tag:%22word%200001%22%20confidence%3C0.4&limit=200")
    show("facets", "/api/facets")
    show("proposals, first", "/api/proposals?limit=50")
    waiting = json.loads(show("proposals", "/api/proposals?limit=50"))["proposals"]
    for n, one in enumerate(waiting[:3]):
        pair = {"item": one["item"], "tag": one["tag"]}
        show(f"decision {n + 1}", "/api/decisions", {"pairs": [pair], "answer": True})
        show("proposals after it", "/api/proposals?limit=50")
    show("state after it", "/api/state")
    show("clusters after it", "/api/clusters")
    show("line", "/api/proposals/line?probability=0.9")
    show("rename", f"/api/clusters/{first}/rename", {"name": f"renamed {time.time():.0f}"})
    show("clusters after it", "/api/clusters")
    show("item, first", f"/api/items/{waiting[0]['item']}")
    for _ in range(60):
        if not json.loads(asking.ask(f"/api/items/{waiting[0]['item']}")[0])["why_pending"]:
            break
        time.sleep(1)
    show("item, with reasons", f"/api/items/{waiting[1]['item']}")
    show("map points", "/api/map/points")
    show("map", "/api/map")
    show("thumbnail", f"/thumbs/{waiting[0]['item']}")
    return rows


if __name__ == "__main__":
    main()
