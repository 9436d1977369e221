"""First tags: words for pictures nobody has tagged, as proposals that a person answers.

By cluster it is one decision for many pictures; a name that a person gave a cluster can become its tag in the same way.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...collection.history import Entry
from ...collection.proposals import NewProposal
from ...collection.store import Store
from ...data.checks import check_choice
from ...data.tags import TagTable, match_key
from ...describe.names import SEPARATOR
from ...errors import ParameterError
from ...figures import counted
from ...meaning.first_tags import TagGroup, tags_by_cluster, tags_by_picture, who_shows
from ...meaning.words import word_number
from ...types import Progress
from ..clusters.edits import check_name, rename
from ..clusters.state import State
from ..compute import Computed, compute_views, default_views
from ..looks import VIEW, Looks, can_have_looks, has_looks
from .decide import add_tag
from .suggest import Suggested, silent_words

__all__ = [
    "LOOKS",
    "ClusterTag",
    "cluster_tags",
    "first_tags",
    "guessed_name",
    "name_and_tag",
    "tag_for_cluster",
    "tag_members",
]

LOOKS = "looks"
"""The method of a run of first tags, and the kind of their evidence."""
_SHOWN = 3
_PLACE_IS_SURE = 0.5


@dataclass(frozen=True)
class ClusterTag:
    """One question to a person: do these show it?"""

    cluster: int
    word: str
    items: tuple[int, ...]
    """Numbers of the items that likely do, the surest first."""
    doubtful: tuple[int, ...]
    """The other members: to be ticked by hand."""
    probability: dict[int, float]
    """How likely the word is right, by item; empty where the word is a person's own."""


def cluster_tags(collection: Store, *, run_id: int | None = None, language: str | None = None) -> list[ClusterTag]:
    """For every cluster whose pictures show something clearly: the word, and which of its pictures likely show it.

    Largest first. Words are in ``language``, by default that of the run. Items that carry the word, or of which
    somebody said no to it, are left out.
    """
    state = State(collection, collection.runs.get_fit(run_id))
    looks = _looks(collection, language or state.run.figures.get("language"))
    guesses = looks.guesses(state.labels, np.unique(state.labels[state.labels >= 0]).tolist())
    found = tags_by_cluster(
        looks.seen,
        state.labels,
        guesses,
        language=looks.language,
        neighbours=looks.neighbours,
        asked=looks.asked,
    )
    made = (_asked(state, one, _answered(state.tags, one.word)) for one in found)
    return [one for one in made if one.items]


def _asked(state: State, group: TagGroup, answered: frozenset[int]) -> ClusterTag:
    """A group of pictures as a question about those that nobody has answered."""
    rows = [[row for row in part.tolist() if row not in answered] for part in (group.sure, group.doubtful)]
    sure, doubtful = (tuple(int(state.ids[row]) for row in part) for part in rows)
    likely = {int(state.ids[row]): group.probability(row) for part in rows for row in part}
    return ClusterTag(group.label, group.word, sure, doubtful, likely)


def tag_for_cluster(
    collection: Store, cluster: int, word: str | None = None, *, looks: Looks | None = None
) -> ClusterTag:
    """A word, by default the first of the cluster's name, for its members that have it not: one question to a person.

    Of a photo word that half of the pictures seem to show, the others are doubtful; of any other word, members that are
    closer to another cluster. Of a name that nobody gave, made of a tag that fewer than half of the tagged members
    have, everybody is doubtful but those whose pictures seem to show it. ``looks`` are those of the collection, where
    somebody has read them already.

    ``tag_members`` says yes to it: naming a cluster is the shortest way from nothing to tags.
    """
    state = State(collection)
    one = state.cluster(cluster)
    own = one.name.removesuffix("?").split(SEPARATOR)[0]
    tag = own if word is None else word
    answered = _answered(state.tags, tag)
    left = [int(state.ids[row]) for row in np.flatnonzero(state.labels == cluster).tolist() if row not in answered]
    shown = _by_looks(state, cluster, tag, answered, looks)
    if shown is None or 2 * len(shown.items) < len(left):
        if not one.is_named and match_key(tag) == match_key(own) and _few_have(state, cluster, tag):
            likely = set(() if shown is None else shown.items)
            parts = ([item for item in left if (item in likely) == is_likely] for is_likely in (True, False))
            return ClusterTag(cluster, tag, tuple(next(parts)), tuple(next(parts)), {})
        # whoever says so of most of them knows better
        known, sure = collection.runs.confidence(state.run.id)
        unsure = set(known[sure < _PLACE_IS_SURE].tolist())
        parts = ([item for item in left if (item in unsure) == doubtful] for doubtful in (False, True))
        return ClusterTag(cluster, tag, tuple(next(parts)), tuple(next(parts)), {})
    unseen = tuple(item for item in left if item not in shown.probability)  # no picture, or none that could be read
    return ClusterTag(cluster, tag, shown.items, (*shown.doubtful, *unseen), shown.probability)


