"""Where every item is now: what a run says, and above it what a person said.

From weak to strong: the identity of the item's label; what a split made by hand took over; the members a pinned
cluster keeps; a person's moves; merges; pairs to be together; pairs to be apart. All of it is found from the tables
each time, so that undoing an edit, in any order, is nothing but taking its rows away.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..types import Ids
from .catalog import Catalog, as_json
from .sorted_numbers import among, distinct, read_numbers

__all__ = ["KeptProfile", "Links", "Living", "Standing"]


@dataclass(frozen=True)
class Standing:
    """The items of a run, ascending, and where they are. -1 is no cluster."""

    run_id: int
    ids: Ids
    labels: Ids
    """What the run says; -1 also for items that only a person has placed."""
    own: Ids
    """The identity of each one's cluster before merges and links: what a later run is matched with."""
    clusters: Ids
    """Where it is after everything."""
    wanted: Ids
    """Where it would be if no pair were to be apart."""

    def of(self, items: Iterable[int]) -> list[int]:
        """The clusters of some items; -1 for those that are not here."""
        wanted = np.fromiter((int(item) for item in items), dtype=np.int64)
        if not self.ids.size:
            return [-1] * wanted.size
        place = np.minimum(np.searchsorted(self.ids, wanted), self.ids.size - 1)
        return [int(one) for one in np.where(self.ids[place] == wanted, self.clusters[place], -1)]

    def members(self) -> dict[int, Ids]:
        """Cluster -> its items, ascending; without those in none."""
        order = np.argsort(self.clusters, kind="stable")
        found, starts = np.unique(self.clusters[order], return_index=True)
        parts = np.split(self.ids[order], starts[1:])
        return {cluster: part for cluster, part in zip(found.tolist(), parts, strict=True) if cluster >= 0}


class KeptProfile(NamedTuple):
    """What was said of a cluster, and of which members."""

    members: str
    name: str
    profile: dict[str, Any]


class Links:
    """Pairs to be together, as groups, and pairs to be apart."""

    def __init__(self, rows: Iterable[tuple[int, int, int]]) -> None:
        listed = list(rows)
        self._leader: dict[int, int] = {}
        for first, second, together in listed:
            if together:
                a, b = sorted((self.leader(first), self.leader(second)))
                self._leader[b] = a
        self.groups: dict[int, list[int]] = defaultdict(list)
        for item in sorted({item for row in listed for item in row[:2]}):
            self.groups[self.leader(item)].append(item)
        self.apart: dict[int, set[int]] = defaultdict(set)
        """Group -> groups it must not share a cluster with; groups go by their first item."""
        self.pairs = [(first, second) for first, second, together in listed if not together]
        for first, second in self.pairs:
            a, b = self.leader(first), self.leader(second)
            self.apart[a].add(b)
            self.apart[b].add(a)

    def leader(self, item: int) -> int:
        """The first item of the group it is in; itself where it is in none."""
        while (above := self._leader.get(item, item)) != item:
            item = above
        return item

    def group(self, item: int) -> list[int]:
        """All items that have to be where this one is, itself among them."""
        return self.groups.get(self.leader(item), [item])


