"""Which lists are ours."""

import json

import pytest

from manyview.files import may_replace
from manyview.writeback.cells import list_of
from manyview.writeback.proposal_files import ShownProposal, is_proposals, write_proposals

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


def test_lists_of_other_columns_are_not_the_same(tmp_path):
    write_proposals(tmp_path / "list.json", ROWS)
    assert not may_replace(tmp_path / "list.json", list_of(("id", "item", "path", "accepted", "tags")))


def test_only_plain_files_are_replaced(tmp_path):
    assert not may_replace("/dev/null", lambda _: True)
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    assert may_replace(tmp_path / "link", is_proposals)
