"""The gallery as plain files: the same answers as the routes, and nothing that leads back to the originals."""

import base64
import errno
import json
import os
import re

import pytest
from PIL import Image
from typer.testing import CliRunner

from manyview import Collection
from manyview.cli.main import app
from manyview.errors import ParameterError, StoreError
from manyview.web import app as app_module
from manyview.web import site as site_module
from manyview.web import site_data
from manyview.web.site import export_site
from manyview.workflow.reading.index import Index
from manyview.workflow.reading.word_answers import word_answers

from ..search_table import TABLE, make_pictures
from .made import OURS, N, make_collection


@pytest.fixture(autouse=True)
def pages(tmp_path, monkeypatch):
    """Pages that are built, whether the real ones are or not."""
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<!doctype html><html><head><!--site--></head></html>", encoding="utf-8")
    (static / "assets" / "app.js").write_text("'use strict';", encoding="utf-8")
    monkeypatch.setattr(site_module, "STATIC", static)
    return static


def read(folder, slug):
    text = (folder / "data" / f"{slug}.js").read_text(encoding="ascii")
    found = re.fullmatch(
        r'\(window\.MANYVIEW_DATA = window\.MANYVIEW_DATA \|\| \{\}\)\["(.+?)"\] = (.*);\n', text, re.S
    )
    assert found and found[1] == slug
    return json.loads(found[2])


def without_command(answer):
    return {name: value for name, value in answer.items() if name != "command"}


def test_files_say_what_the_routes_say(client, tmp_path):
    client.post("/api/clusters/1/rename", json={"name": "</script><b>\u2028é"}, headers=OURS)
    made = export_site(client.gallery.path, tmp_path / "site")
    folder = tmp_path / "site"
    assert (made.n_items, made.n_previews) == (N + 1, N)
    assert '<head><script src="./data/site.js"></script></head>' in (folder / "index.html").read_text(encoding="utf-8")
    assert (folder / "data" / "site.js").read_text().startswith("window.MANYVIEW_SITE = {")
    pairs = {
        "clusters": "/api/clusters",
        "cluster-1": "/api/clusters/1",
        "runs": "/api/runs",
        "compare-1-2": "/api/compare?first=1&second=2",
        "map": "/api/map",
        "proposals": "/api/proposals",
        "tags": "/api/tags",
        "history": "/api/history",
    }
    for slug, address in pairs.items():
        assert without_command(read(folder, slug)) == without_command(client.get(address).json()), slug
    state = read(folder, "state")
    assert state["can_write"] is False and state["jobs"] == []
    listed = [one for slug in ("items-c1", "items-c2", "items-none") for one in read(folder, slug)["items"]]
    routes = client.get("/api/items").json()["items"]
    assert sorted(listed, key=lambda one: one["id"])[0].keys() == {*routes[0], "tags", "taken"}
    assert [{k: one[k] for k in routes[0]} for one in sorted(listed, key=lambda one: one["id"])] == routes
    assert read(folder, "ids") == [one["id"] for one in routes]
    page = read(folder, "item-0")["1"]
    assert page["why"]["sentence"] and page["neighbours"]["looks"] and page["why_pending"] is False
    assert base64.b64decode(read(folder, "map-points")["base64"]) == client.get("/api/map/points").content
    pictures = [one["id"] for one in routes if one["kind"] == "picture"]
    for number in pictures:
        for kind in ("thumbs", "previews"):
            with Image.open(folder / kind / f"{number}.jpg") as picture:
                assert picture.format == "JPEG" and not picture.getexif()
    secret = str(client.gallery.path.parent.parent)
    for file in folder.rglob("*.js"):
        assert secret not in file.read_text(encoding="ascii"), file


