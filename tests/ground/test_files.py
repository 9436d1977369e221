import io
import os
import struct

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from manyview.features import DecodePool
from manyview.features.opening import _opening
from manyview.features.opening.decode import BadFile as BadOutcome
from manyview.files import DOCUMENTS, PICTURES, STARTS, VIDEOS, BadFile, Kind, open_regular, sniff
from manyview.ingest.folder import recognise
from manyview.raw_previews import RAW_FORMATS


def bmp(reserved=b"\0\0\0\0", size=None):
    held = io.BytesIO()
    Image.new("RGB", (5, 3), "teal").save(held, "BMP")
    content = bytearray(held.getvalue())
    content[6:10] = reserved
    if size is not None:
        content[14:18] = struct.pack("<I", size)
    return bytes(content)


@pytest.mark.parametrize("reserved", [b"\0\0\0\0", b"Hi!\n", b"\xff\xff\xff\xff", b"\x01\0\0\0"])
def test_what_stands_in_the_reserved_bytes_of_a_bmp_does_not_matter(reserved, tmp_path):
    assert sniff(bmp(reserved)) == Kind("picture", "bmp")
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.bmp").write_bytes(bmp(reserved))
    with Collection.create(tmp_path / "c.manyview", folder) as collection:
        assert [item.format for item in collection.items] == ["bmp"] and not collection.last_report.bad


@pytest.mark.parametrize("size", [12, 16, 40, 52, 56, 64, 108, 124])
def test_every_header_a_bmp_ever_had(size):
    assert sniff(bmp(size=size)) == Kind("picture", "bmp")


@pytest.mark.parametrize(
    "text",
    [
        b"BMW and other cars, a list of them",
        b"BM\0\0\0\0\0\0\0\0 and then some words that follow",
        "BM, mit Umlauten: äöü und noch mehr".encode("utf-16-le"),
        b"BM",
        b"BM" + bytes(40),
        bmp(size=41),
    ],
)
def test_what_only_begins_with_the_same_letters_is_no_bmp(text):
    assert sniff(text) is None


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"II\x1a\0\0\0HEAPCCDR", "Canon CRW"),
        (b"FOVb\2\0\2\0", "Sigma X3F"),
        (b"\0MRM\0\0\0\0", "Minolta MRW"),
    ],
)
def test_raw_photographs_are_named_with_what_to_do(head, name, tmp_path):
    with pytest.raises(BadFile):
        sniff(head)
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.raw").write_bytes(head + bytes(100))
    with Collection.create(tmp_path / "c.manyview", folder) as collection:
        (problem,) = collection.last_report.bad
        assert (problem.path, problem.reason) == ("a.raw", "unsupported") and not list(collection.items)
        assert f"raw photograph ({name})" in problem.sentence and "Convert it to JPEG" in problem.sentence


@pytest.fixture
def chosen(monkeypatch):
    """What the child would open a file as, without opening it."""
    monkeypatch.setattr(_opening, "find_preview", lambda file, format: b"a JPEG")
    monkeypatch.setattr(_opening, "_clip", lambda file, limits: "video")
    monkeypatch.setattr(
        _opening, "_picture", lambda file, limits, format="", **_: {"heif": "heif"}.get(format, "picture")
    )
    return lambda head, name: _opening._answer(io.BytesIO(head), name, {})


@pytest.mark.parametrize(("head", "kind"), STARTS, ids=lambda part: part.format if isinstance(part, Kind) else "")
def test_what_a_folder_takes_is_what_the_child_opens_whatever_it_is_called(head, kind, chosen):
    for name in ("a", *(f"a.{ending.upper()}" for ending in (*PICTURES, *VIDEOS, *DOCUMENTS, "cr2", "xyz"))):
        assert recognise(head, name) == kind
        if kind.kind != "document":
            assert chosen(head, name) == ("heif" if kind.format == "heif" else kind.kind)


def test_names_decide_the_same_where_first_bytes_do_not(chosen):
    for ending in (*PICTURES, *VIDEOS):
        what = "picture" if ending in PICTURES else "video"
        with pytest.raises(BadFile, match=f"is called a {what} but"):
            recognise(b"nothing that is known", f"a.{ending}")
        assert chosen(b"nothing that is known", f"a.{ending}") == what


