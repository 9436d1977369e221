"""The n-th write, sync or rename fails, for every n; and power fails with everything lost that was not synced."""

import errno
import os
import shutil

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview import Collection, RobustMultiviewKMeans, durable, errors
from manyview.collection.safety import check
from manyview.workflow.repair import damage_of

from .samples import looks, picture_folder


class Crash(BaseException):
    """The machine stops."""


class FailingDisk(durable.Disk):
    """Does every step but the n-th, which raises; and remembers what a power failure would undo."""

    def __init__(self, fail_at, error):
        self.fail_at, self.error = fail_at, error
        self.n_steps = 0
        self.unsynced = {}  # file -> itself, or the name it had
        self.unsynced_names = {}  # folder -> undoing of renames in it
        self.appended = None  # a file that grew, and its length before

    def step(self):
        self.n_steps += 1
        if self.n_steps == self.fail_at:
            raise self.error

    def write(self, path, pieces, mode=durable.PRIVATE_FILE):
        self.step()
        self.unsynced[path] = True
        super().write(path, pieces, mode)

    def append(self, path, content):
        self.step()
        self.appended = path, path.stat().st_size
        super().append(path, content)
        self.appended = None

    def cut(self, path, length):
        if isinstance(self.error, Crash):
            return  # a machine that has stopped takes nothing back
        super().cut(path, length)

    def sync_file(self, path, handle):
        self.step()
        super().sync_file(path, handle)
        self.unsynced.pop(path, None)

    def rename(self, old, new):
        self.step()
        super().rename(old, new)
        self.unsynced_names.setdefault(new.parent, []).append((new, old))

    def sync_folder(self, folder):
        self.step()
        super().sync_folder(folder)
        self.unsynced_names.pop(folder, None)

    def mkdir(self, folder, mode=durable.PRIVATE_FOLDER):
        self.step()
        super().mkdir(folder, mode)

    def unlink(self, path):
        self.step()
        super().unlink(path)

    def rmdir(self, folder):
        self.step()
        super().rmdir(folder)

    def lose_power(self):
        """Names that were not synced are the old ones again; files that were not synced are torn."""
        for undone in self.unsynced_names.values():
            for new, old in reversed(undone):
                if new.exists():
                    os.replace(new, old)
        if self.appended is not None:
            path, length = self.appended
            os.truncate(path, (length + path.stat().st_size) // 2)
        for path in self.unsynced:
            if path.exists():
                os.truncate(path, path.stat().st_size // 2)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A collection with a view in two segments, thumbnails and a run."""
    folder = tmp_path_factory.mktemp("faults")
    with Collection.create(folder / "start.manyview", picture_folder(folder / "pictures", 6)) as collection:
        ids = collection.items.ids
        collection.add_view("looks", "1", looks(ids[:3]), ids[:3])
        collection.add_view("looks", "1", looks(ids[3:]), ids[3:])
        collection.thumbs.add({1: b"one"})
        collection.save_run("rmkmc", ids % 2, model=model())
    return folder / "start.manyview"


def model():
    made = RobustMultiviewKMeans(n_clusters=2)
    made.labels_ = np.arange(6) % 2
    return made


def ids(collection):
    return collection.items.ids


ACTIONS = {
    "add a view": lambda c: c.add_view("new", "1", looks(ids(c))),
    "add a sparse view": lambda c: c.add_view("words", "1", csr_matrix(looks(ids(c)))),
    "replace rows": lambda c: c.add_view("looks", "1", looks(ids(c)[:2]) + 1, ids(c)[:2]),
    "replace a view": lambda c: c.add_view("looks", "2", looks(ids(c)) + 1),
    "merge": lambda c: c.merge_view("looks"),
    "remove a view": lambda c: c.remove_view("looks"),
    "thumbnails": lambda c: c.thumbs.add({2: b"two", 3: b"three"}),
    "an answer": lambda c: c.decide([(1, "word"), (2, "even")], True, who="test"),
    "a name": lambda c: c.edit("rename", 1, "named", who="test"),
    "save a model": lambda c: c.save_run("rmkmc", ids(c) % 2, model=model()),
}


STEPS = {  # how many steps an action has beside the catalogue's own, which test_system_faults makes fail
    "add a view": 6,  # folder, its sync, write, sync, rename, sync
    "add a sparse view": 14,
    "replace rows": 4,
    "replace a view": 4,
    "merge": 6,  # and two old files go
    "remove a view": 2,
    "thumbnails": 4,
    "an answer": 2,  # a line in the second place, and its sync
    "a name": 2,
    "save a model": 10,  # folder, its sync, write and sync of array and manifest, sync, rename, two syncs
}


def digest_after(path, action):
    with Collection.open(path, write=True) as collection:
        action(collection)
    return check.digest(path)


@pytest.mark.parametrize(
    ("name", "fault"),
    [*((name, fault) for name in ACTIONS for fault in ("ENOSPC", "power")), ("merge", "EIO"), ("thumbnails", "EACCES")],
)
def test_old_or_new_but_never_between(start, tmp_path, monkeypatch, name, fault):
    before = check.digest(start)
    after = digest_after(shutil.copytree(start, tmp_path / "whole"), ACTIONS[name])
    n = 0
    while True:
        n += 1
        path = shutil.copytree(start, tmp_path / "copy")
        collection = Collection.open(path, write=True)
        error = Crash() if fault == "power" else OSError(getattr(errno, fault), os.strerror(getattr(errno, fault)))
        disk = FailingDisk(n, error)
        monkeypatch.setattr(durable, "disk", disk)
        happened = True
        try:
            ACTIONS[name](collection)
        except errors.StoreError as raised:
            assert fault != "power" and str(path) in str(raised)
            happened = False
        except Crash:
            happened = False
        monkeypatch.undo()
        collection.close()
        if fault == "power":
            disk.lose_power()
        with Collection.open(path, write=True):  # sweeps
            pass
        assert check.problems(path) == [] and damage_of(path) == "", f"step {n}"
        found = check.digest(path)
        assert found in (before, after), f"step {n}"
        assert not happened or found == after, f"step {n}"
        if found == before != after:
            assert digest_after(path, ACTIONS[name]) == after, f"step {n}"  # the same again, on a disk that works
        shutil.rmtree(path)
        if happened and disk.n_steps < n:
            break
    n_steps = n - 1
    assert n_steps == STEPS[name]