def test_what_the_pages_compute_with_is_what_the_routes_compute_with(client, tmp_path):
    moved = client.get("/api/items?cluster=1").json()["items"][0]["id"]
    client.post("/api/items/move", json={"items": [moved], "cluster": 2}, headers=OURS)
    export_site(client.gallery.path, tmp_path / "site")
    folder = tmp_path / "site"
    ids = read(folder, "ids")
    for run in (1, 2):
        places = read(folder, f"places-{run}")
        listed = client.get(f"/api/items?run={run}").json()["items"]
        assert places["now"] == [-1 if one["cluster"] is None else one["cluster"] for one in listed]
        assert places["found"] is not None and places["found"] != places["now"]
        shown = client.get(f"/api/clusters?run={run}").json()
        assert without_command(read(folder, f"clusters-of-{run}")) == without_command(shown)
    for source, target in ((1, 1), (1, 2), (2, 2), (-1, -1)):
        sides = zip(ids, read(folder, "places-1")["found"], read(folder, "places-2")["found"], strict=True)
        asked = f"from={'none' if source < 0 else source}&to={'none' if target < 0 else target}"
        movers = client.get(f"/api/compare/movers?first=1&second=2&{asked}").json()["items"]
        assert [one["id"] for one in movers] == [item for item, a, b in sides if (a, b) == (source, target)]
    assert read(folder, "compared") == [1, 2]
    shown = [client.get(f"/api/clusters/{one['id']}").json() for one in read(folder, "clusters")["clusters"]]
    first = {one["id"]: one["profile"]["exemplars"] for one in shown}
    best = [one["id"] for one in read(folder, "clusters")["clusters"]]
    expected = [item for cluster in best for item in first[cluster]]
    assert read(folder, "typical")[: len(expected)] == expected  # nothing is there twice


def test_words_for_what_pictures_show_are_those_of_the_table(tmp_path):
    wanted = TABLE["pictures"]["looks"]
    with make_pictures(tmp_path) as made:
        found = word_answers(Index(made), vocabulary=["kitchen", "elephant", "wedding", "boat", "mountain"])
    assert {name: found[name] for name in ("best", "plain", "fewest", "likely")} == {
        name: wanted[name] for name in ("best", "plain", "fewest", "likely")
    }
    assert found["words"]["küche"] == found["words"]["kitchen"] and "holiday" in found["words"]
    for word, number in wanted["words"].items():
        best, items, scores = found["found"][found["words"][word]]
        assert best == pytest.approx(wanted["found"][number][0], abs=2e-3)
        assert items == wanted["found"][number][1], word
        assert scores == pytest.approx(wanted["found"][number][2], abs=2)


def test_where_pictures_were_taken_stays_here_unless_asked(tmp_path):
    path = make_collection(tmp_path / "made")
    with Collection.open(path, write=True) as collection:
        said = '{"camera":"Pixel 7","latitude":48.1375,"longitude":11.575}'
        collection._catalog.run("UPDATE items SET fields = ?", (said,))
    export_site(path, tmp_path / "site")
    assert read(tmp_path / "site", "item-0")["1"]["fields"] == {"camera": "Pixel 7"}
    assert not any("48.1375" in file.read_text(encoding="ascii") for file in (tmp_path / "site").rglob("*.js"))
    export_site(path, tmp_path / "asked", positions=True)
    assert read(tmp_path / "asked", "item-0")["1"]["fields"]["latitude"] == 48.1375


def test_files_that_could_not_be_read_are_not_named(tmp_path):
    path = make_collection(tmp_path / "made")
    bad = tmp_path / "made" / "pictures" / "a private letter.png"
    bad.write_bytes(b"\x89PNG\r\n\x1a\n and then nothing")
    unknown = bad.with_name("diary of 1999.odd")
    unknown.write_bytes(b"?")
    with Collection.open(path, write=True) as collection:
        collection.read(bad.parent)
        item = collection.items.find(bad.name)  # it looks like a picture; only its decoding fails
        collection.items.refuse(item.id, "unreadable", f"{bad.name} cannot be decoded.")
        assert {bad.name, unknown.name} <= {problem.path for problem in collection.items.problems()}
    export_site(path, tmp_path / "site")
    for file in (tmp_path / "site").rglob("*"):
        for name in (bad.stem, unknown.stem):
            assert name not in str(file)
            assert not file.is_file() or name.encode() not in file.read_bytes(), file
    for slug in ("problems", "methods"):  # no page of a site asks for them
        assert not (tmp_path / "site" / "data" / f"{slug}.js").exists()


