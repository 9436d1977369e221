"""A year, a merge, writing to files and back, and copies: the story of the command line, in the browser."""

import shutil

import pytest
from PIL import Image
from playwright.sync_api import expect

from manyview import Collection
from manyview.ingest.sidecar import read_sidecar
from tests.end_to_end.test_vocabulary_story import PHOTOS, contents
from tests.end_to_end.test_vocabulary_story import photos as _photos

from .steps import go, says, undo_in_toast
from .test_access import axe_core, check  # noqa: F401  a fixture
from .test_any_order import Held

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Five photographs with dates and keywords, one of them twice."""
    top = tmp_path_factory.mktemp("five")
    folder = _photos.__wrapped__(top)
    shutil.copy(folder / "beach.jpg", folder / "beach (1).jpg")
    with Collection.create(top / "photos.manyview", folder) as made:
        made.save_run("rmkmc", [0, 0, 1, 1, 1, 0])
        made.thumbs.add({item.id: _jpeg(item.path) for item in made.items})
    return top / "photos.manyview"


def _jpeg(path):
    import io

    out = io.BytesIO()
    Image.open(path).save(out, "JPEG")
    return out.getvalue()


@pytest.mark.usefixtures("axe")
@pytest.mark.parametrize("scheme, width", [("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)])
def test_nothing_serious_on_pages_with_years_differences_words_and_copies(new_page, scheme, width):
    page, found = new_page(color_scheme=scheme, width=width), []
    expect(page.get_by_role("navigation", name="Years")).to_be_visible()
    found += check(page, "years above the clusters")
    shown = {
        "search?q=date%3A2019&sort=date": page.get_by_role("main").get_by_role("status").first,
        "files?tab=tags": page.get_by_role("region", name="May be one"),
        "files?tab=duplicates": page.get_by_role("region", name="Group 1: exact copies"),
    }
    for address, part in shown.items():
        go(page, f"#/{address}")
        expect(part).to_be_visible()
        found += check(page, address)
    go(page, "#/files?tab=tags")
    page.get_by_role("button", name="Change sea").click()
    dialog = page.get_by_role("dialog", name="Change sea")
    dialog.get_by_role("textbox", name="Rename to").fill("sea side")
    dialog.get_by_role("button", name="What would change?").click()
    expect(dialog.get_by_role("status", name="What would change")).to_contain_text("2 items")
    found += check(page, "a word to be changed")
    dialog.get_by_role("button", name="Do it").click()
    says(page, "renamed 'sea' to 'sea side'")
    go(page, "#/files")
    expect(page.get_by_role("list", name="Files").get_by_role("listitem").first).to_be_visible()
    found += check(page, "what would be written")
    page.keyboard.press("z")  # the message with its button may have gone by now
    says(page, "undid")
    assert not found, "\n".join(found)


def test_the_story(page, demo):
    folder = demo.parent / "photos"
    before = contents(folder)
    years = page.get_by_role("navigation", name="Years")
    years.get_by_role("link", name="2019").click()
    expect(page.get_by_role("main").get_by_role("status").first).to_contain_text("for date:2019")
    go(page, "#/search?q=date%3A2019-06&sort=date")
    expect(page.get_by_role("main").get_by_role("status").first).to_contain_text("2 items for date:2019-06")

    go(page, "#/files?tab=tags")
    page.get_by_role("region", name="May be one").get_by_role("button", name="Merge into cats").click()
    says(page, "merged 'Cat' into 'cats'")
    expect(page.get_by_role("row", name="cats").first).to_contain_text("also Cat")

    go(page, "#/files")
    expect(page.get_by_text("1 tag would be put into, 1 would be taken out of 1 sidecar")).to_be_visible()
    one = page.get_by_role("list", name="Files").get_by_role("listitem").first
    expect(one).to_contain_text("garden.jpg.xmp")
    expect(one).to_contain_text("+ cats")
    expect(one).to_contain_text("- Cat")
    page.get_by_role("button", name="Write 1 file").click()
    expect(page.get_by_text("no sidecar needs writing")).to_be_visible()
    assert sorted(read_sidecar(str(folder / "garden.jpg.xmp")).tags) == ["cats", "garden"]
    page.get_by_role("button", name="Undo the last writing").click()
    expect(page.get_by_role("button", name="Write 1 file")).to_be_visible()
    assert contents(folder) == before
    assert len(PHOTOS) == 5


def test_a_dialog_changes_a_word_and_its_toast_takes_it_back(page):
    go(page, "#/files?tab=tags")
    page.get_by_role("button", name="Change sea").click()
    dialog = page.get_by_role("dialog", name="Change sea")
    dialog.get_by_role("textbox", name="Rename to").fill("ocean")
    dialog.get_by_role("button", name="What would change?").click()
    expect(dialog.get_by_role("status", name="What would change")).to_contain_text("renamed 'sea' to 'ocean': 2 items")
    dialog.get_by_role("button", name="Do it").click()
    says(page, "renamed 'sea' to 'ocean'")
    expect(page.get_by_role("row", name="ocean").first).to_contain_text("also sea")
    undo_in_toast(page, "renamed 'sea' to 'ocean'")
    expect(page.get_by_role("button", name="Change sea")).to_be_visible()


def test_a_dialog_that_was_opened_meanwhile_stays_open(page):
    go(page, "#/files?tab=tags")
    page.get_by_role("button", name="Change sea").click()
    page.get_by_role("textbox", name="Rename to").fill("lake")
    held = Held(page, "**/api/vocabulary")
    page.get_by_role("button", name="Do it").click()
    held.comes()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Change garden").click()
    held.let_go()
    says(page, "renamed 'sea' to 'lake'")
    expect(page.get_by_role("dialog", name="Change garden")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("z")
    says(page, "undid")


def test_copies_are_marked(page):
    go(page, "#/files?tab=duplicates")
    group = page.get_by_role("region", name="Group 1: exact copies")
    expect(group.get_by_role("listitem")).to_have_count(2)
    expect(group).to_contain_text("the same bytes")
    page.get_by_role("button", name="Mark 1 copy").click()
    says(page, "added 'duplicate'")
