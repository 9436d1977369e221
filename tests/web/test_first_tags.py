"""A gallery of pictures nobody has tagged: guessed names, first tags and one search for everything."""

import pytest

from manyview import Collection
from manyview.workflow.clusters.living import current_clusters
from manyview.workflow.proposing.decide import add_tag

from ..untagged import WORDS, collection_of
from .conftest import _serve
from .test_routes import get, post


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Twelve pictures each of three words, and of nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LC_ALL", "C.UTF-8")
        with collection_of(tmp_path_factory.mktemp("untagged"), (*WORDS, "")) as made:
            made.fit("rmkmc", 4)
            return made.path


@pytest.fixture
def untagged(kept, tmp_path, monkeypatch):
    import shutil

    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    yield from _serve(shutil.copytree(kept, tmp_path / "c.manyview"))


def number_of(client, word):
    return next(one["id"] for one in get(client, "/api/clusters")["clusters"] if one["name"].startswith(word))


def test_guesses_are_marked_wherever_a_cluster_is_named(untagged):
    rows = get(untagged, "/api/clusters")["clusters"]
    guessed = {one["id"]: one for one in rows if one["is_guess"]}
    assert {one["words"][0] for one in guessed.values()} == set(WORDS)
    assert all(one["name"] == ", ".join(one["words"]) + "?" for one in guessed.values())
    for one in get(untagged, "/api/facets")["clusters"]:
        assert one["is_guess"] == (one["id"] in guessed) == one["name"].endswith("?")
    page = get(untagged, f"/api/clusters/{next(iter(guessed))}")
    assert page["profile"]["near"]
    assert all(near["is_guess"] == (near["id"] in guessed) for near in page["profile"]["near"])
    item = get(untagged, f"/api/items/{page['typical'][0]['id']}")
    assert item["is_guess"] and item["cluster_name"] == page["name"]


def test_a_name_of_a_person_is_no_guess_in_a_comparison_of_runs(untagged):
    with Collection.open(untagged.gallery.path, write=True) as made:
        made.fit("rmkmc", 3)
    before = {one["id"]: one["is_guess"] for one in get(untagged, "/api/compare?first=1&second=2")["first"]}
    kitchen = number_of(untagged, "kitchen")
    assert before[kitchen] and sum(before.values()) == 3
    post(untagged, f"/api/clusters/{kitchen}/rename", {"name": "cooking?"})
    after = {one["id"]: one["is_guess"] for one in get(untagged, "/api/compare?first=1&second=2")["first"]}
    assert {one for one in before if before[one] != after[one]} == {kitchen}


def test_questions_begin_with_clear_words_and_end_when_they_are_answered(untagged):
    page = get(untagged, "/api/first-tags")
    assert page["total"] == 4
    assert {one["word"] for one in page["questions"][:3]} == set(WORDS)
    with Collection.open(untagged.gallery.path) as made:
        lift = {one.id: one.profile["name"]["lift"] for one in current_clusters(made)}
    sure = [round(lift[one["cluster"]], 2) for one in page["questions"][:3]]
    assert sure == sorted(sure, reverse=True) and lift[page["questions"][3]["cluster"]] is None
    last = page["questions"][3]
    assert last["word"] is None and len(last["hint"]) == 3 and last["name"].startswith("Group ")
    kitchen = number_of(untagged, "kitchen")
    asked = get(untagged, f"/api/clusters/{kitchen}/tag")
    assert asked["word"] == "kitchen" and len(asked["items"]) + asked["n_doubtful"] == 12
    assert all(one["probability"] > 0.4 for one in asked["items"])
    pairs = [{"item": one["id"], "tag": "kitchen"} for one in asked["items"]]
    post(untagged, "/api/decisions", {"pairs": pairs, "answer": False})
    assert kitchen not in {one["cluster"] for one in get(untagged, "/api/first-tags")["questions"]}
    assert get(untagged, f"/api/clusters/{kitchen}/tag")["items"] == []  # said once, and kept


