"""Files over which the program died, or was stopped, while it read a folder."""

import os
import subprocess
import sys

import pytest

from manyview import Collection
from manyview.ingest import folder as folder_reading

from . import makers as m
from .test_folder import create, keys, problems


def test_progress_is_told_and_the_name_is_journalled_before_the_file_is_opened(root, monkeypatch):
    for number in range(5):
        (root / f"{number}.png").write_bytes(m.encoded("PNG"))
    told, journalled = [], []
    real = folder_reading.open_regular
    journal = root.parent / "c.manyview" / "journal"

    def opened(path):
        journalled.append(os.path.basename(path) in journal.read_text().splitlines()[-1])
        return real(path)

    monkeypatch.setattr(folder_reading, "open_regular", opened)
    with create(root, progress=lambda *words: told.append(words)):
        pass
    assert told == [("reading", n + 1, 5) for n in range(5)] and journalled == [True] * 5
    assert journal.read_bytes() == b""


def test_a_file_the_program_dies_over_three_times_is_left_out_until_it_changes(root, monkeypatch):
    for name in ("a.png", "bomb.png", "z.png"):
        (root / name).write_bytes(m.encoded("PNG"))
    monkeypatch.setattr(folder_reading, "_BATCH", 1)
    real = folder_reading.read_one

    class Dies(BaseException):
        pass

    def dying(folder, path, found, content, pdf):
        if path == "bomb.png":
            raise Dies
        return real(folder, path, found, content, pdf)

    monkeypatch.setattr(folder_reading, "read_one", dying)
    monkeypatch.setattr(folder_reading, "_ALONE", (sys.executable, "-c", "import os; os.abort()"))
    monkeypatch.setattr(
        "manyview.collection.safety.journal.Journal.finish", lambda self: None
    )  # a dead program tidies nothing
    for _ in range(3):
        with pytest.raises(Dies):
            create(root)
    with create(root) as collection:
        assert keys(collection) == ["a.png", "z.png"] and problems(collection) == {"bomb.png": "crash"}
    monkeypatch.undo()
    monkeypatch.setattr(folder_reading, "_ALONE", (sys.executable, "-c", "import os; os.abort()"))
    with Collection.open(root.parent / "c.manyview", write=True) as collection:
        collection.read(root)
        assert problems(collection) == {"bomb.png": "crash"}
        (root / "bomb.png").write_bytes(m.encoded("PNG", size=(9, 9)))
        collection.read(root)
        assert problems(collection) == {} and keys(collection) == ["a.png", "z.png", "bomb.png"]


def test_a_file_over_which_somebody_stopped_the_program_three_times_is_read(root, monkeypatch):
    (root / "a.png").write_bytes(m.encoded("PNG"))
    (root / "a.xmp").write_bytes(m.xmp("red"))

    class Stopped(BaseException):
        pass

    def stopped(*_):
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(folder_reading, "read_one", stopped)
        patched.setattr("manyview.collection.safety.journal.Journal.finish", lambda self: None)
        for _ in range(3):
            with pytest.raises(Stopped):
                create(root)
    with create(root) as collection:
        assert keys(collection) == ["a.png"] and problems(collection) == {}
        assert collection.journal.deaths == {}


WATCHED = """
import sys
from manyview import Collection
from manyview.collection.safety.journal import Journal
before, late = set(), set()
opening, done = Journal.opening, Journal.done
def opened(self, *file):
    before.update(sys.modules)
    opening(self, *file)
def closed(self, *file):
    late.update(set(sys.modules) - before)
    done(self, *file)
Journal.opening, Journal.done = opened, closed
Collection.create(sys.argv[1], sys.argv[2]).close()
print(*sorted(late))
"""


def test_a_file_is_not_to_blame_for_the_time_of_an_import(root):
    (root / "a.jpg").write_bytes(m.encoded("JPEG"))
    (root / "a.xmp").write_bytes(m.xmp("red"))
    (root / "b.txt").write_text("a few words", encoding="utf-8")
    (root / "c.html").write_text("<p>a few words</p>", encoding="utf-8")
    command = [sys.executable, "-c", WATCHED, str(root.parent / "c.manyview"), str(root)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []
