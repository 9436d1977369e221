"""Tags inside files: only through exiftool, only where the picture stays the same, and back byte for byte."""

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from manyview.collection.safety import check
from manyview.collection.safety.unfinished import unfinished
from manyview.errors import MissingExtra, StoreError
from manyview.ingest.keywords import read_keywords
from manyview.writeback.exiftool import find_exiftool

from . import fake_exiftool
from .test_write_back import NAMES, snapshot, states

REAL = shutil.which("exiftool")


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.skipif(REAL is None, reason="no exiftool"))])
def exiftool(request, tmp_path, monkeypatch):
    """A fake one that is always there, and the real one where it is installed."""
    find_exiftool.cache_clear()
    if request.param == "fake":
        put_fake(tmp_path, monkeypatch)
    yield request.param
    find_exiftool.cache_clear()


def put_fake(tmp_path, monkeypatch):
    for name in ("PATH", "PYTHONPATH"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # put back afterwards
    fake_exiftool.put(tmp_path)
    find_exiftool.cache_clear()


def pictures(folder, *names):
    folder.mkdir(exist_ok=True)
    for n, name in enumerate(names):
        pixels = np.random.default_rng(n).integers(0, 255, (40, 60, 3), dtype=np.uint8)
        with open(os.path.join(os.fsencode(folder), name if isinstance(name, bytes) else name.encode()), "wb") as file:
            ending = os.path.splitext(name)[1][1:]
            kind = {"png": "PNG", "tif": "TIFF", "gif": "GIF"}.get(ending if isinstance(ending, str) else "", "JPEG")
            Image.fromarray(pixels).save(file, kind)
    return folder


def tags_in(path, kind="jpeg"):
    with open(path, "rb") as file:
        return read_keywords(file, kind).tags


def pixels_of(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).copy()


def test_into_the_file_and_back(exiftool, tmp_path):
    source = pictures(tmp_path / "pictures", "a.jpg", "b.jpg")
    (source / "a.jpg").chmod(0o640)
    before, pixels = snapshot(source), pixels_of(source / "a.jpg")
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(1, "Hündin & <x>"), (1, "-ver"), (2, "=1")], True)
        collection.add_view("looks", "1", np.ones((2, 3), dtype=np.float32))
        shown = collection.apply("embedded", dry_run=True)
        assert len(shown.changes) == 2 and snapshot(source) == before
        done = collection.apply("embedded")
        assert done.failed == [] and done.entry.detail["target"] == "embedded"
        assert tags_in(source / "a.jpg") == ["Hündin & <x>", "-ver"] and tags_in(source / "b.jpg") == ["=1"]
        assert np.array_equal(pixels_of(source / "a.jpg"), pixels)
        assert stat.S_IMODE((source / "a.jpg").stat().st_mode) == 0o640
        assert sorted(os.listdir(source)) == ["a.jpg", "b.jpg"]
        assert collection.read(source).n_same == 2  # the same pictures: nothing is to be computed again
        assert collection.missing_rows("looks", "1").size == 0
        assert collection.apply("embedded").changes == []
        collection.decide([(1, "-VER")], False)
        collection.apply("embedded")
        assert tags_in(source / "a.jpg") == ["Hündin & <x>"]
        collection.undo()
        assert tags_in(source / "a.jpg") == ["Hündin & <x>", "-ver"]
        collection.undo(done.entry.id)
        assert snapshot(source) == before and states(collection) == {1: "pending", 2: "pending"}
        assert collection.read(source).n_same == 2
    assert check.problems(tmp_path / "c.manyview") == []


def test_files_that_are_away_are_not_called_undone(exiftool, tmp_path):
    """Their disk is not connected, or they were moved: nothing is given up, and the same command tries again."""
    source = pictures(tmp_path / "pictures", "a.jpg", "b.jpg", "c.jpg")
    before = snapshot(source)
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(1, "moo"), (2, "moo"), (3, "moo")], True)
        done = collection.apply("embedded")
        source.rename(tmp_path / "away")
        with pytest.raises(StoreError, match=r"undone but for 3 files.*it is not there: its folder is away"):
            collection.undo(done.entry.id)
        (tmp_path / "away").rename(source)
        (source / "b.jpg").rename(source / "renamed.jpg")
        with pytest.raises(StoreError, match=r"undone but for 1 file,.*b\.jpg: it is not there"):
            collection.undo(done.entry.id)
        collection.read(source)  # `add` finds what was moved
        (source / "c.jpg").unlink(missing_ok=True)
        collection.undo(done.entry.id)
    before, after = ({str(name): content for name, content in one.items()} for one in (before, snapshot(source)))
    assert after == {"a.jpg": before["a.jpg"], "renamed.jpg": before["b.jpg"]}


@pytest.mark.parametrize("target", ["embedded", "xmp"])
def test_where_nothing_is_to_be_written_a_changed_picture_is_no_failure(target, exiftool, tmp_path):
    source = pictures(tmp_path / "pictures", "a.jpg")
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(1, "moo")], True)
        assert collection.apply(target).failed == []
        content = (source / "a.jpg").read_bytes()
        (source / "a.jpg").write_bytes(content + b"more")  # as other programs leave it
        again = collection.apply(target)
        assert again.failed == [] and again.changes == []


