"""Words in and out of XMP documents, and not a byte of the rest."""

import os
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview.collection.tagging import word_key
from manyview.ingest.xmp import read_packet
from manyview.writeback.document import HIERARCHY, Document, Refused, value_key
from manyview.writeback.editor import Edit, edit_document, new_document, read_words

from .documents import PROGRAMS, WORDS, odd_documents, other_program

ADDED = Edit(("new one", "Ärger & <b>"), (), ("Animals|new one",), (), ("Animals/new one", "Ärger & <b>"), ())


def is_subsequence(short, long):
    """Are the bytes of ``short`` all in ``long``, in order? Then nothing was lost, and all the rest was put in."""
    place = 0
    for byte in short:
        place = long.find(byte, place) + 1
        if place == 0:
            return False
    return True


@pytest.mark.parametrize("program", PROGRAMS)
def test_other_programs_documents_keep_every_byte(program):
    for seed in range(25):
        old, words = other_program(program, seed)
        assert [word_key(word) for word in read_words(old)[0]] == [word_key(word) for word in words]
        new, done = edit_document(old, ADDED)
        assert done == ADDED and is_subsequence(old, new)
        assert read_packet(new).tags == [*words, *ADDED.add]  # what ingest will read
        assert ("Animals", "new one") in read_packet(new).paths
        document = Document(new)
        back, undone = edit_document(new, done.reverse)
        assert undone == done.reverse and read_words(back)[0] == read_words(old)[0]
        assert document.encoding == Document(old).encoding
        if words:  # nodes that were there before: taking out what was put in gives the same document
            assert edit_document(edit_document(old, Edit(("x",)))[0], Edit((), ("x",)))[0] == old


@pytest.mark.parametrize("name", odd_documents())
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_odd_forms(name, encoding):
    text = odd_documents()[name]
    if "ISO-8859-1" in text:
        encoding = "iso-8859-1"
    old = text.encode(encoding)
    before = read_words(old)[0]
    new, done = edit_document(old, ADDED)
    assert done == ADDED
    after = read_packet(new).tags
    assert sorted(map(word_key, after)) == sorted(map(word_key, [*before, *ADDED.add]))
    assert ("Animals", "new one") in read_packet(new).paths
    for word in before:
        less, gone = edit_document(new, Edit((), (word.upper(),)))
        assert word_key(word) in {word_key(one) for one in gone.remove}
        assert word_key(word) not in {word_key(one) for one in read_packet(less).tags}
    assert edit_document(new, ADDED) == (new, Edit())  # once is enough


def test_a_bag_keeps_its_layout():
    text = odd_documents()["empty bag"]
    new = edit_document(text.encode(), Edit(("a", "b")))[0].decode()
    assert (
        "<dc:subject>\n  <rdf:Bag>\n   <rdf:li>a</rdf:li>\n   <rdf:li>b</rdf:li>\n  </rdf:Bag>\n </dc:subject>" in new
    )
    windows = text.replace("\n", "\r\n")
    assert "\r\n   <rdf:li>a</rdf:li>\r\n  </rdf:Bag>\r\n" in edit_document(windows.encode(), Edit(("a",)))[0].decode()


def test_a_literal_is_moved_as_it_is_written():
    new = edit_document(odd_documents()["literal"].encode(), Edit(("two",)))[0].decode()
    assert "<rdf:Bag><rdf:li> one <!-- c --></rdf:li><rdf:li>two</rdf:li></rdf:Bag>" in new
    new = edit_document(odd_documents()["attribute"].encode(), Edit(("two",)))[0].decode()
    assert "<rdf:li>a &amp; b</rdf:li><rdf:li>two</rdf:li>" in new and " dc:subject=" not in new


def test_letters_that_an_encoding_lacks_become_references():
    new = edit_document(odd_documents()["latin"].encode("latin-1"), Edit(("海", "Öl")))[0]
    assert b"&#28023;" in new and "Öl".encode("latin-1") in new
    assert read_packet(new).tags == ["Käse", "海", "Öl"]


def test_a_new_document():
    new = new_document(Edit(("dog",), (), ("animal|dog",)))
    assert read_packet(new).tags == ["dog"] and read_packet(new).paths == [("animal", "dog")]
    assert new == new_document(Edit(("dog", "DOG"), (), ("animal|dog",)))
    back = edit_document(new, Edit((), ("Dog",), (), ("ANIMAL|dog",)))[0]
    assert read_words(back) == ([], [])


def test_a_word_that_is_put_in_and_taken_out_stays():
    old = odd_documents()["sequence"].encode()
    assert edit_document(old, Edit(("one",), ("one",))) == (old, Edit())
    assert edit_document(old, Edit(("one",), ("ONE",))) == (old, Edit())
    changed, done = edit_document(old, Edit(("ONE",), ("one",)))  # but one that is spelled anew
    assert changed == old.replace(b">one<", b">ONE<") and done == Edit(("ONE",), ("one",))
    assert edit_document(changed, done.reverse) == (old, done.reverse)


