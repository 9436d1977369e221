"""Words that a person spelled, placed or merged, inside the files themselves."""

import json
import os
import shutil
import subprocess

import pytest

from manyview import Collection
from manyview.writeback.exiftool import find_exiftool

from ..ingest.makers import xmp
from .test_embed import REAL, pictures
from .test_write_back import snapshot


@pytest.fixture(scope="module")
def with_words(tmp_path_factory):
    if REAL is None:
        pytest.skip("no exiftool")
    source = pictures(tmp_path_factory.mktemp("words") / "p", "a.jpg", "b.jpg", "c.jpg")
    for name, words in {
        "a.jpg": ("-IPTC:Keywords=cats", "-IPTC:Keywords=sea", "-XMP-dc:Subject=cats", "-XMP-dc:Subject=sea"),
        "b.jpg": (
            "-XMP-dc:Subject=cats",
            "-XMP-lr:HierarchicalSubject=Animals|cats",
            "-XMP-digiKam:TagsList=Animals/cats",
        ),
    }.items():
        subprocess.run([REAL, "-q", "-overwrite_original", *words, source / name], check=True)
    return source


@pytest.fixture
def kept_words(with_words, tmp_path):
    """Three pictures with words of their own: in IPTC and dc, in paths of both kinds, and none; and what lists say."""
    find_exiftool.cache_clear()
    source = shutil.copytree(with_words, tmp_path / "p")

    def lists(name):
        asked = ("-XMP-dc:Subject", "-XMP-lr:HierarchicalSubject", "-XMP-digiKam:TagsList", "-IPTC:Keywords")
        shown = subprocess.run([REAL, "-j", *asked, source / name], capture_output=True, check=True).stdout
        found = {key: value for key, value in json.loads(shown)[0].items() if key != "SourceFile"}
        return {key: [value] if isinstance(value, str) else sorted(value) for key, value in found.items()}

    with Collection.create(tmp_path / "c.manyview", source) as collection:
        yield collection, source, lists
    find_exiftool.cache_clear()


def test_another_spelling_reaches_every_list_of_a_file(kept_words):
    collection, source, lists = kept_words
    before = snapshot(source)
    cared = collection.edit_tags("rename", "cats", "Cats")
    assert cared.n_files == 2
    shown = collection.apply("embedded", dry_run=True)
    assert [(os.path.basename(one.path), one.lines()) for one in shown.changes] == [
        ("a.jpg", ["+ Cats (Animals|Cats)", "- cats"]),
        ("b.jpg", ["+ Cats (Animals|Cats)", "- cats (Animals|cats)"]),
    ]
    assert len(shown.changes) == cared.n_files and snapshot(source) == before
    assert collection.apply("embedded").failed == []
    assert lists("a.jpg") == {
        "Subject": ["Cats", "sea"],
        "Keywords": ["Cats", "sea"],
        "HierarchicalSubject": ["Animals|Cats", "sea"],
        "TagsList": ["Animals/Cats", "sea"],
    }
    assert lists("b.jpg") == {
        "Subject": ["Cats"],
        "HierarchicalSubject": ["Animals|Cats"],
        "TagsList": ["Animals/Cats"],
    }
    assert lists("c.jpg") == {}
    assert collection.apply("embedded").changes == []  # nothing is left to do
    collection.undo()
    assert snapshot(source) == before
    assert len(collection.apply("embedded", dry_run=True).changes) == 2  # and could be done again


def test_another_place_reaches_the_paths_of_a_file(kept_words):
    collection, source, lists = kept_words
    before = snapshot(source)
    collection.edit_tags("parent", "cats", "Pets")
    assert [one.lines() for one in collection.apply("embedded", dry_run=True).changes] == [
        ["+ Pets|cats"],
        ["+ Pets|cats", "- Animals|cats"],
    ]
    assert collection.apply("embedded").failed == []
    assert lists("b.jpg") == {"Subject": ["cats"], "HierarchicalSubject": ["Pets|cats"], "TagsList": ["Pets/cats"]}
    assert lists("a.jpg")["Subject"] == ["cats", "sea"] and "Pets|cats" in lists("a.jpg")["HierarchicalSubject"]
    assert collection.apply("embedded").changes == []
    collection.undo()
    assert snapshot(source) == before


def test_a_merged_word_goes_and_the_other_comes(kept_words):
    collection, source, lists = kept_words
    before = snapshot(source)
    collection.decide([(3, "Cat")], True)
    cared = collection.edit_tags("merge", "cats", "Cat", into="Cat")
    assert cared.n_files == 2
    done = collection.apply("embedded")
    assert done.failed == [] and len(done.changes) == 3
    assert all("cats" not in values and "Cat" in values for values in (lists(n)["Subject"] for n in ("a.jpg", "b.jpg")))
    assert lists("a.jpg")["Keywords"] == ["Cat", "sea"] and lists("c.jpg")["Subject"] == ["Cat"]
    assert collection.apply("embedded").changes == []
    collection.undo()
    assert snapshot(source) == before


def test_what_only_a_sidecar_says_is_put_into_no_file(kept_words):
    collection, source, _ = kept_words
    with open(source / "c.jpg.xmp", "wb") as sidecar:
        sidecar.write(xmp("sea"))
    collection.read(source)
    assert collection.tagging.words_of(3) == ["sea"]
    collection.edit_tags("rename", "sea", "Sea")
    assert [os.path.basename(one.path) for one in collection.apply("embedded", dry_run=True).changes] == ["a.jpg"]
