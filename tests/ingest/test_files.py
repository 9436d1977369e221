import io
import struct

import pytest
from PIL import Image

from manyview import Collection
from manyview.ingest.files import BadFile, Kind, sniff


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
        (b"\0\0\0\x18ftypcrx \0\0\0\1crx isom", "Canon CR3"),
        (b"FUJIFILMCCD-RAW 0201FF383501X-T3", "Fujifilm RAF"),
        (b"IIU\0\x18\0\0\0", "Panasonic RW2"),
        (b"IIRO\x08\0\0\0", "Olympus ORF"),
    ],
)
def test_raw_photographs_are_named_with_what_to_do(head, name, tmp_path):
    with pytest.raises(BadFile):
        sniff(head)
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.cr3").write_bytes(head + bytes(100))
    with Collection.create(tmp_path / "c.manyview", folder) as collection:
        (problem,) = collection.last_report.bad
        assert (problem.path, problem.reason) == ("a.cr3", "unsupported") and not list(collection.items)
        assert f"raw photograph ({name})" in problem.sentence and "Convert it to JPEG" in problem.sentence
