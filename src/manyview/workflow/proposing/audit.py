"""Accept many with a guarantee: random ones of the likeliest proposals are asked, and the rest is accepted when enough
of them were right (``completion.audit``).

An audit is an entry of the history that names the proposals, likeliest first, and the seed that puts them in random
order. All else follows from what people have answered: stopped at any moment it goes on where it was, an answer that is
taken back is asked again, and one that was given elsewhere is not asked twice.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ...collection.history import Entry
from ...collection.store import Store
from ...completion.audit import CONFIDENCE, Plan, Standing, batch_size, plan, standing
from ...data.checks import check_number
from ...errors import Conflict, ParameterError
from ...figures import percent
from ..undo import undo
from .suggest import tag_number

__all__ = [
    "Audit",
    "Question",
    "accept_rest",
    "answer_question",
    "go_on",
    "plan_audit",
    "read_audit",
    "start_audit",
    "take_back",
]

KIND = "audit"
_AHEAD = 3
"""Questions that are told before they are asked, so that their pictures can be fetched."""


@dataclass(frozen=True)
class Question:
    """Is this tag right for this item?"""

    item_id: int
    tag: str
    answered: bool | None = None


@dataclass(frozen=True)
class Audit:
    """A batch of proposals that is being asked about, and how far it is."""

    id: int
    share: float
    tag: str | None
    now: Standing
    question: Question | None
    """The one to ask next."""
    following: tuple[Question, ...]
    """What may come after it."""
    last: Question | None
    """The one that was answered last, in the order of asking."""
    n_rest: int
    """Tags of the batch that nobody has answered: what would be accepted unseen."""

    @property
    def is_over(self) -> bool:
        """Nothing is left to ask or to accept."""
        return self.question is None and (self.now.verdict == "given up" or self.n_rest == 0)


def plan_audit(collection: Store, share: float, *, tag: str | None = None) -> Plan:
    """About how many answers it will take and how many tags it will bring, if the promises hold."""
    least = _checked(share)
    return plan(_probabilities(collection, tag)[1], least)


def start_audit(collection: Store, share: float, *, tag: str | None = None, who: str | None = None) -> Audit:
    """Go on with the audit of this share that is not over, or begin one."""
    collection.check_writable("an audit")
    with collection.transaction():
        known = go_on(collection, _checked(share), tag=tag)
        if known is not None:
            return known
        found, probabilities = _probabilities(collection, tag)
        n = batch_size(probabilities, share)
        if n == 0:
            raise ParameterError(_too_few(share, probabilities))
        pairs = [one[:2] for one in found[:n]]
        detail = {"share": share, "tag": tag, "run": collection.runs.get(kind="suggest").id, "pairs": pairs}
        summary = f"began to ask whether {percent(share)} of {n} tags are right"
        with collection.history.record(KIND, summary, who=who, detail={**detail, "seed": secrets.randbits(64)}):
            pass
        begun = collection.history.newest_of(KIND)
        if begun is None:
            raise Conflict(f"the audit of {collection.path} could not be kept. Try again.")
        return _read(collection, begun)


def go_on(collection: Store, share: float | None = None, *, tag: str | None = None) -> Audit | None:
    """The newest audit of the newest proposals where it is not over; of this share and tag, where they are given."""
    newest, run = collection.history.newest_of(KIND), collection.runs.newest("suggest")
    if newest is None or run is None or newest.detail["run"] != run.id:
        return None
    if share is not None and (newest.detail["share"], newest.detail["tag"]) != (share, tag):
        return None
    found = _read(collection, newest)
    return None if found.is_over else found


def answer_question(
    collection: Store, audit: int, question: Question, answer: bool, *, who: str | None = None
) -> Audit:
    """Answer what an audit asks; it is an answer like any other, kept at once."""
    collection.check_writable("an answer")
    with collection.transaction():
        if collection.decisions.answer(question.item_id, question.tag) is None:
            pairs, why = [(question.item_id, question.tag)], f"asked at random, entry {audit}"
            collection.decisions.put(pairs, answer, who=who, why=why, is_reviewed=True)
        return read_audit(collection, audit)


def take_back(collection: Store, audit: int, *, who: str | None = None) -> Audit:
    """Undo the last answer of an audit, which is asked again."""
    collection.check_writable("undo")
    with collection.transaction():
        found = read_audit(collection, audit)
        entry = None if found.last is None else collection.decisions.answered_by(found.last.item_id, found.last.tag)
        if entry is None:
            raise Conflict("there is no answer to take back yet.")
        given = collection.history.get(entry)
        if given.detail.get("pairs") != 1:
            raise Conflict(
                f"that was answered together with others ({given.summary}); undo entry {entry} for all of it."
            )
        undo(collection, given, who=who)
        return read_audit(collection, audit)


def accept_rest(collection: Store, audit: int, *, who: str | None = None) -> Entry:
    """Accept every tag of a proved batch that nobody has answered: one entry, which says what is guaranteed and how."""
    collection.check_writable("a decision")
    with collection.transaction():
        found, entry = read_audit(collection, audit), collection.history.get(audit)
        if found.now.verdict != "proved" or found.n_rest == 0:
            raise Conflict(f"entry {audit} ({entry.summary}) has nothing to accept: it is {found.now.verdict}.")
        now, words = found.now, collection.tagging.vocabulary()
        batch = [tuple(pair) for pair in entry.detail["pairs"][: now.n]]
        known = collection.decisions.answers(batch)
        rest = [(item, words[tag]) for item, tag in batch if (item, tag) not in known]
        note = (
            f"at least {percent(found.share)} of {now.n} are right, {percent(CONFIDENCE)} sure "
            f"({now.asked} asked at random, {now.right} right)"
        )
        guarantee = {
            "share": found.share,
            "of": now.n,
            "confidence": CONFIDENCE,
            "asked": now.asked,
            "right": now.right,
            "attempt": now.attempt + 1,
            "audit": audit,
        }
        return collection.decisions.put(
            rest, True, who=who, why=note, is_reviewed=False, note=note, detail={"guarantee": guarantee}
        )


def read_audit(collection: Store, audit: int) -> Audit:
    """An audit as it is now, by the number of its entry."""
    entry = collection.history.get(audit)
    if entry.kind != KIND:
        raise ParameterError(f"entry {audit} ({entry.summary}) is not an audit.")
    return _read(collection, entry)


def _read(collection: Store, entry: Entry) -> Audit:
    detail = entry.detail
    pairs = [(int(item), int(tag)) for item, tag in detail["pairs"]]
    known = collection.decisions.answers(pairs)
    order = np.random.default_rng(int(detail["seed"])).permutation(len(pairs)).tolist()
    asked: list[int] = []

    def answer(place: int) -> bool | None:
        asked.append(place)
        return known.get(pairs[place])

    now = standing(order, detail["share"], answer)
    done = asked if now.next is None else asked[:-1]
    rest = sum(pair not in known for pair in pairs[: now.n]) if now.verdict == "proved" else 0
    words = collection.tagging.vocabulary()

    def question(place: int) -> Question:
        item, tag = pairs[place]
        return Question(item, words[tag], known.get((item, tag)))

    return Audit(
        id=entry.id,
        share=detail["share"],
        tag=detail["tag"],
        now=now,
        question=None if now.next is None else question(now.next),
        following=tuple(question(place) for place in _following(order, now, lambda place: pairs[place] in known)),
        last=question(done[-1]) if done else None,
        n_rest=rest,
    )


def _following(order: list[int], now: Standing, is_known: Callable[[int], bool]) -> list[int]:
    if now.next is None:
        return []
    later = order[order.index(now.next) + 1 :]
    return list(islice((place for place in later if place < now.n and not is_known(place)), _AHEAD))


def _probabilities(collection: Store, tag: str | None) -> tuple[list[Any], Any]:
    tag_id = None if tag is None else tag_number(collection, tag)
    found = collection.runs.rows.promised(collection.runs.get(kind="suggest").id, tag_id)
    return found, np.array([one[2] for one in found], dtype=np.float64)


def _checked(share: float) -> float:
    check_number("at_least", share, low=0.5, high=0.99)
    return float(share)


def _too_few(share: float, probabilities: Any) -> str:
    best = f"the likeliest promises {percent(probabilities[0])}" if probabilities.size else "none is open"
    return f"no proposals are likely enough to guarantee {percent(share)}: {best}. Choose a smaller share."