LAUGHS = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><r>&b;</r>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not well-formed"),
        (b"<a>", "not well-formed"),
        (b"<a/>", "no rdf:RDF"),
        (b"hello", "not well-formed"),
        (LAUGHS.encode(), "document type"),
        (b"\xff\xfe\x00\x00<\0\0\0", "UTF-32"),
        (b'<?xml version="1.0" encoding="utf-8"?><a>\xff</a>', "characters"),
        (b'<?xml version="1.0" encoding="nonsense"?><a/>', "encoding"),
        (b"<a>" * 200, "within elements"),
        (
            odd_documents()["sequence"]
            .replace("<rdf:Seq>", '<rdf:Description rdf:about="x">')
            .replace("</rdf:Seq>", "</rdf:Description>")
            .encode(),
            "form",
        ),
    ],
)
def test_what_cannot_be_edited_is_refused(content, words):
    with pytest.raises(Refused, match=words):
        edit_document(content, Edit(("x",)))


def test_a_document_beyond_all_measure_is_refused():
    with pytest.raises(Refused, match="16 MB"):
        Document(b"<" + b"a" * (16 << 20) + b"/>")


word = st.text(min_size=1, max_size=12).filter(word_key)
FORMS = [(name, text.encode("iso-8859-1" if name == "latin" else "utf-8")) for name, text in odd_documents().items()]


@settings(max_examples=60, deadline=None)
@given(
    form=st.sampled_from(FORMS),
    steps=st.lists(
        st.tuples(st.booleans(), st.lists(word | st.sampled_from(WORDS), min_size=1, max_size=3)), max_size=5
    ),
)
def test_any_edits_in_any_order(form, steps):
    """The words are those of a set that is changed in the same way, and the rest of the document stays."""
    content = form[1]
    held = {word_key(one) for one in read_words(content)[0]}
    for is_added, words in steps:
        words = [one for one in words if one == "".join(c for c in one if c.isprintable())]
        keys = {word_key(one) for one in words} - {""}
        edit = Edit(tuple(words)) if is_added else Edit((), tuple(words))
        content, done = edit_document(content, edit)
        assert {word_key(one) for one in (*done.add, *done.remove)} == (keys - held if is_added else keys & held)
        held = held | keys if is_added else held - keys
        assert {word_key(one) for one in read_words(content)[0]} == held
        assert {word_key(one) for one in read_packet(content).tags if word_key(one)} == held


N_MUTATED = int(os.environ.get("MANYVIEW_FUZZ", "2000"))


_TAG = re.compile(rb"<[^<>]*>")
_SCRAPS = (
    b"<rdf:li>",
    b"</rdf:li>",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"]]>",
    b"/>",
    b"&#0;",
    b"&x;",
    b"<?",
    b"\xff",
    b"\0",
)
_WHOLE = (
    b"<!-- a > b -->",
    b"<?pi x?>",
    b" ",
    b"\r\n",
    b"<![CDATA[ <rdf:li> ]]>",
    b"&#x41;",
    b"<q:q xmlns:q='urn:q' a='/>'/>",
    b"<rdf:li>x</rdf:li>",
    b"<rdf:li/>",
    b"<rdf:Bag/>",
    b"<rdf:Description/>",
    b"<rdf:RDF><rdf:Description/></rdf:RDF>",
)


def mutated(content, chance):
    """A document with a few bytes changed, or with whole things put between its tags, or with elements taken out."""
    made = bytearray(content)
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(made) or 1)
        tags = list(_TAG.finditer(made))
        what = chance.random()
        if what < 0.5 and tags:
            where = chance.choice(tags).end()
            made[where:where] = chance.choice(_WHOLE)
        elif what < 0.6 and tags:
            first = chance.choice(tags)
            end = made.find(b"</" + first.group()[1:].split()[0].rstrip(b"/>"), first.end())
            made[first.start() : made.find(b">", end) + 1 if end > 0 else first.end()] = b""
        elif what < 0.7 and tags:
            tag = chance.choice(tags)
            made[tag.start() : tag.end()] = tag.group().swapcase() if chance.random() < 0.3 else tag.group() * 2
        elif what < 0.8 and made:
            made[place] = chance.choice((chance.randrange(256), *b"<>&\"'/=: \n\0"))
        elif what < 0.9:
            made[place:place] = chance.choice(_SCRAPS)
        else:
            del made[place : place + chance.randrange(1, 40)]
    return bytes(made)


def test_mutated_documents_are_edited_or_refused(record_property):
    record_property("count", N_MUTATED)
    chance = random.Random(0)  # noqa: S311  variety, not secrets
    seeds = [other_program(program, seed)[0] for program in PROGRAMS for seed in range(6)]
    seeds += [content for _, content in FORMS]
    n_edited = 0
    for _ in range(N_MUTATED):
        content = mutated(chance.choice(seeds), chance)
        try:
            held = read_words(content)[0]
            new, done = edit_document(content, ADDED)
        except Refused as error:
            assert str(error)
            continue
        n_edited += 1
        assert sorted(map(word_key, read_words(new)[0])) == sorted(map(word_key, [*held, *done.add]))
        back, _ = edit_document(new, done.reverse)
        assert sorted(map(word_key, read_words(back)[0])) == sorted(map(word_key, held))
        if not any(Document(content).attributed(name) for name in (("http://purl.org/dc/elements/1.1/", "subject"),)):
            assert is_subsequence(content, new)
        for path in done.add_paths:
            assert value_key(HIERARCHY, path) in {value_key(HIERARCHY, one) for one in read_words(new)[1]}
    assert n_edited > N_MUTATED // 5
