"""The collections of the GHF-ART tables: channels of content and of text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .sources import Sources, sparse_block, stored_tags, tf_idf
from .tables import Scale, Task

__all__ = ["Channels", "corel_by_keyword", "corel_by_topic", "emoji", "newsgroups"]

COREL_TOPICS = (0, 1, 30, 2, 47, 26)
COREL_KEYWORDS = ("sunset", "plane", "birds", "bear", "beach", "hills")


@dataclass(frozen=True)
class Channels:
    """Views of content, in [0, 1] feature by feature where they are dense, and of text (0/1 and sparse)."""

    views: Mapping[str, Any]
    text: tuple[str, ...]

    def part(self, items: Any) -> Channels:
        """The same of some items."""
        return Channels({name: view[items] for name, view in self.views.items()}, self.text)

    def joined(self) -> Any:
        """All channels side by side as they are, CSR: what the paper gives to k-means."""
        from scipy.sparse import csr_matrix, hstack

        return hstack([csr_matrix(view) for view in self.views.values()]).tocsr()

    def relations(self) -> list[Any]:
        """Each channel over its own size, so that weights of channels mean the same everywhere."""
        from scipy.sparse import csr_matrix

        found = []
        for view in self.views.values():
            matrix = csr_matrix(view, dtype=np.float64)
            found.append(matrix / np.sqrt(matrix.multiply(matrix).sum()))
        return found


def _unit_range(rows: Any) -> Any:
    low, high = rows.min(axis=0), rows.max(axis=0)
    return (rows - low) / np.where(high > low, high - low, 1.0)


def _tag_matrix(lists: list[list[str]], on_items: int) -> Any:
    """0/1, CSR, of the words on so many items or more."""
    from scipy.sparse import csr_matrix

    from ..data.tags import TagTable

    known = TagTable.from_lists(lists).yes
    return csr_matrix(known[:, np.flatnonzero(known.getnnz(axis=0) >= on_items)], dtype=np.float64)


def emoji(sources: Sources, scale: Scale) -> Task:
    """The paper's 426 visual features, from pixels, and the tags; nine groups. A quick run takes every fourth."""
    pictures = sources.pictures("emoji")
    if scale.quick:
        pictures = pictures.part(range(0, len(pictures), 4))
    looks = np.hstack([pictures.view(name) for name in ("color_moments", "edges", "wavelets")]).astype(np.float64)
    names, y = np.unique(pictures.labels["group"], return_inverse=True)
    tags = _tag_matrix(pictures.tags, 3)
    words = (
        f"emoji, which ship with the package: {len(pictures):,} pictures, 225 grid colour moments, 73 edge directions "
        f"and 128 wavelet textures as content, {tags.shape[1]} words on three or more as tags, nine groups"
    )
    return Task(
        words, y, [*map(str, names)], pictures.picture, Channels({"looks": _unit_range(looks), "tags": tags}, ("tags",))
    )


def corel_by_topic(with_category: bool) -> Callable[[Sources, Scale], Task]:
    """Six topics; blobs as content, keywords as tags, and the topic itself as a third channel where asked for."""

    def load(sources: Sources, scale: Scale) -> Task:
        with sources.matrices("corel5k") as stored:
            rows = np.flatnonzero(np.isin(stored["y"], COREL_TOPICS))
            y = np.searchsorted(np.sort(COREL_TOPICS), stored["y"][rows])
            blobs, tags = sparse_block(stored, "view_blobs")[rows], stored_tags(stored)[0][rows]
        names = [dict(zip(COREL_TOPICS, COREL_KEYWORDS, strict=True))[topic] for topic in sorted(COREL_TOPICS)]
        views = {"blobs": blobs.toarray(), "keywords": tags}
        if with_category:
            views["category"] = _one_word(y)
        words = f"Corel, {rows.size} photographs of topics {', '.join(map(str, COREL_TOPICS))}: 499 blobs, 374 keywords"
        words += ", the topic as one word" if with_category else ""
        return Task(words, y, names, data=Channels(views, tuple(name for name in views if name != "blobs")))

    return load


def corel_by_keyword(sources: Sources, scale: Scale) -> Task:
    """The photographs that carry exactly one of the six class names as a keyword."""
    with sources.matrices("corel5k") as stored:
        tags, words = stored_tags(stored)
        blobs = sparse_block(stored, "view_blobs")
    six = tags[:, [words.index(word) for word in COREL_KEYWORDS]].toarray()
    rows = np.flatnonzero(six.sum(axis=1) == 1)
    said = (
        f"Corel, {rows.size} photographs that carry exactly one of {', '.join(COREL_KEYWORDS)}: 499 blobs, 374 keywords"
    )
    views = {"blobs": blobs[rows].toarray(), "keywords": tags[rows]}
    return Task(said, six[rows].argmax(axis=1), COREL_KEYWORDS, data=Channels(views, ("keywords",)))


def newsgroups(sources: Sources, scale: Scale) -> Task:
    """Body as tf-idf, and the words of the group's name as tags, as the paper does. A quick run takes every eighth."""
    from scipy.sparse import csr_matrix

    with sources.matrices("newsgroups_ten") as stored:
        groups = [str(name) for name in stored["class_names"]]
        y, counts = stored["y"].astype(np.intp), sparse_block(stored, "view_body")
    if scale.quick:
        y, counts = y[::8], counts[::8]
    parts = [name.split(".") for name in groups]
    vocabulary = sorted({word for name in parts for word in name})
    known = np.array([[float(word in name) for word in vocabulary] for name in parts])
    views = {"body": tf_idf(counts), "category": csr_matrix(known[y])}
    words = f"newsgroups, {y.size:,} messages of ten groups: tf-idf of the body, the words of the group's name as tags"
    return Task(words, y, groups, data=Channels(views, ("category",)))


def _one_word(y: Any) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(np.eye(int(y.max()) + 1)[y])
