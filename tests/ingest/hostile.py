"""The hostile set: files made to break a tool that reads strangers' folders. No samples of others, about 2 MB.

``write_hostile_set(folder)`` writes them and says of each what has to happen: the class of its problem at ingest, or
None where it is a good file. A file whose pixels are bad is found when it is decoded; ``decodes`` says so. Run as a
program it writes the set: ``python -m tests.ingest.hostile FOLDER``.
"""

import gzip
import io
import os
import struct
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from . import makers as m


@dataclass(frozen=True)
class Hostile:
    """One file, and what has to become of it."""

    name: str
    content: bytes
    ingest: str | None = None
    """The reason class at ingest; None: it becomes an item."""
    note: bool = False
    """The reason is only a note: the file is an item all the same (or, if unsupported, no item and no error)."""
    decodes: bool = True
    """Can its pixels, frames or words be read?"""


def hostile_set() -> list[Hostile]:
    """Every file of the set."""
    return [
        *_truncated(),
        *_wrong_names(),
        *_odd_pictures(),
        *_metadata(),
        *_bombs(),
        *_videos(),
        *_documents(),
        *_tables(),
    ]


def write_hostile_set(folder: Path) -> list[Hostile]:
    """Write the set into a folder, with a folder that is called like a picture."""
    made = hostile_set()
    for entry in made:
        path = folder / entry.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(entry.content)
    (folder / "directory.jpg").mkdir()
    return made


def _photo(kind: str, **options) -> bytes:
    """Enough pixels of noise that cutting the file cuts the pixels."""
    held = io.BytesIO()
    Image.frombytes("RGB", (64, 48), bytes((i * 7919 >> 3) % 256 for i in range(64 * 48 * 3))).save(
        held, kind, **options
    )
    return held.getvalue()


