"""Rows that are known by their place: what was said of one never falls on another."""

import pytest

from manyview import Collection, errors

ROWS = ["a dog,x", "a cat,y", "two women,z", "a harbour,", "a red boat,x"]
BY_PLACE = "rows are known by their place in the table: put new ones at the end, or name a column of ids with --id"


def write(folder, rows, header="title,keywords"):
    (folder / "t.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return folder / "t.csv"


@pytest.fixture
def table(tmp_path):
    with Collection.create(tmp_path / "t.manyview", write(tmp_path, ROWS)) as collection:
        yield collection


def words(collection):
    texts = collection.items.texts()
    return {text: collection.tagging.words_of(item.id) for text, item in zip(texts, collection.items, strict=True)}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["new,", *ROWS], r"what was row 3 \('two women'\) is row 4, and 4 others moved too. What you said of 1 row "),
        (ROWS[1:], r"what was row 3 \('two women'\) is row 2"),
        (ROWS[:2] + ROWS[3:], r"what was row 4 \('a harbour'\) is row 3"),  # its own row was taken out
        (sorted(ROWS), r"what was row 3 \('two women'\) is row 5"),
    ],
)
def test_rows_that_moved_under_an_answer_are_refused(table, tmp_path, rows, said):
    table.decide([(3, "woman")], True)
    source = table.items.sources()
    before = words(table)
    path = write(tmp_path, rows)
    for read in (table.read, table.add):
        with pytest.raises(errors.StoreError, match=said) as refused:
            read(path)
        assert "so nothing was changed. Put the rows back where they were, with new ones at the end" in str(
            refused.value
        )
    assert words(table) == before and table.items.sources() == source
    with pytest.raises(errors.StoreError, match="known by their place"):
        table.add(path.rename(tmp_path / "moved.csv"), instead_of=tmp_path / "t.csv")
    assert table.items.sources() == source
    report = table.read(write(tmp_path, [*ROWS, "new,"]))
    assert report.n_new == 1 and words(table)["two women"] == ["z", "woman"]


@pytest.mark.parametrize(
    "table_and_columns", ["pinned_items (item_id, cluster_id)", "placements (item_id, cluster_id)"]
)
def test_every_word_of_a_person_counts(table, tmp_path, table_and_columns):
    sql = f"INSERT INTO {table_and_columns} VALUES (3, ?)"  # noqa: S608  names above
    table._catalog.run(sql, (table.living.new_cluster(),))
    with pytest.raises(errors.StoreError, match="known by their place"):
        table.read(write(tmp_path, ["new,", *ROWS]))


def test_rows_move_freely_where_nobody_spoke_of_them(table, tmp_path):
    table.decide([(1, "pet")], True)
    table.read(write(tmp_path, [*ROWS[:2], "new,", *ROWS[2:]]))
    assert words(table)["a dog"] == ["x", "pet"] and len(table.items) == 6


def test_a_row_may_be_edited_where_it_is(table, tmp_path):
    table.decide([(3, "woman")], True)
    table.read(write(tmp_path, [*ROWS[:2], "two old women,z", *ROWS[3:]]))
    assert words(table)["two old women"] == ["z", "woman"]


def test_rows_without_texts_are_known_again_by_their_other_columns(tmp_path):
    path = write(tmp_path, ["3,x", "5,y", "8,"], "height,keywords")
    with Collection.create(tmp_path / "t.manyview", path) as table:
        table.decide([(2, "large")], True)
        with pytest.raises(errors.StoreError, match="what was row 2 is row 3, and 2 others moved too"):
            table.read(write(tmp_path, ["1,", "3,x", "5,y", "8,"], "height,keywords"))


def test_ids_may_come_in_any_order(tmp_path):
    rows = [f"{n},{row}" for n, row in enumerate(ROWS)]
    with Collection.create(tmp_path / "t.manyview", write(tmp_path, rows, "id,title,keywords")) as table:
        assert table.last_report.notes == []
        table.decide([(3, "woman")], True)
        table.read(write(tmp_path, rows[::-1], "id,title,keywords"))
        assert words(table)["two women"] == ["z", "woman"]


def test_it_is_said_that_rows_are_known_by_their_place(table, tmp_path):
    assert table.last_report.notes == [BY_PLACE]
    assert BY_PLACE in table.add(write(tmp_path, [*ROWS, "new,"])).said
