"""Sixty small collections whose number of groups is known: the shared sets, and random draws of their classes.

A draw takes some classes and of each a random share between .3 and 1 of its items, all from one seed that is written
here, so that everybody gets the same items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from manyview import Views
from manyview.features.base import extractor

from .collections import data_folder, sparse_block
from .pictures import PictureCollection, picture_collection

PICTURE_SETS = ("scene8", "caltech101-7", "flickr8k-captioned")


@dataclass(frozen=True)
class Trial:
    """Items with classes. ``classes`` of the set are drawn, with ``most`` items each; None takes the whole set."""

    kind: str
    source: str
    classes: int | None = None
    most: int = 100
    seed: int = 0

    @property
    def name(self) -> str:
        return self.source if self.classes is None else f"{self.source}, {self.classes} drawn by {self.seed}"

    def load(self) -> tuple[Views, np.ndarray] | None:
        """The views and classes, from 0; None where the set is not there."""
        found = SOURCES.get(self.source, lambda: stored(self.source))()
        if found is None or self.classes is None:
            return found
        X, y = found
        rng = np.random.default_rng([self.seed, self.classes])
        rows = []
        for one in np.sort(rng.choice(np.unique(y), self.classes, replace=False)):
            here = rng.permutation(np.flatnonzero(y == one))
            share = 1.0 if self.most <= 3 else rng.uniform(0.3, 1.0)
            rows.append(here[: max(3, round(share * min(self.most, here.size)))])
        kept = np.sort(np.concatenate(rows))
        return X[kept], np.unique(y[kept], return_inverse=True)[1]


@cache
def stored(name: str) -> tuple[Views, np.ndarray] | None:
    """All views of an ``.npz`` as they are, counts as counts."""
    folder = data_folder()
    if folder is None or not (folder / f"{name}.npz").is_file():
        return None
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        blocks = {key[:-5] for key in file.files if key.endswith("_data") and key.startswith(("view_", "tags"))}
        pieces = {block + piece for block in blocks for piece in ("_data", "_indices", "_indptr", "_shape")}
        views = {block.removeprefix("view_"): sparse_block(file, block) for block in sorted(blocks)}
        for key in file.files:
            if key.startswith("view_") and key not in pieces and file[key].dtype.kind == "f":
                views[key[5:]] = file[key]
        if name == "cora":
            del views["inbound"]  # the citations once more
        return Views(views), file["y"].astype(np.int64)


@cache
def pictures(name: str) -> tuple[PictureCollection, np.ndarray, np.ndarray] | None:
    """A picture set, the rows that have a class, and the classes."""
    found = picture_collection(name)
    if found is None:
        return None
    names = found.labels["subgroup" if name == "emoji" else "label"]
    rows = np.flatnonzero(names != "")
    return found, rows, np.unique(names[rows], return_inverse=True)[1]


def looks(name: str) -> tuple[Views, np.ndarray] | None:
    found = pictures(name)
    return None if found is None else (Views({"embedding": found[0].embedding[found[1]]}), found[2])


def words(name: str, also_looks: bool) -> tuple[Views, np.ndarray] | None:
    """Captions, or tags where there are none; with the looks beside them if asked for."""
    found = pictures(name)
    if found is None:
        return None
    items, rows, y = found
    made = extractor("words")
    texts = [" ".join(items.captions[row] or items.tags[row]) for row in rows.tolist()]
    made.learn(texts)
    views = {"words": made.extract(texts)}
    return Views({"embedding": items.embedding[rows], **views} if also_looks else views), y


def pool() -> tuple[Views, np.ndarray] | None:
    """Three picture sets as one."""
    parts = [looks(name) for name in PICTURE_SETS]
    if any(part is None for part in parts):
        return None
    y = np.concatenate([100 * number + part[1] for number, part in enumerate(parts) if part])
    rows = np.vstack([part[0]["embedding"] for part in parts if part])
    return Views({"embedding": rows}), np.unique(y, return_inverse=True)[1]


SOURCES: dict[str, Callable[[], tuple[Views, np.ndarray] | None]] = {
    "scene8": lambda: looks("scene8"),
    "caltech101-7": lambda: looks("caltech101-7"),
    "flickr8k looks": lambda: looks("flickr8k-captioned"),
    "flickr8k captions": lambda: words("flickr8k-captioned", also_looks=False),
    "flickr8k both": lambda: words("flickr8k-captioned", also_looks=True),
    "emoji": lambda: words("emoji", also_looks=True),
    "pictures pooled": pool,
}


DRAWN: dict[str, list[tuple[str, tuple[int, ...], int]]] = {
    "pictures": [
        ("scene8", (4, 6), 60),
        ("caltech101-7", (4,), 60),
        ("flickr8k both", (3, 5), 60),
        ("emoji", (12, 20, 40), 30),
        ("pictures pooled", (8, 12, 16, 20, 20, 4), 45),
    ],
    "text": [
        ("flickr8k captions", (4, 6), 60),
        ("three_sources", (4,), 60),
        ("bbcsport", (3, 4), 120),
        ("reuters_multilingual_1200", (3, 4), 200),
        ("cora", (4,), 300),
        ("newsgroups_ten", (6, 6, 3, 8, 10), 120),
    ],
    "features": [
        ("handwritten_numerals", (3, 5, 7), 120),
        ("leaves100", (10, 25, 40), 16),
        ("cub_image_text", (4, 6), 60),
        ("corel5k", (5, 12, 25), 60),
        ("scene15", (5, 10, 15), 120),
        ("ccv_video", (5, 10), 120),
    ],
}
"""Of which sets how many classes are drawn, and with how many items each at most."""


def trials() -> Iterator[Trial]:
    """All of them, in an order that never changes."""
    for name in ("scene8", "caltech101-7", "flickr8k looks", "flickr8k both", "emoji", "pictures pooled"):
        yield Trial("pictures", name)
    for name in ("flickr8k captions", "three_sources", "bbcsport", "reuters_multilingual_1200", "webkb_course", "cora"):
        yield Trial("text", name)
    for name in ("handwritten_numerals", "leaves100", "cub_image_text", "corel5k"):
        yield Trial("features", name)
    yield from draws(0)


def draws(first_seed: int) -> Iterator[Trial]:
    """The draws alone; those of another first seed are of other classes and items."""
    for kind, sets in DRAWN.items():
        for name, sizes, most in sets:
            for seed, classes in enumerate(sizes, start=first_seed):
                yield Trial(kind, name, classes, most, seed)
    for seed in (0, 1):  # a dozen pictures
        yield Trial("pictures", "pictures pooled", 4, 3, first_seed + seed)
    yield Trial("text", "newsgroups_ten", 6, 50, first_seed + 7)