class Living:
    """The tables behind a living clustering."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    # --- where items are ---

    def standing(self, run_id: int) -> Standing:
        """Where every item of a run is now; time and memory are linear in the items."""
        here, repeats = self._pairs(
            "SELECT id || ',' || ifnull(duplicate_of, -1) AS n FROM items WHERE state = 'here' ORDER BY id"
        )
        labelled, said = self._pairs("SELECT item_id || ',' || label AS n FROM labels WHERE run_id = ?", run_id)
        placed, held, adjusted = self.placed(), self.held(), self._adjustments(run_id)
        by_person = [_columns(held), _columns(placed)]
        ids = distinct(np.concatenate([labelled, *(items for items, _ in by_person)]))
        ids = ids[among(ids, here)]
        labels = np.full(ids.size, -1, dtype=np.int64)
        _put(labels, ids, labelled, said)
        identity = dict(self._catalog.rows("SELECT label, cluster_id FROM run_clusters WHERE run_id = ?", (run_id,)))
        own = _renamed(labels, identity, -1)
        made = {*identity.values(), *(c for items, where in by_person for c in where[among(items, ids)].tolist())}
        taken_over = {i: c for i, (c, apart) in adjusted.items() if apart is None and c in made}
        for words in (_columns(taken_over), *by_person):
            _put(own, ids, *words)
        merged = self.merged()
        wanted = _renamed(own, merged)
        clusters = wanted.copy()
        links = self.links()
        linked = np.array(sorted(item for group in links.groups.values() for item in group), dtype=np.int64)
        if linked.size:
            linked = linked[among(linked, ids)]
            wish = dict(zip(linked.tolist(), wanted[np.searchsorted(ids, linked)].tolist(), strict=True))
            away = {i: (merged.get(c, c), apart) for i, (c, apart) in adjusted.items() if apart is not None}
            place = dict(wish)
            _keep_links(links, wish, place, placed, held, away)
            _put(wanted, ids, *_columns(wish))
            _put(clusters, ids, *_columns(place))
        copy = among(here, ids) & among(repeats, ids) & ~among(here, linked)
        copies, firsts = here[copy], np.searchsorted(ids, repeats[copy])
        free = ~among(copies, np.array(sorted(placed), dtype=np.int64))
        for column in (wanted, clusters):
            _put(column, ids, copies[free], column[firsts[free]])
        return Standing(run_id, ids, labels, own, clusters, wanted)

    def note_standing(self, standing: Standing) -> None:
        """Tell, right after an entry and in its transaction, where every item is now: nobody works it out again."""
        self._catalog.note_standing(standing)

    def _pairs(self, sql: str, *values: Any) -> tuple[Ids, Ids]:
        first, second = read_numbers(self._catalog, sql, values).reshape(-1, 2).T
        return first, second

    def links(self) -> Links:
        """The pairs a person wants together or apart."""
        return Links(self.link_rows())

    def link_rows(self) -> list[tuple[int, int, int]]:
        """First item, second item, together (1) or apart (0)."""
        return self._catalog.rows("SELECT first_id, second_id, together FROM links ORDER BY first_id, second_id")

    def linked_to(self, item_id: int) -> list[tuple[int, bool]]:
        """Items that one shall be together with, or apart from."""
        rows = self._catalog.rows(
            "SELECT iif(first_id = ?1, second_id, first_id), together FROM links WHERE first_id = ?1 OR second_id = ?1",
            (item_id,),
        )
        return [(int(other), bool(together)) for other, together in rows]

    def merged(self) -> dict[int, int]:
        """Clusters that were merged away -> where their items are now."""
        into = self.merged_into()
        ends = {}
        for start in into:
            seen = [start]
            while (above := into.get(seen[-1])) is not None and above not in seen:
                seen.append(above)
            # Undoing in an odd order can close a circle: all of it is then one cluster, the oldest.
            ends[start] = seen[-1] if above is None else min(seen[seen.index(above) :])
        return ends

    def merged_into(self) -> dict[int, int]:
        """Clusters that were merged away -> what each was merged into at the time."""
        return dict(self._catalog.rows("SELECT id, merged_into FROM clusters WHERE merged_into IS NOT NULL"))

    def said(self) -> dict[int, tuple[str | None, bool]]:
        """Every cluster there ever was: a person's name for it, or None, and whether it is pinned."""
        return {i: (n, bool(p)) for i, n, p in self._catalog.rows("SELECT id, name, is_pinned FROM clusters")}

    def placed(self) -> dict[int, int]:
        """Items a person moved -> cluster."""
        return dict(self._catalog.rows("SELECT item_id, cluster_id FROM placements"))

    def held(self) -> dict[int, int]:
        """Items a pinned cluster keeps -> cluster."""
        return dict(self._catalog.rows("SELECT item_id, cluster_id FROM pinned_items"))

    def spoken_of(self) -> set[int]:
        """Items of which a person said something: answers to tags, places, pins, links."""
        rows = self._catalog.rows(
            "SELECT item_id FROM decisions UNION SELECT item_id FROM placements UNION SELECT item_id FROM pinned_items "
            "UNION SELECT first_id FROM links UNION SELECT second_id FROM links"
        )
        return {row[0] for row in rows}

    def new_cluster(self) -> int:
        """The number of a new cluster; no number is ever given twice."""
        return self._catalog.run("INSERT INTO clusters DEFAULT VALUES")

    # --- what a run did not foresee ---

    def _adjustments(self, run_id: int) -> dict[int, tuple[int, int | None]]:
        rows = self._catalog.rows("SELECT item_id, cluster_id, apart_from FROM adjustments WHERE run_id = ?", (run_id,))
        return {item: (cluster, apart) for item, cluster, apart in rows}

    def adjust(self, run_id: int, rows: Iterable[tuple[int, int, int | None]]) -> None:
        """Put items of a run elsewhere: item, cluster, and the item it is kept apart from, or None."""
        self._catalog.run_many(
            "INSERT OR REPLACE INTO adjustments (run_id, item_id, cluster_id, apart_from) VALUES (?, ?, ?, ?)",
            ((run_id, *row) for row in rows),
        )

    def add_labels(self, run_id: int, labels: Mapping[int, int], identities: Mapping[int, int]) -> None:
        """Labels of items that came after a run, and the clusters that opened with them: label -> cluster."""
        with self._catalog.transaction():
            self._catalog.run_many(
                "INSERT INTO run_clusters (run_id, label, cluster_id) VALUES (?, ?, ?)",
                ((run_id, label, cluster) for label, cluster in identities.items()),
            )
            self._catalog.run_many(
                "INSERT OR REPLACE INTO labels (run_id, item_id, label) VALUES (?, ?, ?)",
                ((run_id, item, label) for item, label in labels.items()),
            )

    def set_confidence(self, run_id: int, confidence: Mapping[int, float | None]) -> None:
        """How sure the places of some items of a run are; None where nothing is known."""
        self._catalog.run_many(
            "UPDATE labels SET confidence = ? WHERE run_id = ? AND item_id = ?",
            ((value, run_id, item) for item, value in confidence.items()),
        )

    def drop_labels(self, run_id: int, items: Iterable[int]) -> None:
        """Forget what a run says of items that are no longer what they were."""
        rows = [(run_id, int(item)) for item in items]
        with self._catalog.transaction():
            self._catalog.run_many("DELETE FROM labels WHERE run_id = ? AND item_id = ?", rows)
            self._catalog.run_many("DELETE FROM adjustments WHERE run_id = ? AND item_id = ?", rows)

    # --- what is said of clusters ---

    def profiles(self, run_id: int) -> dict[int, KeptProfile]:
        """Names and profiles that were kept, by cluster."""
        rows = self._catalog.rows(
            "SELECT cluster_id, members, name, profile FROM cluster_profiles WHERE run_id = ?", (run_id,)
        )
        return {cluster: KeptProfile(members, name, json.loads(text)) for cluster, members, name, text in rows}

    def keep_profiles(self, run_id: int, profiles: Mapping[int, KeptProfile]) -> None:
        """Keep names and profiles, in place of what was kept of the same clusters."""
        self._catalog.run_many(
            "INSERT OR REPLACE INTO cluster_profiles (run_id, cluster_id, members, name, profile) "
            "VALUES (?, ?, ?, ?, ?)",
            ((run_id, cluster, p.members, p.name, as_json(p.profile)) for cluster, p in profiles.items()),
        )

    # --- additions that were stopped ---

    def start_update(self, ids: Ids, clusters: Ids) -> tuple[Ids, Ids]:
        """Note where items are, unless an addition that did not end has noted it: what it noted, or this."""
        with self._catalog.transaction():
            rows = self._catalog.rows("SELECT item_id, cluster_id FROM started_update ORDER BY item_id")
            if rows:
                table = np.array(rows, dtype=np.int64)
                return table[:, 0].copy(), table[:, 1].copy()
            self._catalog.run_many(
                "INSERT INTO started_update (item_id, cluster_id) VALUES (?, ?)",
                zip(ids.tolist(), clusters.tolist(), strict=True),
            )
        return ids, clusters

    def end_update(self) -> None:
        """What was begun is done."""
        self._catalog.run("DELETE FROM started_update")