def test_every_proposal_and_text_is_there_by_cluster(seen, tmp_path, monkeypatch):
    monkeypatch.setattr(site_data, "_PROPOSALS_AT_ONCE", 4)
    export_site(seen.gallery.path, tmp_path / "site")
    names = ("c1", "c2", "none")
    parts = [read(tmp_path / "site", f"proposals-{name}") for name in names]
    for everything in (True, False):
        listed = seen.get(f"/api/proposals?all={everything}").json()["proposals"]
        rows = (one for part in parts for one in part if everything or one[4])
        found = sorted(rows, key=lambda one: (-one[3], -one[2], one[0]))
        fields = ("item", "tag", "score", "probability", "is_worth_asking", "is_trusted", "sure", "sentence")
        assert [one[:8] for one in found] == [[one[name] for name in fields] for one in listed]
        reasons = [(one[8][0], one[8][1], one[8][2]) for one in found]
        assert reasons == [
            (why["likeness"], [one["id"] for one in why["like"] if one["has_thumb"]], why["goes_with"])
            for why in (one["reason"] for one in listed)
        ]
    for number, part in zip((1, 2), parts, strict=False):
        members = {one["id"] for one in seen.get(f"/api/items?cluster={number}").json()["items"]}
        assert {one[0] for one in part} <= members
    texts = {**read(tmp_path / "site", "texts-c1"), **read(tmp_path / "site", "texts-none")}
    note = seen.get("/api/items?q=walk").json()["items"]
    assert texts == {str(note[0]["id"]): "A walk along the beach, then home."}
    for page in read(tmp_path / "site", "item-0").values():
        asked = seen.get(f"/api/items/{page['id']}").json()
        assert page["proposals"] == [] and page["why"] == asked["why"]
        assert [one["id"] for one in page["neighbours"].get("looks", [])] == [
            one["id"] for one in asked["neighbours"].get("looks", [])[:8]
        ]


def test_runs_without_a_common_item_are_told_in_a_sentence(client, tmp_path, monkeypatch):
    def refuse(*_):
        raise ParameterError("runs 1 and 2 have no item in common.")

    monkeypatch.setattr(site_data, "compare_page", refuse)
    export_site(client.gallery.path, tmp_path / "site")
    assert read(tmp_path / "site", "compare-1-2") == {"error": "runs 1 and 2 have no item in common."}


def test_a_second_export_replaces_the_first_and_nothing_else(template, tmp_path):
    folder = tmp_path / "site"
    export_site(template, folder)
    (folder / "thumbs" / "old.jpg").write_bytes(b"")
    export_site(template, folder)
    assert not (folder / "thumbs" / "old.jpg").exists()
    other = tmp_path / "mine"
    other.mkdir()
    (other / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(ParameterError, match="something other than an earlier export"):
        export_site(template, other)
    assert (other / "letter.txt").exists()
    with pytest.raises(ParameterError, match="exists and is a file; nothing was written"):
        export_site(template, other / "letter.txt")
    assert (other / "letter.txt").read_text(encoding="utf-8") == "dear"
    with pytest.raises(ParameterError, match="does not exist"):
        export_site(template, tmp_path / "no" / "where")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".site-")]


def test_the_command(template, tmp_path, pages):
    shown = CliRunner().invoke(app, ["export-site", str(template), "-o", str(tmp_path / "out"), "--json"])
    assert shown.exit_code == 0 and json.loads(shown.stdout)["items"] == N + 1
    shown = CliRunner().invoke(app, ["export-site", str(template), "-o", str(tmp_path / "out")])
    assert shown.exit_code == 0 and "13 items" in shown.stdout
    (pages / "index.html").unlink()
    shown = CliRunner().invoke(app, ["export-site", str(template), "-o", str(tmp_path / "more")])
    assert shown.exit_code == 2 and "are not built" in shown.output
    assert app_module.STATIC.name == "static"


def test_a_full_disk_is_told_in_a_sentence(template, tmp_path, monkeypatch):
    def full(source, target):
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    monkeypatch.setattr(site_module.shutil, "copyfile", full)
    with pytest.raises(StoreError, match=r"cannot write .*site: the disk is full\. Free some space"):
        export_site(template, tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_the_first_export_stays_where_the_second_cannot_take_its_place(template, tmp_path, monkeypatch):
    folder = tmp_path / "site"
    export_site(template, folder)
    (folder / "thumbs" / "old.jpg").write_bytes(b"old")
    (tmp_path / "link").symlink_to(folder)
    replace = os.replace

    def stopped(source, target):
        if source.name == "site" and target == folder:
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(site_module.os, "replace", stopped)
        with pytest.raises(KeyboardInterrupt):
            export_site(template, tmp_path / "link")
    assert (folder / "thumbs" / "old.jpg").read_bytes() == b"old"
    export_site(template, tmp_path / "link")  # a link leads to the site, and still does
    assert not (folder / "thumbs" / "old.jpg").exists() and (tmp_path / "link").is_symlink()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".site-")]