@pytest.mark.parametrize("target", ["embedded", "xmp"])
def test_a_picture_that_has_taken_anothers_name_is_left_alone(target, exiftool, tmp_path):
    source = pictures(tmp_path / "pictures", "bee.jpg", "cow.jpg")
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        cow = collection.items.find("cow.jpg").id
        collection.decide([(cow, "moo")], True)
        (source / "cow.jpg").rename(source / "kuh.jpg")
        (source / "bee.jpg").rename(source / "cow.jpg")
        before = snapshot(source)
        done = collection.apply(target)
        assert "it is not the file that was read: run `manyview add` first" in str(done.failed) and not done.changes
        assert snapshot(source) == before
        assert collection.read(source).n_same == 0 and collection.items.get(cow).key == "kuh.jpg"
        assert collection.apply(target).failed == []
        name = "kuh.jpg" if target == "embedded" else "kuh.jpg.xmp"
        assert b"moo" in (source / name).read_bytes()
        os.utime(source / "cow.jpg")  # touched, but the same
        collection.decide([(3 - cow, "buzz")], True)
        assert collection.apply(target).failed == []


@pytest.mark.skipif(REAL is None, reason="no exiftool")
def test_every_format_that_is_allowed(tmp_path):
    source = pictures(tmp_path / "pictures", "a.jpg", "a.png", "a.tif", "a.gif", "raw.tif")
    os.rename(source / "raw.tif", source / "raw.nef")  # a raw file looks like a TIFF inside
    before = snapshot(source)
    pixels = {p.name: pixels_of(p) for p in source.iterdir()}
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(n, "dog") for n in collection.items.ids], True)
        done = collection.apply("embedded")
        assert sorted(problem.path for problem in done.failed) == ["a.gif", "raw.nef"]
        assert all("proved" in problem.sentence for problem in done.failed)
        for name, kind in (("a.jpg", "jpeg"), ("a.png", "png"), ("a.tif", "tiff")):
            assert tags_in(source / name, kind) == ["dog"]
            assert np.array_equal(pixels_of(source / name), pixels[name])
        collection.undo()
        assert snapshot(source) == before


@pytest.mark.skipif(REAL is None, reason="no exiftool")
def test_files_of_several_pictures_are_refused(tmp_path):
    source = pictures(tmp_path / "pictures", "one.tif")
    page, stamp = Image.open(source / "one.tif"), Image.new("RGB", (6, 4))
    page.save(source / "pages.tif", save_all=True, append_images=[page])
    stamp.encoderinfo = {"tiffinfo": {254: 1}}
    page.save(source / "stamp.tif", save_all=True, append_images=[stamp])
    page.save(source / "moves.png", save_all=True, append_images=[stamp.resize(page.size)])
    before = snapshot(source)
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(n, "dog") for n in collection.items.ids], True)
        done = collection.apply("embedded")
        assert [problem.path for problem in done.failed] == ["moves.png", "pages.tif"]
        assert all("more than one picture" in problem.sentence for problem in done.failed)
        for name in ("one.tif", "stamp.tif"):
            assert tags_in(source / name, "tiff") == ["dog"]
        collection.undo()
        assert snapshot(source) == before


@pytest.mark.slow
def test_names_that_would_be_commands(exiftool, tmp_path):
    names = [name.replace(b".png", b".jpg") for name in NAMES[:10:3]] + [b"x |.jpg", b"-if.jpg", b"touch pwned|.jpg"]
    source = pictures(tmp_path / "pictures", *names)
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(n, f"tag {n}") for n in collection.items.ids], True)
        assert collection.apply("embedded").failed == []
        for item in collection.items:
            assert tags_in(item.path) == [f"tag {item.id}"]
    assert sorted(os.listdir(os.fsencode(source))) == sorted(names)


@pytest.mark.parametrize(
    ("way", "words"),
    [("fails", "cannot do that"), ("spoils", "not the same"), ("forgets", "not what was wanted")],
)
def test_a_tool_that_misbehaves_changes_nothing(tmp_path, monkeypatch, way, words):
    put_fake(tmp_path, monkeypatch)
    source = pictures(tmp_path / "pictures", "a.jpg")
    before = snapshot(source)
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(1, "dog")], True)
        monkeypatch.setenv("FAKE_EXIFTOOL", way)
        done = collection.apply("embedded")
        assert words in done.failed[0].sentence and done.entry is None
        assert snapshot(source) == before and states(collection) == {1: "failed"}
        monkeypatch.setenv("FAKE_EXIFTOOL", "")
        assert collection.apply("embedded").failed == [] and states(collection) == {1: "written"}
    find_exiftool.cache_clear()


