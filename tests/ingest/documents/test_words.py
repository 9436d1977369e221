"""Keywords that stand in web pages and in the front matter of Markdown."""

import time

import pytest

from manyview import Collection
from manyview.ingest.documents.pages import page_keywords
from manyview.ingest.documents.plain import front_matter

from .steps import document

PAGE = """<html><head><META content='bridge, &quot;Old River&quot;;  ' NAME=Keywords>
<meta name="DC.subject" content="engineering"><meta name="description" content="no, keywords">
</head><body><p>A text with <b>words</b>. <meta name="other" content="x"></body>"""


def test_the_head_of_a_page():
    read = document(PAGE.encode(), "html")
    assert read.words.tags == ["bridge", '"Old River"', "engineering"]
    assert read.text == "A text with words."


@pytest.mark.parametrize(
    "lines",
    ["tags: [bridge, 'Old River']", "tags: bridge, Old River", "Tags:\n- bridge\n  - \"Old River\"",
     "keywords:\n  - '#bridge'\nother: x\ntags: Old River", "tags: [bridge,\n  Old River,\n]",
     'tags: ["bridge", Old River] # both', "tags:\n  - bridge # one\n  - Old River"],
)  # fmt: skip
def test_front_matter(lines):
    text = f"---\ntitle: The crossing\ndate: 1903-04-05\n{lines}\n---\nIt was long.\n---\ntags: none\n"
    words, rest = front_matter(text)
    assert [word for word in words if word] == ["bridge", "Old River"]
    assert rest == "The crossing\nIt was long.\n---\ntags: none\n"
    read = document(text.encode())
    assert read.words.tags == ["bridge", "Old River"] and "date" not in read.text


def test_a_quoted_word_keeps_its_comma():
    assert front_matter("---\ntags: 'Smith, John', sea\n---\nx")[0] == ["Smith, John", "sea"]


@pytest.mark.parametrize(
    "text", ["", "---", "--- no\ntags: a\n---\n", "a\n---\ntags: a\n---\n", "---\ntags: a\n" + "b\n" * 300]
)
def test_what_is_no_front_matter_stays(text):
    assert front_matter(text) == ([], text)


def test_a_text_between_two_rules_is_a_text():
    text = "---\nA long evening.\nIt rained: we stayed.\n---\nThe rest.\n"
    assert front_matter(text) == ([], text)
    fields = '---\n# made by hand\ntitle: A\nplaces:\n  - Rome\n    and more\n\n"date": 1903\n---\nB\n'
    assert front_matter(fields) == ([], "A\nB\n")


@pytest.mark.parametrize(
    "part", ["<meta ", "<meta name=", "<meta name='", 'a="', "---\n", "tags:\n", "- \n", "[", "=", "a", "a "]
)
def test_nothing_takes_long(part):
    start = time.process_time()
    page_keywords(part * (4_000_000 // len(part)))
    page_keywords(f"<meta {part.replace('<', '') * (60_000 // len(part))}>")
    front_matter("---\n" + part * (4_000_000 // len(part)))
    assert time.process_time() - start < 5  # seconds; a search that goes back and forth would take hours


def test_a_folder_of_texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "page.html").write_text(PAGE)
    (folder / "note.md").write_text("---\ntags: [bridge]\n---\nIt was long.\n")
    with Collection.create(tmp_path / "texts.manyview", folder) as made:
        said = {item.key: sorted(made.tagging.words_of(item.id)) for item in made.items}
    assert said == {"note.md": ["bridge"], "page.html": ['"Old River"', "bridge", "engineering"]}
