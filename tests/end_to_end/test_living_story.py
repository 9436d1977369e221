"""A person's clustering lives on: edits, additions and refits through the command line, checked against the truth.

The truth is worked out here, from what ``show --items`` says before and after, and from nothing that the reports use.
"""

import csv
import json
from collections import Counter

import numpy as np
import pytest

from manyview import datasets

from .test_command_line import run


def told(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def where(path):
    """Item -> cluster, by the items' own names."""
    return {item["key"]: item["cluster"] for item in told("show", path, "--items")["items"]}


def clusters(path):
    return {one["cluster"]: one for one in told("show", path)["clusters"]}


def tables(folder, n_old, n_new):
    """Two tables of emoji pictures, drawn so that every group of them is in both."""
    rows = datasets.unpack_emoji(folder)
    order = np.random.default_rng(5).permutation(len(rows))
    parts = {"old": order[:n_old], "new": order[n_old : n_old + n_new]}
    for name, chosen in parts.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, ["file", "tags"])
            table.writeheader()
            table.writerows({"file": rows[n]["file"], "tags": rows[n]["tags"]} for n in sorted(chosen.tolist()))
    return folder / "old.csv", folder / "new.csv"


def check_changes(report, before, after):
    """Every figure of a change report, counted anew."""
    both = before.keys() & after.keys()
    moved = {item for item in both if before[item] != after[item]}
    assert report["n_before"] == len(before) and report["n_after"] == len(after)
    assert report["n_new"] == len(after.keys() - before.keys()) and report["n_gone"] == len(
        before.keys() - after.keys()
    )
    assert (report["n_kept"], report["n_moved"]) == (len(both) - len(moved), len(moved))
    flows = Counter((before[item], after[item]) for item in moved)
    as_number = {None: -1}
    assert {(flow["from"], flow["to"]): flow["size"] for flow in report["flows"]} == {
        (as_number.get(a, a), as_number.get(b, b)): n for (a, b), n in flows.items()
    }
    sizes = [Counter(cluster for cluster in state.values() if cluster is not None) for state in (before, after)]
    assert set(report["opened"]) == sizes[1].keys() - sizes[0].keys()
    assert set(report["closed"]) == sizes[0].keys() - sizes[1].keys()
    assert {int(c): tuple(n) for c, n in report["sizes"].items()} == {
        c: (sizes[0][c], sizes[1][c]) for c in sizes[0].keys() | sizes[1].keys()
    }
    fresh = Counter(as_number.get(after[item], after[item]) for item in after.keys() - before.keys())
    assert {int(c): n for c, n in report["new_items"].items()} == fresh
    named = {mover["item"]: mover for mover in report["movers"]}
    assert len(named) == len(moved) and all(mover["sentence"] for mover in named.values())  # each one is explained
    for cluster in sizes[0]:
        stayed = [after[item] for item in both if before[item] == cluster and after[item] is not None]
        large = {c for c, n in Counter(stayed).items() if n >= 0.2 * len(stayed)}
        assert set(report["split"].get(str(cluster), [])) == (large if len(large) > 1 else set())
    for cluster in sizes[1]:
        whole = {
            c
            for c in sizes[0]
            if (rest := [after[i] for i in both if before[i] == c and after[i] is not None])
            and rest.count(cluster) > 0.5 * len(rest)
        }
        assert set(report["merged"].get(str(cluster), [])) == (whole if len(whole) > 1 else set())


