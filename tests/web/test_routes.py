"""Every route answers, and what it says agrees with the collection."""

import csv
import io
import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from manyview.web.media import Original
from manyview.web.openapi import description_text

from .made import OURS, N
from .test_security import PAGES, ROUTES

ROOT = Path(__file__).parents[2]


def get(client, address, status=200):
    answer = client.get(address)
    assert answer.status_code == status, answer.text
    return answer.json()


def post(client, address, body, status=200):
    answer = client.post(address, json=body, headers=OURS)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_the_description_has_every_route():
    paths = json.loads(description_text())["paths"]
    assert sum(len(methods) for methods in paths.values()) == len(set(ROUTES) - PAGES) >= 35


def test_the_description_in_the_repository_is_current():
    assert (ROOT / "frontend" / "openapi.json").read_text(encoding="utf-8") == description_text(), (
        "python -m manyview.web.openapi frontend/openapi.json"
    )


def test_state(seen):
    state = get(seen, "/api/state")
    facts = {"name": "small", "n_items": N + 1, "n_tagged": 6, "n_tags": 2, "views": ["looks"]}
    assert state["collection"] == facts | {"id": state["collection"]["id"]}
    assert state["run"]["id"] == 2 and state["n_open"] == 5 and state["n_less_likely"] == 1
    assert state["can_write"] is False  # nobody said who asks, so that nothing could be changed
    assert seen.get("/api/state", headers={"Sec-Fetch-Site": "same-origin"}).json()["can_write"] is True
    assert state["last"]["kind"] == "decide"


def test_clusters(seen):
    page = get(seen, "/api/clusters")
    assert {one["id"]: one["size"] for one in page["clusters"]} == {1: 5, 2: 7}
    assert page["n_items"] == N + 1 and page["n_unplaced"] == 1
    assert sum(one["n_open"] for one in page["clusters"]) == 5
    first = page["clusters"][0]
    assert len(first["typical"]) == first["size"]
    names = [one["name"] for one in get(seen, "/api/clusters?sort=name")["clusters"]]
    assert names == sorted(names)
    assert get(seen, "/api/clusters?pinned=true")["clusters"] == []
    assert [one["id"] for one in get(seen, "/api/clusters?run=1")["clusters"]] == [1, 2]
    assert [one["id"] for one in get(seen, "/api/clusters?tag=blue")["clusters"]] == [2]
    opened = [one["n_open"] for one in get(seen, "/api/clusters?sort=proposals")["clusters"]]
    assert opened == sorted(opened, reverse=True)


def test_one_cluster(seen):
    page = get(seen, "/api/clusters/2")
    assert page["size"] == 7 and page["run"]["id"] == 2
    assert [view["name"] for view in page["profile"]["views"]] == ["looks"]
    assert [near["id"] for near in page["profile"]["near"]] == [1]
    assert {edge["other_cluster"] for edge in page["profile"]["borderline"]} <= {1}
    assert {page["previous"], page["next"]} == {None, 1}
    assert "no cluster 77" in get(seen, "/api/clusters/77", 404)["error"]


def test_what_has_no_picture_shows_how_its_text_begins(seen):
    rows = {one["key"]: one for one in get(seen, "/api/items?limit=50")["items"]}
    assert rows["note.txt"]["opening"] == "A walk along the beach, then home." and not rows["note.txt"]["has_thumb"]
    assert all(one["opening"] is None and one["has_thumb"] for key, one in rows.items() if key != "note.txt")


