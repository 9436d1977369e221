"""Routes that change something: answers, audits, edits and their undoing."""

import json

from manyview import Collection
from manyview.workflow.clusters.changes import record_update

from .test_routes import get, post


def test_decisions_and_undo(client):
    pair = {key: get(client, "/api/proposals")["proposals"][0][key] for key in ("item", "tag")}
    before = get(client, "/api/state")["version"]
    said = post(client, "/api/decisions", {"pairs": [pair], "answer": True})
    assert (
        said["n_open"] == 4
        and said["done"] == [{**pair, "answer": True, "entry": said["entry"]}]
        and said["already"] == []
    )
    assert get(client, "/api/state")["version"] != before
    assert {"name": pair["tag"], "origin": "person"} in get(client, f"/api/items/{pair['item']}")["tags"]
    back = post(client, "/api/undo", {"entry": said["entry"]})
    assert back["n_open"] == 5
    assert post(client, "/api/undo", {"entry": said["entry"]}, 409)["error"]
    post(client, "/api/undo", {"entry": 999}, 400)


def test_an_audit(client):
    page = get(client, "/api/audit?share=0.7")
    assert page["audit"] is None and page["plan"]["n"] == 5 and not page["plan"]["is_worth_it"]
    get(client, "/api/audit?share=0.1", 422)
    now = post(client, "/api/audit", {"share": 0.7})
    assert (now["verdict"], now["asked"], now["n"]) == ("asking", 0, 5) and len(now["following"]) == 3
    assert get(client, "/api/audit")["audit"] == now == post(client, "/api/audit", {"share": 0.7})
    asked = {key: now["question"][key] for key in ("item", "tag")}
    then = post(client, f"/api/audit/{now['id']}/answer", {**asked, "answer": True})
    assert then["asked"] == then["right"] == 1 and then["question"] == now["following"][0]
    assert post(client, f"/api/audit/{now['id']}/back", {}) == now
    post(client, f"/api/audit/{now['id']}/back", {}, 409)
    post(client, f"/api/audit/{now['id']}/accept", {}, 409)
    while now["question"]:
        asked = {key: now["question"][key] for key in ("item", "tag")}
        now = post(client, f"/api/audit/{now['id']}/answer", {**asked, "answer": True})
    assert (now["verdict"], now["asked"], now["n_rest"]) == ("proved", 4, 1)  # 4 of 5 are 0.7 of them
    done = post(client, f"/api/audit/{now['id']}/accept", {})
    assert done["n"] == 1 and "at least 70 % of 5 are right" in done["summary"] and done["n_open"] == 0
    assert post(client, "/api/undo", {"entry": done["entry"]})["n_open"] == 1
    post(client, "/api/audit/999/answer", {**asked, "answer": True}, 400)


def test_two_tabs_do_not_clash(client):
    pairs = [{"item": one["item"], "tag": one["tag"]} for one in get(client, "/api/proposals")["proposals"][:2]]
    first = post(client, "/api/decisions", {"pairs": pairs[:1], "answer": True})
    second = post(client, "/api/decisions", {"pairs": pairs, "answer": False})
    assert second["already"] == [{**pairs[0], "answer": True, "entry": first["entry"]}]
    assert second["done"] == [{**pairs[1], "answer": False, "entry": second["entry"]}]
    assert get(client, f"/api/items/{pairs[0]['item']}")["refused"] == []
    nothing = post(client, "/api/decisions", {"pairs": pairs, "answer": True})
    assert nothing["entry"] is None and len(nothing["already"]) == 2
    forced = post(client, "/api/decisions", {"pairs": pairs[:1], "answer": False, "force": True})
    assert forced["entry"] and get(client, f"/api/items/{pairs[0]['item']}")["refused"] == [pairs[0]["tag"]]


def test_accepting_above_a_line(client):
    said = post(client, "/api/decisions/line", {"probability": 0.8})
    assert said["n"] == 2 and said["n_open"] == 3
    assert post(client, "/api/decisions/line", {"probability": 0.99})["entry"] is None


