"""At the width of a phone: nothing runs over the edge or is cut, one search box, pictures before long."""

import re

import pytest
from playwright.sync_api import expect

from .steps import go

pytestmark = pytest.mark.slow

PAGES = [
    "clusters",
    "items/12",
    "review",
    "review?mode=item",
    "review?mode=sheet",
    "review?mode=first",
    "review?mode=surely",
    "review?mode=doubtful",
    "search",
    "search?q=tag:face",
    "map",
    "compare",
    "runs",
    "problems",
    "files",
    "files?tab=tags",
    "files?tab=duplicates",
]
CUT = """() => {
    const width = document.documentElement.clientWidth, cut = [];
    const measure = document.createElement('canvas').getContext('2d');
    const told = (one, what) => cut.push(`${what}: ${one.outerHTML.slice(0, 100)}`);
    if (document.documentElement.scrollWidth > width) cut.push('the page is too wide');
    for (const one of document.querySelectorAll('button, a, select, summary, input, h1, h2, [role=status]')) {
        const box = one.getBoundingClientRect(), style = getComputedStyle(one);
        if (!box.width || !box.height || style.visibility === 'hidden' || box.width <= 1 || box.bottom < 0) continue;
        if (box.left < -0.5 || box.right > width + 0.5) told(one, 'over the edge');
        if (one.matches('select')) {
            measure.font = style.font;
            const text = measure.measureText(one.selectedOptions[0]?.text ?? '').width;
            const room = one.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 16;
            if (text > room + 1) told(one, `cut by ${Math.round(text - room)}`);
        } else if (one.matches('input')) {
            measure.font = style.font;
            if (one.placeholder && measure.measureText(one.placeholder).width > one.clientWidth - 16) told(one, 'cut');
        } else if (one.scrollWidth > one.clientWidth + 1 && style.overflow !== 'visible') {
            if (!one.title) told(one, 'cut');
        }
    }
    return cut;
}"""
"""What is beyond the edge or has not the room for its words; a long name that is cut says itself whole in its title."""
ROWS = """() => {
    const pictures = [...document.querySelectorAll('main img, main canvas')].map(one => one.getBoundingClientRect());
    const end = pictures.find(box => box.height > 20)?.top ?? 0, rows = [];
    for (const one of document.querySelectorAll('main button, main select, main input, main nav a')) {
        const box = one.getBoundingClientRect(), middle = (box.top + box.bottom) / 2;
        if (!box.height || box.bottom > end + 4 || one.type === 'checkbox') continue;
        if (!rows.some(([top, bottom]) => top < middle && middle < bottom)) rows.push([box.top, box.bottom]);
    }
    return rows.length;
}"""
"""Rows of controls between the bar and the first picture."""


def addresses(page):
    cluster = page.get_by_role("link", name="All of").first.get_attribute("href").removeprefix("#/")
    return [*PAGES, cluster, f"{cluster}?tab=about", f"{cluster}?tab=borderline"]


def shown(page, address):
    go(page, f"#/{address}")
    expect(page.get_by_role("navigation", name="Pages, at the bottom")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    page.wait_for_timeout(300)
    page.wait_for_function(
        "() => [...document.querySelectorAll('main img')].slice(0, 3).every(one => one.naturalWidth > 0)"
    )


@pytest.mark.parametrize("scheme, width", [("light", 390), ("dark", 360)])
def test_nothing_is_cut_on_any_page(new_page, scheme, width):
    page = new_page(width=width, height=844, color_scheme=scheme)
    found = []
    for address in addresses(page):
        shown(page, address)
        found += [f"{address}: {one}" for one in page.evaluate(CUT)]
        assert page.get_by_role("searchbox").count() <= 1, address
        assert page.evaluate(ROWS) <= 2, address
    assert not found, "\n".join(found)


def test_what_is_behind_the_button_fits_too(new_page):
    page = new_page(width=390, height=844)
    cluster = page.get_by_role("link", name="All of").first.get_attribute("href").removeprefix("#/")
    found = []
    for address, button in (
        ("clusters", "Sort, filter and more"),
        (cluster, "Tag, pin, split and more"),
        ("search?q=tag:face", "Sort, narrow down and more"),
        ("items/12", "Move, copy"),
    ):
        shown(page, address)
        page.get_by_role("button", name=button).click()
        expect(page.get_by_role("button", name=button)).to_have_attribute("aria-expanded", "true")
        found += [f"{address}: {one}" for one in page.evaluate(CUT)]
    assert not found, "\n".join(found)


def test_everything_can_be_reached_on_a_phone(new_page):
    page = new_page(width=390, height=844)
    page.get_by_role("button", name="Sort, filter and more").click()
    page.get_by_role("combobox", name="Sort clusters").select_option("name")
    expect(page).to_have_url(re.compile("sort=name"))
    go(page, "#/review")
    page.get_by_role("combobox", name="Ways to review").select_option("Tag by tag")
    expect(page.get_by_role("list", name=re.compile("Proposals for"))).to_be_visible()
    go(page, "#/search")
    page.get_by_role("list", name="Results").get_by_role("link").first.tap()
    large = page.get_by_role("dialog", name="Large view")
    expect(large.get_by_role("img")).to_be_visible()
    assert not page.evaluate(CUT)
    large.get_by_role("link", name="All about it").tap()
    expect(page.get_by_role("heading", name="Why it is here")).to_be_visible()
