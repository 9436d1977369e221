import os
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from manyview import Collection, errors
from manyview.collection import layout
from manyview.collection.safety import check

from .samples import looks, picture_folder


@pytest.fixture
def made(tmp_path):
    source = picture_folder(tmp_path / "pictures", 6)
    path = tmp_path / "six.manyview"
    Collection.create(path, source).close()
    return path


def test_a_collection_is_what_the_design_says(made):
    assert {entry.name for entry in made.iterdir()} <= layout.NAMES
    connection = sqlite3.connect(made / layout.CATALOG)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA user_version").fetchone() == (layout.FORMAT,)
    strict = connection.execute("SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 0").fetchall()
    assert {name for (name,) in strict} <= {"sqlite_schema", "sqlite_temp_schema", "sqlite_sequence"}
    connection.close()
    with Collection.open(made, write=True) as collection:
        assert collection._catalog.value("PRAGMA synchronous") == 2


def test_items_tags_and_views_line_up(made):
    with Collection.open(made, write=True) as collection:
        items = list(collection.items)
        assert [item.key for item in items] == [f"p{n:03}.png" for n in range(6)]
        assert [item.id for item in items] == collection.items.ids.tolist() == [1, 2, 3, 4, 5, 6]
        assert all(os.path.isfile(item.path) and item.kind == "picture" for item in items)
        assert collection.items.find("p003.png").id == 4
        assert collection.tags.words_of(2) == ["even", "number 2"]
        collection.add_view("looks", "1", looks(collection.items.ids[:4]), collection.items.ids[:4])
        views = collection.views()
        assert views.names == ("looks",) and views.ids.tolist() == [1, 2, 3, 4, 5, 6]
        assert views.mask[:, 0].tolist() == [True] * 4 + [False] * 2
        assert np.isnan(views["looks"][4:]).all()
        assert "6 items, views: looks" in repr(collection)


def test_a_reader_sees_one_state_until_it_refreshes(made):
    with Collection.open(made) as reader, Collection.open(made, write=True) as writer:
        assert reader.view_names == () and not reader.is_writable
        writer.add_view("looks", "1", looks(writer.items.ids))
        writer.items.gone([1])
        assert reader.view_names == () and len(reader.items) == 6
        reader.refresh()
        assert reader.view_names == ("looks",) and len(reader.items) == 5
        assert reader.views()["looks"].shape == (5, 3)


def test_a_reader_can_still_open_what_it_saw_after_segments_were_merged(made):
    with Collection.open(made, write=True) as writer:
        ids = writer.items.ids
        writer.add_view("looks", "1", looks(ids[:3]), ids[:3])
        writer.add_view("looks", "1", looks(ids[3:]), ids[3:])
        with Collection.open(made) as reader:
            writer.merge_view("looks")
            assert np.array_equal(reader.views()["looks"], looks(ids))
        assert len(list((made / "views" / "looks").iterdir())) == 3
    with Collection.open(made, write=True) as writer:  # nobody reads the old ones any more
        assert len(list((made / "views" / "looks").iterdir())) == 1
        assert isinstance(writer.views()["looks"], np.memmap)


def test_reading_does_not_write(made):
    with Collection.open(made) as reader, pytest.raises(errors.StoreError, match="opened for reading"):
        reader.items.gone([1])


def test_a_read_only_copy_opens(made, monkeypatch):
    Collection.open(made, write=True).close()  # leaves no log behind
    before = {path.name for path in made.iterdir()}
    assert f"{layout.CATALOG}-wal" not in before
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # as on a read-only disk
    with Collection.open(made) as reader:
        assert len(reader.items) == 6
        assert {path.name for path in made.iterdir()} == before


def test_a_newer_format_is_refused_untouched(made):
    connection = sqlite3.connect(made / layout.CATALOG)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute(f"PRAGMA user_version = {layout.FORMAT + 1}")
    connection.close()
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in made.rglob("*") if path.is_file()}
    for write in (False, True):
        with pytest.raises(errors.StoreError) as refusal:
            Collection.open(made, write=write)
        newer, ours = layout.FORMAT + 1, layout.FORMAT
        expected = f"{made} was written by format {newer}; this version reads up to {ours}. Nothing was changed."
        assert str(refusal.value).startswith(expected)
    with pytest.raises(errors.StoreError, match="was written by format"):
        Collection.create(made, made.parent / "pictures")
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in made.rglob("*") if path.is_file()}


