"""Keywords between manyview and the programs people keep their pictures in: exiftool, exiv2, darktable, and Immich's
rule.

Forty pictures with keywords in nine conventions; proposals are accepted and applied; every program must then know the
old words and the new one, and undo must give every byte back.
"""

import json
import os
import shutil
import sqlite3
import subprocess

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from tests.writeback.test_write_back import snapshot

pytestmark = pytest.mark.slow

OLD = {"holiday", "sea", "rome"}
NEW = "boat"
_DC = ("-XMP-dc:Subject=holiday", "-XMP-dc:Subject=sea", "-XMP-dc:Subject=Rome")
_LR = ("-XMP-lr:HierarchicalSubject=holiday", "-XMP-lr:HierarchicalSubject=Nature|sea")
_LR += ("-XMP-lr:HierarchicalSubject=Places|Italy|Rome",)
_DIGIKAM = ("-XMP-digiKam:TagsList=holiday", "-XMP-digiKam:TagsList=Nature/sea")
_DIGIKAM += ("-XMP-digiKam:TagsList=Places/Italy/Rome",)
_IPTC = ("-IPTC:Keywords=holiday", "-IPTC:Keywords=sea", "-IPTC:Keywords=Rome")
CONVENTIONS = {  # what exiftool writes, and where: into the picture (""), or into a sidecar
    "IPTC": ("", _IPTC),
    "dc": ("", _DC),
    "Lightroom": ("", (*_DC, *_LR)),
    "digiKam": ("", (*_DIGIKAM, *_DC, *_IPTC)),
    "sidecar a.jpg.xmp": (".jpg.xmp", _DC),
    "sidecar a.xmp": (".xmp", (*_DC, *_LR)),
    "XPKeywords": ("", ("-EXIF:XPKeywords=holiday;sea;Rome",)),
    "TagsList alone": ("", _DIGIKAM),
    "hierarchicalSubject alone": ("", _LR),
}


