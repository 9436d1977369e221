"""What the pages say is so: shares of what, counts of what, jobs that failed, and errors that are over."""

import re

import pytest
from playwright.sync_api import expect

from manyview import Collection
from manyview.workflow.fit import fit_collection

from ..conftest import Watch
from ..demo import Server
from ..steps import go, names, rows, says, undo_in_toast

pytestmark = pytest.mark.slow

WORDS = {"garden": "rose tulip soil hedge lawn", "stars": "planet orbit comet galaxy moon"}


@pytest.fixture(name="visit")
def _visit(browser):
    """A function that serves a collection and opens its gallery."""
    opened = []

    def visit(collection, address="#/clusters"):
        server = Server(collection)
        watch, context = Watch(server.base), browser.new_context()
        watch.context(context)
        opened.append((server, watch, context))
        page = context.new_page()
        page.goto(server.new_url())
        expect(page.locator("header .where")).not_to_have_text("")
        go(page, address)
        return page

    yield visit
    for server, watch, context in opened:
        context.close()
        server.stop()
        watch.check()


def test_a_filter_says_how_many_items_its_clusters_have(page):
    wanted = next(name for name in names(page) if not name.startswith("Group"))
    page.get_by_role("searchbox", name="Filter clusters").fill(wanted)
    expect(page.get_by_text(re.compile(r"[0-9]+ of 200 items"))).to_be_visible()
    sizes = [int(re.search(r"([0-9]+) items?", text)[1]) for text in rows(page).all_inner_texts()]
    expect(page.get_by_text(f"{sum(sizes)} of 200 items")).to_be_visible()


def test_shares_of_tags_say_what_they_are_shares_of(page):
    rows(page).filter(has_text="flag").first.get_by_role("link", name="All of").click()
    profile = page.get_by_role("complementary", name="Profile")
    told = profile.get_by_text(re.compile("of the [0-9]+ here that have tags"))
    expect(told).to_be_visible()
    n = int(re.search("[0-9]+", told.inner_text())[0])
    bar = profile.get_by_role("listitem").filter(has_text="flag").first
    count, of = map(int, re.search(r"([0-9]+) of the ([0-9]+) items", bar.get_attribute("title")).groups())
    assert of == n
    assert f"{round(100 * count / of)}\u00a0%" in bar.inner_text()


def test_of_more_tags_than_are_listed_nobody_says_all(page):
    go(page, "#/search")
    facets = page.get_by_role("complementary", name="Facets")
    expect(facets.get_by_role("button", name="The 100 most frequent")).to_be_visible()


def test_an_error_of_a_list_goes_when_the_list_is_back(page, watch):
    watch.allowed = ("ERR_INTERNET_DISCONNECTED",)
    rows(page).first.get_by_role("link", name="All of").click()
    expect(page.get_by_role("list", name=re.compile("^Items of")).get_by_role("link").first).to_be_visible()
    page.context.set_offline(True)
    page.get_by_role("combobox", name="Sort items").select_option("name")
    expect(page.get_by_role("alert")).to_have_count(2)  # that of the list, and that of the whole page
    page.context.set_offline(False)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_an_error_of_what_is_asked_no_more_goes(page, watch):
    watch.allowed = ("400",)
    go(page, "#/map?by=run:77")
    expect(page.get_by_role("alert").first).to_contain_text("no run 77")
    page.get_by_role("combobox", name="Colour by").select_option("cluster")
    expect(page.get_by_role("application", name=re.compile("Map of"))).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_of_more_words_than_are_listed_the_others_are_not_forgotten(page):
    def answer(route):
        found = route.fetch().json()
        route.fulfill(json={**found, "total": 1700, "tags": found["tags"][:20]})

    page.route(re.compile("api/vocabulary[?]"), answer)
    go(page, "#/files?tab=tags")
    expect(page.get_by_text("These are the first 20 of 1,700 tags")).to_be_visible()


def test_a_file_that_is_gone_is_said_to_be(page, watch):
    watch.allowed = ("404",)
    page.route(re.compile("media/12/"), lambda route: route.fulfill(status=404))
    go(page, "#/items/12")
    expect(page.get_by_role("note")).to_contain_text("The file could not be opened")
    expect(page.get_by_role("link", name="Download the original")).to_have_count(0)
    page.keyboard.press("v")
    expect(page.get_by_role("dialog", name="Large view").get_by_role("note")).to_contain_text("this is its thumbnail")


def test_who_gives_the_quick_answers_is_not_sent_to_give_them(page):
    go(page, "#/review")
    page.get_by_role("button", name="Answer 30").click()
    expect(page.get_by_text("30 answers more, and percentages can be trusted")).to_be_visible()
    expect(page.get_by_role("button", name="Answer 30")).to_have_count(0)