def _keep_links(
    links: Links,
    wanted: dict[int, int],
    clusters: dict[int, int],
    placed: Mapping[int, int],
    held: Mapping[int, int],
    away: Mapping[int, tuple[int, int | None]],
) -> None:
    """Bring together and keep apart, the strongest claims first; who has to leave and has nowhere to go is in none."""
    groups = {leader: [item for item in items if item in wanted] for leader, items in links.groups.items()}
    groups = {leader: items for leader, items in groups.items() if items}
    claim = {leader: _claim(items, wanted, placed, held) for leader, items in groups.items()}
    where: dict[int, int] = {}
    for leader in sorted(groups, key=lambda one: (claim[one][0], -len(groups[one]), groups[one][0])):
        target = claim[leader][1]
        for item in groups[leader]:
            wanted[item] = target
        taken = {where[other] for other in links.apart.get(leader, ()) if other in where} - {-1}
        if target in taken:
            others = {links.leader(apart): c for i in groups[leader] for c, apart in [away.get(i, (-1, None))] if apart}
            free = [c for other, c in others.items() if other in links.apart[leader] and c not in taken]
            target = free[0] if free else -1
        where[leader] = target
        for item in groups[leader]:
            clusters[item] = target


def _claim(
    items: list[int], wanted: Mapping[int, int], placed: Mapping[int, int], held: Mapping[int, int]
) -> tuple[int, int]:
    """How strong a group's claim to a cluster is, 0 is strongest, and to which: moved, pinned, or the majority."""
    for rank, table in enumerate((placed, held)):
        if named := [wanted[item] for item in items if item in table]:
            return rank, Counter(named).most_common(1)[0][0]
    found = [wanted[item] for item in items if wanted[item] >= 0]
    return 2, Counter(found).most_common(1)[0][0] if found else -1


def _put(column: Ids, ids: Ids, items: Ids, values: Ids) -> None:
    """Write what is said of some items into a column of the sorted ``ids``; others are left out."""
    there = among(items, ids)
    column[np.searchsorted(ids, items[there])] = values[there]


def _columns(words: Mapping[int, int]) -> tuple[Ids, Ids]:
    return np.fromiter(words, np.int64, len(words)), np.fromiter(words.values(), np.int64, len(words))


def _renamed(column: Ids, names: Mapping[int, int], otherwise: int | None = None) -> Ids:
    """Numbers by their other names; one without is ``otherwise``, or stays."""
    found, inverse = np.unique(column, return_inverse=True)
    kept = found.tolist()
    return np.array([names.get(n, n if otherwise is None else otherwise) for n in kept], dtype=np.int64)[inverse]
