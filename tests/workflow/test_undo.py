"""Taking back: decisions, and files that were written, whatever happened to them since."""

import errno
import os
import shutil

import pytest

from manyview import Collection, durable
from manyview.collection.safety import check
from manyview.errors import ParameterError, StoreError
from manyview.writeback import file_batches
from tests.collection.samples import picture_folder, sidecar
from tests.collection.test_faults import Crash, FailingDisk

from ..writeback.test_write_back import snapshot, states, words


@pytest.fixture
def four(tmp_path):
    source = picture_folder(tmp_path / "pictures", 4)
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.source = source
        yield collection


def test_the_last_the_named_and_the_refused(four):
    first = four.decide([(1, "dog")], True)
    second = four.decide([(2, "cat")], True)
    assert four.undo().undoes == second.id
    assert four.undo(first.id).undoes == first.id
    assert four.tagging.words_of(1) == ["even", "number 0"]
    with pytest.raises(StoreError, match="nothing to undo"):
        four.undo()
    with pytest.raises(StoreError, match="undone already, by entry 4"):
        four.undo(first)
    with pytest.raises(ParameterError, match="no entry 99"):
        four.undo(99)
    with pytest.raises(ParameterError, match="by its number"):
        four.undo("1")
    assert four.undo(3).undoes == 3  # doing it again
    assert "cat" in four.tagging.words_of(2)


def test_a_decision_that_was_written_is_undone_after_the_writing(four):
    accepted = four.decide([(1, "dog"), (2, "dog")], True)
    written = four.apply().entry
    with pytest.raises(StoreError, match=rf"entry {written.id} .* has written 'dog' since; undo that first"):
        four.undo(accepted.id)
    with pytest.raises(StoreError, match="Collection.undo"):
        four.history.undo(written.id)
    four.undo(written.id)
    with pytest.raises(StoreError, match="`manyview apply` writes them again"):
        four.undo(written.id + 1)
    four.undo(accepted.id)
    assert four.tagging.words_of(2) == [] and four.apply().changes == []


def test_what_another_program_wrote_since_stays(four):
    before = snapshot(four.source)
    four.decide([(1, "dog"), (2, "dog"), (4, "dog")], True)
    four.decide([(3, "even")], False)
    four.apply()
    (four.source / "p000.xmp").write_text(sidecar("even", "theirs", "DOG"), encoding="utf-8")
    (four.source / "p001.png.xmp").write_text(sidecar("dog", "mine"), encoding="utf-8")
    (four.source / "p002.xmp").write_text(sidecar("new"), encoding="utf-8")
    (four.source / "p003.png.xmp").unlink()
    four.undo()
    assert words(four.source / "p000.xmp") == ["even", "theirs"]
    assert words(four.source / "p001.png.xmp") == ["mine"]
    assert words(four.source / "p002.xmp") == ["new", "even"]  # what we took out is back
    assert not (four.source / "p003.png.xmp").exists()
    assert {p.name for p in before} | {"p001.png.xmp"} == set(os.listdir(four.source))
    assert set(states(four).values()) == {"pending"}
    assert check.problems(four.path) == []


def test_batches_are_undone_in_any_order(four):
    before = snapshot(four.source)
    four.decide([(1, "dog")], True)
    first = four.apply().entry
    four.decide([(1, "cat"), (2, "cat")], True)
    second = four.apply().entry
    four.undo(first.id)
    assert words(four.source / "p000.xmp") == ["even", "number 0", "cat"]
    four.undo(second.id)
    assert snapshot(four.source) == before
    four.apply()
    assert words(four.source / "p000.xmp") == ["even", "number 0", "dog", "cat"]


def test_a_file_that_cannot_be_put_back_is_named_and_tried_again(four):
    before = snapshot(four.source)
    four.decide([(1, "dog"), (2, "dog")], True)
    entry = four.apply().entry
    whole = (four.source / "p000.xmp").read_bytes()
    (four.source / "p000.xmp").write_bytes(b"<broken")
    with pytest.raises(StoreError, match=r"undone but for 1 file,.*p000.xmp: it is not well-formed.*tries again"):
        four.undo()
    assert four.history.get(entry.id).undone_by is None and not (four.source / "p001.png.xmp").exists()
    (four.source / "p000.xmp").write_bytes(whole)
    assert four.undo().undoes == entry.id
    assert snapshot(four.source) == before