def test_items_by_search(seen):
    everything = get(seen, "/api/items")
    assert everything["total"] == N + 1 and len(everything["items"]) == N + 1
    page = get(seen, "/api/items?q=cluster:2 -tag:blue kind:picture&limit=2&offset=1")
    assert page["total"] == 4 and len(page["items"]) == 2 and page["offset"] == 1
    assert get(seen, "/api/items?cluster=2")["total"] == 7
    assert get(seen, "/api/items?tag=BLUE")["total"] == 3
    assert get(seen, "/api/items?q=untagged")["total"] == N + 1 - 6
    assert get(seen, "/api/items?q=beach walk")["total"] == 1  # in the text of the note
    assert get(seen, '/api/items?q="along the bea"')["total"] == 1
    assert get(seen, "/api/items?q=red")["total"] == 6  # by name and by tag
    assert get(seen, "/api/items?q=unplaced")["items"][0]["kind"] == "document"
    low = get(seen, "/api/items?q=confidence<0.3&sort=confidence")["items"]
    assert [one["confidence"] for one in low] == sorted(one["confidence"] for one in low) and len(low) == 3
    assert "number" in get(seen, "/api/items?q=confidence<x", 400)["error"]
    names = [one["key"] for one in get(seen, "/api/items?sort=name")["items"]]
    assert names == sorted(names, key=str.casefold)
    typical = get(seen, "/api/items?cluster=1&sort=typical")["items"]
    assert sorted(one["id"] for one in typical) == [one["id"] for one in get(seen, "/api/items?cluster=1")["items"]]
    assert "--search" in page["command"] and page["query"] == "cluster:2 -tag:blue kind:picture"
    get(seen, "/api/items?limit=201", 422)
    get(seen, "/api/items?offset=-1", 422)


def test_one_item(seen):
    until = time.monotonic() + 60
    while (item := get(seen, "/api/items/1"))["why_pending"] and time.monotonic() < until:
        time.sleep(0.1)
    assert item["cluster"] in (1, 2) and item["has_file"] and item["width"] is None
    assert item["why"]["views"][0]["name"] == "looks" and item["why"]["sentence"]
    near = item["neighbours"]["looks"]
    assert near and item["id"] not in [one["id"] for one in near]
    assert [one["closeness"] for one in near] == sorted((one["closeness"] for one in near), reverse=True)
    members = [one["id"] for one in get(seen, f"/api/items?cluster={item['cluster']}")["items"]]
    place = members.index(1)
    assert item["next"] == (members[place + 1] if place + 1 < len(members) else None)
    assert "no item 999" in get(seen, "/api/items/999", 404)["error"]


def test_neighbours_are_those_of_the_definition(seen):
    """The quick way, by lengths and one product, gives what comparing unit rows gives."""
    from manyview.describe.nearest_items import NearestItems
    from manyview.workflow.reading.explain import profiles_of_run

    with Collection.open(seen.gallery.path) as collection:
        likeness = profiles_of_run(collection, collection.runs.get()).likeness
        nearest = NearestItems(likeness)
        units = likeness.spaces[0].units(slice(0, N + 1))
        base = likeness.base[0]
        for row in range(N + 1):
            expected = (units @ units[row] - base) / (1 - base)
            for other, value in nearest.of(row)["looks"]:
                assert value == pytest.approx(expected[other], abs=1e-5)
            best = np.argsort(-np.where(np.arange(N + 1) == row, -np.inf, expected))
            assert nearest.of(row, n=1)["looks"][0][0] == best[0]


def test_facets_and_tags(seen):
    facets = get(seen, "/api/facets")
    assert facets["total"] == N + 1 and facets["untagged"] == N + 1 - 6 and facets["unplaced"] == 1
    assert {one["name"]: one["count"] for one in facets["tags"]} == {"blue": 3, "red": 3}
    assert {one["name"]: one["count"] for one in facets["kinds"]} == {"document": 1, "picture": N}
    assert sum(one["count"] for one in facets["clusters"]) == N
    assert get(seen, "/api/facets?q=tag:red")["tags"] == [{"name": "red", "count": 3}]
    assert get(seen, "/api/tags?text=BL")["tags"] == [{"name": "blue", "count": 3}]


