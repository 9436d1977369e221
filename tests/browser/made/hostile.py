"""A collection of strangers' words: every place for words holds a hundred that try to become part of the page."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
from pathlib import Path

import numpy as np
from PIL import Image

from manyview import Collection
from manyview.collection.proposals import NewProposal
from manyview.workflow.clusters import edits
from manyview.workflow.clusters.living import current_clusters, refresh_profiles
from manyview.workflow.clusters.state import State
from manyview.workflow.reading.map_layout import make_map

from ...ingest.makers import app, app1_xmp, app13, exif, iim, jpeg, xmp

OPENERS = ["", '"', "'", "`", "</title>", "</style>", "</script>", "-->", "]]>", "&quot;"]
BODIES = [
    "<img data-evil src=x onerror=alert(1)>",
    "<script data-evil>alert(1)</script>",
    "<svg data-evil onload=alert(1)>",
    "<iframe data-evil src=javascript:alert(1)>",
    "{@html '<b data-evil onmouseover=alert(1)>'}",
    "${alert(1)}<input data-evil autofocus onfocus=alert(1)>",
    "<a data-evil href=javascript:alert(1)>x</a>",
    "<style data-evil>*{background:url(//evil.example/x)}</style>",
    "<math data-evil><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "\u202e<object data-evil data=//evil.example/>",
]
PAYLOADS = [f"{opener}{body}" for opener in OPENERS for body in BODIES]
N = len(PAYLOADS)
FILES = ("file", "iptc", "xmp", "exif", "sidecar", "text")
TABLE = ("name", "tag", "caption", "column", "cell", "view")
PLACES = (*FILES, *TABLE, "cluster")
ARCHIVE = ("id", "word", "class", "array")
"""What a file of features brings: names of rows, tags, classes and matrices."""
_SVG = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><script>alert(1)</script></svg>"
NO_PICTURES = {
    "a.svg": _SVG,
    "b.svg": b"<?xml version='1.0'?><!DOCTYPE svg>" + _SVG,
    "c.svgz": gzip.compress(_SVG, mtime=0),
    "d.jpg": _SVG,
    "e.png": b"\xef\xbb\xbf" + _SVG,
    "f.html": b"<!doctype html><script>alert(1)</script>",
    "g.gif": b"<!doctype html><script>alert(1)</script>",
    "h.xhtml": b"<html xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></html>",
    "i.webp": b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></html>",
    "j.xml": b"<?xml version='1.0'?><?xml-stylesheet href='a.svg'?><x onload='alert(1)'/>",
}
"""SVG, HTML and XML, given as pictures: by a folder, and by a table that says they are."""


def evil(place: str, number: int) -> str:
    """A payload, and the place it was put at."""
    return f"{place}{number % N:02d} {PAYLOADS[number % N]}"


def ten(place: str, number: int) -> list[str]:
    """Ten of the hundred, so that ten items show all."""
    return [evil(place, number * 10 + n) for n in range(10)]


def make_hostile(folder: Path) -> Path:
    """Pictures with hostile names and metadata, a table and features; two runs, proposals, a map and a history."""
    path = folder / "hostile.manyview"
    with Collection.create(path, _pictures(folder / "pictures")) as collection:
        features = _features(folder / "features")
        columns = {"id": "name", "text": "caption", "tags": "tags", "tag_sep": "|", "root": folder / "pictures"}
        collection.read(_table(folder / "items.csv"), **columns, features=features)
        collection.read(_archive(folder / "features"))
        _show(collection)
        _fit(collection)
        _propose(collection)
        refresh_profiles(State(collection))
        for number, cluster in enumerate(current_clusters(collection)):
            edits.rename(collection, cluster.id, evil("cluster", number))
        make_map(collection)
    return path


def _pictures(folder: Path) -> Path:
    for number in range(N):
        place = folder / f"{evil('file', number)}.jpg"  # a slash in it makes a folder
        place.parent.mkdir(parents=True, exist_ok=True)
        iptc = [word.encode() for word in ten("iptc", number)]
        place.write_bytes(
            jpeg(
                app(1, b"Exif\0\0" + exif(";".join(ten("exif", number)))),
                app1_xmp(xmp(*ten("xmp", number))),
                app13(iim(*iptc, utf8=True)),
            )
        )
        place.with_name(f"{place.name}.xmp").write_bytes(xmp(*ten("sidecar", number)))
        (folder / f"note {number}.txt").write_text("\n".join(ten("text", number)), encoding="utf-8")
    for name, content in NO_PICTURES.items():
        (folder / name).write_bytes(content)
    return folder


def _table(path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "caption", "tags", "image", *(evil("column", number) for number in range(N))])
        for row, picture in itertools.zip_longest(range(N), NO_PICTURES, fillvalue=""):
            cells = [evil("cell", row + number) for number in range(N)]
            caption, tags = "\n".join(ten("caption", row)), "|".join(ten("tag", row))
            writer.writerow([evil("name", row), caption, tags, picture, *cells])
    return path


def _features(folder: Path) -> dict[str, Path]:
    """A file for each view, both with hostile names."""
    folder.mkdir()
    draw = np.random.default_rng(0)
    found = {}
    for number in range(N):
        name = evil("view", number)
        found[name] = folder / f"{name.replace('/', chr(0x2215))}.npy"
        np.save(found[name], draw.normal(size=(N, 2)).astype(np.float32))
    return found


def _archive(folder: Path) -> Path:
    path = folder / f"{PAYLOADS[0]}.npz"
    draw = np.random.default_rng(1)
    words = {name: np.array([evil(name, number) for number in range(N)]) for name in ("id", "word", "class")}
    tags = np.array([[column // 10 == row % 10 for column in range(N)] for row in range(N)], dtype=np.uint8)
    views = {f"view_{evil('array', number)}".replace("/", "\u2215"): draw.normal(size=(N, 2)) for number in range(10)}
    with path.open("wb") as file:
        arrays = {"ids": words["id"], "tag_names": words["word"], "class_names": words["class"]}
        np.savez(file, tags=tags, y=np.arange(N), **arrays, **views)
    return path


def _show(collection: Collection) -> None:
    held = io.BytesIO()
    Image.new("RGB", (8, 6)).save(held, "JPEG")
    collection.thumbs.add({item.id: held.getvalue() for item in collection.items if item.kind == "picture"})


def _fit(collection: Collection) -> None:
    n = len(collection.items)
    views = list(collection.view_names)
    for seed in range(2):
        collection.save_run(
            evil("method", seed),
            (np.arange(n) + seed * (np.arange(n) % 3 == 0)) % N,
            settings={"seed": seed, "views": views, evil("setting", 0): evil("setting", 1)},
            views=dict.fromkeys(views[:3], "file"),
            confidence=np.linspace(0, 1, n),
            figures={"n_clusters": N, "view_weights": dict.fromkeys(views, 0.5), "said": [evil("said", 0)]},
            seconds=0.1,
        )


def _propose(collection: Collection) -> None:
    words = [evil("tag", number) for number in range(N)]
    reason = [["view", evil("view", number), 0.5, [1, 2]] for number in range(5)]
    numbers = [collection.tagging.number(word) for word in words]
    collection.runs.save_proposals(
        evil("method", 2),
        [NewProposal(item, numbers[n % N], 0.5, 0.9, reason) for n, item in enumerate(collection.items.ids.tolist())],
    )
