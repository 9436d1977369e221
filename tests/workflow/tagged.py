"""A small collection whose true tags are known: topics seen in a view, two thirds of their words recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from manyview import Collection

WORDS = (("ski", "snow", "sky"), ("sea", "sand", "boat"), ("street", "car", "night"), ("tree", "bird", "leaf"))


def make_tagged(folder: Path, n_items: int = 240, recorded: float = 0.65, seed: int = 0, tagged: float = 1.0) -> Path:
    """Write ``items.npz`` and give its path; item s is of topic s % 4, and its true tags are those of ``truth(s)``."""
    rng = np.random.default_rng(seed)
    topic = np.arange(n_items) % len(WORDS)
    looks = (2.5 * np.eye(len(WORDS), 8)[topic] + rng.normal(size=(n_items, 8))).astype(np.float32)
    names = [word for words in WORDS for word in words]
    tags = np.zeros((n_items, len(names)), dtype=np.uint8)
    for s in range(n_items):
        if rng.random() < tagged:
            for n in range(3):
                tags[s, 3 * topic[s] + n] = rng.random() < recorded
    path = folder / "items.npz"
    np.savez(path, view_looks=looks, tags=tags, tag_names=names, y=topic, class_names=["a", "b", "c", "d"])
    return path


def truth(item_id: int) -> tuple[str, ...]:
    """The true tags of an item, by its number in the collection."""
    return WORDS[(item_id - 1) % len(WORDS)]


def make_collection(folder: Path, **options: object) -> Collection:
    """The same as a collection that is open for writing."""
    return Collection.create(folder / "items.manyview", make_tagged(folder, **options))  # type: ignore[arg-type]
