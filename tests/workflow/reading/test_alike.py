"""More like these, as a search, a method and a command ask for it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from manyview import Collection
from manyview.cli.main import app
from manyview.errors import ParameterError
from manyview.workflow.proposing.decide import add_tag
from manyview.workflow.reading.alike import LEAST, STOPS, Asked, read_asked

KINDS, OF_EACH = 6, 20


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Six kinds of things, twenty each, far from each other; of the first kind two are equal."""
    rng = np.random.default_rng(0)
    rows = 4.0 * np.repeat(rng.normal(size=(KINDS, 8)), OF_EACH, axis=0) + rng.normal(size=(KINDS * OF_EACH, 8))
    rows[1] = rows[0]
    folder = tmp_path_factory.mktemp("alike")
    np.savez(folder / "six.npz", looks=rows)
    with Collection.create(folder / "six.manyview", folder / "six.npz") as made:
        made.save_run("rmkmc", np.repeat(np.arange(KINDS), OF_EACH))
    return folder / "six.manyview"


@pytest.fixture
def made(path):
    with Collection.open(path) as opened:
        yield opened


def kinds(hits):
    return {(hit.item - 1) // OF_EACH for hit in hits}


def test_the_nearest_come_first_and_those_asked_for_are_not_among_them(made):
    found = made.like([1], least=0.9)
    assert found.hits[0].item == 2 and found.hits[0].score == 1.0
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True) and scores[-1] >= 0.9 > found.more[0].score
    assert kinds(found.hits) == {0} and all(hit.how == "alike" for hit in found.hits)
    assert 1 not in [hit.item for hit in (*found.hits, *found.more)]
    assert all(0.5 <= hit.score < 0.9 for hit in found.more)


def test_several_of_two_kinds_find_both(made):
    found = made.like([1, 3, 41, 43], least=0.9)
    assert kinds(found.hits) == {0, 2}
    assert not {1, 3, 41, 43} & {hit.item for hit in found.hits}


def test_more_is_asked_for_fewer_are_found(made):
    n = [len(made.like([5], least=least)) for least in STOPS]
    assert n == sorted(n) and n[0] < n[-1]
    for least, count in zip(STOPS, n, strict=True):
        assert count == sum(hit.score >= least for hit in made.like([5], least=0.5).hits)


def test_a_sentence_says_what_the_share_means(made):
    n = len(made.like([5], least=0.9))
    said = f"{n} items are more like this one than 90 % of the pairs picked blindly are like each other."
    assert n > 1 and made.like([5], least=0.9).sentence == said
    nothing = "Nothing here is more like these 2 than 100 % of the pairs picked blindly are like each other."
    assert made.like([5, 50], least=1.0).sentence == nothing
    assert made.like([999]).sentence == "These items are no longer here." and not made.like([999]).hits


def test_as_a_part_of_a_search(made):
    alone = [hit.item for hit in made.search("like:1,3,90%").hits]
    assert alone == [hit.item for hit in made.like([1, 3], least=0.9).hits]
    some = made.search("like:1,3,90% id:2,4,6,50")
    assert [hit.item for hit in some.hits] == [item for item in alone if item in (2, 4, 6)]
    assert made.search("like:1,3,90% -like:2,99.99%").query == "like:1,3,90% -like:2,99.99%"
    near = {hit.item for hit in made.like([16], least=0.9).hits}
    assert {hit.item for hit in made.search("like:1,3,90% -like:16,90%").hits} == set(alone) - near != set(alone)


def test_words_beside_it_keep_the_order_of_likeness(path, tmp_path):
    from manyview.workflow.copying import copy_collection

    copy_collection(path, tmp_path / "copy.manyview")
    with Collection.open(tmp_path / "copy.manyview", write=True) as copy:
        order = [hit.item for hit in copy.like([1], least=0.9).hits]
        add_tag(copy, [order[5], order[2], order[0], 90], "chosen")
        found = copy.search("like:1,90% chosen")
        assert [hit.item for hit in found.hits] == [order[0], order[2], order[5]]


@pytest.mark.parametrize("text", ["", "a", "3,", "3,5,%", "3,101%", "3 5", "-3", "3,99.9"])
def test_what_like_does_not_take(text):
    with pytest.raises(ParameterError, match=r"like:3,5,99.9%"):
        read_asked(text)


@pytest.mark.parametrize("asked", [Asked((3,)), Asked((5, 3), 0.999), Asked((1,), 0.9999), Asked((1,), 1.0)])
def test_it_is_written_as_it_is_read(asked):
    assert read_asked(str(asked)) == asked
    assert read_asked("7").least == LEAST


@pytest.mark.parametrize(("items", "least"), [([], 0.9), ([1.5], 0.9), (["1"], 0.9), ([1], 1.1), ([1], -0.1)])
def test_what_the_method_does_not_take(made, items, least):
    with pytest.raises(ParameterError):
        made.like(items, least=least)


def test_before_the_first_fit_the_views_a_fit_would_use_count(tmp_path, path):
    np.savez(tmp_path / "six.npz", looks=np.repeat(np.eye(4), 5, axis=0) + 0.01 * np.arange(20)[:, None])
    with Collection.create(tmp_path / "six.manyview", tmp_path / "six.npz") as made:
        assert {hit.item for hit in made.like([1], least=0.8).hits} == {2, 3, 4, 5}
    answer = CliRunner().invoke(app, ["show", str(tmp_path / "six.manyview"), "--like", "0", "--alike", "0.8"])
    assert answer.exit_code == 0 and "4 items are more like this one than 80 %" in answer.output


def test_the_command_takes_names_and_numbers(path, made):
    expected = [hit.item for hit in made.like([1, 3], least=0.9).hits]
    for words in (["--like", "0", "2"], ["--like", "0", "--like", "2"], ["--like", "0", "--like", "2", "--items"]):
        answer = CliRunner().invoke(app, ["show", str(path), *words, "--alike", "0.9", "--json"])
        told = json.loads(answer.output)
        assert [one["id"] for one in told["items"]] == expected
        assert told["query"] == "like:1,3,90%" and told["items"][0]["how"] == "alike"
        assert told["items"][0]["score"] == made.like([1, 3], least=0.9).hits[0].score
    shown = CliRunner().invoke(app, ["show", str(path), "--like", "0", "--search", "id:2"]).output
    assert "1 item is more like this one" in shown and "alike, 100.00 %" in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["3"], "did you mean --like 3?"),
        (["--alike", "0.9"], "did you mean --like ITEM?"),
        (["--like", "nobody"], "nobody"),
        (["--like", "1", "--alike", "2"], "alike"),
    ],
)
def test_the_command_says_what_is_wrong(path, words, sentence):
    answer = CliRunner().invoke(app, ["show", str(path), *words])
    assert answer.exit_code != 0 and sentence in answer.output