def test_proposals(seen):
    page = get(seen, "/api/proposals")
    assert page["total"] == 5 and page["n_less_likely"] == 1
    # in the order of the right answers to expect: .95 + .85 + .75 and .65 + .55; the sixth is not worth asking
    assert [(one["name"], one["n_open"]) for one in page["tags"]] == [("red", 3), ("blue", 2)]
    assert [one["expected"] for one in page["tags"]] == pytest.approx([2.55, 1.2])
    sure = [one["probability"] for one in page["proposals"]]
    assert sure == pytest.approx([0.95, 0.85, 0.75, 0.65, 0.55]) and all(
        one["is_worth_asking"] for one in page["proposals"]
    )
    first = page["proposals"][0]
    assert (first["is_trusted"], first["sure"], page["proposals"][2]["sure"]) == (False, "very likely", "likely")
    assert first["sentence"].startswith("red: looks like ") and "which carries it" in first["sentence"]
    assert first["reason"]["likeness"] == "looks like" and first["reason"]["like"][0]["has_thumb"]
    assert get(seen, "/api/proposals?tag=blue&limit=2")["total"] == 2
    everything = get(seen, "/api/proposals?all=true")
    assert everything["total"] == len(everything["proposals"]) == 6 and everything["n_less_likely"] == 1
    assert get(seen, "/api/proposals?tag=blue&all=true")["total"] == 3
    item = page["proposals"][0]["item"]
    assert get(seen, f"/api/proposals?item={item}")["total"] == 1
    assert get(seen, "/api/proposals?by=tag")["tag"] == "red"
    mine = get(seen, "/api/proposals?cluster=2&limit=2&offset=1")
    rows = [one["id"] for one in get(seen, "/api/items?cluster=2")["items"]]
    wanted = [one for one in page["proposals"] if one["item"] in rows]
    assert mine["total"] == len(wanted) and mine["proposals"] == wanted[1:3]
    line = get(seen, "/api/proposals/line?probability=0.8")
    assert line["n"] == 2 and line["expected_precision"] == pytest.approx(0.9)
    assert get(seen, "/api/proposals/line?probability=1")["n"] == 0


def test_lists_of_runs_methods_problems_and_history(seen):
    assert [run["id"] for run in get(seen, "/api/runs")["runs"]] == [3, 2, 1]
    methods = get(seen, "/api/methods")
    assert "consensus" in [one["name"] for one in methods["methods"]] and methods["views"] == ["looks", "tags"]
    assert get(seen, "/api/problems") == {"total": 0, "problems": []}
    page = get(seen, "/api/history?limit=1")
    assert page["total"] >= 1 and len(page["entries"]) == 1
    assert get(seen, "/api/jobs/estimate?kind=fit")["seconds"] > 0


def test_compare(seen):
    page = get(seen, "/api/compare?first=1&second=2")
    assert [run["id"] for run in page["runs"]] == [1, 2]
    assert sum(flow["size"] for flow in page["flows"]) == N
    assert page["n_movers"] == 1 and len(page["movers"]) == 1 and 0 < page["agreement"]["ari"] < 1
    assert page["movers"][0]["first"] == 1 and page["movers"][0]["second"] == 2
    get(seen, "/api/compare?first=1&second=99", 400)
    moved = get(seen, "/api/compare/movers?first=1&second=2&from=1&to=2")
    assert [one["id"] for one in moved["items"]] == [page["movers"][0]["item"]] and moved["total"] == 1
    assert get(seen, "/api/compare/movers?first=1&second=2")["total"] == 1
    assert get(seen, "/api/compare/movers?first=1&second=2&from=2&to=2")["total"] == 6
    assert get(seen, "/api/compare/movers?first=1&second=2&from=none&to=none")["total"] == 1
    get(seen, "/api/compare/movers?first=1&second=2&from=x", 422)


def test_items_with_all_their_proposals(seen):
    page = get(seen, "/api/proposals/items?limit=2")
    assert page["total"] == 5 and len(page["items"]) == 2
    best = [one["item"]["id"] for one in page["items"]]
    assert best == [one["item"] for one in get(seen, "/api/proposals?limit=2")["proposals"]]
    assert page["items"][0]["tags"] == [] and [one["tag"] for one in page["items"][0]["proposals"]] == ["red"]
    mine = get(seen, "/api/proposals/items?cluster=2")
    assert mine["total"] == len(mine["items"]) == get(seen, "/api/proposals?cluster=2")["total"]
    sampled = get(seen, "/api/proposals/sample")["proposals"]
    assert len(sampled) == 6 and sampled == get(seen, "/api/proposals/sample")["proposals"]


