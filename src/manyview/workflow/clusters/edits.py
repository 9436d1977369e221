"""What a person says about clusters: rename, merge, split, move, pin, together, apart.

Each call is one entry of the history, whole or not at all, and can be undone. Edits are words about clusters and items,
not about a run: they hold for every later run. Where an edit contradicts an earlier one, it is refused and the refusal
says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...collection.history import Change, Entry
from ...collection.living import Links
from ...collection.store import Store
from ...errors import Conflict, ParameterError, StoreError
from .living import LiveCluster, refresh_profiles, settle
from .state import State

__all__ = ["ACTIONS", "check_name", "link", "merge", "move", "pin", "rename", "split", "undo_rows"]

ACTIONS = ("rename", "merge", "split", "move", "pin", "link")
_LONGEST_NAME = 200
_KINDS = frozenset({"rename", "merge", "split", "move", "pin", "unpin", "link", "unlink"})


def rename(collection: Store, cluster: int, name: str | None, *, who: str | None = None) -> Entry:
    """Give a cluster a name; None, or nothing but spaces, takes a person's name away, and its own one counts again."""
    now = _start(collection)
    one = now.cluster(cluster)
    if name is None or not name.strip():
        if not one.is_named:
            raise ParameterError(f"cluster {one.id} has no name of yours; {one.name!r} was generated.")
        with _entry(collection, "rename", f"took the name {one.name!r} from cluster {one.id}", [one.id], who) as change:
            change.put("clusters", id=one.id, name=None)
        return collection.history.get(change.id)
    word = check_name(now, one.id, name)
    summary = f"renamed cluster {one.id} from {one.name!r} to {word!r}"
    with _entry(collection, "rename", summary, [one.id], who) as change:
        change.put("clusters", id=one.id, name=word)
    return collection.history.get(change.id)


def merge(collection: Store, clusters: Iterable[int], *, into: int | None = None, who: str | None = None) -> Entry:
    """Make clusters one. It keeps the number and name of ``into``, by default of the one with a person's name, else a
    pinned one, else the largest. Where later runs find the parts again, they stay one.
    """
    now = _start(collection)
    chosen = [now.cluster(number) for number in dict.fromkeys(int(number) for number in clusters)]
    if into is not None and into not in [one.id for one in chosen]:
        chosen.append(now.cluster(into))
    if len(chosen) < 2:
        raise ParameterError("a merge needs at least two different clusters.")
    first = min(chosen, key=lambda one: (one.id != into, not one.is_named, not one.is_pinned, -one.size, one.id))
    numbers = {one.id for one in chosen}
    for pair in now.links.pairs:
        a, b = now.standing.of(pair)
        if a != b and {a, b} <= numbers:
            raise ParameterError(
                f"{_apart(collection, *pair)} They are in clusters {a} and {b}, which therefore stay two."
            )
    others = [one for one in chosen if one.id != first.id]
    summary = f"merged {', '.join(f'cluster {one.id} ({one.name})' for one in others)} into {first.id} ({first.name})"
    with collection.transaction():
        with _entry(collection, "merge", summary, [first.id, *(one.id for one in others)], who) as change:
            for one in others:
                change.put("clusters", id=one.id, merged_into=first.id)
        after = _noted(now.moved())
    refresh_profiles(after)
    return collection.history.get(change.id)


def split(collection: Store, cluster: int, n: int = 2, *, who: str | None = None) -> Entry:
    """Cut a cluster into ``n`` by clustering its own items in the views of its run; the largest part keeps the number.

    Items that are linked stay together. The other parts are new clusters, and their items stay in them as if they had
    been moved there.
    """
    now = _start(collection)
    one = now.cluster(cluster)
    if isinstance(n, bool) or int(n) != n or n < 2:
        raise ParameterError(f"a split makes at least 2 parts, got {n}.")
    parts = _parts(now, one, int(n))
    sizes = ", ".join(str(len(part)) for part in parts)
    summary = f"split cluster {one.id} ({one.name}) into {len(parts)}: {sizes} items"
    with collection.transaction():
        made = [collection.living.new_cluster() for _ in parts[1:]]
        with _entry(collection, "split", summary, [one.id, *made], who) as change:
            for number, part in zip(made, parts[1:], strict=True):
                change.put_many("placements", [{"item_id": item, "cluster_id": number} for item in part])
        after = _noted(now.moved())
    refresh_profiles(after)
    return collection.history.get(change.id)


