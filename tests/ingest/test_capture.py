"""When, where and with what pictures were taken."""

import io
import os
import shutil
import struct
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from manyview import Collection
from manyview.files import sniff
from manyview.ingest.capture import clip_time, exif_time, item_fields, xmp_time
from manyview.ingest.keywords import read_keywords

from . import makers as m
from .raw_makers import RAWS

EXIF = {
    "taken": "2019-06-14T12:03:04.25+02:00",
    "taken_from": "file",
    "camera": "Canon EOS 80D",
    "lens": "EF50mm f/1.8 STM",
    "latitude": 48.1375,
    "longitude": -11.575,
}


def fields(content, sidecars=(), mtime_ns=0):
    kind = sniff(content[:4096])
    said = read_keywords(io.BytesIO(content), kind.format)
    return item_fields([one for part in sidecars for one in part.captures], said.captures, mtime_ns)


def pillow_exif():
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = "Canon", "Canon EOS 80D"
    inner = exif.get_ifd(0x8769)
    inner |= {0x9003: "2019:06:14 12:03:04", 0x9291: "250", 0x9011: "+02:00", 0xA434: "EF50mm f/1.8 STM"}
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 8.0, 15.0), 3: "W", 4: (11.0, 34.0, 30.0)})
    return exif


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_exif_by_pillow(kind):
    assert fields(m.encoded(kind, exif=pillow_exif())) == EXIF


def test_exif_in_an_item_of_its_own_is_found_by_its_mark():
    held = pillow_exif().tobytes()
    assert held.startswith(b"Exif\0\0")
    heic = m.box(b"ftyp", b"heic\0\0\0\0heic") + m.box(b"mdat", b"\0\0\0\6" + held)
    assert fields(heic) == EXIF


@pytest.mark.parametrize("kind", RAWS)
def test_raw_photographs_say_how_they_were_taken(kind):
    expected = {"taken": "2019-06-14T12:03:04", "taken_from": "file", "camera": "Maker One"}
    if kind == "cr3":
        expected |= {"latitude": 48.25, "longitude": 11.5}
    assert fields(RAWS[kind]()) == expected


