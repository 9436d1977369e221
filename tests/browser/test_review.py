"""The review queue: every answer counts at once, is kept, can be taken back, and is seen by the other tabs."""

import json
import re

import pytest
from playwright.sync_api import expect

from manyview import Collection
from manyview.workflow.proposing.suggest import line, suggest_tags
from manyview.workflow.reading.index import Index

from .steps import comes_to, go, labels, says

pytestmark = pytest.mark.slow


def to_go(page):
    text = page.get_by_role("status", name="Open proposals").inner_text()
    return int(re.sub(r"\D", "", text))


def shown(page):
    """Tag and item of the proposal in front."""
    article = page.get_by_role("article")
    expect(article).to_be_visible()
    return article.get_attribute("aria-label")


def opened(page, address="#/review"):
    go(page, address)
    page.bring_to_front()  # keys go to the page that has the focus
    expect(page.get_by_role("article")).to_be_visible()
    expect(page.get_by_role("article").get_by_role("button", name=re.compile("^Yes"))).to_be_visible()
    page.wait_for_function(
        "() => document.hasFocus() && /[1-9]/.test(document.querySelector('main [role=status]').textContent)"
    )
    return page


def test_keys_answer_skip_and_undo(page):
    opened(page)
    start, first = to_go(page), shown(page)
    page.keyboard.press("y")
    comes_to(page, lambda: to_go(page), start - 1)
    comes_to(page, lambda: shown(page) != first, True)
    second = shown(page)
    page.keyboard.press("n")
    comes_to(page, lambda: to_go(page), start - 2)
    comes_to(page, lambda: shown(page) not in (first, second), True)
    third = shown(page)
    page.keyboard.press("Space")
    comes_to(page, lambda: shown(page) not in (first, second, third), True)
    says(page, "")
    page.keyboard.press("z")
    comes_to(page, lambda: shown(page), second)
    page.keyboard.press("z")
    comes_to(page, lambda: shown(page), first)
    comes_to(page, lambda: to_go(page), start)


def test_the_next_proposal_does_not_wait_for_the_server(page):
    opened(page)
    start, held, holds = to_go(page), [], [True]
    page.route("**/api/decisions/steps", lambda asked: held.append(asked) if holds else asked.continue_())
    seen = [shown(page)]
    for n, key in enumerate("yny", 1):
        page.keyboard.press(key)
        comes_to(page, lambda: shown(page) not in seen, True)
        comes_to(page, lambda: to_go(page), start - n)
        seen.append(shown(page))
    assert held  # nobody has answered the first
    holds.clear()  # the next answer is sent when one has arrived
    for asked in held:
        asked.continue_()
    says(page, "")
    for n, before in enumerate(seen[-2::-1]):
        page.keyboard.press("z")
        comes_to(page, lambda: shown(page), before)
        comes_to(page, lambda: to_go(page), start - 2 + n)


def test_nothing_is_lost_on_reload(page):
    opened(page)
    first = shown(page)
    start = to_go(page)
    page.keyboard.press("y")
    says(page, "")
    page.reload()
    expect(page.get_by_role("article")).to_be_visible()
    comes_to(page, lambda: shown(page) != first, True)
    expect(page.get_by_role("status", name="Open proposals")).to_have_text(re.compile(f"{start - 1:,}"))
    page.keyboard.press("z")  # the history, since this page has answered nothing
    comes_to(page, lambda: to_go(page), start)


def test_a_second_tab_sees_the_answers_of_the_first(page, new_page):
    opened(page)
    other = new_page("#/review")
    first = shown(other)
    expect(page.get_by_role("article")).to_have_attribute("aria-label", first)
    page.keyboard.press("y")
    expect(other.get_by_role("article")).not_to_have_attribute("aria-label", first)
    same = shown(page)
    expect(other.get_by_role("article")).to_have_attribute("aria-label", same)
    comes_to(page, lambda: to_go(page) == to_go(other), True)


