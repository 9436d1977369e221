"""Strangers' words that try to become part of the page: every view, the site, the report and a notebook show text."""

import os
import re
import shutil
import subprocess
import sys
import time

import pytest
from playwright.sync_api import expect

from manyview import Collection
from manyview.report.run import report_of_run

from .conftest import Watch
from .demo import Server
from .made.hostile import ARCHIVE, NO_PICTURES, PAYLOADS, PLACES, N, make_hostile
from .steps import go, says

pytestmark = pytest.mark.slow

ODD = """base => [...document.querySelectorAll('*')].filter(one =>
    one.hasAttribute('data-evil')
    || ['iframe', 'frame', 'object', 'embed', 'math', 'mglyph', 'base', 'marquee'].includes(one.localName)
    || (one.localName === 'style' && !one.closest('head, .mvr'))
    || (one.localName === 'script' && !(base && one.src.startsWith(base) && !one.textContent))
    || (one.localName === 'img' && !new RegExp('^(data:image/|blob:)' + (base ? '|^' + base : '')).test(one.src))
    || [...one.attributes].some(part => /^on|^srcdoc$/i.test(part.name)
        || /^\\s*(javascript|vbscript|data:text)/i.test(part.value))
).map(one => one.outerHTML.slice(0, 200))"""
WORDS = """() => [...document.querySelectorAll('*')].flatMap(one =>
    [...one.attributes].map(part => part.value).concat([...one.childNodes].map(part => part.nodeValue ?? ''),
        one.value ?? '')).join('\\n')"""


class Looker:
    """Looks at pages, and remembers which words of which place were on them."""

    def __init__(self, page, base):
        self.page, self.base = page, base
        self.asked = set()
        page.on("request", lambda one: "/api/" in one.url and not one.url.endswith("/state") and self.asked.add(one))
        for ended in ("requestfinished", "requestfailed"):
            page.on(ended, lambda one: self.asked.discard(one))
        self.seen = {place: set() for place in (*PLACES, *ARCHIVE, "method", "said")}

    def look(self):
        odd = self.page.evaluate(ODD, self.base)
        assert not odd, f"{self.page.url}: {odd[:3]}"
        found = set(re.findall(r"\b([a-z]+)(\d\d) ", self.page.evaluate(WORDS)))
        for place, number in found:
            self.seen.get(place, set()).add(int(number))
        return found

    def visit(self, address, place=None, number=None):
        """Go there, wait for a word that has to be there, and look until nothing is asked and nothing new comes."""
        go(self.page, address)
        word = f"{place or ''}{'' if number is None else f'{number:02d}'}"
        self.wait(f"({WORDS})().includes({word!r})")
        before, n_same = self.look(), 0
        while n_same < 3:
            self.page.evaluate("() => new Promise(done => requestIdleCallback(done))")
            self.page.wait_for_timeout(60)
            found = self.look()
            before, n_same = found, n_same + 1 if found == before and not self.asked else 0
        return found

    def wait(self, condition):
        """Asked from outside: to wait inside the page is to run text there, which its policy forbids."""
        until = time.monotonic() + 40
        while not self.page.evaluate(condition):
            assert time.monotonic() < until, f"{self.page.url}: {condition}"
            self.page.wait_for_timeout(20)

    def missing(self):
        return {place: N - len(numbers) for place, numbers in self.seen.items() if len(numbers) < N}


@pytest.fixture(scope="module")
def hostile(browser, tmp_path_factory):
    return make_hostile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def served(hostile, tmp_path_factory):
    server = Server(shutil.copytree(hostile, tmp_path_factory.mktemp("served") / hostile.name))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def items(hostile):
    """Number of the item that a word names, by place and number of the word."""
    with Collection.open(hostile) as collection:
        found = {}
        for item in collection.items:
            if named := re.match(r"(?:(file|name|id)(\d\d) |(note) (\d+)\.txt)", os.fsdecode(item.key)):
                place, number = [part for part in named.groups() if part]
                found[place, int(number)] = item.id
        assert len(found) == 4 * N
        return found


