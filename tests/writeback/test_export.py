"""Tables of tags read back what they say."""

import csv

import pytest

from manyview import Collection

AWKWARD = [
    "New York, NY",
    "a;b",
    "a|b",
    "[sea]",
    "None",
    "=1+1",
    "-dash",
    'says "hi"',
    "it's",
    "Größe",
    "\\n",
    "null",
    "x",
]


def table(tmp_path, tags):
    """A collection of a table with such tags, and the table that is written of it."""
    source = tmp_path / "rows.jsonl"
    source.write_text(
        "\n".join(f'{{"id": "item {n}", "text": "words {n}"}}' for n in range(len(tags))), encoding="utf-8"
    )
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(n, word) for n, words in enumerate(tags, 1) for word in words], True)
        collection.apply(to="csv", output=tmp_path / "tags.csv")
    return tmp_path / "tags.csv"


@pytest.mark.parametrize("words", [["plain", "words"], AWKWARD, *([one] for one in AWKWARD)])
def test_tags_come_back_as_they_were(tmp_path, words):
    written = table(tmp_path, [words, ["other"], []])
    with Collection.create(tmp_path / "again.manyview", written) as again:
        assert [set(again.tagging.words_of(number)) for number in (1, 2, 3)] == [set(words), {"other"}, set()]


def test_plain_words_stand_between_semicolons_and_unclear_ones_in_a_list(tmp_path):
    with open(table(tmp_path, [["sea", "sky"], []]), newline="", encoding="utf-8") as file:
        assert [row["tags"] for row in csv.DictReader(file)] == ["sea;sky", ""]
    (tmp_path / "two").mkdir()
    with open(table(tmp_path / "two", [["sea", "sky"], ["Rome, Italy"]]), newline="", encoding="utf-8") as file:
        assert [row["tags"] for row in csv.DictReader(file)] == ['["sea", "sky"]', '["Rome, Italy"]']