def program(name):
    """The path of another program; without it the test is skipped, or fails where such programs are required."""
    found = shutil.which(name)
    if found is None:
        missing = f"{name} is not installed, so what it makes of our sidecars was not tried"
        if os.environ.get("MANYVIEW_PROGRAMS") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    return found


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """The forty pictures as their owner has them."""
    exiftool = program("exiftool")
    folder = tmp_path_factory.mktemp("forty") / "pictures"
    folder.mkdir()
    by_convention = {name: [] for name in CONVENTIONS}
    for n in range(40):
        convention = list(CONVENTIONS)[n % len(CONVENTIONS)]
        pixels = np.random.default_rng(n).integers(0, 255, (24, 32, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{n:02}.jpg")
        by_convention[convention].append(n)
    for name, numbers in by_convention.items():
        ending, words = CONVENTIONS[name]
        files = [str(folder / f"{n:02}{ending or '.jpg'}") for n in numbers]
        for part in [files] if not ending else [[one] for one in files]:
            output(exiftool, "-q", "-overwrite_original", *words, *part)
    return folder


@pytest.fixture(scope="module")
def applied(before, tmp_path_factory):
    """A collection of the pictures after a proposal for each was accepted and applied."""
    tmp_path = tmp_path_factory.mktemp("applied")
    folder = tmp_path / "pictures"
    shutil.copytree(before, folder)
    with Collection.create(tmp_path / "c.manyview", folder) as collection:
        for item in collection.items.ids:
            assert {word.casefold() for word in collection.tagging.words_of(item)} == OLD, item
        tag = collection.tagging.numbers([NEW])[NEW]
        rows = [(int(item), tag, 0.95, 0.95, [], 0.9, 0.0) for item in collection.items.ids]
        collection.runs.save_proposals("combined", rows, figures={"tags_per_item": 3.0, "said": []})
        collection.accept(min_probability=0.9)
        done = collection.apply()
        assert done.failed == [] and sum(len(change.edit.add) for change in done.changes) == 40
        collection.folder = folder
        yield collection


def leaves(values, separator):
    return {str(value).split(separator)[-1].casefold() for value in values}


def sidecar_of(folder, n):
    """The sidecar that programs take: that of the whole name before that of the stem."""
    names = (f"{n:02}.jpg.xmp", f"{n:02}.xmp")
    return next(folder / name for name in names if (folder / name).exists())


@pytest.fixture(scope="module")
def read_by_exiftool(applied):
    """Name of a file -> property -> values, as exiftool reads them."""
    asked = ("-XMP-dc:Subject", "-TagsList", "-HierarchicalSubject", "-IPTC:Keywords")
    found = json.loads(output(program("exiftool"), "-j", *asked, "-ext", "jpg", "-ext", "xmp", str(applied.folder)))
    return {
        os.path.basename(one.pop("SourceFile")): {
            name: value if isinstance(value, list) else [value] for name, value in one.items()
        }
        for one in found
    }


def test_an_archive_of_any_convention_comes_in_tagged_and_goes_back(applied, before):
    assert snapshot(applied.folder) != snapshot(before)
    applied.undo()
    assert snapshot(applied.folder) == snapshot(before)
    assert len(applied.apply().changes) == 40


def test_exiftool_lists_old_and_new_words(applied, read_by_exiftool):
    for n in range(40):
        found = read_by_exiftool[sidecar_of(applied.folder, n).name]
        assert leaves(found["Subject"], "|") == OLD | {NEW}
        assert leaves(found["HierarchicalSubject"], "|") == OLD | {NEW}
        assert leaves(found["TagsList"], "/") == OLD | {NEW}


def test_exiv2_lists_old_and_new_words(applied):
    exiv2 = program("exiv2")
    for n in range(40):
        sidecar = sidecar_of(applied.folder, n)
        for key, separator in (
            ("Xmp.dc.subject", "|"),
            ("Xmp.lr.hierarchicalSubject", "|"),
            ("Xmp.digiKam.TagsList", "/"),
        ):
            shown = output(exiv2, "-q", "-K", key, "-Pv", "print", str(sidecar)).strip().split(", ")
            assert leaves(shown, separator) == OLD | {NEW}, (sidecar, key)
        kind = output(exiv2, "-q", "-K", "Xmp.digiKam.TagsList", "-Py", "print", str(sidecar)).split()
        assert kind == ["XmpSeq"]  # digiKam reads no other kind


def test_darktable_knows_old_and_new_words(applied, tmp_path):
    darktable = program("darktable-cli")
    own = tmp_path / "darktable"
    (own / "out").mkdir(parents=True)
    library = own / "library.db"
    folders = ("--configdir", str(own / "conf"), "--cachedir", str(own / "cache"), "--library", str(library))
    settings = ("--conf", "write_sidecar_files=never")
    output(darktable, str(applied.folder), str(own / "out"), "--out-ext", "jpg", "--core", *folders, *settings)
    with sqlite3.connect(library) as catalog:
        catalog.execute("ATTACH ? AS data", (str(own / "conf" / "data.db"),))
        rows = catalog.execute(
            "SELECT filename, name FROM images JOIN tagged_images ON imgid = images.id "
            "JOIN data.tags AS tags ON tags.id = tagid WHERE name NOT LIKE 'darktable|%'"
        ).fetchall()
    catalog.close()
    for n in range(40):
        known = leaves([tag for name, tag in rows if name == f"{n:02}.jpg"], "|")
        assert known == OLD | {NEW}, (list(CONVENTIONS)[n % len(CONVENTIONS)], known)


def test_immich_would_show_old_and_new_words(applied, read_by_exiftool):
    """Its rule, as its source states it: what the sidecar says of a property stands for what the picture says of it,
    then the first of TagsList, HierarchicalSubject and Keywords is taken, and no other."""
    for n in range(40):
        merged = {**read_by_exiftool[f"{n:02}.jpg"], **read_by_exiftool[sidecar_of(applied.folder, n).name]}
        taken = next(name for name in ("TagsList", "HierarchicalSubject", "Keywords") if name in merged)
        assert leaves(merged[taken], "/") == OLD | {NEW}, n
