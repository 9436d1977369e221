"""The tags of a collection as a tree: which stand above which, and how many items are below each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...collection.store import Store
from ...data.hierarchy import TagHierarchy
from ...data.tags import match_key
from ...errors import ParameterError
from ...types import Mask

if TYPE_CHECKING:
    from ..reading.index import Index

__all__ = ["TagNode", "tag_hierarchy", "tag_tree"]

_SEPARATOR = "\x1f"


class TagNode(NamedTuple):
    """A word of the tree."""

    name: str
    depth: int
    """0 at the top."""
    path: tuple[str, ...]
    n_items: int
    """Items with it or with anything below it."""
    n_own: int
    """Items with the very word."""


def tag_hierarchy(collection: Store) -> TagHierarchy | None:
    """Which tags stand above which; None where none do, or where files contradict each other."""
    paths = [_SEPARATOR.join(path) for path in collection.hierarchy if len(path) > 1 and all(map(str.strip, path))]
    try:
        return TagHierarchy.from_paths(paths, _SEPARATOR) if paths else None
    except ParameterError:  # one is above the other, and the other above the one
        return None


def tag_tree(index: Index, mask: Mask | None = None) -> list[TagNode]:
    """Every word that stands above or below another, from the top, in the order of names; ``mask`` chooses items.

    A word at two places stands at both, each time with all of its items.
    """
    places: dict[tuple[str, ...], tuple[str, ...]] = {}
    for path in index.paths:
        if len(path) > 1:
            for end in range(1, len(path) + 1):
                places.setdefault(tuple(map(match_key, path[:end])), path[:end])
    nodes = []
    for keys in sorted(places):
        path = places[keys]
        below, own = index.with_tag(path[-1]), index.with_tag(path[-1], below=False)
        if mask is not None:
            below, own = below & mask, own & mask
        nodes.append(TagNode(path[-1], len(path) - 1, path, int(below.sum()), int(own.sum())))
    return [node for node in nodes if node.n_items]
