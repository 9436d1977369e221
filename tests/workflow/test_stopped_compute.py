"""Stopping the program while it starts must not cost a file."""

import pytest

from manyview import Collection
from manyview.features.opening.decode import DecodePool
from manyview.workflow.compute import compute_views
from tests.collection.samples import picture_folder


class Stop(BaseException):
    """The program is killed."""


def test_files_are_not_given_up_because_the_program_was_stopped_while_starting(tmp_path, monkeypatch):
    source = picture_folder(tmp_path / "pictures", 3)
    path = tmp_path / "c.manyview"
    Collection.create(path, source).close()
    real = DecodePool.decode

    def stopped(self, paths, journal=None):
        for one in paths:
            if journal is not None:
                journal(one)
        raise Stop
        yield

    for _ in range(4):  # every file has been announced, none has been opened
        monkeypatch.setattr(DecodePool, "decode", stopped)
        monkeypatch.setattr("manyview.collection.safety.journal.Journal.finish", lambda self: None)
        with Collection.open(path, write=True) as collection, pytest.raises(Stop):
            compute_views(collection, ["color_moments"], n_jobs=1)
    monkeypatch.undo()
    assert DecodePool.decode is real
    with Collection.open(path, write=True) as collection:
        done = compute_views(collection, ["color_moments"], n_jobs=1)
        assert done.bad == [] and done.rows == {"color_moments": 3} and collection.items.problems() == []


def test_a_file_that_kills_the_program_is_given_up_and_the_others_are_not(tmp_path, monkeypatch):
    source = picture_folder(tmp_path / "pictures", 3)
    path = tmp_path / "c.manyview"
    Collection.create(path, source).close()
    real = DecodePool.decode

    def dying(self, paths, journal=None):
        for one in list(paths):
            if str(one).endswith("p001.png"):
                journal(one)
                raise Stop
            yield from real(self, [one], journal)

    monkeypatch.setattr(DecodePool, "decode", dying)
    monkeypatch.setattr("manyview.collection.safety.journal.Journal.finish", lambda self: None)
    for _ in range(3):
        with Collection.open(path, write=True) as collection, pytest.raises(Stop):
            compute_views(collection, ["color_moments"], n_jobs=1)
    with Collection.open(path, write=True) as collection:
        done = compute_views(collection, ["color_moments"], n_jobs=1)
        assert [(bad.path, bad.reason) for bad in done.bad] == [("p001.png", "crash")]
        assert done.rows == {"color_moments": 2}


def test_who_waits_soon_hears_how_fast_it_goes(tmp_path):
    source = picture_folder(tmp_path / "pictures", 60)
    told = []
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        compute_views(collection, ["color_moments"], n_jobs=1, progress=lambda *said: told.append(said))
    assert [done for what, done, of in told if (what, of) == ("looking at files", 60)] == [0, 16, 48, 60]
