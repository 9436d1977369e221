"""The photo words: what pictures are named with, in seven languages.

They are in ``words.csv``, one line a word: English first, then German, French, Spanish, Italian, Portuguese and Dutch.
The translations are our own; correct them there. After a change of the English column, ``tools/make_meaning_tables.py``
makes the tables anew.
"""

from __future__ import annotations

import csv
import locale
from functools import cache
from pathlib import Path

from ..data.checks import check_choice
from ..data.tags import match_key

__all__ = ["LANGUAGES", "as_english", "english_words", "language_here", "photo_words"]

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
    named = locale.setlocale(locale.LC_CTYPE) or ""
    short = named[:2].lower()
    return short if short in LANGUAGES else "en"


def as_english(text: str) -> str | None:
    """The English word that a text is a translation of; None where it is none.

    >>> as_english("Sonnenuntergang")
    'sunset'
    """
    return _dictionary().get(match_key(text))


@cache
def _dictionary() -> dict[str, str]:
    """Words in other languages -> English; what is an English word too stays what it is."""
    english = english_words()
    found: dict[str, str] = {}
    for language in LANGUAGES[1:]:
        for word, meaning in zip(_columns()[language], english, strict=True):
            found.setdefault(match_key(word), meaning)
    return {key: meaning for key, meaning in found.items() if key not in {match_key(word) for word in english}}
