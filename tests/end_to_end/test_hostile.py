"""The hostile set through `init` and `features`, as a person runs them."""

import hashlib
import json
import subprocess
import sys

import pytest

from manyview import Collection
from manyview.collection.safety import check
from tests.ingest.hostile import write_hostile_set

# Runs one command and prints how much memory it took at most, after what it says.
MEASURED = """
import sys
from manyview.cli.main import app
try:
    app(sys.argv[1:])
except SystemExit as ended:
    code = ended.code or 0
print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
sys.exit(code)
"""
TWO_GIB = 2 * 2**20
"""In kB."""


def measured(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    said, memory = done.stdout.rstrip("\n").rsplit("\n", 1)
    return done.returncode, json.loads(said), int(memory), done.stderr


@pytest.mark.slow
def test_every_bad_file_is_named_and_every_good_one_seen(tmp_path):
    folder, path = tmp_path / "set", tmp_path / "h.manyview"
    folder.mkdir()
    made = write_hostile_set(folder)
    before = {p: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()}
    code, found, memory, said = measured("init", folder, "-o", path, "--json")
    assert code == 3 and memory < TWO_GIB and "Traceback" not in said
    refused = {problem["path"] for problem in found["bad"]}
    code, seen, memory, said = measured("features", path, "--json")
    assert code == 3 and memory < TWO_GIB and "Traceback" not in said
    unseen = {problem["path"]: problem["reason"] for problem in seen["bad"]}
    with Collection.open(path) as collection:
        here = {item.key: item.id for item in collection.items}
        rows = collection.views(["embedding"]).mask[:, 0]
        embedded = {key for (key, _), has in zip(here.items(), rows, strict=True) if has}
        pictures = {item.key for item in collection.items if item.kind in ("picture", "video")}
        problems = {problem.path for problem in collection.items.problems()}
    wrong = []
    for entry in made:
        if entry.name.endswith(".xmp"):
            continue
        if entry.ingest is not None and not entry.note:
            fine = entry.name in refused and entry.name not in here
        elif entry.ingest == "unsupported":
            fine = entry.name in problems and entry.name not in here
        elif not entry.decodes:
            fine = entry.name in unseen and entry.name not in here
        else:
            fine = entry.name in here and entry.name not in unseen
        if not fine:
            wrong.append((entry.name, entry.ingest, entry.decodes, unseen.get(entry.name)))
    assert wrong == [], wrong
    assert pictures == embedded and pictures
    assert all(problem["sentence"].endswith(".") for problem in [*found["bad"], *seen["bad"]])
    assert {p: hashlib.sha256(p.read_bytes()).hexdigest() for p in before} == before
    assert check.problems(path) == []
    code, again, _, _ = measured("features", path, "--json")
    assert (code, again["bad"], again["new_rows"]) == (0, [], {})
