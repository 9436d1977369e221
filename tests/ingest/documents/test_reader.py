import io
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview import Collection
from manyview.errors import ManyviewError
from manyview.files import BadFile
from manyview.ingest.documents import LONGEST_TEXT, DocumentReader, _child
from manyview.ingest.documents import reader as reading
from manyview.ingest.documents.pages import html_to_text
from manyview.ingest.documents.pdf import read_pdf

from .. import makers as m
from .steps import document


def read(content, kind="text", reader=None):
    return document(content, kind, reader).text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_text_in_any_encoding(encoding):
    assert read("Déjà vu,\n\n  encore\t“une” fois".encode(encoding)) == "Déjà vu, encore “une” fois"


def test_what_is_not_text_is_refused():
    for content, reason in ((b"\0\1\2\0" * 50, "damaged"), (b"  \n ", "empty"), (b"", "empty")):
        with pytest.raises(BadFile) as refusal:
            read(content)
        assert refusal.value.reason == reason
    with pytest.raises(BadFile, match="read up to 32 MB"):
        DocumentReader().read(io.BytesIO(b""), "text", 50 * 2**20)
    assert len(read(b"word " * 500_000)) == LONGEST_TEXT


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<title>A</title><p>b &amp; c<br>d</p>", "A b & c d"),
        ("a<script>var x = '<p>no</p>';</script>b", "a b"),
        ("a<SCRIPT type=x>no</ScRiPt >b<style>no</style>c", "a b c"),
        ("a<!-- no <p> -->b", "a b"),
        ("<B class=x>T</B>he har<wbr/>bour<br/>wall<a href=x>s</a>", "The harbour wall s"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("a<script>never closed", "a"),
        ("a<!-- never closed", "a"),
        ("a<b", "a"),
        ("&eacute;&#26085;", "é日"),
        ("", ""),
        ("İ<SCRIPT>no</script>b", "İ b"),  # a letter whose small form is longer
    ],
)
def test_pages_without_their_markup(page, words):
    assert " ".join(html_to_text(page).split()) == words


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("<>!-/ascript= \"'&;x"), max_size=80))
def test_any_page_gives_text_without_tags(page):
    assert "<script" not in html_to_text(page) or "<script" not in page.lower()


def test_pages_made_to_be_slow_are_not():
    started = time.process_time()
    for piece in ("<script", "<!--", "<a ", "<script>", "</script", "<"):
        html_to_text(piece * 300_000)
    assert time.process_time() - started < 5


def pdf(text):
    stream = b"BT /F1 12 Tf 10 10 Td (" + text + b") Tj ET"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    content, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(content)
    return (
        content
        + b"xref\n0 6\n0000000000 65535 f \n"
        + table
        + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % start
    )


def test_pdf_is_read_by_a_child_that_is_replaced_when_a_file_hurts_it(monkeypatch):
    pytest.importorskip("pypdf")
    with DocumentReader(1000) as reader:
        assert read(pdf(b"Hello words"), "pdf", reader) == "Hello words"
        first = reader._child
        assert read(pdf(b"again"), "pdf", reader) == "again" and reader._child is first
        with pytest.raises(BadFile) as refusal:
            read(b"%PDF-1.4\nnothing", "pdf", reader)
        assert refusal.value.reason == "damaged"
        assert read(pdf(b"goes on"), "pdf", reader) == "goes on" and reader._child is first
        reader._child.process.kill()
        with pytest.raises(BadFile, match="crashed on it|processor time"):
            read(pdf(b"x"), "pdf", reader)
        last = reader._start()
        monkeypatch.setattr(reader, "_start", lambda: last)
        for limit in ("_SECONDS", "_STARTING"):
            monkeypatch.setattr(reading, limit, 0)  # we do not wait at all
        with pytest.raises(BadFile) as refusal:
            read(pdf(b"x"), "pdf", reader)
        assert refusal.value.reason == "too slow" and last.process.poll() is not None


@pytest.mark.parametrize(
    ("harm", "reason"), [("while True: pass", "too slow"), ("os.abort()", "crash"), ("os._exit(0)", "crash")]
)
@pytest.mark.slow
def test_a_pdf_that_hurts_its_child_costs_that_child(monkeypatch, harm, reason):
    pytest.importorskip("pypdf")
    planted = f"""
import os
from manyview.ingest.documents import _child
real = _child._answer
def answer(kind, content, longest):
    if b"harm" in content:
        {harm}
    return real(kind, content, longest)
_child._answer = answer
_child.main()
"""
    monkeypatch.setattr(reading._Child, "command", (sys.executable, "-P", "-c", planted))
    monkeypatch.setattr(reading, "_SECONDS", 2)
    before = threading.active_count()
    with DocumentReader(1000) as reader:
        assert read(pdf(b"good"), "pdf", reader) == "good"
        with pytest.raises(BadFile) as refusal:
            read(pdf(b"harm"), "pdf", reader)
        assert refusal.value.reason == reason
        assert read(pdf(b"good"), "pdf", reader) == "good"
    assert threading.active_count() <= before  # one of an earlier test may end meanwhile


def test_a_child_that_cannot_start_is_our_trouble(monkeypatch):
    pytest.importorskip("pypdf")
    monkeypatch.setattr(reading._Child, "command", (sys.executable, "-c", "raise SystemExit('no luck')"))
    with pytest.raises(ManyviewError, match="did not start: no luck"), DocumentReader(1000) as reader:
        read(pdf(b"words"), "pdf", reader)


