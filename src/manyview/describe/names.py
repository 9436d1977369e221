"""Names for clusters, in the owner's own words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, count, groupby, islice
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.checks import check_number
from ..data.tags import TagTable, as_tag_table, match_key
from ..errors import ParameterError, ViewError
from ..types import Floats, Places
from ._grouping import Grouping, check_grouping
from .tag_shares import NOTICEABLE, TagCounts, count_tags, surprise

__all__ = ["ClusterName", "name_clusters"]


SEPARATOR = ", "
_COVERAGE = 0.05  # a word that fits fewer than every twentieth member misleads
_TOGETHER = 0.1  # and so does a name whose words together fit fewer than every tenth
_BESIDE_FIRST = 1 / 3  # a word that fits far fewer members than the first one distracts
_CANDIDATES = 50
_SPARE = 4  # words kept back, for a cluster whose name is taken
_LONGEST = 60  # characters; beyond that a tag is a sentence


@dataclass(frozen=True)
class ClusterName:
    """What a cluster is called, and where the words come from."""

    label: int
    name: str
    words: tuple[str, ...]
    source: str
    """``"tags"``, ``"words"`` (of texts), ``"items"`` (names of typical members), ``"number"`` where nothing is known,
    or ``"owner"``."""

    def __str__(self) -> str:
        return self.name

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**asdict(self), "words": list(self.words)}


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
    item_names: Sequence[str] | None = None,
    exemplars: Mapping[int, Iterable[int]] | None = None,
    names: Mapping[int, str] | None = None,
    max_words: int = 3,
) -> dict[int, ClusterName]:
    """Give every cluster a name of one to three words that its items have and the others have not.

    The first word is the tag with the largest ``surprise`` (signed log-likelihood ratio against the rest of the
    collection) among those on at least two members and on every twentieth tagged one. Each further word is the one
    that says the most beyond the words before it: its surprise is added up separately over the items with and without
    each of those, so that a synonym adds nothing. It has to be noticeable (6.63) and on a third as many members as the
    first. Where no tag qualifies, or the words together fit fewer than every tenth tagged member, the words of the
    texts are taken in the same way, then the names of typical members. No two clusters share a name: the weaker claim
    gets a further word.

    Parameters
    ----------
    labels : one integer per item; -1 is no cluster, and gets no name
    tags : TagTable, lists of words or 0/1 matrix; an item without tags says nothing
    words : one text per item (split into words), or words per item in any form that tags can have.
        Texts in scripts without spaces should come as lists of words.
    item_names : one name per item, such as a file name
    exemplars : label -> items, the most typical first; without it members are taken in the order of their names
    names : label -> name, for clusters that their owner has named; these hold, and no other cluster gets the same
    max_words : int, default=3

    Returns
    -------
    dict of label to ``ClusterName``. No word is made up, and the order of the items does not matter.

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
    tables = []
    if tags is not None:
        tables.append(("tags", as_tag_table(tags, grouping.n_items)))
    if words is not None:
        tables.append(("words", _as_words(words, grouping.n_items)))
    if item_names is not None and len(item_names) != grouping.n_items:
        raise ParameterError(f"item_names has {len(item_names)} entries but there are {grouping.n_items} items.")
    given = {
        label: str(name) for label, name in (names or {}).items() if label in grouping.labels and str(name).strip()
    }
    open_clusters = {c for c, label in enumerate(grouping.labels) if label not in given}
    proposals: list[_Proposal] = []
    for source, table in tables:
        found = _from_table(table, grouping, sorted(open_clusters), source, max_words)
        open_clusters -= found.keys()
        proposals += found.values()
    typical = _typical_names(grouping, item_names, exemplars)
    for c in sorted(open_clusters):
        chosen = typical[c][:2] if sum(map(len, typical[c][:2])) <= _LONGEST else typical[c][:1]
        source = "items" if chosen else "number"
        proposals.append(
            _Proposal(grouping.labels[c], int(grouping.sizes[c]), source, chosen or [f"#{grouping.labels[c]}"], [], 0.0)
        )
    members = {label: typical[c] for c, label in enumerate(grouping.labels)}
    return _made_distinct(proposals, members, given)


