"""Sort by year, look at June 2019, merge Cat and cats, write back, undo: as a person does it on the command line."""

import json
import shutil
import subprocess

import pytest
from PIL import Image

from manyview.ingest.sidecar import read_sidecar
from manyview.writeback.editor import Edit, new_document
from tests.cli.test_tags import ask, run

PHOTOS = {
    "garden.jpg": ("2019:06:14 12:03:04", ["Cat", "garden"]),
    "sofa.jpg": ("2019:06:20 09:00:00", ["cats"]),
    "beach.jpg": ("2019:08:01 10:00:00", ["sea"]),
    "old.jpg": ("2016:01:01 08:00:00", ["cats", "sea"]),
    "new.jpg": ("2021:05:05 08:00:00", []),
}


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for n, (name, (taken, words)) in enumerate(PHOTOS.items()):
        exif = Image.Exif()
        exif.get_ifd(0x8769)[0x9003] = taken
        Image.new("RGB", (32, 32), (50 * n, 100, 200 - 40 * n)).save(folder / name, exif=exif)
        if words:
            (folder / f"{name}.xmp").write_bytes(new_document(Edit(tuple(words))))
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_story(photos, tmp_path):
    path, before = tmp_path / "photos.manyview", contents(photos)
    run("init", photos, "-o", path)
    run("fit", path, "--method", "rmkmc", "-k", 2, "--view", "color_moments")
    everything = ask("show", path, "--order", "date")["items"]
    assert [row["key"] for row in everything] == ["old.jpg", "garden.jpg", "sofa.jpg", "beach.jpg", "new.jpg"]
    assert "matched by" not in run("show", path, "--search", "date:2019-06")
    june = ask("show", path, "--search", "date:2019-06", "--order", "date")["items"]
    assert [(row["key"], row["taken"]) for row in june] == [
        ("garden.jpg", "2019-06-14T12:03:04"),
        ("sofa.jpg", "2019-06-20T09:00:00"),
    ]
    assert ["cats", "Cat"] in [one["tags"] for one in ask("tags", path)["kin"]]
    trial = ask("tags", path, "merge", "cats", "--into", "Cat", "--dry-run")
    done = ask("tags", path, "merge", "cats", "--into", "Cat")
    assert (trial["items"], trial["files"], trial["entry"]) == (2, 2, None) and done["items"] == 2
    assert len(ask("show", path, "--search", "tag:Cat")["items"]) == 3
    shown = run("apply", path, "--dry-run")
    assert shown.count("  + Cat") == 2 and shown.count("  - cats") == 2  # each word once
    assert "2 tags would be put into, 2 would be taken out of 2 sidecars" in shown
    written = ask("apply", path)
    assert {entry.name for entry in photos.iterdir()} == set(before)
    said = {
        name: sorted(read_sidecar(str(photos / f"{name}.xmp")).tags) for name in ("garden.jpg", "sofa.jpg", "old.jpg")
    }
    assert said == {"garden.jpg": ["Cat", "garden"], "sofa.jpg": ["Cat"], "old.jpg": ["Cat", "sea"]}
    if shutil.which("exiftool"):
        told = subprocess.run(
            [
                shutil.which("exiftool"),
                "-j",
                "-Subject",
                "-HierarchicalSubject",
                "-TagsList",
                str(photos / "sofa.jpg.xmp"),
            ],
            capture_output=True,
            check=True,
            text=True,
        )
        lists = json.loads(told.stdout)[0]
        assert lists["Subject"] == lists["HierarchicalSubject"] == lists["TagsList"] == ["Cat"] or set(
            map(str, (lists["Subject"], lists["HierarchicalSubject"], lists["TagsList"]))
        ) == {"Cat"}
    run("undo", path, written["entry"])
    assert contents(photos) == before
    run("undo", path, done["entry"])
    assert len(ask("show", path, "--search", "tag:Cat")["items"]) == 1
    assert "no sidecar needs writing" in run("apply", path, "--dry-run") and contents(photos) == before
