"""``edit``, ``history``, ``add`` and ``compare`` as a person types them."""

import json

import pytest

from manyview import Collection
from manyview.workflow.fit import fit_collection

from ..end_to_end.test_command_line import run
from ..workflow.living_samples import make, write


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    with make(folder) as collection:
        fit_collection(collection, n_clusters=4)
    return collection.path


@pytest.fixture
def path(fitted, tmp_path):
    import shutil

    return shutil.copytree(fitted, tmp_path / "c.manyview")


def told(*arguments, code=0):
    return json.loads(run(*arguments, "--json", code=code).stdout)


def sizes(path):
    return {one["cluster"]: one["size"] for one in told("show", path)["clusters"]}


def test_every_edit_from_the_command_line(path, tmp_path):
    said = run("edit", path, "rename", 1, "Hounds & <others>").stdout
    assert "renamed cluster 1" in said and "(entry 2)" in said and "1: Hounds & <others>, 20 items" in said
    merged = told("edit", path, "merge", 2, 3, "--into", 3, "--who", "anna")
    assert merged["kind"] == "merge" and merged["clusters"][0] | {"name": ""} == {
        "cluster": 3,
        "name": "",
        "size": 40,
        "pinned": False,
    }
    part = told("edit", path, "split", 4, "--parts", 3)
    assert len(part["clusters"]) == 3 and sum(one["size"] for one in part["clusters"]) == 20
    item = told("show", path, "--items")["items"][0]
    moved = told("edit", path, "move", item["key"], "--to", 3)
    assert moved["summary"].startswith(f"moved {item['key']} to cluster 3")
    new = told("edit", path, "move", 2, 3, "--new", "--name", "mine")
    assert {"mine"} == {one["name"] for one in new["clusters"] if one["size"] == 2}
    assert "pinned" in run("edit", path, "pin", 1).stdout and "(pinned)" in run("show", path).stdout
    run("edit", path, "unpin", 1)
    run("edit", path, "link", 10, 11)
    run("edit", path, "unlink", 10, 11)
    run("edit", path, "link", 10, 12, "--apart")
    entries = told("history", path)["entries"]
    kinds = [entry["kind"] for entry in entries]
    assert kinds == ["fit", "rename", "merge", "split", "move", "move", "pin", "unpin", "link", "unlink", "link"]
    assert entries[2]["who"] == "anna"
    shown = run("history", path, "--limit", 2).stdout
    assert "apart:" in shown and "9 older ones" in shown and "renamed" not in shown
    run("report", path, "-o", tmp_path / "r.html")
    assert "Hounds &amp; &lt;others&gt;" in (tmp_path / "r.html").read_text(encoding="utf-8")
    before = sizes(path)
    with Collection.open(path, write=True) as collection:
        for entry in range(11, 1, -1):
            collection.undo(entry)
    assert sizes(path) == {1: 20, 2: 20, 3: 20, 4: 20} != before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("paint", 1), "no edit 'paint'; there are rename, tag, merge"),
        (("rename", 1), "is not a guess to confirm; give a new name"),
        (("rename", "dogs", "cats"), "give a cluster by its number"),
        (("merge", 1), "use it as: merge CLUSTER CLUSTER"),
        (("split", 1, "--into", 2), "--into is not for split"),
        (("move", 1), "say where to"),
        (("move", 1, "--to", 2, "--new"), "say where to"),
        (("move", "nobody.png", "--new"), "no item 'nobody.png'"),
        (("link", 1), "use it as: link ITEM ITEM"),
        (("pin", 77), "cluster 77 does not exist"),
    ],
)
def test_wrong_edits_say_what_is_right(path, words, why):
    assert why in run("edit", path, *words, code=2).stderr
    assert len(told("history", path)["entries"]) == 1


def test_add_and_compare(path, tmp_path):
    new = write(tmp_path / "new.npz", [0] * 3 + [1] * 2, seed=1)
    said = run("add", path, new).stdout
    assert said.startswith("5 new: 5 into 2 clusters\n") and "new.npz: 5 new" in said
    assert told("add", path)["changes"]["n_new"] == 0
    again = told("fit", path, "-k", 3)
    assert again["changes"]["n_moved"] == len(again["changes"]["movers"]) in (20, 22)  # one of the clusters ends
    compared = told("compare", path, 1, 2)
    assert compared["items"] == {"both": 85, "only_first": 0, "only_second": 0}
    assert compared["agreement"]["same"] == pytest.approx(1 - 20 / 85, abs=0.06) and len(compared["movers"]) >= 20
    text = run("compare", path, 1, 2).stdout
    assert "adjusted Rand index" in text and "items that are elsewhere" in text
    assert "has no run 9" in run("compare", path, 1, 9, code=2).stderr
    assert "does not exist" in run("add", path, tmp_path / "nowhere", code=1).stderr


def test_fresh_and_going_on(path):
    assert "goes on from run 1" in run("fit", path, "-k", 4).stdout
    assert "goes on" not in run("fit", path, "-k", 4, "--fresh").stdout


def test_levels_from_the_command_line(path):
    before = sizes(path)
    shown = told("show", path, "--level", 2, "--items")
    assert len(shown["clusters"]) == 2 and sum(one["size"] for one in shown["clusters"]) == sum(before.values())
    assert {item["label"] for item in shown["items"]} == {0, 1} and sizes(path) == before
    up = told("fit", path, "--coarser")
    assert up["n_clusters"] == 3 and up["said"] == ["3 clusters: a level of run 1, cut from its tree."]
    assert told("show", path)["settings"]["level"] == 3
    assert "level of run 2" in run("fit", path, "--finer").stdout
    assert "take no other option" in run("fit", path, "--finer", "-k", 3, code=2).stderr
    assert "the levels go from 2 to" in run("show", path, "--level", 99, code=2).stderr