def _truncated():
    formats = {
        "jpg": _photo("JPEG"),
        "png": _photo("PNG"),
        "gif": _photo("GIF"),
        "webp": _photo("WEBP"),
        "tif": _photo("TIFF"),
        "bmp": _photo("BMP"),
        "avif": _photo("AVIF"),
        "mp4": m.mp4(m.box(b"moov", m.box(b"udta", m.box(b"XMP_", m.xmp("x" * 300))))),
    }
    for ending, whole in formats.items():
        for percent in (1, 10, 50, 99):
            content = whole[: max(1, len(whole) * percent // 100)]
            starts = {"jpg": 3, "png": 8, "gif": 6, "webp": 12, "tif": 4, "bmp": 18, "avif": 12, "mp4": 8}[ending]
            reason = None if len(content) >= starts else "unknown format"
            note = ending in ("jpg", "png", "tif", "webp", "mp4") and reason is None
            # Damaged metadata may be noted too; what has to happen is that it does not pass for whole.
            yield Hostile(f"cut/{percent:02}.{ending}", content, reason, note=note, decodes=False)
        yield Hostile(f"cut/whole.{ending}", whole, decodes=ending != "mp4")  # that one has no frames
    yield Hostile("cut/header only.jpg", b"\xff\xd8\xff\xe0", note=True, decodes=False)
    yield Hostile("cut/zero bytes.jpg", b"", "empty")
    yield Hostile("cut/one byte.png", b"\x89", "unknown format")


def _wrong_names():
    for name, kind in (
        ("a.png", "JPEG"),
        ("b.jpg", "PNG"),
        ("c.gif", "WEBP"),
        ("d.txt", "GIF"),
        ("e.mp4", "BMP"),
        ("f", "TIFF"),
    ):
        yield Hostile(f"names/{name}", _photo(kind))
    yield Hostile("names/text.jpg", b"just words\n" * 20, "unknown format")
    yield Hostile("names/page.jpg", b"<!DOCTYPE html><html><script>alert(1)</script></html>", "unknown format")
    svg = b'<svg xmlns="http://www.w3.org/2000/svg">%s</svg>'
    for name, inner in (
        ("script", b"<script>alert(1)</script>"),
        ("foreign", b"<foreignObject><body onload='alert(1)'/></foreignObject>"),
        ("outside", b'<image href="http://127.0.0.1/x"/>'),
    ):
        yield Hostile(f"names/{name}.svg", svg % inner, "unsupported", note=True)
        yield Hostile(f"names/{name}.png", svg % inner, "unknown format")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("x", "y")
    yield Hostile("names/jpeg and zip.jpg", _photo("JPEG") + archive.getvalue())
    yield Hostile("names/gif and script.gif", _photo("GIF") + b"/*';alert(1)//")
    yield Hostile("names/pdf and html.html", b"%PDF-1.4\n<html><script>alert(1)</script>", "damaged")


def _odd_pictures():
    yield Hostile("odd/cmyk.jpg", m.encoded("JPEG", mode="CMYK"))
    yield Hostile("odd/sixteen bits.png", m.encoded("PNG", mode="I;16"))
    yield Hostile("odd/sixteen bits.tif", m.encoded("TIFF", mode="I;16"))
    yield Hostile("odd/palette and alpha.png", m.encoded("PNG", mode="P", transparency=0))
    yield Hostile("odd/one bit.png", m.encoded("PNG", mode="1"))
    yield Hostile("odd/one bit.tif", m.encoded("TIFF", mode="1"))
    yield Hostile("odd/float.tif", m.encoded("TIFF", mode="F"))
    yield Hostile("odd/thin.png", m.encoded("PNG", size=(1, 65_535), mode="L"))
    yield Hostile("odd/no width.png", _png_of_size(0, 5), decodes=False)
    frames = [Image.new("RGB", (8, 8), (i * 40, 0, 0)) for i in range(4)]
    for kind, name in (("GIF", "moving.gif"), ("WEBP", "moving.webp"), ("AVIF", "moving.avif"), ("MPO", "stereo.mpo")):
        held = io.BytesIO()
        frames[0].save(held, kind, save_all=True, append_images=frames[1:])
        yield Hostile(f"odd/{name}", held.getvalue())
    yield Hostile("odd/ultra hdr.jpg", _photo("JPEG") + _photo("JPEG"))
    progressive = bytearray(_photo("JPEG", progressive=True))
    progressive[-200:-150] = b"\xff\x00" * 25
    yield Hostile("odd/progressive with a bad block.jpg", bytes(progressive))  # decoders paint over it
    for orientation in range(1, 10):
        entry = struct.pack("<H", 1) + struct.pack("<HHII", 0x0112, 3, 1, orientation) + struct.pack("<I", 0)
        yield Hostile(f"odd/turned {orientation}.jpg", m.jpeg(m.app(1, b"Exif\0\0II*\0\x08\0\0\0" + entry)))
    thumb = _photo("JPEG")
    first = struct.pack("<H", 1) + struct.pack("<HHII", 0x0112, 3, 1, 6) + struct.pack("<I", 26)
    second = (
        struct.pack("<H", 2) + struct.pack("<HHII", 0x0201, 4, 1, 56) + struct.pack("<HHII", 0x0202, 4, 1, len(thumb))
    )
    block = b"Exif\0\0II*\0\x08\0\0\0" + first + second + struct.pack("<I", 0) + thumb
    yield Hostile("odd/turned with another thumbnail.jpg", m.jpeg(m.app(1, block)))


def _metadata():
    loop = struct.pack("<H", 1) + struct.pack("<HHII", 0x8769, 4, 1, 8) + struct.pack("<I", 8)
    yield Hostile("meta/exif loop.jpg", m.jpeg(m.app(1, b"Exif\0\0II*\0\x08\0\0\0" + loop)))
    yield Hostile("meta/exif beyond.jpg", m.jpeg(m.app(1, b"Exif\0\0II*\0\xff\xff\xff\x7f")), "bad metadata", note=True)
    yield Hostile("meta/exif huge.jpg", m.jpeg(m.app(1, b"Exif\0\0" + _huge_exif())), "bad metadata", note=True)
    big = m.xmp(*(f"word {n}" for n in range(3000)))
    more = b"http://ns.adobe.com/xmp/extension/\0" + b"0" * 32
    parts = [
        m.app(1, more + struct.pack(">II", len(big), at) + big[at : at + 60_000]) for at in range(0, len(big), 60_000)
    ]
    yield Hostile("meta/extended xmp.jpg", m.jpeg(m.app1_xmp(m.xmp("first")), *parts), "too many keywords", note=True)
    laughs = (
        b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a0 "ha">%s]><x:xmpmeta xmlns:x="a">&a9;</x:xmpmeta>'
        % b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10))
    )
    yield Hostile("meta/entities.jpg", m.jpeg(m.app1_xmp(laughs)), "bad metadata", note=True)
    for name, words in (
        ("latin-1", ["été".encode("latin-1")]),
        ("shift-jis", ["日本語".encode("cp932"), "カメラ".encode("cp932")]),
        ("mixed", ["été".encode(), "été".encode("latin-1")]),
        ("nul comma slash", [b"nul\0inside", b"a, b", b"places/europe"]),
    ):
        yield Hostile(f"meta/iptc {name}.jpg", m.jpeg(m.app13(m.iim(*words))))
    yield Hostile("meta/long keyword.jpg", m.jpeg(m.app13(m.iim(b"k" * 10_000))), "keyword too long", note=True)
    many = m.chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(m.xmp(*(f"w{n}" for n in range(100_000)))))
    yield Hostile("meta/100,000 keywords.png", m.png(many), "too many keywords", note=True)
    yield Hostile("meta/iptc broken.jpg", m.jpeg(m.app13(b"\x1c\x02\x19\xff\xff")), "bad metadata", note=True)
    yield Hostile("meta/deep xmp.jpg", m.jpeg(m.app1_xmp(b"<a>" * 15_000)), "bad metadata", note=True)


