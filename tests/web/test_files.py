"""The routes of the pages for tags, duplicates and writing to files."""

import shutil
import time

import pytest

from manyview import Collection

from .made import OURS


def get(client, address):
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return answer.json()


def post(client, address, body, code=200):
    answer = client.post(address, json=body, headers=OURS)
    assert answer.status_code == code, answer.text
    return answer.json()


def test_the_words_are_listed_and_cared_for(client):
    page = get(client, "/api/vocabulary?order=name")
    assert [(line["tag"], line["n_items"]) for line in page["tags"]] == [("blue", 3), ("red", 3)] and page["kin"] == []
    assert page["command"].endswith("--order name") and get(client, "/api/vocabulary?text=RE")["total"] == 1
    asked = {"action": "rename", "words": ["red", "reds"]}
    seen = post(client, "/api/vocabulary/preview", asked)
    assert seen == {
        "sentence": "renamed 'red' to 'reds': 3 items; `apply` will look at 3 files",
        "n_items": 3,
        "n_files": 3,
    }
    assert get(client, "/api/vocabulary?text=reds")["total"] == 0
    done = post(client, "/api/vocabulary", asked)
    assert done["kind"] == "tags" and get(client, "/api/items?q=tag:red")["total"] == 3
    assert get(client, "/api/vocabulary?text=reds")["tags"][0]["aliases"] == ["red"]
    post(client, "/api/undo", {"entry": done["entry"]})
    assert get(client, "/api/vocabulary?text=reds")["total"] == 0
    assert "no tag 'zebra'" in post(client, "/api/vocabulary", {"action": "retire", "words": ["zebra"]}, 400)["error"]


def test_what_would_be_written_is_shown_written_and_undone(client):
    page = get(client, "/api/write-back?limit=2")
    assert page["total"] == 6 and len(page["files"]) == 2 and page["last"] is None
    assert page["sentence"] == "6 tags would be put into 6 sidecars (6 new)"
    first = page["files"][0]
    assert first["is_new"] and first["before"] == [] and first["after"] in (["red"], ["blue"])
    assert first["lines"] == [f"+ {first['after'][0]}"]
    assert {one["name"] for one in page["programs"]} >= {"darktable", "digiKam", "Immich"}
    job = post(client, "/api/jobs", {"kind": "apply", "settings": {"to": "xmp"}})
    for _ in range(600):
        state = next(one for one in get(client, "/api/state")["jobs"] if one["id"] == job["id"])
        if state["state"] not in ("waiting", "running"):
            break
        time.sleep(0.1)
    assert state["state"] == "done", state
    page = get(client, "/api/write-back")
    assert page["total"] == 0 and page["sentence"] == "no sidecar needs writing" and page["last"]["kind"] == "apply"
    post(client, "/api/undo", {"entry": page["last"]["id"]})
    assert get(client, "/api/write-back")["total"] == 6
    post(client, "/api/jobs", {"kind": "apply", "settings": {"k": 3}}, 400)


def test_before_and_after_of_a_sidecar_that_is_there(client):
    post(client, "/api/tags", {"items": [2], "tag": "sun", "answer": True})
    with Collection.open(client.gallery.path, write=True) as found:
        found.apply()
    post(client, "/api/tags", {"items": [2], "tag": "sea", "answer": True})
    post(client, "/api/tags", {"items": [2], "tag": "sun", "answer": False})
    (one,) = get(client, "/api/write-back")["files"]
    assert "sun" in one["before"] and "sun" not in one["after"] and "sea" in one["after"]
    assert one["lines"] == ["+ sea", "- sun"] and not one["is_new"]


@pytest.fixture
def doubled(client):
    with Collection.open(client.gallery.path, write=True) as found:
        folder = found.items.sources()[0]["path"]
        first = next(item for item in found.items if item.kind == "picture")
        shutil.copy(first.path, f"{folder}/zz copy.png")
        found.read(folder)
    return client


def test_copies_are_listed_and_marked(doubled):
    page = get(doubled, "/api/duplicates")
    assert page["total"] == 1 and page["n_others"] == 1
    kept, other = page["groups"][0]["copies"]
    assert (
        kept["is_kept"] and not other["is_kept"] and other["why"] == "the same bytes" and other["key"] == "zz copy.png"
    )
    assert get(doubled, "/api/duplicates?kind=near")["total"] == 0
    done = post(doubled, "/api/duplicates/mark", {"tag": "copy"})
    assert "added 'copy'" in done["summary"] and get(doubled, "/api/items?q=tag:copy")["total"] == 1