def test_pictures(seen):
    thumb = seen.get("/thumbs/1")
    assert thumb.status_code == 200 and thumb.headers["content-type"] == "image/jpeg"
    assert get(seen, "/thumbs/999", 404)["error"]
    preview = seen.get("/media/1/preview")
    assert preview.headers["content-type"] == "image/jpeg" and preview.content[:3] == b"\xff\xd8\xff"
    note = next(one["id"] for one in get(seen, "/api/items")["items"] if one["kind"] == "document")
    assert "no picture" in get(seen, f"/media/{note}/preview", 404)["error"]
    with Collection.open(seen.gallery.path) as collection:
        content = Path(collection.items.get(1).path).read_bytes()
    original = seen.get("/media/1/original")
    assert original.content == content and original.headers["content-disposition"].startswith("attachment")
    part = seen.get("/media/1/original", headers={"Range": "bytes=1-3"})
    assert part.status_code == 206 and part.content == content[1:4]
    assert part.headers["content-range"] == f"bytes 1-3/{len(content)}"
    assert seen.get("/media/1/original", headers={"Range": "bytes=-4"}).content == content[-4:]
    assert seen.get("/media/1/original", headers={"Range": f"bytes={len(content)}-"}).status_code == 416
    many = ",".join(f"{n}-{n}" for n in range(1000))
    assert seen.get("/media/1/original", headers={"Range": f"bytes={many}"}).content == content


def test_pictures_as_squares_and_large(seen):
    with Image.open(io.BytesIO(seen.get("/thumbs/1").content)) as whole:
        assert whole.size == (40, 30)
    square = seen.get("/thumbs/1?square=true")
    assert square.headers["content-type"] == "image/jpeg"
    with Image.open(io.BytesIO(square.content)) as cut:
        assert cut.size == (30, 30)
    get(seen, "/thumbs/1?square=perhaps", 422)
    large = seen.get("/media/1/preview?large=true")
    assert large.headers["content-type"] == "image/jpeg" and large.content[:3] == b"\xff\xd8\xff"


def test_a_clip_is_sent_under_its_type_and_to_be_saved():
    for format, media_type in (("mp4", "video/mp4"), ("mov", "video/mp4"), ("matroska", "video/webm"), ("avi", None)):
        with tempfile.TemporaryFile() as file:
            clip = Original(1, os.dup(file.fileno()), 9, "clip", "video", format)
            with clip.file:
                headers = clip.headers(0, 9, 200)
        assert headers["Content-Type"] == (media_type or "application/octet-stream")
        assert headers["Content-Disposition"].startswith("attachment")


def test_an_item_in_brief(seen):
    whole, brief = get(seen, "/api/items/1"), get(seen, "/api/items/1?brief=true")
    assert brief["why"] is None and not brief["why_pending"] and not brief["neighbours"] and not brief["proposals"]
    left_out = {"why", "why_pending", "neighbours", "proposals"}
    assert {name: whole[name] for name in whole.keys() - left_out} == {
        name: brief[name] for name in brief.keys() - left_out
    }


def test_exports(seen, client):
    post(client, "/api/tags", {"items": [1], "tag": "=1+1", "answer": True})
    post(client, "/api/tags", {"items": [2], "tag": '@a "quoted", word', "answer": True})
    post(client, "/api/clusters/1/rename", {"name": "-2+3"})
    for view in ("items", "clusters", "proposals", "tags"):
        answer = client.get(f"/api/export?view={view}")
        assert answer.headers["content-disposition"] == f'attachment; filename="{view}.csv"'
        rows = list(csv.reader(io.StringIO(answer.text)))
        assert len(rows) > 1 and all(len(row) == len(rows[0]) for row in rows)
        assert not [cell for row in rows for cell in row if cell[:1] in ("=", "+", "@") or cell.startswith("-2")]
        plain = json.loads(client.get(f"/api/export?view={view}&format=json").text)
        assert [list(one) for one in plain] == [rows[0]] * (len(rows) - 1)
    tags = client.get("/api/export?view=tags").text
    assert "'=1+1" in tags and '\'@a ""quoted"", word' in tags
    moved = client.get("/api/export?view=compare&first=1&second=2&format=json").json()
    assert len(moved) == 1
    assert len(client.get("/api/export?view=items&q=tag:red").text.splitlines()) == 4
    get(client, "/api/export?view=compare", 400)
    for view in ("runs", "history"):
        assert len(client.get(f"/api/export?view={view}").text.splitlines()) > 1
    for view, word in (("items", "show"), ("clusters", "show"), ("proposals", "suggest"), ("history", "history")):
        line = client.get(f"/api/export?view={view}&format=command&tag=a b").text
        assert line.startswith(f"manyview {word} ") and (view in ("clusters", "history") or "a b" in line)


