"""What a newcomer reads first."""

import json
import re
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from manyview.cli import demo
from manyview.cli.main import app


def proposal(item, tag, probability=0.9, untouched=1.0, **reason):
    return SimpleNamespace(item_id=item, tag=tag, probability=probability, untouched=untouched, reason=reason)


def test_the_three_that_are_shown_have_three_tags_and_three_pictures():
    found = [proposal(1, "fish", 0.9), proposal(2, "fish", 0.95), proposal(2, "sea", 0.9), proposal(3, "sea", 0.8)]
    found += [proposal(4, "tool", 0.7), proposal(5, "dog", 0.99, untouched=0.0)]
    assert [(one.item_id, one.tag) for one in demo._different(found)] == [(2, "fish"), (3, "sea"), (4, "tool")]


def test_a_reason_in_a_few_words():
    keys = {1: "trout", 2: "perch", 3: "carp"}
    assert demo._short_reason({"like": (1, 2, 3)}, "fish", keys) == "looks like trout and perch, tagged fish"
    assert demo._short_reason({"like": (), "goes_with": ("sea",)}, "fish", keys) == "has the tags sea"
    assert demo._short_reason({"sentence": "It is on most."}, "fish", keys) == "It is on most."


def test_hidden_tags_are_counted_on_photographs_whose_file_says_none():
    rows = [
        {"file": "a.jpg", "tags": "fish; sea", "is_tagged": "0"},
        {"file": "b.jpg", "tags": "dog", "is_tagged": "1"},
        {"file": "c.jpg", "tags": "dog; grass; tree", "is_tagged": "0"},
    ]
    collection = SimpleNamespace(items=[SimpleNamespace(id=n, key=row["file"]) for n, row in enumerate(rows)])
    found = [
        proposal(0, "fish"),
        proposal(0, "river"),
        proposal(1, "cat"),
        proposal(2, "dog"),
        proposal(2, "tree", 0.4),
    ]
    hidden = demo._hidden_from_files(collection, found, rows)
    assert (hidden.n_hidden, hidden.n_found, hidden.n_proposed) == (5, 2, 3)
    assert demo._how_good(hidden).endswith("of 10 hidden tags it found 4, and of 10 that it proposed 7 were right.")


@pytest.mark.slow
def test_the_demo_says_groups_proposals_how_good_and_where_to_look(tmp_path):
    done = CliRunner().invoke(app, ["demo", str(tmp_path / "d")])
    assert done.exit_code == 0, done.output
    said = done.stdout
    assert "228 photographs, 114 of them with tags" in said and "The five clearest" in said
    assert len(re.findall(r"looks like \S+ and \S+, tagged", said)) == 3
    found, right = map(int, re.search(r"it found (\d+), and of 10 that it proposed (\d+) were right", said).groups())
    assert found >= 5 and right >= 8
    assert "cohesion" not in said and "ECE" not in said and max(map(len, said.splitlines())) < 200
    assert (tmp_path / "d" / "photographs.html").is_file()
    again = CliRunner().invoke(app, ["show", str(tmp_path / "d" / "photographs.manyview"), "--json"])
    names = [one["name"] for one in json.loads(again.stdout)["clusters"]]
    assert any("fish" in name for name in names[:3])  # the clearest first
