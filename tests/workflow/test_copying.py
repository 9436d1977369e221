"""A copy of a collection is whole and of one moment, whoever writes meanwhile."""

import threading

import pytest

from manyview import Collection, RobustMultiviewKMeans
from manyview.collection.safety.check import digest, problems
from manyview.errors import StoreError
from manyview.workflow.copying import copy_collection
from manyview.workflow.repair import damage_of

from ..collection.samples import looks, picture_folder
from ..collection.test_modes import open_to_others
from ..end_to_end.test_command_line import run


@pytest.fixture
def path(tmp_path):
    with Collection.create(tmp_path / "c.manyview", picture_folder(tmp_path / "p", 12)) as collection:
        ids = collection.items.ids
        collection.add_view("looks", "1", looks(ids))
        collection.thumbs.add({1: b"one"})
        model = RobustMultiviewKMeans(n_clusters=3)
        model.labels_ = ids % 3
        collection.save_run("rmkmc", ids % 3, model=model)
        collection.accept([(1, "word")])
        collection.apply("xmp")
    return tmp_path / "c.manyview"


def test_a_copy_is_the_same_and_lives_on_its_own(path, tmp_path):
    before = digest(path)
    told = run("copy", path, tmp_path / "copy.manyview").stdout
    assert told.startswith("copied 12 items to ")
    assert digest(tmp_path / "copy.manyview") == before == digest(path)
    assert problems(tmp_path / "copy.manyview") == [] and damage_of(tmp_path / "copy.manyview") == ""
    assert open_to_others(tmp_path / "copy.manyview") == []
    with Collection.open(tmp_path / "copy.manyview", write=True) as copy:
        copy.undo()
        copy.undo()
    assert digest(path) == before


def test_what_is_there_is_not_overwritten(path, tmp_path):
    (tmp_path / "copy").mkdir()
    with pytest.raises(StoreError, match="exists already; nothing was written"):
        copy_collection(path, tmp_path / "copy")
    with pytest.raises(StoreError, match="does not exist; make it first"):
        copy_collection(path, tmp_path / "no" / "copy")


def test_copies_taken_while_somebody_writes_are_whole(path, tmp_path):
    stop = threading.Event()
    failed = []

    def write():
        number = 0
        try:
            while not stop.is_set():
                number += 1
                with Collection.open(path, write=True) as collection:
                    collection.accept([(1 + number % 12, f"word {number}")])
                    collection.add_view("more", str(number), looks(collection.items.ids))  # replaces the files
        except Exception as error:  # told at the end
            failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(8):
            copy_collection(path, tmp_path / f"{number}.manyview")
    finally:
        stop.set()
        writer.join()
    assert failed == []
    for number in range(8):
        assert problems(tmp_path / f"{number}.manyview") == []
        assert damage_of(tmp_path / f"{number}.manyview") == ""


def test_a_collection_is_not_copied_into_itself(path):
    before = sorted(path.iterdir())
    with pytest.raises(StoreError, match="inside"):
        copy_collection(path, path / "again.manyview")
    assert sorted(path.iterdir()) == before
