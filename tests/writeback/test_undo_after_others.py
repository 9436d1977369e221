"""Taking back what was written, where files were changed or renamed since."""

import os

from manyview.ingest.xmp import SUBJECT
from manyview.writeback.document import HIERARCHY, TAGS_LIST, Document
from manyview.writeback.editor import Edit, edit_document


def values(path):
    document = Document(path.read_bytes())
    return {name: (document.values(name), len(document.properties(name))) for name in (SUBJECT, HIERARCHY, TAGS_LIST)}


def test_no_empty_list_is_left(four):
    four.decide([(2, "dog")], True)
    four.apply()
    path = four.source / "p001.png.xmp"
    path.write_bytes(edit_document(path.read_bytes(), Edit(("theirs",)))[0])
    four.undo()
    assert values(path) == {SUBJECT: (["theirs"], 1), HIERARCHY: ([], 0), TAGS_LIST: ([], 0)}


def test_sidecars_that_stayed_while_pictures_changed_names_are_taken_back(four):
    names = ("p001.png", "p003.png")
    four.decide([(2, "cow"), (4, "bee")], True)
    four.apply()
    first, second = (four.source / name for name in names)
    os.rename(first, four.source / "x")
    os.rename(second, first)
    os.rename(four.source / "x", second)
    four.read(four.source)
    four.undo()
    assert sorted(path.name for path in four.source.glob("*.xmp")) == ["p000.xmp", "p002.xmp"]
    assert four.tagging.words_of(2) == ["cow"] and four.tagging.words_of(4) == ["bee"]
