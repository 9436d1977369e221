"""Where people were, and what they typed: both are there again after Back, and after a refusal."""

import re

import pytest
from playwright.sync_api import expect

from ..steps import comes_to, go, names, rows, says

pytestmark = pytest.mark.slow


def test_back_leads_to_where_the_list_was_left(page):
    go(page, "#/search")
    found = page.get_by_role("list", name="Results")
    expect(found.get_by_role("link").first).to_be_visible()
    page.keyboard.press("Shift")
    found.get_by_role("link").first.focus()
    page.keyboard.press("End")
    last = found.locator("[aria-posinset='200'] a")
    expect(last).to_be_focused()
    comes_to(page, lambda: page.evaluate("() => scrollY > 1000"), True)
    page.wait_for_timeout(200)
    was = page.evaluate("() => scrollY")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Next item")).to_be_visible()
    comes_to(page, lambda: page.evaluate("() => scrollY"), 0)
    page.go_back()
    expect(last).to_be_focused()
    comes_to(page, lambda: page.evaluate("() => Math.round(scrollY)"), round(was))
    page.go_forward()
    expect(page.get_by_role("link", name="Next item")).to_be_visible()
    comes_to(page, lambda: page.evaluate("() => scrollY"), 0)


def test_a_large_view_that_back_has_opened_again_leaves_the_focus_on_its_picture(page):
    go(page, "#/search?q=tag:face")
    first = page.get_by_role("list", name="Results").locator("[aria-posinset='1'] a")
    expect(page.get_by_role("status").filter(has_text="for tag:face")).to_be_visible()
    first.focus()
    page.keyboard.press("v")
    view = page.get_by_role("dialog", name="Large view")
    expect(view.get_by_role("img")).to_be_visible()
    page.keyboard.press("i")
    expect(page.get_by_role("link", name="Next item")).to_be_visible()
    page.go_back()
    expect(view.get_by_role("img")).to_be_visible()
    expect(first).to_be_attached()
    page.keyboard.press("Escape")
    expect(view).to_have_count(0)
    expect(first).to_be_focused()


def test_a_link_leads_to_the_top_of_a_page_that_was_left_elsewhere(page):
    expect(rows(page).nth(3)).to_be_visible()
    page.mouse.wheel(0, 400)
    comes_to(page, lambda: page.evaluate("() => scrollY > 200"), True)
    page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link", name="Runs").click()
    expect(page.get_by_role("row").first).to_be_visible()
    page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link", name="Clusters").click()
    expect(rows(page).first).to_be_visible()
    page.wait_for_timeout(300)
    assert page.evaluate("() => scrollY") == 0


def test_a_name_and_a_tag_that_were_refused_are_there_to_be_sent_again(page, watch):
    watch.allowed = ("ERR_INTERNET_DISCONNECTED",)
    name = names(page)[0]
    rename, field = page.get_by_role("button", name=f"Rename {name}"), page.get_by_role("textbox", name="New name")
    page.context.set_offline(True)
    rename.click()
    field.fill("thought about for long")
    page.keyboard.press("Enter")
    says(page, "does not answer")
    rename.click()
    expect(field).to_have_value("thought about for long")
    page.keyboard.press("Escape")
    rename.click()
    expect(field).to_have_value(name)
    page.keyboard.press("Escape")
    page.context.set_offline(False)
    expect(page.get_by_role("alert")).to_have_count(0)
    go(page, "#/items/12")
    adding = page.get_by_label(re.compile("^Add a tag to"))
    adding.fill("a long tag")
    page.context.set_offline(True)
    page.keyboard.press("Enter")
    expect(adding).to_have_value("a long tag")
    page.context.set_offline(False)
    expect(page.get_by_role("alert")).to_have_count(0)
