"""What pictures show, in words: names, first tags and search for collections that nobody has tagged."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..features.sentences import sentence_vectors as sentence_vectors
    from .first_tags import tags_by_cluster as tags_by_cluster
    from .first_tags import tags_by_picture as tags_by_picture
    from .guesses import Guess as Guess
    from .guesses import guess_words as guess_words
    from .scoring import ask as ask
    from .scoring import ask_words as ask_words
    from .scoring import score as score
    from .scoring import see as see
    from .search import Bridge as Bridge
    from .search import rank_pictures as rank_pictures
    from .words import photo_words as photo_words

_WHERE = {
    "Bridge": "search",
    "Guess": "guesses",
    "ask": "scoring",
    "ask_words": "scoring",
    "guess_words": "guesses",
    "photo_words": "words",
    "rank_pictures": "search",
    "score": "scoring",
    "see": "scoring",
    "sentence_vectors": "..features.sentences",
    "tags_by_cluster": "first_tags",
    "tags_by_picture": "first_tags",
}

__all__ = [
    "Bridge",
    "Guess",
    "ask",
    "ask_words",
    "guess_words",
    "photo_words",
    "rank_pictures",
    "score",
    "see",
    "sentence_vectors",
    "tags_by_cluster",
    "tags_by_picture",
]


def __getattr__(name: str) -> Any:
    # Loaded on first use: names need no text model, and neither is wanted before somebody asks.
    if name in _WHERE:
        where = _WHERE[name]
        module = import_module(where if where.startswith(".") else f".{where}", __name__)
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