def test_a_damaged_old_version_is_refused(four):
    four.decide([(1, "dog")], True)
    four.apply()
    written = snapshot(four.source)
    kept = next((four.path / "undo").rglob("*.zip"))
    kept.write_bytes(b"nothing")
    with pytest.raises(StoreError, match="cannot be read"):
        four.undo()
    assert snapshot(four.source) == written


# --- a disk that fails, and power that does ---


class ReplacingDisk(FailingDisk):
    """Remembers, too, the files that were replaced or removed and may come back when power fails."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.old = {}

    def rename(self, old, new):
        content = new.read_bytes() if new.exists() else None
        super().rename(old, new)
        self.old.setdefault(new.parent, []).append((new, content))

    def set_mode(self, path, mode):
        self.step()
        super().set_mode(path, mode)

    def unlink(self, path):
        content = path.read_bytes() if path.is_file() else None
        super().unlink(path)
        if path.suffix == ".xmp":
            self.old.setdefault(path.parent, []).append((path, content))

    def sync_folder(self, folder):
        super().sync_folder(folder)
        self.old.pop(folder, None)

    def lose_power(self):
        super().lose_power()
        for undone in self.old.values():
            for path, content in reversed(undone):
                if content is not None:
                    path.write_bytes(content)


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """A collection with tags to be put in and taken out, of three files in two folders, in groups of two."""
    folder = tmp_path_factory.mktemp("faults")
    picture_folder(folder / "pictures", 2)
    picture_folder(folder / "pictures" / "more", 1)
    with Collection.create(folder / "c.manyview", folder / "pictures") as collection:
        ids = collection.items.ids
        collection.decide([(n, "dog") for n in ids], True, who="me")
        collection.decide([(ids[0], "even")], False, who="me")
    return folder


def do(path, action):
    with Collection.open(path, write=True) as collection:
        if action == "apply":
            collection.apply(who="me")
        elif collection.history.get(WRITING).undone_by is None:
            collection.undo(WRITING, who="me")


WRITING = 3
"""The entry of the first batch: there are two of decisions before it."""


def moved(ready, target):
    """A copy of the collection and its pictures, in the same place each time: the catalogue holds whole paths."""
    if target.exists():
        shutil.rmtree(target)
    return shutil.copytree(ready, target)


def state_of(folder):
    found = check.digest(folder / "c.manyview")
    return {k: v for k, v in found.items() if k != "items"}, snapshot(folder / "pictures")  # items hold times


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "fault"),
    [("apply", "ENOSPC"), ("apply", "EACCES"), ("apply", "power"), ("undo", "ENOSPC"), ("undo", "power")],
)
def test_the_nth_step_fails_for_every_n(ready, monkeypatch, action, fault):
    monkeypatch.setattr(file_batches, "GROUP", 2)
    monkeypatch.setattr(file_batches, "WRITERS", 1)  # steps in the same order each time
    monkeypatch.setattr("manyview.writeback.apply.GROUP", 2)
    work = ready.parent / f"{ready.name}-work"
    spare = ready.parent / f"{ready.name}-spare"
    try:
        os.rename(ready, spare)  # the copies stand where the catalogue says
        start = moved(spare, ready)
        if action == "undo":
            do(start / "c.manyview", "apply")
            moved(start, work)
        else:
            moved(spare, work)
        do(start / "c.manyview", action)
        expected = state_of(start)
        n = 0
        while True:
            n += 1
            moved(work, ready)
            code = None if fault == "power" else getattr(errno, fault)
            disk = ReplacingDisk(n, Crash() if code is None else OSError(code, os.strerror(code)))
            collection = Collection.open(ready / "c.manyview", write=True)
            monkeypatch.setattr(durable, "disk", disk)
            fine = False
            try:
                done = collection.apply(who="me") if action == "apply" else collection.undo(WRITING, who="me")
                fine = action == "undo" or not done.failed
            except (StoreError, Crash) as error:
                assert (fault == "power") == isinstance(error, Crash)
                assert fault == "power" or str(ready) in str(error)
            monkeypatch.setattr(durable, "disk", durable.Disk())
            collection.close()
            if fault == "power":
                disk.lose_power()
            for path, content in snapshot(ready / "pictures").items():
                if path.suffix == ".png":
                    assert content == snapshot(spare / "pictures")[path]
                elif not path.name.startswith("."):
                    words(ready / "pictures" / path)  # whole, whatever happened
            with Collection.open(ready / "c.manyview") as reading:
                assert "dog" in reading.tagging.words_of(1)  # accepted stays accepted
            if not fine:
                do(ready / "c.manyview", action)  # the same again, on a disk that works
            found = state_of(ready)
            if fault == "EACCES" and not fine and action == "apply":
                # Files were written in two batches then; what stands in them is the same.
                assert found[1] == expected[1], f"step {n}"
            else:
                differing = [key for key in expected[0] if found[0].get(key) != expected[0][key]]
                assert differing == [] and found[1] == expected[1], f"step {n}"
            with Collection.open(ready / "c.manyview", write=True):
                pass
            assert check.problems(ready / "c.manyview") == [], f"step {n}"
            if disk.n_steps < n:
                break
        assert n > 12
    finally:
        shutil.rmtree(ready, ignore_errors=True)
        os.rename(spare, ready)
        shutil.rmtree(work, ignore_errors=True)


def test_a_batch_that_was_stopped_can_be_undone(tmp_path, monkeypatch):
    source = picture_folder(tmp_path / "pictures", 4)
    before = snapshot(source)
    monkeypatch.setattr("manyview.writeback.apply.GROUP", 1)
    monkeypatch.setattr(file_batches, "WRITERS", 1)
    collection = Collection.create(tmp_path / "c.manyview", source)
    collection.decide([(n, "dog") for n in (1, 2, 3, 4)], True)
    disk = FailingDisk(13, Crash())  # one file is written, the next one waits for its name
    monkeypatch.setattr(durable, "disk", disk)
    with pytest.raises(Crash):
        collection.apply()
    monkeypatch.undo()
    collection.close()
    assert snapshot(source) != before
    with Collection.open(tmp_path / "c.manyview", write=True):
        assert not list(source.glob(".*"))  # nothing strays after the next start
    with Collection.open(tmp_path / "c.manyview", write=True) as collection:
        assert collection.writes.open_batch() is not None
        assert collection.undo().summary.startswith("undid 2: put")
        assert snapshot(source) == before and collection.writes.open_batch() is None


def test_a_sidecar_of_the_other_kind_of_name_is_somebody_elses(four):
    """Ours was removed; what Lightroom calls its own says the same word, and keeps it."""
    four.decide([(2, "dog")], True)
    done = four.apply()
    (four.source / "p001.png.xmp").rename(four.source / "p001.xmp")
    held = (four.source / "p001.xmp").read_bytes()
    four.undo(done.entry.id)
    assert (four.source / "p001.xmp").read_bytes() == held


def test_sidecars_that_are_away_are_not_called_undone(four, tmp_path):
    before = snapshot(four.source)
    four.decide([(1, "dog"), (2, "dog")], True)
    done = four.apply()
    four.source.rename(tmp_path / "away")
    with pytest.raises(StoreError, match=r"undone but for 2 files.*its folder is away"):
        four.undo(done.entry.id)
    (tmp_path / "away").rename(four.source)
    for ending in ("png", "png.xmp"):
        (four.source / f"p001.{ending}").rename(four.source / f"moved.{ending}")
    four.read(four.source)
    four.undo(done.entry.id)
    before, after = ({str(name) for name in one} for one in (before, snapshot(four.source)))
    assert after == before - {"p001.png"} | {"moved.png"}
