"""Words and names longer than any page, files that were left out, nothing to group: every page keeps its shape."""

import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from manyview import Collection
from tests.ingest import makers as m

from ..demo import Server
from ..steps import go
from ..test_files_page import _jpeg
from ..test_phone import CUT

pytestmark = pytest.mark.slow

LONG = "l" * 230 + ".jpg"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Eight pictures, one with a very long name, one with a very long keyword; two files that are left out."""
    top = tmp_path_factory.mktemp("long")
    folder = top / "photos"
    folder.mkdir()
    packet = m.xmp("x" * 300, "dog", paths=("Animals|Mammals|dog",))
    (folder / "a.jpg").write_bytes(m.jpeg(m.app1_xmp(packet)))
    Image.new("RGB", (40, 30), "navy").save(folder / LONG)
    for number in range(6):
        Image.new("RGB", (40, 30 + number), "gold").save(folder / f"c{number}.jpg")
    (folder / "letter.doc").write_bytes(b"PK\3\4")
    (folder / "alone.xmp").write_bytes(packet)
    with Collection.create(top / "photos.manyview", folder) as made:
        made.save_run("rmkmc", [0, 1, 1, 1, 1, 1, 1, 0])
        made.thumbs.add({item.id: _jpeg(item.path) for item in made.items})
    return top / "photos.manyview"


def test_files_that_were_left_out_are_not_called_unreadable(page):
    expect(page.get_by_role("link", name="2 files not read, or only in part")).to_be_visible()
    go(page, "#/problems")
    expect(page.get_by_role("heading", name="Left out or read in part: 2 files")).to_be_visible()
    expect(page.get_by_text("it is a sidecar, and no file of its name is beside it")).to_be_visible()


def test_a_long_tag_leaves_room_for_the_other_columns(page):
    go(page, "#/files?tab=tags")
    below = page.get_by_role("cell", name=re.compile("Animals . Mammals"))
    expect(below).to_be_visible()
    assert below.bounding_box()["height"] < 70
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440


def test_a_long_name_leaves_room_for_the_place(page):
    go(page, "#/items/8")
    place = page.locator(".place")
    expect(place).to_be_visible()
    assert place.bounding_box()["height"] < 40


def test_on_a_phone_the_first_tag_has_room(new_page):
    page = new_page("#/review?mode=first", width=360, height=800)
    field = page.get_by_role("textbox", name="Tag for")
    expect(field).to_be_visible()
    assert field.bounding_box()["width"] > 160
    assert not page.evaluate(CUT)


def test_nothing_to_group_is_said(browser, tmp_path):
    (tmp_path / "photos").mkdir()
    Collection.create(tmp_path / "none.manyview", tmp_path / "photos").close()
    server = Server(tmp_path / "none.manyview")
    try:
        page = browser.new_page()
        page.goto(server.new_url())
        expect(page.get_by_role("heading", name="Nothing to group yet")).to_be_visible()
        expect(page.get_by_role("button", name="Start")).to_have_count(0)
        page.get_by_role("link", name="look for new items").click()
        expect(page.get_by_role("heading", name="Look for new items")).to_be_visible()
        page.close()
    finally:
        server.stop()