def _from_table(
    table: TagTable, grouping: Grouping, clusters: list[int], source: str, max_words: int
) -> dict[int, _Proposal]:
    counts = count_tags(table, grouping)
    readable = np.array([_is_readable(name) for name in table.names], dtype=bool)
    by_tag = table.yes.tocsc()
    found = {}
    for c in clusters:
        count, looked_at = counts.row(c)
        score = counts.scores(c)
        size = int(grouping.sizes[c])
        if looked_at.size and (counts.total_looked_at <= looked_at).all():
            score = count  # there is nothing to compare with: the most frequent tags
        enough = (count >= min(2, size)) & (count >= _COVERAGE * looked_at) & (score > 0) & readable
        tags = np.flatnonzero(enough)
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
    return {match_key(word) for word in _split(text)} or {match_key(text)}


def _typical_names(
    grouping: Grouping, item_names: Sequence[str] | None, exemplars: Mapping[int, Iterable[int]] | None
) -> list[list[str]]:
    """For each cluster the names of a few members, the most typical first."""
    if item_names is None:
        return [[] for _ in grouping.labels]
    found = []
    for label, members in zip(grouping.labels, grouping.members(), strict=True):
        listed = None if exemplars is None else exemplars.get(label)
        if listed is None:
            listed = sorted(members.tolist(), key=lambda item: str(item_names[item]))
        shown = [_shown_name(item_names[item]) for item in islice(listed, 2 + _SPARE)]
        found.append(list(dict.fromkeys(name for name in shown if name)))
    return found


def _shown_name(name: str) -> str:
    """A file's name without its folders and ending; any other name as it is."""
    text = str(name).strip()
    path = PurePath(text)
    is_file = 1 < len(path.suffix) <= 5 and path.suffix[1:].isalnum() and not path.suffix[1:].isdigit()
    text = path.stem if is_file else text
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _made_distinct(
    proposals: list[_Proposal], members: Mapping[int, list[str]], given: Mapping[int, str]
) -> dict[int, ClusterName]:
    """The strongest claim keeps its name; others with the same words get a further one of their own."""
    order = {"tags": 0, "words": 1, "items": 2, "number": 3}
    taken = {_key([name]) for name in given.values()}
    named = {label: ClusterName(label, name, (name,), "owner") for label, name in given.items()}
    for one in sorted(proposals, key=lambda p: (order[p.source], -round(p.strength, 9), -p.size, p.label)):
        words = one.words
        if _key(words) in taken:
            more = [word for word in (*one.spare, *members[one.label], f"#{one.label}") if word not in words]
            longer = ([*words, word] for word in chain(more, (f"#{one.label}.{i}" for i in count(2))))
            words = next(candidate for candidate in longer if _key(candidate) not in taken)
        taken.add(_key(words))
        named[one.label] = ClusterName(one.label, SEPARATOR.join(words), tuple(words), one.source)
    return dict(sorted(named.items()))


def _key(words: Iterable[str]) -> frozenset[str]:
    """The same for all names that read the same, whatever the order and case of their words."""
    return frozenset(match_key(word) for word in SEPARATOR.join(words).split(SEPARATOR))


def _as_words(words: Any, n_items: int) -> TagTable:
    """Texts as the words they hold, each once; words in any other form as they are."""
    if isinstance(words, (list, tuple, np.ndarray)) and len(words) and all(isinstance(text, str) for text in words):
        if len(words) != n_items:
            raise ViewError(f"words describe {len(words)} items but there are {n_items}; give one text per item.")
        return TagTable.from_lists([[word for word in _split(text) if _is_word(word)] for text in words])
    return as_tag_table(words, n_items)


def _split(text: str) -> list[str]:
    """Runs of letters, marks and digits, in any script."""
    runs = groupby(text, key=lambda letter: unicodedata.category(letter)[0] in "LMN")
    return ["".join(run) for is_word, run in runs if is_word]


def _is_word(run: str) -> bool:
    """A word has a letter, and more than one of them unless each letter is a word of its own, as in Chinese."""
    kinds = [unicodedata.category(letter) for letter in run]
    return any(kind[0] == "L" for kind in kinds) and (len(run) > 1 or kinds[0] == "Lo")