def test_without_exiftool_or_with_an_old_one(tmp_path, monkeypatch):
    source = pictures(tmp_path / "pictures", "a.jpg")
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(1, "dog")], True)
        find_exiftool.cache_clear()
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(MissingExtra, match=r"12\.38 or newer, and there is none.*apt install"):
            collection.apply("embedded")
        monkeypatch.undo()
        put_fake(tmp_path, monkeypatch)
        monkeypatch.setenv("FAKE_EXIFTOOL", "old")
        with pytest.raises(MissingExtra, match=r"says '12\.30'"):
            collection.apply("embedded")
    find_exiftool.cache_clear()


def test_what_another_program_changed_since_is_not_undone(tmp_path, monkeypatch):
    put_fake(tmp_path, monkeypatch)
    source = pictures(tmp_path / "pictures", "a.jpg")
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(1, "dog")], True)
        entry = collection.apply("embedded").entry
        Image.new("RGB", (9, 9)).save(source / "a.jpg")
        now = snapshot(source)
        with pytest.raises(StoreError, match="another program has changed it since"):
            collection.undo(entry.id)
        assert snapshot(source) == now
    find_exiftool.cache_clear()


@pytest.mark.slow
def test_a_stop_at_any_step_leaves_the_original_or_the_whole_new_file(tmp_path, monkeypatch):
    from manyview.writeback import embed

    put_fake(tmp_path, monkeypatch)
    source = pictures(tmp_path / "pictures", "a.jpg")
    old = snapshot(source)

    class Stop(BaseException):
        pass

    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(1, "dog")], True)
    steps = [(embed, "_copy"), (embed, "write_keywords"), (embed, "_check_same_picture"), (embed, "_keep")]
    steps += [(embed.durable, "sync_folders"), (embed.Files, "record")]
    for where, name in steps:
        real = getattr(where, name)

        def stopping(*arguments, real=real, **options):
            real(*arguments, **options)
            raise Stop

        monkeypatch.setattr(where, name, stopping)
        with Collection.open(tmp_path / "c.manyview", write=True) as collection, pytest.raises(Stop):
            collection.apply("embedded")
        monkeypatch.setattr(where, name, real)
        content = (source / "a.jpg").read_bytes()
        assert content == old[Path("a.jpg")] or tags_in(source / "a.jpg") == ["dog"]
        assert check.problems(tmp_path / "c.manyview") == []  # stopped, and nothing is damaged
        assert "c.manyview --to embedded` finishes it" in unfinished(tmp_path / "c.manyview")[0]
        with Collection.open(tmp_path / "c.manyview", write=True) as collection:
            collection.apply("embedded")
            assert os.listdir(source) == ["a.jpg"] and tags_in(source / "a.jpg") == ["dog"]
            collection.undo()
            assert snapshot(source) == old
    assert check.problems(tmp_path / "c.manyview") == [] == unfinished(tmp_path / "c.manyview")
    find_exiftool.cache_clear()


@pytest.mark.skipif(REAL is None, reason="no exiftool")
def test_every_list_of_a_file_is_kept_in_step(tmp_path):
    """Lists that the file lacks begin with its keywords; a word that goes leaves all of them."""
    find_exiftool.cache_clear()
    source = pictures(tmp_path / "p", "a.jpg", "b.jpg")
    for name, words in {
        "a.jpg": (
            "-XMP-digiKam:TagsList=Places/Rome",
            "-XMP-digiKam:TagsList=sea",
            "-XMP-microsoft:LastKeywordXMP=sea",
        ),
        "b.jpg": ("-IPTC:Keywords=Rome", "-IPTC:Keywords=sea"),
    }.items():
        subprocess.run([REAL, "-q", "-overwrite_original", *words, source / name], check=True)
    before = snapshot(source)

    def lists(name):
        asked = ("-XMP-dc:Subject", "-XMP-lr:HierarchicalSubject", "-XMP-digiKam:TagsList", "-IPTC:Keywords")
        shown = subprocess.run([REAL, "-j", *asked, source / name], capture_output=True, check=True).stdout
        return {key: value for key, value in json.loads(shown)[0].items() if key != "SourceFile"}

    with Collection.create(tmp_path / "c.manyview", source) as collection:
        assert [sorted(collection.tagging.words_of(n)) for n in (1, 2)] == [["Rome", "sea"]] * 2
        collection.decide([(1, "boat"), (2, "boat")], True)
        collection.decide([(1, "sea")], False)
        done = collection.apply("embedded")
        assert done.failed == []
        assert lists("a.jpg") == {
            "Subject": ["Rome", "boat"],
            "HierarchicalSubject": ["Places|Rome", "boat"],
            "TagsList": ["Places/Rome", "boat"],
        }
        assert lists("b.jpg") == {
            "Subject": ["Rome", "sea", "boat"],
            "HierarchicalSubject": ["Rome", "sea", "boat"],
            "TagsList": ["Rome", "sea", "boat"],
            "Keywords": ["Rome", "sea", "boat"],
        }
        assert tags_in(source / "a.jpg") == ["Rome", "boat"]
        collection.undo()
        assert snapshot(source) == before
