"""Which tags are more abstract than which."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ._tag_matrices import as_ones, canonical, pairs_to_csr, widened
from .tags import TagTable, as_tag_table, match_key

__all__ = ["TagHierarchy"]


class TagHierarchy:
    """Tags in layers, the most abstract first, and who stands under whom where that is known.

    Build one with ``from_layers``, ``from_paths``, ``from_parents`` or ``from_skos``; ``TagForest`` induces one from
    the tags where none is given. A tag stands one layer below the lowest of the tags above it. Words are matched as in
    ``TagTable``, by Unicode form and without case.

    Parameters
    ----------
    names : sequence of str, default=()
        Every tag once.
    levels : sequence of int, default=()
        The layer of each, from 0, the most abstract.
    parents : sequence of lists of int, or None
        For each tag, the places in ``names`` of the tags right above it; None where only layers are known.

    >>> animals = TagHierarchy.from_paths(["animal|dog|poodle", "animal|cat", "plant"])
    >>> animals.layers
    (('animal', 'plant'), ('dog', 'cat'), ('poodle',))
    >>> animals.above("Poodle"), animals.below("animal")
    (('dog', 'animal'), ('dog', 'cat', 'poodle'))
    """

    def __init__(self, names: Sequence[str] = (), levels: Sequence[int] = (), parents: Any = None) -> None:
        # Kept as they came, so that clone and save see the parameters they know.
        self.names, self.levels, self.parents = names, levels, parents
        if len(levels) != len(names) or (parents is not None and len(parents) != len(names)):
            raise ParameterError(
                f"a hierarchy needs one level (and one list of parents) for each of its {len(names)} names; got "
                f"{len(levels)} levels{'' if parents is None else f' and {len(parents)} lists of parents'}."
            )
        self._place: dict[str, int] = {}
        for i, name in enumerate(names):
            if (key := _key(name)) in self._place:
                raise ParameterError(f"tag {name!r} appears twice in the hierarchy; give each tag one place.")
            self._place[key] = i
        for name, level in zip(names, levels, strict=True):
            if not _is_place(level):
                raise ParameterError(f"levels must be whole numbers from 0, the most abstract; {name!r} has {level!r}.")
        for name, above in zip(names, () if parents is None else parents, strict=parents is not None):
            for parent in above:
                if not _is_place(parent) or parent >= len(names):
                    raise ParameterError(
                        f"a parent of {name!r} is {parent!r}, which is none of the {len(names)} names."
                    )

    @classmethod
    def from_layers(cls, layers: Iterable[Iterable[str]]) -> TagHierarchy:
        """From lists of tags, the most abstract first."""
        listed = [_as_layer(layer) for layer in layers]
        return cls(
            [name for layer in listed for name in layer],
            [level for level, layer in enumerate(listed) for _ in layer],
        )

    @classmethod
    def from_paths(cls, paths: Iterable[str], separator: str = "|") -> TagHierarchy:
        """From paths such as ``animal|dog|poodle``, as Lightroom and XMP sidecars write them."""
        if isinstance(paths, str):
            raise ParameterError("paths must be a list of paths, such as ['animal|dog', 'plant']; got one string.")
        names: list[str] = []
        above: list[list[int]] = []
        place: dict[str, int] = {}
        for path in paths:
            parent = -1
            for word in (part.strip() for part in str(path).split(separator)):
                if not word:
                    raise ParameterError(f"path {path!r} has an empty part; write it as 'animal{separator}dog'.")
                key = match_key(word)
                if key not in place:
                    place[key] = len(names)
                    names.append(word)
                    above.append([])
                if parent >= 0 and parent not in above[place[key]]:
                    above[place[key]].append(parent)
                parent = place[key]
        return cls(names, _levels(names, above), above)

    @classmethod
    def from_parents(cls, names: Sequence[str], parents: Sequence[Any]) -> TagHierarchy:
        """From the tag right above each tag: its place in ``names`` or its word; -1 or None at the top."""
        place = {_key(name): i for i, name in enumerate(names)}
        above: list[list[int]] = []
        if len(parents) != len(names):
            raise ParameterError(f"parents must name one tag for each of {len(names)} names; got {len(parents)}.")
        for name, parent in zip(names, parents, strict=True):
            if parent is None or (not isinstance(parent, str) and np.ndim(parent) == 0 and parent == -1):
                above.append([])
                continue
            found = place.get(match_key(parent)) if isinstance(parent, str) else parent
            if not _is_place(found) or found >= len(names):
                raise ParameterError(
                    f"the parent of {name!r} is {parent!r}, which is none of the {len(names)} names. Of tags with "
                    "several parents write from_paths."
                )
            above.append([int(found)])
        return cls(list(names), _levels(names, above), above)

    @classmethod
    def from_skos(cls, path: str | os.PathLike[str], language: str | None = None) -> TagHierarchy:
        """From a SKOS thesaurus in RDF/XML or Turtle: preferred labels, ``broader`` and ``narrower``.

        ``language`` chooses among labels ("en"); without it the first label of each concept is taken. Needs the
        extra ``skos`` (rdflib).
        """
        from ._skos import read_skos

        names, above = read_skos(path, language)
        return cls(names, _levels(names, above), above)

    @property
    def n_layers(self) -> int:
        return 1 + max(self.levels, default=-1)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        """The tags of each layer, the most abstract first."""
        found: list[list[str]] = [[] for _ in range(self.n_layers)]
        for name, level in zip(self.names, self.levels, strict=True):
            found[int(level)].append(name)
        return tuple(map(tuple, found))

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and match_key(word) in self._place

    def level(self, word: str) -> int:
        """The layer of a tag, from 0, the most abstract."""
        return int(self.levels[self._find(word)])

    def above(self, word: str) -> tuple[str, ...]:
        """All tags above a tag, nearest first; empty where only layers are known."""
        return self._reach(self._find(word), [[] for _ in self.names] if self.parents is None else self.parents)

    def below(self, word: str) -> tuple[str, ...]:
        """All tags below a tag, nearest first; empty where only layers are known."""
        children: list[list[int]] = [[] for _ in self.names]
        for i, parents in enumerate(self.parents or []):
            for parent in parents:
                children[int(parent)].append(i)
        return self._reach(self._find(word), children)

    def _find(self, word: str) -> int:
        place = self._place.get(match_key(word))
        if place is None:
            raise ParameterError(f"there is no tag {word!r} in this hierarchy of {len(self.names)} tags.")
        return place

    def _reach(self, start: int, edges: Sequence[Sequence[int]]) -> tuple[str, ...]:
        found: dict[int, None] = {}
        front = [start]
        while front:
            front = [int(j) for i in front for j in edges[i] if int(j) not in found and int(j) != start]
            found.update(dict.fromkeys(front))
        return tuple(self.names[i] for i in found)

    def columns(self, names: Sequence[str]) -> list[NDArray[np.intp]]:
        """The places of tags in a vocabulary, layer by layer; what the hierarchy does not know goes last.

        Layers without any tag of the vocabulary are left out.
        """
        bottom = max(0, self.n_layers - 1)
        at = [self._place.get(match_key(name)) for name in names]
        level = np.array([bottom if place is None else int(self.levels[place]) for place in at], dtype=np.intp)
        return [np.flatnonzero(level == number) for number in np.unique(level)]

    def raised(self, tags: Any) -> TagTable:
        """Tags where items also carry those above their own, where several stand below; never what was answered no.

        >>> table = TagTable.from_lists([["dog"], ["cat"], ["tulip"]])
        >>> TagHierarchy.from_paths(["animal|dog", "animal|cat", "plant|tulip"]).raised(table).words_of(0)
        ['dog', 'animal']
        """
        table = as_tag_table(tags)
        counts = np.asarray(table.yes.sum(axis=0)).ravel()
        below: dict[str, list[int]] = {}
        for column, name in enumerate(table.names):
            for word in self.above(name) if counts[column] and name in self else ():
                below.setdefault(word, []).append(column)
        names, rows, columns = list(table.names), [], []
        for word, lower in below.items():
            if len(lower) > 1:
                at = table.index(word) if word in table else len(names)
                names += [word] if at == len(names) else []
                for column in lower:
                    items = table.yes[:, [column]].tocoo().row
                    rows.append(items)
                    columns.append(np.full(items.size, at))
        if not rows:
            return table
        more = pairs_to_csr(np.concatenate(rows), np.concatenate(columns), (table.n_items, len(names)))
        no = widened(table.no, len(names))
        yes = as_ones(widened(table.yes, len(names)) + canonical(more - more.multiply(no)))
        return TagTable(names, yes, no)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, so that models holding a hierarchy can be cloned and saved."""
        return {"names": self.names, "levels": self.levels, "parents": self.parents}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TagHierarchy):
            return False
        mine, theirs = (
            (list(h.names), list(map(int, h.levels)), None if h.parents is None else [list(p) for p in h.parents])
            for h in (self, other)
        )
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TagHierarchy({len(self.names)} tags in {self.n_layers} layers)"


def _key(name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"a tag of a hierarchy must be a word, got {name!r}.")
    return match_key(name)


def _is_place(value: Any) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= 0)


def _as_layer(layer: Any) -> list[str]:
    if isinstance(layer, str):
        raise ParameterError(f"a layer must be a list of tags, got the word {layer!r}; write [[...], [...]].")
    return list(layer)


def _levels(names: Sequence[str], above: Sequence[Sequence[int]]) -> list[int]:
    """The length of the longest way to the top, so that every tag stands below all that are above it."""
    level: list[int] = [-1] * len(names)
    for start in range(len(names)):
        way = [start]  # not recursive: thesauri can be deep
        while way:
            i = way[-1]
            if level[i] >= 0:
                way.pop()
                continue
            waiting = [j for j in above[i] if level[j] < 0]
            if not waiting:
                level[i] = 1 + max((level[j] for j in above[i]), default=-1)
                way.pop()
                continue
            if waiting[0] in way:
                ring = " > ".join(repr(names[j]) for j in (*way[way.index(waiting[0]) :], waiting[0]))
                raise ParameterError(f"a tag cannot be its own ancestor: {ring}. Remove one of these links.")
            way.append(waiting[0])
    return level
