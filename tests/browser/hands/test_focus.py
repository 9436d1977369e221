"""By keys alone: what goes away under the focus leaves it to what stands in its place, and a range has no gaps."""

import re

import pytest
from playwright.sync_api import expect

from ..steps import go, names, rows, says

pytestmark = pytest.mark.slow


def press(page, target, *keys):
    """Keys on something that was reached by keys."""
    page.keyboard.press("Shift")  # from here on the focus is looked at
    target.focus()
    for key in keys:
        page.keyboard.press(key)


def test_a_name_that_was_typed_or_left_alone_has_the_focus(page):
    name = names(page)[1]
    rename = page.get_by_role("button", name=f"Rename {name}", exact=True)
    press(page, rename, "Enter")
    expect(page.get_by_role("textbox", name=f"New name of {name}")).to_be_focused()
    page.keyboard.press("Escape")
    expect(rename).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("by keys")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Rename by keys", exact=True)).to_be_focused()  # and is not a field again


def test_the_next_of_a_list_takes_the_focus_of_one_that_goes(page):
    go(page, "#/search?q=tag:face")
    page.get_by_role("list", name="Results").get_by_role("link").first.click()
    removing = page.get_by_role("button", name=re.compile("^Remove "))
    expect(removing.first).to_be_visible()
    if removing.count() == 1:
        page.get_by_role("textbox", name="Add a tag").fill("another")
        page.keyboard.press("Enter")
        expect(removing).to_have_count(2)
    tag = removing.first.get_attribute("aria-label").removeprefix("Remove ")
    after = removing.nth(1).get_attribute("aria-label").removeprefix("Remove ")
    press(page, removing.first, "Enter")
    expect(page.get_by_role("button", name=f"Remove {tag}", exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name=after, exact=True).first).to_be_focused()
    page.keyboard.press("h")
    drawer = page.get_by_role("dialog", name="History")
    undo = drawer.get_by_role("button", name="Undo: ")
    expect(undo.first).to_be_visible()
    n = undo.count()
    press(page, undo.first, "Enter")
    expect(undo).to_have_count(n - 1)
    assert page.evaluate("() => document.querySelector('dialog').contains(document.activeElement)")
    dismiss = drawer.get_by_role("status", name="Messages").get_by_role("button", name="Dismiss")
    dismiss.last.click()  # what is said while a dialog is open is not behind it
    expect(drawer).to_be_visible()


def test_a_facet_that_was_asked_for_keeps_the_focus_where_it_moves_to(page):
    go(page, "#/search")
    facet = page.get_by_role("complementary", name="Facets").get_by_role("button", name=re.compile("^woman"))
    expect(facet.first).to_be_visible()
    press(page, facet.first, "Enter")
    expect(page.get_by_role("status").filter(has_text="for tag:woman")).to_be_visible()
    expect(facet.first).to_have_attribute("aria-pressed", "true")
    expect(facet.first).to_be_focused()


def test_what_asks_again_starts_with_no(page):
    go(page, "#/runs")
    delete = page.get_by_role("button", name="Delete run 1")
    expect(delete).to_be_visible()
    press(page, delete, "Enter")
    expect(page.get_by_role("button", name="Keep")).to_be_focused()
    page.keyboard.press("Enter")
    expect(delete).to_be_focused()


def test_a_button_that_was_disabled_for_a_moment_has_the_focus_again(page):
    expect(rows(page).first).to_be_visible()
    coarser = page.get_by_role("button", name="Coarser")
    press(page, coarser, "Enter")
    expect(coarser).to_be_disabled()
    expect(coarser).to_be_enabled()
    expect(coarser).to_be_focused()
    page.keyboard.press("z")
    says(page, "Undid")


def test_a_range_has_no_gaps_and_its_limit_is_said(page, watch):
    watch.allowed = ("404",)  # pictures of items that are made up

    def answer(route):
        found = route.fetch(url=re.sub("offset=[0-9]+", "offset=0", route.request.url)).json()
        first = int(re.search("offset=([0-9]+)", route.request.url)[1])
        rows = [{**one, "id": first + n + 1} for n, one in enumerate(found["items"])]
        route.fulfill(json={**found, "total": 900, "items": rows})

    page.route(re.compile("api/search[?]"), answer)
    go(page, "#/search")
    found = page.get_by_role("list", name="Results")
    expect(found.locator("[aria-posinset='1'] a")).to_be_visible()
    press(page, found.locator("[aria-posinset='1'] a"), "x")
    page.evaluate(
        "() => { const all = document.querySelector('main ul[data-focus=own]'); scrollTo(0, all.offsetHeight / 3); }"
    )
    far = found.locator("li:has(a)").nth(8)
    expect(far).to_be_visible()
    page.wait_for_timeout(300)
    last = int(far.get_attribute("aria-posinset"))
    assert 200 < last < 400, "nothing between was ever shown"
    far.get_by_role("link").click(modifiers=["Shift"], position={"x": 70, "y": 70})
    bar = page.get_by_role("toolbar", name="Selection")
    expect(bar).to_contain_text(f"{last} items selected")
    press(page, far.get_by_role("link"), "End")
    expect(found.locator("[aria-posinset='900'] a")).to_be_focused()
    page.keyboard.press("Shift+X")
    expect(bar).to_contain_text("400 items selected")
    told = says(page, "At most 400 items can be selected at once")
    assert told.bounding_box()["y"] < bar.bounding_box()["y"], "one covers the other"
