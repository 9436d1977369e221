"""Many new items at once leave the catalogue as one by one does, and what is as before is not written again."""

import pytest

from manyview import Collection
from manyview.collection import arrivals
from manyview.collection.items import NewItem

TABLES = (
    "items",
    "tags",
    "item_tags",
    "tag_paths",
    "item_paths",
)


def new_items(n, start=0, word="wort"):
    return [
        NewItem(
            key=f"row-{number}",
            kind="row",
            text=f"text {number}" if number % 3 else None,
            fields={"label": number % 5},
            tags={"table": [f"{word}{number % 7}", f"WORT{number % 11}"][: number % 3]},
            paths={"table": [("Top", f"under{number % 2}")]} if number % 4 == 0 else {},
        )
        for number in range(start, start + n)
    ]


@pytest.fixture
def make(tmp_path):
    made = []

    def one(name):
        folder = tmp_path / f"{name}-source"
        folder.mkdir()
        made.append(Collection.create(tmp_path / name, folder))
        return made[-1]

    yield one
    for collection in made:
        collection.close()


def contents(collection):
    catalog = collection._catalog
    found = {table: sorted(catalog.rows(f"SELECT * FROM {table}"), key=repr) for table in TABLES}  # noqa: S608
    words = "SELECT rowid FROM item_words WHERE item_words MATCH ? ORDER BY rowid"
    found["words"] = [catalog.rows(words, (word,)) for word in ("row", '"row 4"', "text", '"text 13"')]
    found["schema"] = sorted(catalog.rows("SELECT type, name, tbl_name, sql FROM sqlite_master"), key=repr)
    return found


def versions(collection):
    return dict(collection._catalog.rows("SELECT part, n FROM versions"))


def test_many_at_once_equal_one_by_one(make, monkeypatch):
    kept = []
    for name, many in (("slow", 10**9), ("fast", 1)):
        monkeypatch.setattr(arrivals, "_MANY", many)
        collection = make(name)
        before = versions(collection)
        numbers = collection.put_items(1, new_items(40))
        numbers += collection.put_items(1, new_items(30, start=25, word="Wort"))  # some are known, and changed
        assert numbers == [*range(1, 41), *range(26, 41), *range(41, 56)]
        assert all(versions(collection)[part] > before[part] for part in ("items", "tags"))
        kept.append(contents(collection))
    for part, found in kept[0].items():
        assert kept[1][part] == found, part


def test_what_is_as_before_is_not_written_again(make):
    collection = make("same")
    collection.put_items(1, new_items(50))
    seen, before = versions(collection), contents(collection)
    assert collection.put_items(1, new_items(50)) == list(range(1, 51))
    assert versions(collection) == seen
    assert contents(collection) == before
    collection.items.gone([7])
    assert collection.put_items(1, new_items(50)) == list(range(1, 51))
    assert len(collection.items) == 50


def test_a_key_twice_in_one_batch_is_one_item(make, monkeypatch):
    monkeypatch.setattr(arrivals, "_MANY", 1)
    collection = make("twice")
    first, second = new_items(1)[0], NewItem(key="row-0", kind="row", tags={"table": ["last"]})
    assert collection.put_items(1, [first, second]) == [1, 1]
    assert collection.tags.names == ("last",)


def test_a_failure_leaves_the_triggers(make, monkeypatch):
    monkeypatch.setattr(arrivals, "_MANY", 1)
    collection = make("failing")
    before = contents(collection)
    bad = NewItem(key="bad", kind="no such kind")
    with pytest.raises(Exception, match="CHECK constraint"):
        collection.put_items(1, [*new_items(5), bad])
    assert contents(collection) == before
    with collection.transaction():  # somebody who goes on all the same
        with pytest.raises(Exception, match="CHECK constraint"):
            collection.put_items(1, [bad])
    assert contents(collection)["schema"] == before["schema"]