def test_levels_of_a_run(collection, client):
    page = get(client, "/api/clusters")
    assert page["coarser"] is None and page["finer"] is None
    assert "keeps no levels" in json.dumps(post(client, "/api/clusters/level", {"to": "finer"}, 400))
    with Collection.open(collection, write=True) as found:
        found.fit("consensus", 3, views=["looks"])
    page = get(client, "/api/clusters")
    assert page["coarser"] == 2 and len(page["clusters"]) == 3
    done = post(client, "/api/clusters/level", {"to": "coarser"})
    assert done["summary"] == "run 5: 2 clusters, a level of run 4"
    page = get(client, "/api/clusters")
    assert len(page["clusters"]) == 2 and (page["coarser"], page["finer"]) == (None, 3)
    assert get(client, "/api/clusters?run=4")["coarser"] is None, "only the newest run can be moved"
    post(client, "/api/clusters/level", {"to": "finer"})
    assert len(get(client, "/api/clusters")["clusters"]) == 3
    post(client, "/api/clusters/level", {"to": 7}, 422)


def test_edits_of_clusters_and_tags(client):
    post(client, "/api/clusters/1/rename", {"name": "warm"})
    assert get(client, "/api/clusters/1")["name"] == "warm"
    post(client, "/api/clusters/1/pin", {"pinned": True})
    assert get(client, "/api/clusters?pinned=true")["clusters"][0]["id"] == 1
    made = post(client, "/api/items/move", {"items": [1, 2], "cluster": None, "name": "two"})
    new = made["clusters"][0]
    assert get(client, f"/api/items?cluster={new}")["total"] == 2
    post(client, "/api/clusters/merge", {"clusters": [new, 2], "into": 2})
    assert get(client, "/api/clusters?text=two")["clusters"] == []
    post(client, "/api/undo", {})
    assert get(client, "/api/clusters?text=two")["clusters"][0]["size"] == 2
    post(client, "/api/clusters/2/split", {"n": 2})
    post(client, "/api/links", {"first": 4, "second": 5, "together": True})
    assert get(client, "/api/items/4")["links"] == [{"item": 5, "together": True}]
    post(client, "/api/links", {"first": 4, "second": 5, "together": None})
    assert get(client, "/api/items/4")["links"] == []
    post(client, "/api/tags", {"items": [1, 3], "tag": "holiday", "answer": True})
    assert get(client, "/api/items?tag=holiday")["total"] == 2
    post(client, "/api/tags", {"items": [1], "tag": "holiday", "answer": False})
    assert get(client, "/api/items?tag=holiday")["total"] == 1
    post(client, "/api/clusters/77/rename", {"name": "x"}, 400)
    post(client, "/api/clusters/1/rename", {"name": "x", "more": 1}, 422)


def test_deleting_a_run(client):
    post(client, "/api/runs/1/delete", {})
    assert [run["id"] for run in get(client, "/api/runs")["runs"]] == [3, 2]
    post(client, "/api/runs/1/delete", {}, 400)


def test_another_writer_is_named(client):
    with Collection.open(client.gallery.path, write=True):
        answer = post(client, "/api/clusters/1/rename", {"name": "x"}, 409)
    assert "is being written by" in answer["error"]
    post(client, "/api/clusters/1/rename", {"name": "x"})


def test_only_what_changed_something_can_be_taken_back(client):
    with Collection.open(client.gallery.path, write=True) as collection:
        record_update(collection, "fit", "run 3: a fit", collection.runs.get(), None)
    renamed = post(client, "/api/clusters/1/rename", {"name": "mine"})
    assert renamed["undoes"] is None
    told = {one["id"]: one["can_undo"] for one in get(client, "/api/history")["entries"][:2]}
    assert told == {renamed["entry"]: True, renamed["entry"] - 1: False}
    assert post(client, "/api/undo", {"entry": None})["undoes"] == renamed["entry"]
    assert [one["can_undo"] for one in get(client, "/api/history")["entries"][:3]] == [False] * 3