def test_a_cluster_that_went_into_another_meanwhile_is_said_to_be_gone(page, new_page, watch):
    watch.allowed = ("404",)
    large, small = names(page)[:2]
    sizes = [int(re.search(r"([0-9]+) items?", text)[1]) for text in rows(page).all_inner_texts()[:2]]
    if sizes[0] < sizes[1]:
        large, small = small, large
    rows(page).filter(has=page.get_by_role("link", name=f"All of {small}", exact=True)).get_by_role(
        "link", name="All of"
    ).click()
    expect(page.get_by_role("list", name=re.compile("^Items of")).get_by_role("link").first).to_be_visible()
    other = new_page()
    for name in (large, small):
        other.get_by_role("checkbox", name=f"Pick {name}", exact=True).check()
    other.get_by_role("button", name="Merge 2 clusters").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no cluster")
    expect(page.get_by_role("link", name="All clusters", exact=True).last).to_be_visible()
    undo_in_toast(other, "Merged cluster")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_double_click_splits_once(page):
    rows(page).first.get_by_role("link", name="All of").click()
    page.get_by_role("button", name="Split in").dblclick()
    says(page, "Split cluster")
    page.keyboard.press("h")
    done = page.get_by_role("dialog", name="History").get_by_role("listitem").filter(has_text="Split cluster")
    expect(done.first).to_be_visible()
    page.wait_for_timeout(300)
    expect(done).to_have_count(1)
    done.get_by_role("button", name="Undo").click()
    expect(done.first).to_contain_text("undid")


def test_an_item_that_is_put_back_was_not_moved(page):
    first, second = rows(page).nth(0), rows(page).nth(1)
    first.get_by_role("listitem").nth(1).get_by_role("link").drag_to(first.locator("header"))
    first.get_by_role("listitem").nth(1).get_by_role("link").drag_to(second.locator("header"))
    says(page, "Moved")
    page.keyboard.press("h")
    done = page.get_by_role("dialog", name="History").get_by_role("listitem").filter(has_text="Moved")
    expect(done.first).to_be_visible()
    expect(done).to_have_count(1)


def test_a_name_that_is_read_from_the_right_turns_no_number_round(page):
    name = names(page)[0]
    page.get_by_role("button", name=f"Rename {name}", exact=True).click()
    page.get_by_role("textbox", name="New name").fill("\u05d9\u05dd")
    page.keyboard.press("Enter")
    row = rows(page).filter(has=page.get_by_role("button", name="Rename \u05d9\u05dd"))
    row.get_by_role("listitem").first.get_by_role("link").click()
    place = page.locator(".place")
    expect(place).to_contain_text("% sure")
    link, told = place.evaluate(
        """place => { const after = document.createRange(), link = place.querySelector('a');
            after.setStartAfter(link); after.setEndAfter(place.lastChild);
            return [link.getBoundingClientRect().right, after.getBoundingClientRect().left]; }"""
    )
    assert link <= told + 1


def test_who_may_only_look_is_asked_nothing(page):
    def answer(route):
        route.fulfill(json={**route.fetch().json(), "can_write": False})

    page.route(re.compile("api/state"), answer)
    for way in ("item", "first", "surely", "doubtful", "quick"):
        go(page, f"#/review?mode={way}")
        page.reload()
        ways = page.get_by_role("navigation", name="Ways to look at proposals")
        expect(ways.get_by_role("link")).to_have_text(["One by one", "Tag by tag"])
        expect(ways.get_by_role("link", name="One by one")).to_have_attribute("aria-current", "page")
        expect(page.get_by_role("article").get_by_role("button", name="Next")).to_be_visible()
        expect(page.get_by_role("main").get_by_role("button", name=re.compile("^(Yes|No|Start)"))).to_have_count(0)


def test_the_title_of_a_cluster_is_its_name(page):
    name = names(page)[0]
    rows(page).first.get_by_role("link", name="All of").click()
    expect(page.get_by_role("heading", name=name, exact=True, level=1)).to_be_visible()


def test_a_run_that_failed_says_so_where_it_was_started(visit, tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text("id,length\n" + "".join(f"row {n},{n}\n" for n in range(6)), encoding="utf-8")
    Collection.create(tmp_path / "rows.manyview", table).close()
    page = visit(tmp_path / "rows.manyview")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("Clustering failed")
    expect(page.get_by_role("alert")).to_contain_text("nothing to cluster by")


def test_texts_on_the_map_are_points_and_have_names(visit, tmp_path):
    (tmp_path / "texts").mkdir()
    for n in range(16):
        topic = list(WORDS)[n % 2]
        (tmp_path / "texts" / f"{topic}-{n}.txt").write_text(f"{WORDS[topic]} {WORDS[topic]}", encoding="utf-8")
    with Collection.create(tmp_path / "texts.manyview", tmp_path / "texts") as made:
        fit_collection(made, "rmkmc", 2)
    page = visit(tmp_path / "texts.manyview", "#/map")
    found = page.get_by_role("application", name="Map of 16 items")
    expect(found).to_have_attribute("data-drawn-by", re.compile("webgl|canvas"))
    page.wait_for_timeout(500)
    box, tip = found.bounding_box(), found.get_by_text(re.compile(r"(garden|stars)-[0-9]+\.txt"))
    for step in range(0, 100 * 100, 2):  # until there is an item under the mouse
        page.mouse.move(box["x"] + box["width"] * (step % 100) / 100, box["y"] + box["height"] * (step // 100) / 100)
        if page.locator(".tip").count():
            break
    expect(tip).to_be_visible()
    expect(found.get_by_text(re.compile("^#[0-9]"))).to_have_count(0)
