"""The hostile set through ingest: every bad file is named with its reason, every good one becomes an item."""

import hashlib
import importlib.util
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from manyview import Collection
from manyview.collection.safety import check
from tests.programs import ROOT

from .hostile import write_hostile_set


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile") / "set"
    folder.mkdir()
    return folder, write_hostile_set(folder)


def hashes(folder):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def test_the_set_is_what_the_bar_asks_for(hostile):
    _, made = hostile
    assert len(made) >= 120 and len({entry.name for entry in made}) == len(made)
    assert sum(entry.name.startswith("bombs/") for entry in made) >= 20
    assert sum(len(entry.content) for entry in made) < 4e6


def test_every_file_ends_where_it_should(hostile, record_property):
    folder, made = hostile
    record_property("count", len(made))
    before = hashes(folder)
    slowest = [0.0, ""]
    last = [time.monotonic()]

    def clock(_done, _total, name):
        now = time.monotonic()
        slowest[:] = max(slowest, [now - last[0], name])
        last[0] = now

    with Collection.create(folder.parent / "h.manyview", folder, progress=clock) as collection:
        items = {item.key for item in collection.items}
        found = {}
        for problem in collection.items.problems():
            found.setdefault(problem.path, []).append((problem.reason, problem.is_bad))
    wrong = []
    has_pdf = importlib.util.find_spec("pypdf") is not None
    for entry in made:
        if entry.content.startswith(b"%PDF-") and not has_pdf:
            entry = replace(entry, ingest="missing extra")
        reasons = found.pop(entry.name, [])
        is_item = entry.name in items
        if entry.name.endswith(".xmp"):
            continue
        if entry.ingest is None:
            fine = is_item and not any(bad for _, bad in reasons) and (entry.note or not reasons)
        elif entry.note:
            fine = reasons == [(entry.ingest, False)] and is_item == (entry.ingest != "unsupported")
        else:
            fine = reasons == [(entry.ingest, True)] and not is_item
        if not fine:
            wrong.append((entry.name, entry.ingest, is_item, reasons))
    assert wrong == [] and found == {}
    assert hashes(folder) == before
    assert check.problems(folder.parent / "h.manyview") == []
    assert slowest[0] < 30, slowest


def test_the_tool_stays_small(hostile, tmp_path):
    folder, _ = hostile
    code = (
        "import sys; from manyview import Collection\n"
        "Collection.create(sys.argv[1], sys.argv[2]).close()\n"
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "h.manyview"), str(folder)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert int(shown.stdout) < 300 * 1024  # kB; the bar is 2 GiB for the whole tool


def test_a_table_may_name_every_file_of_the_set(hostile):
    folder, made = hostile
    table = folder.parent / "all.csv"
    lines = ['"' + entry.name.replace('"', '""') + f'",{number}' for number, entry in enumerate(made)]
    table.write_text("file,tags\n" + "\n".join(lines), encoding="utf-8")
    with Collection.create(folder.parent / "t.manyview", table, root=folder) as collection:
        assert len(collection.items) == len(made)  # each row has a tag, so it stays without its picture
        named = {Path(problem.path).name for problem in collection.items.problems()}
        assert {Path(entry.name).name for entry in made if entry.ingest in ("empty", "unknown format")} <= named


@pytest.mark.slow
def test_each_bomb_is_over_soon_and_takes_little(tmp_path, record_property):
    command = [sys.executable, "-m", "tests.ingest.bombs", str(tmp_path)]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    record_property("count", len(found["seconds"]))
    record_property("slowest s", max(found["seconds"].values()))
    record_property("most MB beyond a small picture", max(found["extra"]))
    assert len(found["seconds"]) >= 20 and max(found["seconds"].values()) <= 5, found["seconds"]
    assert max(found["extra"]) <= 300
