"""The exported gallery, opened from the disk: the same pages, nothing to edit, no server.

What its pages compute is held against what the server says of the same collection.
"""

import csv
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

import pytest
from playwright.sync_api import expect

from manyview import Collection
from manyview.web import tables
from manyview.web.api.clusters import clusters_page
from manyview.web.api.items import facets, items_page, tags_page
from manyview.web.api.map import map_page
from manyview.web.api.proposals import proposals_page
from manyview.web.api.runs import compare_page
from manyview.web.api.search import search_page
from manyview.web.site import export_site
from manyview.workflow.reading.index import Index
from manyview.workflow.reading.search import parse_query

from ..search_table import TABLE, make_collection, make_pictures, say_the_rest
from .conftest import Watch
from .steps import comes_to, go, labels, rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(demo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "manyview", "export-site", str(demo), "-o", str(folder)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return (folder / "index.html").as_uri()


@pytest.fixture(scope="module")
def index(demo):
    with Collection.open(demo) as collection:
        yield Index(collection)


@pytest.fixture
def watch(site):
    return Watch(site.rsplit("/", 1)[0])


@pytest.fixture
def page(browser, site, watch):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    watch.context(context)
    opened = context.new_page()
    opened.goto(site)
    yield opened
    context.close()
    watch.check()


def names_in(page, label):
    """Names of the first items of a grid."""
    return page.get_by_role("list", name=label).get_by_role("link").all_inner_texts()[:12]


def names_and_counts(buttons):
    found = (re.fullmatch(r"(.*?)\s*(\d+)", one, re.S) for one in buttons.all_inner_texts())
    return [one.groups() for one in found if one][:12]  # beside each is one that takes it out, without a count


def names_of(found):
    return [one.key.rsplit("/", 1)[-1] for one in found.items[:12]]


def known_words(site):
    """Words for what pictures show that the exported pages know."""
    text = (Path(url2pathname(urlsplit(site).path)).parent / "data" / "looks.js").read_text(encoding="ascii")
    return json.loads(text.partition("] = ")[2].rstrip(";\n"))["words"]


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
    page.keyboard.press("v")
    large = page.get_by_role("dialog", name="Large view")
    expect(large.get_by_role("img")).to_be_visible()
    expect(large.get_by_role("button", name=re.compile("Select"))).to_have_count(0)
    page.keyboard.press("Escape")
    expect(large).to_have_count(0)
    for address in ("review", "search", "map", "compare", "runs"):
        go(page, f"#/{address}")
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        expect(page.get_by_role("alert")).to_have_count(0)


def test_a_copy_names_no_page_that_it_lacks_and_asks_nothing_of_its_reader(page):
    expect(
        page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link", name="Proposals")
    ).to_be_visible()
    cluster = page.get_by_role("link", name="All of").first.get_attribute("href")
    expect(rows(page).first).to_contain_text(re.compile(r"\d+ proposals?"))
    for address in (
        "#/clusters",
        cluster,
        "#/items/12",
        "#/review",
        "#/review?mode=sheet",
        "#/search",
        "#/map",
        "#/runs",
    ):
        go(page, address)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        page.wait_for_timeout(200)
        assert page.locator("a[href^='#/files'], a[href^='#/problems']").count() == 0, address
        assert not re.search(r"to review|to go\b", page.locator("body").inner_text()), address
    for address in ("#/files", "#/files?tab=tags", "#/problems"):  # kept from the gallery it was made of
        go(page, address)
        expect(rows(page).first).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_search_works_without_a_server(page):
    go(page, "#/search?q=tag:face")
    found = page.get_by_role("main").get_by_role("status")
    expect(found).to_have_text(re.compile(r"\d+ items for tag:face"))
    n = int(re.match(r"\d+", found.inner_text()).group())
    go(page, "#/search?q=-tag:face")
    expect(found).to_have_text(f"{200 - n} items for -tag:face")


def test_searches_find_what_the_server_finds(page, index, site):
    cluster = clusters_page(index).clusters[0]
    proposed = index.open_by_tag()[0][0]
    queries = (
        f'face | fac | ace | FACE -tag:face | "face with" | with face | untagged | -tagged'
        f' | "untagged" | -"tagged" | constructor | tag:Face cluster:{cluster.id} | cluster:"{cluster.name}" | unplaced'
        f" | confidence<0.4 | confidence>=0.5 -confidence>0.8 | kind:picture"
        f' | name:man | id:3,5,999 | proposed:"{proposed}" | foo:bar | tag:"no such tag" | * | -face -name:a'
    )
    found = page.get_by_role("main").get_by_role("status")
    known = known_words(site)
    assert "face" in known
    for query in queries.split(" | "):
        free = " ".join(term.value for term in parse_query(query).terms if term.kind == "words" and not term.negated)
        n = (search_page if free.casefold() in known else items_page)(index, query).total
        go(page, "#/search?q=" + query.replace("%", "%25").replace("&", "%26").replace("+", "%2B"))
        expect(found, query).to_have_text(f"{n} item{'' if n == 1 else 's'} for {query}")


def test_every_question_of_the_table(browser, tmp_path):
    with make_collection(tmp_path) as made:
        say_the_rest(made)
    done = subprocess.run(
        [sys.executable, "-m", "manyview", "export-site", "t.manyview", "-o", "site", "--positions"],
        cwd=tmp_path,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    page = browser.new_page()
    page.goto((tmp_path / "site" / "index.html").as_uri())
    links = page.get_by_role("list", name="Results").get_by_role("link")

    def found():  # names stand below the words of an item
        return [text.rsplit("\n", 1)[-1] for text in links.all_inner_texts()]

    for query, expected in TABLE["questions"]:
        go(page, "#/search?sort=id&q=" + quote(query))
        comes_to(page, found, expected, query)
    for query, sentence in TABLE["refused"]:
        go(page, "#/search?q=" + quote(query))
        expect(page.get_by_role("alert").first).to_contain_text(sentence)
    page.close()


def test_every_question_of_the_table_about_pictures(browser, tmp_path):
    with make_pictures(tmp_path) as made:
        path = made.path
    export_site(path, tmp_path / "site")
    page = browser.new_page()
    page.goto((tmp_path / "site" / "index.html").as_uri())
    links = page.get_by_role("list", name="Results").get_by_role("link")

    def found():
        return [re.search(r"DSC\d+", text).group() for text in links.all_inner_texts()]

    for query, hits, n_more, seen, sentence in TABLE["pictures"]["questions"]:
        go(page, "#/search?q=" + quote(query))
        comes_to(page, found, [name for name, _ in hits], query)
        if seen is not None:
            expect(page.get_by_role("main")).to_contain_text(sentence)
        if seen is not None and n_more:
            page.get_by_role("button", name=re.compile("fits? less|what fits best")).click()
            comes_to(page, lambda: len(found()), len(hits) + n_more, query)
    for query in TABLE["pictures"]["unknown"]:
        go(page, "#/search?q=" + quote(query))
        expect(page.get_by_text("any sentence works where the gallery is served")).to_be_visible()
    page.close()


def test_what_cannot_be_read_is_said_in_a_sentence(page):
    for query, sentence in (("confidence<much", "compared with a number"), ("id:one", "numbers of items")):
        go(page, f"#/search?q={query}")
        expect(page.get_by_role("alert").first).to_contain_text(sentence)
    go(page, "#/clusters/99999")
    expect(page.get_by_role("alert")).to_have_text(re.compile("There is no cluster 99999"))
    go(page, "#/items/99999")
    expect(page.get_by_role("alert")).to_have_text(re.compile("There is no item 99999"))


def test_facets_and_every_order_of_items(page, index):
    go(page, "#/search?q=confidence<0.9")
    counts = facets(index, "confidence<0.9")
    listed = page.get_by_role("complementary", name="Facets")
    for group, wanted in (("Tags", counts.tags), ("Clusters", counts.clusters)):
        section = listed.locator("section").filter(has=page.get_by_role("heading", name=group))
        read = partial(names_and_counts, section.get_by_role("button", name=re.compile(r"\d$")))
        comes_to(page, read, [(one.name, str(one.count)) for one in wanted[:12]])
    cluster = clusters_page(index).clusters[0]
    for sort in ("typical", "confidence", "name", "id"):
        go(page, f"#/search?q=confidence<0.9&sort={sort}")
        comes_to(
            page, lambda: names_in(page, "Results"), names_of(items_page(index, "confidence<0.9", sort=sort)), sort
        )
        go(page, f"#/clusters/{cluster.id}?sort={sort}")
        of_cluster = items_page(index, cluster=cluster.id, sort=sort)
        comes_to(page, lambda: names_in(page, f"Items of {cluster.name}"), names_of(of_cluster), sort)


def test_clusters_are_sorted_and_filtered(page, index):
    for sort in ("size", "name", "cohesion", "proposals"):
        go(page, f"#/clusters?sort={sort}")
        wanted = [one.name for one in clusters_page(index, sort=sort).clusters]
        comes_to(page, lambda: labels(rows(page))[:3], wanted[:3], sort)
    word = clusters_page(index).clusters[2].tags[0].name
    go(page, f"#/clusters?text={word}")
    n = len(clusters_page(index, text=word).clusters)
    expect(page.get_by_text(f"{n} cluster{'' if n == 1 else 's'}", exact=True)).to_be_visible()


def legend(page):
    shown = page.get_by_role("complementary", name="Legend").get_by_role("listitem")
    return shown.evaluate_all(
        "found => found.map(one => [...one.querySelectorAll('span.cut, span.figures')].map(span => span.innerText))"
    )


def test_the_map_is_coloured_by_a_tag_and_by_another_run(page, index):
    go(page, "#/map")
    chooser = page.get_by_role("combobox", name="Colour by")
    plane = page.get_by_role("application", name=re.compile("Map of 200 items"))
    expect(plane).to_have_attribute("data-drawn-by", re.compile("webgl|canvas"))
    page.wait_for_timeout(300)
    by_cluster = plane.screenshot()
    tag = tags_page(index).tags[0]
    expect(chooser.locator("optgroup").first.locator("option")).to_have_count(12)
    chooser.select_option(f"tag:{tag.name}")
    expect(page.get_by_role("button", name=f"Show {tag.name} {tag.count}", exact=False).first).to_be_visible()
    wanted = [[tag.name, str(tag.count)], [f"without {tag.name}", str(200 - tag.count)]]
    comes_to(page, lambda: legend(page), wanted)
    comes_to(page, lambda: plane.screenshot() != by_cluster, True)
    by_tag = plane.screenshot()
    first = min(run.id for run in index.collection.runs if run.kind == "fit")
    chooser.select_option(f"run:{first}")
    wanted = sorted([one.name, str(one.size)] for one in clusters_page(index, first).clusters)
    comes_to(page, lambda: sorted(legend(page)), wanted)
    assert wanted != sorted([one.name, str(one.size)] for one in map_page(index).clusters)
    comes_to(page, lambda: plane.screenshot() not in (by_tag, by_cluster), True)
    page.reload()
    expect(chooser).to_have_value(f"run:{first}")


def test_a_band_shows_its_movers_both_ways_round(page, index):
    bands = page.get_by_role("group", name="Bands").get_by_role("button")
    movers = page.get_by_role("list", name="Movers").get_by_role("listitem")
    for first, second in ((1, 2), (2, 1)):
        found = compare_page(index, first, second)
        left, right = ({one.id: one.name for one in side} for side in (found.first, found.second))
        wanted = [
            f"{one.size} item{'' if one.size == 1 else 's'} from {left[one.first]} to {right[one.second]}"
            for one in found.flows
        ]
        go(page, f"#/compare?first={first}&second={second}")
        expect(page.get_by_text("Adjusted Rand index")).to_be_visible()
        comes_to(page, lambda: sorted(labels(bands)), sorted(wanted))
        for band in (bands.first, bands.last):
            n = int(re.match(r"\d+", band.get_attribute("aria-label")).group())
            band.focus()
            page.keyboard.press("Enter")
            expect(movers.first).to_have_attribute("aria-setsize", str(n))
            expect(movers.first.locator("img")).to_be_visible()
    movers.first.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Why it is here")).to_be_visible()


def test_an_item_has_its_neighbours_and_proposals(page, index):
    item = int(index.ids[index.worth_pairs[0][0]])
    go(page, f"#/items/{item}")
    near = page.get_by_role("list", name=re.compile("Most alike by ")).first.get_by_role("link")
    expect(near).to_have_count(8)
    expect(page.get_by_role("heading", name="Proposed")).to_be_visible()
    near.first.click()
    expect(page).not_to_have_url(re.compile(rf"items/{item}$"))
    expect(page.get_by_role("heading", name="Why it is here")).to_be_visible()


def test_where_there_is_no_preview_the_thumbnail_is_shown(page, site, watch, index):
    watch.allowed = ("ERR_FILE_NOT_FOUND",)
    item = int(index.ids[-1])
    (Path(url2pathname(urlsplit(site).path)).parent / "previews" / f"{item}.jpg").unlink()
    go(page, f"#/items/{item}")
    expect(page.get_by_role("figure").get_by_role("img")).to_have_attribute("src", f"./thumbs/{item}.jpg")
    expect(page.get_by_text("No picture of this item")).to_have_count(0)


def test_proposals_are_looked_at_in_every_order(page, index):
    front = page.get_by_role("article")
    cluster = next(one.id for one in clusters_page(index).clusters if one.n_open)
    tag = index.open_by_tag()[1][0]
    for asked in (
        {},
        {"all": "true"},
        {"tag": tag},
        {"cluster": cluster},
        {"tag": tag, "all": "true"},
    ):
        go(page, "#/review?" + "&".join(f"{name}={value}" for name, value in asked.items()))
        everything = asked.pop("all", None) is not None
        wanted = proposals_page(index, **asked, everything=everything)
        status = page.get_by_role("status", name="Open proposals")
        expect(status).to_have_text(re.compile(f"^{wanted.total:,} proposals?$"))
        for one in wanted.proposals[:3]:
            expect(front).to_have_attribute("aria-label", f"{one.tag}? {one.key.rsplit('/', 1)[-1]}")
            page.get_by_role("button", name="Next").click()
    go(page, "#/review?mode=sheet")
    expect(page.get_by_role("list", name=f"Proposals for {index.open_by_tag()[0][0]}")).to_be_visible()


def test_the_history_is_there_to_read(page):
    page.get_by_role("button", name="History").click()
    drawer = page.get_by_role("dialog", name="History")
    expect(drawer.get_by_role("listitem").first).to_be_visible()
    expect(drawer.get_by_role("button", name="Undo")).to_have_count(0)


def test_lists_are_taken_along(page, index):
    def saved(button):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=button).click()
        with open(waiting.value.path(), newline="", encoding="utf-8") as file:
            return [[_plain(value) for value in row] for row in csv.reader(file)]

    cluster = clusters_page(index).clusters[0].id
    lists = {
        f"#/clusters/{cluster}?sort=name": ("Copy the items", tables.items_table(index, cluster=cluster, sort="name")),
        "#/clusters": ("Copy the clusters", tables.clusters_table(index)),
        "#/review": ("Copy the proposals", tables.proposals_table(index)),
        "#/runs": ("Copy the runs", tables.runs_table(index)),
    }
    for address, (menu, table) in lists.items():
        go(page, address)
        page.get_by_role("button", name=menu).click()
        expect(page.get_by_role("button", name="Copy as command")).to_have_count(0)
        wanted = csv.reader(tables.as_csv(table).decode("utf-8").splitlines())
        assert saved("Download CSV") == [[_plain(value) for value in row] for row in wanted], address
    go(page, "#/map?lasso=-99_-99~99_-99~99_99~-99_99")
    assert len(saved("Export")) == 201
    go(page, "#/search?q=nothing+is+called+this")
    page.get_by_role("button", name="Copy the items").click()
    assert saved("Download CSV") == [list(tables.items_table(index).columns)]


def _plain(value):
    """A cell as a person reads it: 1 is 1.0."""
    try:
        return float(value)
    except ValueError:
        return value
