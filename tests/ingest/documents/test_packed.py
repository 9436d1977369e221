"""Word, PowerPoint, OpenDocument and books: archives made by hand, as the programs make them."""

import io
import zipfile

import pytest

from manyview import Collection
from manyview.files import BadFile
from manyview.ingest.documents import DocumentReader, packed

from .steps import document

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
OPEN = "urn:oasis:names:tc:opendocument:xmlns"


@pytest.fixture(scope="module")
def reader():
    with DocumentReader() as one:
        yield one


def pack(**parts):
    """An archive of parts, whose names are given with two underscores for a stroke."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return held.getvalue()


def word(body, space=WORD, **more):
    text = f'<?xml version="1.0"?><w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>'
    return pack(word__document_xml=text, **more)


CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Document1</dc:title><cp:keywords>{}</cp:keywords>'
    "</cp:coreProperties>"
)


@pytest.mark.parametrize("space", [WORD, STRICT])
def test_word(reader, space):
    body = (
        "<w:p><w:r><w:t>Har</w:t></w:r><w:r><w:t>bour</w:t><w:tab/><w:t>walls</w:t></w:r></w:p>"
        "<w:p><w:del><w:r><w:delText>never</w:delText></w:r></w:del><w:ins><w:r><w:t>built</w:t></w:r></w:ins>"
        "<w:moveFrom><w:r><w:t>twice</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>twice</w:t></w:r></w:moveTo></w:p>"
        '<mc:AlternateContent xmlns:mc="m"><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice>'
        "<mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"
    )
    notes = (
        f'<w:footnotes xmlns:w="{space}"><w:footnote><w:p><w:r><w:t>note</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    found = document(word(body, space, word__footnotes_xml=notes), "docx", reader)
    assert found.text == "Harbour walls builttwice box note" and found.words.tags == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sea; Smith, John", ["sea", "Smith, John"]),
        ("sea, sand ,,SEA", ["sea", "sand"]),
        ("", []),
        ("é &amp; co", ["é & co"]),
    ],
)
def test_keywords_of_office(reader, line, words):
    content = word("<w:p><w:r><w:t>text</w:t></w:r></w:p>", docProps__core_xml=CORE.format(line))
    found = document(content, "docx", reader)
    assert found.words.tags == words and found.text == "text"


def test_slides_in_their_order(reader):
    slide = '<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>slide</a:t></a:r><a:r><a:t> {}</a:t></a:r></a:p></p:sld>'
    content = pack(**{f"ppt__slides__slide{n}_xml": slide.format(n) for n in (10, 2, 1)}, ppt__other_xml="<a/>")
    assert document(content, "pptx", reader).text == "slide 1 slide 2 slide 10"


def opened(body, **more):
    text = (
        f'<office:document-content xmlns:office="{OPEN}:office:1.0" xmlns:text="{OPEN}:text:1.0">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return pack(mimetype="application/vnd.oasis.opendocument.text", content_xml=text, **more)


def test_open_document(reader):
    body = (
        "<text:tracked-changes><text:deletion><text:p>never</text:p></text:deletion></text:tracked-changes>"
        "<text:h>Title</text:h><text:p>one<text:s/>two<text:span>three</text:span><text:line-break/>four"
        "<office:annotation><text:p>remark</text:p></office:annotation></text:p>"
        "<text:p>walls<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>of stone</text:p>"
        "</text:note-body></text:note> fell</text:p>"
        "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
    )
    meta = f'<m xmlns:meta="{OPEN}:meta:1.0"><meta:keyword>sea</meta:keyword><meta:keyword>Old River</meta:keyword></m>'
    for kind in ("odt", "odp"):
        found = document(opened(body, meta_xml=meta), kind, reader)
        assert found.text == "Title one twothree four walls of stone fell item" and found.words.tags == [
            "sea",
            "Old River",
        ]


BOX = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
BOOK = """<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The sea</dc:title>
<dc:subject>whales, white</dc:subject><dc:subject>ships</dc:subject></metadata><manifest>
<item id="b" href="two%20b.xhtml"/><item id="a" href="text/one.xhtml"/><item id="c" href="style.css"/></manifest>
<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="a"/><itemref idref="gone"/></spine></package>"""


def book(**more):
    parts = {
        "META-INF__container_xml": BOX,
        "OPS__book.opf": BOOK,
        "OPS__text__one.xhtml": "<head><title>ch001</title></head><body><style>no</style><p>Call me &amp;</p></body>",
        "OPS__two b.xhtml": "<p>second</p>",
        "OPS__style.css": "no",
    }
    return pack(**parts | more)


def test_book(reader):
    found = document(book(), "epub", reader)
    assert found.text == "The sea Call me & second" and found.words.tags == ["whales, white", "ships"]


SECRET = {"META-INF__manifest_xml": "<m><encryption-data/></m>"}
ENTITY = '<!DOCTYPE l [<!ENTITY a "ha">]><l><t>&a;</t></l>'


@pytest.mark.parametrize(
    ("content", "kind", "reason", "words"),
    [
        (b"PK\3\4 nothing", "docx", "damaged", "cannot be read as DOCX"),
        (pack(a="b"), "docx", "damaged", "neither a text nor slides"),
        (pack(a="b"), "odt", "damaged", "without the text"),
        (pack(a="b"), "epub", "damaged", "without the list of a book's chapters"),
        (word("<w:p>"), "docx", "damaged", "cannot be read as DOCX"),
        (word("<w:p/>"), "docx", "empty", "no words"),
        (opened("<text:p>x</text:p>", **SECRET), "odt", "unreadable", "password"),
        (pack(word__document_xml=ENTITY), "docx", "damaged", "EntitiesForbidden"),
        (word("<w:p>" * 100_000 + "</w:p>" * 100_000), "docx", "empty", "no words"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said(reader, content, kind, reason, words):
    with pytest.raises(BadFile, match=words) as refusal:
        document(content, kind, reader)
    assert refusal.value.reason == reason
    assert document(word("<w:p><w:r><w:t>next</w:t></w:r></w:p>"), "docx", reader).text == "next"


def test_no_more_is_unpacked_than_a_document_needs(monkeypatch):
    monkeypatch.setattr(packed, "_MOST", 2000)
    text = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    assert packed.read_office(word(text.format("x" * 1000)), 10).text == "\n" + "x" * 9
    with pytest.raises(BadFile, match="unpacked it has more than"):
        packed.read_office(word(text.format("x" * 3000)), 10)
    with pytest.raises(BadFile, match="unpacked"):  # all parts together
        packed.read_book(book(**{"OPS__text__one.xhtml": "<p>x</p>" * 100, "OPS__two b.xhtml": "y" * 900}), 10**6)


def test_a_folder_of_them(tmp_path):
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "a.docx").write_bytes(word("<w:p><w:r><w:t>one</w:t></w:r></w:p>", docProps__core_xml=CORE.format("sea")))
    (folder / "b.ODT").write_bytes(opened("<text:p>two</text:p>"))
    (folder / "c.epub").write_bytes(book())
    (folder / "d.ppsx").write_bytes(pack(ppt__slides__slide1_xml="<p><t>three</t></p>"))
    (folder / "secret.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    (folder / "none.pptx").write_bytes(b"")
    (folder / "~$a.docx").write_bytes(b"\x05user")
    (folder / "old.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with Collection.create(tmp_path / "t.manyview", folder) as collection:
        assert collection.items.texts() == ["one", "two", "The sea Call me & second", "three"]
        assert next(sorted(collection.tagging.words_of(item.id)) for item in collection.items) == ["sea"]
        bad = {problem.path: (problem.reason, problem.sentence) for problem in collection.last_report.bad}
        (other,) = (problem for problem in collection.last_report.problems if not problem.is_bad)
    assert other.path == "old.doc" and "save it as DOCX" in other.sentence
    assert set(bad) == {"none.pptx", "secret.docx"}
    assert bad["none.pptx"] == ("empty", "it is empty.")
    assert bad["secret.docx"][0] == "unknown format" and "encrypted with a password" in bad["secret.docx"][1]


RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relations(**targets):
    """What belongs to a part: names of targets by kind, or by kind and a number behind it."""
    lines = "".join(
        f'<Relationship Id="{kind}" Type="{RELATION}/{kind.rstrip("0123456789")}" Target="{target}"/>'
        for kind, target in targets.items()
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{lines}</Relationships>'
    )


def test_a_document_is_where_the_archive_says(reader):
    text = f'<w:document xmlns:w="{WORD}"><w:p><w:r><w:t>{{}}</w:t></w:r></w:p></w:document>'
    content = pack(
        **{
            "_rels__.rels": relations(officeDocument="/word/document2.xml"),
            "word__document2_xml": text.format("words"),
            "word___rels__document2.xml.rels": relations(footnotes="footnotes2.xml", diagramData="diagrams/data1.xml"),
            "word__footnotes2_xml": text.format("note"),
            "word__diagrams__data1_xml": text.format("drawn"),
        }
    )
    assert document(content, "docx", reader).text == "words note drawn"


def test_slides_that_were_taken_out_are_not_read(reader):
    slide = '<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>slide {}</a:t></a:r></a:p></p:sld>'
    numbers = '<p:sldId id="257" r:id="slide2"/><p:sldId id="256" r:id="slide1"/>'
    shown = f'<p:presentation xmlns:p="p" xmlns:r="{RELATION}">{numbers}</p:presentation>'
    content = pack(
        **{
            "_rels__.rels": relations(officeDocument="ppt/presentation.xml"),
            "ppt__presentation_xml": shown,
            "ppt___rels__presentation.xml.rels": relations(**{f"slide{n}": f"slides/slide{n}.xml" for n in (1, 2, 3)}),
            **{f"ppt__slides__slide{n}_xml": slide.format(n) for n in (1, 2, 3)},
        }
    )
    assert document(content, "pptx", reader).text == "slide 2 slide 1"


def test_words_that_nothing_but_a_break_separates(reader):
    body = "<w:p><w:r><w:t>one</w:t><w:cr/><w:t>two</w:t><w:noBreakHyphen/><w:t>three</w:t></w:r></w:p>"
    assert document(word(body), "docx", reader).text == "one two three"


def test_speaker_notes_are_not_read(reader):
    body = "<text:p>slide</text:p><presentation:notes xmlns:presentation='p'><text:p>note</text:p></presentation:notes>"
    assert document(opened(body), "odp", reader).text == "slide"


def test_books_that_are_sold_encrypted_are_said_to_be(reader):
    listed = (
        '<encryption><EncryptedData><CipherData><CipherReference URI="{}"/></CipherData></EncryptedData></encryption>'
    )
    letters = {"META-INF__encryption_xml": listed.format("OPS/fonts/a.otf")}
    assert document(book(**letters), "epub", reader).text == "The sea Call me & second"
    with pytest.raises(BadFile, match="encrypted"):
        document(book(**{"META-INF__encryption_xml": listed.format("OPS/text/one.xhtml")}), "epub", reader)


@pytest.mark.parametrize("broken", ["<cp:core", "<!DOCTYPE l [<!ENTITY a 'ha'>]><l>&a;</l>"])
def test_damaged_properties_cost_no_text(reader, broken):
    made = {
        "docx": word("<w:p><w:r><w:t>text</w:t></w:r></w:p>", docProps__core_xml=broken),
        "odt": opened("<text:p>text</text:p>", meta_xml=broken),
    }
    for kind, content in made.items():
        found = document(content, kind, reader)
        assert found.text == "text" and found.words.tags == []
        assert [reason for reason, _ in found.words.notes] == ["bad metadata"]


def test_lists_of_parts_have_a_limit_and_texts_end_where_there_is_enough(monkeypatch):
    monkeypatch.setattr(packed, "_LONGEST_LIST", 1000)
    with pytest.raises(BadFile, match=r"its list _rels/.rels has more than"):
        packed.read_office(word("<w:p/>", **{"_rels__.rels": relations(**{f"x{n}": "y" for n in range(50)})}), 10)
    monkeypatch.setattr(packed, "_PIECE", 200)
    text = "<w:p><w:r><w:t>words</w:t></w:r></w:p>" * 100
    assert packed.read_office(word(text + "<not closed"), 20).text == "\nwords\n\nwords\n\nwords"[:20]
