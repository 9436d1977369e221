"""Proposals of a collection: what is proposed, what is never proposed again, and whether probabilities hold."""

import csv
import inspect
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview import Collection, errors
from manyview.web.tables import as_csv, proposals_table
from manyview.workflow.proposing import suggest
from manyview.workflow.proposing.decide import accept, add_tag, choose, reject, remove_tag
from manyview.workflow.proposing.suggest import completeness_of_record, line, open_proposals, suggest_tags
from manyview.workflow.reading.index import Index
from manyview.writeback.proposal_files import shown, write_proposals

from ..tagged import make_collection, make_tagged, truth


@pytest.fixture(scope="module")
def suggested(tmp_path_factory):
    """A collection with proposals; tests undo what they do."""
    with make_collection(tmp_path_factory.mktemp("suggest")) as collection:
        told = []
        found = suggest_tags(collection, n_jobs=1, progress=lambda *step: told.append(step))
        assert told[0] == ("tag completion", 0, 3) and told[-1] == ("tag completion", 3, 3)
        assert found.is_new and found.run.kind == "suggest" and found.run.views == {"looks": "file"}
        yield collection


def known(collection):
    table = collection.tags
    ids = collection.items.ids
    return {
        (int(ids[row]), table.names[column])
        for part in (table.yes, table.no)
        for row, column in zip(*part.nonzero(), strict=True)
    }


def test_proposals_are_right_and_say_why(suggested):
    found = open_proposals(suggested)
    assert len(found) == 5 * 240 and not {(p.item_id, p.tag) for p in found} & known(suggested)
    likely = [p for p in found if p.probability >= 0.5]
    assert len(likely) > 100 and np.mean([p.tag in truth(p.item_id) for p in likely]) > 0.9
    reason = likely[0].reason
    assert reason["sentence"].startswith(f"{likely[0].tag}: ") and "%" not in reason["sentence"]
    assert {part["kind"] for part in reason["evidence"]} <= {"tag", "view"}
    names = {item.id: item.key for item in suggested.items}
    shown = next(p.reason for p in found if p.reason["like"])
    assert shown["like"][0] == next(part["items"][0] for part in shown["evidence"] if part["items"])
    assert f"is like {names[shown['like'][0]]}" in shown["sentence"] and "which carr" in shown["sentence"]
    table, ids = suggested.tags, suggested.items.ids.tolist()
    having = {word: {ids[row] for row in table.yes[:, column].nonzero()[0]} for column, word in enumerate(table.names)}
    told = [p for p in likely if p.reason["goes_with"]]
    for p in told[:20]:  # counted the long way
        both = set.intersection(*(having[word] for word in p.reason["goes_with"])) - {p.item_id}
        assert (p.reason["n_with"], p.reason["n_all"]) in ((len(both & having[p.tag]), len(both)), (0, 0))
        if len(p.reason["goes_with"]) == 2:
            assert f"(on {len(both & having[p.tag])} of {len(both)} items with both)" in p.reason["sentence"]
    assert told


def test_filters_and_lines_agree(suggested):
    found = open_proposals(suggested)
    assert [p.probability for p in found] == sorted((p.probability for p in found), reverse=True)
    for tag, least in ((None, 0.5), ("snow", 0.2), (None, 0.0)):
        chosen = [p for p in found if tag in (None, p.tag) and p.probability >= least]
        above = line(suggested, least, tag=tag)
        assert above.n == len(chosen)
        assert above.expected_precision == pytest.approx(np.mean([p.probability for p in chosen]))
        assert open_proposals(suggested, tag=tag, min_probability=least or None) == chosen
    assert line(suggested, 1.0, tag="snow").expected_precision in (None, 1.0)
    assert {p.item_id for p in open_proposals(suggested, item=7)} == {7}
    assert open_proposals(suggested, top=3, offset=2, reasons=False)[0].reason is None
    with pytest.raises(errors.ParameterError, match="no tag 'snwo' .* Did you mean 'snow'"):
        line(suggested, 0.5, tag="snwo")
    with pytest.raises(errors.ParameterError, match="min_probability"):
        line(suggested, 1.5)


