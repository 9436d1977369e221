"""Answers that come late, and keys that come before them: a page does what was asked, in the order it was asked."""

import re

import pytest
from playwright.sync_api import expect

from manyview import Collection

from .steps import comes_to, go, names, says
from .test_fast_hands import ALL, DEAF, Hands, answers, kept
from .test_looking import cluster
from .test_review import opened, to_go

pytestmark = pytest.mark.slow


class Held:
    """Requests that wait until they are let go; later ones then pass."""

    def __init__(self, page, which):
        self.waiting, self._is_open, self.page = [], False, page
        page.route(which, lambda route: route.continue_() if self._is_open else self.waiting.append(route))

    def comes(self, n=1):
        comes_to(self.page, lambda: len(self.waiting) >= n, True)

    def let_go(self):
        self._is_open = True
        for route in self.waiting:
            route.continue_()


def tags_of(served, item):
    with Collection.open(served.collection) as collection:
        return collection.tagging.words_of(item)


def say_elsewhere(served):
    """A change by another program."""
    with Collection.open(served.collection, write=True, wait=30) as collection:
        collection.decide([(200, "said elsewhere")], "said elsewhere" not in collection.tagging.words_of(200))


def elsewhere(page, served, address):
    """A change by another program, and the question that the page asks because of it."""
    with page.expect_response(address):
        say_elsewhere(served)
    page.wait_for_timeout(100)


def view(page):
    return page.get_by_role("dialog", name="Large view")


def results(page):
    go(page, "#/search?sort=id")
    found = page.get_by_role("list", name="Results")
    expect(found.get_by_role("link").first).to_be_visible()
    return found


def test_a_change_that_waits_its_turn_is_about_what_was_shown(page, served):
    """Two tags for one item over a slow line, and on to the next item before the second is sent."""
    go(page, "#/items/33")
    field = page.get_by_label(re.compile("Add a tag to"))
    expect(field).to_be_visible()
    held = Held(page, "**/api/tags")
    for tag in ("sent at once", "sent later"):
        field.fill(tag)
        field.press("Enter")
    held.comes()
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("ArrowRight")
    expect(page).not_to_have_url(re.compile("items/33$"))
    held.let_go()
    says(page, "sent later")
    assert {"sent at once", "sent later"} <= set(tags_of(served, 33))


def test_what_was_picked_meanwhile_stays_picked(page):
    found = results(page)
    found.get_by_role("link").nth(0).focus()
    page.keyboard.press("x")
    held = Held(page, "**/api/tags")
    page.keyboard.press("t")
    page.get_by_label("Tag for 1 item").fill("for the first alone")
    page.keyboard.press("Enter")
    held.comes()
    found.get_by_role("link").nth(1).focus()
    page.keyboard.press("x")
    expect(page.get_by_text("2 items selected")).to_be_visible()
    held.let_go()
    says(page, "for the first alone")
    expect(page.get_by_text("1 item selected")).to_be_visible()


def test_a_cluster_is_named_before_the_list_of_them_is_there(page):
    name = names(page)[0]
    go(page, "#/items/40")
    page.get_by_role("button", name="Move…").wait_for()
    held = Held(page, "**/api/clusters?sort=name")
    page.keyboard.press("m")
    page.get_by_role("searchbox", name="Find a cluster").fill(name)
    page.keyboard.press("Enter")
    held.comes()
    held.let_go()
    expect(page.get_by_role("main").get_by_text(re.compile("^in ")).get_by_role("link")).to_have_text(name)
    go(page, "#/clusters")
    expect(page.get_by_text("10 clusters")).to_be_visible()  # and no second one of that name


def test_what_changes_while_a_page_opens_is_shown(new_page, served):
    """A list that is answered before the first state would be older than it, and never be asked for again."""
    page, other = opened(new_page(ALL), ALL), Hands(opened(new_page(ALL), ALL))
    start, before = to_go(page), answers(served)
    held = Held(page, "**/api/state")
    page.reload()
    held.comes()
    page.wait_for_timeout(500)  # for whoever does not wait for the state
    other.turn_to()
    other.answer("y")
    kept(other.page, served, before, other)
    held.let_go()
    expect(page.get_by_role("article")).to_be_visible()
    comes_to(page, lambda: to_go(page), start - 1)


def test_one_question_about_the_state_at_a_time(page):
    """Answers of two could come in the wrong order, and the older one would stand."""
    held = Held(page, "**/api/state")
    held.comes()
    page.evaluate("() => { for (let n = 0; n < 3; n++) document.dispatchEvent(new Event('visibilitychange')); }")
    page.wait_for_timeout(200)
    assert len(held.waiting) == 1
    held.waiting[0].continue_()
    held.comes(2)
    page.wait_for_timeout(200)
    assert len(held.waiting) == 2


def test_the_focus_goes_to_a_picture_that_comes_late(page):
    found = results(page)
    held = Held(page, re.compile("api/search.*offset=100"))
    found.get_by_role("link").first.focus()
    page.keyboard.press("End")
    held.comes()
    page.wait_for_timeout(1000)
    held.let_go()
    expect(found.locator("[aria-posinset='200'] a")).to_be_focused()


def test_the_large_view_goes_where_the_last_key_says(page):
    found = results(page)
    held = Held(page, re.compile("api/search.*offset=100"))
    place = view(page).get_by_role("status", name="Place in the list")
    found.get_by_role("link").first.focus()
    page.keyboard.press("v")
    expect(place).to_have_text("1 of 200")
    page.keyboard.press("End")
    held.comes()
    page.keyboard.press("ArrowLeft")
    held.let_go()
    expect(place).to_have_text("199 of 200")


