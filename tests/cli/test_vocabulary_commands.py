"""manyview tags, as a person gives it."""

import json

import pytest

from tests.cli.test_tags import ask, run


@pytest.fixture
def path(tmp_path):
    rows = ["Cat;sun", "cats;sun", "cats", "dog;2019"]
    table = tmp_path / "t.csv"
    table.write_text("id,words\n" + "".join(f"{n},{row}\n" for n, row in enumerate(rows)), encoding="utf-8")
    run("init", table, "--id", "id", "--tags", "words", "-o", tmp_path / "t.manyview")
    return tmp_path / "t.manyview"


def test_the_words_of_a_collection(path):
    said = run("tags", path)
    assert [line.split()[0] for line in said.splitlines()[1:6]] == ["cats", "sun", "2019", "Cat", "dog"]
    assert "1 pair or group may be one; --kin lists it" in said
    assert "... and 4 more; --rows" in run("tags", path, "--rows", 1)
    assert run("tags", path, "--find", "ca", "--order", "name").count("\n") >= 3
    assert "'cats' and 'Cat' are singular and plural of one word (2 and 1 items)" in run("tags", path, "--kin")
    assert [line["tag"] for line in ask("tags", path, "--order", "name")["tags"]] == [
        "2019",
        "Cat",
        "cats",
        "dog",
        "sun",
    ]
    assert "would have merged 'cats' into 'Cat': 2 items" in run(
        "tags", path, "merge", "cats", "--into", "Cat", "--dry-run"
    )
    done = ask("tags", path, "merge", "cats", "--into", "Cat")
    assert done == {"entry": 1, "summary": "merged 'cats' into 'Cat'", "items": 2, "files": 0}
    assert "also cats" in run("tags", path)
    run("tags", path, "silence", "2019", "--who", "ada")
    assert "never proposed" in run("tags", path, "--find", "2019")
    assert json.loads(run("history", path, "--json"))["entries"][-1]["who"] == "ada"
    run("tags", path, "retire", "dog")
    assert "retired" in run("tags", path, "--find", "dog") and "no tag contains 'zebra'" in run(
        "tags", path, "--find", "zebra"
    )
    run("undo", path, 1)
    assert "also cats" not in run("tags", path)


def test_sentences_about_what_is_wrong(path):
    assert "there is no action 'sell'" in run("tags", path, "sell", "Cat", code=2)
    assert "use it as: rename TAG NEW" in run("tags", path, "rename", "Cat", code=2)
    assert "into is for merge" in run("tags", path, "retire", "Cat", "--into", "dog", code=2)
    assert "no tag 'dgo'" in run("tags", path, "retire", "dgo", code=2)