def test_an_older_format_becomes_the_newest_when_opened_for_writing(made, monkeypatch):
    added = "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;\nINSERT INTO later VALUES (7);"
    monkeypatch.setattr(layout, "MIGRATIONS", (*layout.MIGRATIONS, added))
    monkeypatch.setattr(layout, "FORMAT", layout.FORMAT + 1)
    with pytest.raises(errors.StoreError, match="Open it once for writing"):
        Collection.open(made)
    with Collection.open(made, write=True) as collection:
        assert collection._catalog.value("SELECT id FROM later") == 7
        assert len(collection.items) == 6
    Collection.open(made).close()


def test_a_migration_that_fails_changes_nothing(made, monkeypatch):
    monkeypatch.setattr(
        layout, "MIGRATIONS", (*layout.MIGRATIONS, "CREATE TABLE later (id INTEGER) STRICT;\nNONSENSE;")
    )
    monkeypatch.setattr(layout, "FORMAT", layout.FORMAT + 1)
    with pytest.raises(sqlite3.OperationalError):
        Collection.open(made, write=True)
    monkeypatch.undo()
    with Collection.open(made) as collection:
        assert collection._catalog.value("SELECT count(*) FROM sqlite_master WHERE name = 'later'") == 0


DYING = """
import os, sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None)
file.execute("PRAGMA cache_size = 1")
file.execute("BEGIN")
file.execute("CREATE TABLE t (x)")
file.executemany("INSERT INTO t VALUES (?)", [("x" * 3000,)] * 50)  # more than the cache holds: the file is written to
os._exit(0)
"""


def test_one_whose_making_died_over_its_first_bytes_is_begun_again(tmp_path):
    folder = tmp_path / "new.manyview"
    folder.mkdir()
    subprocess.run([sys.executable, "-c", DYING, str(folder / "catalog.sqlite")], check=True)
    assert (folder / "catalog.sqlite-journal").stat().st_size > 0
    assert "is unfinished: `manyview init` was interrupted. Run it again as before" in check.problems(folder)[0]
    Collection.create(folder, picture_folder(tmp_path / "pictures", 2)).close()
    assert check.problems(folder) == []


def test_one_that_was_never_made_is_begun_again(tmp_path):
    (tmp_path / "new.manyview").mkdir()
    with sqlite3.connect(tmp_path / "new.manyview" / "catalog.sqlite") as file:
        file.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(
        errors.StoreError, match="is unfinished: `manyview init` was interrupted. Run it again as before"
    ):
        Collection.open(tmp_path / "new.manyview")
    np.save(tmp_path / "given.npy", np.ones((3, 2)))
    Collection.create(tmp_path / "new.manyview", tmp_path / "given.npy").close()
    assert check.problems(tmp_path / "new.manyview") == []


def test_what_is_not_a_collection_is_refused_and_left_alone(tmp_path):
    source = picture_folder(tmp_path / "pictures", 2)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.doc").write_text("mine")
    with pytest.raises(errors.StoreError, match=r"holds 'thesis.doc', which is not part of a collection"):
        Collection.create(foreign, source)
    with pytest.raises(errors.StoreError, match="not a manyview collection"):
        Collection.open(foreign)
    other = sqlite3.connect(foreign / layout.CATALOG)
    other.execute("CREATE TABLE theirs (id)")
    other.commit()
    other.close()
    before = (foreign / layout.CATALOG).read_bytes()
    for write in (False, True):
        with pytest.raises(errors.StoreError, match="not the catalogue of a manyview collection"):
            Collection.open(foreign, write=write)
    assert (foreign / layout.CATALOG).read_bytes() == before
    (foreign / layout.CATALOG).write_bytes(b"nonsense" * 100)
    with pytest.raises(errors.StoreError, match="the catalogue of .* is damaged"):
        Collection.open(foreign, write=True)
    with pytest.raises(errors.StoreError, match="does not exist"):
        Collection.create(tmp_path / "no" / "x.manyview", source)
    with pytest.raises(errors.StoreError, match="does not exist"):
        Collection.create(tmp_path / "x.manyview", tmp_path / "nowhere")
    assert not (tmp_path / "x.manyview").exists()


