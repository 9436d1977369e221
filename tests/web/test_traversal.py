"""No address leads to a file that was not ingested, and no swapped file is shown."""

import os
import shutil
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from PIL import Image
from starlette.testclient import TestClient

from manyview import Collection
from manyview.web.app import guarded
from manyview.web.gallery import Gallery
from manyview.web.media import open_beneath
from manyview.web.security import Access

from .made import HOST, ORIGIN, make_collection
from .test_security import call, check_headers, secrets

SECRET = b"the secret that lies outside"
TARGETS = ("etc/passwd", "secret.txt", "small.manyview/catalog.sqlite")
STEPS = (
    "../",
    "..%2f",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%252f",
    "%252e%252e%252f",
    "..%c0%af",
    "%c0%ae%c0%ae/",
    "..%e0%80%af",
    "..\\",
    "..%5c",
    "%2e%2e%5c",
    "....//",
    "..;/",
    ".%00./",
    "..%00/",
    "..%0d/",
    "/%2e%2e/",
    "\uff0e\uff0e\uff0f",
    "..%ef%bc%8f",
)


def payloads():
    found = [step * depth + target for step in STEPS for depth in (1, 4, 9) for target in TARGETS]
    starts = ("/", "//", "%2f", "file:///", "C:\\", "~/", "\\\\host\\")
    return found + [f"{start}{target}" for start in starts for target in TARGETS]


PLACES = ("/{}", "/assets/{}", "/thumbs/{}", "/media/{}/preview", "/media/{}/original", "/media/1/{}", "/api/items/{}")
"""Where an address could become a path."""


def addresses():
    """At least 200: each payload at one of the places."""
    return [PLACES[n % len(PLACES)].format(payload) for n, payload in enumerate(payloads())]


@pytest.mark.slow
def test_no_payload_gets_a_byte_from_outside(template, seen, record_property):
    outside = template.parent / "secret.txt"
    outside.write_bytes(SECRET)
    found = addresses()
    assert len(set(payloads())) >= 200 and len(set(found)) >= 200
    everywhere = [place.format(payload) for place in PLACES for payload in payloads()]
    catalog = b"SQLite format 3"  # not read from the file: closing it would take the readers' locks away
    spelled = [
        form(one) for one in found for form in (lambda one: quote(one, safe="/"), lambda one: unquote(unquote(one)))
    ]
    asked = [*everywhere, *map(unquote, everywhere), *spelled]
    record_property("count", len(asked))
    for raw in asked:
        answer = call(seen.app_, "GET", raw, [(b"host", HOST.encode()), *secrets(seen)])
        assert answer["status"] in (400, 404, 422), raw
        assert SECRET not in answer["body"] and b"root:" not in answer["body"] and catalog not in answer["body"]
        assert answer["headers"][b"x-content-type-options"] == b"nosniff"
    outside.unlink()


@pytest.fixture
def own(tmp_path):
    """A gallery whose pictures may be tampered with."""
    path = make_collection(tmp_path)
    gallery = Gallery(path)
    access = Access(["127.0.0.1"], 8765)
    with TestClient(guarded(gallery, access), base_url=ORIGIN) as browser:
        browser.cookies.set(access.cookie_name, access.cookie)
        with Collection.open(path) as collection:
            yield browser, {item.id: Path(item.path) for item in collection.items}
    gallery.close()


def refused(browser, item):
    for address in (f"/media/{item}/original", f"/media/{item}/preview"):
        answer = browser.get(address)
        assert answer.status_code == 404 and SECRET not in answer.content, answer.text
        check_headers(answer)


def test_files_swapped_after_ingest_are_refused(own, tmp_path):
    browser, paths = own
    outside = tmp_path / "outside.png"
    shutil.copy(paths[1], outside)
    assert browser.get("/media/1/original").status_code == 200
    paths[1].unlink()
    paths[1].symlink_to(outside)  # the same bytes, but not there
    refused(browser, 1)
    paths[2].unlink()
    os.link(outside, paths[2])  # a hard link to another file of the same system
    refused(browser, 2)
    paths[3].write_bytes(SECRET)  # other content in the same file
    refused(browser, 3)
    paths[4].unlink()
    refused(browser, 4)
    paths[5].unlink()
    paths[5].mkdir()
    refused(browser, 5)
    paths[6].unlink()
    os.mkfifo(paths[6])  # nobody waits for a pipe
    refused(browser, 6)


