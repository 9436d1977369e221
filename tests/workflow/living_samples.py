"""Small collections of points around a few centres, for tests of living clusterings."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from manyview import Collection

CENTRES = 6.0 * np.random.default_rng(0).standard_normal((6, 5))


def points(kinds, seed=0):
    """Two views of items of the given kinds."""
    rng = np.random.default_rng([seed, len(kinds)])
    looks = CENTRES[np.asarray(kinds)] + rng.standard_normal((len(kinds), 5))
    return {
        "looks": looks.astype(np.float32),
        "more": (looks[:, :3] + 0.3 * rng.standard_normal((len(kinds), 3))).astype(np.float32),
    }


def write(path: Path, kinds, seed=0, tags=None) -> Path:
    """The points as a file of features; ``tags`` are lists of words."""
    arrays = {f"view_{name}": rows for name, rows in points(kinds, seed).items()}
    if tags is not None:
        names = sorted({word for words in tags for word in words})
        arrays["tags"] = np.array([[word in words for word in names] for words in tags], dtype=np.uint8)
        arrays["tag_names"] = np.array(names)
    np.savez(path, **arrays)
    return path


def make(folder: Path, n_each=20, n_kinds=4, tags=None) -> Collection:
    """A collection of so many items of each kind, open for writing. Items 1 to n_each are of kind 0, and so on."""
    kinds = np.repeat(np.arange(n_kinds), n_each)
    return Collection.create(folder / "c.manyview", write(folder / "old.npz", kinds, tags=tags))
