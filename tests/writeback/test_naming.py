"""Which sidecar is whose."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from manyview.files import is_sidecar, sidecars_by_owner
from manyview.writeback.naming import Folder, Place

names = st.sets(st.from_regex(r"[ab](\.(jpg|png|nef|txt|xmp|XMP)){0,3}", fullmatch=True), max_size=12)


@given(names=names, gone=names)
@example(names={"a.xmp", "a.xmp.jpg", "a.xmp.xmp"}, gone=set())  # a sidecar owns none
def test_sidecars_are_those_that_ingest_reads(names, gone):
    folder = Folder(names)
    for name in gone:
        folder.discard(name)
    left = names - gone
    expected = sidecars_by_owner(left)
    assert {name: folder.sidecars(name) for name in left if not is_sidecar(name) and folder.sidecars(name)} == expected


@pytest.mark.parametrize(
    ("there", "naming", "own", "others"),
    [
        ([], "full", "a.jpg.xmp", ()),
        ([], "stem", "a.xmp", ()),
        (["a.xmp"], "full", "a.xmp", ()),
        (["a.jpg.xmp"], "stem", "a.jpg.xmp", ()),
        (["a.jpg.xmp", "a.xmp"], "stem", "a.jpg.xmp", ("a.xmp",)),
        (["a.jpg.XMP"], "full", "a.jpg.XMP", ()),
        (["a.nef"], "stem", "a.jpg.xmp", ()),  # it would speak of both
        (["a.nef", "a.xmp"], "full", "a.jpg.xmp", ("a.xmp",)),
        (["a.txt", "a.xmp"], "full", "a.xmp", ()),  # a text is no picture
        (["a", "a.xmp"], "stem", "a.jpg.xmp", ()),  # that one belongs to the file called a
    ],
)
def test_where_tags_go(there, naming, own, others):
    assert Folder(["a.jpg", *there]).place("a.jpg", naming) == Place(own, others)


@pytest.mark.parametrize(
    ("there", "naming", "own", "others"),
    [
        ([], "stem", "a.xmp", ()),
        (["a.md"], "stem", "a.txt.xmp", ()),
        (["a.md", "a.xmp"], "full", "a.txt.xmp", ("a.xmp",)),
        (["a.jpg", "a.xmp"], "full", "a.txt.xmp", ("a.xmp",)),
        (["a.doc", "a.xmp"], "full", "a.xmp", ()),  # that is no item
    ],
)
def test_where_tags_of_a_document_go(there, naming, own, others):
    assert Folder(["a.txt", *there]).place("a.txt", naming) == Place(own, others)


@given(names=names, naming=st.sampled_from(["full", "stem"]))
def test_no_two_files_have_one_sidecar(names, naming):
    folder = Folder(names)
    owns = [folder.place(name, naming).own for name in names if not is_sidecar(name)]
    assert len(set(owns)) == len(owns)


def test_a_long_name_takes_the_short_form():
    name = "x" * 251 + ".jpg"
    assert Folder([name]).place(name, "full").own == "x" * 251 + ".xmp"
    assert Folder([name, "x" * 251 + ".nef"]).place(name, "full").own == name + ".xmp"  # and writing it says why not
