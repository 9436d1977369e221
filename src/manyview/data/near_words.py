"""Words that look like one word: spelled in two ways, one and many of a thing, or a slip of one letter."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

__all__ = ["NearWords", "near_words", "spelling_groups", "twin_key"]

_ENDINGS = (("", "s"), ("", "es"), ("y", "ies"), ("f", "ves"), ("fe", "ves"), ("man", "men"), ("", "en"), ("", "n"))
"""One and many, in English and its neighbours."""
_FOREIGN = ("en", "n")
"""Of these, that make no plural in English."""
_SHORTEST = {"": 2, "y": 1, "f": 1, "fe": 1, "man": 0}
"""Letters before such an ending."""
_SLIP = 5
"""Letters from which on two words that differ by one may be a slip: "boat" and "goat" are two things."""
_RARE = 5
"""A slip is at least so many times rarer than the word that was meant."""


class NearWords(NamedTuple):
    """Two words that may be one."""

    kept: str
    """The one that is used more."""
    other: str
    kind: str
    """"number" for one and many, "letter" for a slip."""


def match_key(word: str) -> str:
    """What two spellings of one tag have in common: canonical Unicode (NFC), without case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", word).casefold())


def twin_key(word: str) -> str:
    """``match_key`` without spaces, hyphens, underscores and the accents of Latin letters.

    Words without any letter stay as they are: "1" and "-1" are two numbers.
    """
    if not any(map(str.isalpha, word)):
        return match_key(word)
    kept: list[str] = []
    for letter in unicodedata.normalize("NFD", word.casefold()):
        accent = "\u0300" <= letter <= "\u036f"
        if accent and kept and unicodedata.name(kept[-1], "").startswith("LATIN"):
            continue
        if not (letter.isspace() or letter == "_" or unicodedata.category(letter) == "Pd"):
            kept.append(letter)
    return unicodedata.normalize("NFC", "".join(kept)) or match_key(word)


def spelling_groups(names: Sequence[str], counts: Sequence[int]) -> list[tuple[str, ...]]:
    """Names that agree but for case, spaces, hyphens, underscores and accents; the most frequent of a group first."""
    groups: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(names):
        groups[twin_key(name)].append(i)
    found = [sorted(group, key=lambda i: (-counts[i], i)) for group in groups.values() if len(group) > 1]
    return [tuple(names[i] for i in group) for group in found]


def near_words(counts: Mapping[str, int], known: Container[str] = ()) -> list[NearWords]:
    """Pairs of words, each with how often it is used, that are one and many of a thing or a slip of one letter apart.

    A slip is taken for one where the rarer word is much rarer; words with digits are never a slip. ``known`` are words
    of English, in small letters: a slip makes no other word, so that "mountain" and "fountain" are two, and so are
    "wood" and "wooden", where "-en" makes no plural.

    >>> near_words({"Cat": 9, "cats": 4, "beach": 40, "baech": 1, "bench": 30, "IMG1": 1, "IMG2": 1})
    [NearWords(kept='Cat', other='cats', kind='number'), NearWords(kept='beach', other='baech', kind='letter')]
    """
    keys: dict[str, str] = {}
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        keys.setdefault(twin_key(name), name)
    found: dict[frozenset[str], str] = {}
    for one, many in _numbers(keys, known):
        found[frozenset((one, many))] = "number"
    for one, other in _slips(list(keys)):
        first, second = sorted((counts[keys[one]], counts[keys[other]]))
        if _RARE * first <= second and not (one in known and other in known):
            found.setdefault(frozenset((one, other)), "letter")
    pairs = []
    for pair, kind in found.items():
        kept, other = sorted((keys[key] for key in pair), key=lambda name: (-counts[name], len(name), name))
        pairs.append(NearWords(kept, other, kind))
    return sorted(pairs, key=lambda pair: (pair.kind != "number", -counts[pair.kept], pair))


def _numbers(keys: Mapping[str, str], known: Container[str]) -> Iterator[tuple[str, str]]:
    """One and many of a thing."""
    for key in keys:
        for one, many in _ENDINGS:
            stem = key.removesuffix(one)
            is_foreign = many in _FOREIGN
            least = 4 if is_foreign else _SHORTEST[one]
            if key.endswith(one) and len(stem) >= least and stem + many in keys and stem.isalpha():
                if not (is_foreign and key in known and stem + many in known):
                    yield key, stem + many


def _slips(keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of longer words that are equal but for one letter: another, missing, or two that changed places."""
    shorter: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        if len(key) >= _SLIP and key.isalpha():
            for n in {key[:n] + key[n + 1 :] for n in range(len(key))} | {key}:
                shorter[n].append(key)
    seen = set()
    for group in shorter.values():
        for pair in combinations(sorted(set(group)), 2):
            if pair not in seen and _is_slip(*pair):
                seen.add(pair)
                yield pair


def _is_slip(first: str, second: str) -> bool:
    if len(first) != len(second):
        return abs(len(first) - len(second)) == 1
    places = [n for n, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    swapped = len(places) == 2 and places[1] == places[0] + 1 and first[places[0]] == second[places[1]]
    return len(places) == 1 or (swapped and first[places[1]] == second[places[0]])