def written(keywords=None, packet=None, encryption=None, password=""):
    """A PDF with words, keywords, an XMP packet and a lock, as asked for."""
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(b"Hello words")))
    if keywords is not None:
        writer.add_metadata({"/Keywords": keywords})
    if packet is not None:
        stream = pypdf.generic.StreamObject()
        stream.set_data(packet)
        writer.root_object[pypdf.generic.NameObject("/Metadata")] = writer._add_object(stream)
    if encryption is not None:
        writer.encrypt(password, "the owner's", algorithm=encryption)
    held = io.BytesIO()
    writer.write(held)
    return held.getvalue()


@pytest.fixture(scope="module")
def reader():
    with DocumentReader(1000) as one:
        yield one


@pytest.mark.parametrize("encryption", ["RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256"])
def test_an_encrypted_pdf_opens_where_its_password_is_empty(encryption, reader):
    assert read(written(encryption=encryption), "pdf", reader) == "Hello words"
    with pytest.raises(BadFile, match="is encrypted and needs a password"):
        read(written(encryption=encryption, password="sesame"), "pdf", reader)  # noqa: S106


def test_encryption_that_needs_a_further_part_is_said_with_the_command(monkeypatch):
    pypdf = pytest.importorskip("pypdf")

    def missing(*_):
        raise pypdf.errors.DependencyError("cryptography>=3.1 is required for AES algorithm")

    monkeypatch.setattr(pypdf.PdfReader, "decrypt", missing)
    answer = _child._answer("pdf", written(encryption="AES-256"), 1000)
    assert answer["reason"] == "missing extra" and "encrypted with AES" in answer["sentence"]
    assert 'pip install "manyview[pdf]"' in answer["sentence"]


LISTED = m.xmp("sea", "Strand", paths=("places|sea",)).replace(
    b'rdf:about=""', b'rdf:about="" xmlns:pdf="http://ns.adobe.com/pdf/1.3/" pdf:Keywords="sun; Smith, John"'
)


@pytest.mark.parametrize(
    ("made", "words", "paths"),
    [
        ({"keywords": "sea, sand ,, sun"}, ["sea", "sand", "sun"], []),
        ({"keywords": "Smith, John; sea"}, ["Smith, John", "sea"], []),
        ({"keywords": "\u6d77; S\u00e9a"}, ["\u6d77", "S\u00e9a"], []),
        ({"packet": LISTED}, ["sea", "Strand", "sun", "Smith, John"], [("places", "sea")]),
        ({"keywords": "SEA", "packet": LISTED, "encryption": "AES-256"}, ["SEA", "Strand", "sun", "Smith, John"], None),
        ({"keywords": ""}, [], []),
    ],
)
def test_the_keywords_of_a_pdf_are_its_tags(tmp_path, reader, made, words, paths):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(written(**made))
    with Collection.create(tmp_path / "t.manyview", folder) as collection:
        assert not collection.last_report.bad and collection.items.texts() == ["Hello words"]
        found = {word.casefold() for word in collection.tags.words_of(0)} if collection.tags.n_tags else set()
        assert found >= {word.casefold() for word in words} and len(found) >= len(words)
    found = document(written(**made), "pdf", reader)
    assert found.words.tags == words and (paths is None or found.words.paths == paths)


def test_damaged_keywords_cost_no_text(reader):
    found = document(written(keywords="sea", packet=b"<x><unclosed>"), "pdf", reader)
    assert found.text == "Hello words" and found.words.tags == ["sea"]
    assert [reason for reason, _ in found.words.notes] == ["bad metadata"]


def test_pages_that_cannot_be_read_cost_no_other_page(monkeypatch):
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter()
    for word in (b"one", b"two", b"three"):
        writer.add_page(pypdf.PdfReader(io.BytesIO(pdf(word))).pages[0])
    held = io.BytesIO()
    writer.write(held)
    real = pypdf.PageObject.extract_text

    def extract(page):
        text = real(page)
        return text if text not in bad else 1 / 0

    monkeypatch.setattr(pypdf.PageObject, "extract_text", extract)
    bad = {"two"}
    found = read_pdf(held.getvalue(), 1000)
    assert found.text == "one\nthree"
    assert list(found.notes) == [("bad pages", "the words of 1 of its pages cannot be read.")]
    bad |= {"one", "three"}
    with pytest.raises(BadFile, match="none of its pages"):
        read_pdf(held.getvalue(), 1000)


def test_words_parted_at_the_end_of_a_line_are_whole(reader):
    pytest.importorskip("pypdf")
    lines = b"har-) Tj 0 -15 Td (bour of Baden-) Tj 0 -15 Td (Baden in 1903-) Tj 0 -15 Td (1904"
    assert read(pdf(lines), "pdf", reader) == "harbour of Baden- Baden in 1903- 1904"


def test_a_pdf_without_words_is_said_to_be_a_scan(reader):
    pytest.importorskip("pypdf")
    with pytest.raises(BadFile, match="as those of a scan"):
        read(pdf(b""), "pdf", reader)
    with pytest.raises(BadFile, match="no words"):  # shapes whose letters nobody knows
        read(pdf(b"\\001\\002 \\003"), "pdf", reader)


def test_a_pdf_without_the_extra_is_named_with_the_command(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(pdf(b"words"))
    with Collection.create(tmp_path / "t.manyview", folder) as collection:
        (problem,) = collection.last_report.bad
        assert problem.reason == "missing extra" and 'pip install "manyview[pdf]"' in problem.sentence


def test_documents_of_a_folder_are_items_with_text(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.md").write_text("# Title\nbody", encoding="utf-8")
    (folder / "b.html").write_text("<p>page</p>", encoding="utf-8")
    (folder / "c.txt").write_bytes(b"\0\1\0\1\1\0")
    with Collection.create(tmp_path / "t.manyview", folder) as collection:
        assert collection.items.texts() == ["# Title body", "page"]
        assert [(problem.path, problem.reason) for problem in collection.last_report.bad] == [("c.txt", "damaged")]
