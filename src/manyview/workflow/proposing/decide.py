"""Say yes or no to proposed tags, and to tags in general: one entry of the history each time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...collection.history import Entry
from ...collection.store import Store
from ...collection.tagging import word_key
from ...errors import ParameterError
from ...renamed import renamed
from .asking import WORTH_ASKING
from .suggest import open_proposals

__all__ = ["accept", "add_tag", "choose", "count_unlikely", "reject", "remove_tag"]

Pairs = Iterable[tuple[int, str]]


@renamed(min_score="min_probability")
def accept(
    collection: Store,
    pairs: Pairs | None = None,
    *,
    min_probability: float | None = None,
    tag: str | None = None,
    item: int | None = None,
    who: str | None = None,
    why: str | None = None,
    reviewed: bool | None = None,
) -> Entry:
    """Say yes to proposals: these items get these tags. One entry, which ``undo`` takes back as a whole.

    Either ``pairs`` of item number and word, proposed or not; or the open proposals of at least the probability
    ``min_probability``, of a ``tag``, of an ``item``, or of all that is given. ``min_probability=0`` is everything.
    An item and a tag together name one pair.

    ``reviewed`` says whether somebody looked at each of them, so that the answers tell how complete the tags are. None:
    yes for pairs, no for what was chosen by a line.
    """
    return _decide(collection, True, pairs, min_probability, tag, item, who, why, reviewed)


@renamed(min_score="min_probability")
def reject(
    collection: Store,
    pairs: Pairs | None = None,
    *,
    min_probability: float | None = None,
    tag: str | None = None,
    item: int | None = None,
    who: str | None = None,
    why: str | None = None,
    reviewed: bool | None = None,
) -> Entry:
    """Say no to proposals: they are never made again, and a tag that a file gives counts no more. As ``accept``."""
    return _decide(collection, False, pairs, min_probability, tag, item, who, why, reviewed)


def _decide(
    collection: Store,
    answer: bool,
    pairs: Pairs | None,
    min_probability: float | None,
    tag: str | None,
    item: int | None,
    who: str | None,
    why: str | None,
    reviewed: bool | None,
) -> Entry:
    collection.check_writable("a decision")
    if pairs is not None and (min_probability, tag, item) != (None, None, None):
        raise ParameterError("give pairs, or what to choose proposals by (min_probability, tag, item), not both.")
    with collection.transaction():  # chosen and written in one state
        chosen, looked_at = list(pairs or ()), True
        if pairs is None:
            chosen, looked_at = choose(
                collection, min_probability=min_probability, tag=tag, items=None if item is None else [item]
            )
            if not chosen:
                raise ParameterError("no open proposal matches; nothing was changed.")
        is_reviewed = looked_at if reviewed is None else reviewed
        return collection.decisions.put(chosen, answer, who=who, why=why, is_reviewed=is_reviewed)


@renamed(min_score="min_probability")
def choose(
    collection: Store,
    *,
    min_probability: float | None = None,
    tag: str | None = None,
    items: Sequence[int] | None = None,
) -> tuple[list[tuple[int, str]], bool]:
    """Pairs of item number and word, and whether they were named one by one.

    Items and a tag without a line are these very pairs, proposed or not; anything else chooses open proposals.
    """
    if (min_probability, tag, items) == (None, None, None):
        raise ParameterError("choose by item, by tag or by least probability (0 takes every open proposal).")
    if items is not None and tag is not None and min_probability is None:
        return [(int(item), tag) for item in items], True
    line = min_probability or None
    found = [
        one
        for item in ([None] if items is None else items)
        for one in open_proposals(collection, tag=tag, item=item, min_probability=line, reasons=False)
    ]
    return [(one.item_id, one.tag) for one in found], False


def count_unlikely(collection: Store, pairs: Iterable[tuple[int, str]]) -> int:
    """How many of these pairs are open proposals that are more likely wrong than right."""
    if collection.runs.newest("suggest") is None:
        return 0
    proposals = open_proposals(collection, reasons=False)
    unlikely = {(one.item_id, word_key(one.tag)) for one in proposals if (one.probability or 0.0) < WORTH_ASKING}
    return len({(item, word_key(tag)) for item, tag in pairs} & unlikely)


def add_tag(
    collection: Store, items: Iterable[int], word: str, *, who: str | None = None, why: str | None = None
) -> Entry:
    """Give items a tag, in any words: as if it had been proposed and accepted."""
    collection.check_writable("a decision")
    return collection.decisions.put([(int(item), word) for item in items], True, who=who, why=why, verb="added")


def remove_tag(
    collection: Store, items: Iterable[int], word: str, *, who: str | None = None, why: str | None = None
) -> Entry:
    """Take a tag from items, wherever it came from; it is not proposed for them again."""
    collection.check_writable("a decision")
    return collection.decisions.put([(int(item), word) for item in items], False, who=who, why=why, verb="removed")