def move(
    collection: Store,
    items: Iterable[int],
    cluster: int | None,
    *,
    name: str | None = None,
    who: str | None = None,
) -> Entry:
    """Put items into a cluster, or into a new one (None), which ``name`` then names. There they stay.

    What is linked to them, and copies of them that were not moved themselves, come along.
    """
    now = _start(collection)
    if cluster is None:
        name = None if name is None or not name.strip() else check_name(now, None, name)
    elif name is not None:
        raise ParameterError("a name is for a new cluster; use rename for an existing one.")
    target = None if cluster is None else now.cluster(cluster)
    asked = [_item(now, item) for item in dict.fromkeys(int(item) for item in items)]
    if not asked:
        raise ParameterError("a move needs at least one item.")
    every = {item for one in asked for item in now.links.group(one)}
    for first, second in now.links.pairs:
        both = first in every and second in every
        there = [now.standing.of([item])[0] for item in (first, second) if item not in every]
        if both or (len(there) == 1 and target is not None and there[0] == target.id):
            raise ParameterError(_apart(collection, first, second))
    by_hand = {*asked, *collection.living.placed()}
    rows = sorted(every & by_hand)
    with collection.transaction():
        number = collection.living.new_cluster() if target is None else target.id
        what = _name(collection, asked[0]) if len(asked) == 1 else f"{len(asked)} items"
        called = target.name if target else name
        where = f"{'cluster' if target else 'a new cluster,'} {number}" + (f" ({called})" if called else "")
        from_ = sorted({c for c in now.standing.of(every) if c >= 0} - {number})
        detail = {"items": len(every), "from": from_}
        with _entry(collection, "move", f"moved {what} to {where}", [number, *from_], who, detail) as change:
            change.put_many("placements", [{"item_id": item, "cluster_id": number} for item in rows])
            if name:
                change.put("clusters", id=number, name=name)
        after = _noted(now.moved())
    refresh_profiles(after)
    return collection.history.get(change.id)


def pin(collection: Store, cluster: int, pinned: bool = True, *, who: str | None = None) -> Entry:
    """Keep the members a cluster has now, whatever later runs say; False lets them go again.

    A pinned cluster loses nobody but by a person's hand. Others may still join it, when items are added or a run finds
    them there; pin it again to keep those too.
    """
    now = _start(collection)
    one = now.cluster(cluster)
    held = collection.living.held()
    merged = collection.living.merged()
    if not pinned:
        mine = [item for item, owner in held.items() if merged.get(owner, owner) == one.id]
        if not one.is_pinned and not mine:
            raise ParameterError(f"cluster {one.id} ({one.name}) is not pinned.")
        with _entry(collection, "unpin", f"unpinned cluster {one.id} ({one.name})", [one.id], who) as change:
            change.put("clusters", id=one.id, is_pinned=0)
            there = change.rows("pinned_items", [(item,) for item in mine])
            change.restore(("pinned_items", key, row, None) for key, row in there.items())
        return collection.history.get(change.id)
    members = now.standing.members()[one.id].tolist()
    rows = [item for item in members if held.get(item) != one.id]
    if one.is_pinned and not rows:
        raise ParameterError(f"cluster {one.id} ({one.name}) is pinned already, with all its items.")
    summary = f"pinned cluster {one.id} ({one.name}) with {len(members)} items"
    with _entry(collection, "pin", summary, [one.id], who) as change:
        change.put("clusters", id=one.id, is_pinned=1)
        change.put_many("pinned_items", [{"item_id": item, "cluster_id": one.id} for item in rows])
    return collection.history.get(change.id)