def _huge_exif() -> bytes:
    return b"II*\0\x08\0\0\0" + struct.pack("<H", 1) + struct.pack("<HHII", 0x9C9E, 1, 2**31, 26) + bytes(4)


def _png_of_size(width: int, height: int, *chunks: bytes) -> bytes:
    head = m.chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n"
        + head
        + b"".join(chunks)
        + m.chunk(b"IDAT", zlib.compress(bytes(1000)))
        + m.chunk(b"IEND", b"")
    )


def _bombs():
    zeros = zlib.compress(bytes(60 * 2**20), 9)
    pack = io.BytesIO()
    with zipfile.ZipFile(pack, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(40 * 2**20))
    inner = gzip.compress(bytes(2**20))
    yield Hostile("bombs/50,000 squared.png", _png_of_size(50_000, 50_000), decodes=False)
    yield Hostile("bombs/wide.png", _png_of_size(2**31 - 1, 1), decodes=False)
    yield Hostile("bombs/flat.png", _flat_png(16_000), decodes=False)
    yield Hostile("bombs/ztxt.png", _png_of_size(4, 4, m.chunk(b"zTXt", b"Comment\0\0" + zeros)), decodes=False)
    packed = m.chunk(b"zTXt", b"Raw profile type iptc\0\0" + zeros)
    yield Hostile("bombs/iptc ztxt.png", m.png(packed), "bad metadata", note=True, decodes=False)
    packed = m.chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zeros)
    yield Hostile("bombs/itxt.png", m.png(packed), "bad metadata", note=True, decodes=False)
    yield Hostile("bombs/iccp.png", m.png(m.chunk(b"iCCP", b"p\0\0" + zeros)), decodes=False)
    yield Hostile(
        "bombs/gif screen.gif",
        b"GIF89a\xff\xff\xff\xff\x80\0\0" + bytes(6) + b",\0\0\0\0\xff\xff\xff\xff\0\2\1\0;",
        decodes=False,
    )
    yield Hostile("bombs/gif frames.gif", _many_frames(5000))
    yield Hostile("bombs/tiff tiles.tif", _tiff_bomb(), decodes=False)
    yield Hostile(
        "bombs/bmp.bmp",
        b"BM" + struct.pack("<IHHIIiiHHIIiiII", 54, 0, 0, 54, 40, 60_000, 60_000, 1, 24, 0, 0, 1, 1, 0, 0),
        decodes=False,
    )
    yield Hostile("bombs/jpeg size.jpg", _jpeg_of_size(65_500, 65_500), decodes=False)
    yield Hostile("bombs/webp size.webp", b"RIFF\x1a\0\0\0WEBPVP8L\r\0\0\0/\xff\xff\xff\x0f" + bytes(8), decodes=False)
    yield Hostile("bombs/document.docx", pack.getvalue(), "damaged")
    yield Hostile("bombs/42.zip", pack.getvalue(), "unsupported", note=True)
    yield Hostile("bombs/packed.svgz", inner, "unsupported", note=True)
    yield Hostile(
        "bombs/32 GiB.npy",
        b"\x93NUMPY\x01\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (65536, 65536), }".ljust(128),
        "unsupported",
        note=True,
    )
    laughs = b'<!DOCTYPE l [<!ENTITY a "%s"><!ENTITY b "%s">]><l>&b;</l>' % (b"ha" * 1000, b"&a;" * 10_000)
    yield Hostile("bombs/laughs beside.jpg", m.jpeg(), "bad metadata", note=True)
    yield Hostile("bombs/laughs beside.xmp", laughs)
    yield Hostile("bombs/page.html", b"<" * 200_000 + b"script " * 20_000)
    stream = zlib.compress(bytes(30 * 2**20), 9)
    yield Hostile(
        "bombs/objects.pdf",
        b"%PDF-1.5\n1 0 obj\n<</Type/ObjStm/N 1/First 4/Filter/FlateDecode/Length "
        + str(len(stream)).encode()
        + b">>stream\n"
        + stream
        + b"\nendstream\nendobj\ntrailer<</Root 1 0 R>>",
        ingest="damaged",
    )


