import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview import Collection
from manyview.collection.tagging import clean_word
from manyview.data.tags import TagTable


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagging")
    np.save(folder / "given.npy", np.arange(16.0).reshape(8, 2))
    with Collection.create(folder / "eight.manyview", folder / "given.npy") as made:
        yield made


words = st.text(st.characters(), min_size=1, max_size=8).map(clean_word).filter(bool)
spelled = st.one_of(
    st.sampled_from(["dog", "Dog", "DOG", "café", "cafe\u0301", "CAFÉ", "犬", "Straße", "STRASSE"]), words
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(spelled, max_size=5), min_size=8, max_size=8))
def test_the_table_is_that_of_the_lists(collection, lists):
    """Storing words and reading them back is the same as TagTable.from_lists, whatever the spelling."""
    collection.tagging.put({row + 1: {"file": row_words} for row, row_words in enumerate(lists)})
    expected = TagTable.from_lists([_once(row) for row in lists])
    table = collection.tags
    assert table.names == expected.names
    assert (table.yes != expected.yes).nnz == 0 and table.no.nnz == 0
    for row, row_words in enumerate(lists):
        assert sorted(collection.tagging.words_of(row + 1)) == sorted(_once(row_words))


def _once(row):
    """The first spelling of each word counts, as in a file."""
    from manyview.data.tags import match_key

    kept = {}
    for word in row:
        kept.setdefault(match_key(word), word)
    return list(kept.values())


def test_names_are_kept_and_matched_without_case_or_form(collection):
    composed, decomposed = "Fête", unicodedata.normalize("NFD", "fête")
    collection.tagging.put({n: {} for n in range(1, 9)})
    collection.tagging.put({1: {"file": [composed]}, 2: {"sidecar": [decomposed]}, 3: {"table": [decomposed]}})
    assert collection.tags.names == (decomposed,)  # the most frequent spelling is shown
    assert collection.tags.yes.sum() == 3
    assert collection.tagging.words_of(1) == [composed] and collection.tagging.words_of(2) == [decomposed]


def test_a_tag_is_called_as_most_items_spell_it_wherever_it_is_named(collection):
    from manyview.workflow.proposing.suggest import open_proposals

    tagging = collection.tagging
    tagging.put({1: {"file": ["Man", "Sea"]}, 2: {"file": ["man"]}, 3: {"file": ["man"]}, 4: {"file": ["Sea"]}})
    man, sea = tagging.find("MAN"), tagging.find("sea")
    assert tagging.vocabulary()[man] == tagging.names([man])[man] == tagging.called("MAN") == "man"
    because = [["tag", "Man", 1.0, [2]]]
    collection.runs.save_proposals("combined", [(4, man, 0.9, 0.9, None), (2, sea, 0.8, 0.8, because)])
    assert [one.tag for one in open_proposals(collection)] == ["man", "Sea"]
    assert [tag for tag, *_ in collection.runs.rows.by_tag(collection.runs.newest("suggest").id, 0.5)] == ["man", "Sea"]
    assert open_proposals(collection)[1].reason["goes_with"] == ("man",)
    collection.decide([(4, "MAN")], True)
    collection.decide([(2, "sea")], False)
    assert tagging.words_of(1) == ["Man", "Sea"]  # its own spelling
    assert tagging.words_of(4, tagging.vocabulary()) == ["man", "Sea"]
    collection.edit_tags("rename", "sea", "SEA")
    assert collection.decisions.refused(2) == ["SEA"]
    collection.edit_tags("rename", "man", "Person")
    assert tagging.called("man") == "Person" and "man" not in collection.tags.names
    tagging.put({1: {"file": ["MAN"]}, 2: {}, 3: {}, 4: {}})
    for _ in range(4):
        collection.undo()
    assert tagging.vocabulary()[man] == "MAN"  # files were read again since


def test_hierarchical_keywords_add_no_tag(collection):
    collection.tagging.put({n: {} for n in range(1, 9)})
    collection.tagging.put_paths({1: {"file": [("Places", "Europe", "Île-de-France")]}, 2: {"sidecar": [("Places",)]}})
    assert collection.hierarchy == [("Places",), ("Places", "Europe", "Île-de-France")]
    assert collection.tags.n_tags == 0
    collection.tagging.put_paths({1: {}, 2: {}})
    assert collection.hierarchy == []


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        (" dog ", "dog"),
        ("do\0g", "dog"),
        ("a\tb", "a b"),
        ("\x1b[31mred", "[31mred"),
        ("\ud800x", "x"),
        ("犬 ", "犬"),
        ("👩\u200d🚀", "👩\u200d🚀"),  # the joiner is part of the sign
        ("\u202egnp", "\u202egnp"),  # written as it is; whoever shows it escapes it
        ("\x00\x01", ""),
    ],
)
def test_words_lose_only_what_cannot_be_written(word, kept):
    assert clean_word(word) == kept