def _few_have(state: State, cluster: int, word: str) -> bool:
    """Have fewer than half of the tagged members of a cluster this tag?"""
    rows = state.tags.yes[np.flatnonzero(state.labels == cluster)]
    having = [column for column, name in enumerate(state.tags.names) if match_key(name) == match_key(word)]
    n_tagged = int((np.diff(rows.indptr) > 0).sum())
    return bool(2 * rows[:, having].nnz < n_tagged)


def _by_looks(
    state: State, cluster: int, word: str, answered: frozenset[int], looks: Looks | None
) -> ClusterTag | None:
    """Which pictures of a cluster show a word; None where the word, or the pictures, are not known to the score."""
    if not has_looks(state.collection):
        return None
    seen = looks or Looks(state.collection, state.run.figures.get("language"))
    number = word_number(word, seen.language)
    if number is None:
        return None
    found = who_shows(
        seen.seen,
        state.labels,
        {cluster: number},
        language=seen.language,
        neighbours=seen.neighbours,
        asked=seen.asked,
    )
    return _asked(state, found[0], answered)


def tag_members(collection: Store, cluster: int, word: str | None = None, *, who: str | None = None) -> Entry:
    """Give a word, by default the cluster's name, to those of its members that are not doubtful: one entry."""
    return name_and_tag(collection, cluster, word=tag_for_cluster(collection, cluster, word).word, who=who)


def name_and_tag(
    collection: Store,
    cluster: int,
    *,
    name: str | None = None,
    word: str | None = None,
    items: Iterable[int] | None = None,
    who: str | None = None,
) -> Entry:
    """Give a cluster a name, members of it a tag, or both: one entry, undone as a whole.

    ``items`` are those that get the tag, by default the members that are not doubtful.
    """
    if word is None:
        if name is None:
            raise ParameterError("say what the cluster is to be called, what members are to be tagged with, or both.")
        return rename(collection, cluster, name, who=who)
    chosen = _sure_ones(collection, cluster, word) if items is None else [int(item) for item in items]
    if name is None:
        return add_tag(collection, chosen, word, who=who, why=f"members of cluster {cluster}")
    collection.check_writable("an edit")
    called = check_name(State(collection), cluster, name)
    return collection.decisions.put(
        [(item, word) for item in chosen],
        True,
        who=who,
        why=f"members of cluster {cluster}",
        verb=f"called cluster {cluster} {called!r} and added",
        detail={"clusters": [cluster]},
        cluster=(cluster, called),
    )


def _sure_ones(collection: Store, cluster: int, word: str | None) -> tuple[int, ...]:
    asked = tag_for_cluster(collection, cluster, word)
    if not asked.items:
        raise ParameterError(
            f"no member of cluster {cluster} is left that {asked.word!r} could be given to without looking. "
            f"{len(asked.doubtful)} are doubtful: name the items that it belongs to."
            if asked.doubtful
            else f"no member of cluster {cluster} is left that {asked.word!r} could be given to."
        )
    return asked.items


def guessed_name(collection: Store, cluster: int) -> str:
    """The name that was guessed for a cluster, without its question mark, to be kept as its own."""
    one = State(collection).cluster(cluster)
    if not one.is_guess:
        raise ParameterError(
            f"cluster {cluster} is called {one.name!r}, which is not a guess to confirm; give a new name."
        )
    return SEPARATOR.join(one.profile["name"]["words"])


