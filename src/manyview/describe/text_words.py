"""The words of texts that can tell clusters apart: no articles, no "and", in any of seven languages."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import column_values
from ..data.tags import TagTable, as_tag_table, match_key
from ..errors import ViewError
from .stop_words import STOP_WORDS

__all__ = ["as_words", "split_runs", "telling"]

_ALSO = 0.5
"""A second language counts beyond this part of the first one: collections may be in two."""

_CONTRACTED = re.compile(r"\b\w+n['\u2019]t\b|(?<=\w)['\u2019](?:s|d|m|ll|re|ve)\b", re.IGNORECASE)
"""What English writes short: "don't", which carries grammar, and the end of "it's" and "they've"."""


def as_words(words: Any, n_items: int) -> TagTable:
    """Texts as the words they hold, each once; words in any other form as they are."""
    words = column_values(words)
    if isinstance(words, (list, tuple, np.ndarray)) and len(words) and all(isinstance(text, str) for text in words):
        if len(words) != n_items:
            raise ViewError(f"words describe {len(words)} items but there are {n_items}; give one text per item.")
        runs = [split_runs(_CONTRACTED.sub(" ", text)) for text in words]
        return TagTable.from_lists([[word for word in text if _is_word(word)] for text in runs])
    return as_tag_table(words, n_items)


def telling(table: TagTable) -> NDArray[np.bool_]:
    """Which words of texts can tell something: those that are no stop words of the language the texts are in."""
    keys = [match_key(name) for name in table.names]
    counts = np.asarray(table.yes.sum(axis=0)).ravel()
    shares = {
        language: float(sum(n for key, n in zip(keys, counts.tolist(), strict=True) if key in known))
        for language, known in _lists().items()
    }
    spoken = [language for language, n in shares.items() if n > _ALSO * max(shares.values())]
    silent = frozenset().union(*(_lists()[language] for language in spoken))
    return np.array([key not in silent for key in keys], dtype=bool)


@cache
def _lists() -> dict[str, frozenset[str]]:
    return {language: frozenset(match_key(word) for word in words.split()) for language, words in STOP_WORDS.items()}


def split_runs(text: str) -> list[str]:
    """Runs of letters, marks and digits, in any script."""
    runs = groupby(text, key=lambda letter: unicodedata.category(letter)[0] in "LMN")
    return ["".join(run) for is_word, run in runs if is_word]


def _is_word(run: str) -> bool:
    """A word has a letter, and more than one of them unless each letter is a word of its own, as in Chinese."""
    kinds = [unicodedata.category(letter) for letter in run]
    return any(kind[0] == "L" for kind in kinds) and (len(run) > 1 or kinds[0] == "Lo")