def test_both_tabs_answering_the_same_do_not_clash(page, new_page, watch):
    watch.allowed = ("ERR_FAILED",)
    opened(page)
    other = new_page("#/review")
    same = shown(page)
    expect(other.get_by_role("article")).to_have_attribute("aria-label", same)
    other.route("**/api/state", lambda route: route.abort())  # it cannot hear of the first's answer
    expect(other.get_by_role("alert")).to_be_visible()  # and nothing that it has asked before is on its way
    page.keyboard.press("n")
    says(page, "")
    other.keyboard.press("y")
    says(other, "already answered")
    comes_to(other, lambda: shown(other) != same, True)
    other.unroute("**/api/state")


def test_a_refused_answer_comes_back(page, watch):
    watch.allowed = ("409", "Conflict")
    opened(page)
    first, start = shown(page), to_go(page)
    page.route(
        "**/api/decisions/steps",
        lambda route: route.fulfill(status=409, json={"error": "somebody else is writing.", "hint": "Wait a little."}),
    )
    page.get_by_role("article").get_by_role("button", name=re.compile("^Yes")).click()
    says(page, "somebody else is writing")
    comes_to(page, lambda: shown(page), first)
    comes_to(page, lambda: to_go(page), start)


def test_one_tag_and_the_next_tag(page):
    opened(page)
    chosen = page.get_by_role("combobox", name="Tag", exact=True)
    first, second = chosen.locator("option").nth(1), chosen.locator("option").nth(2)
    tag, after = first.get_attribute("value"), second.get_attribute("value")
    chosen.select_option(tag)
    expect(page).to_have_url(re.compile("tag="))
    expect(page.get_by_role("heading", name=f"{tag}?")).to_be_visible()
    chosen.blur()
    page.keyboard.press("t")
    expect(chosen).to_have_value(after)


def test_less_likely_ones_are_one_click_away(page):
    opened(page)
    worth = to_go(page)
    page.get_by_role("button", name=re.compile("less likely ones")).click()
    comes_to(page, lambda: to_go(page) > worth, True)
    expect(page.get_by_role("link", name=re.compile("Review")).first).to_contain_text(str(worth))
    page.get_by_role("button", name="Only what is worth asking").click()
    comes_to(page, lambda: to_go(page), worth)


def test_reasons_are_pictures_that_lead_somewhere(page):
    opened(page)
    like = page.get_by_role("list", name=re.compile("^Items that are alike and carry"))
    while like.count() == 0:
        page.keyboard.press("Space")
        page.wait_for_timeout(100)
    expect(page.get_by_text(re.compile("^looks like .* which carr"))).to_be_visible()
    link = like.get_by_role("link").first
    link.click()
    expect(page).to_have_url(re.compile(r"#/items/\d+"))


def answer_of(yes, no):
    """What the button says that gives these answers."""
    everything = "it" if yes + no == 1 else "both" if yes + no == 2 else f"all {yes + no}"
    if yes and no:
        return re.compile(f"^Yes to {yes}, no to {no} ")
    return re.compile(f"^{'Yes' if yes else 'No'} to {everything} ")


def test_one_item_with_chips_to_tick(page):
    go(page, "#/review?mode=item")
    status = page.get_by_role("status", name="Open items")
    article = page.get_by_role("article")
    expect(article).to_be_visible()
    first, start = article.get_attribute("aria-label"), status.inner_text()
    chips = article.get_by_role("group", name="Proposed tags").get_by_role("button", name=re.compile("likely$|%$"))
    before = chips.first.get_attribute("aria-pressed")
    page.keyboard.press("1")
    expect(chips.first).not_to_have_attribute("aria-pressed", before)
    pressed = chips.evaluate_all("all => all.map(one => one.ariaPressed)")
    ticked = [one == "true" for one in pressed if one is not None]  # the last may say how many are less likely
    expect(article.get_by_role("button", name=answer_of(sum(ticked), len(ticked) - sum(ticked)))).to_be_visible()
    for chip in chips.all():
        if chip.get_attribute("aria-pressed") == "true":
            chip.click()
    expect(article.get_by_role("button", name=answer_of(0, len(ticked)))).to_be_visible()
    chips.first.click()
    page.keyboard.press("Enter")
    comes_to(page, lambda: article.get_attribute("aria-label") != first, True)
    expect(status).not_to_have_text(start)
    says(page, "")
    page.keyboard.press("z")
    comes_to(page, lambda: article.get_attribute("aria-label"), first)
    expect(status).to_have_text(start)
    page.keyboard.press("Space")
    comes_to(page, lambda: article.get_attribute("aria-label") != first, True)