def story(folder, n_old, n_new, k, other_k):
    old, new = tables(folder / "emoji", n_old, n_new)
    path = folder / "emoji.manyview"
    options = ("--image", "file", "--tags", "tags", "--root", folder / "emoji" / "images")
    run("init", old, "-o", path, *options)
    run("fit", path, "-k", k)
    first = where(path)
    found = clusters(path)
    assert len(first) == n_old and len(found) == k
    by_size = sorted(found, key=lambda one: -found[one]["size"])  # they are told the clearest first
    a, b, c, d, e = by_size[0], by_size[1], by_size[2], by_size[3], by_size[4]

    # rename two, merge two, pin one
    run("edit", path, "rename", a, "My favourites")
    run("edit", path, "rename", b, "Second best")
    run("edit", path, "merge", c, d, "--into", c)
    run("edit", path, "pin", e)
    edited = where(path)
    assert {item: (c if cluster == d else cluster) for item, cluster in first.items()} == edited
    now = clusters(path)
    assert now[a]["name"] == "My favourites" and now[b]["name"] == "Second best" and now[e]["pinned"]
    sizes = Counter(edited.values())
    assert {one: now[one]["size"] for one in now} == sizes == {one: now[one]["profile"]["size"] for one in now}
    members = {one: {item for item, cluster in edited.items() if cluster == one} for one in sizes}

    # add
    added = told("add", path, new, *options)
    grown = where(path)
    assert len(grown) == n_old + n_new and added["new"] == n_new
    check_changes(added["changes"], edited, grown)
    assert all(grown[item] == cluster for item, cluster in edited.items() if cluster is not None)  # nobody moved
    new_ones = [grown[item] for item in grown.keys() - edited.keys()]
    joined = [cluster for cluster in new_ones if cluster in sizes]
    assert added["joined"] == len(joined) and len(added["strangers"]) <= new_ones.count(None)
    assert added["sentence"].startswith(f"{n_new} new: {len(joined)} into {len(set(joined))} clusters")
    again = told("add", path)
    assert again["new"] == 0 and where(path) == grown
    after_add = clusters(path)
    assert (after_add[a]["name"], after_add[b]["name"]) == ("My favourites", "Second best")
    assert {one: after_add[one]["profile"]["size"] for one in after_add} == Counter(v for v in grown.values() if v)

    # refit with the same settings, then with others
    same = told("fit", path, "-k", k)
    refitted = where(path)
    check_changes(same["changes"], grown, refitted)
    kept = np.mean([refitted[item] == cluster for item, cluster in edited.items()])
    assert kept >= 0.9, kept
    other = told("fit", path, "-k", other_k)
    last = where(path)
    check_changes(other["changes"], refitted, last)
    final = clusters(path)
    for state, found in ((refitted, clusters(path)), (last, final)):
        assert members[e] <= {item for item, cluster in state.items() if cluster == e}  # the pin holds
        assert d not in state.values()  # the merge holds
        for one, name in ((a, "My favourites"), (b, "Second best")):
            if one in found:
                assert found[one]["name"] == name
    for one in (a, b):  # a name is where most of its items are, or the report says where they went
        mine = Counter(last[item] for item in members[one])
        if one in final:
            assert mine[one] > 0
        else:
            assert one in other["changes"]["closed"] + same["changes"]["closed"]
    assert {one: final[one]["size"] for one in final} == Counter(v for v in last.values() if v is not None)
    return path, {
        "kept": kept,
        "same": same["changes"]["lines"],
        "other": other["changes"]["lines"],
        "add": added["sentence"],
    }


@pytest.mark.slow  # a smaller one of the next, still eight seconds
def test_a_small_story(tmp_path):
    path, _ = story(tmp_path, 56, 16, 6, 7)
    done = told("history", path)["entries"]
    assert [entry["kind"] for entry in done] == ["fit", "rename", "rename", "merge", "pin", "add", "fit", "fit"]
    # in any order: what is left is what the last run says
    for entry in (4, 2, 5, 3):
        run("undo", path, entry)
    found = clusters(path)
    assert not any(one["pinned"] or one["named"] for one in found.values())
    for item in told("show", path, "--items")["items"]:
        assert found[item["cluster"]]["label"] == item["label"]


@pytest.mark.slow  # looks at 1,849 pictures
def test_the_whole_story(tmp_path):
    _, figures = story(tmp_path, 1200, 649, 24, 30)
    assert figures["kept"] >= 0.93, figures  # half as many again came in between
