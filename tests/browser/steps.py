"""What several tests do, in the words of a person."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

expect.set_options(timeout=40_000)


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
    return [row.get_attribute("aria-label") for row in rows(page).all()]