def test_every_picture_of_the_table_has_a_decoder():
    known = {kind.format for _, kind in STARTS if kind.kind == "picture"}
    assert known - set(_opening._PILLOW) == {"heif", "jxl", *RAW_FORMATS}  # two extras, and what holds a JPEG


@pytest.mark.parametrize("brand", "heic heix heim heis hevc hevx hevm hevs mif1 msf1".split())
def test_every_brand_of_heif_is_a_picture(brand):
    assert sniff(b"\0\0\0\x18ftyp" + brand.encode() + bytes(12)) == Kind("picture", "heif")


def test_sound_alone_is_no_video():
    assert sniff(b"OggS" + bytes(24) + b"\x01vorbis" + bytes(100)) is None
    assert sniff(b"OggS" + bytes(24) + b"OpusHead" + bytes(100)) is None
    assert sniff(b"RIFF\0\0\0\0WAVEfmt ") is None


def clip(container, codec):
    av = pytest.importorskip("av", reason="the video extra is not installed: pip install 'manyview[video]'")
    held = io.BytesIO()
    with av.open(held, "w", format=container) as out:
        stream = out.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for n in range(30):
            frame = av.VideoFrame.from_ndarray(np.full((64, 96, 3), 5 * n, np.uint8), format="rgb24")
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
    return held.getvalue()


def jpeg2000(ending):
    held = io.BytesIO()
    Image.new("RGB", (40, 30), "teal").save(held, "JPEG2000", no_jp2=ending == "j2k")
    return held.getvalue()


def test_what_only_the_child_knew_is_read_from_a_folder(tmp_path):
    files = {f"a.{ending}": jpeg2000(ending) for ending in ("jp2", "j2k")}
    files |= {"a.flv": clip("flv", "flv"), "a.mts": clip("mpegts", "mpeg2video"), "a.ogv": clip("ogg", "libvpx")}
    files |= {"a.mpg": clip("mpeg1video", "mpeg1video"), "a.wmv": clip("asf", "wmv2")}
    folder = tmp_path / "files"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with Collection.create(tmp_path / "c.manyview", folder) as collection:
        formats = {item.key: item.format for item in collection.items}
    assert formats == {
        **{"a.jp2": "jpeg2000", "a.j2k": "jpeg2000", "a.flv": "flv", "a.mts": "mpegts", "a.ogv": "ogg"},
        **{"a.mpg": "mpeg", "a.wmv": "asf"},
    }
    with DecodePool(1) as pool:
        for path, found in pool.decode([folder / name for name in files]):
            assert not isinstance(found, BadOutcome), (path, found)
            assert (found.width, found.height) == ((40, 30) if path.suffix in (".jp2", ".j2k") else (96, 64))


def test_a_raw_photograph_is_told_as_such_by_the_child_too(tmp_path):
    path = tmp_path / "a.raw"
    path.write_bytes(b"FOVb\2\0\2\0" + bytes(100))
    header, _ = _opening.open_file(os.fsencode(path), {})
    assert header["reason"] == "unsupported" and "Sigma X3F" in header["sentence"]


def test_links_are_followed_only_where_that_is_said(tmp_path):
    (tmp_path / "a").write_bytes(b"held")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "circle").symlink_to("circle")
    with open_regular(str(tmp_path / "link"), follow=True) as (file, facts):
        assert file.read() == b"held" and facts.size == 4
    for name, follow in (("link", False), ("circle", True), ("circle", False)):
        with pytest.raises(BadFile) as refusal, open_regular(str(tmp_path / name), follow=follow):
            pass
        assert refusal.value.reason == "link"


def test_a_bad_file_is_raised_or_kept():
    bad = BadFile("damaged", "it is damaged.")
    assert BadOutcome is BadFile and str(bad) == "it is damaged."
    assert bad == BadFile("damaged", "it is damaged.") and bad != BadFile("empty", "it is empty.")
    assert len({bad, BadFile("damaged", "it is damaged.")}) == 1
