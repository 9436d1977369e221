"""Pictures and whole folders are renamed and moved, again and again: nothing that was said is lost."""

import hashlib
import json
import os
import random
from pathlib import Path

import pytest

from manyview import Collection
from manyview.collection.safety.check import problems

from ..workflow.test_moves import picture
from .test_command_line import run

MOVES = int(os.environ.get("MANYVIEW_MOVES", "8"))
N = 36


def contents(folder):
    return {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in folder.rglob("*.png")}


def everything_said(collection):
    """All that hangs on items, by their numbers."""
    living, rows = collection.living, collection.items.ids.tolist()
    standing = living.standing(collection.runs.get().id)
    return {
        "items": rows,
        "tags": {item: collection.tags.words_of(row) for row, item in enumerate(rows)},
        "clusters": dict(zip(standing.ids.tolist(), standing.clusters.tolist(), strict=True)),
        "placed": living.placed(),
        "held": living.held(),
        "links": living.link_rows(),
        "names": living.said(),
    }


def disturb(rng, source):
    """One of the things people do to their folders; where the source is then."""
    files = sorted(source.rglob("*.png"))
    kind = rng.choice(["rename", "rename", "between", "between", "swap", "folder", "all"])
    one, other = rng.sample(files, 2)
    if kind == "rename":
        one.rename(one.with_name(f"holiday {rng.random()}.png"))
    elif kind == "between":
        target = source / rng.choice("abcdef")
        target.mkdir(exist_ok=True)
        one.rename(target / f"{rng.random()}.png")
    elif kind == "swap":
        kept = one.with_name("kept")
        one.rename(kept)
        other.rename(one)
        kept.rename(other)
        for path in (one, other):
            os.utime(path, ns=(1, rng.randrange(10**18)))
    elif kind == "folder":
        one.parent.rename(source / f"folder {rng.random()}")
    else:
        return source.rename(source.with_name(f"source {rng.random()}"))
    return source


@pytest.mark.slow  # two commands for every move; MANYVIEW_MOVES
def test_moves_lose_nothing(tmp_path, record_property):
    record_property("count", MOVES)
    source, c = tmp_path / "pictures", tmp_path / "c.manyview"
    for number in range(N):
        picture(source / "abc"[number % 3] / f"IMG_{number}.png", number, size=24)
    before = set(contents(source))
    run("init", source, "-o", c)
    run("fit", c, "-k", 3)
    with Collection.open(c, write=True) as collection:
        ids = collection.items.ids.tolist()
        for n, item in enumerate(ids[::2]):
            collection.accept([(item, f"word {n % 5}")])
        collection.edit("move", ids[3:6], 2)
        collection.edit("link", ids[8], ids[9], True)
        collection.edit("rename", 1, "named")
        collection.edit("pin", 1)
        expected = everything_said(collection)
        of_content = {hashlib.sha256(Path(item.path).read_bytes()).hexdigest(): item.id for item in collection.items}
    rng = random.Random(32)  # noqa: S311  not for secrets
    for n in range(MOVES):
        new = disturb(rng, source)
        asked = ["add", c, *([] if new == source else [new]), "--json"]
        source = new
        told = json.loads(run(*asked).stdout)
        assert (told["new"], told["moved"] > 0) == (0, True), (n, told["sentence"])
        with Collection.open(c) as collection:
            assert everything_said(collection) == expected, n
            assert {of_content[digest]: str(path) for digest, path in contents(source).items()} == {
                item.id: item.path for item in collection.items
            }
    assert set(contents(source)) == before
    assert problems(c) == []
