"""Search with facets, two runs side by side, and runs that are started, followed, stopped and deleted."""

import re

import pytest
from playwright.sync_api import expect

from .steps import comes_to, go, says

pytestmark = pytest.mark.slow


def found(page):
    return page.get_by_role("main").get_by_role("status")


def test_typed_and_clicked_searches_are_the_same(page):
    go(page, "#/search")
    expect(found(page)).to_have_text("200 items")
    facets = page.get_by_role("complementary", name="Facets")
    first = facets.get_by_role("listitem").filter(has=page.get_by_role("button", name=re.compile("^face "))).first
    n = int(re.search(r"\d+$", first.get_by_role("button").first.inner_text()).group())
    first.get_by_role("button").first.click()
    expect(found(page)).to_have_text(f"{n} items for tag:face")
    expect(page.get_by_role("textbox", name="Query").or_(page.get_by_role("searchbox", name="Query"))).to_have_value(
        "tag:face"
    )
    page.get_by_role("searchbox", name="Query").fill("-tag:face")
    page.keyboard.press("Enter")
    expect(found(page)).to_have_text(f"{200 - n} items for -tag:face")
    page.go_back()
    expect(found(page)).to_have_text(f"{n} items for tag:face")


def test_results_of_another_search_are_not_said_to_be_of_this_one(page):
    go(page, "#/search?q=tag:face")
    expect(found(page)).to_contain_text("items for tag:face")
    waiting = []
    page.route("**/api/search?q=*", lambda route: waiting.append(route))
    go(page, "#/search?q=-tag:face")
    expect(found(page)).to_have_text("Searching…")
    page.unroute("**/api/search?q=*")
    go(page, "#/search?q=tag:face&more=true")
    expect(found(page)).to_contain_text("items for tag:face")


def test_a_picture_of_the_last_search_never_stands_for_an_item_of_this_one(page):
    go(page, "#/search?q=tag:face")
    pictures = page.get_by_role("list", name="Results").locator("img")
    expect(pictures.first).to_have_js_property("complete", True)
    last = pictures.first.get_attribute("src")
    page.route("**/thumbs/*", lambda route: None)  # none of the new ones comes
    go(page, "#/search?q=-tag:face")
    expect(pictures.first).not_to_have_attribute("src", last)
    old = "all => all.filter(one => !one.complete && one.naturalWidth > 0).length"
    assert pictures.evaluate_all(old) == 0
    page.unroute("**/thumbs/*")


def test_a_facet_is_ruled_out_and_taken_away(page):
    go(page, "#/search")
    facets = page.get_by_role("complementary", name="Facets")
    expect(facets.get_by_role("button", name=re.compile("^Without ")).first).to_be_visible()
    assert facets.evaluate("one => one.scrollWidth <= one.clientWidth"), "every minus can be reached"
    go(page, "#/search?q=untagged")
    expect(found(page)).to_have_text(re.compile(r"\d+ items? for untagged"))
    untagged = page.get_by_role("button", name=re.compile("^untagged"))
    expect(untagged).to_have_attribute("aria-pressed", "true")
    untagged.click()
    expect(found(page)).to_have_text("200 items")
    page.get_by_role("button", name="Without untagged").click()
    expect(page).to_have_url(re.compile("q=-untagged"))


def test_words_find_names_from_the_box_at_the_top(page):
    page.keyboard.press("/")
    page.keyboard.type("face")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"#/search\?q=face"))
    expect(page.get_by_role("list", name="Results").get_by_role("link").first).to_be_visible()


def test_what_cannot_be_read_is_said_beside_the_box(page, watch):
    watch.allowed = ("400",)
    go(page, "#/search?q=confidence<much")
    expect(page.get_by_role("alert").first).to_contain_text("confidence")
    go(page, "#/search?q=")
    expect(found(page)).to_have_text("200 items")
    go(page, "#/search?q=confidence<much")
    faded = (
        "list => { let o = 1; for (let e = list; e; e = e.parentElement) o *= getComputedStyle(e).opacity; return o; }"
    )
    expect(page.get_by_role("alert").first).to_contain_text("confidence")
    comes_to(page, lambda: page.get_by_label("Results").evaluate(faded) < 0.5, True)  # they are another search's
    page.get_by_role("searchbox", name="Query").fill("name:nothing-has-this-name")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Show everything").click()
    expect(found(page)).to_have_text("200 items")


def test_the_results_are_copied(page):
    go(page, "#/search?q=tag:face")
    expect(found(page)).to_contain_text("items for")
    page.get_by_role("button", name="Copy the items").click()
    page.get_by_role("button", name="Copy as command").click()
    says(page, "clipboard")
    assert "manyview show" in page.evaluate("navigator.clipboard.readText()")


def test_two_runs_side_by_side(page):
    go(page, "#/compare")
    expect(page.get_by_text("Adjusted Rand index")).to_be_visible()
    bands = page.get_by_role("group", name="Bands").get_by_role("button")
    expect(bands.first).to_have_attribute("aria-label", re.compile(r"\d+ items? from .* to "))
    label = bands.first.get_attribute("aria-label")
    bands.first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("band="))
    n = int(re.match(r"\d+", label).group())
    movers = page.get_by_role("list", name="Movers").get_by_role("listitem")
    expect(movers.first).to_have_attribute("aria-setsize", str(n))
    page.reload()
    expect(movers.first).to_be_visible()
    page.get_by_role("combobox", name="First run").select_option(index=0)
    expect(page.get_by_text("Choose two different runs")).to_be_visible()


def test_runs_are_listed_with_their_figures(page):
    go(page, "#/runs")
    table = page.get_by_role("table")
    expect(table.get_by_role("row", name=re.compile("consensus"))).to_contain_text("10")
    expect(table.get_by_role("row", name=re.compile("proposals")).last).to_contain_text("200 items")
    expect(table).to_contain_text("looks")
    expect(table).not_to_contain_text(re.compile("embedding|scale|completeness"))


def test_a_fit_is_started_with_its_estimate_followed_and_deleted(page):
    go(page, "#/runs")
    form = page.get_by_role("region", name="New fit")
    expect(form).to_contain_text(re.compile("[Aa]bout|second"))
    form.get_by_role("combobox", name="Method").select_option("rmkmc")
    form.get_by_role("spinbutton", name="Clusters").fill("7")
    form.get_by_role("button", name="Start").click()
    job = page.get_by_role("article", name=re.compile("fit"))
    expect(job.get_by_role("progressbar").or_(job.get_by_text("done"))).to_be_visible()
    expect(job.get_by_text("done", exact=True)).to_be_visible(timeout=120_000)
    shown = page.get_by_role("row", name=re.compile(r"\(shown\)"))
    expect(shown).to_contain_text("7")
    number = re.match(r"\d+", shown.get_by_role("rowheader").inner_text()).group()
    go(page, "#/clusters")
    expect(page.get_by_text("7 clusters")).to_be_visible()
    go(page, "#/runs")
    page.get_by_role("button", name=f"Delete run {number}").click()
    page.get_by_role("button", name=f"Really delete run {number}").click()
    says(page, f"Run {number} was deleted")
    expect(page.get_by_role("button", name=f"Delete run {number}")).to_have_count(0)


def test_a_job_is_cancelled(page):
    go(page, "#/runs")
    form = page.get_by_role("region", name="New fit")
    form.get_by_role("button", name="Start").click()
    job = page.get_by_role("article", name=re.compile("fit")).first
    job.get_by_role("button", name="Cancel").click()
    expect(job.get_by_text("cancelled")).to_be_visible(timeout=60_000)
