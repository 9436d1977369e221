"""Rich Text Format, as programs write it and as nobody should."""

import time

import pytest

from manyview.files import BadFile
from manyview.ingest.documents import DocumentReader
from manyview.ingest.documents.rtf import read_rtf

from .steps import document


@pytest.fixture(scope="module")
def reader():
    with DocumentReader() as one:
        yield one


def rtf(body, head=""):
    return f"{{\\rtf1\\ansi\\ansicpg1252{head} {body}}}".encode("latin-1")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"Har{\b bo}ur\par walls\tab of stone\line", "Harbour walls of stone"),
        (r"{\fonttbl{\f0 Times;}}{\colortbl;\red0;}{\*\generator X;}words", "words"),
        (r"Gr\'fc\'dfe \u8364?20 \u-10179?\u-8704? {\uc2\u946 ss}b", "Grüße €20 😀 βb"),
        (r"one\~two\-three {\field{\*\fldinst HYPERLINK x}{\fldrslt here}}", "one twothree here"),
        (r"kept {\deleted gone}1{\*\footnote note} \\ \{a\}", r"kept 1 note \ {a}"),
        (r"a{\shp{\*\shpinst{\sp{\sn x}}{\shptxt box}}{\shprslt{\*\do x}}}", "a box"),
        (r"a{\pict\bin4 }{}{ }b", "ab"),
        ("a{\\header top}\r\nb\\ldblquote c\\rdblquote", "ab“c”"),
    ],
)
def test_words(reader, body, text):
    assert document(rtf(body), "rtf", reader).text == text


def test_letters_of_two_bytes_and_keywords(reader):
    content = rtf(r"{\info{\title T}{\keywords sea; Smith, John}}\'8a\'43 text").replace(b"1252", b"932")
    found = document(content, "rtf", reader)
    assert found.text == "海 text".replace("海", b"\x8a\x43".decode("cp932")) and found.words.tags == [
        "sea",
        "Smith, John",
    ]


@pytest.mark.parametrize("content", [b"{\\rtf1 }", b"{\\rtf1", b"{\\rtf1}}}}", b"{\\rtf1\\bin-5 \\ansicpg7 \\"])
def test_nothing_to_read_is_said(content):
    with pytest.raises(BadFile, match="no words"):
        document(content, "rtf", DocumentReader())


def test_another_kind_of_file_by_that_name():
    with pytest.raises(BadFile, match="does not begin like one"):
        read_rtf(b"words", 100)


@pytest.mark.parametrize("part", ["{", "}", "\\", "\\'8a", "\\u9 ", "{\\*", "\\bin1 ", "a", "\\par"])
def test_nothing_takes_long(part):
    started = time.process_time()
    read_rtf(("{\\rtf1" + part * (400_000 // len(part))).encode(), 10**9)
    assert time.process_time() - started < 20  # seconds; what grows with the square would take hours


def test_letters_by_the_encoding_of_their_font(reader):
    content = (
        rb"{\rtf1\ansi\ansicpg1252\deff0"
        rb"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204{\*\fname A;}A CYR;}{\f2\fcharset128 B;}}"
        rb"{\info{\keywords sea; \f1\'ec\'ee\'f0\'e5}}"
        rb"\f1\'cf\'f0\'e8 {\f0 caf\'e9} \f2\'93\'fa\'96\{\'83e\'83X \plain\'e9}"
    )
    found = document(content, "rtf", reader)
    assert found.text == "\u041f\u0440\u0438 caf\u00e9 \u65e5\u672c\u30c6\u30b9 \u00e9" and found.words.tags == [
        "sea",
        "\u043c\u043e\u0440\u0435",
    ]
    assert document(rb"{\rtf1\mac caf\'8e}", "rtf", reader).text == "caf\u00e9"


def test_long_numbers_are_no_words(reader):
    assert document(rb"{\rtf1{\revised\revdttm1736509440 one}\emspace two}", "rtf", reader).text == "one two"


def test_letters_of_two_bytes_count_as_words_do():
    assert len(read_rtf(rb"{\rtf1\ansi\ansicpg932 " + rb"\'82a" * 5000 + b"}", 100).text) == 100
