"""From nothing to tags: which clusters are worth a question, in the order in which they are asked.

A cluster few of whose members have a tag is asked about: with the word its pictures show or its owner named it by,
else with no word, for the owner to say. A word that somebody has answered for a cluster is not asked about again. The
surest words come first, among equals the largest clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...collection.runs import Run
from ...collection.sorted_numbers import among
from ...describe.names import SEPARATOR
from ..clusters.living import LiveCluster
from .index import Index

__all__ = ["FirstQuestion", "first_questions"]

_FEW = 0.5
"""Below this share of members that have a tag, a cluster counts as untagged."""
_FEWEST = 2


@dataclass(frozen=True)
class FirstQuestion:
    """One cluster, and what its members might be tagged with."""

    cluster: LiveCluster
    word: str | None
    """The first word of its name, where that is a guess or its owner's; None: nobody knows."""
    hint: tuple[str, ...]
    """Other words that the pictures suggest, the best first."""


def first_questions(index: Index, run: Run | None) -> list[FirstQuestion]:
    """What to ask the owner of pictures that nobody has tagged: the surest words first, then the largest clusters."""
    members = index.members(run)
    found = []
    for one in index.clusters(run):
        rows = members.get(one.id, np.zeros(0, dtype=np.int64))
        if rows.size < _FEWEST or (index.n_tags[rows] > 0).mean() >= _FEW:
            continue
        word, hint = _words(one)
        if word is None or not among(rows, index.answered_rows(word)).any():
            found.append(FirstQuestion(one, word, hint))
    return sorted(found, key=lambda asked: (-_sureness(asked), -asked.cluster.size, asked.cluster.id))


def _sureness(asked: FirstQuestion) -> float:
    """To a hundredth, as far as it goes: what its owner named it by is sure, and what nobody has a word for is not."""
    if asked.word is None:
        return -1.0
    if asked.cluster.is_named:
        return 1.0
    return round(asked.cluster.profile["name"].get("lift") or 0.0, 2)  # runs before this was kept have none


def _words(one: LiveCluster) -> tuple[str | None, tuple[str, ...]]:
    name = one.profile.get("name", {})
    if one.is_named:
        return one.name.split(SEPARATOR)[0], ()
    if one.is_guess:
        words = name.get("words", ())
        return words[0], tuple(words[1:])
    return None, tuple(name.get("hint", ()))