def test_nothing_is_computed_twice(suggested):
    before = suggested.runs.get(kind="suggest").id
    again = suggest_tags(suggested, n_jobs=1)
    assert (
        not again.is_new and again.run.id == before and again.said[-1] == "nothing has changed since these were made."
    )
    assert suggest._same(suggested, "another") is None


@given(answers=st.lists(st.tuples(st.integers(0, 10**6), st.booleans()), min_size=1, max_size=8))
@settings(max_examples=10, deadline=None)
def test_what_is_known_or_refused_is_never_proposed(suggested, answers):
    found = open_proposals(suggested, reasons=False)
    entries = []
    for number, yes in answers:
        one = found[number % len(found)]
        entries.append((accept if yes else reject)(suggested, [(one.item_id, one.tag)]))
    decided = {(p.item_id, p.tag) for p in (found[number % len(found)] for number, _ in answers)}
    assert not {(p.item_id, p.tag) for p in open_proposals(suggested, reasons=False)} & decided
    for entry in entries[::2] + entries[1::2]:  # not in the order they were made
        later = [e for e in suggested.history if e.id > entry.id and e.kind == "decide" and e.undone_by is None]
        if not any(_pair_of(suggested, e) == _pair_of(suggested, entry) for e in later):
            suggested.history.undo(entry.id)
    for entry in reversed(entries):
        if suggested.history.get(entry.id).undone_by is None:
            suggested.history.undo(entry.id)
    assert open_proposals(suggested, reasons=False) == found


def _pair_of(collection, entry):
    return collection._catalog.rows("SELECT row_key FROM changes WHERE history_id = ?", (entry.id,))


def test_no_is_remembered_across_new_suggestions(tmp_path):
    with make_collection(tmp_path, n_items=120) as collection:
        suggest_tags(collection, n_jobs=1)
        best = open_proposals(collection, top=20)
        refused = [(p.item_id, p.tag) for p in best]
        entry = reject(collection, refused, who="anna", why="looks only alike")
        assert entry.who == "anna" and entry.detail["why"] == "looks only alike"
        given = add_tag(collection, [3], "new word", who="bert")
        for seed in (1, 2):
            found = suggest_tags(collection, seed=seed, n_jobs=1)
            assert found.is_new
            proposed = {(p.item_id, p.tag) for p in open_proposals(collection)}
            assert not proposed & set(refused) and not proposed & known(collection)
        collection.history.undo(entry.id)
        suggest_tags(collection, n_jobs=1)
        assert {(p.item_id, p.tag) for p in open_proposals(collection)} & set(refused)
        assert given.summary == "added 'new word' for 2"
        remove_tag(collection, [3], "new word")
        assert "new word" not in collection.tagging.words_of(3)
    with Collection.open(tmp_path / "items.manyview") as reading:
        for verb in (lambda: reading.suggest(), lambda: reading.accept(min_probability=0)):
            with pytest.raises(errors.StoreError, match="open for reading"):
                verb()


def test_one_decision_may_be_everything_above_a_line(tmp_path):
    with make_collection(tmp_path, n_items=120) as collection:
        run = collection.suggest(n_jobs=1)
        promise = line(collection, 0.6)
        entry = collection.accept(min_probability=0.6)
        assert entry.detail["pairs"] == promise.n and line(collection, 0.6).n == 0
        assert not any(row[0] for row in collection._catalog.rows("SELECT is_reviewed FROM decisions"))
        assert len(collection.history) == 1
        with pytest.raises(errors.ParameterError, match="no open proposal matches"):
            accept(collection, min_probability=0.6)
        with pytest.raises(errors.ParameterError, match="choose by item, by tag"):
            accept(collection)
        with pytest.raises(errors.ParameterError, match="not both"):
            reject(collection, [(1, "sea")], tag="sea")
        collection.history.undo(entry.id)
        assert line(collection, 0.6) == promise and collection.runs.get(kind="suggest").id == run.id
        one = reject(collection, item=1, tag="not proposed")
        assert one.summary == "rejected 'not proposed' for 0"
        of_tag = collection.reject(tag="snow")
        assert of_tag.detail["tags"] == ["snow"] and open_proposals(collection, tag="snow") == []