def test_create_refuses_what_is_finished_and_goes_on_with_what_is_not(made, tmp_path):
    source = tmp_path / "pictures"
    with pytest.raises(errors.StoreError, match="holds a collection already"):
        Collection.create(made, source)
    with Collection.open(made, write=True) as collection:  # as if it had been stopped in the middle
        collection._catalog.run("UPDATE sources SET complete = 0")
        collection._catalog.run("DELETE FROM item_tags WHERE item_id > 4")
        collection._catalog.run("DELETE FROM items WHERE id > 4")
    with Collection.create(made, source) as collection:
        assert len(collection.items) == 6 and str(collection.last_report).endswith("2 new, 4 as before")
    with Collection.open(made, write=True) as collection:
        collection._catalog.run("UPDATE sources SET complete = 0")
    with pytest.raises(errors.StoreError, match="holds a collection already"):
        Collection.create(made, picture_folder(tmp_path / "others", 1))


def test_a_folder_left_by_a_stopped_create_is_taken_over(tmp_path):
    path = tmp_path / "x.manyview"
    path.mkdir()
    (path / layout.CATALOG).write_bytes(b"")
    (path / layout.LOCK).write_bytes(b"")
    with Collection.create(path, picture_folder(tmp_path / "pictures", 2)) as collection:
        assert len(collection.items) == 2
    assert check.problems(path) == []


def test_strays_are_swept_when_the_writer_opens(made):
    (made / "views" / "looks").mkdir()
    strays = ["views/looks/0123.npy", "views/looks/0123.npy.tmp", "thumbs/abc", "thumbs/abc.tmp"]
    for name in strays:
        (made / name).write_bytes(b"x")
    (made / "runs" / "7").mkdir()
    (made / "runs" / "7" / "a.npy").write_bytes(b"x")
    found = check.problems(made)
    assert len(found) == 5 and all("belongs to nothing" in sentence for sentence in found)
    Collection.open(made).close()
    assert (made / strays[0]).exists()  # a reader touches nothing
    Collection.open(made, write=True).close()
    assert check.problems(made) == []
    assert not (made / "views" / "looks").exists() and not (made / "runs" / "7").exists()


def test_the_check_finds_damage(made):
    with Collection.open(made, write=True) as collection:
        collection.add_view("looks", "1", looks(collection.items.ids))
        collection.thumbs.add({1: b"abc", 2: b"de"})
    assert check.problems(made) == []
    (segment,) = (made / "views" / "looks").iterdir()
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-4])
    assert any(str(segment) in sentence for sentence in check.problems(made))
    with Collection.open(made) as collection, pytest.raises(errors.StoreError, match="cannot be read"):
        collection.views()
    segment.write_bytes(whole)
    (pack,) = (made / "thumbs").iterdir()
    pack.write_bytes(b"ab")
    assert any("5 were registered" in sentence for sentence in check.problems(made))
    pack.write_bytes(b"abcde")
    segment.unlink()
    assert any("is registered but not there" in sentence for sentence in check.problems(made))
    segment.write_bytes(whole)
    assert check.problems(made) == []
    with sqlite3.connect(made / layout.CATALOG) as connection:
        connection.execute("INSERT INTO labels (run_id, item_id, label) VALUES (9, 1, 0)")
    connection.close()
    assert any("refers to a row of runs" in sentence for sentence in check.problems(made))
    assert any("no cluster for them" in sentence for sentence in check.problems(made))


def test_the_digest_tells_content_from_form(made, tmp_path):
    ids = np.arange(1, 7)
    with Collection.open(made, write=True) as collection:
        for item in ids:
            collection.add_view("looks", "1", looks(ids[item - 1 : item]), ids[item - 1 : item])
        pieces = check.digest(made)
        collection.merge_view("looks")
        assert check.digest(made) == pieces
        collection.add_view("looks", "1", 2 * looks(ids[:1]), ids[:1])
    changed = check.digest(made)
    assert {name for name in pieces if pieces[name] != changed[name]} == {"view looks"}


def test_a_person_names_an_item_by_its_file_too(tmp_path, monkeypatch):
    (tmp_path / "p").mkdir()
    for folder in ("2019", "2020"):
        picture_folder(tmp_path / "p" / folder, 2)
    (tmp_path / "p" / "2020" / "p001.png").rename(tmp_path / "p" / "2020" / "only.png")
    with Collection.create(tmp_path / "c.manyview", tmp_path / "p") as collection:
        only = collection.items.find("2020/only.png")
        monkeypatch.chdir(tmp_path)
        for name in (str(tmp_path / "p" / "2020" / "only.png"), "p/2020/only.png", "only.png", str(only.id)):
            assert collection.items.named(name) == only
        with pytest.raises(errors.ParameterError, match=r"2 items: '2019/p000.png', '2020/p000.png'. Say which"):
            collection.items.named("p000.png")
        with pytest.raises(errors.ParameterError, match="there is no item 'nly.png'"):
            collection.items.named("nly.png")