def first_tags(
    collection: Store,
    by: str = "cluster",
    *,
    language: str | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Suggested:
    """Propose words for pictures by what they show, and keep them as a run, in place of earlier proposals.

    by : "cluster" gives each clear cluster's word to those of its pictures that likely show it: right three to four
        times in four. "picture" gives each picture up to three words of its own: right two times in three.

    Nothing is tagged before somebody accepts. Once some tags are accepted, ``suggest_tags`` learns from them.
    """
    collection.check_writable("a search for first tags")
    check_choice("by", by, ("cluster", "picture"))
    wanted = [name for name in default_views(collection) if name == VIEW]
    computed = compute_views(collection, wanted, n_jobs=n_jobs, progress=progress) if wanted else Computed()
    started = time.perf_counter()
    if by == "cluster":
        rows = _by_cluster(collection, language)
    else:
        rows = _by_picture(collection, _looks(collection, language))
    silent = set(map(match_key, silent_words(collection)))
    rows = [row for row in rows if match_key(row[1]) not in silent]
    words = sorted({row[1] for row in rows})
    pictures = counted(len({row[0] for row in rows}), "picture")
    said = [f"{counted(len(words), 'word')} for {pictures}, by what they show, {by} by {by}."]
    with collection.transaction():
        numbers = collection.tagging.numbers(words)
        run = collection.runs.save_proposals(
            LOOKS,
            [NewProposal(item, numbers[word], score, p, [reason]) for item, word, score, p, reason in rows],
            settings={"by": by},
            views={VIEW: collection.segments.info(VIEW).version},
            figures={"said": said, "n_items": len(collection.items), "n_proposals": len(rows)},
            seconds=time.perf_counter() - started,
        )
    return Suggested(run, said, computed)


_Row = tuple[int, str, float, float, list[Any]]
"""Item, word, score, probability, reason."""


def _by_cluster(collection: Store, language: str | None) -> list[_Row]:
    rows: list[_Row] = []
    for one in cluster_tags(collection, language=language):
        for item in one.items:
            others = [other for other in one.items[: _SHOWN + 1] if other != item][:_SHOWN]
            p = one.probability[item]
            rows.append((item, one.word, p, p, [LOOKS, f"cluster {one.cluster}", 1.0, others]))
    return list({(row[0], row[1]): row for row in rows}.values())  # two clusters may have the same word


def _by_picture(collection: Store, looks: Looks) -> list[_Row]:
    ids, tags = collection.items.ids, collection.tags
    found = tags_by_picture(looks.seen, language=looks.language, asked=looks.asked)
    answered = {word: _answered(tags, word) for word in {one.word for one in found}}
    kept: dict[tuple[int, str], _Row] = {}
    for one in found:
        item = int(ids[one.row])
        if one.row not in answered[one.word]:
            kept.setdefault((item, one.word), (item, one.word, one.score, one.probability, [LOOKS, "", 1.0, []]))
    return list(kept.values())


def _looks(collection: Store, language: str | None) -> Looks:
    if not can_have_looks(collection):
        raise ParameterError(
            f"first tags are read from pictures and clips, and {collection.path} has none. Tag a cluster in the "
            f"gallery, or with `manyview edit {collection.path} tag CLUSTER WORD`."
        )
    if not has_looks(collection):
        raise ParameterError(
            f"{collection.path} has no rows of the picture model that ships with manyview, nor of a pair of models of "
            "your own on enough pictures, which first tags are read from. Compute them: "
            f"`manyview features {collection.path} --view {VIEW} --again`."
        )
    return Looks(collection, language)


def _answered(tags: TagTable, word: str) -> frozenset[int]:
    """Rows of items that carry a tag, or of which somebody said no to it."""
    key = match_key(word)
    columns = [column for column, name in enumerate(tags.names) if match_key(name) == key]
    return frozenset(row for part in (tags.yes, tags.no) for row in part[:, columns].nonzero()[0].tolist())
