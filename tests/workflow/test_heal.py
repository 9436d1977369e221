"""Damaged files of a collection: what the doctor says to run makes them again, as if nothing had happened."""

import re
import shutil

import numpy as np
import pytest

from manyview import Collection
from manyview.collection.safety import check
from manyview.collection.safety.heal import damaged_views
from tests.end_to_end.samples import make_pictures
from tests.end_to_end.test_command_line import run


def cut(path):
    path.write_bytes(path.read_bytes()[:-7])


def spoil_header(path):
    content = path.read_bytes()
    path.write_bytes(content[:8] + b"\xff" * 20 + content[28:])


def lose(path):
    path.unlink()


def empty(path):
    path.write_bytes(b"")


WAYS = {"cut": cut, "header": spoil_header, "lost": lose, "empty": empty}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """Pictures and texts with three computed views, one of them sparse and one not among the default ones."""
    folder = tmp_path_factory.mktemp("heal")
    source = make_pictures(folder / "shapes").parent
    (source / "pictures.csv").unlink()
    for number in range(4):
        text = "red discs, round and flat" if number % 2 else "blue stripes, thin and straight"
        (source / f"{number}.txt").write_text(f"{text} {number}", encoding="utf-8")
    run("init", source, "-o", folder / "c.manyview")
    run("features", folder / "c.manyview", "--view", "embedding", "--view", "words", "--view", "edges")
    return folder / "c.manyview"


@pytest.fixture
def whole(template, tmp_path):
    """A copy that may be damaged, and what it holds; the pictures are shared."""
    path = shutil.copytree(template, tmp_path / "c.manyview")
    return path, check.digest(path)


def files_of(path, view):
    if view == "thumbs":
        return sorted((path / "thumbs").iterdir())
    return sorted(file for folder in (path / "views").iterdir() if view in folder.name for file in folder.iterdir())


@pytest.mark.parametrize("view", ["embedding", "words", "edges", "thumbs"])
@pytest.mark.parametrize("way", WAYS)
def test_features_makes_it_again(whole, way, view):
    path, expected = whole
    if (way, view) == ("header", "thumbs"):
        way = "cut"  # a pack has no header
    WAYS[way](files_of(path, view)[0])
    said = " ".join(check.problems(path))
    assert said
    if way != "lost" or view == "thumbs":  # the words name the command
        (command,) = set(re.findall(r"`manyview (features [^`]*)`", said))
        assert (f"--view {view}" in command) == (view != "thumbs")
    shown = run("features", path).stdout  # without naming a view: all that is damaged is made again
    assert "damaged" in shown
    Collection.open(path, write=True).close()
    assert check.problems(path) == []
    assert check.digest(path) == expected


def test_the_command_that_was_named_is_enough(whole):
    path, expected = whole
    cut(files_of(path, "edges")[0])
    (command,) = re.findall(r"`manyview ([^`]*)`", " ".join(check.problems(path)))
    run(*command.split())
    assert check.problems(path) == [] and check.digest(path) == expected


def test_fit_makes_it_again(whole):
    path, expected = whole
    cut(files_of(path, "embedding")[0])
    cut(files_of(path, "edges")[0])
    run("fit", path, "-k", 2, "--jobs", 1)
    assert check.problems(path) == []
    found = check.digest(path)
    assert all(found[f"view {name}"] == expected[f"view {name}"] for name in ("embedding", "edges", "words"))


def test_nothing_is_set_aside_while_the_pictures_are_away(template, whole):
    path, _ = whole
    source = template.parent / "shapes"
    segment = files_of(path, "edges")[0]
    kept = segment.read_bytes()
    cut(segment)
    source.rename(template.parent / "away")
    try:
        assert "connect that first" in run("features", path, code=1).stderr
        with Collection.open(path) as collection:
            assert damaged_views(collection) == ["edges"]
    finally:
        (template.parent / "away").rename(source)
    segment.write_bytes(kept)
    assert check.problems(path) == []


def test_rows_that_came_with_the_source_come_from_there_again(tmp_path):
    np.savez(tmp_path / "f.npz", looks=np.arange(24.0).reshape(8, 3))
    path = tmp_path / "c.manyview"
    run("init", tmp_path / "f.npz", "-o", path)
    expected = check.digest(path)
    cut(files_of(path, "looks")[0])
    (command,) = re.findall(r"`manyview ([^`]*)`", " ".join(check.problems(path)))
    assert "came with the source" in run("features", path, code=1).stderr  # and is not thrown away
    run(*command.split())
    Collection.open(path, write=True).close()
    assert check.problems(path) == [] and check.digest(path) == expected
