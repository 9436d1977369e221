"""What several tests do, in the words of a person."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

PATIENCE = 40.0
expect.set_options(timeout=PATIENCE * 1000)


def comes_to(page: Page, read: Callable[[], Any], wanted: Any, about: str = "") -> None:
    """Wait until the page reads as wanted: what it showed before may stand for a moment."""
    until = time.monotonic() + PATIENCE
    while (said := read()) != wanted and time.monotonic() < until:
        page.wait_for_timeout(30)
    assert said == wanted, about or f"{said!r} is not {wanted!r}"


def go(page: Page, address: str) -> None:
    page.goto(page.url.split("#")[0] + address)


def undo_in_toast(page: Page, summary: str) -> None:
    toast = page.get_by_role("status", name="Messages").locator("div", has_text=summary).last
    toast.get_by_role("button", name="Undo").click()


def says(page: Page, text: str) -> Locator:
    """A message at the foot of the page."""
    found = page.get_by_role("status", name="Messages").get_by_text(text, exact=False).last
    expect(found).to_be_visible()
    return found


def rows(page: Page) -> Locator:
    """The clusters of the start page."""
    return page.locator("section[aria-label]").filter(has=page.get_by_role("link", name="All of"))


def names(page: Page) -> list[str]:
    expect(rows(page).first).to_be_visible()
    return labels(rows(page))


def labels(found: Locator) -> list[str]:
    """What the elements are called, read at one moment."""
    return found.evaluate_all("found => found.map(one => one.getAttribute('aria-label'))")
