"""Answers faster than they can be sent: what the page has shown as answered is kept, and undo takes back the last.

MANYVIEW_ANSWERS says how many in a row, at ten milliseconds a key.
"""

import os
import random
import time

import pytest
from playwright.sync_api import expect

from manyview import Collection

from .steps import comes_to
from .test_review import opened, to_go

pytestmark = pytest.mark.slow

N = int(os.environ.get("MANYVIEW_ANSWERS", "40"))
EVERY = 0.01
ALL = "#/review?all=true"
"""Less likely ones too: what is worth asking would not last."""
WATCH = """() => {
    window.inFront = () => document.querySelector('article')?.getAttribute('aria-label') ?? null;
    addEventListener('keydown', () => { window.seen = window.inFront(); }, true);
    window.seen = '';
}"""
"""What a person sees at the moment of the key; another tab's answer may come in between."""


DEAF = """() => {
    const real = window.fetch;
    window.fetch = (asked, how) => how?.method === 'POST' ? new Promise(() => undefined) : real(asked, how);
}"""
"""Nothing is sent, as where the browser is killed."""


class Hands:
    """A person at the keys, who remembers what was asked and what they said."""

    def __init__(self, page):
        self.page, self.given = page, []

    def turn_to(self):
        """Keys go to the page that has the focus."""
        self.page.bring_to_front()
        self.page.wait_for_function("() => document.hasFocus()")
        expect(self.page.get_by_role("article").get_by_role("button", name="Yes")).to_be_visible()

    def press(self, key):
        """The question before and after."""
        start = time.monotonic()
        if not self.page.evaluate("() => window.seen"):
            self.page.evaluate(WATCH)
        self.page.keyboard.press(key)
        before, after = self.page.evaluate("() => [window.seen, window.inFront()]")
        time.sleep(max(0.0, start + EVERY - time.monotonic()))
        return before, after

    def answer(self, key):
        before, after = self.press(key)
        assert after != before, "the page did not go on"
        self.given.append((before, key == "y"))

    def undo(self):
        taken, _ = self.given.pop()
        _, after = self.press("z")
        assert after == taken, "the last answer did not come back"


def answers(served):
    """What the collection knows a person has said: question -> answer."""
    sql = (
        "SELECT tags.name, items.key, answer FROM decisions JOIN items ON items.id = item_id "
        "JOIN tags ON tags.id = tag_id"
    )
    with Collection.open(served.collection) as collection:
        return {
            f"{tag}? {key.decode().rstrip('/').rsplit('/', 1)[-1]}": bool(answer)
            for tag, key, answer in collection._catalog.rows(sql)
        }


def n_entries(served):
    """Answers in the history, those taken back included."""
    with Collection.open(served.collection) as collection:
        return collection._catalog.value("SELECT count(*) FROM history WHERE kind = 'decide' AND undoes IS NULL")


def kept(page, served, before, *hands):
    """Wait until the collection says what these hands said, and nothing else."""
    said = dict(before)
    for one in hands:
        said |= dict(one.given)
    comes_to(page, lambda: sorted(answers(served).items() ^ said.items()), [])


@pytest.fixture
def hands(new_page, served):
    return Hands(opened(new_page(ALL), ALL))


def test_a_reload_right_after(hands, served, record_property):
    record_property("count", N)
    page, before, entries, start = hands.page, answers(served), n_entries(served), to_go(hands.page)
    for n in range(N):
        hands.answer("yn"[n % 2])
    page.reload()
    kept(page, served, before, hands)
    assert n_entries(served) == entries + N  # sent twice perhaps, written once
    expect(page.get_by_role("article")).to_be_visible()
    comes_to(page, lambda: to_go(page), start - N)
    for _ in range(3):  # the page has given no answer, the tab has
        hands.given.pop()
        page.keyboard.press("z")
        kept(page, served, before, hands)


def test_the_page_is_closed_right_after(hands, served, new_page):
    page, before = hands.page, answers(served)
    other = opened(new_page(ALL), ALL)
    for n in range(N):
        hands.answer("nny"[n % 3])
    page.close()
    kept(other, served, before, hands)


def test_the_server_hears_nothing_before_the_next_page(hands, served):
    """The requests of the last breath are lost: what the browser has kept is sent by the next page."""
    page, before = hands.page, answers(served)
    page.evaluate(DEAF)
    for n in range(min(N, 50)):  # the page asks for more proposals when it was heard
        hands.answer("yyn"[n % 3])
    assert answers(served) == before
    page.reload()
    kept(page, served, before, hands)


def test_two_tabs_of_one_browser(hands, served, watch):
    page, before = hands.page, answers(served)
    other = Hands(page.context.new_page())
    other.page.goto(f"{served.base}#/review?all=true")
    expect(other.page.get_by_role("article")).to_be_visible()
    for turn in range(4):
        for one in (hands, other):
            one.turn_to()
            for n in range(max(1, N // 8)):
                one.answer("yn"[n % 2])
        if turn == 1:
            hands.page.reload()
    shared = {question for question, _ in hands.given} & {question for question, _ in other.given}
    mine = {question: answer for question, answer in hands.given if question not in shared}
    others = {question: answer for question, answer in other.given if question not in shared}
    comes_to(
        page,
        lambda: {key: value for key, value in answers(served).items() if key not in shared},
        before | mine | others,
    )
    comes_to(page, lambda: shared - set(answers(served)), set())
    hands.turn_to()
    last, _ = hands.given[-1]
    if last not in shared:
        hands.undo()
        comes_to(page, lambda: last in answers(served), False)  # its own last, not the other's


def test_undo_in_between(hands, served, seed):
    page, before = hands.page, answers(served)
    draw = random.Random(seed)  # noqa: S311  not a secret
    for _ in range(N):
        if hands.given and draw.random() < 0.3:
            hands.undo()
        else:
            hands.answer(draw.choice("yn"))
    kept(page, served, before, hands)
    while len(hands.given) < 3:
        hands.answer("y")
    hands.undo()
    page.reload()
    kept(page, served, before, hands)
    expect(page.get_by_role("article")).to_be_visible()
    hands.given.pop()
    page.keyboard.press("z")
    kept(page, served, before, hands)
