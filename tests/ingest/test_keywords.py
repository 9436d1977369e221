import csv
import io
import os
import struct
import tarfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview.files import sidecars_by_owner, sniff
from manyview.ingest import containers, iptc
from manyview.ingest.keywords import LONGEST, MOST, read_keywords
from manyview.ingest.sidecar import read_sidecar
from manyview.ingest.xmp import read_packet

from . import makers as m
from .raw_makers import RAWS


def read(content: bytes):
    kind = sniff(content[:4096])
    return read_keywords(io.BytesIO(content), kind.format)


def data_folder():
    named = os.environ.get("MANYVIEW_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def test_the_keyword_samples_read_as_exiftool_reads_them():
    path = data_folder() / "images" / "keyword-samples.tar"
    if not path.is_file():
        pytest.skip("the keyword samples are not here; name their folder with MANYVIEW_DATA")
    with tarfile.open(path) as tar:
        files = {Path(member.name).name: tar.extractfile(member).read() for member in tar if member.isfile()}
    rows = list(csv.DictReader(io.StringIO(files["manifest.csv"].decode())))
    assert len(rows) == 15
    for row in rows:
        found = read(files[row["file"]])
        assert found.tags == row["tags"].split(";"), row["file"]
        assert len(found.paths) == int(row["caption"].rpartition("hierarchical=")[2]), row["file"]
        assert found.notes == [], row["file"]
    lightroom = read(files["canon-1dmk3-lightroom.jpg"])
    assert ("Sports", "Motor Sports", "Circuit Racing", "BTCC") in lightroom.paths


WORDS = ["beach", "Île", "犬", "a, b", "R&D"]
UTF8 = [word.encode() for word in WORDS]
PLACES = {
    "jpeg iptc": m.jpeg(m.app13(m.iim(*UTF8, utf8=True))),
    "jpeg iptc without a charset": m.jpeg(m.app13(m.iim(*UTF8))),
    "jpeg xmp": m.jpeg(m.app1_xmp(m.xmp(*WORDS))),
    "jpeg exif": m.jpeg(m.app(1, b"Exif\0\0" + m.exif(";".join(WORDS)))),
    "jpeg exif, other byte order": m.jpeg(m.app(1, b"Exif\0\0" + m.exif(";".join(WORDS), ">"))),
    "png xmp": m.png(m.chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + m.xmp(*WORDS))),
    "png packed xmp": m.png(m.chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(m.xmp(*WORDS)))),
    "png iptc": m.png(m.profile_text("iptc", m.resources(m.iim(*UTF8)))),
    "png bare iptc": m.png(m.profile_text("iptc", m.iim(*UTF8))),
    "png exif": m.png(m.chunk(b"eXIf", m.exif(";".join(WORDS)))),
    "webp xmp": m.webp((b"XMP ", m.xmp(*WORDS))),
    "webp exif": m.webp((b"EXIF", b"Exif\0\0" + m.exif(";".join(WORDS)))),
    "gif xmp": m.encoded("GIF") + b"!\xff\x0bXMP DataXMP" + m.xmp(*WORDS) + b"\1\0",
    "tiff xmp": m.encoded("TIFF", tiffinfo={700: m.xmp(*WORDS)}),
    "tiff iptc": m.encoded("TIFF", tiffinfo={33723: m.iim(*UTF8, utf8=True)}),
    "avif xmp": m.encoded("AVIF", xmp=m.xmp(*WORDS)),
    "mp4 xmp": m.mp4(m.box(b"uuid", m.XMP_BOX, m.xmp(*WORDS))),
    "mov xmp": m.mp4(m.box(b"moov", m.box(b"udta", m.box(b"XMP_", m.xmp(*WORDS))))),
    "jpeg 2000 xmp": m.encoded("JPEG2000") + m.box(b"uuid", m.XMP_BOX, m.xmp(*WORDS)),
    "jpeg 2000 exif": m.encoded("JPEG2000") + m.box(b"uuid", b"JpgTiffExif->JP2", m.exif(";".join(WORDS))),
    "jpeg 2000 iptc": m.encoded("JPEG2000") + m.box(b"uuid", m.IPTC_BOX, m.iim(*UTF8, utf8=True)),
    "jpeg xl xmp": m.jxl(m.box(b"xml ", m.xmp(*WORDS))),
    "jpeg xl exif": m.jxl(m.box(b"Exif", bytes(4), m.exif(";".join(WORDS)))),
    **{f"{kind} xmp": make(m.xmp(*WORDS)) for kind, make in RAWS.items()},
    "two jpeg segments": m.jpeg(m.app13(m.iim(*UTF8[:2], utf8=True)), m.app1_xmp(m.xmp(*WORDS[1:]))),
}


@pytest.mark.parametrize("place", PLACES)
def test_keywords_are_found_wherever_they_stand(place):
    found = read(PLACES[place])
    assert found.tags == WORDS and found.paths == [] and found.notes == []


def test_iptc_comes_first_then_xmp_then_exif_each_word_once():
    packet = m.app1_xmp(m.xmp("Beach", "sea", "sun"))
    found = read(m.jpeg(m.app(1, b"Exif\0\0" + m.exif("sky;sea")), packet, m.app13(m.iim(b"beach", b"sand"))))
    assert found.tags == ["beach", "sand", "sea", "sun", "sky"]


