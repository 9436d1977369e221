"""All tags of a collection with how they are used, and which of them may be one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...collection.store import Store
from ...data.near_words import near_words, spelling_groups
from ...data.tags import TagTable, match_key
from ...errors import ParameterError
from ...features.sentences import words_of_english

__all__ = ["ORDERS", "Kin", "TagLine", "kin_of_tags", "list_tags"]

ORDERS = ("count", "name", "last")
_LEAST_TOGETHER, _ALWAYS = 3, 0.95
"""Items that both words are on, and the share of the items with either that this must be."""
_SAME_MEANING = 0.8
"""Product of two words' vectors from which on they are shown as synonyms: "bike" and "bicycle" have .92, "sea" and
"ocean" .87, "sofa" and "couch" .86, "kid" and "child" .81, but "cat" and "kitten" .79, "red" and "blue" .73, "cat" and
"dog" .66, "winter" and "summer" .60. Days of the week have .87: it is a question, not an answer."""
_MOST_MEANT = 4000
"""Words whose meanings are compared: about 6 ms each."""


class TagLine(NamedTuple):
    """A tag and how it is used."""

    tag: str
    n_items: int
    n_accepted: int
    """Items for which a person said it."""
    last: str
    """The newest day on which a person gave it or a picture with it was taken; "" where neither is known."""
    path: tuple[str, ...]
    """Its place in the hierarchy: the words above it and itself; alone where it has none, or several."""
    aliases: tuple[str, ...]
    """Words that count as it."""
    is_retired: bool = False
    is_silent: bool = False


class Kin(NamedTuple):
    """Tags that may be one, or belong together."""

    kind: str
    """spelling, number, letter, meaning, translation, or together."""
    tags: tuple[str, ...]
    """The one on most items first."""
    counts: tuple[int, ...]
    sentence: str


def list_tags(collection: Store, order: str = "count", containing: str = "") -> list[TagLine]:
    """Every tag that is on an item, or that a person said something of; those that hold some letters."""
    if order not in ORDERS:
        raise ParameterError(f"tags are sorted by {', '.join(ORDERS)}; got {order!r}.")
    uses, care = collection.vocabulary.uses(), collection.vocabulary.care()
    names = collection.tagging.vocabulary()
    aliases: dict[int, list[str]] = defaultdict(list)
    for number, known in care.items():
        if known.alias_of is not None:
            aliases[known.alias_of].append(names[number])
    places = _places(collection.hierarchy)
    lines = []
    for tag in sorted(uses.keys() | care.keys() | aliases.keys()):
        one, use = care.get(tag), uses.get(tag)
        if one is not None and one.alias_of is not None and use is None:
            continue
        path = places.get(match_key(names[tag])) or (names[tag],)
        lines.append(
            TagLine(
                names[tag],
                use.n_items if use else 0,
                use.n_accepted if use else 0,
                use.last if use else "",
                (*path[:-1], names[tag]),
                tuple(sorted(aliases[tag])),
                bool(one and one.is_retired),
                bool(one and one.is_silent),
            )
        )
    wanted = match_key(containing.strip())
    lines = [line for line in lines if wanted in match_key(" ".join((line.tag, *line.aliases)))]
    keys: dict[str, Any] = {
        "count": lambda line: (-line.n_items, match_key(line.tag)),
        "name": lambda line: match_key(line.tag),
        "last": lambda line: ([-ord(letter) for letter in line.last] or [0], match_key(line.tag)),
    }
    return sorted(lines, key=keys[order])


def _places(paths: Iterable[tuple[str, ...]]) -> dict[str, tuple[str, ...] | None]:
    """Word -> its one place below others; None where there are several."""
    found: dict[str, tuple[str, ...] | None] = {}
    for path in paths:
        for end in range(2, len(path) + 1):
            key = match_key(path[end - 1])
            known = found.get(key, path[:end])
            same = known is not None and [*map(match_key, known)] == [*map(match_key, path[:end])]
            found[key] = path[:end] if same else None
    return found


def kin_of_tags(collection: Store, *, meaning: bool = True) -> list[Kin]:
    """Tags that may be one or belong together: spelled in two ways, one and many, a slip of a letter, synonyms and
    translations, and words that are always together. Without ``meaning`` the text model is not loaded.
    """
    table = collection.tags
    counts = {name: int(n) for name, n in zip(table.names, np.asarray(table.yes.sum(axis=0)).ravel(), strict=True)}
    used = {name: n for name, n in counts.items() if n}
    near = _related(collection)
    found: dict[frozenset[str], Kin] = {}

    def put(kind: str, tags: Sequence[str], why: str) -> None:
        ordered = sorted(tags, key=lambda tag: (-used[tag], match_key(tag)))
        if frozenset(map(match_key, tags)) not in near:
            quoted = " and ".join(repr(tag) for tag in ordered)
            found.setdefault(
                frozenset(tags), Kin(kind, tuple(ordered), tuple(used[t] for t in ordered), f"{quoted} {why}")
            )

    for group in spelling_groups(list(used), list(used.values())):
        put("spelling", group, "differ only in case, spaces, hyphens or accents")
    for pair in near_words(used, words_of_english()):
        why = {"number": "are singular and plural of one word", "letter": "differ by a letter"}[pair.kind]
        put(pair.kind, (pair.kept, pair.other), why)
    for one, other in _translations(used):
        put("translation", (one, other), "mean the same in two languages")
    if meaning:
        for one, other in _synonyms(list(used)):
            put("meaning", (one, other), "mean nearly the same")
    for one, other in _together(table):
        put("together", (one, other), "are always on the same items")
    return list(found.values())


def _related(collection: Store) -> set[frozenset[str]]:
    """Pairs of words one of which stands above the other: they are not one."""
    found = set()
    for path in collection.hierarchy:
        keys = [match_key(word) for word in path]
        found |= {frozenset((above, below)) for n, below in enumerate(keys) for above in keys[:n]}
    return found


def _translations(used: Mapping[str, int]) -> list[tuple[str, str]]:
    """Words of different languages that are in our own list of photo words, as far as the collection speaks them."""
    from ...meaning.words import translated

    groups: dict[str, list[str]] = defaultdict(list)
    for name, meant in translated(used).items():
        groups[match_key(meant)].append(name)
    return [(group[0], other) for group in groups.values() for other in group[1:]]


def _synonyms(names: Sequence[str]) -> list[tuple[str, str]]:
    """Words whose sentence vectors are near, where the text model can be loaded."""
    from ...errors import MissingExtra
    from ...meaning import sentence_vectors

    words = [name for name in names if any(map(str.isalpha, name)) and not any(map(str.isdigit, name))][:_MOST_MEANT]
    try:
        vectors = sentence_vectors([word.casefold() for word in words])
    except (MissingExtra, ImportError, OSError):
        return []
    found = []
    for n, row in enumerate(vectors):
        found += [(words[n], words[n + 1 + int(m)]) for m in np.flatnonzero(vectors[n + 1 :] @ row >= _SAME_MEANING)]
    return found


def _together(table: TagTable) -> list[tuple[str, str]]:
    """Words that are on the same items, but for one in twenty."""
    counts = np.asarray(table.yes.sum(axis=0)).ravel()
    both = (table.yes.T @ table.yes).tocoo()
    upper = (both.row < both.col) & (both.data >= _LEAST_TOGETHER)
    first, second, shared = both.row[upper], both.col[upper], both.data[upper]
    always = shared >= _ALWAYS * (counts[first] + counts[second] - shared)
    return [(table.names[a], table.names[b]) for a, b in zip(first[always], second[always], strict=True)]
