"""One cluster with its profile and grid, and one item with its tags, proposals and reasons."""

import re

import pytest
from playwright.sync_api import expect

from .steps import go, names, says, undo_in_toast

pytestmark = pytest.mark.slow


def largest(page):
    """Open the page of the largest cluster; its name."""
    name = names(page)[0]
    page.get_by_role("link", name=f"All of {name}").click()
    expect(page.get_by_role("button", name=f"Rename {name}")).to_be_visible()
    return name


def test_the_profile_says_what_a_cluster_is_about(page):
    name = largest(page)
    expect(page).to_have_title(re.compile(re.escape(name)))
    profile = page.get_by_role("complementary", name="Profile")
    expect(profile.get_by_role("list", name="Tags that stand out").get_by_role("listitem").first).to_contain_text("%")
    expect(profile.get_by_role("list", name="Shares of the views")).to_contain_text("looks")
    profile.get_by_role("heading", name="Nearest clusters").locator("..").get_by_role("link").first.click()
    expect(page).not_to_have_title(re.compile(f"^{re.escape(name)} "))


def test_tabs_and_sorting_are_in_the_address(page):
    largest(page)
    page.get_by_role("button", name="Borderline").click()
    expect(page).to_have_url(re.compile("tab=borderline"))
    expect(page.get_by_role("list", name=re.compile("^borderline items")).get_by_role("listitem").first).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Borderline")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Exemplars").click()
    page.go_back()
    expect(page).to_have_url(re.compile("tab=borderline"))
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_role("combobox", name="Sort items").select_option("name")
    expect(page).to_have_url(re.compile("sort=name"))


def test_the_grid_goes_by_arrow_keys_and_opens_by_enter(page):
    name = largest(page)
    cells = page.get_by_role("list", name=f"Items of {name}").get_by_role("listitem")
    cells.first.get_by_role("link").focus()
    page.keyboard.press("ArrowRight")
    expect(cells.nth(1).get_by_role("link")).to_be_focused()
    page.keyboard.press("End")
    page.wait_for_function(
        "() => document.activeElement.closest('li')?.ariaPosInSet === document.activeElement.closest('li')?.ariaSetSize"
    )
    page.keyboard.press("Home")
    expect(cells.first.get_by_role("link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"#/items/\d+"))


def test_a_cluster_is_renamed_pinned_split_by_keys_and_buttons(page):
    name = largest(page)
    page.keyboard.press("r")
    page.keyboard.type("renamed by key")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Rename renamed by key")).to_be_visible()
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Pinned")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Pin", exact=True)).to_have_attribute("aria-pressed", "false")
    page.get_by_role("spinbutton", name="Number of parts").fill("3")
    page.get_by_role("button", name="Split in").click()
    undo_in_toast(page, "split")
    says(page, "undid")
    go(page, "#/clusters")
    page.get_by_role("button", name="Rename renamed by key").click()
    page.get_by_role("textbox", name="New name of").fill(name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=f"Rename {name}")).to_be_visible()


def test_a_selection_is_tagged_and_the_address_keeps_it(page):
    largest(page)
    cells = page.get_by_role("listitem").filter(has=page.get_by_role("checkbox"))
    cells.nth(0).get_by_role("link").focus()
    page.keyboard.press("x")
    cells.nth(3).get_by_role("link").click(modifiers=["Shift"])
    expect(page.get_by_text("4 items selected")).to_be_visible()
    page.reload()
    expect(page.get_by_text("4 items selected")).to_be_visible()
    page.keyboard.press("t")
    page.get_by_role("combobox", name="Tag for 4 items").fill("chosen four")
    page.keyboard.press("Enter")
    says(page, "chosen four")
    go(page, '#/search?q=tag:"chosen four"')
    expect(page.get_by_role("status").get_by_text("4 items for")).to_be_visible()
    page.keyboard.press("z")
    expect(page.get_by_text("Nothing matches")).to_be_visible()


def test_an_item_shows_its_picture_tags_reasons_and_neighbours(page):
    go(page, "#/items/12")
    expect(page.get_by_role("figure").get_by_role("img")).to_be_visible()
    expect(page.get_by_role("heading", name="Why it is here")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("looks"))).to_be_visible()
    near = page.get_by_role("list", name="Most alike by looks").get_by_role("link")
    expect(near.first).to_have_attribute("aria-label", re.compile("closeness"))
    before, name = page.url, page.get_by_role("heading", level=1).inner_text()
    page.keyboard.press("ArrowRight")
    expect(page).not_to_have_url(before)
    expect(page.get_by_role("heading", level=1)).not_to_have_text(name)
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(before)


def test_tags_are_added_and_removed_with_a_way_back(page):
    go(page, "#/items/20")
    page.get_by_role("combobox", name=re.compile("Add a tag to")).fill("invented")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("link", name="invented")).to_be_visible()
    page.reload()
    expect(page.get_by_role("link", name="invented")).to_be_visible()
    page.get_by_role("button", name="Remove invented").click()
    expect(page.get_by_role("link", name="invented")).to_have_count(0)
    undo_in_toast(page, "")
    expect(page.get_by_role("link", name="invented")).to_be_visible()
    page.keyboard.press("z")
    expect(page.get_by_role("link", name="invented")).to_have_count(0)


def test_proposals_of_an_item_are_answered(page):
    go(page, "#/items/30")
    page.get_by_role("button", name=re.compile(r"^\d+ less likely$")).click()
    asked = page.get_by_role("button", name=re.compile("^Yes, "))
    expect(asked.first).to_be_visible()
    n = asked.count()
    asked.first.click()
    expect(asked).to_have_count(n - 1)
    page.keyboard.press("n")
    expect(asked).to_have_count(n - 2)
    expect(page.get_by_text("Rejected:")).to_be_visible()
    undo_in_toast(page, "")
    expect(asked).to_have_count(n - 1)


def test_an_item_moves_to_another_cluster(page):
    first = names(page)[0]
    go(page, "#/items/40")
    home = page.get_by_role("main").get_by_text(re.compile("^in ")).get_by_role("link").inner_text()
    page.get_by_role("button", name="Move…").click()
    dialog = page.get_by_role("dialog")
    other = dialog.get_by_role("listitem").get_by_role("button").first
    expect(other).to_be_visible()
    target = other.locator("span").first.inner_text()
    other.click()
    place = page.get_by_role("main").get_by_text(re.compile("^in ")).get_by_role("link")
    expect(place).to_have_text(target)
    page.keyboard.press("z")
    expect(place).to_have_text(home)
    assert first


def test_what_is_not_there_is_said_in_a_sentence(page, watch):
    watch.allowed = ("404",)
    go(page, "#/items/99999")
    expect(page.get_by_role("alert")).to_contain_text("99999")
    go(page, "#/clusters/99999")
    expect(page.get_by_role("alert")).to_contain_text("99999")
    expect(page.get_by_role("link", name="All clusters", exact=True)).to_be_visible()