def test_the_last_word_of_a_path_is_a_tag_and_those_above_it_are_the_hierarchy():
    packet = m.xmp("Dublin", paths=("Places|Ireland|DUBLIN", "Places", "Year|"), digikam=("People/Anna",))
    found = read(m.jpeg(m.app1_xmp(packet)))
    assert found.tags == ["Dublin", "Places", "Year", "Anna"]
    assert found.paths == [("Places", "Ireland", "DUBLIN"), ("Places",), ("Year",), ("People", "Anna")]


@pytest.mark.parametrize(
    "packet",
    [
        m.xmp(paths=("Places|Ireland|Dublin", "sea")),
        m.xmp(digikam=("Places/Ireland/Dublin", "sea")),
        m.xmp("dublin", paths=("Places|Ireland|Dublin", "sea"), digikam=("Places/Ireland/Dublin", "sea")),
        m.xmp(microsoft=("Places/Ireland/Dublin", "sea")),
        m.mwg(("Places", ("Ireland", ("Dublin",))), ("sea",)),
        m.mwg(("Places", ("Ireland", ("Dublin",))), ("sea",), as_attributes=True),
    ],
)
def test_one_tag_in_whatever_way_it_is_listed(packet):
    found = read(m.jpeg(m.app1_xmp(packet)))
    assert [word.casefold() for word in found.tags] == ["dublin", "sea"] and found.notes == []
    assert found.paths == [("Places", "Ireland", "Dublin"), ("sea",)]


def test_entries_of_a_tree_count_where_they_say_so():
    applied = m.mwg(("Places", ("Ireland",))).replace(
        b"<mwg-kw:Keyword>Places<", b"<mwg-kw:Applied>True</mwg-kw:Applied><mwg-kw:Keyword>Places<"
    )
    assert read(m.jpeg(m.app1_xmp(applied))).tags == ["Places", "Ireland"]
    refused = applied.replace(
        b"<mwg-kw:Keyword>Ireland<", b"<mwg-kw:Applied>False</mwg-kw:Applied><mwg-kw:Keyword>Ireland<"
    )
    assert read(m.jpeg(m.app1_xmp(refused))).tags == ["Places"]


def test_a_stroke_inside_a_word_makes_no_second_tag():
    packet = m.xmp("AC/DC", "a|b", paths=("Music|AC/DC", "a/b"), digikam=("Music/AC|DC", "AC\\DC", "a|b"))
    found = read(m.jpeg(m.app1_xmp(packet)))
    assert found.tags == ["AC/DC", "a|b"]
    assert found.paths == [("Music", "AC/DC"), ("a|b",), ("AC/DC",)]


def test_extended_xmp_is_put_together():
    big = m.xmp(*[f"word {n:05}" for n in range(900)] + ["x" * 400] * 120 + ["last"])
    assert len(big) > 65536
    guid = b"0123456789abcdef0123456789ABCDEF"
    parts = [(at, big[at : at + 60000]) for at in range(0, len(big), 60000)]
    more = [
        m.app(1, b"http://ns.adobe.com/xmp/extension/\0" + guid + struct.pack(">II", len(big), at) + part)
        for at, part in reversed(parts)
    ]
    found = read(m.jpeg(m.app1_xmp(m.xmp("first")), *more))
    assert found.tags[0] == "first" and found.tags[1] == "word 00000" and found.tags[-1] == "last"
    assert len(found.tags) == 903 and found.notes == []


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        (["café", "São Paulo", "naïve", "Müller", "señor", "Ångström", "“quoted”", "10 €"], "cp1252"),
        (["海", "夏休み", "東京タワー", "カメラ", "ABC 東京"], "cp932"),
        (["日本", "Île", "Привет", "🏖"], "utf-8"),
        (["São"], "cp1252"),
        (["plain"], "ascii"),
    ],
)
def test_iptc_of_any_charset(words, encoding):
    found, trouble = iptc.keywords(m.iim(*[word.encode(encoding) for word in words]))
    assert found == words and trouble is None


def test_a_file_that_says_utf8_and_is_not_still_gives_words():
    found, _ = iptc.keywords(m.iim("café".encode("cp1252"), "thé".encode(), utf8=True))
    assert found == ["café", "thé"]


@pytest.mark.parametrize("utf8", [True, False])
@pytest.mark.parametrize(
    "word", ["Международная выставка современного искусства в Москве", "日本" * 30, "x " * 50, "é" * 40]
)
def test_a_keyword_that_iptc_cuts_off_and_xmp_has_whole_is_one_tag(word, utf8):
    """IPTC has room for 64 bytes; exiftool and others cut there, in the middle of a letter too."""
    word = word.strip()
    cut = word.encode()[:64]
    both = m.jpeg(m.app13(m.iim(cut, b"boat", utf8=utf8)), m.app1_xmp(m.xmp(word, "boat", "boathouse")))
    assert read(both).tags == ["boat", word, "boathouse"]
    in_paths = m.jpeg(m.app13(m.iim(cut, utf8=utf8)), m.app1_xmp(m.xmp(paths=(f"Events|{word}",))))
    assert read(in_paths).tags == [word]
    alone = m.jpeg(m.app13(m.iim(cut, "кот".encode(), utf8=utf8)))
    assert read(alone).tags == [cut.decode("utf-8", "ignore").strip(), "кот"]


