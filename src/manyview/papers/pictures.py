"""Pictures for the tables: pixels, tags, captions and classes, and their features, kept from run to run."""

from __future__ import annotations

import csv
import io
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..datasets import unpack_emoji

__all__ = ["TOPIC_WORDS", "PictureCollection", "emoji_pictures", "tar_pictures"]

TOPIC_WORDS = frozenset(
    "ski skier snowboard snowboarder sled skateboard skateboarder bike bicycle biker bicyclist cyclist surf surfer "
    "surfboard climb climber soccer dog puppy greyhound pool".split()
)
"""Tags of flickr8k-captioned that its classes were made from: drop them where clusters of tags are judged by those."""


@dataclass
class PictureCollection:
    """Items in the order of the manifest. Iterating gives the pictures, decoded one after another.

    Attributes
    ----------
    path : a tar file, or a folder
    files : list of str, paths inside it
    tags : list of lists of words; an empty list where none are known
    labels : name -> array of class names, "" where an item has none; for judging only
    captions : list of lists of sentences
    names : list of str, what an item is called (emoji), else ""
    cache : folder of computed features, or None
    """

    name: str
    path: Path
    files: list[str]
    tags: list[list[str]]
    labels: dict[str, NDArray[np.str_]]
    captions: list[list[str]]
    names: list[str] = field(default_factory=list)
    cache: Path | None = None

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[Any]:
        """Pillow images, RGB."""
        yield from self.some(range(len(self)))

    def some(self, items: Sequence[int]) -> Iterator[Any]:
        """The pictures of some items."""
        from PIL import Image

        with _reader(self.path) as read:
            for item in items:
                yield Image.open(io.BytesIO(read(self.files[item]))).convert("RGB")

    def picture(self, item: int) -> Any:
        """One picture."""
        return next(self.some([item]))

    def part(self, items: Sequence[int]) -> PictureCollection:
        """Some of the items as a collection of their own."""
        return PictureCollection(
            f"{self.name}-{len(items)}",
            self.path,
            [self.files[i] for i in items],
            [self.tags[i] for i in items],
            {name: values[items] for name, values in self.labels.items()},
            [self.captions[i] for i in items],
            [self.names[i] for i in items],
            self.cache,
        )

    @cached_property
    def embedding(self) -> Any:
        """The default picture view: float32 (n_items, 1280), rows of length one."""
        return self.view("embedding")

    def view(self, name: str, **options: Any) -> Any:
        """The rows of an extractor of pictures, which learns from these where it has to; kept on disk."""
        from ..features.base import extractor

        return self.learned(extractor(name, **options))

    def learned(self, made: Any) -> Any:
        """The same for an extractor that is not in the list of names; sparse rows become dense."""

        def rows() -> Any:
            if made.learns:
                made.learn(self)
            found = made.extract(self)
            return found.toarray() if hasattr(found, "toarray") else found

        return self.kept(f"{made.name} {made.version}", rows)

    def kept(self, what: str, make: Any) -> Any:
        """What ``make()`` gives, an array; read from the cache where it is there."""
        key = sha256(f"{what} {self.files}".encode()).hexdigest()[:12]
        if self.cache is None:
            return make()
        path = self.cache / f"{self.name}-{what.split()[0]}-{key}.npy"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_suffix(".new.npy")
            np.save(new, make())
            new.replace(path)
        return np.load(path, allow_pickle=False)


@contextmanager
def _reader(path: Path) -> Iterator[Any]:
    if path.is_dir():
        yield lambda name: (path / name).read_bytes()
        return
    with tarfile.open(path) as tar:

        def read(name: str) -> bytes:
            file = tar.extractfile(name)
            if file is None:
                raise FileNotFoundError(f"{path} holds no file {name}")
            return file.read()

        yield read


def emoji_pictures(cache: Path | None) -> PictureCollection:
    """The emoji that ship, unpacked beside the cache (or into a temporary folder that goes with the process)."""
    folder = cache / "emoji" if cache else Path(_temporary().name)
    rows = unpack_emoji(folder)
    return _collection("emoji", folder, rows, "images/", ("group", "subgroup"), cache)


def tar_pictures(name: str, path: Path, cache: Path | None) -> PictureCollection:
    """The pictures of a tar file with a ``manifest.csv``."""
    with _reader(path) as read:
        manifest = io.StringIO(read(f"{name}/manifest.csv").decode("utf-8"), newline="")
    return _collection(name, path, list(csv.DictReader(manifest)), f"{name}/", ("label",), cache)


def _collection(
    name: str, path: Path, rows: list[dict[str, str]], prefix: str, classes: tuple[str, ...], cache: Path | None
) -> PictureCollection:
    return PictureCollection(
        name=name,
        path=path,
        files=[prefix + row["file"] for row in rows],
        tags=[[word for word in row["tags"].split(";") if word] for row in rows],
        labels={key: np.array([row[key] for row in rows]) for key in classes},
        captions=[[part for part in row.get("caption", "").split(" | ") if part] for row in rows],
        names=[row.get("name", "") for row in rows],
        cache=cache,
    )


_TEMPORARY: list[tempfile.TemporaryDirectory[str]] = []


def _temporary() -> tempfile.TemporaryDirectory[str]:
    if not _TEMPORARY:
        _TEMPORARY.append(tempfile.TemporaryDirectory(prefix="manyview-emoji-"))
    return _TEMPORARY[0]
