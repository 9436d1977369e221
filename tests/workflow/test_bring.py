"""Tags of other programs: digiKam's database and Google Takeout's JSON, made by their published schemas."""

import json
import sqlite3

import pytest
from PIL import Image

from manyview import Collection
from manyview.errors import StoreError
from manyview.ingest.takeout import read_takeout
from tests.cli.test_tags import ask, run

SCHEMA = """
CREATE TABLE AlbumRoots (id INTEGER PRIMARY KEY, label TEXT, status INTEGER, type INTEGER, identifier TEXT,
    specificPath TEXT);
CREATE TABLE Albums (id INTEGER PRIMARY KEY, albumRoot INTEGER, relativePath TEXT, date DATE, caption TEXT);
CREATE TABLE Images (id INTEGER PRIMARY KEY, album INTEGER, name TEXT, status INTEGER, category INTEGER);
CREATE TABLE Tags (id INTEGER PRIMARY KEY, pid INTEGER, name TEXT, icon INTEGER, iconkde TEXT);
CREATE TABLE ImageTags (imageid INTEGER, tagid INTEGER);
CREATE TABLE ImageInformation (imageid INTEGER PRIMARY KEY, rating INTEGER);
INSERT INTO AlbumRoots VALUES (1, 'Pictures', 0, 1, 'volumeid:?uuid=abc', '/home/ada/Pictures');
INSERT INTO Albums VALUES (1, 1, '/trips', NULL, NULL), (2, 1, '/', NULL, NULL);
INSERT INTO Images VALUES (1, 1, 'a.png', 1, 1), (2, 2, 'b.png', 1, 1), (3, 1, 'trash.png', 3, 1),
    (4, 1, 'x.png', 1, 1);
INSERT INTO Tags VALUES (1, 0, '_Digikam_Internal_Tags_', 0, ''), (2, 1, 'Scanned for Faces', 0, ''),
    (3, 0, 'Travel', 0, ''), (4, 3, 'Italy', 0, ''), (5, 4, 'Rome', 0, ''), (6, 0, 'sea', 0, '');
INSERT INTO ImageTags VALUES (1, 2), (1, 5), (1, 6), (2, 6), (3, 6), (4, 6);
INSERT INTO ImageInformation VALUES (1, 4), (2, -1);
"""


def make(folder, names):
    for n, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (40 * n, 0, 0)).save(folder / name)
    return Collection.create(folder.parent / "c.manyview", folder)


@pytest.fixture
def photos(tmp_path):
    with make(tmp_path / "photos", ["trips/a.png", "b.png", "other.png"]) as found:
        with sqlite3.connect(tmp_path / "digikam4.db") as made:
            made.executescript(SCHEMA)
        made.close()
        yield found


def said(found):
    return {item.key: sorted(found.tagging.words_of(item.id)) for item in found.items}


def test_digikam(photos, tmp_path):
    database = tmp_path / "digikam4.db"
    before = database.read_bytes()
    trial = photos.bring_in(database, dry_run=True)
    assert (trial.n_items, trial.n_tags, trial.n_unknown, trial.entry) == (2, 3, 1, None)
    b = photos.items.find("b.png").id
    photos.decide([(b, "sea")], False)
    done = photos.bring_in(database, ratings=True, who="ada")
    assert done.sentence == "digiKam: 3 tags for 1 items; 1 files it knows are not in this collection"
    assert said(photos) == {"b.png": [], "other.png": [], "trips/a.png": ["4 stars", "Rome", "sea"]}
    assert ("Travel", "Italy", "Rome") in photos.hierarchy
    assert photos.bring_in(database, ratings=True).entry is None  # nothing is new
    photos.undo(done.entry.id)
    assert said(photos)["trips/a.png"] == [] and photos.hierarchy == []
    assert database.read_bytes() == before


def test_a_place_that_a_tag_has_stays(photos, tmp_path):
    photos.decide([(1, "Rome")], True)
    photos.edit_tags("parent", "Rome", "Cities")
    photos.bring_in(tmp_path / "digikam4.db")
    assert [path for path in photos.hierarchy if path[-1] == "Rome"] == [("Cities", "Rome")]


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be looked at" * 20])
def test_what_is_no_database_of_digikam(photos, tmp_path, content):
    (tmp_path / "odd.db").write_bytes(content)
    with pytest.raises(StoreError, match="not a database of digiKam"):
        photos.bring_in(tmp_path / "odd.db")
    with pytest.raises(StoreError, match="does not exist"):
        photos.bring_in(tmp_path / "none.db")


TAKEN = {"photoTakenTime": {"timestamp": "1560000000"}, "url": "https://photos.google.com/photo/x"}
FILES = {
    "Trip/metadata.json": {"title": "Summer in Rome", "access": "protected"},
    "Trip/IMG_1.png.json": {"title": "IMG_1.png", "people": [{"name": "Ada"}, {"name": " "}, 3], **TAKEN},
    "Trip/IMG_1.png(1).json": {"title": "IMG_1.png", "favorited": True, **TAKEN},
    "Trip/IMG_2.png.supplemental-metadata.json": {"title": "IMG_2.png", "people": [{"name": "Grace"}], **TAKEN},
    "Trip/IMG_3.png.suppl.json": {"title": "IMG_3.png", "favorited": True, **TAKEN},
    "Trip/short.json": {"title": "a name that was cut.png", "people": [{"name": "Ada"}], **TAKEN},
    "Trip/gone.png.json": {"title": "gone.png", "people": [{"name": "Nobody"}], **TAKEN},
}
NAMES = ["IMG_1.png", "IMG_1(1).png", "IMG_2.png", "IMG_3.png", "a name that was cut.png", "plain.png"]


@pytest.fixture
def takeout(tmp_path):
    with make(tmp_path / "takeout", [f"Trip/{name}" for name in NAMES]) as found:
        for name, facts in FILES.items():
            (tmp_path / "takeout" / name).write_text(json.dumps(facts), encoding="utf-8")
        (tmp_path / "takeout" / "Trip" / "broken.png.json").write_text("{")
        yield found


def test_takeout(takeout, tmp_path):
    done = takeout.bring_in(tmp_path / "takeout")
    assert {key.removeprefix("Trip/"): words for key, words in said(takeout).items() if words} == {
        "IMG_1.png": ["Ada"],
        "IMG_1(1).png": ["favorite"],
        "IMG_2.png": ["Grace"],
        "IMG_3.png": ["favorite"],
        "a name that was cut.png": ["Ada"],
    }
    assert ("People", "Ada") in takeout.hierarchy and done.program == "Google Takeout"
    takeout.bring_in(tmp_path / "takeout", albums=True)
    assert all("Summer in Rome" in words for key, words in said(takeout).items() if key.endswith(".png"))


def test_files_that_are_no_takeout(tmp_path):
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    assert read_takeout(tmp_path) == []


def test_the_command(photos, tmp_path):
    path = photos.path
    photos.close()
    assert "digiKam: 3 tags for 2 items" in run("bring", path, tmp_path / "digikam4.db", "--dry-run")
    done = ask("bring", path, tmp_path / "digikam4.db")
    assert done == {"program": "digiKam", "items": 2, "tags": 3, "unknown": 1, "entry": 1}
    assert "is not a database" in run("bring", path, tmp_path / "photos" / "b.png", code=1)
