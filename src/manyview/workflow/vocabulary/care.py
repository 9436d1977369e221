"""A person's word on tags themselves: rename, merge, alias, retire, silence, restore, parent.

Each is one entry of the history and can be undone. Items follow at once: where two tags become one, every item that had
the old word says yes to the new one and no to the old, and so `apply` changes its file. A word that has gone into
another still counts as that one wherever a file that is read later, or a person, says it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ...collection.history import Entry, now
from ...collection.store import Store
from ...collection.tagging import clean_word, word_key
from ...collection.vocabulary import Care
from ...errors import ParameterError
from ...figures import counted
from ..proposing.suggest import tag_number

__all__ = ["ACTIONS", "Cared", "care_for"]

_KIND = "tags"
"""Of entries of the history."""


@dataclass(frozen=True)
class Cared:
    """What was done, or would be, to the words of a collection."""

    summary: str
    n_items: int
    """Items whose tags change."""
    n_files: int
    """Files that `apply` will have to look at for it."""
    entry: Entry | None = None
    """None where it was only asked for."""

    @property
    def sentence(self) -> str:
        said = f"{self.summary}: {counted(self.n_items, 'item')}"
        return f"{said}; `apply` will look at {counted(self.n_files, 'file')}" if self.n_files else said


@dataclass
class _Plan:
    """Rows to be written, and the items they are about."""

    summary: str = ""
    care: dict[int, dict[str, Any]] = field(default_factory=dict)
    answers: dict[tuple[int, int], bool] = field(default_factory=dict)
    items: set[int] = field(default_factory=set)
    """Items whose tags stay and whose files change: their words are spelled or placed anew."""

    def say(self, tag: int, **columns: Any) -> None:
        self.care.setdefault(tag, {}).update(columns)


class _Words:
    """The words of a collection while a plan is made; ``is_trial`` writes nothing."""

    def __init__(self, collection: Store, is_trial: bool) -> None:
        self.collection, self._is_trial = collection, is_trial
        self.vocabulary = collection.vocabulary
        self.care = collection.vocabulary.care()
        self.names = collection.tagging.vocabulary()
        self._tried: dict[str, int] = {}
        """New words, while nothing is written."""

    def known(self, word: str) -> int:
        """The number of a word that is in use, or a sentence with those it may have been."""
        own = self.vocabulary.own_number(clean_word(word))
        if own is not None and (own not in self.care or self.care[own].alias_of is None):
            return own
        above = {word_key(part) for path in self.collection.hierarchy for part in path}
        if own is None and word_key(word) in above:  # it stands above tags, and is none itself yet
            return self.new(word)
        return tag_number(self.collection, word)

    def new(self, word: str) -> int:
        """The number of a word, which may be a new one."""
        if not (word := clean_word(word)):
            raise ParameterError("a tag must be a word.")
        found = self.vocabulary.own_number(word)
        if found is None:
            key = word_key(word)
            found = self._tried.setdefault(key, -1 - len(self._tried)) if self._is_trial else None
            found = self.vocabulary.new_number(word) if found is None else found
            self.names[found] = word
        return found

    def holders(self, tag: int) -> set[int]:
        return set(self.vocabulary.holders(tag))

    def below(self, tag: int) -> set[int]:
        """Tags that stand below one."""
        key = word_key(self.names[tag])
        found = set()
        for path in self.collection.hierarchy:
            keys = list(map(word_key, path))
            if key in keys:
                found |= {self.vocabulary.own_number(word) for word in path[keys.index(key) + 1 :]}
        return {one for one in found if one is not None}


def care_for(
    collection: Store, action: str, *words: str, into: str | None = None, dry_run: bool = False, who: str | None = None
) -> Cared:
    """Change the words of a collection; ``ACTIONS`` says what each action takes."""
    if action not in _PLANS:
        raise ParameterError(f"there is no action {action!r} for tags; there are {', '.join(_PLANS)}.")
    least, most = _TAKES[action]
    if not least <= len(words) <= most:
        raise ParameterError(f"use it as: {ACTIONS[action]}.")
    if into is not None and action != "merge":
        raise ParameterError(f"into is for merge, not for {action}: {ACTIONS[action]}.")
    if dry_run:
        plan = _PLANS[action](_Words(collection, True), *words, **({} if into is None else {"into": into}))
        return _cared(collection, plan)
    collection.check_writable("a change of tags")
    with collection.transaction():
        plan = _PLANS[action](_Words(collection, False), *words, **({} if into is None else {"into": into}))
        detail = {"action": action, "words": list(words), "items": len(_items(plan))}
        with collection.history.record(_KIND, plan.summary, who=who, detail=detail) as change:
            who, at = collection.history.get(change.id).who, now()
            for tag, columns in plan.care.items():
                change.put("tag_care", tag_id=tag, **columns)
            rows = [
                {"item_id": item, "tag_id": tag, "answer": int(yes), "who": who, "at": at, "why": None}
                for (item, tag), yes in plan.answers.items()
            ]
            change.put_many("decisions", rows) if rows else None
    return _cared(collection, plan, collection.history.get(change.id))


def _items(plan: _Plan) -> set[int]:
    return plan.items | {item for item, _ in plan.answers}


def _cared(collection: Store, plan: _Plan, entry: Entry | None = None) -> Cared:
    items = _items(plan)
    return Cared(plan.summary, len(items), collection.vocabulary.with_files(items), entry)


# --- what each action does ---


def _rename(words: _Words, old: str, new: str) -> _Plan:
    source, target = words.known(old), words.new(new)
    name, spelled = words.names[source], clean_word(new)
    plan = _Plan(f"renamed {name!r} to {spelled!r}")
    if target == source:
        if name == spelled:
            raise ParameterError(f"the tag is called {name!r} already.")
        plan.say(source, name=spelled)
        plan.items |= words.holders(source)
        for below in words.below(source):
            plan.items |= words.holders(below)
        return plan
    if words.holders(target):
        raise ParameterError(f"there is a tag {words.names[target]!r} already; merge the two: {ACTIONS['merge']}.")
    was = words.care.get(source, Care(source))
    _put_into(plan, words, [source], target)
    plan.say(target, name=spelled, parent_id=was.parent, is_top=int(was.is_top), is_silent=int(was.is_silent))
    return plan


def _merge(words: _Words, *given: str, into: str | None = None) -> _Plan:
    numbers = list(dict.fromkeys(words.known(word) for word in given))
    if into is None:
        uses = words.vocabulary.uses()
        target = min(numbers, key=lambda tag: (-uses[tag].n_items if tag in uses else 0, tag))
    else:
        target = words.new(into)
        meant = words.care.get(target)
        target = meant.alias_of if meant and meant.alias_of and meant.alias_of not in numbers else target
    sources = [tag for tag in numbers if tag != target]
    if not sources:
        raise ParameterError(f"a merge needs two different tags: {ACTIONS['merge']}.")
    kept = words.names.get(target, clean_word(into or ""))
    plan = _Plan(f"merged {', '.join(repr(words.names[tag]) for tag in sources)} into {kept!r}")
    _put_into(plan, words, sources, target)
    return plan


def _put_into(plan: _Plan, words: _Words, sources: Iterable[int], target: int) -> None:
    """Every item of the sources has the target instead, and their words count as it."""
    vocabulary = words.vocabulary
    has_target = words.holders(target)
    plan.say(target, alias_of=None, is_retired=0)
    for source in sources:
        holders, refusers = words.holders(source), set(vocabulary.refusers(source))
        plan.answers |= {(item, source): False for item in sorted(holders)}
        plan.answers |= {(item, target): True for item in sorted(holders - has_target)}
        # a no to the old word is one to the new; where another old word says yes, that holds
        unknown = refusers - vocabulary.spoken_of(target) - holders
        plan.answers |= {(i, target): False for i in sorted(unknown) if (i, target) not in plan.answers}
        plan.say(source, alias_of=target, name=None, parent_id=None, is_top=0)
        for tag, one in words.care.items():
            if one.alias_of == source and tag != target:
                plan.say(tag, alias_of=target)
            if one.parent == source and tag != target:
                plan.say(tag, parent_id=target)
        for below in words.below(source):
            plan.items |= words.holders(below)


def _alias(words: _Words, word: str, of: str) -> _Plan:
    target, source = words.known(of), words.new(word)
    if source == target:
        raise ParameterError(f"{word!r} and {of!r} are the same tag already.")
    if n := len(words.holders(source)):
        raise ParameterError(
            f"{n} items carry {word!r}; to make it one with {of!r}, merge the two: {ACTIONS['merge']}."
        )
    plan = _Plan(f"made {clean_word(word)!r} an alias of {words.names[target]!r}")
    plan.say(source, alias_of=target, name=None, parent_id=None, is_top=0)
    return plan


def _retire(words: _Words, word: str) -> _Plan:
    tag = words.known(word)
    plan = _Plan(f"retired {words.names[tag]!r}")
    plan.say(tag, is_retired=1)
    plan.answers |= {(item, tag): False for item in sorted(words.holders(tag))}
    return plan


def _silence(words: _Words, word: str) -> _Plan:
    tag = words.known(word)
    plan = _Plan(f"silenced {words.names[tag]!r}")
    plan.say(tag, is_silent=1)
    return plan


def _restore(words: _Words, word: str) -> _Plan:
    own = words.vocabulary.own_number(clean_word(word))
    one = words.care.get(own or 0)
    if own is None or one is None or one.is_proposed:
        raise ParameterError(f"{word!r} is neither retired nor silent nor an alias.")
    plan = _Plan(f"restored {words.names[own]!r}")
    plan.say(own, is_retired=0, is_silent=0, alias_of=None)
    return plan


def _parent(words: _Words, word: str, above: str = "") -> _Plan:
    tag = words.known(word)
    if not clean_word(above):
        plan = _Plan(f"put {words.names[tag]!r} at the top of the hierarchy")
        plan.say(tag, parent_id=None, is_top=1)
    else:
        parent = words.new(above)
        meant = words.care.get(parent)
        parent = meant.alias_of if meant and meant.alias_of else parent
        if parent == tag or parent in words.below(tag):
            raise ParameterError(f"{above!r} is below {word!r} in the hierarchy, so it cannot be its parent.")
        plan = _Plan(f"put {words.names[tag]!r} below {words.names.get(parent, clean_word(above))!r}")
        plan.say(tag, parent_id=parent, is_top=0)
    for one in (tag, *words.below(tag)):
        plan.items |= words.holders(one)
    return plan


ACTIONS = {
    "rename": "rename TAG NEW",
    "merge": "merge TAG TAG ... [--into TAG]",
    "alias": "alias WORD TAG (the word counts as the tag)",
    "retire": "retire TAG (no item has it any more, and it is never proposed)",
    "silence": "silence TAG (it is never proposed)",
    "restore": "restore TAG (it may be used and proposed again)",
    "parent": "parent TAG [PARENT] (without PARENT it stands at the top)",
}
"""What can be done to tags, and what it takes."""
_PLANS: dict[str, Any] = {
    "rename": _rename,
    "merge": _merge,
    "alias": _alias,
    "retire": _retire,
    "silence": _silence,
    "restore": _restore,
    "parent": _parent,
}
_TAKES = {"rename": (2, 2), "merge": (1, 1000), "alias": (2, 2), "parent": (1, 2)} | dict.fromkeys(
    ("retire", "silence", "restore"), (1, 1)
)
