"""The search language, and the arrays it looks into."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyview import Collection
from manyview.errors import ParameterError
from manyview.web.api.items import tags_page
from manyview.workflow.reading.index import Index
from manyview.workflow.reading.parts import Parts
from manyview.workflow.reading.search import Query, Term, find_rows, matching, parse_query
from manyview.writeback.item_files import Files

from ...search_table import TABLE, make_collection, make_pictures, say_the_rest


@pytest.fixture
def made(tmp_path):
    with make_collection(tmp_path) as found:
        yield found


def find(made, text):
    index = Index(made)
    mask = matching(index, parse_query(text), index.run())
    keys = index.keys(index.ids[mask].tolist())
    return sorted(key.decode() for key in keys.values())


def test_every_question_of_the_table(made):
    say_the_rest(made)
    for text, expected in TABLE["questions"]:
        assert find(made, text) == sorted(expected), text


def test_every_question_of_the_table_about_pictures(tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with make_pictures(tmp_path) as pictures:
        for text, hits, n_more, seen, sentence in TABLE["pictures"]["questions"]:
            found = pictures.search(text)
            told = [[pictures.items.get(hit.item).key, hit.how] for hit in found.hits]
            assert [told, len(found.more), found.seen, found.sentence] == [hits, n_more, seen, sentence], text
        for text in TABLE["pictures"]["unknown"]:  # sentences are asked of pictures where there is a text model
            assert pictures.search(text).seen is not None


@pytest.mark.parametrize(("text", "sentence"), TABLE["refused"])
def test_sentences_about_what_is_wrong(text, sentence):
    with pytest.raises(ParameterError, match=sentence):
        parse_query(text)


words = st.text(st.characters(exclude_characters='"', exclude_categories=("Z", "C")), min_size=1, max_size=8)
terms = st.one_of(
    st.builds(Term, st.sampled_from(["tag", "cluster", "kind", "name", "proposed"]), words, st.booleans()),
    st.builds(Term, st.sampled_from(["untagged", "tagged", "unplaced"]), st.just(""), st.booleans()),
    st.builds(Term, st.just("words"), st.lists(words, min_size=1, max_size=3).map('" '.join), st.booleans()),
    st.builds(Term, st.just("confidence"), st.sampled_from(["0.4", "1", ".5"]), st.booleans(), st.sampled_from("<>")),
)


@given(st.lists(terms, max_size=6))
def test_a_search_survives_being_written_down(parts):
    query = Query(tuple(parts))
    assert parse_query(str(query)) == query


@given(st.text(max_size=60))
def test_any_text_is_a_search_or_a_sentence(text):
    try:
        query = parse_query(text)
    except ParameterError:
        return
    assert parse_query(str(query)) == query


def test_orders(made):
    index = Index(made)
    run, everything = index.run(), np.ones(6, dtype=bool)
    assert find_rows(index, everything).tolist() == list(range(6))
    names = [index.keys([int(index.ids[row])])[int(index.ids[row])].decode() for row in index.by_name]
    assert names == ["-dash", "beach_017.jpg", "IMG 2.png", "plain", "straße", "日本海.txt"]
    assert find_rows(index, everything, run, "confidence").tolist() == [0, 1, 2, 3, 5, 4]
    typical = find_rows(index, everything, run, "typical").tolist()
    assert sorted(typical) == list(range(6)) and typical[-1] == 4
    with pytest.raises(ParameterError, match="sorted by"):
        find_rows(index, everything, run, "colour")


# --- the arrays ---


def test_parts_are_read_again_only_where_they_changed(made):
    parts = Parts()
    before = Index(made, parts)
    said, places, ids = before.known, before.assignment(before.run()), before.ids
    made.decide([(1, "sea")], False)
    after = Index(made, parts)
    assert after.version != before.version
    assert after.ids is ids and after.assignment(after.run()) is places  # nothing of theirs has changed
    assert after.known is not said and after.known[0].size == said[0].size - 1
    assert find(made, "tag:sea") == ["straße"]
    assert dict(after.tag_counts())["sea"] == 1 and after.n_tags.tolist() == [1, 2, 1, 1, 0, 2]
    assert after.answers([(1, "SEA"), (2, "sea")]) == {(1, "SEA"): False}


def test_items_that_go_leave_every_array(made):
    made.items.gone([2])
    index = Index(made)
    assert index.ids.tolist() == [1, 3, 4, 5, 6] and index.n_tags.size == 5
    assert find(made, "tag:people") == ["straße"] and index.assignment(index.run()).tolist() == [1, 2, 2, -1, 1]


def test_the_words_of_an_item_follow_its_text(made):
    made._catalog.run("UPDATE items SET text = 'a new walk' WHERE id = 5")
    assert find(made, "walk") == ["plain"]
    made._catalog.run("UPDATE items SET text = 'gone' WHERE id = 5")
    assert find(made, "walk") == [] and find(made, "gone") == ["plain"]


def test_an_older_collection_gets_its_word_index(tmp_path, monkeypatch):
    from manyview.collection import layout

    with monkeypatch.context() as older:
        older.setattr(layout, "MIGRATIONS", layout.MIGRATIONS[:1])
        older.setattr(layout, "FORMAT", 1)
        import sqlite3

        folder = tmp_path / "old.manyview"
        folder.mkdir()
        with sqlite3.connect(folder / layout.CATALOG) as catalog:
            catalog.executescript(layout.MIGRATIONS[0])
            catalog.execute(f"PRAGMA application_id = {layout.APPLICATION}")
            catalog.execute("PRAGMA user_version = 1")
            catalog.execute("INSERT INTO sources VALUES (1, 'table', x'61', x'61', '{}', 1)")
            row = (1, 1, b"a b", "row", "sea")
            catalog.execute("INSERT INTO items (id, source_id, key, kind, text) VALUES (?, ?, ?, ?, ?)", row)
        catalog.close()
    with Collection.open(folder, write=True) as found:
        assert find(found, "sea") == ["a b"] and find(found, "name:b") == ["a b"]


def test_a_word_has_one_number_wherever_it_is_named(made):
    (item,) = [one.id for one in made.items if one.key == "plain"]
    made.decide([(item, "+1")], True)
    index, number = Index(made), made.tagging.find("+1")
    for word in ("+1", " +1 ", "\t+1", "+1\x00"):
        assert number is not None and made.tagging.find(word) == index.tag_number(word) == number
        assert index.answers([(item, word)]) == {(item, word): True}
        assert index.answered_by(item, word) == made.history.last().id
        assert Files(made).tag_number(word) == number
        assert tags_page(index, word).tags[0].name == "+1"
        assert matching(index, Query((Term("tag", word),)))[index.row_of(item)]


def test_an_item_is_named_by_its_owner_or_by_its_number(made):
    first = next(iter(made.items))
    assert made.items.named(first.key) == made.items.named(str(first.id)) == first
    for name in ("nobody", "99", "²"):
        with pytest.raises(ParameterError, match="there is no item"):
            made.items.named(name)


def test_the_newest_run_of_a_kind(made):
    assert made.runs.newest().id == 1 and made.runs.newest("suggest") is None
    made.runs.save_proposals("by hand", [])
    assert made.runs.newest().id == 1 and made.runs.newest("suggest").id == 2
    assert [run.id for run in made.runs.fits()] == [1]
    made.save_run("rmkmc", np.zeros(6, dtype=int))
    assert made.runs.newest().id == 3 and [run.id for run in made.runs.fits()] == [1, 3]


@pytest.fixture
def taken(tmp_path):
    """Rows that say when, with what and where; one with a year only, one with nothing."""
    lines = [
        "id,taken,camera,lens,latitude,longitude",
        "may,2019-05-31T23:59:59,Canon EOS 80D,EF 50mm,48.137,11.575",
        "june,2019-06-01T00:00:00.5+02:00,Canon EOS 80D,,48.150,11.581",
        "august,2019-08-31,NIKON D90,,-33.857,151.215",
        "some day,2019,,,51.4779,0.0015",
        "next,2020-01-01T10:00:00,Pixel 7,,0,179.999",
        "nothing,,,,,",
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Collection.create(tmp_path / "t.manyview", tmp_path / "t.csv", id="id") as found:
        yield found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("date:2019-06..2019-08", ["august", "june"]),
        ("date:2019", ["august", "june", "may", "some day"]),
        ("date:2019-06-01", ["june"]),
        ("date:..2019-05", ["may"]),
        ("date:2019-08..", ["august", "next"]),
        ("date:..2019", ["august", "june", "may", "some day"]),
        ("-date:2019-01..2030", ["nothing", "some day"]),
        ('camera:"eos 80d"', ["june", "may"]),
        ("camera:nikon", ["august"]),
        ("lens:50mm date:2019-05", ["may"]),
        ("near:48.1374,11.5755,1km", ["may"]),
        ("near:48.1374,11.5755,1.6km", ["june", "may"]),
        ("near:-33.8568,151.2153,100m", ["august"]),
        ("near:0,-179.999,1km", ["next"]),  # over the date line
        ("-near:48,11,5000km", ["august", "next", "nothing"]),
    ],
)
def test_when_with_what_and_where(taken, text, expected):
    assert find(taken, text) == expected


def test_distances_are_those_of_the_globe(taken):
    """Greenwich to Munich, by the law of cosines on a globe of the mean radius."""
    a, b, c, d = map(math.radians, (51.4779, 0.0015, 48.137, 11.575))
    way = 6371.0088 * math.acos(math.sin(a) * math.sin(c) + math.cos(a) * math.cos(c) * math.cos(b - d))
    assert "may" in find(taken, f"near:51.4779,0.0015,{way + 0.01:.2f}km")
    assert "may" not in find(taken, f"near:51.4779,0.0015,{way - 0.01:.2f}km")


@pytest.mark.parametrize(
    "text",
    [
        "date:..",
        "date:June",
        "date:2019-6",
        "date:2019-13",
        "date:2019-02-32",
        "near:48,11",
        "near:48,11,5",
        "near:x,1,1km",
    ],
)
def test_what_is_no_date_or_place_is_said(text):
    with pytest.raises(ParameterError, match="such as"):
        parse_query(text)
