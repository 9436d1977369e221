"""The search language of the gallery and of ``manyview show --search``.

``tag:beach -tag:people cluster:12 untagged confidence<0.4 "free words"``: every part has to hold, ``-`` in front says
that it must not. ``date:2019-06..2019-08`` asks when a picture was taken, ``camera:"EOS 80D"`` and ``lens:`` with what,
``near:48.1,11.6,5km`` where; ``like:3,5`` asks for more like these, ``like:3,5,99.9%`` for what is nearly the same.
Words match names, tags and texts from their beginning; quotes keep words together, also in ``tag:"blue hour"``, and a
quote inside quotes is written twice. The exported site has the same language, but for ``like:``, in
``frontend/src/lib/site/site-search.ts``; both answer the questions of ``tests/search.json`` alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...collection.runs import Run
from ...collection.sorted_numbers import among
from ...data.tags import match_key
from ...errors import ParameterError
from ...types import Mask
from .alike import alike_to, read_asked
from .index import Index
from .typical import typical_rows

__all__ = ["SORTS", "Query", "Term", "find_rows", "matching", "parse_query", "say_unknown"]


KEYS = ("tag", "cluster", "kind", "name", "proposed", "id", "date", "camera", "lens", "near", "like")
FLAGS = ("untagged", "tagged", "unplaced")
SORTS = ("id", "name", "confidence", "typical", "date", "newest")
_DAY = r"[0-9]{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12][0-9]|3[01]))?)?"
_DATES = re.compile(rf"(?P<one>{_DAY})|(?P<first>{_DAY})?\.\.(?P<last>{_DAY})?")
_PLACE = re.compile(r"(-?\d{1,2}(?:\.\d*)?),(-?\d{1,3}(?:\.\d*)?),(\d{1,5}(?:\.\d*)?)(km|m)")
_EARTH = 6371.0088
"""Its mean radius in kilometres."""
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")
_LEXEME = re.compile(
    r"""(?P<minus>-?)
    (?: (?P<key>[a-z]+):(?:"(?P<quoted>(?:[^"]|"")*)"?|(?P<value>\S+))
      | confidence(?P<sign><=|>=|<|>|=)(?P<number>\S+)
      | "(?P<phrase>(?:[^"]|"")*)"?
      | (?P<word>\S+) )""",
    flags=re.VERBOSE | re.IGNORECASE,
)
_EQUAL = 1e-5  # nearer than people write numbers
_COMPARE: dict[str, Callable[[NDArray[np.float64]], Mask]] = {
    "<": lambda difference: difference <= -_EQUAL,
    ">": lambda difference: difference >= _EQUAL,
    "<=": lambda difference: difference < _EQUAL,
    ">=": lambda difference: difference > -_EQUAL,
    "=": lambda difference: np.abs(difference) < _EQUAL,
}
_UNSPACED = 0x2E80
"""Scripts from here on put no spaces between words, so that a word index does not find what is inside."""
_MOST_TERMS = 50


@dataclass(frozen=True)
class Term:
    """One part of a search: of a kind: one of ``KEYS`` or ``FLAGS``, "confidence", or "words"."""

    kind: str
    value: str = ""
    negated: bool = False
    sign: str = ""

    def __str__(self) -> str:
        quoted = '"' + self.value.replace('"', '""') + '"'
        minus = "-" if self.negated else ""
        if self.kind == "confidence":
            return f"{minus}confidence{self.sign}{self.value}"
        if self.kind in FLAGS:
            return minus + self.kind
        if self.kind == "words":
            plain = re.fullmatch(r'[^\s":<>=-][^\s":<>=]*', self.value) and self.value.lower() not in FLAGS
            return minus + (self.value if plain else quoted)
        return f"{minus}{self.kind}:" + (self.value if re.fullmatch(r'[^\s"]+', self.value) else quoted)


@dataclass(frozen=True)
class Query:
    """A search: all of its terms have to hold."""

    terms: tuple[Term, ...]

    def __str__(self) -> str:
        return " ".join(map(str, self.terms))


def parse_query(text: str) -> Query:
    """Understand a search, or say what is wrong with it.

    >>> str(parse_query('tag:"blue hour"  -tag:people UNTAGGED confidence<0.4 "two words" sea'))
    'tag:"blue hour" -tag:people untagged confidence<0.4 "two words" sea'
    """
    terms = [_term(found) for found in _LEXEME.finditer(text)]
    if len(terms) > _MOST_TERMS:
        raise ParameterError(f"a search takes at most {_MOST_TERMS} parts; this one has {len(terms)}.")
    return Query(tuple(term for term in terms if term.value or term.kind in FLAGS))


def say_unknown(text: str) -> str:
    """What to say of a search with a field that there is not, which was taken as free words; "" where there is none.

    >>> say_unknown("tag:sea artist:Turner").partition(";")[0]
    "There is no field 'artist'"
    """
    keys = [
        found["key"] for found in _LEXEME.finditer(text) if found["key"] and not (found["value"] or "").startswith("//")
    ]
    unknown = next((key for key in keys if key.lower() not in KEYS), None)
    listing = ", ".join(f"{key}:" for key in KEYS)
    return "" if unknown is None else f"There is no field {unknown!r}; fields are {listing}."


def _term(found: re.Match[str]) -> Term:
    negated = bool(found["minus"])
    if found["sign"]:
        if not _NUMBER.fullmatch(found["number"]) or len(found["number"]) > 20:
            raise ParameterError(
                f"confidence is compared with a number, such as confidence<0.4; got {found['number']!r}."
            )
        return Term("confidence", found["number"], negated, found["sign"])
    if found["key"]:
        value = found["value"] if found["quoted"] is None else found["quoted"].replace('""', '"')
        key = found["key"].lower()
        if key == "id" and not re.fullmatch(r"[0-9]{1,15}(,[0-9]{1,15})*", value):
            raise ParameterError(f"id takes numbers of items with commas between them, such as id:3,5; got {value!r}.")
        if key == "date" and (not _DATES.fullmatch(value) or value == ".."):
            raise ParameterError(
                "date takes a year, month or day, or two with .. between them, such as date:2019-06..2019-08; "
                f"got {value!r}."
            )
        if key == "near" and not _PLACE.fullmatch(value):
            raise ParameterError(
                f"near takes latitude, longitude and a distance in km or m, such as near:48.1,11.6,5km; got {value!r}."
            )
        if key == "like":
            return Term(key, str(read_asked(value)), negated)
        if key in KEYS:
            return Term(key, value.strip(), negated)
        return Term("words", f"{found['key']}:{value}", negated)
    if found["phrase"] is not None:
        return Term("words", found["phrase"].replace('""', '"').strip(), negated)
    word = found["word"]
    return Term(word.lower(), "", negated) if word.lower() in FLAGS else Term("words", word, negated)


def matching(index: Index, query: Query, run: Run | None = None) -> Mask:
    """Which items a search finds, as a mask over ``index.ids``. ``run`` says whose clusters count."""
    mask = np.ones(index.ids.size, dtype=bool)
    for term in query.terms:
        found = _FIND[term.kind](index, term, run)
        mask &= ~found if term.negated else found
    return mask


def find_rows(index: Index, mask: Mask, run: Run | None = None, sort: str = "id") -> NDArray[np.int64]:
    """Rows of the chosen items in an order of ``SORTS``."""
    if sort == "name":
        return index.by_name[mask[index.by_name]]
    rows = np.flatnonzero(mask)
    if sort == "id":
        return rows
    if sort not in SORTS:
        raise ParameterError(f"items are sorted by {', '.join(SORTS)}; got {sort!r}.")
    if sort in ("date", "newest"):  # what has no date comes last
        return _in_time(index.taken, rows, newest=sort == "newest")
    if sort == "confidence":  # what needs a look comes first
        sure = index.confidence(run)[rows]
        return rows[np.argsort(np.where(np.isnan(sure), np.inf, sure), kind="stable")]
    return typical_rows(index, rows, run)


def _in_time(taken: NDArray[np.str_], rows: NDArray[np.int64], *, newest: bool = False) -> NDArray[np.int64]:
    """Rows in the order in which they were taken; those without a date last."""
    dated = rows[taken[rows] != ""]
    order = np.argsort(taken[dated], kind="stable")
    if newest:  # of two at one time, still the first one first
        order = dated.size - 1 - np.argsort(taken[dated][::-1], kind="stable")[::-1]
    return np.concatenate([dated[order], rows[taken[rows] == ""]])


def _by_tag(index: Index, term: Term, run: Run | None) -> Mask:
    return index.with_tag(term.value)


def _by_cluster(index: Index, term: Term, run: Run | None) -> Mask:
    places = index.assignment(run)
    if term.value.isascii() and term.value.isdigit():
        return np.asarray(places == int(term.value[:15]))
    wanted = match_key(term.value)
    named = [number for number, name in index.cluster_names(run).items() if match_key(name) == wanted]
    return np.isin(places, named)


def _by_id(index: Index, term: Term, run: Run | None) -> Mask:
    return index.mask_of(np.array(term.value.split(","), dtype=np.int64))


def _by_kind(index: Index, term: Term, run: Run | None) -> Mask:
    return np.asarray(index.kinds == term.value.lower())


def _by_proposed(index: Index, term: Term, run: Run | None) -> Mask:
    mask = np.zeros(index.ids.size, dtype=bool)
    number = index.tag_number(term.value)
    if number is not None:
        rows, tags = index.open_pairs
        mask[rows[tags == number]] = True
    return mask


def _by_confidence(index: Index, term: Term, run: Run | None) -> Mask:
    with np.errstate(invalid="ignore"):
        return np.asarray(_COMPARE[term.sign](index.confidence(run) - float(term.value)))


def _by_words(index: Index, term: Term, run: Run | None) -> Mask:
    mask = _by_name(index, term, run)
    rows, tags = index.known
    mask[rows[among(tags, index.collection.tagging.containing(term.value))]] = True
    return mask


def _by_name(index: Index, term: Term, run: Run | None) -> Mask:
    """Names, and for free words texts too, by the word index where it can serve."""
    reading, value = index.collection.reading, term.value
    is_unspaced = not re.search(r"\w", value) or any(ord(letter) >= _UNSPACED for letter in value)
    find = reading.holding if is_unspaced else reading.with_words
    return index.mask_of(find(value, texts=term.kind != "name"))


def _by_date(index: Index, term: Term, run: Run | None) -> Mask:
    """Dates begin with the year, so that they are compared as texts, as far as the asked one goes."""
    asked = _DATES.fullmatch(term.value)
    assert asked is not None  # noqa: S101  a term is made of nothing else
    first, last = asked["one"] or asked["first"] or "", asked["one"] or asked["last"] or ""
    mask = np.asarray(index.taken != "")
    if first:
        mask &= index.taken.astype(f"U{len(first)}") >= first
    if last:
        begun = index.taken.astype(f"U{len(last)}")  # "2019" may be later than "2019-06"
        mask &= (begun <= last) & ((np.char.str_len(begun) == len(last)) | ~np.char.startswith(last, begun))
    return mask


def _by_field(index: Index, term: Term, run: Run | None) -> Mask:
    wanted = match_key(term.value)
    return np.array([wanted in text for text in index.texts_of(term.kind)], dtype=bool)


def _by_likeness(index: Index, term: Term, run: Run | None) -> Mask:
    asked = read_asked(term.value)
    return alike_to(index, asked.items, run).at_least(asked.least)


def _by_place(index: Index, term: Term, run: Run | None) -> Mask:
    """By the haversine: the great circle between two points."""
    asked = _PLACE.fullmatch(term.value)
    assert asked is not None  # noqa: S101  a term is made of nothing else
    reach = float(asked[3]) / (1.0 if asked[4] == "km" else 1000.0)
    latitude, longitude = np.radians(index.positions).T
    here, there = np.radians(float(asked[1])), np.radians(float(asked[2]))
    half = np.sin((latitude - here) / 2) ** 2 + np.cos(latitude) * np.cos(here) * np.sin((longitude - there) / 2) ** 2
    with np.errstate(invalid="ignore"):
        return np.asarray(2 * _EARTH * np.arcsin(np.sqrt(np.clip(half, 0, 1))) <= reach)


_FIND: dict[str, Callable[[Index, Term, Run | None], Mask]] = {
    "tag": _by_tag,
    "cluster": _by_cluster,
    "kind": _by_kind,
    "id": _by_id,
    "name": _by_name,
    "proposed": _by_proposed,
    "date": _by_date,
    "camera": _by_field,
    "lens": _by_field,
    "near": _by_place,
    "like": _by_likeness,
    "confidence": _by_confidence,
    "words": _by_words,
    "untagged": lambda index, term, run: np.asarray(index.n_tags == 0),
    "tagged": lambda index, term, run: np.asarray(index.n_tags > 0),
    "unplaced": lambda index, term, run: np.asarray(index.assignment(run) < 0),
}