def test_one_word_becomes_the_name_the_tag_or_both_and_goes_back(untagged):
    boats = number_of(untagged, "sailboat")
    done = post(untagged, f"/api/clusters/{boats}/tag", {"name": "sailboat, boat", "tag": "sailboat"})
    assert done["summary"].startswith(f"called cluster {boats} 'sailboat, boat' and added 'sailboat' for ")
    assert get(untagged, f"/api/clusters/{boats}")["is_guess"] is False
    n = get(untagged, "/api/items?tag=sailboat")["total"]
    assert 6 <= n <= 12
    assert boats not in {one["cluster"] for one in get(untagged, "/api/first-tags")["questions"]}
    post(untagged, "/api/undo", {})  # one entry
    assert get(untagged, "/api/items?tag=sailboat")["total"] == 0
    assert get(untagged, f"/api/clusters/{boats}")["name"] == "sailboat, boat?"
    assert post(untagged, f"/api/clusters/{boats}/tag", {"name": "boats"})["kind"] == "rename"
    assert post(untagged, f"/api/clusters/{boats}/tag", {"tag": "boat"})["kind"] == "decide"
    assert get(untagged, "/api/items?tag=boat")["total"] > 5


def test_the_ticked_ones_get_the_tag_and_nobody_else(untagged):
    nobody_knows = next(one["cluster"] for one in get(untagged, "/api/first-tags")["questions"] if not one["word"])
    asked = get(untagged, f"/api/clusters/{nobody_knows}/tag")
    assert asked["word"] is None and asked["items"][0]["probability"] is None
    ticked = [one["id"] for one in asked["items"][:5]]
    post(untagged, f"/api/clusters/{nobody_knows}/tag", {"tag": "attic", "items": ticked})
    assert [one["id"] for one in get(untagged, "/api/items?tag=attic")["items"]] == sorted(ticked)
    post(untagged, f"/api/clusters/{nobody_knows}/tag", {}, 400)
    get(untagged, "/api/clusters/999/tag", 404)
    # all or nothing: the name is taken, so that nothing is tagged either
    taken = get(untagged, f"/api/clusters/{number_of(untagged, 'kitchen')}")["name"]
    body = {"name": taken, "tag": "pantry", "items": ticked}
    assert "already" in post(untagged, f"/api/clusters/{nobody_knows}/tag", body, 400)["error"]
    assert get(untagged, "/api/items?tag=pantry")["total"] == 0


def test_one_search_says_how_each_was_found_and_when_there_is_nothing(untagged):
    with Collection.open(untagged.gallery.path, write=True) as made:
        add_tag(made, [1, 40], "kitchen")
    page = get(untagged, "/api/search?q=kitchen&limit=5")
    assert [one["how"] for one in page["items"]] == ["tag", "tag", "looks", "looks", "looks"]
    assert page["seen"] == "plain" and page["total"] >= 14 and "2 by tags" in page["sentence"]
    assert page["items"][2]["score"] >= page["items"][3]["score"]
    for q in ("kitchen", "", "tag:kitchen", "-tag:kitchen", "-kitchen", "-like:3", "wedding", "wedding&more=true"):
        found = get(untagged, f"/api/search?q={q}")["total"]
        assert get(untagged, f"/api/search/facets?q={q}")["total"] == found, q
    by_name = [one["key"] for one in get(untagged, "/api/search?q=kitchen&sort=name")["items"]]
    assert by_name == sorted(by_name) and len(by_name) == page["total"]
    exported = untagged.get("/api/export?view=items&q=kitchen&sort=name&looks=true&format=json").json()
    assert [one["name"] for one in exported] == by_name
    nothing = get(untagged, "/api/search?q=wedding")
    assert (nothing["seen"], nothing["total"], nothing["n_more"]) == ("none", 0, 48)
    assert nothing["sentence"] == "Nothing here seems to show that."
    behind = get(untagged, "/api/search?q=wedding&more=true")
    assert behind["total"] == 48 and "--more" in behind["command"]
    plain = get(untagged, "/api/search?q=tag:kitchen")
    assert plain["seen"] is None and plain["total"] == 2
    assert "number" in get(untagged, "/api/search?q=confidence<x", 400)["error"]
