"""Tags as words: what there is, what may be one, and a person's care for them, into the files and back."""

import json

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from manyview.errors import Conflict, ParameterError
from manyview.ingest.sidecar import read_sidecar
from manyview.workflow.reading.index import Index
from manyview.workflow.reading.search import matching, parse_query
from manyview.workflow.repair import repair
from manyview.workflow.run_views import fit_views
from manyview.workflow.vocabulary.listing import kin_of_tags, list_tags
from manyview.workflow.vocabulary.tree import tag_tree
from manyview.writeback.editor import Edit, new_document

from .tagged import make_collection

KEYWORDS = {
    "a.png": (["Cat"], []),
    "b.png": (["cats", "Rome"], ["Animals|cats", "Travel|Rome"]),
    "c.png": (["cats", "Cat"], []),
    "d.png": (["café"], []),
    "e.png": (["cafe", "Rome"], []),
}


def make(folder):
    photos = folder / "photos"
    photos.mkdir()
    for n, (name, (words, paths)) in enumerate(KEYWORDS.items()):
        Image.new("RGB", (16, 16), (40 * n, 90, 90)).save(photos / name)
        listed = tuple(path.replace("|", "/") for path in paths)
        edit = Edit(tuple(words), (), tuple(paths), (), listed)
        (photos / f"{name}.xmp").write_bytes(new_document(edit))
    return Collection.create(folder / "photos.manyview", photos)


@pytest.fixture
def photos(tmp_path):
    with make(tmp_path) as found:
        yield found


def said(photos):
    return {item.key: sorted(photos.tagging.words_of(item.id)) for item in photos.items}


def in_files(photos):
    folder = photos.path.parent / "photos"
    found = {}
    for name in KEYWORDS:
        held = read_sidecar(str(folder / f"{name}.xmp"))
        found[name] = (sorted(held.tags), sorted("|".join(path) for path in held.paths if len(path) > 1))
    return found


def contents(photos):
    return {path.name: path.read_bytes() for path in (photos.path.parent / "photos").glob("*.xmp")}


def search(photos, text):
    index = Index(photos)
    keys = index.keys(index.ids[matching(index, parse_query(text), None)].tolist())
    return sorted(key.decode() for key in keys.values())


def test_the_list(photos):
    lines = {line.tag: line for line in list_tags(photos, "name")}
    assert {tag: line.n_items for tag, line in lines.items()} == {"Cat": 2, "cats": 2, "Rome": 2, "cafe": 1, "café": 1}
    assert lines["Rome"].path == ("Travel", "Rome") and lines["Cat"].path == ("Cat",)
    assert lines["Cat"].last  # the pictures were taken, or at least written, some day
    assert [line.tag for line in list_tags(photos, containing="CAF")] == ["cafe", "café"]
    photos.decide([(1, "Rome")], True, who="ada")
    assert {line.tag: line.n_accepted for line in photos.list_tags()}["Rome"] == 1
    assert photos.list_tags()[0].tag == "Rome" and photos.list_tags("last")[0].last >= photos.list_tags()[-1].last
    with pytest.raises(ParameterError, match="sorted by count, name, last"):
        photos.list_tags("colour")


def test_words_that_may_be_one(photos):
    found = {(one.kind, frozenset(one.tags)): one for one in kin_of_tags(photos, meaning=False)}
    assert found.keys() == {("spelling", frozenset({"cafe", "café"})), ("number", frozenset({"Cat", "cats"}))}
    assert (
        found["number", frozenset({"Cat", "cats"})].sentence == "'Cat' and 'cats' are singular and plural of one word"
    )
    photos.edit_tags("parent", "cats", "Cat")  # a person says that they are two
    assert [one.kind for one in kin_of_tags(photos, meaning=False)] == ["spelling"]


