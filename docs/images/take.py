"""``python docs/images/take.py NAME.manyview``: the pictures of the gallery in these docs, taken anew.

They show the demo: after ``manyview demo``, ``manyview fit`` with ``-m rmkmc -k 6`` and then with ``--fresh``, so that
there are runs to compare. Needs Chromium and playwright. The wall of the README is made without a browser.
"""

from __future__ import annotations

import io
import random
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont, ImageOps
from playwright.sync_api import Browser, sync_playwright

from manyview.web.server import Serving
from manyview.workflow.collection import Collection
from manyview.workflow.reading.index import Index
from manyview.workflow.reading.typical import best_clusters, typical_rows

FLAGS = "--no-sandbox --disable-quic --no-first-run --disable-background-networking --disable-component-update "
FLAGS += "--disable-sync --use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist"
HERE = Path(__file__).parent
DESKTOP, PHONE = (1440, 900), (390, 844)
PAGES = {
    "clusters": ("#/clusters", "light"),
    "cluster": ("#/clusters/LARGEST", "light"),
    "item": ("#/items/ITEM", "light"),
    "review": ("#/review", "light"),
    "sheet": ("#/review?mode=sheet", "light"),
    "item-by-item": ("#/review?mode=item", "light"),
    "surely": ("#/review?mode=surely", "light"),
    "map": ("#/map", "dark"),
    "search": ("#/search?q=tag%3Aanimal", "light"),
    "compare": ("#/compare", "light"),
    "runs": ("#/runs", "dark"),
}
_PATIENCE = 60
"""Seconds that what is being computed may take."""
ITEM = "cathedral-of-reims.jpg"
TILE, GAP = 54, 4
WALL, ROWS, PER_ROW = (10, 12), 6, 8
ON_A_PHONE = [("clusters", "light"), ("review", "light"), ("item", "dark"), ("map", "dark")]


def main() -> None:
    with Collection.open(sys.argv[1]) as collection:
        wall(collection)
        item = collection.items.named(ITEM).id
    serving = Serving(Path(sys.argv[1]), port=0)
    ready = threading.Event()
    thread = threading.Thread(target=serving.run, args=(ready.set,))
    thread.start()
    ready.wait()
    try:
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS.split())
            for name, (address, scheme) in PAGES.items():
                address = address.replace("ITEM", str(item))
                _keep(_look(browser, serving.new_address(), address, scheme, DESKTOP), 0.75, name)
            phones = [
                _look(browser, serving.new_address(), PAGES[name][0].replace("ITEM", str(item)), scheme, PHONE)
                for name, scheme in ON_A_PHONE
            ]
            sheet = Image.new("RGB", (len(phones) * (PHONE[0] + 16) - 16, PHONE[1]), "#8b949e")
            for n, picture in enumerate(phones):
                sheet.paste(picture, (n * (PHONE[0] + 16), 0))
            _keep(sheet, 0.667, "phone")
            browser.close()
    finally:
        serving.stop()
        thread.join()


def wall(collection: Collection) -> None:
    """All kinds of photographs in no order on the left; on the right the clearest groups, by name."""
    index = Index(collection)
    run = collection.runs.get()
    step, line = TILE + GAP, 2 * TILE
    left, height = WALL[0] * step, WALL[1] * step
    picture = Image.new("RGB", (left + 70 + PER_ROW * step, height), "white")
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(size=15)
    paths = {item.id: Path(item.path or "") for item in collection.items}
    mixed = random.Random(3).sample(sorted(paths), WALL[0] * WALL[1])  # noqa: S311  not a secret
    for n, item in enumerate(mixed):
        picture.paste(_tile(paths[item]), (n % WALL[0] * step, n // WALL[0] * step))
    draw.line([(left + 14, height / 2), (left + 46, height / 2)], fill="#57606a", width=3)
    draw.polygon([(left + 42, height / 2 - 7), (left + 54, height / 2), (left + 42, height / 2 + 7)], fill="#57606a")
    places = index.assignment(run)
    for n, one in enumerate(best_clusters(index, run)[:ROWS]):
        top = n * height // ROWS
        draw.text((left + 70, top + 12), f"{one.name}  ({one.size})", fill="#1f2328", font=font)
        rows = typical_rows(index, np.flatnonzero(places == one.id), run, [one])[:PER_ROW]
        for m, item in enumerate(index.ids[rows].tolist()):
            picture.paste(_tile(paths[item]), (left + 70 + m * step, top + line // 3))
    picture.save(HERE / "wall.jpg", quality=82, optimize=True, progressive=True)


def _tile(path: Path) -> Image.Image:
    return ImageOps.fit(Image.open(path).convert("RGB"), (TILE, TILE), Image.Resampling.LANCZOS)


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
    for _ in range(_PATIENCE):
        if not page.get_by_text("Being computed").count():
            break
        page.wait_for_timeout(1000)
    taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    context.close()
    return taken


def _keep(picture: Image.Image, scale: float, name: str) -> None:
    small = picture.resize((round(picture.width * scale), round(picture.height * scale)), Image.Resampling.LANCZOS)
    small.quantize(256, dither=Image.Dither.NONE).save(HERE / f"gallery-{name}.png", optimize=True)


if __name__ == "__main__":
    main()
