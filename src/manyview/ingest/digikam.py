"""Tags and ratings in digiKam's own database (``digikam4.db``), which is only read.

As its published schema has it: ``Albums`` (relativePath), ``Images`` (album, name, status), ``Tags`` (id, pid, name),
``ImageTags``, ``ImageInformation`` (rating). Its internal tags are left out.
"""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from urllib.parse import quote

from ..errors import StoreError
from .takeout import Brought

__all__ = ["read_digikam"]

_INTERNAL = "_Digikam_Internal_Tags_"
_TABLES = {"Albums", "Images", "Tags", "ImageTags"}
_VISIBLE = 1
"""Of ``Images.status``: the others are hidden, in the trash or gone."""


def read_digikam(path: str | os.PathLike[str]) -> list[Brought]:
    """What digiKam knows of each picture; ``StoreError`` where this is not its database."""
    address = f"file:{quote(os.path.abspath(os.fspath(path)))}?mode=ro"
    try:
        connection = sqlite3.connect(address, uri=True)
    except sqlite3.Error as error:
        raise StoreError(f"{os.fspath(path)} cannot be opened: {error}.") from error
    try:
        return _read(connection, os.fspath(path))
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{os.fspath(path)} is not a database of digiKam that can be read ({error}). Name its digikam4.db."
        ) from error
    finally:
        connection.close()


def _read(connection: sqlite3.Connection, path: str) -> list[Brought]:
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not there >= _TABLES:
        raise StoreError(f"{path} is not a database of digiKam: it has no table {min(_TABLES - there)}.")
    above = {number: (parent, name) for number, parent, name in connection.execute("SELECT id, pid, name FROM Tags")}
    ratings: dict[int, int] = {}
    if "ImageInformation" in there:
        ratings = dict(connection.execute("SELECT imageid, rating FROM ImageInformation WHERE rating > 0"))
    paths = defaultdict(list)
    for image, tag in connection.execute("SELECT imageid, tagid FROM ImageTags ORDER BY imageid, tagid"):
        if (way := _way(tag, above)) and way[0] != _INTERNAL:
            paths[image].append(way)
    found = []
    for image, folder, name in connection.execute(
        "SELECT Images.id, relativePath, Images.name FROM Images JOIN Albums ON Albums.id = album WHERE status = ? "
        "ORDER BY Images.id",
        (_VISIBLE,),
    ):
        if paths[image] or ratings.get(image):
            place = f"{str(folder).strip('/')}/{name}".lstrip("/")
            found.append(Brought(place, tuple(paths[image]), rating=ratings.get(image, 0)))
    return found


def _way(tag: int, above: dict[int, tuple[int, str]]) -> tuple[str, ...]:
    """The words from the top down to a tag; a ring in a damaged database ends somewhere."""
    way: list[str] = []
    while tag in above and len(way) < len(above):
        tag, name = above[tag][0], str(above[tag][1]).strip()
        if name:
            way.append(name)
    return tuple(reversed(way))