def test_words_that_mean_the_same_or_are_always_together(tmp_path):
    table = tmp_path / "t.csv"
    rows = ["sofa;sun;hat", "couch;sun;hat", "Strand;sun;hat", "beach;dog", "beach;cat", "sand;arena"]
    table.write_text("id,words\n" + "".join(f"{n},{row}\n" for n, row in enumerate(rows)))
    with Collection.create(tmp_path / "t.manyview", table, id="id", tags="words") as found:
        pairs = {(one.kind, frozenset(one.tags)) for one in kin_of_tags(found)}
    assert pairs == {
        ("meaning", frozenset({"sofa", "couch"})),
        ("translation", frozenset({"Strand", "beach"})),
        ("together", frozenset({"sun", "hat"})),
    }


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ape bee arena sand hut hat", set()),  # in Italian, Spanish and German they would be one
        ("ape bee spiaggia", {("ape", "bee")}),  # who writes "spiaggia" may well mean the bee
        ("ape bee Wolke", set()),  # but not who writes German
        ("plage beach", {("plage", "beach")}),
        ("mare cane ape sea dog bee", set()),  # three words that are English as well do not make it Italian
        ("Boot boat dog", {("Boot", "boat")}),
        ("Boot Boat Dog", set()),  # here a capital says nothing
    ],
)
def test_a_word_that_english_has_too_is_a_translation_only_where_its_language_is_spoken(tmp_path, words, found):
    table = tmp_path / "t.csv"
    table.write_text("id,words\n" + "".join(f"{n},{word}\n" for n, word in enumerate(words.split())))
    with Collection.create(tmp_path / "t.manyview", table, id="id", tags="words") as made:
        pairs = [one.tags for one in kin_of_tags(made, meaning=False) if one.kind == "translation"]
    assert {frozenset(pair) for pair in pairs} == {frozenset(pair) for pair in found}


def test_merging_reaches_items_search_files_and_comes_back(photos):
    before, files = said(photos), contents(photos)
    trial = photos.edit_tags("merge", "cats", "Cat", into="Cat", dry_run=True)
    assert (trial.n_items, trial.n_files, trial.entry) == (2, 2, None) and said(photos) == before
    done = photos.edit_tags("merge", "cats", "Cat", into="Cat", who="ada")
    assert done.entry.summary == "merged 'cats' into 'Cat'" and done.entry.who == "ada"
    assert done.sentence == "merged 'cats' into 'Cat': 2 items; `apply` will look at 2 files"
    assert [name for name, words in said(photos).items() if "Cat" in words] == ["a.png", "b.png", "c.png"]
    assert not any("cats" in words for words in said(photos).values())
    assert search(photos, "tag:cats") == search(photos, "tag:Cat") == ["a.png", "b.png", "c.png"]
    assert "cats" not in photos.tags and {line.tag: line.aliases for line in photos.list_tags()}["Cat"] == ("cats",)
    shown = photos.apply(dry_run=True)
    assert {change.path.rsplit("/")[-1]: change.lines() for change in shown.changes} == {
        "b.png.xmp": ["+ Cat (Animals|Cat)", "- cats (Animals|cats)"],
        "c.png.xmp": ["- cats"],
    }
    photos.apply()
    assert in_files(photos)["b.png"] == (["Cat", "Rome"], ["Animals|Cat", "Travel|Rome"])
    assert in_files(photos)["c.png"] == (["Cat"], [])
    assert photos.apply().entry is None  # nothing is left to do
    with pytest.raises(Conflict, match="undo that first"):
        photos.undo(done.entry.id)
    photos.undo()
    assert contents(photos) == files
    photos.undo(done.entry.id)
    assert said(photos) == before and search(photos, "tag:cats") == ["b.png", "c.png"]
    assert photos.apply().entry is None and contents(photos) == files


