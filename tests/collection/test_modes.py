"""A collection, and what is made of it, is its owner's alone, whatever the umask is."""

import os
import stat

import numpy as np
import pytest

from manyview import Collection
from manyview.collection.safety.check import problems

from .samples import looks, picture_folder


@pytest.fixture(params=[0o000, 0o022], ids=["umask 000", "umask 022"])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def open_to_others(*tops):
    """What others could read, below any of these folders or files."""
    found = []
    for top in tops:
        for path in (top, *top.rglob("*")):
            if path.lstat().st_mode & 0o077:
                found.append(f"{stat.filemode(path.lstat().st_mode)} {path}")
    return found


def test_what_is_made_is_private(tmp_path, umask):
    with Collection.create(tmp_path / "c.manyview", picture_folder(tmp_path / "p", 6)) as collection:
        collection.add_view("looks", "1", looks(collection.items.ids))
        collection.thumbs.add({1: b"picture"})
        collection.save_run("rmkmc", np.zeros(6, dtype=int))
        collection.decide([(1, "word")], True)
        assert open_to_others(collection.path) == []  # with the files that are there while it is open
    assert open_to_others(tmp_path / "c.manyview") == []


def test_an_older_collection_is_closed_when_it_is_opened_for_writing(tmp_path, umask):
    Collection.create(tmp_path / "c.manyview", picture_folder(tmp_path / "p", 2)).close()
    for path in (tmp_path / "c.manyview", *(tmp_path / "c.manyview").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    kept = tmp_path / "c.manyview" / "undo" / "original"  # a second name of somebody's picture
    os.link(tmp_path / "p" / "p000.png", kept)
    mode = (tmp_path / "p" / "p000.png").stat().st_mode
    assert any("can be read by other users" in line for line in problems(tmp_path / "c.manyview"))
    Collection.open(tmp_path / "c.manyview", write=True).close()
    assert [line.split("/")[-1] for line in open_to_others(tmp_path / "c.manyview")] == ["original"]
    assert (tmp_path / "p" / "p000.png").stat().st_mode == mode


def test_a_new_sidecar_is_as_open_as_its_picture(tmp_path, umask):
    source = picture_folder(tmp_path / "p", 4)
    for number, mode in ((1, 0o640), (3, 0o444)):
        (source / f"p{number:03}.png").chmod(mode)
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(2, "new"), (4, "new")], True)
        collection.apply("xmp")
        made = {path.name: stat.S_IMODE(path.stat().st_mode) for path in source.glob("*.png.xmp")}
        assert made == {"p001.png.xmp": 0o640, "p003.png.xmp": 0o644}  # of a protected picture too: it is ours
        collection.decide([(4, "newer")], True)
        assert collection.apply("xmp").failed == []
        collection.undo()
        collection.undo(2)
    assert not list(source.glob("*.png.xmp"))
