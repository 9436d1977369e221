"""From an untagged folder of 600 photographs to named clusters to 300 tags, as a person does it; and search."""

import os
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from manyview import Collection

from .conftest import Watch
from .demo import Server
from .made.untagged import take_photographs
from .steps import go, rows, says, undo_in_toast
from .test_access import axe_core, check  # noqa: F401  a fixture
from .test_any_order import elsewhere

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("axe")]  # asked in the midst of a path that all tests follow


def manyview(*words):
    done = subprocess.run(
        [sys.executable, "-m", "manyview", *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("untagged")
    shows = take_photographs(folder / "photos")
    path = folder / "photos.manyview"
    assert "no tags" in manyview("init", folder / "photos", "-o", path)
    assert re.search(r"\bcat\b.*\?", manyview("fit", path, "-k", 12))
    return path, shows


@pytest.fixture(scope="module")
def served(photographs):
    server = Server(photographs[0])
    yield server
    server.stop()


@pytest.fixture
def watch(served):
    return Watch(served.base)


def facts(path):
    """How many items have a tag, and what stands in the history, oldest first."""
    with Collection.open(path) as found:
        tags = {
            (found.items.get(item).key, found.tagging.vocabulary()[tag]) for item, tag in found.decisions.accepted()
        }
        return tags, [entry.summary for entry in found.history]


def row_of(page, word):
    page.get_by_role("searchbox", name="Filter clusters").fill(word)  # far ones are not in the page
    return rows(page).filter(has=page.get_by_role("button", name=re.compile(rf"^Rename {word}\b")))


def test_from_nothing_to_tags(new_page, photographs):
    path, shows = photographs
    before = {name: (path.parent / "photos" / name).read_bytes() for name in list(shows)[:5]}
    page = new_page()
    expect(page.get_by_text("nothing is tagged yet")).to_be_visible()
    go(page, "#/runs")
    expect(page.get_by_role("region", name="Proposals").get_by_role("link", name="first tags")).to_be_visible()
    expect(page.get_by_role("button", name="Propose tags")).to_have_count(0)
    go(page, "#/clusters")

    # a guess becomes the name with one click, and the message offers the tag; doubtful ones would not be ticked
    cats = row_of(page, "cat")
    name = cats.get_by_role("button", name="Rename").inner_text()
    assert name.endswith("?")
    assert cats.get_by_role("button", name="Rename").evaluate("one => getComputedStyle(one).fontStyle") == "italic"
    cats.get_by_role("button", name=f"Keep name {name[:-1]}", exact=True).click()
    says(page, f"to '{name[:-1]}'")
    page.get_by_role("button", name=re.compile(r"Tag these \d+ with “cat”\?")).click()
    sheet = page.get_by_role("dialog", name=f"Tag {name[:-1]}")
    likely = sheet.get_by_role("list", name="Likely ones").get_by_role("checkbox")
    expect(likely.first).to_be_checked()
    n_cats = likely.count()
    assert check(page, "tagging a cluster") == []
    likely.nth(3).click()
    expect(sheet.get_by_role("button", name=f"Yes, tag {n_cats - 1}")).to_be_visible()
    page.keyboard.press("Enter")
    says(page, f"added 'cat' for {n_cats - 1} items")
    expect(sheet).to_have_count(0)

    # both at once, undone at once
    row_of(page, "coffee").get_by_role("button", name="and tag its items with coffee").click()
    says(page, "called cluster")
    undo_in_toast(page, "called cluster")
    expect(row_of(page, "coffee").get_by_role("button", name="Rename")).to_have_text(re.compile(r"^coffee.*\?$"))
    assert {tag for _, tag in facts(path)[0]} == {"cat"}

    # the review leads to the rest: yes to what is right, the owner's own word where it is not or nothing was guessed
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Review").click()
    page.get_by_role("link", name="First tags").click()
    status = page.get_by_role("status", name="First tags")
    expect(status).to_contain_text("11 clusters to go")
    words, refused = [], None
    while len(facts(path)[0]) < 300:
        left = 11 - len(words)
        expect(status).to_contain_text(f"{left} cluster{'s' if left > 1 else ''} to go")
        field = page.get_by_role("textbox", name=re.compile("Tag for"))
        truth = shows[
            page.get_by_role("list", name="Likely ones").get_by_role("checkbox").first.get_attribute("aria-label")
        ]
        guess = field.input_value()
        words.append((guess, truth))
        if guess == truth:
            page.keyboard.press("y")
            says(page, f"'{truth}' for ")
        elif guess and refused is None:
            refused = guess
            page.keyboard.press("n")
            says(page, f"rejected '{guess}' for ")
        else:
            field.fill(truth)
            page.keyboard.press("Enter")
            says(page, f"'{truth}' for ")
    assert ("coffee", "coffee") in words and "" in [guess for guess, _ in words] and refused
    tags, history = facts(path)
    assert len(tags) >= 300
    assert sum(shows[name] == tag for name, tag in tags) >= 0.98 * len(tags)
    assert refused not in {tag for _, tag in tags}
    assert len([line for line in history if " for " in line and not line.startswith("undid")]) == len(words) + 2
    page.reload()
    expect(status).to_contain_text(f"{11 - len(words)} cluster")  # what was answered, yes or no, is not asked again
    expect(status).to_contain_text("tagged so far")
    expect(page.get_by_role("textbox", name=re.compile("Tag for"))).to_be_visible()

    # the last one back, by the key of everywhere
    page.keyboard.press("Escape")  # out of the field of a cluster that has no word yet
    page.keyboard.press("z")
    says(page, "undid")
    assert len(facts(path)[0]) < len(tags)
    assert all((path.parent / "photos" / name).read_bytes() == content for name, content in before.items())
    assert not list((path.parent / "photos").glob("*.xmp"))


def test_a_word_being_typed_keeps_the_focus_while_something_changes_elsewhere(new_page, served):
    page = new_page("#/review?mode=first")
    field = page.get_by_role("textbox", name=re.compile("Tag for"))
    tick = page.get_by_role("list", name="Likely ones").get_by_role("checkbox").first
    tick.click()
    expect(tick).not_to_be_checked()
    field.fill("typed with care")
    elsewhere(page, served, "**/api/clusters/*/tag")
    expect(field).to_be_focused()
    expect(field).to_have_value("typed with care")
    expect(tick).not_to_be_checked()


def test_one_box_for_tags_words_and_what_is_seen(new_page):
    page = new_page("#/search?q=cat")
    results = page.get_by_role("list", name="Results").get_by_role("listitem")
    expect(results.first).to_contain_text("tag")
    expect(page.get_by_text(re.compile(r"\d+ by tags, names and texts, and \d+ that seem to show it"))).to_be_visible()
    go(page, "#/search?q=wedding")
    note = page.get_by_role("note")
    expect(note).to_contain_text("Nothing here seems to show that.")
    expect(results).to_have_count(0)
    note.get_by_role("button", name="Show what fits best").click()
    expect(results.first).to_contain_text("looks 0.")
    expect(page.get_by_role("main").get_by_role("status")).to_have_text("600 items for wedding")
    page.reload()
    expect(note).to_contain_text("Nothing here seems to show that.")  # said, also above the ranking
    go(page, "#/search?q=DSC00007")
    expect(results).to_have_count(1)


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_serious_for_those_who_cannot_see_it(new_page, width):
    page, found = new_page(width=width), []
    for address in ("clusters", "review?mode=first", "search?q=cat", "search?q=wedding", "clusters/5"):
        go(page, f"#/{address}")
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        page.wait_for_timeout(800)
        expect(page.locator("main .old")).to_have_count(0)
        found += check(page, address)
    assert not found, "\n".join(found)