def test_accept_many_surely(page):
    go(page, "#/review?mode=surely&share=70")
    start = page.get_by_role("region", name="Before you begin")
    expect(start.get_by_text(re.compile(r"About \d+ answers bring about \d+ tags"))).to_be_visible()
    start.get_by_role("button", name="Start").click()
    progress = page.get_by_role("status", name="Progress")
    expect(progress).to_contain_text("0 answers")
    first = shown(page)
    page.keyboard.press("n")
    expect(progress).to_contain_text("1 answer, 0 yes")
    page.keyboard.press("z")
    expect(progress).to_contain_text("0 answers")
    assert shown(page) == first
    page.keyboard.press("y")
    expect(progress).to_contain_text("1 answer, 1 yes")
    page.reload()  # it goes on where it was
    expect(progress).to_contain_text("1 answer, 1 yes")
    result = page.get_by_role("region", name="Result")
    for n in range(2, 60):
        page.get_by_role("button", name=re.compile("^Yes")).click()
        expect(progress.or_(result)).to_contain_text(re.compile(f"{n} answers, {n} yes|Proved"))
        if result.count():
            break
    expect(result.get_by_role("heading", name=re.compile("Proved: at least 70.% of these"))).to_be_visible()
    result.get_by_role("button", name=re.compile("Accept the other")).click()
    expect(result.get_by_role("heading", name=re.compile(r"\d+ tags accepted"))).to_be_visible()
    says(page, "95 % sure")
    result.get_by_role("button", name="Undo all of it").click()
    expect(result.get_by_role("button", name=re.compile("Accept the other"))).to_be_visible()


def test_doubtful_tags_are_kept_or_taken_away(page, served):
    with Collection.open(served.collection, write=True, wait=30) as found:
        answered = set(found._catalog.rows("SELECT item_id, tag_id FROM decisions"))  # by the tests before
        known = found._catalog.rows("SELECT item_id, tag_id FROM item_tags ORDER BY item_id, tag_id")
        pairs = [[*pair, 0.9] for pair in known if pair not in answered][:4]
        run = found.runs.get(kind="suggest").id
        found._catalog.run(
            "UPDATE runs SET figures = json_set(figures, '$.doubtful', json(?)) WHERE id = ?", (json.dumps(pairs), run)
        )
    go(page, "#/review?mode=doubtful")
    status = page.get_by_role("status", name="Doubtful tags")
    expect(status).to_contain_text("4 recorded tags")
    first = shown(page)
    page.keyboard.press("n")
    expect(status).to_contain_text("3 recorded tags")
    says(page, "rejected")
    second = shown(page)
    assert second != first
    page.keyboard.press("y")
    expect(status).to_contain_text("2 recorded tags")
    page.keyboard.press("z")
    comes_to(page, lambda: shown(page), second)
    page.keyboard.press("z")
    comes_to(page, lambda: shown(page), first)
    expect(status).to_contain_text("4 recorded tags")


