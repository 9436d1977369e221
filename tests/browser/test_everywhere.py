"""What holds on every page: keys, history, light and dark, phone width, no server, no run, any number of items."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from .demo import Server, make_demo
from .steps import comes_to, go, names, rows, says

pytestmark = pytest.mark.slow


def test_the_keys_of_a_page_are_listed(page):
    page.get_by_role("button", name="Keys").click()
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("undo the last change")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    go(page, "#/review")
    page.keyboard.press("?")
    expect(dialog).to_contain_text("accept all above the line")
    dialog.get_by_role("button", name="Close").click()
    page.keyboard.press("1")
    expect(page).to_have_url(re.compile("#/clusters"))


def test_the_links_at_the_top_stay_where_they_are(page):
    def places(name):
        return (
            page.get_by_role("navigation", name=name)
            .get_by_role("link")
            .evaluate_all("links => links.map(one => one.getBoundingClientRect().left)")
        )

    expect(page.get_by_role("navigation", name="Pages").get_by_text("Review")).to_be_visible()
    rows(page).first.wait_for()
    first = places("Pages")
    for address in ("map", "runs", "files"):
        go(page, f"#/{address}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert places("Pages") == first, address
    first = places("Files and words")
    go(page, "#/files?tab=tags")
    expect(page.get_by_role("heading", name="Tags", level=1)).to_be_visible()
    assert places("Files and words") == first


def test_the_history_undoes_any_entry(page):
    name = names(page)[0]
    page.get_by_role("button", name=f"Rename {name}").click()
    page.get_by_role("textbox", name=f"New name of {name}").fill("for the history")
    page.keyboard.press("Enter")
    says(page, "for the history")
    offer = page.get_by_role("button", name="with “for the history”?")
    expect(offer).to_be_visible()
    page.keyboard.press("h")
    drawer = page.get_by_role("dialog", name="History")
    entry = drawer.get_by_role("listitem").filter(has_text="for the history").first
    entry.get_by_role("button", name="Undo").click()
    expect(drawer.get_by_text("undone").first).to_be_visible()
    expect(offer).to_have_count(0)  # what was taken back leads nowhere
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name=f"Rename {name}")).to_be_visible()


def test_light_and_dark_follow_the_system_until_somebody_chooses(new_page):
    page = new_page(color_scheme="dark")
    paper = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.get_by_role("button", name="Light colours").click()
    expect(page.get_by_role("button", name="Dark colours")).to_be_visible()
    comes_to(page, lambda: page.evaluate(paper) != dark, True)
    light = page.evaluate(paper)
    page.reload()
    expect(page.get_by_role("button", name="Dark colours")).to_be_visible()
    comes_to(page, lambda: page.evaluate(paper), light)
    page.get_by_role("button", name="Dark colours").click()
    comes_to(page, lambda: page.evaluate(paper), dark)


def test_the_page_is_used_by_keyboard_alone(page):
    expect(rows(page).first).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    seen = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.add(
            page.evaluate(
                "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
            )
        )
        ring = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
        assert ring != "none"
    assert {"Filter clusters", "Sort clusters"} <= seen


def test_a_server_that_goes_away_is_said_and_waited_for(page, served, watch):
    watch.allowed = ("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "401", "403")
    expect(rows(page).first).to_be_visible()
    port = served.port
    served.stop()
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    expect(rows(page).first).to_be_visible()
    served.start(port)
    page.goto(served.new_url())
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(rows(page).first).to_be_visible()


def test_what_could_not_be_asked_is_asked_when_the_server_is_back(page, watch):
    watch.allowed = ("ERR_INTERNET_DISCONNECTED",)
    expect(rows(page).first).to_be_visible()
    page.context.set_offline(True)
    expect(page.get_by_role("alert").first).to_contain_text("does not answer")
    go(page, "#/runs")
    expect(page.get_by_role("row")).to_have_count(0)
    page.context.set_offline(False)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("row").first).to_be_visible()  # nobody reloaded the page


def test_no_more_than_300_thumbnails_are_in_the_page(new_page):
    page = new_page("#/search", width=2560, height=1440)
    expect(page.get_by_role("list", name="Results").get_by_role("link").first).to_be_visible()
    for y in range(0, 4000, 500):
        page.mouse.wheel(0, y)
        page.wait_for_timeout(60)
        assert page.locator("main img").count() <= 300
    cells = page.get_by_role("list", name="Results").get_by_role("listitem")
    assert len(set(cells.evaluate_all("cells => cells.map(cell => cell.offsetWidth)"))) == 1


def test_before_the_first_run_the_page_offers_one_with_its_estimate(browser, demo, tmp_path, watch):
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    shutil.copytree(demo.parent / "emoji", fresh / "emoji")
    server = Server(make_demo(fresh, n_items=40, fitted=False))
    try:
        watch.base = server.base
        context = browser.new_context()
        watch.context(context)
        page = context.new_page()
        page.goto(server.new_url())
        expect(page.get_by_role("heading", name="No run yet. Start one")).to_be_visible()
        expect(page.get_by_text(re.compile("about|second", re.IGNORECASE)).first).to_be_visible()
        for address in ("map", "review", "search", "compare", "runs"):
            go(page, f"#/{address}")
            page.wait_for_timeout(200)
        go(page, "#/clusters")
        page.get_by_role("spinbutton", name="Clusters").fill("6")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("heading", name="The first run is on its way")).to_be_visible()
        expect(page.get_by_text("6 clusters")).to_be_visible(timeout=180_000)
        context.close()
        watch.check()
    finally:
        server.stop()
