"""The start page: rows of clusters that can be renamed, merged, split, pinned, and take items from each other."""

import re

import pytest
from playwright.sync_api import expect

from .steps import go, names, rows, says, undo_in_toast

pytestmark = pytest.mark.slow


def test_the_first_screen_shows_the_clusters_of_the_newest_run(page):
    expect(page).to_have_title(re.compile("Clusters"))
    expect(page.get_by_text("10 clusters", exact=False)).to_be_visible()
    expect(page.get_by_text("200 items")).to_be_visible()
    first = rows(page).first
    expect(first.get_by_role("img", name=re.compile("cohesion"))).to_be_visible()
    expect(first.get_by_role("link", name=re.compile("to review"))).to_be_visible()
    expect(first.get_by_role("listitem").first.locator("img")).to_have_js_property("complete", True)


def test_the_first_screen_asks_little_and_its_own_questions_first(new_page, served):
    page, asked = new_page("#/review"), []
    page.goto("about:blank")  # what the page before has asked does not count
    page.on("request", lambda request: asked.append(request.url.removeprefix(served.base)))
    page.goto(served.base)
    expect(rows(page).first.get_by_role("listitem").first.locator("img")).to_have_js_property("complete", True)
    first = [one for one in asked if one.startswith("api")][:2]
    assert first == ["api/state", "api/clusters?sort=best"], "before the page itself has begun"
    assert asked.count("api/clusters?sort=best") == 1 and not any("facets" in one for one in asked)


def test_sorting_and_filtering_are_in_the_address_and_survive_a_reload(page):
    by_size = names(page)
    page.get_by_role("combobox", name="Sort clusters").select_option("name")
    expect(page).to_have_url(re.compile("sort=name"))
    page.wait_for_function(
        "() => { const n = [...document.querySelectorAll('section[aria-label]')].map(s => s.ariaLabel.toLowerCase());"
        " return n.length > 1 && n.every((x, i) => !i || n[i - 1].localeCompare(x) <= 0); }"
    )
    page.reload()
    expect(page.get_by_role("combobox", name="Sort clusters")).to_have_value("name")
    wanted = next(name for name in by_size if not name.startswith("Group"))
    page.get_by_role("searchbox", name="Filter clusters").fill(wanted)
    expect(page).to_have_url(re.compile("text="))
    expect(rows(page).first).to_have_attribute("aria-label", wanted)
    page.get_by_role("searchbox", name="Filter clusters").fill("nothing is called this")
    page.get_by_role("button", name="Show all").click()
    expect(rows(page).nth(2)).to_be_visible()


def test_a_name_is_changed_in_place_and_undone_from_the_toast(page):
    before = names(page)[0]
    page.get_by_role("button", name=f"Rename {before}").click()
    page.get_by_role("textbox", name=f"New name of {before}").fill("my favourites")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Rename my favourites")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Rename my favourites")).to_be_visible()
    go(page, "#/clusters")
    page.get_by_role("button", name="Rename my favourites").click()
    page.get_by_role("textbox").nth(0).fill("twice")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Rename my favourites")).to_be_visible()
    page.keyboard.press("z")
    expect(page.get_by_role("button", name=f"Rename {before}")).to_be_visible()


def test_two_picked_rows_are_merged_and_come_apart_again(page):
    first, second = names(page)[:2]
    page.get_by_role("checkbox", name=f"Pick {first}", exact=True).check()
    page.get_by_role("checkbox", name=f"Pick {second}", exact=True).check()
    page.get_by_role("button", name="Merge 2 clusters").click()
    expect(page.get_by_text("9 clusters")).to_be_visible()
    undo_in_toast(page, "")
    expect(page.get_by_text("10 clusters")).to_be_visible()


