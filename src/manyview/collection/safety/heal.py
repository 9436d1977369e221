"""Files of a collection that are damaged and can be made again: found, and set aside so that they are.

Size, header and, for sparse rows, the whole structure are looked at; single bits that turned inside of numbers are not
seen. What is set aside counts as not computed yet, and its file goes once nobody reads it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import StoreError
from .. import layout
from ..segment_files import Segment, ViewInfo
from ..store import Store

__all__ = ["damaged_packs", "damaged_views", "set_aside_packs", "set_aside_rows"]


def damaged_views(collection: Store) -> list[str]:
    """Views of which some rows cannot be read."""
    return [name for name in collection.view_names if _damaged(collection, collection.segments.info(name))]


def set_aside_rows(collection: Store, names: Iterable[str]) -> dict[str, int]:
    """Forget the rows of these views that cannot be read; view -> how many, where there were any."""
    found: dict[str, int] = {}
    for name in names:
        if name not in collection.view_names:
            continue
        info = collection.segments.info(name)
        if damaged := _damaged(collection, info):
            collection.segments._retire(info, damaged)
            found[name] = sum(int((segment.items >= 0).sum()) for segment in damaged)
    return found


def _damaged(collection: Store, info: ViewInfo) -> list[Segment]:
    segments = collection.segments
    found = []
    for segment in segments._segments(info):
        try:
            segments._csr(info, segment) if info.is_sparse else segments._open(info, segment, "")
        except StoreError:
            found.append(segment)
    return found


def damaged_packs(collection: Store) -> list[tuple[int, str]]:
    """Packs of thumbnails that are gone, or not as long as they were: number and name."""
    found = []
    rows = collection._catalog.rows(
        "SELECT id, name, size, (SELECT coalesce(max(start + length), 0) FROM thumbs WHERE pack_id = packs.id) "
        "FROM packs"
    )
    for number, name, size, end in rows:
        path = collection.path / layout.THUMBS / name
        if not path.is_file() or path.stat().st_size != size or end > size:
            found.append((number, name))
    return found


def set_aside_packs(collection: Store) -> int:
    """Forget thumbnails whose pack is damaged; how many."""
    catalog, n = collection._catalog, 0
    for number, name in damaged_packs(collection):
        with catalog.transaction():
            n += int(catalog.value("SELECT count(*) FROM thumbs WHERE pack_id = ?", (number,)))
            catalog.run("DELETE FROM thumbs WHERE pack_id = ?", (number,))
            catalog.run("DELETE FROM packs WHERE id = ?", (number,))
            catalog.run("INSERT OR REPLACE INTO retired (path) VALUES (?)", (f"{layout.THUMBS}/{name}",))
    return n
