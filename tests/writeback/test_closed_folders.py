"""Folders of originals that cannot be written, while the collection can."""

import errno
import os

import pytest

from manyview import durable
from manyview.errors import StoreError

from .test_write_back import words


@pytest.fixture
def closed(four, monkeypatch):
    """Close the folder of the originals, as a disk that is mounted read-only is; the way to open it again."""

    def close(number=errno.EROFS):
        for name in ("write", "rename", "unlink"):
            plain = getattr(durable.disk, name)

            def refused(path, *rest, plain=plain):
                if path.parent == four.source:
                    raise OSError(number, os.strerror(number), str(path))
                return plain(path, *rest)

            monkeypatch.setattr(durable.disk, name, refused)

    close.open = monkeypatch.undo
    return close


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_the_folder_that_is_closed_is_named(four, closed, number):
    four.decide([(2, "dog")], True)
    sidecar, folder = four.source / "p001.png.xmp", f"its folder {four.source} "
    closed(number)
    (failed,) = four.apply().failed
    assert failed.sentence.startswith(f"{sidecar}: {folder}") and "Make that folder writable." in failed.sentence
    closed.open()
    four.apply()
    closed(number)
    with pytest.raises(StoreError) as refused:
        four.undo()
    said = str(refused.value)
    assert f"{sidecar}: {folder}" in said and "Make that folder writable. The same command tries again." in said
    assert "Copy the collection" not in said and ".tmp" not in said
    closed.open()
    four.undo()
    assert not sidecar.exists()


def test_a_batch_that_was_stopped_goes_on_when_the_folder_is_open(four, closed, monkeypatch):
    four.decide([(2, "dog")], True)
    with monkeypatch.context() as stopped:
        stopped.setattr("manyview.writeback.file_batches._at_once", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            four.apply()
    closed()
    with pytest.raises(StoreError, match=r"p001.png.xmp: .* Make that folder writable, and run the same command again"):
        four.apply()
    closed.open()
    four.apply()
    assert words(four.source / "p001.png.xmp") == ["dog"]