def test_what_cannot_be_a_keyword_is_left_out_and_said():
    found = read(m.jpeg(m.app13(m.iim(b"x" * 10_000, b"do\0g", b" ", b"", b"a/b"))))
    assert found.tags == ["dog", "a/b"]
    assert [reason for reason, _ in found.notes] == ["keyword too long"] and str(LONGEST) in found.notes[0][1]
    many = m.png(m.chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + m.xmp(*(f"w{n}" for n in range(100_000)))))
    found = read(many)
    assert len(found.tags) == MOST and [reason for reason, _ in found.notes] == ["too many keywords"]


LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>' + m.xmp("&b;").partition(b"?>")[2]
)
DAMAGED = {
    "entities": m.jpeg(m.app1_xmp(LAUGHS)),
    "an outside entity": m.jpeg(
        m.app1_xmp(b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x:xmpmeta xmlns:x="a">&e;</x:xmpmeta>')
    ),
    "not XML": m.jpeg(m.app1_xmp(b"<x:xmpmeta")),
    "IPTC too short": m.jpeg(m.app13(m.iim(b"kept") + b"\x1c\x02\x19\xff\xfffoo")),
    "IPTC of impossible length": m.jpeg(m.app13(m.iim(b"kept") + b"\x1c\x02\x19\x80\x09foobarbaz")),
    "resources cut off": m.jpeg(m.app(13, b"Photoshop 3.0\0" + m.resources(m.iim(b"a" * 50))[:-20])),
    "exif beyond the end": m.jpeg(m.app(1, b"Exif\0\0" + m.exif("word")[:30])),
    "exif directory loop": m.jpeg(m.app(1, b"Exif\0\0II*\0\x08\0\0\0\xff\xff")),
    "png text bomb": m.png(m.chunk(b"zTXt", b"Raw profile type iptc\0\0" + zlib.compress(bytes(64 * 2**20)))),
    "png bad zlib": m.png(m.chunk(b"zTXt", b"Raw profile type iptc\0\0nonsense")),
    "png profile of letters": m.png(m.chunk(b"tEXt", b"Raw profile type iptc\0\niptc\n4\nzz")),
    "boxes cut off": m.mp4(m.box(b"moov", m.box(b"udta", b"\0\0\xff\xffXMP_"))),
    "a segment of length 1": m.jpeg(b"\xff\xe1\0\1"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_metadata_is_a_note_and_never_an_error(name):
    found = read(DAMAGED[name])
    assert [reason for reason, _ in found.notes] == ["bad metadata"] * len(found.notes) and found.notes
    assert found.tags == (["kept"] if name.startswith("IPTC") else [])


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(sorted(PLACES)),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=8),
    st.floats(0, 1),
)
def test_mutated_files_never_raise(place, changes, end):
    content = bytearray(PLACES[place])
    for where, value in changes:
        content[int(where * (len(content) - 1))] = value
    kind = sniff(PLACES[place][:4096])
    read_keywords(io.BytesIO(bytes(content[: max(1, int(end * 1.3 * len(content)))])), kind.format)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_our_parsers_take_any_bytes(content):
    iptc.keywords(content)
    for parse in (iptc.iim_from_resources, lambda c: list(containers.tiff_blocks(c)), read_packet):
        try:
            parse(content)
        except iptc.Damaged as error:
            assert str(error)
    for kind in ("jpeg", "png", "webp", "mp4", "tiff", "gif", "jxl", "jpeg2000", "raf", "rw2", "orf", "cr3"):
        read_keywords(io.BytesIO(content), kind)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=6))
def test_records_come_back(values):
    """Whatever stands in keywords, the parser finds as many as were written."""
    found, trouble = iptc.keywords(iptc.iim_from_resources(m.resources(m.iim(*values))))
    assert len(found) == len(values) and trouble is None


def test_sidecars_in_both_spellings(tmp_path):
    names = ["a.jpg", "a.png", "b.jpg", "a.jpg.xmp", "a.xmp", "b.XMP", "c.xmp"]
    found = sidecars_by_owner(reversed(names))
    assert found == {"a.jpg": ["a.jpg.xmp", "a.xmp"], "a.png": ["a.xmp"], "b.jpg": ["b.XMP"]}
    (tmp_path / "a.xmp").write_bytes(m.xmp("sea", paths=("Places|Sea",)))
    found = read_sidecar(str(tmp_path / "a.xmp"))
    assert found.tags == ["sea"] and found.paths == [("Places", "Sea")]
    (tmp_path / "b.xmp").write_bytes(LAUGHS)
    assert "entities" in read_sidecar(str(tmp_path / "b.xmp")).notes[0][1]
    assert "was not read" in read_sidecar(str(tmp_path / "none.xmp")).notes[0][1]
