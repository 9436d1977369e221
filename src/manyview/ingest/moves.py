"""Files that are gone here and new there with the same bytes: the same items, elsewhere.

Rows of a table without ids are known by their place instead: what was said of one must not fall on another.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ..collection.arrivals import Content
from ..collection.items import Known
from ..collection.whereabouts import Lost, Move
from ..errors import StoreError
from ..figures import counted
from ..files import BadFile, FileFacts, open_regular

if TYPE_CHECKING:
    from ..collection.store import Store

__all__ = ["LARGE", "Found", "check_places", "content_of", "find_moves", "hash_file", "is_place_key", "place_key"]

LARGE = 64 * 2**20
"""Files up to so many bytes are read as a whole when they come in; larger ones when views are computed."""
_SHOWN = 40
"""Letters of a text that a refusal quotes."""


def content_of(file: BinaryIO) -> bytes:
    """SHA-256 of an open file, from its first byte."""
    file.seek(0)
    found = hashlib.sha256()
    while part := file.read(2**20):
        found.update(part)
    return found.digest()


def hash_file(path: str) -> tuple[bytes, FileFacts] | None:
    """The same by name, with what the file was like then; None where it cannot be read."""
    try:
        with open_regular(path) as (file, facts):
            return content_of(file), facts
    except BadFile:
        return None


class Found(NamedTuple):
    """What the bytes of files say about who they are."""

    moves: list[Move]
    replaced: list[int]
    """Items that were gone before, and at whose paths other files are now: the camera has begun to count anew."""
    contents: dict[str, bytes]
    """Path -> content, of the files that were read to find out."""


def find_moves(
    collection: Store,
    source_id: int,
    root: str,
    files: Mapping[str, FileFacts],
    known: Mapping[str, Known],
    lost: Mapping[str, Known],
) -> Found:
    """Look for items whose bytes are at another path now. Writes nothing.

    files : what is in the folder; known : what the catalogue holds of it, by path; lost : those of the known that are
    not there any more

    Sizes choose who is compared, the whole content decides. An item that was read before contents were kept is known
    by device, inode, size and time together. A file that changed where it is stays the same item, unless what is there
    now is another item's content.
    """
    open_paths = {path for path, facts in files.items() if not _is_as_known(known.get(path), facts)}
    sizes = {files[path].size for path in open_paths}
    missing = [_lost(source_id, root, path, was) for path, was in lost.items()]
    missing += [_lost(source_id, root, path, known[path]) for path in open_paths if path in known]
    missing += collection.whereabouts.elsewhere(source_id, sizes)
    missing = [one for one in missing if one.facts is not None and one.facts.size]
    wanted = {one.facts.size for one in missing if one.facts is not None}
    contents: dict[str, bytes] = {}
    at_home: set[int] = set()
    for path in sorted(open_paths, key=os.fsencode):
        read = hash_file(os.path.join(root, path)) if files[path].size in wanted else None
        if read is not None:
            contents[path] = read[0]
            if path in known and known[path].content in (read[0], None):
                at_home.add(known[path].id)
    same: dict[bytes | FileFacts | None, list[Lost]] = defaultdict(list)
    for one in missing:
        if one.id not in at_home:
            same[one.facts if one.content is None else one.content].append(one)
    moves: list[Move] = []
    taken = set(at_home)
    for path, content in contents.items():
        alike = same[content] or same[files[path]]
        if alike and not (path in known and known[path].id in at_home):
            full = os.path.join(root, path)
            best = min(alike, key=lambda one: _unlikeness(one, source_id, full))
            alike.remove(best)
            taken.add(best.id)
            moves.append(Move(best.id, path, files[path], best.path, full, best.is_gone))
    others = [
        was.id
        for path in open_paths
        if (was := known.get(path)) is not None and was.state == "gone" and was.content is not None
        if was.id not in taken and was.content != contents.get(path)
    ]
    return Found(moves, others, contents)


def _is_as_known(was: Known | None, facts: FileFacts) -> bool:
    return was is not None and was.state != "gone" and was.facts is not None and was.facts[:2] == facts[:2]


def _lost(source_id: int, root: str, path: str, was: Known) -> Lost:
    return Lost(
        was.id, source_id, os.path.join(root, path.partition("\0")[0]), was.facts, was.content, was.state == "gone"
    )


def _unlikeness(one: Lost, source_id: int, path: str) -> tuple[bool, int, int]:
    """Which of several copies that are gone is it? One of the same source whose path ends most like this one."""
    old, new = one.path.split(os.sep)[::-1], path.split(os.sep)[::-1]
    shared = next((n for n, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(old))
    return one.source_id != source_id, -shared, one.id


# --- rows that are known by their place ---


def place_key(place: int) -> str:
    """What a row is called that has no id and no file, by its place from 0."""
    return f"row {place + 1}"


def is_place_key(key: str) -> bool:
    _, _, number = key.partition(" ")
    return number.isdecimal() and key == place_key(int(number) - 1)


def check_places(
    collection: Store, path: str, rows: Mapping[int, str], before: Mapping[int, Content], now: Mapping[int, Content]
) -> None:
    """Refuse where rows were inserted, removed or sorted and a person's word would be on another row than before.

    ``rows`` are the items that are known by their place, with what they are called. A row has moved where what it said
    is said at another place now; one that says something else, which was nowhere before, was edited where it is.
    """
    moved = _moved(rows, before, now)
    spoken = collection.living.spoken_of() & {*moved, *moved.values()} if moved else set()
    if not spoken:
        return
    row = next((row for row in moved if row in spoken), None) or next(row for row in moved if moved[row] in spoken)
    text = before[row].text or ""
    quoted = f" ({text[:_SHOWN] + '...' * (len(text) > _SHOWN)!r})" if text else ""
    others = f", and {counted(len(moved) - 1, 'other')} moved too" if len(moved) > 1 else ""
    raise StoreError(
        f"the rows of {path} are known by their place, and some are at another place now: what was {rows[row]}{quoted} "
        f"is {rows[moved[row]]}{others}. What you said of {counted(len(spoken), 'row')} (tags, answers, edits) would "
        "be on other rows, so nothing was changed. Put the rows back where they were, with new ones at the end, and "
        "run this again; or make a new collection, best with a column of ids (--id COLUMN), which may be in any order."
    )


def _moved(rows: Mapping[int, str], before: Mapping[int, Content], now: Mapping[int, Content]) -> dict[int, int]:
    """Rows that are at another place: the item at the old one -> the item at the new one."""
    left: defaultdict[str, list[int]] = defaultdict(list)
    came: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        was, is_now = (_mark(part.get(row)) for part in (before, now))
        if was != is_now:
            if was:
                left[was].append(row)
            if is_now:
                came[is_now].append(row)
    return {old: new for mark in left if mark in came for old, new in zip(left[mark], came[mark], strict=False)}


def _mark(content: Content | None) -> str | None:
    """By what a row is known again; tags alone are shared by too many."""
    return None if content is None or not content.is_here else content.text or content.fields