def test_words_that_are_read_later_count_as_what_they_went_into(photos):
    entry = photos.edit_tags("merge", "cats", into="Cat").entry
    folder = photos.path.parent / "photos"
    Image.new("RGB", (16, 16), "white").save(folder / "new.png")
    (folder / "new.png.xmp").write_bytes(new_document(Edit(("CATS", "dog"))))
    photos.read(folder)
    assert said(photos)["new.png"] == ["Cat", "dog"]
    photos.decide([(photos.items.find("d.png").id, "cats")], True)
    assert "Cat" in said(photos)["d.png"]
    photos.undo(entry.id)
    assert said(photos)["new.png"] == ["CATS", "dog"]


def test_a_no_to_the_old_word_is_one_to_the_new(photos):
    a, d = (photos.items.find(name).id for name in ("a.png", "d.png"))
    photos.decide([(a, "cats"), (d, "cats")], False)
    photos.edit_tags("merge", "cats", into="Cat")
    assert photos.decisions.answer(d, "Cat") is False
    assert said(photos)["a.png"] == ["Cat"]  # its own word holds


def test_renaming_keeps_the_place_and_merging_what_is_there_is_asked_for(photos):
    photos.edit_tags("rename", "Rome", "Roma")
    assert said(photos)["b.png"] == ["Roma", "cats"] and ("Travel", "Roma") in photos.hierarchy
    photos.apply()
    assert in_files(photos)["b.png"] == (["Roma", "cats"], ["Animals|cats", "Travel|Roma"])
    photos.edit_tags("rename", "Roma", "Rome")  # and back, by the same door
    assert said(photos)["e.png"] == ["Rome", "cafe"]
    with pytest.raises(ParameterError, match="there is a tag 'Cat' already; merge"):
        photos.edit_tags("rename", "cats", "Cat")
    with pytest.raises(ParameterError, match="no tag 'Rom' .* Did you mean 'Rome'"):
        photos.edit_tags("rename", "Rom", "Rome")


def test_another_spelling_reaches_the_files(photos):
    files = contents(photos)
    done = photos.edit_tags("rename", "cats", "CATS")
    assert done.n_items == 2 and said(photos)["b.png"] == ["CATS", "Rome"]
    assert {line.tag for line in photos.list_tags()} >= {"CATS"}
    photos.apply()
    assert in_files(photos)["b.png"] == (["CATS", "Rome"], ["Animals|CATS", "Travel|Rome"])
    assert in_files(photos)["a.png"] == (["Cat"], []) and photos.apply().entry is None
    photos.undo()
    assert contents(photos) == files
    photos.undo()
    assert said(photos)["b.png"] == ["Rome", "cats"] and photos.apply().entry is None


def test_a_parent_is_written_as_a_path_and_taken_back(photos):
    files = contents(photos)
    photos.edit_tags("parent", "Cat", "Pets")
    photos.edit_tags("parent", "Pets", "Animals")
    assert ("Animals", "Pets", "Cat") in photos.hierarchy
    photos.edit_tags("parent", "Rome", "")
    assert not any(path[-1] == "Rome" and path[1:] for path in photos.hierarchy)
    with pytest.raises(ParameterError, match="'Cat' is below 'Pets'"):
        photos.edit_tags("parent", "Pets", "Cat")
    photos.apply()
    assert in_files(photos)["a.png"] == (["Cat"], ["Animals|Pets|Cat"])
    assert in_files(photos)["b.png"][1] == ["Animals|cats"]
    assert photos.apply().entry is None
    photos.undo()
    assert contents(photos) == files


def test_a_new_name_of_a_parent_goes_down_to_its_children(photos):
    trial = photos.edit_tags("rename", "Animals", "Tiere", dry_run=True)
    assert (trial.n_items, trial.n_files) == (2, 2)  # the items of cats, which stand below
    photos.edit_tags("parent", "Cat", "Animals")
    photos.edit_tags("rename", "Animals", "Tiere")
    assert ("Tiere", "Cat") in photos.hierarchy and ("Tiere", "cats") in photos.hierarchy
    photos.apply()
    assert in_files(photos)["b.png"][1] == ["Tiere|cats", "Travel|Rome"]
    assert in_files(photos)["a.png"][1] == ["Tiere|Cat"]


