"""Every command once, on a folder of pictures and a document, and the gallery through its socket.

A program for tests that watch what the commands do: which files they open, whether they need a network, whether they
unpickle. ``python -m tests.end_to_end.every_command FOLDER`` makes FOLDER/pictures and FOLDER/more, unless they are
there, and works beside them; it prints the names of the commands as JSON.
"""

from __future__ import annotations

import http.cookiejar
import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from PIL import Image

from tests.collection.samples import sidecar

from .samples import make_pictures
from .test_command_line import run


def make_sources(folder: Path) -> None:
    """Twelve pictures in two formats, all with sidecars, and two documents; another picture in another folder."""
    source = folder / "pictures"
    source.mkdir()
    table = make_pictures(source / "shapes")
    table.unlink()
    for number, path in enumerate(sorted((source / "shapes").glob("*.png"))):
        if number % 3 == 1:
            with Image.open(path) as image:
                image.convert("RGB").save(path.with_suffix(".jpg"), quality=90)
            path.unlink()
        kind = "disc" if number < 6 else "stripes"
        words = [kind] if number % 4 else [kind, "kept", "flat"]
        path.with_suffix(".xmp").write_text(sidecar(*words), encoding="utf-8")
    (source / "one.txt").write_text("a red disc on white paper", encoding="utf-8")
    (source / "two.txt").write_text("blue stripes on white paper", encoding="utf-8")
    (folder / "more").mkdir()
    Image.new("RGB", (50, 40), (230, 30, 20)).save(folder / "more" / "new.png")


def look_through_the_gallery(path: Path) -> None:
    """Start it, look at a few addresses as a browser would, stop it."""
    serving = subprocess.Popen(
        [sys.executable, "-m", "manyview", "serve", str(path), "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert serving.stdout is not None
        address = None
        while address is None:
            line = serving.stdout.readline()
            assert line, "the gallery ended before it said where it is"
            address = re.search(r"http://127\.0\.0\.1:\d+/\S*", line)
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)
        base = address.group().partition("/?")[0].rstrip("/")
        for place in (address.group(), *(base + one for one in (
            "/", "/api/state", "/api/clusters", "/api/items?q=tag:disc", "/thumbs/3", "/media/3/preview",
            "/media/3/original",
        ))):  # fmt: skip
            with opener.open(place, timeout=30) as answer:
                assert answer.status == 200 and answer.read()
    finally:
        serving.send_signal(signal.SIGINT)
        serving.communicate(timeout=30)


def every_command(folder: Path) -> list[str]:
    """Give them one after another; their names."""
    source, path = folder / "pictures", folder / "c.manyview"
    if not source.exists():
        make_sources(folder)
    done = []

    def do(name: str, *words: object, code: int = 0) -> None:
        run(name, *words, code=code)
        done.append(name)

    do("init", source, "-o", path)
    do("features", path)
    do("fit", path, "-k", 2, "--jobs", 1)
    do("fit", path, "-k", 2, "-m", "rmkmc", "--jobs", 1)
    do("show", path, "--items")
    do("show", path, "--search", "a red disc on paper")
    do("suggest", path, "--first-tags")
    do("suggest", path, "--top", 3, "-o", folder / "proposals.csv")
    run("edit", path, "rename", 1, "one")
    do("accept", path, "--min-probability", 0.0)
    do("apply", path, "--to", "xmp")
    do("undo", path)
    do("apply", path, "--to", "xmp")
    do("add", path, folder / "more")
    do("compare", path, 1, 2)
    do("report", path, "-o", folder / "report.html")
    do("map", path)
    do("export-site", path, "-o", folder / "site")
    do("history", path)
    do("doctor", path)
    look_through_the_gallery(path)
    return [*dict.fromkeys(done), "edit", "serve"]


if __name__ == "__main__":
    print(json.dumps(every_command(Path(sys.argv[1]))))
