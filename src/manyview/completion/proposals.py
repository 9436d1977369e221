"""Proposed tags: numbers for all of them at once, and the reason of each when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ..data.checks import as_generator, check_number
from ..types import Floats, Ints, Singles
from .audit import batch_size, standing
from .evidence import Evidence, sentence
from .probability import how_sure
from .reasons import Told

__all__ = ["Audited", "Picked", "Proposal", "Proposals", "best_of_rows"]

_AT_ONCE = 2048


@dataclass(frozen=True)
class Proposal:
    """A tag that an item may lack.

    item : its row; ``item_id`` is its identifier
    tag, column : the word, and its column in the vocabulary
    score : what proposals of an item are ranked by
    probability : how likely the tag holds
    trusted : whether the probability may be shown as a number; ``sure`` is the number or a word for it
    evidence : what spoke for it and against it, the largest first; ``frequency`` last. Only the main parts (three for
        it, the loudest against it) are kept, so amounts need not add up to ``score``
    reason : the same as a sentence
    """

    item: int
    item_id: Any
    tag: str
    column: int
    score: float
    probability: float
    evidence: tuple[Evidence, ...]
    reason: str
    trusted: bool = True

    @property
    def sure(self) -> str:
        """ "83 %", or very likely, likely, maybe."""
        return how_sure(self.probability, self.trusted)


class Picked(NamedTuple):
    """Pairs of item and tag that are to be proposed: an entry of each array for each of them.

    records : how likely the owner's record would contain the tag
    new : how far the item is asked about as one that nobody has looked at yet
    """

    items: Ints
    columns: Ints
    scores: Singles
    records: Floats
    new: Floats
    probabilities: Floats

    def only(self, kept: NDArray[Any]) -> Picked:
        """Some of them, by their places or by a mask; no copy where that is all."""
        if kept.dtype == bool and kept.all():
            return self
        return Picked(*(part[kept] for part in self))


class Audited(NamedTuple):
    """What an audit of proposals has come to."""

    is_proved: bool
    accepted: NDArray[np.int64]
    """Which proposals to accept: those answered with yes and, where it is proved, the rest of the batch unseen."""
    n: int
    """Tags in the batch, of which at least the share is right."""
    asked: int
    right: int


Explain = Callable[[Ints, Ints], Told]
"""From rows and columns to what speaks for each."""


class Proposals(Sequence[Proposal]):
    """All proposals, item by item, the best of an item first.

    A sequence of ``Proposal``; reasons are worked out when a proposal is taken, so that millions cost no more than
    their numbers. ``items``, ``columns``, ``scores``, ``probabilities``, ``records`` (how likely the owner's own record
    would contain the tag), ``new`` (how far the item is asked about as one that nobody has looked at yet) and
    ``trusted`` (whether the probability may be shown as a number, see ``how_sure``) are arrays; ``of(item)`` gives the
    proposals of one item.
    """

    def __init__(
        self,
        picked: Picked,
        trusted: NDArray[np.bool_],
        tag_names: Sequence[str],
        item_ids: NDArray[Any],
        explain: Explain,
        fit_ids: NDArray[Any] | None = None,
    ) -> None:
        """``item_ids`` are those of the items asked about, ``fit_ids`` those of the fit where they are others."""
        self.items, self.columns, self.scores, self.records, self.new, self.probabilities = picked
        self.trusted = trusted
        self.tag_names = tag_names
        self._item_ids, self._fit_ids = item_ids, item_ids if fit_ids is None else fit_ids
        self._explain = explain

    def __len__(self) -> int:
        return int(self.items.size)

    @overload
    def __getitem__(self, index: int) -> Proposal: ...
    @overload
    def __getitem__(self, index: slice) -> list[Proposal]: ...
    def __getitem__(self, index: int | slice) -> Proposal | list[Proposal]:
        if isinstance(index, slice):
            return self._made(np.arange(len(self))[index])
        return self._made(np.array([range(len(self))[index]]))[0]

    def only(self, kept: Any) -> Proposals:
        """Some of them, by their places or by a mask, with all that belongs to them."""
        some = np.arange(len(self))[kept]
        picked = Picked(self.items, self.columns, self.scores, self.records, self.new, self.probabilities).only(some)
        return Proposals(picked, self.trusted[some], self.tag_names, self._item_ids, self._explain, self._fit_ids)

    def __iter__(self) -> Iterator[Proposal]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self._made(np.arange(start, min(start + _AT_ONCE, len(self))))

    def told(self) -> Iterator[Told]:
        """What speaks for each, in blocks, as arrays: of millions of proposals that is much less than ``Proposal``."""
        for start in range(0, len(self), _AT_ONCE):
            yield self._explain(self.items[start : start + _AT_ONCE], self.columns[start : start + _AT_ONCE])

    def of(self, item: int) -> list[Proposal]:
        """The proposals of one item, best first."""
        return self._made(np.flatnonzero(self.items == item))

    def audit(self, answer: Callable[[Proposal], bool], at_least: float = 0.8, random_state: Any = 0) -> Audited:
        """Accept many with a guarantee: ``answer`` is asked about random ones of the likeliest, one by one, until it is
        proved, 95 % sure and whatever the probabilities are worth, that ``at_least`` of the batch are right.
        """
        check_number("at_least", at_least, low=0.5, high=0.99)
        likeliest = np.lexsort((self.items, -self.scores, -self.probabilities))
        order = as_generator(random_state).permutation(batch_size(self.probabilities[likeliest], at_least)).tolist()
        right: dict[int, bool] = {}

        def said(place: int) -> bool:
            right[place] = bool(answer(self[int(likeliest[place])]))
            return right[place]

        end = standing(order, at_least, said)
        unseen = range(end.n) if end.verdict == "proved" else ()
        accepted = sorted(
            {place for place in right if right[place]} | {place for place in unseen if place not in right}
        )
        return Audited(end.verdict == "proved", likeliest[accepted], end.n, end.asked, end.right)

    def __repr__(self) -> str:
        return f"Proposals({len(self)} of {np.unique(self.items).size} items)"

    def _made(self, which: NDArray[np.int64]) -> list[Proposal]:
        if not which.size:
            return []
        told = self._explain(self.items[which], self.columns[which]).evidence()
        return [
            Proposal(
                int(self.items[p]),
                self._item_ids[self.items[p]],
                self.tag_names[self.columns[p]],
                int(self.columns[p]),
                float(self.scores[p]),
                float(self.probabilities[p]),
                evidence,
                sentence(self.tag_names[self.columns[p]], evidence, self._fit_ids),
                bool(self.trusted[p]),
            )
            for p, evidence in zip(which.tolist(), told, strict=True)
        ]


def best_of_rows(scores: NDArray[np.float32], top: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of the ``top`` largest of each row, best first, ties by column; minus infinity never counts."""
    top = min(top, scores.shape[1])
    # Sorting all columns would cost more than all sources; only what reaches the top-th value is sorted.
    least = -np.partition(-scores, top - 1, axis=1)[:, top - 1, None]
    row, column = np.nonzero((scores >= least) & (scores > -np.inf))
    order = np.lexsort((column, -scores[row, column], row))
    row, column = row[order], column[order]
    first = np.searchsorted(row, row)
    kept = np.arange(row.size) - first < top
    return row[kept].astype(np.int64), column[kept].astype(np.int64)