def test_a_folder_swapped_for_a_link_is_refused(own, tmp_path):
    browser, paths = own
    deeper = next(path for path in paths.values() if path.parent.name == "deeper").parent
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(deeper, elsewhere)
    items = [item for item, path in paths.items() if path.parent == deeper]
    shutil.move(deeper, tmp_path / "was")
    deeper.symlink_to(elsewhere)
    for item in items[:2]:
        refused(browser, item)
    deeper.unlink()
    deeper.symlink_to(tmp_path / "was")  # even the very same files, by a way that leads outside
    refused(browser, items[0])


def test_opening_below_a_folder(tmp_path):
    root = tmp_path / "root"
    (root / "in").mkdir(parents=True)
    (root / "in" / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(SECRET)
    (root / "link").symlink_to(tmp_path / "b")
    (root / "inside").symlink_to(root / "in" / "a")
    for good in (b"in/a", b"in/../in/a", b"inside"):  # a link that stays inside is resolved first
        handle = open_beneath(os.fsencode(root), good)
        assert os.read(handle, 10) == b"a"
        os.close(handle)
    for bad in (b"../b", b"link", b"in/../../b", os.fsencode(tmp_path / "b"), b"", b".", b"in/a/x", b"none"):
        with pytest.raises(OSError):
            handle = open_beneath(os.fsencode(root), bad)
            os.close(handle)


def test_a_link_that_appears_between_looking_and_opening_is_not_followed(tmp_path, monkeypatch):
    root = tmp_path / "root"
    root.mkdir()
    (root / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(SECRET)
    real = os.path.realpath

    def swapped(path, *args, **options):
        found = real(path, *args, **options)
        if os.fsdecode(path).endswith("/a") and not (root / "a").is_symlink():
            (root / "a").unlink()
            (root / "a").symlink_to(tmp_path / "b")
        return found

    monkeypatch.setattr(os.path, "realpath", swapped)
    with pytest.raises(OSError):
        open_beneath(os.fsencode(root), b"a")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"),
        ("b.html", b"<script>alert(1)</script>"),
        ("c.xml", b"<?xml version='1.0'?><x/>"),
        ("d.jpg", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
        ("e.png", b"<html><script>alert(1)</script>"),
        ("f.gif", b"GIF89a/*<svg/onload=alert(1)>*/=1;alert(1)"),
        ("g.xhtml", b"<html xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></html>"),
        ("h.txt", b"<script>alert(1)</script>"),
        ("i.md", b"<img src=x onerror=alert(1)>"),
        ("j.svgz", b"\x1f\x8b\x08\x00"),
    ],
)
def test_nothing_that_can_hold_script_is_shown(tmp_path, name, content):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / name).write_bytes(content)
    picture = pictures / "was a picture.png"
    Image.effect_noise((64, 64), 90).save(picture)
    (pictures / "plain.txt").write_text("words", encoding="utf-8")
    Collection.create(tmp_path / "one.manyview", pictures).close()
    with picture.open("r+b") as file:  # the same file, as long as before, and no picture any more
        file.write(content.ljust(picture.stat().st_size))
    gallery, access = Gallery(tmp_path / "one.manyview"), Access(["127.0.0.1"], 8765)
    with TestClient(guarded(gallery, access), base_url=ORIGIN) as browser:
        browser.cookies.set(access.cookie_name, access.cookie)
        shown = set()
        for item in browser.get("/api/items").json()["items"]:
            assert browser.get(f"/media/{item['id']}/preview").status_code == 404
            assert browser.get(f"/thumbs/{item['id']}").status_code == 404
            answer = browser.get(f"/media/{item['id']}/original")
            assert answer.headers["content-disposition"].startswith("attachment;")
            was = ("image/png",) if item["key"] == picture.name else ("application/octet-stream", "image/gif")
            assert answer.status_code == 200 and answer.headers["content-type"] in was
            check_headers(answer)
            shown.add(item["key"])
    assert {"plain.txt", "was a picture.png"} <= shown
    gallery.close()
