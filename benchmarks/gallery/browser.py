"""Times as a person feels them, in headless Chromium: the first screen, a page of a cluster, a key, scrolling."""

from __future__ import annotations

import shutil
import statistics
from typing import Any

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WINDOW = {"width": 1440, "height": 900}
TOOLS = """
window.longTasks = [];
new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((one) => one.duration)))
  .observe({ type: "longtask", buffered: true });
window.inView = (one) => {
  const box = one.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
};
window.squares = () => [...document.querySelectorAll("main li:has(img, .empty)")].filter(inView);
window.isDrawn = (one) => { const img = one.querySelector("img"); return img?.complete && img.naturalWidth > 0; };
window.allDrawn = (atLeast) => new Promise((done) => {
  const look = () => {
    const seen = squares();
    if (seen.length >= atLeast && seen.every(isDrawn)) requestAnimationFrame(() => done(performance.now()));
    else requestAnimationFrame(look);
  };
  look();
});
window.jump = (share) => { scrollTo(0, document.body.scrollHeight * share); return performance.now(); };
window.keyTimes = [];
addEventListener("keydown", (event) => {
  const asked = () => document.querySelector("article")?.getAttribute("aria-label");
  const before = asked();
  const look = () => {
    if (asked() === before) requestAnimationFrame(look);
    else keyTimes.push(performance.now() - event.timeStamp);
  };
  requestAnimationFrame(look);
}, { capture: true });
"""


def measure(address: str) -> list[dict[str, Any]]:
    """Rows of what was measured, in ms; none where there is no browser, which is said."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("in the browser: not measured, playwright or chromium is missing")
        return []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        context = browser.new_context(viewport=WINDOW)
        context.add_init_script(TOOLS)
        page = context.new_page()
        page.goto(address)
        rows = [_row("browser: first screen, browser just started", [page.evaluate("allDrawn(24)")])]
        again = []
        for _ in range(5):
            page.goto(page.url.split("#")[0])
            again.append(page.evaluate("allDrawn(24)"))
        rows.append(_row("browser: first screen, again", again))
        rows += _cluster(page) + _review(page)
        browser.close()
    return rows


def _cluster(page: Any) -> list[dict[str, Any]]:
    base = page.url.split("#")[0]
    largest = page.evaluate("fetch('./api/clusters').then((a) => a.json()).then((a) => a.clusters[0].id)")
    page.goto(f"{base}#/clusters/{largest}")
    page.evaluate("allDrawn(30)")
    jumps = []
    for share in (0.9, 0.3, 0.7, 0.5):
        began = page.evaluate("(share) => jump(share)", share)
        jumps.append(page.evaluate("allDrawn(30)") - began)
    page.evaluate("scrollTo(0, 0)")
    page.evaluate("allDrawn(30)")
    page.evaluate("longTasks.length = 0")
    most = _scroll(page)
    tasks = page.evaluate("longTasks")
    return [
        _row("browser: items after a jump far down a cluster", jumps),
        {"what": "browser: scrolling, longest script task over 50", "ms": max(tasks, default=0.0), "n": len(tasks)},
        {"what": "browser: scrolling, longest task by its own processor time", "ms": _longest_by_processor(page)},
        {"what": "browser: scrolling, most pictures in the page", "n": most},
    ]


def _scroll(page: Any) -> int:
    """Scroll as a wheel does; the most pictures that were in the page."""
    most = 0
    page.mouse.move(400, 500)
    for _ in range(120):
        page.mouse.wheel(0, 400)
        page.wait_for_timeout(16)
        most = max(most, page.evaluate("document.images.length"))
    return most


def _longest_by_processor(page: Any) -> float:
    """The same scrolling, traced: what the longest task of the page itself took, whatever ran beside it."""
    tracer = page.context.new_cdp_session(page)
    events: list[dict[str, Any]] = []
    ended: list[Any] = []
    tracer.on("Tracing.dataCollected", lambda part: events.extend(part["value"]))
    tracer.on("Tracing.tracingComplete", lambda said: ended.append(said))
    tracer.send("Tracing.start", {"categories": "devtools.timeline,toplevel", "transferMode": "ReportEvents"})
    page.evaluate("scrollTo(0, 0)")
    _scroll(page)
    tracer.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(20)
    of_page = {event["tid"] for event in events if event["name"] == "FireAnimationFrame"}
    tasks = [event for event in events if event["name"].endswith("RunTask") and event["tid"] in of_page]
    return max(event.get("tdur", 0) for event in tasks) / 1000


def _review(page: Any) -> list[dict[str, Any]]:
    page.goto(page.url.split("#")[0] + "#/review")
    page.get_by_role("button", name="Yes").wait_for()
    for key in "ynynynynyn":
        page.keyboard.press(key)
        page.wait_for_timeout(300)
    return [_row("browser: key to the next proposal", page.evaluate("keyTimes"))]


def _row(what: str, times: list[float]) -> dict[str, Any]:
    return {"what": what, "ms": statistics.median(times), "worst_ms": max(times)}
