"""Every format that was ever released opens in this version, with all that people had said."""

import json
import tarfile
from pathlib import Path

import pytest

from manyview import Collection
from manyview.collection.layout import FORMAT
from manyview.collection.safety.check import problems
from manyview.errors import ReadOnly, StoreError

from ..end_to_end.test_command_line import run
from .make import told

PACKS = sorted(Path(__file__).parent.glob("format-*.tar.xz"))


@pytest.fixture(params=PACKS, ids=[pack.name.split(".")[0] for pack in PACKS])
def golden(request, tmp_path):
    """A golden collection in a folder of its own, with its pictures beside it, and what has to be in it."""
    with tarfile.open(request.param) as pack:
        pack.extractall(tmp_path, filter="data")
    expected = json.loads(request.param.with_name(request.param.name.replace(".tar.xz", ".json")).read_text())
    return tmp_path / "golden.manyview", expected


def test_this_format_or_the_one_before_has_a_golden_collection():
    assert {int(pack.name.split(".")[0].split("-")[1]) for pack in PACKS} >= set(range(2, FORMAT))


def test_everything_people_said_is_there(golden):
    path, expected = golden
    with Collection.open(path, write=True) as collection:
        assert json.loads(json.dumps(told(collection))) == expected
    assert problems(path) == []


def test_it_lives_on(golden):
    path, expected = golden
    with Collection.open(path, write=True) as collection:
        last = max(number for number, kind, _, undone in expected["history"] if kind == "decide" and undone is None)
        written = max(number for number, *_ in expected["history"])  # into files that are not here
        with pytest.raises(StoreError, match=r"undone but for \d+ files.*its folder is away"):
            collection.undo(written)
        collection.undo(last)
        first = collection.items.ids[0]
        collection.accept([(first, "new word")])
        assert "new word" in collection.tags.words_of(0)
        run = collection.fit(n_clusters=3, views=["embedding"], seed=0)
        assert "First of all" in {row.name or "" for row in collection.runs.clusters(run.id)} | {
            name for name, _ in collection.living.said().values()
        }
    assert problems(path) == []


def test_a_command_that_only_looks_brings_it_up_to_date(golden):
    path, _ = golden
    shown = run("show", path)
    assert "has been brought up to date" in shown.stderr and "cluster" in shown.stdout
    again = run("show", path)
    assert again.stdout == shown.stdout and not again.stderr


def test_where_it_cannot_be_written_a_command_says_what_to_do(golden, monkeypatch):
    path, _ = golden
    real = Collection.open

    def only_reading(path, write=False, **more):
        if write:
            raise ReadOnly("no")
        return real(path, **more)

    monkeypatch.setattr(Collection, "open", only_reading)
    assert "Open it once for writing" in run("show", path, code=1).stderr
