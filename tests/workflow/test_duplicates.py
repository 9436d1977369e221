"""Pictures that are there twice: found, ranked, marked, listed, and never deleted."""

import csv
import json
import shutil

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from manyview.errors import ParameterError, StoreError
from manyview.workflow.reading.duplicates import find_duplicates, mark_duplicates, write_duplicates
from manyview.writeback.editor import Edit, new_document
from tests.cli.test_tags import ask, run


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    rng = np.random.default_rng(0)
    pictures = [Image.fromarray(np.uint8(np.kron(rng.integers(0, 256, (6, 8, 3)), np.ones((20, 20, 1))))) for _ in "ab"]
    pictures[0].save(folder / "IMG_1.png")
    shutil.copy(folder / "IMG_1.png", folder / "IMG_1 (1).png")
    pictures[0].resize((80, 60)).save(folder / "small.png")
    pictures[1].save(folder / "b.png")
    shutil.copy(folder / "b.png", folder / "z.png")
    (folder / "z.png.xmp").write_bytes(new_document(Edit(("beach", "sea"))))
    with Collection.create(tmp_path / "photos.manyview", folder) as made:
        ids = {item.key: item.id for item in made.items}
        made.items.set_duplicates({ids["small.png"]: ids["IMG_1.png"]})  # as a look at the pictures finds it
        made.items.describe((_fingerprint(ids[key]), *size) for key, size in SIZES.items())
        yield made


SIZES = {
    "IMG_1.png": (160, 120),
    "IMG_1 (1).png": (160, 120),
    "small.png": (80, 60),
    "b.png": (160, 120),
    "z.png": (160, 120),
}


def _fingerprint(item):
    from manyview.collection.items import Fingerprint

    return Fingerprint(item, 0, b"")


def told(groups):
    return [(one.kind, [(copy.key, copy.is_exact, copy.why) for copy in one.copies]) for one in groups]


def test_of_equal_copies_the_shorter_name_is_kept_and_said_to_be(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.new("RGB", (40, 30)).save(folder / "IMG_1003.png")
    shutil.copy(folder / "IMG_1003.png", folder / "new.png")
    with Collection.create(tmp_path / "c.manyview", folder) as collection:
        (group,) = find_duplicates(collection)
        assert [(one.key, one.why) for one in group.copies] == [
            ("new.png", "the shorter name"),
            ("IMG_1003.png", "the same bytes"),
        ]
    assert "1 group, 1 item that repeats another" in run("duplicates", tmp_path / "c.manyview")


def test_what_would_be_kept_and_why(photos):
    assert told(find_duplicates(photos)) == [
        (
            "near",
            [
                ("IMG_1.png", True, "its name is no copy's"),
                ("IMG_1 (1).png", True, "the same bytes"),
                ("small.png", False, "smaller, 80 x 60"),
            ],
        ),
        ("exact", [("z.png", True, "more is known of it: 2 tags, 1 fact"), ("b.png", True, "the same bytes")]),
    ]
    assert [one.kind for one in photos.duplicates("exact")] == ["exact"]
    with pytest.raises(ParameterError, match="exact or near; got 'odd'"):
        photos.duplicates("odd")


def test_a_mark_is_never_reversed(photos):
    """Marked again, and written into sidecars, the same copies carry it: who deletes these keeps one of each."""
    kept = {one.kept.key for one in find_duplicates(photos)}
    for _ in range(2):
        mark_duplicates(photos, "copy")
        photos.apply("xmp")
        photos.read(photos.items.sources()[0]["path"])
        assert {one.kept.key for one in find_duplicates(photos)} == kept
    marked = {item.key for item in photos.items if "copy" in photos.tagging.words_of(item.id)}
    assert not marked & kept and len(marked) == 3


def test_marks_and_lists(photos, tmp_path):
    files = {path.name: path.read_bytes() for path in (tmp_path / "photos").iterdir()}
    entry = mark_duplicates(photos, "copy", who="ada")
    marked = {item.key for item in photos.items if "copy" in photos.tagging.words_of(item.id)}
    assert marked == {"IMG_1 (1).png", "small.png", "b.png"} and entry.who == "ada"
    photos.undo(entry.id)
    for name in ("list.csv", "list.json"):
        write_duplicates(find_duplicates(photos), tmp_path / name)
    rows = list(csv.DictReader((tmp_path / "list.csv").read_text().splitlines()))
    assert [(row["group"], row["keep"], row["path"]) for row in rows][:2] == [
        ("1", "True", "IMG_1.png"),
        ("1", "False", "IMG_1 (1).png"),
    ]
    assert [row["path"] for row in json.loads((tmp_path / "list.json").read_text())] == [row["path"] for row in rows]
    with pytest.raises(ParameterError, match=r"\.csv or \.json"):
        write_duplicates([], tmp_path / "list.txt")
    with pytest.raises(StoreError, match="folder does not exist"):
        write_duplicates([], tmp_path / "none" / "list.csv")
    assert {path.name: path.read_bytes() for path in (tmp_path / "photos").iterdir()} == files


def test_the_command(photos, tmp_path):
    path = photos.path
    photos.close()
    said = run("duplicates", path)
    assert "keep IMG_1.png: its name is no copy's" in said and "2 groups, 3 items that repeat others" in said
    assert "and 1 more groups" in run("duplicates", path, "--rows", 1)
    done = ask("duplicates", path, "--kind", "exact", "--mark", "copy")
    assert done["groups"] == 1 and done["entry"] == 1
    assert "wrote" in run("duplicates", path, "-o", tmp_path / "out.csv") and (tmp_path / "out.csv").exists()
    empty = tmp_path / "e.csv"
    empty.write_text("id,words\n1,a\n")
    run("init", empty, "-o", tmp_path / "e.manyview")
    assert "no duplicates are known; near ones are found by" in run("duplicates", tmp_path / "e.manyview")
    with Collection.open(tmp_path / "e.manyview", write=True) as looked_at:
        looked_at.items.describe([(_fingerprint(1), 40, 30)])
    assert "no two pictures show the same" in run("duplicates", tmp_path / "e.manyview")
    assert "no duplicates are known" in run("duplicates", tmp_path / "e.manyview", "--mark", "x", code=2)
