"""The line that is drawn for a pair of models of one's own, on the only pair there is here: the recipe's own parts.

A picture is the pair (m, x) of ``manyview.meaning.scoring``, a text the pair (q, w(q)): their cosine is half the
recipe's score, but for h(q). A line drawn well gives the recipe's slope of 2 back, and keeps and refuses as the recipe
does. This says nothing about any CLIP. The share of the list below the line was chosen on these very sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from manyview.features.sentences import sentence_vectors
from manyview.meaning.guesses import guess_words
from manyview.meaning.own_model import ABSENT, OwnModel, calibrated
from manyview.meaning.scoring import Asked, Seen, ask, ask_words
from manyview.meaning.search import rank_pictures

from .meaning import clusters, pictures, seen
from .meaning_judges import SETS, is_right, lists
from .pictures import picture_collection
from .table import Table

_GROUPS, _SIZE = 60, 30


def tables(quick: bool) -> Iterator[Table]:
    if picture_collection(SETS[0]) is None:
        yield Table("no pictures in MANYVIEW_DATA", ())
        return
    made = Table(
        "a line for a pair made of the recipe's parts",
        ("slope", "present kept", "absent refused", "named", "broad", "random named"),
    )
    every, slopes = [], []
    for name in SETS:
        rows = _joined(seen(name).sentences, seen(name).rows)
        own = calibrated(rows, _texts(ABSENT), _both(ask_words()))
        here = own.see(rows)
        labels = pictures(name).labels["label"]
        queries = [*lists()["queries"][name].values(), *lists()["more"].get(name, ())]
        kept = [_is_found(own, here, text) for text in queries]
        refused = [not _is_found(own, here, text) for text in lists()["absent"][name]]
        shown = [
            one
            for seed in range(1 if quick else 5)
            for one in _names(own, here[labels != ""], labels[labels != ""], len(lists()["queries"][name]), seed)
        ]
        parts = (kept, refused, shown, _random_names(own, here))
        every.append(parts)
        slopes.append(own.slope)
        made.add(name, [{"slope": own.slope, **_figures(*parts)}])
    together = (list(chain.from_iterable(part)) for part in zip(*every, strict=True))
    made.add("all three", [{"slope": float(np.mean(slopes)), **_figures(*together)}])
    yield made


def _joined(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.concatenate([left, right], axis=1) / np.sqrt(2)


def _both(asked: Asked) -> np.ndarray:
    return _joined(asked.vectors, asked.classifiers)


def _texts(texts: tuple[str, ...]) -> np.ndarray:
    return _both(ask(sentence_vectors(texts)))


def _is_found(own: OwnModel, here: Seen, text: str) -> bool:
    return rank_pictures(here, own.ask(_texts((text,)))).answer != "none"


def _names(own: OwnModel, here: Seen, labels: np.ndarray, k: int, seed: int) -> list[tuple[bool, bool]]:
    groups = clusters(here.rows, k, seed)
    found = guess_words(here, groups, language="en", asked=own.asked_words)
    return [
        (guess.is_clear, is_right(guess.words[0], labels[groups == label], "broad")) for label, guess in found.items()
    ]


def _random_names(own: OwnModel, here: Seen) -> list[bool]:
    rng, found = np.random.default_rng(0), []
    for _ in range(_GROUPS):
        labels = np.full(len(here), -1)
        labels[rng.choice(len(here), _SIZE, replace=False)] = 1
        found.append(guess_words(here, labels, everyone=here, language="en", asked=own.asked_words)[1].is_clear)
    return found


def _figures(
    kept: list[bool], refused: list[bool], shown: list[tuple[bool, bool]], strange: list[bool]
) -> dict[str, float]:
    return {
        "present kept": float(np.mean(kept)),
        "absent refused": float(np.mean(refused)),
        "named": float(np.mean([one[0] for one in shown])),
        "broad": float(np.mean([one[1] for one in shown if one[0]] or [0.0])),
        "random named": float(np.mean(strange)),
    }