def test_a_collection_without_tags_is_told_so(tmp_path):
    np.save(tmp_path / "given.npy", np.arange(12.0).reshape(6, 2))
    with Collection.create(tmp_path / "c.manyview", tmp_path / "given.npy") as collection:
        with pytest.raises(errors.ParameterError, match="carries a tag, so there is nothing to learn from"):
            suggest_tags(collection)
        with pytest.raises(errors.ParameterError, match="has no proposals yet. Make some: `manyview suggest"):
            open_proposals(collection)


def test_tags_alone_are_enough(tmp_path):
    table = tmp_path / "words.csv"
    lines = [
        f"{n},{'snow;ski' if n % 2 else 'sea;sand'}" if n % 5 else f"{n},{'snow' if n % 2 else 'sea'}"
        for n in range(60)
    ]
    table.write_text("\n".join(["id,tags", *lines]) + "\n", encoding="utf-8")
    with Collection.create(tmp_path / "c.manyview", table) as collection:
        found = suggest_tags(collection, n_jobs=1)
        assert "no views, tags alone." in found.said
        best = {p.item_id: p.tag for p in reversed(open_proposals(collection, min_probability=0.2))}
        assert best[1] == "sand" and best[6] == "ski"


def test_who_has_tagged_one_subject_is_told_that_the_others_are_unlike_it(tmp_path):
    path = make_tagged(tmp_path)
    with np.load(path) as file:
        held = dict(file)
    held["view_looks"] += 3 * np.eye(4, 8, dtype=np.float32)[held["y"]]  # subjects stand apart
    held["tags"][held["y"] != 1] = 0
    held["tags"][:120] = 0
    np.savez(path, **held)
    with Collection.create(tmp_path / "c.manyview", path) as collection:
        found = suggest_tags(collection, n_jobs=1)
        [told] = [one for one in found.said if "unlike all that have any" in one]
        assert 150 < int(told.split()[1]) < 200  # 180 are of other subjects
        asked = {p.item_id for p in open_proposals(collection, min_probability=0.5)}
        assert asked and all("sea" in truth(item) for item in asked)


def test_who_has_tagged_whole_moments_is_told_what_was_learned_from(tmp_path):
    rng = np.random.default_rng(0)
    moment = np.repeat(np.arange(60), 4)
    looks = rng.normal(size=(60, 16))[moment] + 0.05 * rng.normal(size=(240, 16))
    tags = np.eye(4)[moment % 4] * (moment < 30)[:, None]
    names = np.array(["sea", "sand", "snow", "ski"])
    np.savez(tmp_path / "moments.npz", view_looks=looks.astype(np.float32), tags=tags, tag_names=names)
    with Collection.create(tmp_path / "c.manyview", tmp_path / "moments.npz") as collection:
        found = suggest_tags(collection, n_jobs=1)
        [told] = [one for one in found.said if "there several times" in one]
        assert 28 <= int(told.split("learned from ")[1].split()[0]) <= 30


# --- how complete is the record? ---


def test_answers_tell_how_complete_the_record_is(tmp_path):
    with make_collection(tmp_path, n_items=400, recorded=0.5) as collection:
        suggest_tags(collection, n_jobs=1)
        assert completeness_of_record(collection, collection.tags) == (None, None)
        assert completeness_of_record(collection, collection.tags, 0.7) == (0.7, "given")
        best = open_proposals(collection, top=300, reasons=False)
        yes = [(p.item_id, p.tag) for p in best if p.tag in truth(p.item_id)]
        no = [(p.item_id, p.tag) for p in best if p.tag not in truth(p.item_id)]
        accept(collection, yes)
        others = [p for p in open_proposals(collection, reasons=False) if p.tag not in truth(p.item_id)][:80]
        reject(collection, [*no, *((p.item_id, p.tag) for p in others)])
        share, source = completeness_of_record(collection, collection.tags)
        n_true = 3 * 400
        assert source == "decisions" and share == pytest.approx(collection.tags.yes.nnz / n_true, abs=0.12)
        found = suggest_tags(collection, n_jobs=1)
        assert found.run.figures["completeness_source"] == "decisions"
        assert any("learned from your answers" in sentence for sentence in found.said)