def test_a_sheet_of_24(page):
    go(page, "#/review?mode=sheet")
    sheet = page.get_by_role("list", name=re.compile("Proposals for"))
    cards = sheet.get_by_role("group")
    expect(cards.first).to_be_visible()
    n = cards.count()
    assert 1 < n <= 24
    total = to_go(page)
    names = labels(cards)
    cards.first.focus()
    page.keyboard.press("ArrowRight")
    expect(cards.nth(1)).to_be_focused()
    page.keyboard.press("n")
    expect(sheet.get_by_role("group", name=names[1], exact=True)).to_have_count(0)
    comes_to(page, lambda: to_go(page), total - 1)
    cards.first.get_by_role("button", name=re.compile("^Yes")).click()
    expect(page.get_by_role("status", name="Open proposals")).to_have_text(f"{total - 2} to go")
    page.keyboard.press("z")
    page.keyboard.press("z")
    expect(page.get_by_role("status", name="Open proposals")).to_have_text(f"{total} to go")
    page.get_by_role("button", name=re.compile("Yes to the rest")).click()
    expect(page.get_by_role("status", name="Open proposals")).to_have_text(re.compile(f"^{max(0, total - n)} to go"))
    page.keyboard.press("z")
    expect(page.get_by_role("status", name="Open proposals")).to_have_text(f"{total} to go")


def test_on_a_phone_by_swipe_and_by_button(new_page):
    page = new_page("#/review", width=390, height=844)
    first = shown(page)
    page.wait_for_function("() => /[1-9]/.test(document.querySelector('main [role=status]').textContent)")
    start = to_go(page)
    box = page.get_by_role("article").get_by_role("presentation").first.bounding_box()
    x, y = box["x"] + 80, box["y"] + 80
    touch = page.context.new_cdp_session(page)
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 8):
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x + 25 * step, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(page.get_by_role("article")).not_to_have_attribute("aria-label", first)
    comes_to(page, lambda: to_go(page), start - 1)
    page.get_by_role("button", name="Undo").first.click()
    expect(page.get_by_role("article")).to_have_attribute("aria-label", first)
    page.get_by_role("button", name="No", exact=True).click()
    expect(page.get_by_role("article")).not_to_have_attribute("aria-label", first)
    expect(page.get_by_role("navigation", name="Pages, at the bottom")).to_be_visible()


def test_a_line_asks_for_answers_first(page):
    opened(page)
    expect(page.get_by_text(re.compile(r"quick answers?, and many can be accepted at once"))).to_be_visible()
    page.get_by_role("button", name=re.compile(r"^Answer \d+")).click()
    expect(page).to_have_url(re.compile("mode=quick"))
    left = to_go(page)
    expect(page.get_by_role("article")).to_be_visible()
    page.keyboard.press("y")
    comes_to(page, lambda: to_go(page), left - 1)
    page.keyboard.press("z")
    comes_to(page, lambda: to_go(page), left)


def test_all_above_the_line_with_its_precision(page, served):
    with Collection.open(served.collection, write=True, wait=30) as found:
        suggest_tags(found, completeness=0.65, n_jobs=1)  # known now
        n_open, n = Index(found).n_open, line(found, 0.7).n
    opened(page)
    comes_to(page, lambda: to_go(page), n_open)
    expect(page.get_by_role("article").get_by_text(re.compile(r"^\d+ %$"))).to_be_visible()
    start = to_go(page)
    slider = page.get_by_role("slider", name="The line")
    slider.fill("70")
    expect(page.get_by_text(re.compile("above it, about .*% of them right"))).to_be_visible()
    expect(page).to_have_url(re.compile("line=70"))
    assert 0 < n < start
    expect(page.get_by_role("button", name=re.compile(rf"^Accept {n}\b"))).to_be_enabled()
    slider.blur()
    page.keyboard.press("a")
    expect(page.get_by_role("status", name="Open proposals")).to_have_text(f"{start - n:,} to go")
    page.get_by_role("status", name="Messages").get_by_role("button", name="Undo").last.click()
    expect(page.get_by_role("status", name="Open proposals")).to_have_text(f"{start:,} to go")
