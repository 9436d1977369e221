"""accept --at-least, as a script and as a person give it."""

import io
import json

import pytest

from manyview import Collection
from manyview.workflow.proposing.audit import go_on
from tests.workflow.tagged import make_tagged, truth

from .test_tags import ask, run


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audited")
    run("init", make_tagged(folder, n_items=160), "-o", folder / "items.manyview")
    run("suggest", folder / "items.manyview", "--jobs", 1)
    return folder / "items.manyview"


@pytest.fixture
def path(made, tmp_path):
    run("copy", made, tmp_path / "mine.manyview")
    return tmp_path / "mine.manyview"


class Owner(io.StringIO):
    """Answers what is asked, by the truth; sometimes with something else first."""

    def __init__(self, path, first=()):
        super().__init__()
        self.path, self.first, self.given = path, list(first), 0

    def readline(self):
        if self.first:
            return self.first.pop(0)
        with Collection.open(self.path) as found:
            question = go_on(found).question
        self.given += 1
        return "Y\n" if question.tag in truth(question.item_id) else "no\n"


def test_beforehand(path):
    said = run("accept", path, "--at-least", 0.8, "--dry-run")
    assert "answers bring about" in said
    told = ask("accept", path, "--at-least", 0.8, "--dry-run")
    assert set(told) == {"n", "answers", "tags", "reached", "share", "is_worth_it"}
    with Collection.open(path) as found:
        assert len(found.history) == 0
    assert "belongs to --at-least" in run("accept", path, "--all", "--dry-run", code=2)
    assert "only --tag" in run("accept", path, "--all", "--at-least", 0.8, code=2)
    assert "at_least must be" in run("accept", path, "--at-least", 80, code=2)


def test_a_conversation(path, monkeypatch):
    owner = Owner(path, ["hm\n", "y\n", "u\n"])
    monkeypatch.setattr("sys.stdin", owner)
    said = run("accept", path, "--at-least", 0.7)
    assert "If their probabilities are right, about" in said and "please answer y, n, u or q" in said
    assert "are right, 95 % sure" in said and "`manyview undo` takes it back" in said
    with Collection.open(path) as found:
        last = found.history.newest_effect()
        assert last.detail["guarantee"]["asked"] == owner.given
    assert f"undid {last.id}" in run("undo", path)


def test_answers_that_end_are_kept(path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\ny\n"))
    run("accept", path, "--at-least", 0.7, code=1)
    monkeypatch.setattr("sys.stdin", Owner(path))
    found = json.loads(run("accept", path, "--at-least", 0.7, "--json"))
    assert found["verdict"] == "proved" and found["accepted"] > 0 and found["entry"]
    assert found["asked"] > 2


def test_wrong_proposals(path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n" * 400))
    run("accept", path, "--at-least", 0.7, code=1)
    with Collection.open(path) as found:
        assert go_on(found) is None and not found.decisions.accepted()