def _flat_png(side: int) -> bytes:
    """A whole picture of one colour: small on disk, huge in memory."""
    row = zlib.compressobj(9)
    content = b"".join(row.compress(bytes(side + 1) * 100) for _ in range(side // 100)) + row.flush()
    head = m.chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + m.chunk(b"IDAT", content) + m.chunk(b"IEND", b"")


def _many_frames(n_frames: int) -> bytes:
    frame = b"!\xf9\4\0\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0"
    return b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff" + frame * n_frames + b";"


def _tiff_bomb() -> bytes:
    entries = [
        (256, 4, 1, 100_000),
        (257, 4, 1, 100_000),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (273, 4, 1, 8),
        (277, 3, 1, 1),
        (278, 4, 1, 100_000),
        (279, 4, 1, 100),
    ]
    listed = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(entries)) + listed + bytes(4)


def _jpeg_of_size(width: int, height: int) -> bytes:
    content = bytearray(m.encoded("JPEG"))
    at = content.index(b"\xff\xc0")
    content[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return bytes(content)


def _videos():
    yield Hostile("video/no frames.mp4", m.mp4(m.box(b"moov", m.box(b"mvhd", bytes(100)))), decodes=False)
    yield Hostile("video/cut moov.mp4", m.mp4()[:20] + b"\0\0\xff\xffmoov", "bad metadata", note=True, decodes=False)
    yield Hostile(
        "video/box of no size.mov", m.mp4(b"\0\0\0\1free" + bytes(8)), "bad metadata", note=True, decodes=False
    )
    yield Hostile("video/endless boxes.mp4", m.box(b"ftyp", b"isom\0\0\0\0") + m.box(b"free") * 2000, decodes=False)
    deep = b""
    for _ in range(3000):
        deep = m.box(b"udta", deep)
    yield Hostile("video/deep boxes.mp4", m.mp4(m.box(b"moov", deep)), decodes=False)
    yield Hostile("video/empty.avi", b"RIFF\0\0\0\0AVI ", decodes=False)
    yield Hostile("video/empty.mkv", b"\x1aE\xdf\xa3\x80", decodes=False)
    yield Hostile("video/words.mp4", b"no video at all, but words", "unknown format")


def _documents():
    yield Hostile("text/utf-16 without a mark.txt", "words and words".encode("utf-16-le"))
    yield Hostile("text/one long line.txt", b"word " * 100_000)
    yield Hostile("text/latin.txt", "déjà vu".encode("latin-1"))
    yield Hostile("text/empty.md", b"", "empty")
    yield Hostile("text/script.html", b"<html><script>alert(1)</script><p>words</p></html>")
    yield Hostile("text/unclosed.html", b"words <script><!-- " + b"<p " * 1000)
    yield Hostile(
        "text/loop.pdf",
        b"%PDF-1.4\n1 0 obj\n<</Type/Pages/Kids[1 0 R]/Count 9999999>>\nendobj\ntrailer<</Root 1 0 R>>",
        ingest="damaged",
    )
    yield Hostile(
        "text/encrypted.pdf",
        b"%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer<</Root 1 0 R/Encrypt<</Filter/Standard/V 9>>>>",
        ingest="damaged",
    )
    yield Hostile("text/no pdf.pdf", b"words", "unknown format")


def _tables():
    """Tables and features are sources of their own; in a folder they are passed over."""
    for name, content in (
        ("ragged.csv", b"a,b\n1\n1,2,3\n"),
        ("formulas.csv", b"a\n=cmd|' /C calc'!A0\n"),
        (
            "pickled.npy",
            b"\x93NUMPY\x01\0v\0{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(128)
            + b"cos\nsystem\n.",
        ),
    ):
        yield Hostile(f"tables/{name}", content, "unsupported", note=True)


if __name__ == "__main__":
    made = write_hostile_set(Path(sys.argv[1]))
    print(
        f"{len(made)} files, {sum(len(entry.content) for entry in made) / 1e6:.1f} MB in {os.path.abspath(sys.argv[1])}"
    )
