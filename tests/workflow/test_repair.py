"""A damaged catalogue is made anew, and nothing that a person said is lost."""

import io
import json
import os
import random
import shutil
import sqlite3
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest

from manyview import Collection
from manyview.cli.main import app
from manyview.collection import layout
from manyview.collection.safety.answers import read_lines
from manyview.collection.safety.check import problems
from manyview.errors import Damaged, StoreError
from manyview.workflow.repair import damage_of, repair

from ..collection.samples import picture_folder
from ..end_to_end.test_command_line import run
from ..golden.test_golden import golden  # noqa: F401  a fixture

DAMAGED = int(os.environ.get("MANYVIEW_DAMAGED", "8"))


def said(collection):
    """Every word of a person's, by what it is about."""
    living = collection.living
    rows = collection._catalog.rows
    return {
        "answers": rows(
            "SELECT items.key, tags.name, answer, who, why FROM decisions JOIN items ON items.id = item_id "
            "JOIN tags ON tags.id = tag_id ORDER BY 1, 2"
        ),
        "placed": living.placed(),
        "held": living.held(),
        "links": living.link_rows(),
        "names": {c: told for c, told in living.said().items() if told != (None, False)},
        "merged": living.merged(),
        "history": [
            (e.id, e.at, e.who, e.summary, e.undoes, e.undone_by)
            for e in collection.history
            if rows("SELECT 1 FROM changes WHERE history_id = ?", (e.id,))
        ],
    }


def make(folder):
    """Fourteen pictures, three clusters by hand, and some words about all of it."""
    source = picture_folder(folder / "pictures", 14)
    collection = Collection.create(folder / "c.manyview", source)
    collection.save_run("by hand", np.arange(14) % 3)
    collection.accept([(1, "sea"), (2, "sea"), (5, "Straße")], who="ada", why="seen")
    collection.reject([(3, "sea"), (1, "even")])
    collection.undo(collection.accept([(4, "mistake")]))
    collection.edit("rename", 1, "Harbours")
    collection.edit("pin", 2)
    collection.edit("move", [6, 7], None, name="Odd ones")
    collection.edit("link", 10, 13, True)
    collection.undo(collection.edit("merge", [2, 3]))
    collection.history.undo(collection.undo(collection.accept([(8, "again")])).id)  # and done again
    return collection


