"""What the pictures of an exported gallery show, for the words it knows: sentences need a text model, words do not.

For every photo word and for the collection's own tags the ranking of a search is kept, as far as it would be shown, and
a little of what fits less. A search of the exported pages looks the word up, in any of the languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...data.tags import match_key
from ...meaning.search import BEST, FEWEST, PLAIN
from ...meaning.words import LANGUAGES, as_english, english_words, photo_words
from ...types import Progress
from ..looks import has_looks
from ..own_model import texts_can_be_asked
from .content import word_rankings
from .index import Index

__all__ = ["word_answers"]

_TAGS = 1000
"""The most frequent tags that can be asked of pictures too."""
_BEHIND = 24
"""Pictures that fit less, kept for who asks."""


def word_answers(
    index: Index, progress: Progress | None = None, *, vocabulary: Sequence[str] | None = None
) -> dict[str, Any]:
    """The constants of a search, every word with its number, and for each number the best score and the ranking.

    ``vocabulary`` are English words, by default the photo words; tags come to them. A ranking is [mean of the five
    best, numbers of items, their scores in thousandths]; there is none where no picture is known.
    """
    law = {"best": BEST, "plain": PLAIN, "fewest": FEWEST, "likely": 0.0}
    if not has_looks(index.collection):
        return {**law, "words": {}, "found": []}
    tags = [name for name, _ in index.tag_counts()[:_TAGS]] if texts_can_be_asked(index.collection) else []
    asked = list(dict.fromkeys([*(vocabulary or english_words()), *(as_english(tag) for tag in tags)]))
    numbers = {word: number for number, word in enumerate(asked)}
    keys = {match_key(tag): numbers[as_english(tag)] for tag in tags}
    for language in reversed(LANGUAGES):  # what several languages say is English first
        pairs = ((match_key(word), as_english(word, language)) for word in photo_words(language))
        keys |= {key: numbers[word] for key, word in pairs if word in numbers}
    found = []
    for done, (_, ranking) in enumerate(word_rankings(index, asked)):
        law["likely"] = ranking.likely
        kept = _BEHIND + (0 if ranking.answer == "none" else ranking.n_shown)
        items = index.ids[ranking.rows[:kept]].tolist()
        scores = [round(1000 * score) for score in ranking.scores[:kept].tolist()]
        found.append([round(ranking.best, 4), items, scores])
        if progress is not None:
            progress("what pictures show", done + 1, len(asked))
    return {**law, "words": keys, "found": found}
