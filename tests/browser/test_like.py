"""More like these: from a grid, a search, an item and the lasso, with a slider for how much."""

import re

import pytest
from playwright.sync_api import expect

from manyview import Collection

from .steps import comes_to, go, labels, says

pytestmark = pytest.mark.slow

LASSO = "#/map?lasso=-99_-99~99_-99~99_99~-99_99"


def bar(page):
    return page.get_by_role("region", name="More like these")


def results(page):
    return page.get_by_role("list", name="Results").get_by_role("link")


def shown(page):
    """The numbers of the items found, in order."""
    return results(page).evaluate_all("all => all.map(one => Number(one.hash.match(/items\\/(\\d+)/)[1]))")


def expected(served, items, least=0.99):
    with Collection.open(served.collection) as collection:
        return [hit.item for hit in collection.like(items, least=least).hits]


def test_from_a_grid_by_key(page, served):
    go(page, "#/search?q=tag:face")
    results(page).first.focus()
    page.keyboard.press("x")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("x")
    expect(page.get_by_role("toolbar", name="Selection")).to_contain_text("2 items selected")
    page.keyboard.press("a")
    expect(page).to_have_url(re.compile(r"#/search\?q=like"))
    expect(bar(page).get_by_role("heading", name="More like these 2")).to_be_visible()
    asked = [int(one) for one in re.search(r"like%3A([\d%C]+)", page.url).group(1).split("%2C")]
    comes_to(page, lambda: shown(page), expected(served, asked))
    assert not set(asked) & set(shown(page))


def test_from_the_bar_of_a_selection_and_from_an_item(page, served):
    go(page, "#/search?q=tag:face&sel=3")
    page.get_by_role("toolbar", name="Selection").get_by_role("link", name="More like this").click()
    expect(bar(page).get_by_role("heading", name="More like this")).to_be_visible()
    comes_to(page, lambda: shown(page), expected(served, [3]))
    go(page, "#/items/3")
    page.get_by_role("link", name="More like this").click()
    comes_to(page, lambda: shown(page), expected(served, [3]))
    go(page, "#/items/5")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("a")
    comes_to(page, lambda: shown(page), expected(served, [5]))


def test_from_the_large_view(page, served):
    go(page, "#/search?q=tag:face")
    results(page).first.focus()
    page.keyboard.press("v")
    large = page.get_by_role("dialog", name="Large view")
    expect(large.get_by_role("link", name="More like this")).to_be_visible()
    page.keyboard.press("a")
    expect(large).to_have_count(0)
    expect(page).to_have_url(re.compile(r"like%3A\d+"))
    asked = int(re.search(r"like%3A(\d+)", page.url).group(1))
    comes_to(page, lambda: shown(page), expected(served, [asked]))


def test_from_the_lasso(page):
    go(page, LASSO)
    inside = page.get_by_role("region", name="Inside the lasso")
    inside.get_by_role("link").nth(2).focus()
    page.keyboard.press("x")
    expect(inside.get_by_role("status")).to_contain_text("1 selected")
    inside.get_by_role("button", name="More like these").click()
    expect(bar(page).get_by_role("heading", name="More like this")).to_be_visible()


@pytest.mark.parametrize("leave", ["key('a', document.body)", "location.hash = '#/search?q=like%3A3'"])
def test_what_a_page_says_while_it_is_left_does_not_call_it_back(page, leave):
    go(page, LASSO)
    inside = page.get_by_role("region", name="Inside the lasso")
    inside.get_by_role("link").nth(2).focus()
    page.evaluate(
        """() => {
            const key = (key, on) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            const picture = document.activeElement;
            LEAVE;
            key("x", picture); // before the browser has told anybody that the address is another one
        }""".replace("LEAVE", leave)
    )
    expect(bar(page)).to_be_visible()
    expect(page).to_have_url(re.compile(r"#/search\?q=like"))


def test_the_slider_goes_from_almost_the_same_to_somewhat_alike(page, served):
    go(page, "#/search?q=like:3,5")
    slider = bar(page).get_by_role("slider", name="How much alike")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^alike, "))
    slider.focus()
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^somewhat alike, "))
    expect(page).to_have_url(re.compile("90%25"))
    loose = expected(served, [3, 5], 0.9)
    comes_to(page, lambda: shown(page)[: len(loose)], loose[: len(shown(page))])
    expect(bar(page)).to_contain_text(f"{len(loose)} items, by all views together more alike than 90 % of the pairs")
    expect(page.get_by_role("status").get_by_text(f"{len(loose)} items", exact=True)).to_be_visible()
    expect(slider).to_be_focused()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^almost the same, "))
    comes_to(page, lambda: shown(page), expected(served, [3, 5], 0.9999))


def test_how_much_is_said_on_every_picture_and_what_is_less_alike_is_a_click_away(page, served):
    go(page, "#/search?q=like:3")
    n = len(expected(served, [3]))
    comes_to(page, lambda: results(page).count(), n)
    expect(results(page).first).to_contain_text(re.compile(r"99\.\d\d %"))
    page.get_by_role("button", name=re.compile(r"\d+ items less alike")).click()
    comes_to(page, lambda: results(page).count() > n, True)
    assert shown(page)[:n] == expected(served, [3])


def test_between_two_stops_of_the_slider_no_number_is_claimed(page):
    go(page, "#/search?q=like:3,5,85%25")
    expect(bar(page)).to_contain_text("somewhat alike: by all views together more alike than 85 % of the pairs")


def test_nothing_is_that_much_alike(page, served):
    go(page, "#/search?q=like:100,99.99%25")
    assert expected(served, [100], 0.9999) == []
    expect(page.get_by_role("note")).to_contain_text("Nothing here is that much alike.")
    page.get_by_role("button", name="Show what is most alike").click()
    expect(results(page).first).to_be_visible()


def test_an_example_is_dropped_and_words_narrow_it_down(page, served):
    go(page, "#/search?q=like:3,5,95%25")
    examples = bar(page).get_by_role("list")
    expect(examples.get_by_role("link")).to_have_count(2)
    name = labels(examples.get_by_role("link"))[0]
    bar(page).get_by_role("button", name=f"Without {name}", exact=True).click()
    expect(examples.get_by_role("link")).to_have_count(1)
    comes_to(page, lambda: shown(page), expected(served, [5], 0.95))
    go(page, "#/search?q=like:3,90%25 -tag:face")
    expect(bar(page)).to_be_visible()
    with Collection.open(served.collection) as collection:
        wanted = [hit.item for hit in collection.search("like:3,90% -tag:face").hits]
    comes_to(page, lambda: shown(page), wanted)


def test_the_list_is_copied_as_a_command(page):
    go(page, "#/search?q=like:3,5,99.9%25")
    expect(bar(page).get_by_role("slider")).to_be_visible()
    page.get_by_role("button", name="Copy the items").click()
    page.get_by_role("button", name="Copy as command").click()
    says(page, "clipboard")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("--search like:3,5,99.9%")


def test_on_a_phone_it_fits(new_page):
    page = new_page("#/search?q=like:3,5", width=390, height=844)
    expect(bar(page).get_by_role("slider")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(results(page).first).to_be_in_viewport()
