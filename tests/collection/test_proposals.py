"""Open proposals in their order, and sums above a line, against the slow way of asking."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview import Collection
from manyview.collection import layout
from manyview.collection.proposals import NewProposal
from manyview.workflow.reading.index import Index
from manyview.workflow.reading.item_facts import item_facts
from manyview.workflow.reading.parts import Parts

N = 8
WORDS = ("dog", "cat", "cow")


@pytest.fixture
def collection(tmp_path):
    np.save(tmp_path / "given.npy", np.arange(2.0 * N).reshape(N, 2))
    with Collection.create(tmp_path / "c.manyview", tmp_path / "given.npy") as made:
        yield made


def slow_open(collection):
    """Every open proposal, asked the long way: no decision, no tag of a file, item there."""
    return collection._catalog.rows(
        "SELECT p.item_id, tag_id, probability FROM proposals AS p JOIN items ON items.id = p.item_id "
        "WHERE state = 'here' AND NOT EXISTS (SELECT 1 FROM decisions AS d WHERE d.item_id = p.item_id "
        "AND d.tag_id = p.tag_id) AND NOT EXISTS (SELECT 1 FROM item_tags AS t WHERE t.item_id = p.item_id "
        "AND t.tag_id = p.tag_id) ORDER BY probability DESC, score DESC, p.item_id, tag_id"
    )


def propose(collection, seed=0):
    rng = np.random.default_rng(seed)
    numbers = collection.tagging.numbers(WORDS)
    rows = [
        (item, numbers[word], float(p), float(p), [["tag", "x", 0.5, [1]]], float(p) / 2, 0.0)
        for item in range(1, N + 1)
        for word in WORDS
        for p in [round(rng.random(), 3)]
    ]
    return collection.runs.save_proposals("combined", rows, figures={"tags_per_item": 2.0}), numbers


def check(collection, run):
    expected = slow_open(collection)
    found = collection.runs.rows.find(run.id)
    words = {number: word for word, number in collection.tagging.numbers(WORDS).items()}
    assert [(p.item_id, p.tag, p.probability) for p in found] == [(i, words[t], p) for i, t, p in expected]
    for tag in (None, *words):
        for line in (0.0, 0.29, 0.5, 0.501, 1.0):
            above = [p for _, t, p in expected if p >= line and tag in (None, t)]
            n, total = collection.runs.rows.above(run.id, line, tag)
            assert n == len(above) and total == pytest.approx(sum(above), abs=1e-9)
    return found


def check_index(collection, run, parts):
    """What the gallery keeps in arrays is what the catalogue's views and triggers say."""
    index = Index(collection, parts)
    here = set(collection.items.ids.tolist())

    def pairs(found):
        return sorted(zip(index.ids[found[0]].tolist(), found[1].tolist(), strict=True))

    known = [tuple(pair) for pair in collection._catalog.rows("SELECT item_id, tag_id FROM known_tags ORDER BY 1, 2")]
    assert pairs(index.known) == [pair for pair in known if pair[0] in here]
    sql = "SELECT item_id, tag_id FROM proposals WHERE run_id = ? AND is_open = 1 ORDER BY 1, 2"
    assert pairs(index.open_pairs) == [tuple(pair) for pair in collection._catalog.rows(sql, (run.id,))]
    assert index.n_open == collection.runs.rows.above(run.id, 0.5)[0] == sum(n for _, n, _ in index.open_by_tag())
    assert index.n_open + index.n_less_likely == collection.runs.rows.above(run.id, 0.0)[0]
    for word, number in collection.tagging.numbers(WORDS).items():
        having = [item for item, tag in known if tag == number and item in here]
        assert index.carriers(word).tolist() == collection.tagging.carriers(word).tolist() == having
    for item in here:
        words = sorted(word for word, _ in item_facts(index, item).tags)
        assert words == sorted(collection.tagging.words_of(item))
    table = collection.tags
    assert sorted(index.tag_counts()) == sorted(
        (name, n)
        for name, n in zip(table.names, np.asarray(table.yes.sum(axis=0)).ravel().astype(int), strict=True)
        if n
    )


STEPS = st.lists(
    st.tuples(st.sampled_from(["yes", "no", "undo", "file", "gone", "back", "again"]), st.integers(0, 10**6)),
    max_size=12,
)