def test_retired_and_silent_words(photos):
    done = photos.edit_tags("retire", "Rome")
    assert done.n_items == 2 and "Rome" not in photos.tags and search(photos, "tag:Rome") == []
    assert {line.tag: line.is_retired for line in photos.list_tags()}["Rome"]
    photos.apply()
    assert in_files(photos)["b.png"] == (["cats"], ["Animals|cats"])
    with pytest.raises(ParameterError, match="neither retired nor silent"):
        photos.edit_tags("restore", "Cat")
    photos.edit_tags("restore", "Rome")
    assert not {line.tag: line.is_retired for line in photos.list_tags()}.get("Rome")


def test_what_is_silent_is_not_proposed_any_more(photos):
    ids = photos.items.ids.tolist()
    numbers = photos.tagging.numbers(["Cat", "Rome"])
    pairs = [(ids[3], numbers["Cat"]), (ids[3], numbers["Rome"]), (ids[4], numbers["Cat"])]
    photos.runs.save_proposals("by hand", [(item, tag, 0.5, 0.5, {"sentence": ""}) for item, tag in pairs])

    def is_open():
        found = sorted((one.item_id, one.tag) for one in photos.runs.proposals())
        index = Index(photos)
        rows, tags = (part.tolist() for part in index.open_pairs)
        assert found == sorted((int(index.ids[row]), index.tag_names[tag]) for row, tag in zip(rows, tags, strict=True))
        return found

    everything = sorted([(ids[3], "Cat"), (ids[3], "Rome"), (ids[4], "Cat")])
    assert is_open() == everything
    entry = photos.edit_tags("silence", "Cat").entry
    assert is_open() == [(ids[3], "Rome")]
    answer = photos.decide([(ids[4], "Cat")], True)
    photos.undo(answer.id)
    assert is_open() == [(ids[3], "Rome")]  # an answer taken back does not open it
    photos.undo(entry.id)
    assert is_open() == everything
    photos.edit_tags("merge", "Cat", into="cats")
    assert is_open() == [(ids[3], "Rome")]
    photos.edit_tags("alias", "Roma", "Rome")
    (photos.path.parent / "photos" / "d.png.xmp").write_bytes(new_document(Edit(("Roma",))))
    photos.read(photos.path.parent / "photos")
    assert is_open() == []  # the file says it by now, in another word


def test_what_was_silenced_while_proposals_were_worked_out_is_not_proposed(photos):
    ids = photos.items.ids.tolist()
    numbers = photos.tagging.numbers(["Cat", "Rome", "Roma"])
    photos.edit_tags("silence", "Cat")
    photos.edit_tags("alias", "Roma", "Rome")
    (photos.path.parent / "photos" / "d.png.xmp").write_bytes(new_document(Edit(("Roma",))))
    photos.read(photos.path.parent / "photos")
    pairs = [(ids[3], "Cat"), (ids[3], "Rome"), (ids[0], "Rome")]
    photos.runs.save_proposals("by hand", [(item, numbers[word], 0.5, 0.5, {}) for item, word in pairs])
    assert [(one.item_id, one.tag) for one in photos.runs.proposals()] == [(ids[0], "Rome")]
    assert Index(photos).n_open == 1


def test_aliases(photos):
    photos.edit_tags("alias", "kitty", "Cat")
    assert search(photos, "tag:Kitty") == ["a.png", "c.png"]
    photos.decide([(photos.items.find("d.png").id, "kitty")], True)
    assert said(photos)["d.png"] == ["Cat", "café"]
    with pytest.raises(ParameterError, match="2 items carry 'cats'; to make it one with 'Cat', merge"):
        photos.edit_tags("alias", "cats", "Cat")
    photos.edit_tags("merge", "Cat", into="cats")
    assert search(photos, "tag:kitty") == ["a.png", "b.png", "c.png", "d.png"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("sell", "Cat"), "there is no action 'sell'"),
        (("rename", "Cat"), "use it as: rename TAG NEW"),
        (("merge", "Cat"), "two different tags"),
        (("rename", "Cat", " "), "a tag must be a word"),
        (("rename", "Cat", "Cat"), "is called 'Cat' already"),
        (("alias", "Cat", "Cat"), "are the same tag already"),
    ],
)
def test_what_cannot_be(photos, words, sentence):
    n = len(photos.history)
    with pytest.raises(ParameterError, match=sentence):
        photos.edit_tags(*words)
    assert len(photos.history) == n