def test_each_of_a_hundred_words_would_be_noticed(browser):
    assert len(set(PAYLOADS)) == N == 100
    page = browser.new_page()
    page.on("dialog", lambda dialog: dialog.dismiss())
    for payload in PAYLOADS:
        page.evaluate("word => { document.body.innerHTML = word; }", payload)
        assert page.evaluate(ODD, "http://127.0.0.1/"), payload
        page.evaluate("word => { document.body.innerHTML = ''; document.body.append(word); }", payload)
        assert not page.evaluate(ODD, "http://127.0.0.1/"), payload
    page.close()


def every_view(looker, items, cluster, numbers=range(10)):
    """Everything that can be looked at, in the gallery and in a site."""
    looker.visit("#/clusters", "cluster")
    looker.visit("#/clusters?sort=name", "cluster")
    looker.visit(cluster, "cluster")
    looker.visit(f"{cluster}?tab=borderline", "cluster")
    for number in numbers:
        for place, told in (("file", "iptc"), ("note", "text"), ("name", "caption"), ("id", "word")):
            looker.visit(f"#/items/{items[place, number]}", told, number * 10 + 9)
    looker.visit("#/search", "file")
    looker.visit("#/search?q=caption", "name", 99)
    looker.visit("#/search?q=kind:row", "id", 99)
    looker.visit("#/search?q=%3Cimg data-evil src=x onerror=alert(1)%3E", "alert")
    looker.visit("#/review", "tag")
    looker.visit("#/review?by=tag", "tag")
    looker.visit("#/review?mode=sheet", "tag")
    looker.visit("#/map", "cluster")
    looker.visit("#/compare", "cluster")
    looker.visit("#/runs", "method")


def test_no_word_becomes_markup_in_any_view(new_page, served, items, watch):
    watch.allowed = ("404",)  # three quarters of these items have no picture
    page = new_page(height=9000)  # so high that lists show all they have
    looker = Looker(page, served.base)
    cluster = page.get_by_role("link", name="All of").first
    expect(cluster).to_be_visible()
    every_view(looker, items, cluster.get_attribute("href"))
    page.keyboard.press("h")
    expect(page.get_by_role("dialog", name="History").get_by_text("alert(1)").first).to_be_visible()
    looker.look()
    page.keyboard.press("Escape")
    for address in ("#/clusters", "#/review", "#/map"):
        go(page, address)
        page.get_by_role("button", name="Keys").click()
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        looker.look()
        page.keyboard.press("Escape")
    missing = looker.missing()
    assert set(missing) <= {"class", "array", "method", "said"}, missing  # of those there are fewer, or one an item
    assert missing["class"] <= 90 and missing["array"] == 90 and missing["method"] == 98 and missing["said"] == 99


def test_words_in_menus_messages_and_jobs(new_page, served, items, watch):
    watch.allowed = ("404",)
    page = new_page(height=5000)
    looker = Looker(page, served.base)
    go(page, "#/search")
    page.get_by_role("complementary", name="Facets").get_by_role("button", name=re.compile("alert")).first.click()
    expect(page).to_have_url(re.compile("q="))
    looker.look()
    page.get_by_role("button", name="Copy the items").click()
    looker.look()
    go(page, f"#/items/{items['file', 1]}")
    payload = "<img data-evil src=x onerror=alert(3)>"
    page.get_by_role("combobox", name="Add a tag").fill("img")
    looker.wait("document.querySelectorAll('datalist option').length > 3")
    looker.look()
    page.get_by_role("combobox", name="Add a tag").fill(payload)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("link", name=payload, exact=True)).to_be_visible()
    says(page, "alert(3)")
    looker.look()
    page.get_by_role("link", name=payload, exact=True).click()
    expect(page.get_by_role("main").get_by_role("status")).to_contain_text("1 item for")
    looker.look()
    go(page, "#/clusters")
    page.get_by_role("button", name=re.compile("^Rename")).first.click()
    page.get_by_role("textbox", name=re.compile("New name")).fill(f"{payload} renamed")
    page.keyboard.press("Enter")
    says(page, "renamed")
    looker.look()
    page.get_by_role("link", name="All of").first.click()
    page.get_by_role("listitem").filter(has=page.get_by_role("checkbox")).first.get_by_role("link").focus()
    page.keyboard.press("x")
    page.keyboard.press("m")
    expect(page.get_by_role("dialog").get_by_text("alert(1)").first).to_be_visible()
    looker.look()
    page.keyboard.press("Escape")
    go(page, "#/compare")
    band = page.get_by_role("group", name="Bands").get_by_role("button").first
    band.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Movers").get_by_role("listitem").first).to_be_visible()
    looker.look()
    go(page, "#/review")
    looker.wait("document.querySelector('article[aria-label*=alert]') !== null")
    page.keyboard.press("y")
    expect(page.get_by_role("status", name="Messages")).to_contain_text(re.compile("."))
    looker.look()
    go(page, "#/runs")
    method = "<img data-evil src=x onerror=alert(4)>"  # as long as a method's name may be
    page.evaluate(
        """method => fetch('/api/jobs', {method: 'POST', headers: {'Content-Type': 'application/json'},
           body: JSON.stringify({kind: 'fit', settings: {method}})})""",
        method,
    )
    expect(page.get_by_role("article", name=re.compile("fit")).get_by_text("alert(4)").first).to_be_visible()
    looker.look()
    watch.allowed = ("404", "400")
    go(page, f"#/search?q=confidence<{method.replace(' ', '+')}")
    expect(page.get_by_role("alert").first).to_be_visible()
    looker.look()