@pytest.mark.skipif(shutil.which("exiftool") is None, reason="no exiftool")
def test_exif_xmp_and_sidecars_by_exiftool(tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes(m.encoded("JPEG"))

    def write(name, *arguments):
        subprocess.run(["exiftool", "-q", "-overwrite_original", *arguments, tmp_path / name], check=True)

    (tmp_path / "d.tif").write_bytes(m.encoded("TIFF"))
    taken = (
        "-EXIF:DateTimeOriginal=2019:06:14 12:03:04",
        "-EXIF:SubSecTimeOriginal=25",
        "-EXIF:OffsetTimeOriginal=+02:00",
        "-EXIF:Make=Canon",
        "-EXIF:Model=Canon EOS 80D",
        "-EXIF:LensModel=EF50mm f/1.8 STM",
        "-EXIF:GPSLatitude=48.1375",
        "-EXIF:GPSLatitudeRef=N",
        "-EXIF:GPSLongitude=11.575",
        "-EXIF:GPSLongitudeRef=W",
    )
    for name in ("a.jpg", "d.tif"):
        write(name, *taken)
        assert fields((tmp_path / name).read_bytes()) == EXIF
    other = tmp_path / "b.jpg"
    other.write_bytes(m.encoded("JPEG"))
    write(
        "b.jpg",
        "-XMP-exif:DateTimeOriginal=2019:06:14 12:03:04.25+02:00",
        "-XMP-tiff:Make=NIKON CORPORATION",
        "-XMP-tiff:Model=NIKON D90",
        "-XMP-aux:Lens=18-105 mm",
        "-XMP-exif:GPSLatitude=-33.857",
        "-XMP-exif:GPSLongitude=151.215",
    )
    found = fields(other.read_bytes())
    assert found == {
        "taken": "2019-06-14T12:03:04.25+02:00",
        "taken_from": "file",
        "camera": "NIKON D90",
        "lens": "18-105 mm",
        "latitude": -33.857,
        "longitude": 151.215,
    }
    write("a.jpg.xmp", "-XMP-photoshop:DateCreated=1998:05", "-XMP-xmp:CreateDate=2024:01:01 00:00:00")
    os.utime(other, (1_600_000_000, 1_600_000_000))
    (tmp_path / "c.png").write_bytes(m.encoded("PNG"))
    os.utime(tmp_path / "c.png", (1_600_000_000, 1_600_000_000))
    with Collection.create(tmp_path / "c.manyview", tmp_path) as collection:
        by_key = dict(zip([item.key for item in collection.items], collection.items.fields(), strict=True))
    assert by_key["a.jpg"] == {**EXIF, "taken": "1998-05", "taken_from": "sidecar"}  # where somebody put it right
    assert by_key["b.jpg"] == found
    assert by_key["c.png"] == {"taken": "2020-09-13T12:26:40+00:00", "taken_from": "time of the file"}


def test_what_an_older_version_did_not_read_is_read_once(tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.jpg").write_bytes(m.encoded("JPEG", exif=pillow_exif()))
    with Collection.create(tmp_path / "c.manyview", tmp_path / "p") as collection:
        collection.decide([(1, "dog")], True)
        collection._catalog.run("UPDATE items SET fields = NULL")
        collection._catalog.run("DELETE FROM item_tags")
        report = collection.read(tmp_path / "p")
        assert report.n_same == 1 and report.n_changed == 0
        assert collection.items.fields() == [EXIF] and collection.tagging.words_of(1) == ["dog"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("2019:06:14 12:03:04", "2019-06-14T12:03:04"),
        ("2019-06-14T12:03:04.2500Z", "2019-06-14T12:03:04.25+00:00"),
        ("2019-06-14T12:03+0530", "2019-06-14T12:03:00+05:30"),
        ("2019-06-14", "2019-06-14"),
        ("2019-06", "2019-06"),
        ("2019", "2019"),
        ("0000:00:00 00:00:00", None),
        ("2019:02:30 10:00:00", None),
        ("2019:06:14 25:00:00", None),
        ("    :  :     :  :  ", None),
        ("last summer", None),
        ("", None),
    ],
)
def test_dates(text, kept):
    assert xmp_time(text) == kept


def test_odd_parts_of_exif_times_are_left_out():
    assert exif_time("2019:06:14 12:03:04", "  ", "somewhere") == "2019-06-14T12:03:04"
    assert exif_time("2019:06:14 12:03:04", "007", "-08:00") == "2019-06-14T12:03:04.007-08:00"
    assert exif_time("", "25", "+02:00") is None


def test_the_header_of_a_clip():
    seconds = 2_082_844_800 + 1_562_932_984  # from 1904 to 1970, and from there
    moov = m.box(b"moov", m.box(b"mvhd", b"\0\0\0\0" + struct.pack(">I", seconds) + bytes(92)))
    assert fields(m.mp4(moov))["taken"] == clip_time(seconds) == "2019-07-12T12:03:04+00:00"
    wide = m.box(b"moov", m.box(b"mvhd", b"\1\0\0\0" + struct.pack(">Q", seconds) + bytes(104)))
    assert fields(m.mp4(wide))["taken"] == clip_time(seconds)
    assert fields(m.mp4(m.box(b"moov", m.box(b"mvhd", bytes(100)))))["taken_from"] == "time of the file"


def test_damaged_facts_cost_no_keywords():
    whole = pillow_exif()
    whole[0x9C9E] = "sea;sun".encode("utf-16-le")
    content = whole.tobytes()
    for at in range(14, len(content)):  # any byte of it
        broken = content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]
        read_keywords(io.BytesIO(m.jpeg(m.app(1, broken))), "jpeg")
    entry = (
        content.find(struct.pack("<H", 0x0110)) if content[6:8] == b"II" else content.find(struct.pack(">H", 0x0110))
    )
    broken = content[: entry + 8] + b"\xff\xff\xff\x7f" + content[entry + 12 :]
    said = read_keywords(io.BytesIO(m.jpeg(m.app(1, broken))), "jpeg")
    assert said.tags == ["sea", "sun"] and said.notes == []
    assert item_fields([], said.captures, 0)["camera"] == "Canon"


def test_positions_that_cannot_be():
    exif = pillow_exif()
    exif.get_ifd(0x8825)[2] = (148.0, 0.0, 0.0)
    assert "latitude" not in fields(m.encoded("JPEG", exif=exif))
    exif.get_ifd(0x8825).update({2: (0.0, 0.0, 0.0), 4: (0.0, 0.0, 0.0)})  # a receiver that knows nothing
    assert "latitude" not in fields(m.encoded("JPEG", exif=exif))


@given(st.text(max_size=30))
def test_any_text_is_a_date_or_none(text):
    kept = xmp_time(text)
    assert kept is None or xmp_time(kept) == kept
