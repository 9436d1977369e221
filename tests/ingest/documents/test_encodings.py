"""Texts and pages whose encoding has to be found, or is said in them."""

import pytest

from manyview.ingest.documents.encodings import decode_letters
from manyview.ingest.documents.pages import decode_page

from .steps import document

RUSSIAN = "Это фотография старой гавани. Лодки, 1903 год: вид на Кремль."
TEXTS = {
    RUSSIAN: ["cp1251", "koi8-r", "cp866", "iso8859-5"],
    "Це фотографія старої гавані, її мури та вежі на березі моря.": ["cp1251", "koi8-u"],
    "日本語の文章です。これは港の写真です。東京都庁舎、1903年。": ["shift_jis", "euc_jp"],
    "这是港口的照片。旧城墙。一九零三年北京大学图书馆。": ["gb2312", "gb18030"],
    "這是港口的照片。舊城牆。一九零三年臺灣大學圖書館。": ["big5"],
    "이것은 항구의 사진입니다. 1903년 서울대학교 도서관.": ["euc_kr"],
    "Αυτή είναι μια φωτογραφία του λιμανιού, 1903.": ["cp1253", "iso8859-7"],
    "זוהי תמונה של הנמל הישן בעיר חיפה": ["cp1255"],
    "هذه صورة للميناء القديم في المدينة": ["cp1256"],
    "นี่คือภาพถ่ายของท่าเรือเก่าในเมือง": ["cp874"],
    "Größe und Länge der Straße über äußere Übungen ÄÖÜ": ["cp1252"],
    "Été à la plage, où l'élève a reçu, déjà, trois “œuvres”": ["cp1252"],
    "Tämä on vanhan sataman kuva, hyvää yötä, äänekäs öljyälä": ["cp1252"],
    "ÄÄÄÖÖÖÜÜÜ ÉÉÉ ÀÀÀ ÇÇÇ": ["cp1252"],
}


@pytest.mark.parametrize(("text", "encoding"), [(text, one) for text, names in TEXTS.items() for one in names])
def test_the_letters_tell_the_encoding(text, encoding):
    assert decode_letters(text.encode(encoding)) == text
    assert document(f"{text}\n".encode(encoding) * 300).text == " ".join([text] * 300)


def test_a_foreign_byte_or_a_cut_end_does_not_change_the_letters_around_it():
    text = "Köln am Rhein, Straße nach Düsseldorf. "
    assert decode_letters(text.encode() + b"caf\xe9 " + text.encode()) == f"{text}café {text}"
    assert decode_letters((text + "ü").encode()[:-1]).startswith(text)


@pytest.mark.parametrize(
    ("page", "encoding"),
    [
        ("<META http-equiv='Content-Type' content='text/html; charset={}'><p>{}", "windows-1251"),
        ('<meta charset="{}"><p>{}', "koi8-r"),
        ("<?xml version='1.0' encoding='{}'?><p>{}", "iso-8859-5"),
        ("<meta charset={}><p>{}", "utf-8"),
        ("<meta charset={}><p>{}", "x-nothing"),
    ],
)
def test_a_page_says_what_it_is(page, encoding):
    content = page.format(encoding, "гавань").encode("utf-8" if encoding == "x-nothing" else encoding)
    assert document(content, "html").text == "гавань"


def test_what_a_page_says_counts_less_than_its_bytes():
    for said in ("iso-8859-1", "utf-16", "idna", "base64", "undefined", "-"):
        assert decode_page(f"<meta charset={said}>Größe".encode()).endswith("Größe")
    assert decode_page(b"<meta charset=utf-8>Gr\xf6\xdfe").endswith("Größe")
    for said in ("base64", "hex", "zlib", "rot13", "punycode", "unicode_escape", "x" * 40):
        assert decode_page(f"<meta charset={said}>".encode() + b"Gr\xf6\xdfe").endswith("Größe")
    assert decode_page(b"<meta charset=iso-2022-jp>\x1b$B9A\x1b(B").endswith("港")


def test_a_few_letters_are_what_they_are_said_to_be():
    word = "通"  # in this encoding two bytes that are a letter of UTF-8 too
    assert decode_letters(word.encode("gbk"), "gb2312") == word != decode_letters(word.encode("gbk"))
    assert decode_letters(("港口" * 10).encode(), "gb2312") == "港口" * 10


def test_soft_hyphens_are_no_letters_and_words_go_on_through_spans():
    assert document(b"<p><span>Do</span>nau&shy;dampf</p>", "html").text == "Donaudampf"


@pytest.mark.parametrize("content", [b"\xff" * 100, b"\xc0\x80" * 50, bytes(range(128, 256)) * 3, b"\x80"])
def test_any_bytes_give_letters(content):
    assert decode_letters(content) and decode_letters(content, "cp932")
