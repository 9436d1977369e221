"""init, fit, apply and an answer in the gallery on a disk that is full; run on a small disk by ``test_full_disk``.

Each is tried with no room at all and then with a little more each time, until it succeeds: so the disk fills up at
many places of the work. A refusal is one sentence about the disk and exit code 1; nothing that was there is lost; with
room again the same command works. Prints one JSON object: refusals by command, and everything that was wrong.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from starlette.testclient import TestClient

from manyview import Collection
from manyview.cli.main import app
from manyview.collection.safety import check
from manyview.web.app import guarded
from manyview.web.gallery import Gallery
from manyview.web.security import Access
from tests.end_to_end.samples import make_pictures
from tests.web.made import HOST, ORIGIN, OURS

PAGE = 4096
DISK = Path(sys.argv[1])
SOURCE, PATH, FILLER = DISK / "shapes", DISK / "c.manyview", DISK / "filler"


def fill(room: int) -> None:
    """Fill the disk up, but for some bytes."""
    with FILLER.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(16 * PAGE)):
                pass
        except OSError:
            pass
        file.truncate(max(0, file.tell() - room))


def command(*words: object) -> tuple[int, str]:
    """Exit code and errors of one command."""
    said = io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(said):
            app([str(word) for word in words])
    except SystemExit as ended:
        return int(ended.code or 0), said.getvalue()
    return 0, said.getvalue()


def answer() -> tuple[int, str]:
    """One person's yes in the gallery, as an exit code and a sentence."""
    gallery = Gallery(PATH, wait=0.5)
    host, _, port = HOST.partition(":")
    access = Access([host], int(port))
    with TestClient(guarded(gallery, access), base_url=ORIGIN, raise_server_exceptions=False) as browser:
        browser.cookies.set(access.cookie_name, access.cookie)
        pairs = [{"item": number, "tag": f"{number} {'long ' * 150}"} for number in range(1, 13)]
        for pair in pairs:  # one entry each: some fit and are acknowledged, the next does not
            shown = browser.post("/api/tags", headers=OURS, json={"items": [pair["item"]], "tag": pair["tag"],
                                                                  "answer": True})  # fmt: skip
            if shown.status_code != 200:
                break
            acknowledged.append((pair["item"], " ".join(str(pair["tag"]).split())))
    gallery.close()
    return (0, "") if shown.status_code == 200 else (1, f"error: {shown.json()['error']} [{shown.status_code}]\n")


acknowledged: list[tuple[int, str]] = []


def state() -> dict[str, object]:
    """What must not be lost: the collection and every file beside it."""
    if not PATH.exists() or not (PATH / "catalog.sqlite").exists() or "is unfinished" in " ".join(check.problems(PATH)):
        held: dict[str, object] = {}
    else:
        held = dict(check.digest(PATH))
    return held | {path.name: path.read_bytes() for path in SOURCE.iterdir()}


def tried(name: str, act: Callable[[], tuple[int, str]], wrong: list[str], keeps: bool = True) -> int:
    """Act with more and more room until it succeeds; how often it was refused."""
    refused, room = 0, 0
    while True:
        before = state()
        fill(room)
        code, said = act()
        FILLER.unlink()
        if code in (0, 3):
            break
        refused += 1
        where = f"{name} with {room} bytes left"
        if code != 1 or said.count("\n") != 1 or not ("disk is full" in said or "free space" in said):
            wrong.append(f"{where}: {code}: {said[-400:]}")
        if keeps and (after := state()) != before:
            wrong.append(f"{where}: {[key for key in before | after if before.get(key) != after.get(key)]} differ")
        room = max(2 * room, 4 * PAGE)
        if room > 16 * 2**20:
            wrong.append(f"{name} never succeeded")
            break
    Collection.open(PATH, write=True).close()
    wrong += [f"after {name}: {sentence}" for sentence in check.problems(PATH)]
    return refused


def main() -> None:
    wrong: list[str] = []
    make_pictures(DISK / "made")
    shutil.copytree(DISK / "made", SOURCE, ignore=lambda *_: ["pictures.csv"])
    shutil.rmtree(DISK / "made")
    found = {"init": tried("init", lambda: command("init", SOURCE, "-o", PATH), wrong, keeps=False)}
    assert command("features", PATH)[0] == 0
    found["fit"] = tried("fit", lambda: command("fit", PATH, "-k", 2, "--jobs", 1), wrong)
    found["gallery"] = tried("gallery", answer, wrong, keeps=False)
    with Collection.open(PATH) as collection:
        for item, word in acknowledged:
            if word not in collection.tagging.words_of(item):
                wrong.append(f"the gallery acknowledged {word[:20]!r} for item {item}, which is not there")
    found["apply"] = tried("apply", lambda: command("apply", PATH), wrong, keeps=False)
    print(json.dumps({"refused": found, "wrong": wrong[:20]}))


if __name__ == "__main__":
    main()
