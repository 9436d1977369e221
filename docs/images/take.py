"""``python docs/images/take.py NAME.manyview``: the pictures of the gallery in these docs, taken anew.

They show the demo: after ``manyview demo``, ``manyview fit`` with ``-m rmkmc -k 24`` and then with ``-k 24 --fresh``,
so that there are runs to compare, and ``manyview map``. Needs Chromium and playwright.
"""

from __future__ import annotations

import io
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from manyview.web.server import Serving

FLAGS = "--no-sandbox --disable-quic --no-first-run --disable-background-networking --disable-component-update "
FLAGS += "--disable-sync --use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist"
HERE = Path(__file__).parent
DESKTOP, PHONE = (1440, 900), (390, 844)
PAGES = {
    "clusters": ("#/clusters", "light"),
    "cluster": ("#/clusters/LARGEST", "light"),
    "item": ("#/items/5", "light"),
    "review": ("#/review", "light"),
    "sheet": ("#/review?mode=sheet", "light"),
    "item-by-item": ("#/review?mode=item", "light"),
    "surely": ("#/review?mode=surely", "light"),
    "map": ("#/map", "dark"),
    "search": ("#/search?q=tag%3Aface", "light"),
    "compare": ("#/compare", "light"),
    "runs": ("#/runs", "dark"),
}
ON_A_PHONE = [("clusters", "light"), ("review", "light"), ("item", "dark"), ("map", "dark")]


def main() -> None:
    serving = Serving(Path(sys.argv[1]), port=0)
    ready = threading.Event()
    thread = threading.Thread(target=serving.run, args=(ready.set,))
    thread.start()
    ready.wait()
    try:
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS.split())
            for name, (address, scheme) in PAGES.items():
                _keep(_look(browser, serving.new_address(), address, scheme, DESKTOP), 0.75, name)
            phones = [
                _look(browser, serving.new_address(), PAGES[name][0], scheme, PHONE) for name, scheme in ON_A_PHONE
            ]
            sheet = Image.new("RGB", (len(phones) * (PHONE[0] + 16) - 16, PHONE[1]), "#8b949e")
            for n, picture in enumerate(phones):
                sheet.paste(picture, (n * (PHONE[0] + 16), 0))
            _keep(sheet, 0.667, "phone")
            browser.close()
    finally:
        serving.stop()
        thread.join()


def _look(browser: Browser, entrance: str, address: str, scheme: Any, size: tuple[int, int]) -> Image.Image:
    phone = size[0] < 720
    window: Any = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=window, color_scheme=scheme, is_mobile=phone, has_touch=phone)
    page = context.new_page()
    page.goto(entrance)
    largest = page.evaluate("fetch('./api/clusters').then((a) => a.json()).then((a) => a.clusters[0].id)")
    page.goto(entrance.split("?")[0] + address.replace("LARGEST", str(largest)))
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(3000)  # the map draws, pictures decode
    taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    context.close()
    return taken


def _keep(picture: Image.Image, scale: float, name: str) -> None:
    small = picture.resize((round(picture.width * scale), round(picture.height * scale)), Image.Resampling.LANCZOS)
    small.quantize(256, dither=Image.Dither.NONE).save(HERE / f"gallery-{name}.png", optimize=True)


if __name__ == "__main__":
    main()
