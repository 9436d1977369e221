"""Real photographs and drawings for the tables: pixels, tags, captions and classes, and the picture embedding.

Read from the tars in the folder that MANYVIEW_DATA names. Embeddings are kept under ``.bench``, by the extractor's
version, because they take some seconds.
"""

from __future__ import annotations

import csv
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from manyview.features.base import Extractor, extractor

from ..environments import BENCH
from .collections import data_folder

NAMES = ("emoji", "flickr8k-captioned", "scene8", "caltech101-7")
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
    files : list of str, paths inside the tar
    tags : list of lists of words; an empty list where none are known
    labels : name -> array of class names, "" where an item has none; for judging only
    captions : list of lists of sentences
    names : list of str, what an item is called (emoji), else ""
    """

    name: str
    path: Path
    files: list[str]
    tags: list[list[str]]
    labels: dict[str, np.ndarray]
    captions: list[list[str]]
    names: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[Any]:
        """Pillow images, RGB."""
        from PIL import Image

        with tarfile.open(self.path) as tar:
            for name in self.files:
                file = tar.extractfile(name)
                assert file is not None
                yield Image.open(io.BytesIO(file.read())).convert("RGB")

    @cached_property
    def embedding(self) -> np.ndarray:
        """The default picture view: float32 (n_items, 1280), rows of length one."""
        return self.view("embedding")

    def view(self, name: str, **options: Any) -> np.ndarray:
        """The rows of an extractor of pictures, which learns from these where it has to; kept on disk."""
        return self.learned(extractor(name, **options))

    def learned(self, made: Extractor) -> np.ndarray:
        """The same for an extractor that is not in the list of names; sparse rows become dense."""
        key = sha256(f"{made.version} {self.path.stat().st_size}".encode()).hexdigest()[:12]
        kept = BENCH / "features" / f"{self.name}-{made.name}-{key}.npy"
        if not kept.is_file():
            if made.learns:
                made.learn(self)
            rows = made.extract(self)
            rows = rows.toarray() if hasattr(rows, "toarray") else rows
            kept.parent.mkdir(parents=True, exist_ok=True)
            new = kept.with_suffix(".new.npy")
            np.save(new, rows)
            new.replace(kept)
        return np.load(kept, allow_pickle=False)


def picture_collection(name: str) -> PictureCollection | None:
    """One of ``NAMES``; None where its file is not there."""
    if name not in NAMES:
        raise ValueError(f"there is no picture collection {name!r}; there are {', '.join(NAMES)}")
    folder = data_folder()
    path = folder and folder / ("emoji" if name == "emoji" else "images") / f"{name}.tar"
    if path is None or not path.is_file():
        return None
    manifest, prefix = ("items.csv", "images/") if name == "emoji" else (f"{name}/manifest.csv", f"{name}/")
    with tarfile.open(path) as tar:
        file = tar.extractfile(manifest)
        assert file is not None
        rows = list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8", newline="")))
    classes = ("group", "subgroup") if name == "emoji" else ("label",)
    return PictureCollection(
        name=name,
        path=path,
        files=[prefix + row["file"] for row in rows],
        tags=[[word for word in row["tags"].split(";") if word] for row in rows],
        labels={key: np.array([row[key] for row in rows]) for key in classes},
        captions=[[part for part in row.get("caption", "").split(" | ") if part] for row in rows],
        names=[row.get("name", "") for row in rows],
    )
