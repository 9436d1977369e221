"""A process that looks at a catalogue keeps its locks on it, whatever it opens and closes besides."""

import os
import subprocess
import sys

import numpy as np
import pytest

from manyview import Collection
from manyview.errors import StoreError


@pytest.fixture
def path(tmp_path):
    np.savez(tmp_path / "six.npz", looks=np.arange(12.0).reshape(6, 2))
    Collection.create(tmp_path / "six.manyview", tmp_path / "six.npz").close()
    return tmp_path / "six.manyview"


def locks_on(path):
    """What the kernel says this process has locked of a file."""
    wanted = f":{os.stat(path).st_ino}"
    with open("/proc/locks", encoding="ascii") as file:
        lines = [line.split() for line in file]
    return [line for line in lines if str(os.getpid()) in line and any(part.endswith(wanted) for part in line)]


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="asks the kernel")
def test_readers_keep_their_locks_while_others_open_and_close(path):
    with Collection.open(path) as reader:
        shared = path / "catalog.sqlite-shm"
        before = len(locks_on(path / "catalog.sqlite")), len(locks_on(shared))
        assert sum(before)
        for _ in range(2):
            with Collection.open(path, write=True) as writer:
                writer.decide([(1, "red")], True)
            Collection.open(path).close()
        after = len(locks_on(path / "catalog.sqlite")), len(locks_on(shared))
        assert after == before
        reader.refresh()
        assert reader.tags.names == ("red",)


def test_another_process_does_not_pull_the_files_away(path):
    """The last connection of a process that writes removes the log, unless it sees that somebody is still reading."""
    change = (
        "import sys; from manyview import Collection\n"
        "with Collection.open(sys.argv[1], write=True) as c: c.decide([(int(sys.argv[2]), 'red')], True)"
    )
    with Collection.open(path) as reader:
        for item in range(1, 5):
            with Collection.open(path, write=True) as writer:
                writer.decide([(item, "blue")], True)
            subprocess.run([sys.executable, "-c", change, str(path), str(item)], check=True)
            with Collection.open(path, write=True) as writer:
                writer.decide([(item, "green")], True)
            reader.refresh()
            assert int(reader.tags.yes.sum()) == 3 * item


def test_newer_formats_are_still_refused(path):
    from manyview.collection import layout

    with (path / layout.CATALOG).open("r+b") as file:
        file.seek(60)
        file.write((layout.FORMAT + 1).to_bytes(4, "big"))
    with pytest.raises(StoreError, match="was written by format"):
        Collection.open(path)
    with pytest.raises(StoreError, match="was written by format"):
        Collection.open(path, write=True)
