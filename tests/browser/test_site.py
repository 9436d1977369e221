"""The exported gallery, opened from the disk: the same pages, nothing to edit, no server."""

import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from .conftest import Watch
from .steps import go, rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(demo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "manyview", "export-site", str(demo), "-o", str(folder)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return (folder / "index.html").as_uri()


@pytest.fixture
def page(browser, site):
    watch = Watch(site.rsplit("/", 1)[0])
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    watch.context(context)
    opened = context.new_page()
    opened.goto(site)
    yield opened
    context.close()
    watch.check()


def test_every_page_shows_something_and_nothing_can_be_changed(page):
    expect(rows(page).first.locator("img").first).to_be_visible()
    name = rows(page).first.get_attribute("aria-label")
    assert page.get_by_role("checkbox").count() == 0
    rows(page).first.get_by_role("link", name="All of").click()
    expect(page.get_by_role("list", name=f"Items of {name}").get_by_role("link").first).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Pin|Split|Rename"))).to_have_count(0)
    page.get_by_role("list", name=f"Items of {name}").get_by_role("link").first.click()
    expect(page.get_by_role("figure").get_by_role("img")).to_be_visible()
    expect(page.get_by_role("heading", name="Why it is here")).to_be_visible()
    for address in ("review", "search", "map", "compare", "runs"):
        go(page, f"#/{address}")
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        expect(page.get_by_role("alert")).to_have_count(0)


def test_search_works_without_a_server(page):
    go(page, "#/search?q=tag:face")
    found = page.get_by_role("main").get_by_role("status")
    expect(found).to_have_text(re.compile(r"\d+ items for tag:face"))
    n = int(re.match(r"\d+", found.inner_text()).group())
    go(page, "#/search?q=-tag:face")
    expect(found).to_have_text(f"{200 - n} items for -tag:face")
