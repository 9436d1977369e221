"""Make a golden collection: a small one that holds something of everything, to be opened by every later version.

Run once for each format, by the version that writes it: ``python -m tests.golden.make FOLDER`` leaves
``format-N.tar.xz`` and ``format-N.json`` (what has to be found in it) there. What was released is never made again.
"""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
from pathlib import Path

from PIL import Image, ImageDraw

from manyview import Collection
from manyview.collection.layout import FORMAT
from manyview.workflow.evaluate import evaluate
from manyview.workflow.reading.map_layout import make_map

from ..collection.samples import sidecar

PLACE = Path("/srv/ada")
"""Where the pictures were: a place that is not there when the collection is opened, like a disk that is away."""
COLOURS = {"red": (210, 40, 30), "green": (40, 170, 60), "blue": (40, 70, 210)}
SHAPES = ("ellipse", "rectangle")


def draw(folder: Path) -> Path:
    """Thirty little pictures of three colours and two shapes; two thirds have keywords in a sidecar."""
    pictures = folder / "pictures"
    for number in range(30):
        colour, shape = list(COLOURS)[number % 3], SHAPES[number // 3 % 2]
        at = pictures / colour / f"{shape}-{number:02}.png"
        at.parent.mkdir(parents=True, exist_ok=True)
        image = Image.new("RGB", (32, 32), (240, 240, 235))
        box = (4 + number % 5, 6, 24 + number % 4, 27)
        getattr(ImageDraw.Draw(image), shape)(box, fill=COLOURS[colour])
        image.save(at)
        if number % 3 != number // 10:
            at.with_name(f"{at.name}.xmp").write_text(sidecar(colour, shape, "drawing"), encoding="utf-8")
    (pictures / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nand then nothing")
    (pictures / "notes.txt").write_text("Red, green and blue drawings of round and square things.\n")
    return pictures


def live(collection: Collection) -> None:
    """Use every part of it once."""
    collection.fit(n_clusters=3, seed=0)
    collection.fit("rmkmc", n_clusters=3, seed=0)
    clusters = sorted({row.id for row in collection.runs.clusters(collection.runs.get().id)})
    ids = collection.items.ids.tolist()
    collection.edit("rename", clusters[0], "First of all")
    collection.edit("pin", clusters[0])
    collection.edit("move", ids[-3:-1], None, name="Odd ones")
    collection.edit("link", ids[0], ids[3], True)
    collection.edit("link", ids[1], ids[5], False)
    taken_back = collection.edit("merge", clusters[1:3])
    collection.undo(taken_back)
    collection.suggest(seed=0)
    proposed = collection.runs.proposals()
    collection.accept([(one.item_id, one.tag) for one in proposed[:3]], who="ada", why="seen")
    collection.reject([(one.item_id, one.tag) for one in proposed[3:5]], who="ada")
    collection.undo(collection.accept([(ids[0], "mistake")], who="ada"))
    collection.apply("xmp")
    make_map(collection)
    evaluate(collection, hide_tags=0.4)


def told(collection: Collection) -> dict[str, object]:
    """What a person would miss if it were not there."""
    living, tags = collection.living, collection.tags
    run = collection.runs.get()
    standing = living.standing(run.id)
    return {
        "items": {str(item.id): item.key for item in collection.items},
        "tags": {str(number): sorted(tags.words_of(row)) for row, number in enumerate(collection.items.ids)},
        "views": {name: list(collection.views([name])[name].shape) for name in collection.view_names},
        "runs": [[one.id, one.kind, one.method] for one in collection.runs],
        "clusters": {str(item): int(c) for item, c in zip(standing.ids, standing.clusters, strict=True)},
        "names": {str(number): list(said) for number, said in living.said().items()},
        "placed": {str(item): cluster for item, cluster in living.placed().items()},
        "held": {str(item): cluster for item, cluster in living.held().items()},
        "links": [list(row) for row in living.link_rows()],
        "history": [[entry.id, entry.kind, entry.summary, entry.undone_by] for entry in collection.history],
        "proposals": len(collection.runs.proposals()),
    }


def main(folder: Path) -> None:
    source = draw(PLACE)
    target = folder / f"format-{FORMAT}.manyview"
    with Collection.create(target, source) as collection:
        live(collection)
        facts = told(collection)
    with tarfile.open(folder / f"format-{FORMAT}.tar.xz", "w:xz") as pack:
        for part, name in ((target, "golden.manyview"), (source, "pictures")):
            pack.add(part, name, filter=lambda entry: entry.replace(uid=0, gid=0, uname="", gname="", deep=False))
    (folder / f"format-{FORMAT}.json").write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
    shutil.rmtree(target)
    shutil.rmtree(PLACE)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