def test_who_has_gone_on_is_not_shown_what_was_asked_for_before(page):
    go(page, "#/items/12")
    expect(page.get_by_role("figure").get_by_role("img")).to_be_visible()
    held = Held(page, re.compile(r"api/items\?cluster="))
    page.keyboard.press("v")
    held.comes()
    page.keyboard.press("ArrowRight")
    expect(page).not_to_have_url(re.compile("items/12$"))
    held.let_go()
    page.wait_for_timeout(300)
    expect(view(page)).to_have_count(0)


def test_an_answer_is_not_taken_back_by_what_was_asked_before_it(page, served):
    go(page, "#/items/30")
    expect(page.get_by_role("row", name=re.compile("looks"))).to_be_visible()
    page.get_by_role("button", name=re.compile(r"^\d+ less likely$")).click()
    asked = page.get_by_role("button", name=re.compile("^Yes, "))
    expect(asked.first).to_be_visible()
    n, before = asked.count(), []
    page.route("**/api/items/30", lambda route: before.append((route, route.fetch())))
    say_elsewhere(served)
    comes_to(page, lambda: len(before), 1)
    held = Held(page, "**/api/state")  # nor does it hear of its own answer
    held.comes()
    asked.first.click()
    says(page, "accepted")
    route, answer = before[0]
    route.fulfill(response=answer)
    page.wait_for_timeout(300)
    expect(asked).to_have_count(n - 1)


def test_ticks_stay_while_the_list_is_asked_for_again(page, served):
    go(page, "#/review?mode=item")
    chips = page.get_by_role("article").get_by_role("group", name="Proposed tags").get_by_role("button")
    before = chips.first.get_attribute("aria-pressed")
    page.keyboard.press("1")
    expect(chips.first).not_to_have_attribute("aria-pressed", before)
    elsewhere(page, served, "**/api/proposals/items*")
    expect(chips.first).not_to_have_attribute("aria-pressed", before)


@pytest.mark.parametrize("heard", [True, False])
def test_undo_before_a_page_that_was_loaded_again_knows_anything(new_page, served, heard):
    hands = Hands(opened(new_page(ALL), ALL))
    page, before = hands.page, answers(served)
    if not heard:
        page.evaluate(DEAF)
    for key in "yny":
        hands.answer(key)
    if heard:
        kept(page, served, before, hands)
    held = Held(page, "**/api/state")
    page.reload()
    expect(page.get_by_role("heading", name="Review", level=1)).to_be_visible()
    held.comes()
    page.keyboard.press("z")
    hands.given.pop()
    held.let_go()
    kept(page, served, before, hands)


class TestTyping:
    def pick(self, page):
        found = cluster(page)
        found.nth(0).get_by_role("link").focus()
        page.keyboard.press("x")
        expect(page.get_by_text("1 item selected")).to_be_visible()

    def test_a_key_that_comes_before_a_dialog_has_told_of_its_end_is_heard(self, page):
        self.pick(page)
        page.keyboard.press("m")
        expect(page.get_by_label("Find a cluster or name a new one")).to_be_focused()
        page.evaluate("""() => {
            document.querySelector("dialog[open]").close(); // its event is told in a later task
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "t", bubbles: true }));
        }""")
        field = page.get_by_label("Tag for 1 item")
        expect(field).to_be_focused()
        page.wait_for_timeout(200)
        expect(field).to_be_focused()
        for _ in range(10):  # the same key again and again, with nothing between
            page.keyboard.press("Escape")
            page.keyboard.press("t")
        expect(field).to_be_focused()

    def test_the_field_has_the_focus_and_what_was_typed_comes_back(self, page):
        self.pick(page)
        for key, name in (("t", "Tag for 1 item"), ("m", "Find a cluster or name a new one")):
            page.keyboard.press(key)
            dialog = page.get_by_role("dialog")
            field = dialog.get_by_label(name)
            expect(field).to_be_focused()
            page.keyboard.type("typed with care")
            page.keyboard.press("Escape")
            if dialog.count():  # a search field takes the first Escape for itself
                page.keyboard.press("Escape")
            expect(dialog).to_have_count(0)
            expect(page.get_by_text("1 item selected")).to_be_visible()
        page.keyboard.press("t")
        expect(page.get_by_label("Tag for 1 item")).to_have_value("typed with care")
        page.keyboard.press("Enter")
        says(page, "typed with care")
        page.keyboard.press("z")
        says(page, "undid")
        self.pick(page)
        page.keyboard.press("t")
        expect(page.get_by_label("Tag for 1 item")).to_have_value("")

    def test_undo_waits_for_what_is_still_on_its_way(self, page, served):
        """Three tags given at once to an item, over a slow line: Z takes back the third."""
        go(page, "#/items/37")
        field = page.get_by_label(re.compile("Add a tag to"))
        expect(field).to_be_visible()
        page.route("**/api/tags", lambda route: (page.wait_for_timeout(300), route.continue_()))
        for tag in ("first of three", "second of three", "third of three"):
            field.fill(tag)
            field.press("Enter")
        page.get_by_role("heading", level=1).click()
        page.keyboard.press("z")
        says(page, "undid")
        for tag, there in (("first of three", 1), ("second of three", 1), ("third of three", 0)):
            expect(page.get_by_role("main").get_by_text(tag, exact=True)).to_have_count(there)
        page.unroute("**/api/tags")
        with Collection.open(served.collection) as collection:
            names = [
                collection.tagging.vocabulary()[tag] for item, tag in collection.decisions.accepted() if item == 37
            ]
        assert names == ["first of three", "second of three"]
