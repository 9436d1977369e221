"""The questions of ``search.json``, and a collection of its items."""

import csv
import json
from pathlib import Path

import numpy as np

from manyview import Collection
from manyview.workflow.clusters.edits import rename
from manyview.workflow.proposing.decide import add_tag

from .untagged import collection_of

TABLE = json.loads(Path(__file__).with_name("search.json").read_text(encoding="utf-8"))


def make_collection(folder):
    """The six items of the table: five with tags or words, one bare; two clusters; names in several scripts."""
    items = TABLE["items"]
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "caption", "words", "taken", "camera", "lens", "latitude", "longitude"])
        for one in items:
            told = [one["taken"], one["camera"], one.get("lens", ""), *(one["place"] or ["", ""])]
            rows.writerow([one["name"], one["text"], ";".join(one["tags"]), *told])
    found = Collection.create(folder / "t.manyview", folder / "t.csv", id="id", text="caption", tags="words")
    sure = [float("nan") if one["confidence"] is None else one["confidence"] for one in items]
    found.save_run("rmkmc", np.array([one["cluster"] for one in items]), confidence=sure)
    return found


def make_pictures(folder):
    """The pictures of the table: six each of three words, two with tags; all in one cluster."""
    pictures = TABLE["pictures"]
    made = collection_of(folder, tuple(pictures["shows"]), n=pictures["of_each"], noise=0.2)
    for name, tags in pictures["tags"].items():
        for tag in tags:
            add_tag(made, [made.items.named(name).id], tag)
    made.save_run("rmkmc", np.zeros(len(made.items), dtype=np.int64))
    return made


def say_the_rest(made):
    """What the table says besides: names of clusters, and what is proposed."""
    for cluster, name in TABLE["cluster_names"].items():
        rename(made, int(cluster), name)
    for tag, above in TABLE["below"].items():
        made.edit_tags("parent", tag, above)
    waiting = [(made.items.named(name).id, made.tagging.find(tag)) for name, tag in TABLE["proposed"]]
    made.runs.save_proposals("by hand", [(item, tag, 0.5, 0.5, {"sentence": "as before"}) for item, tag in waiting])