def link(collection: Store, first: int, second: int, together: bool | None, *, who: str | None = None) -> Entry:
    """Say that two items belong together (True) or apart (False), in every run; None takes that word away.

    Together: both go where a person moved or pinned one of them, else where most of what is linked to them is. Apart:
    if they share a cluster, the one nobody moved or pinned goes to the cluster it is closest to among the others.
    """
    now = _start(collection)
    a, b = sorted((_item(now, first), _item(now, second)))
    if a == b:
        raise ParameterError("a link is between two different items.")
    names = f"{_name(collection, a)} and {_name(collection, b)}"
    known = {(x, y): bool(t) for x, y, t in now.link_rows}.get((a, b))
    if together is None:
        if known is None:
            raise ParameterError(f"{names} are not linked.")
        with _entry(collection, "unlink", f"unlinked {names}", _clusters_of(now, a, b), who) as change:
            change.drop("links", first_id=a, second_id=b)
    else:
        if known is together:
            raise ParameterError(f"{names} are linked that way already.")
        _check_link(collection, now, a, b, together)
        word = "together" if together else "apart"
        with _entry(collection, "link", f"{word}: {names}", _clusters_of(now, a, b), who) as change:
            change.put("links", first_id=a, second_id=b, together=int(together))
    refresh_profiles(now.moved() if together is None else settle(now.moved()))
    return collection.history.get(change.id)


def undo_rows(collection: Store, entry: Entry, *, who: str | None = None) -> Entry:
    """Undo an entry that changed rows; refused where what is left would contradict itself, with the reason."""
    if entry.kind not in _KINDS and not _undoes_edit(collection, entry):
        return collection.history.undo(entry.id, who=who)
    with collection.transaction():
        done = collection.history.undo(entry.id, who=who)
        if why := _contradiction(collection):
            raise Conflict(f"entry {entry.id} ({entry.summary}) cannot be undone: {why} Nothing was changed.")
        run = collection.runs.newest()
        after = None if run is None else _noted(settle(State(collection, run)))
    if after is not None:
        refresh_profiles(after)
    return done


def _undoes_edit(collection: Store, entry: Entry) -> bool:
    return entry.undoes is not None and collection.history.get(entry.undoes).kind in _KINDS


def _contradiction(collection: Store) -> str | None:
    """Two words of a person's that cannot both hold, or None."""
    living = collection.living
    into = living.merged_into()
    for start in into:
        end, seen = start, [start]
        while (end := into.get(end, -1)) not in (-1, *seen):
            seen.append(end)
        if end == start:
            return f"clusters {' and '.join(map(str, sorted(seen)))} would each be part of the other."
    links, merged = living.links(), living.merged()
    firm = {**living.held(), **living.placed()}
    where = {
        leader: {merged.get(firm[i], firm[i]) for i in items if i in firm} for leader, items in links.groups.items()
    }
    for leader, clusters in where.items():
        if len(clusters) > 1 and len(links.groups[leader]) > 1:
            names = " and ".join(_name(collection, item) for item in links.groups[leader][:2])
            return f"{names} belong together, but were put into clusters {', '.join(map(str, sorted(clusters)))}."
    for first, second in links.pairs:
        if links.leader(first) == links.leader(second):
            return f"{_name(collection, first)} and {_name(collection, second)} would be together and apart."
        if both := where[links.leader(first)] & where[links.leader(second)]:
            names = f"{_name(collection, first)} and {_name(collection, second)}"
            return f"{names} are to stay apart, but were both put into cluster {min(both)}."
    return None


# --- what is there now ---


def _start(collection: Store) -> State:
    """The state an edit starts from."""
    collection.check_writable("an edit")
    return State(collection)


def _noted(after: State) -> State:
    """The state after an entry, worked out before its transaction ends and once for all who have to know it."""
    after.collection.living.note_standing(after.standing)
    return after


def _item(now: State, number: int) -> int:
    """An item that is there."""
    found = now.collection.items.get(int(number))
    place = int(np.searchsorted(now.ids, found.id))
    if place >= now.ids.size or now.ids[place] != found.id:
        raise ParameterError(f"item {number} ({found.key}) is not in the collection any more.")
    return found.id


def _clusters_of(now: State, *items: int) -> list[int]:
    return sorted({cluster for cluster in now.standing.of(items) if cluster >= 0})