def test_one_picked_row_is_split_and_pinned(page):
    name = names(page)[0]
    page.get_by_role("checkbox", name=f"Pick {name}", exact=True).check()
    page.get_by_role("button", name="Split in two").click()
    expect(page.get_by_text("11 clusters")).to_be_visible()
    undo_in_toast(page, "")
    expect(page.get_by_text("10 clusters")).to_be_visible()
    page.get_by_role("checkbox", name=f"Pick {name}", exact=True).check()
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(rows(page).first.get_by_role("img", name="pinned")).to_be_visible()
    page.get_by_role("button", name="Pinned").click()
    expect(page.get_by_text("1 cluster", exact=True)).to_be_visible()
    go(page, "#/clusters")
    page.get_by_role("checkbox", name=f"Pick {name}", exact=True).check()
    page.keyboard.press("p")
    expect(rows(page).first.get_by_role("img", name="pinned")).to_have_count(0)


def test_an_item_is_dragged_to_another_row(page):
    second = names(page)[1]
    sizes = [int(re.search(r"(\d+) items", rows(page).nth(n).inner_text()).group(1)) for n in range(2)]
    picture = rows(page).nth(0).get_by_role("listitem").nth(1).get_by_role("link")
    picture.drag_to(rows(page).nth(1))
    target = page.locator(f"section[aria-label={second!r}]")
    expect(target.get_by_text(f"{sizes[1] + 1} items")).to_be_visible()
    undo_in_toast(page, "")
    expect(target.get_by_text(f"{sizes[1]} items")).to_be_visible()


def test_selected_items_move_by_key_to_a_new_cluster(page):
    row = rows(page).first
    expect(row).to_be_visible()
    row.get_by_role("listitem").nth(0).get_by_role("link").focus()
    page.keyboard.press("Space")
    row.get_by_role("listitem").nth(1).get_by_role("link").focus()
    page.keyboard.press("x")
    expect(page).to_have_url(re.compile(r"sel=\d+%2C\d+"))
    toolbar = page.get_by_role("toolbar", name="Selection")
    expect(toolbar.get_by_text("2 items selected")).to_be_visible()
    assert toolbar.bounding_box()["height"] < 60, "what can be done with a selection stands in one row"
    page.keyboard.press("m")
    page.get_by_role("searchbox", name="Find a cluster").fill("a cluster of two")
    page.get_by_role("button", name="New cluster").click()
    expect(page.get_by_text("11 clusters")).to_be_visible()
    page.get_by_role("searchbox", name="Filter clusters").fill("a cluster of two")
    expect(page.get_by_role("button", name="Rename a cluster of two")).to_be_visible()
    page.get_by_role("searchbox", name="Filter clusters").fill("")
    page.get_by_role("searchbox", name="Filter clusters").blur()
    page.keyboard.press("z")
    expect(page.get_by_text("10 clusters")).to_be_visible()


def test_two_items_are_kept_apart(page):
    row = rows(page).first
    for n in (0, 1):
        row.get_by_role("listitem").nth(n).get_by_role("link").focus()
        page.keyboard.press("x")
    page.get_by_role("button", name="Keep apart").click()
    expect(page.get_by_role("toolbar", name="Selection")).to_have_count(0)
    undo_in_toast(page, "")
    says(page, "undid")


@pytest.mark.parametrize("kind, piece", [("CSV", ","), ("JSON", '"name"'), ("command", "manyview show")])
def test_the_list_is_copied(page, kind, piece):
    expect(rows(page).first).to_be_visible()
    page.get_by_role("button", name="Copy the clusters").click()
    page.get_by_role("button", name=f"Copy as {kind}").click()
    says(page, "clipboard")
    assert piece in page.evaluate("navigator.clipboard.readText()")


def test_clusters_are_made_coarser_and_finer_again(page):
    """One click, and one back; what was there before is there again, with its names."""

    def number():
        return int(re.search(r"(\d+) clusters", page.get_by_role("main").inner_text())[1])

    def wait_until(told):
        page.wait_for_function(
            f"() => {{ const n = +document.body.innerText.match(/(\\d+) clusters/)?.[1]; return {told}; }}"
        )

    before = names(page)
    page.get_by_role("button", name="Coarser").click()
    wait_until("n < 10")
    fewer = number()
    page.reload()
    wait_until(f"n === {fewer}")
    page.get_by_role("button", name="Finer").click()
    wait_until("n === 10")
    assert names(page) == before
