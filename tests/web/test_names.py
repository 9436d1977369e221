"""Names that are no UTF-8, or made to confuse, come through every route as text."""

import os
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient

from manyview import Collection
from manyview.web.app import guarded
from manyview.web.gallery import Gallery
from manyview.web.security import Access

from .made import ORIGIN, OURS
from .test_security import ROUTES, check_headers

NAMES = [
    b"caf\xe9.png",
    b"\xff\xfe\xfd.png",
    b"half \xe2\x82.png",
    "\ud7ff\ue000.png".encode(),
    b"new\nline.png",
    b"tab\there.png",
    b"\x1b[31mred\x1b[0m.png",
    "\u202egnp.exe.png".encode(),
    b"-rf.png",
    b"trailing|.png",
    b"<img src=x onerror=alert(1)>.png",
    b"'\"`$(x).png",
    "e\u0301.png".encode(),
    "\u00e9.png".encode(),
    b"UPPER.png",
    b"upper.png",
    b"CON.png",
    b"=1+1.png",
    b"a" * 250 + b".png",
    "\U0001f4a9.png".encode(),
]


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    folder = os.fsencode(tmp_path_factory.mktemp("names"))
    pictures = os.path.join(folder, b"pictures")
    os.mkdir(pictures)
    for number, name in enumerate(NAMES):
        with open(os.path.join(pictures, name), "wb") as file:
            Image.new("RGB", (8, 8), (number, 0, 0)).save(file, "PNG")
    path = os.path.join(os.fsdecode(folder), "names.manyview")
    with Collection.create(path, os.fsdecode(pictures)) as made:
        assert len(made.items) == len(NAMES)
        made.save_run("rmkmc", [n % 2 for n in range(len(NAMES))])
    gallery, access = Gallery(Path(path)), Access(["127.0.0.1"], 8765)
    with TestClient(guarded(gallery, access), base_url=ORIGIN, raise_server_exceptions=False) as browser:
        browser.cookies.set(access.cookie_name, access.cookie)
        yield browser
    gallery.close()


def test_every_name_comes_through(named, record_property):
    record_property("count", len(NAMES))
    found = named.get("/api/items?sort=name").json()["items"]
    expected = {name.decode("utf-8", "replace") for name in NAMES}
    assert {one["key"] for one in found} == expected and len(found) == len(NAMES)
    for one in found:
        answer = named.get(f"/api/items/{one['id']}")
        assert answer.status_code == 200 and answer.json()["key"] == one["key"]
        original = named.get(f"/media/{one['id']}/original")
        assert original.status_code == 200 and "\n" not in original.headers["content-disposition"]
        check_headers(original)


def test_every_name_can_be_tagged_moved_and_undone(named):
    for one in named.get("/api/items").json()["items"]:
        for address, body in (
            ("/api/tags", {"items": [one["id"]], "tag": "x", "answer": True}),
            ("/api/items/move", {"items": [one["id"]], "cluster": None, "name": f"<b>{one['id']}</b>"}),
            ("/api/undo", {}),
            ("/api/undo", {}),
        ):
            answer = named.post(address, json=body, headers=OURS)
            assert answer.status_code == 200, (one["key"], answer.text)


def test_every_list_can_be_read_and_kept(named):
    for method, address in ROUTES:
        if method == "GET" and "compare" not in address:
            answer = named.get(address)
            assert answer.status_code in (200, 404, 422), (address, answer.text)
    for view in ("items", "clusters", "history", "runs", "tags"):
        for format in ("csv", "json", "command"):
            answer = named.get(f"/api/export?view={view}&format={format}")
            assert answer.status_code == 200 and answer.content.decode("utf-8")