def _apart(collection: Store, first: int, second: int) -> str:
    """Why two items cannot be in one place."""
    names = f"{_name(collection, first)} and {_name(collection, second)}"
    return f"{names} (items {first} and {second}) are to stay apart; take that away first with `unlink`."


@contextmanager
def _entry(
    collection: Store,
    kind: str,
    summary: str,
    clusters: Sequence[int],
    who: str | None,
    detail: dict[str, Any] | None = None,
) -> Iterator[Change]:
    told = {"clusters": list(dict.fromkeys(clusters)), **(detail or {})}
    with collection.history.record(kind, summary, who=who, detail=told) as change:
        yield change


def _name(collection: Store, item: int) -> str:
    return collection.items.get(item).key.encode("utf-8", "backslashreplace").decode()


def check_name(now: State, cluster: int | None, name: str) -> str:
    """A name as it is kept, or why this cluster cannot have it."""
    word = " ".join(name.split())
    if len(word) > _LONGEST_NAME:
        raise ParameterError(f"a name has at most {_LONGEST_NAME} characters, got {len(word)}.")
    try:
        word.encode()
    except UnicodeEncodeError:
        raise ParameterError("a name must be text; this one holds half a character.") from None
    for one in now.clusters:
        if one.id != cluster and one.name.casefold() == word.casefold():
            raise ParameterError(f"cluster {one.id} is called {one.name!r} already. Choose another name, or merge.")
    return word


def _parts(now: State, one: LiveCluster, n: int) -> list[list[int]]:
    """The items of a cluster in ``n`` parts, the largest first."""
    import warnings

    from ...methods.consensus.consensus import ConsensusClustering

    members = now.standing.members()[one.id]
    X = now.views
    if X is None:
        raise StoreError(f"the views of run {now.run.id} no longer exist; fit again first.")
    rows = np.searchsorted(now.ids, members)
    here = np.flatnonzero(X.mask[rows].any(axis=1))
    if here.size < n:
        raise ParameterError(f"cluster {one.id} has {here.size} items with views, too few for {n} parts.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few items, views that are the same for all of them
        labels = ConsensusClustering(n).fit(X[rows[here]]).labels_
    part_of = dict.fromkeys(members.tolist(), 0)
    part_of.update(zip(members[here].tolist(), labels.tolist(), strict=True))
    for item in members.tolist():
        group = [other for other in now.links.group(item) if other in part_of]
        part_of[item] = part_of[group[0]] if group else part_of[item]
    parts = [[item for item, part in part_of.items() if part == number] for number in range(n)]
    parts = sorted((part for part in parts if part), key=lambda part: (-len(part), part[0]))
    if len(parts) < 2:
        raise ParameterError(f"the items of cluster {one.id} are all alike or linked; there is nothing to split by.")
    return parts


def _check_link(collection: Store, now: State, a: int, b: int, together: bool) -> None:
    """Refuse what contradicts an earlier word, and say which."""
    links = Links([row for row in now.link_rows if row[:2] != (a, b)])
    merged = collection.living.merged()
    names = f"{_name(collection, a)} and {_name(collection, b)}"
    groups = links.group(a), links.group(b)
    if not together and links.leader(a) == links.leader(b):
        raise ParameterError(f"{names} are linked together, directly or through others; unlink that first.")
    if together:
        for first, second in links.pairs:
            if (first in groups[0] and second in groups[1]) or (first in groups[1] and second in groups[0]):
                raise ParameterError(_apart(collection, first, second))
    ends: list[dict[int, str]] = []
    for group in groups:
        found: dict[int, str] = {}
        placed = collection.living.placed()
        for table, word in ((collection.living.held(), "pinned"), (placed, "moved or split off by hand")):
            found |= {merged.get(table[i], table[i]): f"{_name(collection, i)} was {word}" for i in group if i in table}
        ends.append(found)
    for x, how_x in ends[0].items():
        for y, how_y in ends[1].items():
            if together == (x != y):
                where = f"in cluster {x}" if x == y else f"in clusters {x} and {y}"
                raise ParameterError(f"{how_x} and {how_y}, {where}. Move one of them first, or undo that.")