def test_what_is_no_picture_is_never_shown(page, served, watch):
    """Ten of SVG, HTML and XML: each is named as a problem; none is an item's file, a thumbnail or a preview."""
    watch.allowed = ("404",)
    problems = page.evaluate("fetch('/api/problems').then(answer => answer.json())")["problems"]
    assert {one["path"] for one in problems} >= set(NO_PICTURES) and len(NO_PICTURES) == 10
    go(page, "#/problems")
    for name in NO_PICTURES:
        expect(page.get_by_role("listitem").filter(has_text=name).first).to_be_visible()
    looker = Looker(page, served.base)
    looker.visit("#/runs", "method")
    shown = page.evaluate(
        """async numbers => {
            const found = [];
            for (const number of numbers) for (const place of [`thumbs/${number}`, `media/${number}/preview`]) {
                const answer = await fetch(place);
                if (answer.ok) found.push([place, answer.headers.get('content-type')]);
            }
            return found; }""",
        list(range(1, 4 * N + 1, 7)),
    )
    assert shown and {kind for _, kind in shown} == {"image/jpeg"}


def _command(*words):
    done = subprocess.run([sys.executable, "-m", "manyview", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def alone(browser):
    """Pages from the disk, watched; each asks for nothing but files below its own folder."""
    opened = []

    def open_page(path, **options):
        watch = Watch(path.parent.as_uri())
        watch.allowed = ("ERR_FILE_NOT_FOUND",)  # pictures of items that have none
        context = browser.new_context(viewport={"width": 1440, "height": 9000}, **options)
        watch.context(context)
        opened.append((context, watch))
        page = context.new_page()
        page.goto(path.as_uri())
        return page

    yield open_page
    for context, watch in opened:
        context.close()
        watch.check()


def test_the_site(alone, hostile, items, tmp_path):
    _command("export-site", hostile, "-o", tmp_path / "site")
    page = alone(tmp_path / "site" / "index.html")
    cluster = page.get_by_role("link", name="All of").first
    expect(cluster).to_be_visible()
    looker = Looker(page, (tmp_path / "site").as_uri())
    every_view(looker, items, cluster.get_attribute("href"), numbers=(0, 9))
    told = {"file", "name", "id", "column", "cell", "cluster"} & set(looker.missing())
    assert not told and all(looker.seen[place] for place in (*PLACES, *ARCHIVE)), looker.missing()


def test_the_report(alone, hostile, tmp_path):
    _command("report", hostile, "-o", tmp_path / "report.html")
    page = alone(tmp_path / "report.html")
    looker = Looker(page, "")
    looker.look()
    assert page.evaluate("document.scripts.length") == 0
    assert (
        len(looker.seen["cluster"]) == N
        and len(looker.seen["file"]) > 50
        and looker.seen["view"]
        and looker.seen["tag"]
    )


def test_the_report_in_a_notebook(alone, hostile, tmp_path):
    with Collection.open(hostile) as collection:
        shown = report_of_run(collection)._repr_html_()
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8><body>{shown}", encoding="utf-8")
    page = alone(notebook)
    looker = Looker(page, "")
    looker.look()
    assert page.evaluate("document.scripts.length") == 0 and len(looker.seen["cluster"]) == N
