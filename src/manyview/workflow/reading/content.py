"""One search for tags, words and what is seen: tags answer first, then words, then what the pictures show.

Free words of a search are also asked of the pictures. Whether anything here shows them is said by an absolute score
(``meaning.scoring``), so that a search can come back with nothing. Where owners wrote captions or tags, a bridge from
pictures to these has a say in the order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from ...collection.runs import Run
from ...errors import StoreError
from ...features.sentences import N_NUMBERS, is_english, knows_many_languages, sentence_vectors, vectors_in_any_language
from ...meaning.scoring import Seen, see
from ...meaning.search import Bridge, Ranking, rank_pictures
from ...meaning.words import as_english, check_language
from ...types import Mask, Places
from ..looks import VIEW, Looks, has_looks
from ..own_model import own_model, own_texts
from .alike import HARDLY, alike_to, most_alike_first, read_asked, say_alike
from .index import Index
from .search import Query, Term, find_rows, matching, parse_query, say_unknown

__all__ = ["BEST", "NOTHING", "Answer", "Hit", "find_all", "found_mask", "search_all", "word_rankings"]

BEST = "best"
"""The order of a search that asks pictures too: tags first, then words, then what is seen."""
NOTHING = "Nothing here seems to show that."
_FEWEST_SAID = 25
"""Captioned or tagged pictures from which on a bridge never hurts."""
_MOST_SAID = 400
_CAPTIONS = "caption"


class Hit(NamedTuple):
    """An item that was found."""

    item: int
    how: Literal["tag", "words", "looks", "alike"]
    """"tag": it carries the very tag; "words": its name, tags or text hold the words; "looks": it seems to show it;
    "alike": it is like the items that were asked for."""
    score: float | None
    """How well the picture fits, or how much alike it is: the share of pairs of items picked blindly that are less so.
    None where nobody asked for that."""


@dataclass(frozen=True)
class Answer:
    """What a search found, the best first, and how sure it is of what it saw."""

    query: str
    hits: list[Hit]
    more: list[Hit]
    """Pictures that fit less, the best first: the rest of the ranking."""
    seen: Literal["plain", "weak", "none"] | None
    """"plain", "weak" or "none": does anything here show that? None where pictures were not asked."""
    sentence: str

    def __len__(self) -> int:
        return len(self.hits)


def search_all(index: Index, text: str, run: Run | None = None, *, language: str | None = None) -> Answer:
    """Search a collection in the language of ``manyview show --search``, and its pictures for the free words."""
    query = parse_query(text)
    found = np.flatnonzero(matching(index, query, run))
    asked = " ".join(term.value for term in query.terms if _is_free(term))
    like = next((term for term in query.terms if term.kind == "like" and not term.negated), None)
    if like is not None:
        if not asked:
            return _alike(index, query, run, like)
        found = most_alike_first(alike_to(index, read_asked(like.value).items, run), found)
    ranking, why_not = None, ""
    try:
        ranking = _ranked(index, query, run, as_english(asked, language), language) if asked else None
    except StoreError as error:  # a text model of the owner's that is away: tags and words answer all the same
        why_not = f"Pictures were not asked: {error}"
    tagged = _carriers(index, asked) if asked else np.zeros(index.ids.size, dtype=bool)
    scores = {} if ranking is None else dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
    first = [*found[tagged[found]].tolist(), *found[~tagged[found]].tolist()]
    hits = [Hit(int(index.ids[row]), "tag" if tagged[row] else "words", scores.get(row)) for row in first]
    hint = "" if hits else say_unknown(text)
    if ranking is None:
        nothing = "" if hits else f"Nothing was found. {hint}".strip()
        return Answer(str(query), hits, [], None, why_not or nothing)
    known = set(first)
    looks = [Hit(int(index.ids[row]), "looks", scores[row]) for row in ranking.rows.tolist() if row not in known]
    n_shown = (
        0 if ranking.answer == "none" else sum(row not in known for row in ranking.rows[: ranking.n_shown].tolist())
    )
    shown = [*hits, *looks[:n_shown]]
    return Answer(
        str(query), shown, looks[n_shown:], ranking.answer, f"{_sentence(ranking, len(hits), n_shown)} {hint}".strip()
    )


def _alike(index: Index, query: Query, run: Run | None, like: Term) -> Answer:
    """What is enough like some items, the most alike first; then what is less so, as far as it is alike at all."""
    asked = read_asked(like.value)
    others = alike_to(index, asked.items, run)
    rest = matching(index, Query(tuple(term for term in query.terms if term is not like)), run)
    enough = others.at_least(asked.least)

    def listed(mask: Mask) -> list[Hit]:
        rows = most_alike_first(others, np.flatnonzero(mask & rest))
        return [Hit(int(index.ids[row]), "alike", float(others.share[row])) for row in rows]

    hits, more = listed(enough), listed(others.at_least(HARDLY) & ~enough)
    n_asked = int(index.mask_of(np.array(asked.items, dtype=np.int64)).sum())
    return Answer(str(query), hits, more, None, say_alike(len(hits), n_asked, asked.least))


def find_all(
    index: Index, text: str, run: Run | None, sort: str = BEST, *, more: bool = False
) -> tuple[list[Hit], Answer]:
    """What a search finds in an order: ``BEST``, or one of ``SORTS``; with ``more``, also what fits less."""
    answer = index.part(
        "search", "items tags decisions runs edits", lambda: search_all(index, text, run), text, run and run.id
    )
    hits = [*answer.hits, *answer.more] if more else answer.hits
    if sort == BEST:
        return hits, answer
    by_item = {hit.item: hit for hit in hits}
    rows = find_rows(index, index.mask_of(np.array(sorted(by_item), dtype=np.int64)), run, sort)
    return [by_item[item] for item in index.ids[rows].tolist()], answer


def found_mask(index: Index, text: str, run: Run | None, *, more: bool = False) -> Mask:
    """Which items ``find_all`` finds. Where pictures are not asked nothing is put in order, which takes the longest."""
    query = parse_query(text)
    if not any(_is_free(term) or (term.kind == "like" and not term.negated) for term in query.terms):
        return matching(index, query, run)
    hits, _ = find_all(index, text, run, more=more)
    return index.mask_of(np.array(sorted(hit.item for hit in hits), dtype=np.int64))


def _is_free(term: Term) -> bool:
    return term.kind == "words" and not term.negated


def _ranked(index: Index, query: Query, run: Run | None, asked: str, language: str | None) -> Ranking | None:
    """The pictures that the other parts of a search leave, in the order in which they fit its free words.

    Where the extra ``languages`` is there, it understands what does not look English, and everything on a machine that
    speaks another language; captions and tags, which would have to be read anew by it, have no say then. With a pair of
    the owner's, its text network understands what it can, and captions and tags have no say either.
    """
    if not has_looks(index.collection):
        return None
    own = own_model(index.collection)
    many = own is None and knows_many_languages() and (check_language(language) != "en" or not is_english([asked]))
    if own is not None:
        vector: Any = own.ask(own_texts(index.collection, own, [asked]))
        seen = _seen(index)
    else:
        vector = (vectors_in_any_language if many else sentence_vectors)([asked])[0]
        seen = _seen(index, vector.size)
    rest = Query(tuple(term for term in query.terms if not _is_free(term)))
    rows = np.flatnonzero(matching(index, rest, run) & seen.there)
    if not rows.size:
        return None
    ranking = rank_pictures(seen[rows], vector, None if many or own is not None else _bridge(index, seen))
    return replace(ranking, rows=rows[ranking.rows])


def word_rankings(index: Index, words: Sequence[str]) -> Iterator[tuple[str, Ranking]]:
    """How well the pictures fit each of some English words, as a search for that word alone ranks them."""
    if not has_looks(index.collection) or not words:
        return
    own = own_model(index.collection)
    seen = _seen(index)
    rows = np.flatnonzero(seen.there)
    here, bridge = seen[rows], None if own is not None else _bridge(index, seen)
    if own is None:
        vectors: Any = sentence_vectors(words)
    else:
        vectors = map(own.ask, own_texts(index.collection, own, words))
    for word, vector in zip(words, vectors, strict=True):
        ranking = rank_pictures(here, vector, bridge)
        yield word, replace(ranking, rows=rows[ranking.rows])


def _carriers(index: Index, asked: str) -> Mask:
    """Which items carry the tag that was asked for, if it is one."""
    mask = np.zeros(index.ids.size, dtype=bool)
    number = index.tag_number(asked)
    if number is not None:
        rows, tags = index.known
        mask[rows[tags == number]] = True
    return mask


def _sentence(ranking: Ranking, n_said: int, n_seen: int) -> str:
    said = f"{n_said} by tags, names and texts" if n_said else ""
    if ranking.answer == "none":
        return f"{said}; nothing else here seems to show that." if said else NOTHING
    unsure = ", though not clearly" if ranking.answer == "weak" else ""
    seen = f"{n_seen} that seem to show it{unsure}"
    return f"{said}, and {seen}." if said else f"{seen}."


def _seen(index: Index, n_numbers: int = N_NUMBERS) -> Seen:
    """The pictures as the score sees them: by the owner's pair, or for sentence vectors of so many numbers."""
    looks, version = Looks(index.collection), index.collection.segments.info(VIEW).version

    def read() -> Seen:
        return see(looks.rows, n_numbers) if looks.own is None else looks.seen

    return index.part(f"seen{n_numbers}", "items", read, version)