def made_in(folder):
    with make(folder) as collection:
        return folder / "c.manyview", said(collection)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return made_in(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def made(kept, tmp_path):
    path, words = kept
    return shutil.copytree(path, tmp_path / "c.manyview"), words


def damage(path, rng, kind):
    """Spoil a catalogue in one of the ways disks and people do."""
    catalog = path / "catalog.sqlite"
    content = bytearray(catalog.read_bytes())
    if kind == "flips":
        for _ in range(rng.choice([1, 10, 300])):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del content[rng.randrange(len(content)) :]
    elif kind == "zeros":
        start = rng.randrange(len(content) - 4096)
        content[start : start + 4096] = bytes(4096)
    elif kind == "page":  # one page in the place of another
        pages = len(content) // 4096
        a, b = rng.randrange(pages) * 4096, rng.randrange(1, pages) * 4096
        content[a : a + 4096] = content[b : b + 4096]
    elif kind == "noise":
        content[:] = rng.randbytes(len(content))
    catalog.write_bytes(content)
    if kind == "deleted":
        catalog.unlink()


KINDS = ("flips", "flips", "cut", "zeros", "page", "noise", "deleted")


@pytest.mark.parametrize("number", range(DAMAGED))
def test_every_answer_is_there_after_a_repair(made, number):
    path, expected = made
    rng = random.Random(number)  # noqa: S311  not for secrets
    damage(path, rng, KINDS[number % len(KINDS)])
    done = repair(path)
    with Collection.open(path, write=True) as collection:
        assert said(collection) == expected
        assert len(collection.items) == 14
        if done.why:
            collection.accept([(2, "after")])  # and life goes on
            collection.undo(expected["history"][0][0])
            assert collection.tags.words_of(0) == ["number 0"]
    assert not done.restored.left_out
    assert problems(path) == []
    assert damage_of(path) == ""


@pytest.mark.parametrize("kind", ["cut", "noise", "deleted"])
def test_commands_say_the_way_out(made, kind):
    path, _ = made
    damage(path, random.Random(3), kind)  # noqa: S311
    for command in (["show"], ["accept", "--item", "1", "--tag", "x"], ["add"], ["history"]):
        shown = run(command[0], path, *command[1:], code=1).stderr
        assert "something went wrong inside" not in shown and f"doctor {path} --repair" in shown, command
    assert "--repair" in run("doctor", path, code=1).stdout
    told = run("doctor", path, "--repair").stdout
    assert "brought back: 6 answers about tags, 2 names of clusters" in told
    assert "whole; there is nothing to repair" in run("doctor", path, "--repair").stdout
    run("doctor", path)


@pytest.mark.parametrize("number", range(DAMAGED))
def test_no_damage_is_an_internal_error(made, number):
    path, _ = made
    damage(path, random.Random(100 + number), KINDS[number % len(KINDS)])  # noqa: S311
    for command in (["doctor"], ["show"], ["show", "--items"], ["history"], ["accept", "--item", "2", "--tag", "x"]):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            app([command[0], str(path), *command[1:]])
        assert ended.value.code in (0, 1, 2) and "went wrong inside" not in err.getvalue(), (command, err.getvalue())


def test_a_whole_collection_is_left_alone(made):
    path, _ = made
    before = (path / "catalog.sqlite").read_bytes()
    assert repair(path).why == ""
    assert (path / "catalog.sqlite").read_bytes() == before and not (path / "set-aside").exists()


def test_a_collection_of_a_newer_version_is_left_alone(made):
    path, _ = made
    with sqlite3.connect(path / "catalog.sqlite") as catalog:
        catalog.execute(f"PRAGMA user_version = {layout.FORMAT + 1}")
        catalog.execute("DELETE FROM decisions")
    catalog.close()
    before = (path / "catalog.sqlite").read_bytes()
    with pytest.raises(StoreError, match="Open it with a newer manyview"):
        repair(path)
    assert (path / "catalog.sqlite").read_bytes() == before


def test_clusters_are_found_again_by_the_next_fit(tmp_path):
    rng = np.random.default_rng(0)
    looks = np.repeat(10.0 * np.eye(3), 12, axis=0) + rng.normal(size=(36, 3))
    np.savez(tmp_path / "three.npz", looks=looks)
    path = tmp_path / "c.manyview"
    with Collection.create(path, tmp_path / "three.npz") as collection:
        collection.fit(n_clusters=3, seed=0)
        standing = collection.living.standing(collection.runs.get().id)
        cluster = standing.of([13])[0]
        collection.edit("rename", cluster, "Mine")
        members = standing.members()[cluster].tolist()
    (path / "catalog.sqlite").unlink()
    repair(path)
    with Collection.open(path, write=True) as collection:
        collection.fit(n_clusters=3, seed=0)
        standing = collection.living.standing(collection.runs.get().id)
        assert standing.members()[cluster].tolist() == members
        assert collection.living.said()[cluster][0] == "Mine"


def test_pictures_that_moved_meanwhile_keep_their_answers(tmp_path):
    path, _ = made_in(tmp_path)
    (tmp_path / "pictures" / "p000.png").rename(tmp_path / "pictures" / "first.png")
    (path / "catalog.sqlite").unlink()
    repair(path)
    with Collection.open(path) as collection:
        assert collection.items.find("first.png").id == 1
        assert collection.tags.words_of(0) == ["sea"]


def test_a_source_that_is_away_can_be_read_later(tmp_path):
    path, expected = made_in(tmp_path)
    (tmp_path / "pictures").rename(tmp_path / "away")
    (path / "catalog.sqlite").unlink()
    done = repair(path)
    assert len(done.unread) == 1
    (tmp_path / "away").rename(tmp_path / "pictures")
    run("add", path)
    with Collection.open(path) as collection:
        assert said(collection) == expected and len(collection.items) == 14


def test_a_collection_of_an_older_version_gets_its_second_place(golden):  # noqa: F811
    path, _ = golden
    with Collection.open(path, write=True) as collection:
        expected = said(collection)
    (path / "catalog.sqlite").unlink()
    repair(path)
    with Collection.open(path) as collection:
        assert said(collection) == expected


def test_an_older_catalogue_that_was_damaged_before_is_salvaged(golden):  # noqa: F811
    path, _ = golden
    whole = (path / "catalog.sqlite").read_bytes()
    for start in range(len(whole) - 4096, 0, -4096):  # the last page that is needed for anything
        (path / "catalog.sqlite").write_bytes(whole[:start] + bytes(4096) + whole[start + 4096 :])
        if damage_of(path):
            break
    done = repair(path)
    assert done.restored.n_decisions == 5 and done.restored.n_named == 2


# --- the file itself ---


def test_what_was_never_committed_does_not_count(made):
    path, _ = made
    with Collection.open(path, write=True) as collection:
        before = said(collection)
        lines = len(read_lines(path / "answers.jsonl"))
        answers = collection._catalog.answers
        answers.end = lambda committed: None  # the machine stops between the line and the commit

        class Stopped(BaseException):
            pass

        with pytest.raises(Stopped), collection.transaction():
            collection.accept([(9, "never seen before")])
            collection.edit("move", [9], None, name="New")
            answers.write()
            raise Stopped
    assert len(read_lines(path / "answers.jsonl")) == lines + 2
    with Collection.open(path, write=True) as collection:
        assert said(collection) == before
        assert len(read_lines(path / "answers.jsonl")) == lines
        collection.accept([(9, "sure")])
        after = said(collection)
    assert damage_of(path) == "" and problems(path) == []
    (path / "catalog.sqlite").unlink()
    repair(path)
    with Collection.open(path) as collection:
        assert said(collection) == after


def test_a_torn_line_is_cut_off(made):
    path, expected = made
    with (path / "answers.jsonl").open("ab") as file:
        file.write(b'{"entry": {"id": 99')
    Collection.open(path, write=True).close()
    lines = (path / "answers.jsonl").read_bytes().splitlines()
    assert all(json.loads(line) for line in lines)
    with Collection.open(path) as collection:
        assert said(collection) == expected


def test_answers_are_said_again_where_an_older_catalogue_is_put_back(made, tmp_path):
    path, _ = made
    shutil.copy(path / "catalog.sqlite", tmp_path / "kept")
    with Collection.open(path, write=True) as collection:
        for word in ("one", "two", "three"):
            collection.accept([(9, word)])
        collection.edit("move", [9], None, name="New")
        expected = said(collection)
    shutil.copy(tmp_path / "kept", path / "catalog.sqlite")
    for name in ("catalog.sqlite-wal", "catalog.sqlite-shm"):
        (path / name).unlink(missing_ok=True)
    with Collection.open(path, write=True) as collection:
        assert said(collection) == expected
        collection.accept([(9, "four")])
        expected = said(collection)
    assert damage_of(path) == ""
    (path / "catalog.sqlite").unlink()
    repair(path)
    with Collection.open(path) as collection:
        assert said(collection) == expected


def test_a_missing_catalogue_is_said_to_be_damaged(made):
    path, _ = made
    (path / "catalog.sqlite").unlink()
    with pytest.raises(Damaged, match="doctor .* --repair"):
        Collection.open(path)