def test_what_was_accepted_by_a_line_says_nothing_about_completeness(tmp_path):
    with make_collection(tmp_path, n_items=200) as collection:
        suggest_tags(collection, n_jobs=1)
        reject(collection, [(p.item_id, p.tag) for p in open_proposals(collection, reasons=False)[-40:]])
        accept(collection, min_probability=0.3)
        assert completeness_of_record(collection, collection.tags) == (None, None)
        entry = collection.history.last()
        collection.history.undo(entry.id)
        accept(collection, min_probability=0.3, reviewed=True)
        assert completeness_of_record(collection, collection.tags)[1] == "decisions"


def test_items_with_tags_and_items_without_learn_apart(tmp_path):
    """Half of the items have all their tags, the others none: thirty answers tell the two apart."""
    with make_collection(tmp_path, n_items=400, recorded=1.0, tagged=0.5, seed=3) as collection:
        suggest_tags(collection, n_jobs=1)
        tagged = set((np.flatnonzero(np.diff(collection.tags.yes.indptr)) + 1).tolist())
        assert suggest.untouched_of_record(collection) == 1.0
        likely = open_proposals(collection, min_probability=0.1, reasons=False)
        rng = np.random.default_rng(0)
        for one in [likely[n] for n in rng.permutation(len(likely))[:30]]:
            right = one.item_id not in tagged and one.tag in truth(one.item_id)
            (accept if right else reject)(collection, [(one.item_id, one.tag)])
        before = len([one for one in likely if one.item_id in tagged and one.probability > 0.5])
        found = suggest_tags(collection, n_jobs=1)
        assert 0.8 < found.run.figures["untouched_scale"] < 1.3
        sure = open_proposals(collection, min_probability=0.5, reasons=False)
        complete = [one for one in sure if one.item_id in tagged]
        assert len(complete) <= min(before, 0.01 * 5 * len(tagged))
        others = [one for one in sure if one.item_id not in tagged]
        right = np.mean([one.tag in truth(one.item_id) for one in others])
        assert np.mean([one.probability for one in others]) == pytest.approx(right, abs=0.08)


def test_promises_hold_on_tags_nobody_recorded(tmp_path):
    """The expected precision of a line against the truth, the completeness known: within ten points."""
    with make_collection(tmp_path, n_items=600, recorded=0.6) as collection:
        suggest_tags(collection, completeness=0.6, n_jobs=1)
        for least in (0.2, 0.5, 0.8):
            chosen = open_proposals(collection, min_probability=least, reasons=False)
            right = np.mean([p.tag in truth(p.item_id) for p in chosen])
            assert line(collection, least).expected_precision == pytest.approx(right, abs=0.1)


def test_the_old_keyword_is_understood_for_one_release(suggested):
    found = open_proposals(suggested, min_probability=0.5)
    with pytest.warns(FutureWarning, match="min_score is called min_probability now"):
        assert open_proposals(suggested, min_score=0.5) == found
    with pytest.warns(FutureWarning, match="min_probability"):
        assert choose(suggested, min_score=0.5) == choose(suggested, min_probability=0.5)
    with pytest.raises(errors.ParameterError, match="old name of min_probability"):
        open_proposals(suggested, min_score=0.5, min_probability=0.5)
    for verb in ("accept", "reject"):
        assert list(inspect.signature(getattr(Collection, verb)).parameters)[2] == "min_probability"


def test_every_table_shows_the_same_probabilities(suggested, tmp_path):
    table = tmp_path / "proposals.csv"
    write_proposals(table, shown(suggested, open_proposals(suggested, top=3)))
    kept = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    gallery = list(csv.DictReader(io.StringIO(as_csv(proposals_table(Index(suggested))).decode())))[:3]
    assert "score" not in kept[0] | gallery[0]
    told = [(row["id"], row["item"], row["tag"], float(row["probability"]), row["reason"]) for row in kept]
    assert told == [(r["item"], r["name"], r["tag"], float(r["probability"]), r["reason"]) for r in gallery]
    least = min(float(row["probability"]) for row in kept)
    assert {(int(row["id"]), row["tag"]) for row in kept} <= set(choose(suggested, min_probability=least - 5e-5)[0])
