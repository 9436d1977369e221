"""People, albums and favourites in the JSON files of a Google Takeout, which lie beside the pictures.

``IMG_1.jpg.json`` or ``IMG_1.jpg.supplemental-metadata.json``, the latter cut short where names are long, hold
``title``, ``people``, ``favorited`` and ``photoTakenTime``. Of two files with one name
``IMG_1(1).jpg`` has ``IMG_1.jpg(1).json``.
The ``metadata.json`` of a folder has the title of its album.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any, NamedTuple

__all__ = ["Brought", "read_takeout"]

_LARGEST = 1 << 20
_SUPPLEMENT = "supplemental-metadata"
_NUMBERED = re.compile(r"^(?P<name>.*)\((?P<n>\d+)\)$")


class Brought(NamedTuple):
    """What another program knows of one file."""

    place: str
    """Its path, or the end of it."""
    paths: tuple[tuple[str, ...], ...] = ()
    """Tags, each from the most general word."""
    albums: tuple[str, ...] = ()
    rating: int = 0
    """Stars, 0 for none."""


def read_takeout(folder: str | os.PathLike[str]) -> list[Brought]:
    """What the JSON files below a folder say of the pictures beside them."""
    found = []
    for top, _, names in os.walk(folder):
        told = {name: _parsed(os.path.join(top, name)) for name in sorted(names) if name.lower().endswith(".json")}
        albums = [title for facts in told.values() if facts and (title := _album(facts))]
        plain = set(names) - told.keys()
        pictures = {name: facts and _picture_of(name, facts, plain) for name, facts in told.items()}
        for name, facts in told.items():
            if facts and (picture := pictures[name]):
                people = tuple(("People", who) for who in _people(facts))
                starred = (("favorite",),) if facts.get("favorited") is True else ()
                found.append(Brought(os.path.join(top, picture), (*people, *starred), tuple(albums[:1])))
        plain -= set(filter(None, pictures.values()))
        found += [Brought(os.path.join(top, name), (), tuple(albums[:1])) for name in sorted(plain) if albums]
    return found


def _parsed(path: str) -> dict[str, Any] | None:
    """A file as JSON; None where it is none, or far larger than any of Takeout's."""
    try:
        if os.path.islink(path) or os.path.getsize(path) > _LARGEST:
            return None
        with open(path, encoding="utf-8-sig") as file:
            value = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _album(facts: dict[str, Any]) -> str:
    """The title of an album, of its own file; "" for others."""
    inside = facts.get("albumData", facts)
    if not isinstance(inside, dict) or "photoTakenTime" in inside or "url" in inside:
        return ""
    title = inside.get("title")
    return title.strip() if isinstance(title, str) else ""


def _people(facts: dict[str, Any]) -> list[str]:
    listed = facts.get("people")
    names = [one.get("name") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return [name.strip() for name in names if isinstance(name, str) and name.strip()]


def _picture_of(name: str, facts: dict[str, Any], beside: set[str]) -> str | None:
    """The picture that a JSON file is about, by its own name, else by the title in it."""
    stem = name[: -len(".json")]
    tries = [stem]
    numbered = _NUMBERED.match(stem)
    base, number = (numbered["name"], f"({numbered['n']})") if numbered else (stem, "")
    whole, _, last = base.rpartition(".")
    if whole and last and _SUPPLEMENT.startswith(last):
        base = whole
    root, ending = os.path.splitext(base)
    tries += [f"{root}{number}{ending}", base]
    title = facts.get("title")
    if isinstance(title, str) and "photoTakenTime" in facts:
        root, ending = os.path.splitext(os.path.basename(title))
        tries.append(f"{root}{number}{ending}")
    return next((one for one in tries if one in beside), None)
