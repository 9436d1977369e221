"""axe-core finds nothing serious on any page, in light and in dark, nor in the dialogs."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from .steps import go, names

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("axe")]

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
    .filter(one => ['serious', 'critical'].includes(one.impact))
    .map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')}`)"""


@pytest.fixture(name="axe")
def axe_core():
    """axe-core comes with what the pages are built with."""
    if not AXE.exists():
        missing = "this test needs axe-core: make frontend"
        if os.environ.get("MANYVIEW_BROWSER") == "required":
            pytest.fail(missing)
        pytest.skip(missing)


def check(page, where):
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return [f"{where}: {one}" for one in page.evaluate(RUN)]


@pytest.mark.parametrize("scheme, width", [("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)])
def test_every_page(new_page, scheme, width):
    page = new_page(color_scheme=scheme, width=width)
    cluster = page.get_by_role("link", name="All of").first.get_attribute("href").removeprefix("#/")
    addresses = [
        "clusters",
        cluster,
        f"{cluster}?tab=borderline",
        "items/12",
        "review",
        "review?mode=sheet",
        "review?mode=item",
        "review?mode=surely",
        "review?mode=doubtful",
        "search?q=tag:face",
        "search?q=like:3,5,95%25",
        "map",
        "map?at=50_50_400",
        "map?lasso=-99_-99~99_-99~99_99~-99_99",
        "compare",
        "runs",
        "problems",
        "files",
        "files?tab=tags",
        "files?tab=duplicates",
    ]
    found = []
    for address in addresses:
        go(page, f"#/{address}")
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        page.wait_for_timeout(350)
        expect(page.locator("main .old")).to_have_count(0)  # results of the last search are faded until this one's come
        found += check(page, address)
    assert not found, "\n".join(found)


def test_what_a_phone_has_behind_a_button(new_page):
    page, found = new_page(width=390), []
    cluster = page.get_by_role("link", name="All of").first.get_attribute("href").removeprefix("#/")
    for address in ("clusters", cluster, "search?q=tag:face", f"{cluster}?look=12"):
        go(page, f"#/{address}")
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        page.wait_for_timeout(350)
        expect(page.locator("main .old")).to_have_count(0)
        if "look" not in address:
            page.get_by_role("button", name=re.compile("more$")).click()
        found += check(page, address)
    assert not found, "\n".join(found)


def test_dialogs_menus_and_messages(page):
    name, found = names(page)[0], []
    page.get_by_role("button", name="Keys").click()
    found += check(page, "keys")
    page.keyboard.press("Escape")
    page.get_by_role("button", name=f"Rename {name}").click()
    found += check(page, "renaming")
    page.get_by_role("textbox", name="New name").fill("seen by axe")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    found += check(page, "toast")
    page.keyboard.press("h")
    expect(page.get_by_role("dialog", name="History")).to_be_visible()
    found += check(page, "history")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Copy the clusters").click()
    found += check(page, "copy menu")
    page.get_by_role("link", name="All of").first.click()
    page.get_by_role("listitem").filter(has=page.get_by_role("checkbox")).first.get_by_role("link").focus()
    page.keyboard.press("x")
    page.keyboard.press("m")
    expect(page.get_by_role("dialog")).to_be_visible()
    found += check(page, "move")
    page.keyboard.press("Escape")
    page.get_by_role("listitem").filter(has=page.get_by_role("checkbox")).first.get_by_role("link").focus()
    page.keyboard.press("v")
    expect(page.get_by_role("dialog", name="Large view").get_by_role("img")).to_be_visible()
    page.keyboard.press("s")
    found += check(page, "large view")
    assert not found, "\n".join(found)
