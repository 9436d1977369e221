"""Which lists are ours."""

import json
import os

import pytest

from manyview import Collection
from manyview.errors import ParameterError
from manyview.files import may_replace
from manyview.writeback.cells import list_of, undoubled
from manyview.writeback.proposal_files import ShownProposal, is_proposals, read_answers, write_proposals
from tests.collection.samples import png

ROWS = [ShownProposal(1, "a dog.png", "=dog", 0.5, "beside [dogs]"), ShownProposal(2, "b", "x", 0.25, "")]


@pytest.mark.parametrize("ending", ["csv", "json"])
@pytest.mark.parametrize("rows", [ROWS, []])
def test_our_own_list_is_known_again(ending, rows, tmp_path):
    path = tmp_path / f"list.{ending}"
    assert may_replace(path, is_proposals)
    write_proposals(path, rows)
    assert may_replace(path, is_proposals)


@pytest.mark.parametrize(
    "content",
    [
        b"id,item,tag,probability,reason,my words\r\n",
        b"id;item;tag;probability;reason\r\n",
        b"\xef\xbb\xbfid,item,tag,probability,reason\r\n",  # saved again by a spreadsheet
        json.dumps([{"id": 1, "tag": "dog", "reason": "mine"}]).encode(),
        json.dumps({"id": 1, "item": 2, "tag": "dog", "probability": 1, "reason": "mine"}).encode(),
        b"[1, 2]",
        b"\xff\xd8\xff\x00",
    ],
)
def test_what_others_wrote_is_not_ours(content, tmp_path):
    path = tmp_path / "list.csv"
    path.write_bytes(content)
    assert not may_replace(path, is_proposals)


@pytest.mark.parametrize("ending", ["csv", "json"])
@pytest.mark.parametrize("with_id", [True, False])
def test_a_name_that_is_no_text_makes_no_list_unreadable(ending, with_id, tmp_path):
    """A list goes through a spreadsheet and comes back."""
    source, path = tmp_path / "pictures", tmp_path / f"list.{ending}"
    source.mkdir()
    for name in (b"latin\xe9.png", b"new\nline.png", b"=1.png"):
        with open(os.path.join(os.fsencode(source), name), "wb") as file:
            file.write(png(1))
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        names = {item.id: item.key for item in collection.items}
        write_proposals(path, [ShownProposal(n, name, "dog", 0.5, f"like {name}") for n, name in names.items()])
        text = path.read_bytes().decode("utf-8")
        if not with_id:
            text = text.replace("id,item", "number,item").replace('"id"', '"number"')
        path.write_bytes(text.encode("utf-8"))
        assert [one.item for one in read_answers(collection, path)] == list(names)


@pytest.mark.parametrize(
    "saved",
    [
        lambda text: text.encode("cp1252"),
        lambda text: text.replace(",", ";").encode("cp1252"),
        lambda text: ("sep=;\r\n" + text.replace(",", ";")).encode("utf-8-sig"),
        lambda text: text.replace(",", "\t").encode("utf-16"),
        lambda text: text.encode().decode("latin-1").encode("utf-8"),  # opened as if it were in Windows' letters
        lambda text: text.encode().decode("cp1252", "ignore").encode("cp1252", "ignore"),
    ],
)
def test_a_list_that_a_spreadsheet_saved_names_the_same_tags(saved, tmp_path):
    (tmp_path / "t.csv").write_text("id,tags\nGr\u00e9ce,Gr\u00f6\u00dfe\n", encoding="utf-8")
    path = tmp_path / "list.csv"
    with Collection.create(tmp_path / "c.manyview", tmp_path / "t.csv") as collection:
        write_proposals(path, [ShownProposal(1, "Gr\u00e9ce", "Gr\u00f6\u00dfe", 0.5, "why")])
        path.write_bytes(saved(path.read_text(encoding="utf-8")))
        assert read_answers(collection, path) == [(1, "Gr\u00f6\u00dfe", None)]
        path.write_text('id,tag\n1,dog\n1,"never closed\n1,cat\n')
        with pytest.raises(ParameterError, match="cannot be read as a table"):
            read_answers(collection, path)


def test_a_text_that_was_not_taken_for_another_stays():
    for text in ("Gr\u00f6\u00dfe", "plain", "\u65e5\u672c", "\u00c3", ""):
        assert undoubled(text) == text


def test_lists_of_other_columns_are_not_the_same(tmp_path):
    write_proposals(tmp_path / "list.json", ROWS)
    assert not may_replace(tmp_path / "list.json", list_of(("id", "item", "path", "accepted", "tags")))


def test_only_plain_files_are_replaced(tmp_path):
    assert not may_replace("/dev/null", lambda _: True)
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    assert may_replace(tmp_path / "link", is_proposals)