def _bridge(index: Index, seen: Seen) -> Bridge | None:
    return index.part("bridge", "items tags decisions", lambda: _make_bridge(index, seen))


def _make_bridge(index: Index, seen: Seen) -> Bridge | None:
    """From pictures to their captions, where enough have one in English, else to their tags."""
    rows, vectors = _captioned(index, seen)
    if len(rows) < _FEWEST_SAID:
        rows, vectors = _tagged(index, seen)
    return Bridge(seen[rows], vectors) if len(rows) >= _FEWEST_SAID else None


def _captioned(index: Index, seen: Seen) -> tuple[Places, Any]:
    collection = index.collection
    texts = collection.items.texts()
    rows = _spread([row for row, text in enumerate(texts) if text and seen.there[row]])
    said = [texts[row] or "" for row in rows.tolist()]
    if rows.size < _FEWEST_SAID or not is_english(said):
        return rows[:0], None
    if _CAPTIONS in collection.view_names:
        X = collection.views([_CAPTIONS])
        rows = rows[X.mask[rows, 0]]
        return rows, np.asarray(X[_CAPTIONS][rows])
    return rows, sentence_vectors(said)


def _tagged(index: Index, seen: Seen) -> tuple[Places, Any]:
    words = index.words_by_row()
    rows = _spread([row for row in sorted(words) if seen.there[row]])
    if rows.size < _FEWEST_SAID:
        return rows[:0], None
    return rows, sentence_vectors(", ".join(as_english(word) for word in words[row]) for row in rows.tolist())


def _spread(rows: list[int]) -> Places:
    found = np.array(rows, dtype=np.int64)
    return found if found.size <= _MOST_SAID else found[np.linspace(0, found.size - 1, _MOST_SAID).astype(np.int64)]
