"""Names for clusters, in the owner's own words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.checks import check_number
from ..data.tags import TagTable, as_tag_table, match_key
from ..meaning.guesses import SHOWN, Guess
from ..types import Floats, Places
from ._grouping import Grouping, check_grouping
from .tag_shares import NOTICEABLE, TagCounts, count_tags, surprise
from .text_words import as_words, split_runs, telling

__all__ = ["ClusterName", "name_clusters"]


SEPARATOR = ", "
_ENOUGH = 3  # carriers that a word needs, but for small clusters
_COVERAGE = 0.05  # a word that fits fewer than every twentieth member misleads, tagged or not
_MOST = 0.5  # a word on more than half of the items names none, unless it is twice as frequent here as elsewhere
_TWICE = 2.0
_OF_A_FOLDER = (
    0.5  # a folder, month or year names a cluster when half of its items are in it, twice as often as elsewhere
)
_TOGETHER = 0.1  # and so does a name whose words together fit fewer than every tenth
_BESIDE_FIRST = 1 / 3  # a word that fits far fewer members than the first one distracts
_CANDIDATES = 50
_SPARE = 4  # words kept back, for a cluster whose name is taken
_LONGEST = 60  # characters; beyond that a tag is a sentence
_GROUP = "Group"
_ORDER = {source: place for place, source in enumerate(("tags", "words", "folders", "looks", "dates", "number"))}


@dataclass(frozen=True)
class ClusterName:
    """What a cluster is called, and where the words come from."""

    label: int
    name: str
    words: tuple[str, ...]
    source: str
    """``"tags"``, ``"words"`` (of texts), ``"folders"``, ``"looks"`` (guessed from what is seen), ``"dates"``,
    ``"number"`` where nothing is known, or ``"owner"``."""
    is_guess: bool = False
    """Is it only guessed? Then ``name`` ends with a question mark."""
    hint: tuple[str, ...] = ()
    """Words that the pictures suggest, but not clearly enough for a name."""
    lift: float | None = None
    """Of a guess: the mean score of its first word over the pictures, from 0 to 1."""

    def __str__(self) -> str:
        return self.name

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**asdict(self), "words": list(self.words), "hint": list(self.hint)}


@dataclass
class _Proposal:
    """Words for one cluster: those of its name, and more in case the name is taken."""

    label: int
    size: int
    source: str
    words: list[str]
    spare: list[str]
    strength: float


def name_clusters(
    labels: ArrayLike,
    tags: Any = None,
    *,
    words: Any = None,
    folders: Any = None,
    dates: Any = None,
    guesses: Mapping[int, Guess] | None = None,
    names: Mapping[int, str] | None = None,
    max_words: int = 3,
) -> dict[int, ClusterName]:
    """Give every cluster a name of one to three words that its items have and the others have not.

    The first word is the tag with the largest ``surprise`` (signed log-likelihood ratio against the rest of the
    collection) among those that carry: on three members at least (two in a cluster of four or fewer), on every
    twentieth of all members and of the tagged ones; a tag that most items have names none. Each further word is the one
    that says the most beyond the words before it: its surprise is added up separately over the items with and without
    each of those, so that a synonym adds nothing. It has to be noticeable (6.63) and on a third as many members as the
    first. Where no tag qualifies, or the words together fit fewer than every tenth tagged member, the words of the
    texts are taken in the same way, but for stop words; then a folder that holds half of the members, and twice as
    large a share of them as of the others; then what the pictures show, as a guess with a question mark; then the month
    or year of which the same is true; then "Group 7". No two clusters share a name: the weaker claim gets a further
    word.

    Parameters
    ----------
    labels : one integer per item; -1 is no cluster, and gets no name
    tags : TagTable, lists of words or 0/1 matrix; an item without tags says nothing
    words : one text per item (split into words), or words per item in any form that tags can have.
        Texts in scripts without spaces should come as lists of words.
    folders, dates : the folders each item is in, and its month and year, in any form that tags can have
    guesses : label -> ``Guess``, as ``meaning.guess_words`` gives them
    names : label -> name, for clusters that their owner has named; these hold, and no other cluster gets the same
    max_words : int, default=3

    Returns
    -------
    dict of label to ``ClusterName``. The order of the items does not matter.

    Notes
    -----
    O(n_clusters x n_tags + number of tags on items) time; O(n_tags) memory beside the table.

    >>> labels = [0, 0, 0, 1, 1, 1, -1]
    >>> tags = [["dog", "pet"], ["dog"], [], ["cat", "pet"], ["cat"], ["cat", "sofa"], ["cat"]]
    >>> {label: str(name) for label, name in name_clusters(labels, tags).items()}
    {0: 'dog', 1: 'cat'}
    """
    grouping = check_grouping(labels)
    max_words = int(check_number("max_words", max_words, integer=True, low=1))
    given = {
        label: str(name) for label, name in (names or {}).items() if label in grouping.labels and str(name).strip()
    }
    left = {c for c, label in enumerate(grouping.labels) if label not in given}
    proposals: list[_Proposal] = []

    def take(found: Mapping[int, _Proposal]) -> None:
        left.difference_update(found)
        proposals.extend(found.values())

    if tags is not None:
        take(_from_table(as_tag_table(tags, grouping.n_items), grouping, sorted(left), "tags", max_words))
    if words is not None:
        take(_from_table(as_words(words, grouping.n_items), grouping, sorted(left), "words", max_words))
    if folders is not None:
        take(_from_table(as_tag_table(folders, grouping.n_items), grouping, sorted(left), "folders", 1))
    take(_from_looks(guesses or {}, grouping, left))
    if dates is not None:
        take(_from_table(as_tag_table(dates, grouping.n_items), grouping, sorted(left), "dates", 1))
    take({c: _Proposal(grouping.labels[c], int(grouping.sizes[c]), "number", [], [], 0.0) for c in left})
    hints = {label: guess.words for label, guess in (guesses or {}).items() if not guess.is_clear}
    return _made_distinct(proposals, given, hints)


def _from_looks(guesses: Mapping[int, Guess], grouping: Grouping, clusters: Iterable[int]) -> dict[int, _Proposal]:
    """What the pictures show, where they show it clearly."""
    found = {}
    for c in sorted(clusters):
        guess = guesses.get(grouping.labels[c])
        if guess is not None and guess.is_clear:
            parts = list(guess.words[:SHOWN]), list(guess.words[SHOWN:])
            found[c] = _Proposal(grouping.labels[c], int(grouping.sizes[c]), "looks", *parts, guess.lift)
    return found


def _from_table(
    table: TagTable, grouping: Grouping, clusters: list[int], source: str, max_words: int
) -> dict[int, _Proposal]:
    counts = count_tags(table, grouping)
    usable = np.array([_is_readable(name) for name in table.names], dtype=bool)
    if source == "words":
        usable &= telling(table)
    is_place = source in ("folders", "dates")
    of_members = _OF_A_FOLDER if is_place else _COVERAGE
    by_tag = table.yes.tocsc()
    everywhere = counts.total > (0 if is_place else _MOST) * counts.total_looked_at
    found = {}
    for c in clusters:
        count, looked_at = counts.row(c)
        score = counts.scores(c)
        size = int(grouping.sizes[c])
        elsewhere = (counts.total - count) / np.maximum(counts.total_looked_at - looked_at, 1.0)
        enough = usable & (count >= _fewest(size)) & (count >= of_members * size) & (count >= _COVERAGE * looked_at)
        enough &= ~everywhere | (count >= _TWICE * elsewhere * looked_at)
        if looked_at.size and (counts.total_looked_at <= looked_at).all():
            score = count  # there is nothing to compare with: the most frequent tags
        tags = np.flatnonzero(enough & (score > 0))
        if not tags.size:
            continue
        tags = counts.ordered(tags, score[tags], count[tags])[:_CANDIDATES]
        inside = grouping.code == c
        chosen, spare = _choose(counts, by_tag, inside, c, tags, max_words)
        carriers = np.unique(by_tag[:, chosen].indices)
        if inside[carriers].sum() < _TOGETHER * counts.tagged[c]:
            continue
        names = [[table.names[tag] for tag in part] for part in (chosen, spare)]
        found[c] = _Proposal(grouping.labels[c], size, source, names[0], names[1], float(score[tags[0]]))
    return found


def _fewest(size: int) -> int:
    """Members that have to carry a word: three, two of four or fewer, and the only one of one."""
    return min(size, _ENOUGH if size > 4 else 2)


def _choose(
    counts: TagCounts, by_tag: Any, inside: NDArray[np.bool_], cluster: int, tags: Places, max_words: int
) -> tuple[list[int], list[int]]:
    """Words one after another, each for what it adds; those that add too little are kept as spare ones."""
    count = counts.row(cluster)[0][tags]
    strata = _Strata(counts, by_tag, inside, cluster, tags)
    # "heart" after "red heart" would repeat the name
    parts = [_word_set(counts.table.names[tag]) for tag in tags.tolist()]
    enough = count >= _BESIDE_FIRST * count[0]
    chosen, used = [0], [0]
    spare: list[int] = []
    while len(chosen) + len(spare) < max_words + _SPARE:
        left = [i for i, new in enumerate(parts) if not any(new <= parts[old] or parts[old] <= new for old in used)]
        if not left:
            break
        gain = strata.gain(used[:2])
        left.sort(key=lambda i: (-round(float(gain[i]), 9), i))
        good = next((i for i in left if gain[i] >= NOTICEABLE and enough[i]), None)
        taken = left[0] if good is None or spare else good
        if good is None or spare or len(chosen) == max_words:
            spare.append(taken)
        else:
            chosen.append(taken)
        used.append(taken)
    return [int(tags[i]) for i in chosen], [int(tags[i]) for i in spare]


class _Strata:
    """What a tag says of a cluster beyond some words, by comparing only items that agree on those words."""

    def __init__(self, counts: TagCounts, by_tag: Any, inside: NDArray[np.bool_], cluster: int, tags: Places) -> None:
        self.tags, self.by_tag, self.inside = tags, by_tag, inside
        self.columns = by_tag[:, tags].tocsr()
        count, looked_at = (part[tags] for part in counts.row(cluster))
        self.everyone = np.stack([count, looked_at, counts.total[tags], counts.total_looked_at[tags]])
        self.known: dict[tuple[int, ...], Floats] = {(): self.everyone}

    def gain(self, words: list[int]) -> Floats:
        """Signed surprise of each candidate, added up over the items with and without each of the words."""
        total = np.zeros(self.tags.size)
        for pattern in range(2 ** len(words)):
            having = tuple(word for i, word in enumerate(words) if pattern >> i & 1)
            lacking = tuple(word for i, word in enumerate(words) if not pattern >> i & 1)
            total += surprise(*self._counts(having, lacking))
        return total

    def _counts(self, having: tuple[int, ...], lacking: tuple[int, ...]) -> Floats:
        if lacking:
            first, rest = lacking[0], lacking[1:]
            return self._counts(having, rest) - self._counts(tuple(sorted((*having, first))), rest)
        if having not in self.known:
            carriers = [self.by_tag[:, self.tags[word]].indices for word in having]
            rows = carriers[0]
            for other in carriers[1:]:
                rows = np.intersect1d(rows, other)
            members = rows[self.inside[rows]]
            n_all, n_in = float(rows.size), float(members.size)
            ones = np.ones(self.tags.size)
            k_all, k_in = (np.asarray(self.columns[part].sum(axis=0)).ravel() for part in (rows, members))
            self.known[having] = np.stack([k_in, n_in * ones, k_all, n_all * ones]).astype(np.float64)
        return self.known[having]


def _is_readable(tag: str) -> bool:
    """Short, and not mere punctuation; a picture symbol is fine."""
    return len(tag) <= _LONGEST and any(unicodedata.category(letter)[0] not in "PZC" for letter in tag)


def _word_set(text: str) -> set[str]:
    return {match_key(word) for word in split_runs(text)} or {match_key(text)}


def _made_distinct(
    proposals: list[_Proposal], given: Mapping[int, str], hints: Mapping[int, tuple[str, ...]]
) -> dict[int, ClusterName]:
    """The strongest claim keeps its name; others with the same words get a further one of their own, or a count."""
    taken = {_key([name]) for name in given.values()}
    named = {label: ClusterName(label, name, (name,), "owner") for label, name in given.items()}
    for one in sorted(proposals, key=lambda p: (_ORDER[p.source], -round(p.strength, 9), -p.size, p.label)):
        own = one.words or [f"{_GROUP} {one.label}"]
        longer = ([*own, word] for word in one.spare if word not in own)
        counted = ([*own[:-1], f"{own[-1]} ({number})"] for number in count(2))
        words = next(candidate for candidate in chain([own], longer, counted) if _key(candidate) not in taken)
        taken.add(_key(words))
        is_guess = one.source == "looks"
        name = SEPARATOR.join(words) + ("?" if is_guess else "")
        named[one.label] = ClusterName(
            one.label,
            name,
            tuple(words),
            one.source,
            is_guess,
            tuple(hints.get(one.label, ())),
            one.strength if is_guess else None,
        )
    return dict(sorted(named.items()))


def _key(words: Iterable[str]) -> frozenset[str]:
    """The same for all names that read the same, whatever the order and case of their words."""
    return frozenset(match_key(word) for word in SEPARATOR.join(words).removesuffix("?").split(SEPARATOR))
