"""The photo words: what pictures are named with, in seven languages.

They are in ``words.csv``, one line a word: English first, then German, French, Spanish, Italian, Portuguese and Dutch.
The translations are our own; correct them there. After a change of the English column, ``tools/make_meaning_tables.py``
makes the tables anew.
"""

from __future__ import annotations

import csv
import locale
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ..data.checks import check_choice
from ..data.tags import match_key

__all__ = [
    "LANGUAGES",
    "as_english",
    "check_language",
    "english_words",
    "language_here",
    "photo_words",
    "translated",
    "word_number",
]

WORDS = Path(__file__).parent / "words.csv"
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")


@cache
def _columns() -> dict[str, tuple[str, ...]]:
    with WORDS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {language: tuple(row[language] or row["en"] for row in rows) for language in LANGUAGES}


def english_words() -> tuple[str, ...]:
    """The words in English, in the order of the tables."""
    return _columns()["en"]


def photo_words(language: str | None = None) -> tuple[str, ...]:
    """The words in a language, in the order of the tables; in that of the machine where none is named.

    >>> photo_words("de")[:3]
    ('Strand', 'Küste', 'Meer')
    """
    return _columns()[check_language(language)]


def check_language(language: str | None) -> str:
    """A language there are words in; that of the machine for None."""
    return language_here() if language is None else str(check_choice("language", language, LANGUAGES))


def language_here() -> str:
    """The language the machine is set to, if there are words in it, else English."""
    named = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), None) or locale.getlocale()[0]
    short = (named or "")[:2].lower()
    return short if short in LANGUAGES else "en"


def as_english(text: str, language: str | None = None) -> str:
    """A text in English, where it is one of the words in some language; any other text as it is.

    ``language`` is asked first: "mare" is the sea in Italian. An English word stays what it is otherwise, though some
    other language may have it too: "water" is no toilet.

    >>> as_english("Sonnenuntergang"), as_english("two dogs in the snow")
    ('sunset', 'two dogs in the snow')
    """
    from ..features.sentences import words_of_english

    asked, key = check_language(language), match_key(text)
    of_these = next((one for one in dict.fromkeys((asked, *LANGUAGES)) if key in _dictionary(one)), None)
    if of_these is None or (of_these not in (asked, "en") and key in words_of_english()):
        return text
    return _dictionary(of_these)[key]


def word_number(text: str, language: str | None = None) -> int | None:
    """The place of a word, in any language, in the list of words; None where it is none of them.

    >>> word_number("Küste", "de"), word_number("our summer house")
    (1, None)
    """
    english = match_key(as_english(text, language))
    return next((number for number, word in enumerate(english_words()) if match_key(word) == english), None)


def translated(words: Iterable[str]) -> dict[str, str]:
    """Word -> what it is in English, of those that are among the photo words in some language.

    What English has as well ("ape" is a bee in Italian, "boot" a boat in German) is a word of another language only
    where these words speak it: another one can be of that language alone, or this one has a capital where the language
    wants it and most of the others have none.

    >>> translated(["ape", "bee", "Biene"])
    {'bee': 'bee', 'Biene': 'bee'}
    """
    from ..features.sentences import words_of_english

    given = list(dict.fromkeys(words))
    if not given:
        return {}
    english, others = _dictionary("en"), LANGUAGES[1:]
    foreign = {word for word in map(match_key, given) if word not in english and word not in words_of_english()}
    spoken = {language for language in others if not foreign.isdisjoint(_dictionary(language))}
    in_small = 2 * sum(word[:1].isupper() for word in given) < len(given)
    found = {}
    for word in given:
        key = match_key(word)
        if key in english:
            found[word] = english[key]
            continue
        for language in others:
            capital = in_small and word[:1].isupper() and word in _columns()[language]
            if key in _dictionary(language) and (language in spoken or capital):
                found[word] = _dictionary(language)[key]
                break
    return found


@cache
def _dictionary(language: str) -> dict[str, str]:
    """Words in a language -> English."""
    found: dict[str, str] = {}
    for word, meaning in zip(_columns()[language], english_words(), strict=True):
        found.setdefault(match_key(word), meaning)
    return found