def test_more_like_these(seen):
    first = get(seen, "/api/items?q=tag:red")["items"][0]["id"]
    page = get(seen, f"/api/search?q=like:{first},60%25")
    alike = [one["score"] for one in page["items"]]
    assert alike == sorted(alike, reverse=True) and alike[-1] >= 0.6
    assert {one["how"] for one in page["items"]} == {"alike"} and first not in [one["id"] for one in page["items"]]
    assert page["like"]["least"] == 0.6 and [one["id"] for one in page["like"]["items"]] == [first]
    counts = [one["n"] for one in page["like"]["stops"]]
    assert counts == sorted(counts) and page["like"]["stops"][-1] == {"least": 0.9, "n": sum(s >= 0.9 for s in alike)}
    assert f"like:{first},60%" in page["command"]
    assert get(seen, f"/api/search/facets?q=like:{first},60%25")["total"] == page["total"]
    some = get(seen, f"/api/search?q=like:{first},60%25 tag:red")
    assert {one["id"] for one in some["items"]} < {one["id"] for one in page["items"]}
    assert some["like"]["stops"][-1]["n"] == sum(one["score"] >= 0.9 for one in some["items"])
    assert get(seen, "/api/search?q=tag:red")["like"] is None
    assert "like:3,5,99.9%" in get(seen, "/api/search?q=like:red", 400)["error"]
    text = seen.get(f"/api/export?view=items&format=csv&sort=best&q=like:{first},60%25").text
    table = list(csv.reader(io.StringIO(text)))
    assert [int(row[0]) for row in table[1:]] == [one["id"] for one in page["items"]]


def test_map(client):
    assert get(client, "/api/map")["state"] == "absent"
    assert client.get("/api/map/points").content == b"\0" * 4
    from manyview.workflow.reading.map_layout import make_map

    with Collection.open(client.gallery.path, write=True) as collection:
        made = make_map(collection)
    page = get(client, "/api/map")
    assert page["state"] == "ready" and page["n"] == made.n_items == N + 1 and page["n_missing"] == 0
    assert {one["id"] for one in page["clusters"]} == {1, 2}
    points = client.get("/api/map/points").content
    n = int(np.frombuffer(points, "<i4", 1)[0])
    assert len(points) == 4 + n * 16
    ids, clusters = np.frombuffer(points, "<i4", n, 4), np.frombuffer(points, "<i4", n, 4 + 12 * n)
    x = np.frombuffer(points, "<f4", n, 4 + 4 * n)
    assert ids.tolist() == list(range(1, N + 2)) and set(clusters.tolist()) == {-1, 1, 2} and np.abs(x).max() <= 1
    red = np.frombuffer(client.get("/api/map/column?by=tag&tag=red").content, "<i4")
    assert red.sum() == 3
    other = np.frombuffer(client.get("/api/map/column?by=cluster&of=1").content, "<i4")
    assert (other != clusters).sum() == 1


def test_nothing_there(seen):
    assert get(seen, "/nowhere", 404)["error"]
    assert get(seen, "/api/nowhere", 404)["error"]
    assert seen.get("/docs").status_code == 404 and seen.get("/openapi.json").status_code == 404


def test_a_collection_without_a_run(tmp_path):
    from .conftest import _serve

    np.savez(tmp_path / "six.npz", looks=np.arange(12.0).reshape(6, 2))
    Collection.create(tmp_path / "six.manyview", tmp_path / "six.npz").close()
    for browser in _serve(tmp_path / "six.manyview"):
        assert get(browser, "/api/state")["run"] is None
        assert get(browser, "/api/clusters")["clusters"] == []
        assert get(browser, "/api/items")["total"] == 6
        assert get(browser, "/api/items/1")["cluster"] is None
        assert get(browser, "/api/proposals")["total"] == 0
        assert get(browser, "/api/map")["state"] == "absent"
        assert get(browser, "/api/facets")["unplaced"] == 6
        assert get(browser, "/media/1/preview", 404)["error"]


def test_a_reason_may_name_a_picture_that_is_gone(client):
    before = get(client, "/api/proposals")["proposals"]
    like = before[-1]["reason"]["like"][0]["id"]
    with Collection.open(client.gallery.path, write=True) as collection:
        collection.items.gone([like])
    after = [one for one in get(client, "/api/proposals")["proposals"] if one["item"] != like]
    assert [one["item"] for one in after] == [one["item"] for one in before if one["item"] != like]
    assert all(one["reason"]["like"] == [] for one in after)
