"""Thumbnails: many small pictures in one pack file, so that keeping them costs a few syncs and not one each."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from .. import durable
from ..errors import StoreError
from . import layout
from .catalog import Catalog

__all__ = ["Thumbs"]


class Thumbs:
    """Encoded thumbnails by item."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def add(self, pictures: Mapping[int, bytes]) -> None:
        """Keep the encoded thumbnails of some items."""
        if not pictures:
            return
        token = secrets.token_hex(8)
        places, start = [], 0
        for item, picture in pictures.items():
            places.append((int(item), start, len(picture)))
            start += len(picture)
        with self._catalog.transaction():
            durable.write_file(self._catalog.root / layout.THUMBS / token, pictures.values())
            pack = self._catalog.run("INSERT INTO packs (name, size) VALUES (?, ?)", (token, start))
            self._catalog.run_many(
                "INSERT OR REPLACE INTO thumbs (item_id, pack_id, start, length) VALUES (?, ?, ?, ?)",
                ((item, pack, begin, length) for item, begin, length in places),
            )

    def get(self, item_id: int) -> bytes | None:
        """The encoded thumbnail of an item, or None."""
        row = self._catalog.row(
            "SELECT name, start, length FROM thumbs JOIN packs ON packs.id = pack_id WHERE item_id = ?", (int(item_id),)
        )
        if row is None:
            return None
        path = self._catalog.root / layout.THUMBS / row[0]
        with durable.store_errors(path, "read"), path.open("rb") as file:
            file.seek(row[1])
            picture: bytes = file.read(row[2])
        if len(picture) != row[2]:
            raise StoreError(
                f"{path} is damaged: it is shorter than it was. Make the thumbnails again: `manyview features "
                f"{self._catalog.root}`."
            )
        return picture

    def missing(self) -> list[int]:
        """Pictures and videos that have no thumbnail yet."""
        rows = self._catalog.rows(
            "SELECT id FROM items WHERE state = 'here' AND kind IN ('picture', 'video') AND id NOT IN "
            "(SELECT item_id FROM thumbs) ORDER BY id"
        )
        return [row[0] for row in rows]