@given(steps=STEPS)
@settings(max_examples=25, deadline=None)
def test_what_is_open_is_kept_right_whatever_happens(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("steps")
    np.save(folder / "given.npy", np.arange(2.0 * N).reshape(N, 2))
    with Collection.create(folder / "c.manyview", folder / "given.npy") as collection:
        run, _ = propose(collection)
        parts = Parts()
        for what, number in steps:
            rng = np.random.default_rng(number)
            item, word = int(rng.integers(1, N + 1)), str(rng.choice(WORDS))
            if what in ("yes", "no"):
                others = [(int(i), str(rng.choice(WORDS))) for i in rng.integers(1, N + 1, size=2)]
                collection.decide([(item, word), *others], what == "yes")
            elif what == "undo":
                if (last := collection.history.last()) is not None:
                    collection.history.undo(last.id)
            elif what == "file":
                collection.tagging.put({item: {"file": [word] if rng.random() < 0.7 else []}})
            elif what == "gone":
                collection.items.gone([item])
            elif what == "back":
                collection._catalog.run("UPDATE items SET state = 'here' WHERE id = ?", (item,))
            else:
                run, _ = propose(collection, number)
            check(collection, run)
            check_index(collection, run, parts)


def test_orders_filters_and_pages(collection):
    run, numbers = propose(collection)
    rows, everything = collection.runs.rows, check(collection, run)
    assert [p.probability for p in everything] == sorted((p.probability for p in everything), reverse=True)
    assert rows.find(run.id, top=5, offset=3) == everything[3:8]
    assert rows.find(run.id, min_probability=0.6) == [p for p in everything if p.probability >= 0.6]
    assert rows.find(run.id, item_id=3) == [p for p in everything if p.item_id == 3]
    assert rows.find(run.id, tag_id=numbers["cat"], top=4) == [p for p in everything if p.tag == "cat"][:4]
    assert all(p.reason is None for p in rows.find(run.id, reasons=False))
    sums = {}
    for p in everything:
        if p.probability >= 0.5:
            n, total = sums.get(p.tag, (0, 0.0))
            sums[p.tag] = (n + 1, total + p.probability)
    by_tag = rows.by_tag(run.id, 0.5)
    assert {tag: n for tag, n, _ in by_tag} == {tag: n for tag, (n, _) in sums.items()}
    assert [total for *_, total in by_tag] == pytest.approx(sorted((total for _, total in sums.values()), reverse=True))
    mine = [p for p in everything if p.item_id in (2, 3, 5)]
    listed = [(p.item_id, numbers[p.tag]) for p in mine]
    assert rows.among(run.id, [2, 3, 5], None, 0, 100) == listed
    assert (
        rows.among(run.id, [2, 3, 5], 0.5, 1, 2)
        == [pair for pair, p in zip(listed, mine, strict=True) if p.probability >= 0.5][1:3]
    )
    worth = {
        i: sum(p.probability for p in everything if p.item_id == i and p.probability >= 0.5) for i in range(1, N + 1)
    }
    ranked = sorted((i for i in worth if worth[i]), key=lambda i: (-worth[i], i))
    assert rows.by_item(run.id, None, 0.5, 0, 100) == ranked
    assert rows.by_item(run.id, [2, 3, 5], 0.5, 0, 2) == [i for i in ranked if i in (2, 3, 5)][:2]


def test_questions_are_answered_from_indexes(collection):
    """No question that a page asks at every key press may walk through all proposals."""
    run, numbers = propose(collection)
    plans = []
    inner = collection._catalog.rows

    def watched(sql, values=()):
        if "proposals" in sql and "EXPLAIN" not in sql:
            plans.extend(row[3] for row in inner(f"EXPLAIN QUERY PLAN {sql}", values))
        return inner(sql, values)

    collection._catalog.rows = watched
    rows = collection.runs.rows
    rows.find(run.id, top=5, min_probability=0.5)
    rows.find(run.id, top=5, tag_id=numbers["cow"])
    assert any("COVERING INDEX proposals_by_certainty (run_id=? AND is_open=? AND probability>?)" in p for p in plans)
    assert sum("COVERING INDEX proposals_by_tag (run_id=? AND is_open=? AND tag_id=?" in p for p in plans) >= 1
    plans.clear()
    rows.find(run.id, item_id=3)
    assert any("PRIMARY KEY (run_id=? AND item_id=?)" in p for p in plans)


def test_indexes_are_as_they_were_also_where_writing_failed(collection):
    def schema():
        return sorted(collection._catalog.rows("SELECT type, name, tbl_name, sql FROM sqlite_master"), key=repr)

    before = schema()
    run, numbers = propose(collection)
    assert schema() == before
    with collection._catalog.transaction(), pytest.raises(OverflowError):  # caught inside a transaction that goes on
        collection.runs.rows.replace(run.id, [NewProposal(1, numbers["dog"], 2**2000, 0.5, [])])
    assert schema() == before
    propose(collection, seed=1)
    assert schema() == before


def test_many_decisions_are_one_entry_and_go_back_as_one(collection):
    run, _ = propose(collection)
    pairs = [(p.item_id, p.tag) for p in collection.runs.rows.find(run.id)]
    before = slow_open(collection)
    entry = collection.decide([*pairs, (1, "DOG")], True, who="anna")  # a pair twice counts once
    assert entry.detail["pairs"] == len(pairs) and len(collection.history) == 1
    assert slow_open(collection) == [] and collection.runs.rows.above(run.id, 0.0) == (0, 0.0)
    kept = collection._catalog.rows("SELECT score, probability, record, untouched, tags_per_item, who FROM decisions")
    assert len(kept) == len(pairs)
    assert all(p == s and r == p / 2 and u == 0 and t == 2 and who == "anna" for s, p, r, u, t, who in kept)
    collection.history.undo(entry.id)
    assert slow_open(collection) == before
    check(collection, run)


def test_a_word_that_was_not_kept_gets_its_number_anew(collection):
    with pytest.raises(RuntimeError), collection.transaction():
        collection.decide([(1, "horse")], True)
        raise RuntimeError
    assert collection.tagging.find("horse") is None
    collection.decide([(1, "horse")], True)
    assert collection.tagging.words_of(1) == ["horse"]


def test_proposals_of_an_older_format_are_counted(tmp_path):
    import sqlite3

    np.save(tmp_path / "given.npy", np.arange(2.0 * N).reshape(N, 2))
    (tmp_path / "old.manyview").mkdir()
    old = sqlite3.connect(tmp_path / "old.manyview" / "catalog.sqlite")
    old.executescript(layout.MIGRATIONS[0])
    old.execute(f"PRAGMA application_id = {layout.APPLICATION}")
    old.executescript(
        "PRAGMA user_version = 1;"
        "INSERT INTO sources VALUES (1, 'features', x'61', x'2f', '{}', 1);"
        "INSERT INTO items (id, source_id, key, kind) VALUES (1, 1, x'61', 'row'), (2, 1, x'62', 'row');"
        "INSERT INTO tags VALUES (1, 'dog', 'dog'), (2, 'cat', 'cat');"
        "INSERT INTO runs VALUES (1, 'suggest', 'combined', '{}', '{}', '{}', NULL, 'then', 1.0);"
        "INSERT INTO proposals VALUES (1, 1, 1, 0.9, 0.8, '[]'), (1, 1, 2, 0.5, 0.4, '[]'), (1, 2, 1, 0.3, 0.29, '[]');"
        "INSERT INTO decisions VALUES (1, 2, 0, 'anna', 'then', NULL, 0.5, 0.4);"
    )
    old.close()
    with Collection.open(tmp_path / "old.manyview", write=True) as collection:
        rows = collection.runs.rows
        assert [(p.item_id, p.tag) for p in rows.find(1)] == [(1, "dog"), (2, "dog")]
        assert rows.above(1, 0.0) == (2, pytest.approx(1.09)) and rows.above(1, 0.29, 1) == (2, pytest.approx(1.09))


def test_entries_of_an_older_format_can_be_undone(collection):
    entry = collection.decide([(1, "dog")], True)
    collection._catalog.run(
        "UPDATE changes SET after = json_remove(after, '$.is_reviewed', '$.record', '$.untouched', '$.tags_per_item')"
    )
    collection.history.undo(entry.id)
    assert collection.tags.yes.nnz == 0
