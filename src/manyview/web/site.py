"""The gallery as plain files: the same pages, read-only, that need no server and no network.

What the routes would answer lies in ``data/<slug>.js``, each a script that puts one answer into ``MANYVIEW_DATA``:
a page opened from a disk may load scripts, but nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from .._version import __version__
from ..collection.history import now
from ..durable import make_private, make_public, store_errors
from ..errors import ParameterError
from ..features.attention import square_thumbnail
from ..features.opening.decode import BadFile, DecodePool
from ..types import Progress
from ..workflow.collection import Collection
from ..workflow.reading.index import Index
from .app import STATIC
from .media import SIDE, Original, name_of, open_original
from .refusals import Absent
from .site_data import site_answers

__all__ = ["Site", "export_site"]

_OURS = frozenset({"index.html", "assets", "data", "thumbs", "previews"})


@dataclass(frozen=True)
class Site:
    """What was written."""

    folder: Path
    n_items: int
    n_previews: int
    n_bytes: int


def export_site(
    path: Path, folder: Path, *, public: bool = False, positions: bool = False, progress: Progress | None = None
) -> Site:
    """Write the gallery of a collection into a folder that is new, or that holds an earlier one of these.

    The folder appears whole or not at all. Thumbnails and previews are our own encodings, without the metadata of the
    originals, which stay where they are; nor does it say where pictures were taken, unless ``positions`` are asked for.
    Nobody else on the machine can read it, unless it is ``public``.
    """
    if not (STATIC / "index.html").is_file():
        raise ParameterError("the pages of the gallery are not built. Run `make frontend` first.")
    _check_target(folder)
    place = folder.resolve()  # where a link leads
    with Collection.open(path) as collection, tempfile.TemporaryDirectory(dir=place.parent, prefix=".site-") as made:
        collection.check_output(folder)
        site = _Writer(Index(collection), Path(made) / "site", progress)
        with store_errors(folder):
            n_previews = site.write(positions)
            (make_public if public else make_private)(site.folder)
            _put(site.folder, place, Path(made) / "old")
        sizes = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        return Site(folder, int(site.index.ids.size), n_previews, sizes)


def _put(new: Path, place: Path, aside: Path) -> None:
    """Put a folder in the place of the one that is there, which goes aside, and back where that fails."""
    if place.exists():
        os.replace(place, aside)
    try:
        os.replace(new, place)
    except BaseException:
        if aside.exists():
            os.replace(aside, place)
        raise


def _check_target(folder: Path) -> None:
    if not folder.parent.is_dir():
        raise ParameterError(f"{folder.parent} does not exist; make it first, or choose another place.")
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ParameterError(f"{folder} exists and is a file; nothing was written. Choose another name.")
    strange = {entry.name for entry in folder.iterdir()} - _OURS - {path.name for path in STATIC.iterdir()}
    if strange or (any(folder.iterdir()) and not (folder / "data" / "site.js").is_file()):
        raise ParameterError(f"{folder} holds something other than an earlier export; choose another folder.")


class _Writer:
    def __init__(self, index: Index, folder: Path, progress: Progress | None) -> None:
        self.index, self.folder = index, folder
        index.called = index.collection.path.name  # where it lies is nobody's business
        self._progress = progress or (lambda *_: None)

    def write(self, positions: bool) -> int:
        self.folder.mkdir()
        for file in sorted(STATIC.rglob("*")):  # shutil.copytree would tell its errors all at once, as a list
            target = self.folder / file.relative_to(STATIC)
            if file.is_dir():
                target.mkdir()
            else:
                shutil.copyfile(file, target)
        for name in ("data", "thumbs", "previews"):
            (self.folder / name).mkdir()
        page = (STATIC / "index.html").read_text(encoding="utf-8")
        page = page.replace("<!--site-->", '<script src="./data/site.js"></script>', 1)
        (self.folder / "index.html").write_text(page, encoding="utf-8")
        facts = json.dumps({"version": __version__, "made_at": now()})
        (self.folder / "data" / "site.js").write_text(f"window.MANYVIEW_SITE = {facts};\n", encoding="ascii")
        for slug, answer in site_answers(self.index, self._progress, positions=positions):
            self._put(slug, answer)
        self._thumbs()
        return self._previews()

    def _put(self, slug: str, answer: Any) -> None:
        plain = answer.model_dump(mode="json") if isinstance(answer, BaseModel) else answer
        # Pure ASCII: a page on a disk does not say how its scripts are encoded.
        written = json.dumps(plain, separators=(",", ":"))
        text = f'(window.MANYVIEW_DATA = window.MANYVIEW_DATA || {{}})["{slug}"] = {written};\n'
        (self.folder / "data" / f"{slug}.js").write_text(text, encoding="ascii")

    def _thumbs(self) -> None:
        numbers = self.index.ids[self.index.has_thumb].tolist()
        for done, number in enumerate(numbers):
            content = self.index.collection.thumbs.get(number)
            if content is not None:
                (self.folder / "thumbs" / f"{number}.jpg").write_bytes(square_thumbnail(content))
            self._progress("thumbnails", done + 1, len(numbers))

    def _previews(self) -> int:
        """Pictures at the size of a screen, decoded in child processes with limits; of a clip, its middle."""
        index, made = self.index, 0
        numbers = index.ids[np.isin(index.kinds, ("picture", "video"))].tolist()
        opened: dict[str, Original] = {}
        with DecodePool(max_side=SIDE, thumbnail_side=SIDE) as pool, tempfile.TemporaryDirectory() as copies:

            def names() -> Iterator[str]:
                for number in numbers:
                    try:
                        original = open_original(index, number)
                    except Absent:
                        continue
                    name = name_of(original, copies)
                    opened[name] = original
                    yield name

            for done, (name, found) in enumerate(pool.decode(names())):
                original = opened.pop(name)
                original.file.close()
                if not isinstance(found, BadFile):
                    (self.folder / "previews" / f"{original.item}.jpg").write_bytes(found.thumbnail)
                    made += 1
                self._progress("previews", done + 1, len(numbers))
        return made