@pytest.fixture(scope="module")
def spoken(tmp_path_factory):
    """Forty items with tags from two sources, answers both ways, and words that count as others."""
    random = np.random.default_rng(4)
    words = [f"w{number}" for number in range(12)]
    folder = tmp_path_factory.mktemp("spoken")
    np.save(folder / "given.npy", np.arange(80.0).reshape(40, 2))
    with Collection.create(folder / "forty.manyview", folder / "given.npy") as made:
        made.tagging._catalog.run("UPDATE items SET state = 'gone' WHERE id % 9 = 0")
        made.tagging.put(
            {
                item: {"file": list(random.choice(words, 3)), "table": list(random.choice(words, 2))}
                for item in range(1, 41)
            }
        )
        for item, tag in {(int(random.integers(1, 41)), int(random.integers(1, 13))) for _ in range(120)}:
            made.tagging._catalog.run(
                "INSERT INTO decisions (item_id, tag_id, answer, who, at) VALUES (?, ?, ?, 'me', '')",
                (item, tag, int(random.integers(2))),
            )
        made.tagging._catalog.run("INSERT INTO tag_care (tag_id, alias_of) VALUES (2, 5), (7, 5), (9, 1)")
        yield made


def test_one_item_one_tag_and_the_table_say_what_the_view_of_known_tags_says(spoken):
    known = {tuple(row) for row in spoken.tagging._catalog.rows("SELECT item_id, tag_id FROM known_tags")}
    for item in range(1, 41):
        mine = sorted(tag for one, tag in known if one == item)
        assert sorted({row[0] for row in spoken.tagging._shown(item)}) == mine
    for tag in range(1, 13):
        assert sorted(spoken.vocabulary.holders(tag)) == sorted(item for item, one in known if one == tag)
    ids = np.array([item for item in range(1, 41) if item % 9], dtype=np.int64)
    table, numbers = spoken.tagging.table(ids), {name: tag for tag, name in spoken.tagging.vocabulary().items()}
    rows, columns = table.yes.nonzero()
    assert {(int(ids[row]), numbers[table.names[column]]) for row, column in zip(rows, columns, strict=True)} == {
        pair for pair in known if pair[0] % 9
    }


def test_copies_count_the_tags_that_the_view_of_known_tags_says(spoken):
    catalog = spoken.tagging._catalog
    catalog.run("UPDATE items SET duplicate_of = 1 WHERE id > 1")
    known = dict(catalog.rows("SELECT item_id, count(DISTINCT tag_id) FROM known_tags GROUP BY item_id"))
    counted = {one.id: one.n_tags for one in spoken.reading.copies()}
    assert counted == {item: known.get(item, 0) for item in range(1, 41) if item % 9}
    assert len(set(counted.values())) > 2


def test_the_tags_of_one_item_are_found_by_its_number(spoken, monkeypatch):
    """Not by going through all items: on a hundred thousand of them that took five seconds."""
    asked, rows = [], spoken.tagging._catalog.rows
    monkeypatch.setattr(
        spoken.tagging._catalog, "rows", lambda sql, values=(): asked.append((sql, values)) or rows(sql, values)
    )
    spoken.tagging.words_of(3)
    assert asked
    for sql, values in asked:
        plan = " / ".join(str(row[3]) for row in rows(f"EXPLAIN QUERY PLAN {sql}", values))
        assert "SCAN item_tags" not in plan
        assert "SCAN decisions" not in plan


def test_the_use_of_tags_is_that_of_one_statement_over_all_pairs(spoken):
    run = spoken.tagging._catalog.run
    run(
        "UPDATE items SET fields = json_set(coalesce(fields, '{}'), '$.taken', "
        "'2020-01-' || printf('%02d', id % 28 + 1) || 'T10:00')"
    )
    run("UPDATE decisions SET at = '20' || (18 + item_id % 5) || '-03-05T01:02:03Z'")
    rows = spoken.tagging._catalog.rows(
        "SELECT k.tag_id, count(DISTINCT k.item_id), coalesce(sum(d.answer), 0), max(max(coalesce(substr(d.at, 1, 10), "
        "''), coalesce(substr(json_extract(fields, '$.taken'), 1, 10), ''))) FROM known_tags AS k JOIN items ON "
        "items.id = k.item_id AND state = 'here' LEFT JOIN decisions AS d ON d.item_id = k.item_id AND "
        "d.tag_id = k.tag_id GROUP BY k.tag_id"
    )
    assert spoken.vocabulary.uses() == {row[0]: tuple(row) for row in rows}
    assert len({row[3][:4] for row in rows}) > 1, "days of pictures and of answers"