def test_a_catalogue_that_is_lost_gets_its_words_back(photos):
    photos.edit_tags("merge", "cats", into="Cat")
    photos.edit_tags("parent", "Cat", "Animals")
    before, lines = said(photos), [line._replace(last="") for line in list_tags(photos)]
    photos.close()
    (photos.path / "catalog.sqlite").write_bytes(b"")
    repair(photos.path)
    with Collection.open(photos.path, write=True) as again:
        assert said(again) == before
        assert [line._replace(last="") for line in list_tags(again)] == lines
        assert json.loads(json.dumps([*again.hierarchy[0]])) == ["Animals", "Cat"]
        again.undo()


def test_the_tree_and_what_is_found_through_it(photos):
    photos.edit_tags("parent", "Animals", "Life")
    index = Index(photos)
    assert [(node.name, node.depth, node.n_items, node.n_own) for node in tag_tree(index)] == [
        ("Life", 0, 2, 0),
        ("Animals", 1, 2, 0),
        ("cats", 2, 2, 2),
        ("Travel", 0, 2, 0),
        ("Rome", 1, 2, 2),
    ]
    mask = index.with_tag("Cat")
    assert [(node.name, node.n_items) for node in tag_tree(index, mask)] == [("Life", 1), ("Animals", 1), ("cats", 1)]
    assert search(photos, "tag:travel") == ["b.png", "e.png"] and search(photos, "tag:Life -tag:Rome") == ["c.png"]
    photos.edit_tags("rename", "Travel", "Reisen")
    assert search(photos, "tag:Reisen") == search(photos, "tag:Travel") == ["b.png", "e.png"]


def test_a_cluster_is_named_by_what_stands_above_where_that_says_more(tmp_path):
    table = tmp_path / "t.csv"
    rows = ["dog", "cat", "horse", "dog", "cat", "horse", "rose", "rose", "rose", "rose", "tulip", "rose"]
    table.write_text("id,x,words\n" + "".join(f"{n},{int(n > 5)},{row}\n" for n, row in enumerate(rows)))
    with Collection.create(tmp_path / "t.manyview", table, id="id", tags="words", views={"x": ["x"]}) as found:
        for tag, above in {"dog": "animal", "cat": "animal", "horse": "animal", "rose": "plant"}.items():
            found.edit_tags("parent", tag, above)
        run = found.fit("rmkmc", 2, views=["x"])
        assert {one.name for one in found.runs.clusters(run.id)} == {"animal", "rose"}


def test_a_run_knows_its_tags_under_their_new_names(tmp_path):
    """Renamed, a tag keeps its column; what has gone into another tag of the run leaves an empty one."""
    with make_collection(tmp_path, n_items=40) as made:
        names = [name for name in made.tags.names if name != "ski"]
        before = fit_views(made, ["tags"], "consensus", made.tags, names)[0]["tags"].toarray()
        made.edit_tags("rename", "snow", "white")
        after = fit_views(made, ["tags"], "consensus", made.tags, names)[0]["tags"].toarray()
        assert np.array_equal(after, before)
        made.edit_tags("merge", "sand", "sea", into="sea")
        sand, sea = names.index("sand"), names.index("sea")
        merged = fit_views(made, ["tags"], "consensus", made.tags, names)[0]["tags"].toarray()
        assert not merged[:, sand].any()
        assert np.array_equal(merged[:, sea], np.maximum(before[:, sand], before[:, sea]))
