"""What an update changed: which items moved, from where to where, and which clusters opened, closed, split or merged.

Everything is read off two lists, where items were and where they are, so that it cannot say what did not happen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ...collection.history import Entry
from ...collection.living import Standing
from ...collection.runs import Run
from ...collection.store import Store
from ...figures import counted, percent
from ...types import Ids
from .living import closeness_of_items
from .state import State

__all__ = [
    "ChangeReport",
    "Flow",
    "Mover",
    "change_report",
    "explain_movers",
    "record_update",
    "standing_before",
    "tell_changes",
]


_PART = 0.2
"""A cluster is split where at least two clusters each hold this share of its items."""
_MOST = 0.5
"""Clusters were merged where one cluster holds more than this share of the items of each."""
_NONE = -1
_MOST_MOVERS = 1000
"""Items that a kept report names; their number is kept in any case."""


@dataclass(frozen=True)
class Flow:
    """Items that went from one cluster to another; -1 is no cluster."""

    source: int
    target: int
    size: int


@dataclass(frozen=True)
class Mover:
    """An item that is elsewhere now, and why."""

    item: int
    source: int
    target: int
    reason: str
    """One of "person", "opened", "closed", "merged", "split", "closer", "regrouped", "none"."""
    sentence: str = ""


@dataclass(frozen=True)
class ChangeReport:
    """The difference between two states of a clustering."""

    n_before: int
    n_after: int
    n_kept: int
    """Items that are in the cluster they were in."""
    n_moved: int
    n_new: int
    n_gone: int
    n_changed: int
    """Items whose file changed, which were placed again, and rows of tables that say something else."""
    sizes: dict[int, tuple[int, int]]
    """Cluster -> its size before and after."""
    new_items: dict[int, int]
    """Cluster -> how many of the new items it got; -1 for none."""
    flows: tuple[Flow, ...]
    """Items that moved, largest flows first."""
    opened: tuple[int, ...]
    closed: tuple[int, ...]
    split: dict[int, tuple[int, ...]]
    """Cluster -> the clusters that each hold at least a fifth of its items, itself first where it is among them."""
    merged: dict[int, tuple[int, ...]]
    """Cluster -> those of which it holds more than half of the items."""
    movers: tuple[Mover, ...]
    names: dict[int, str]
    """What the clusters are called."""
    n_back: int = 0
    """Those of the new items that had been there before, and were gone."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = asdict(self)
        plain["flows"] = [{"from": flow.source, "to": flow.target, "size": flow.size} for flow in self.flows]
        plain["movers"] = [
            {"item": one.item, "from": one.source, "to": one.target, "reason": one.reason, "sentence": one.sentence}
            for one in self.movers
        ]
        plain["sizes"] = {str(c): list(sizes) for c, sizes in self.sizes.items()}
        for key in ("new_items", "names"):
            plain[key] = {str(c): value for c, value in plain[key].items()}
        for key in ("split", "merged"):
            plain[key] = {str(c): list(others) for c, others in plain[key].items()}
        return {**plain, "opened": list(self.opened), "closed": list(self.closed), "lines": self.lines()}

    def lines(self, limit: int = 12) -> list[str]:
        """What there is to say, the most important first."""
        said = []
        if self.n_before:
            old = self.n_before - self.n_gone
            share = self.n_kept / old if old else 1.0
            said.append(
                f"{self.n_kept} of {old} items that were there before are in the same cluster ({percent(share, 1)})"
            )
        told = [
            (self.n_new - self.n_back, "new"),
            (self.n_back, "back"),
            (self.n_changed, "changed"),
            (self.n_gone, "gone"),
        ]
        if some := ", ".join(f"{n} {word}" for n, word in told if n):
            said.append(some)
        said += [f"opened: {self._called(c)}, {counted(self.sizes[c][1], 'item')}" for c in self.opened]
        said += [f"closed: {self._called(c)}, {self._went(c)}" for c in self.closed]
        for cluster, parts in self.split.items():
            said.append(f"split: {self._called(cluster)} into {', '.join(map(self._called, parts))}")
        for cluster, parts in self.merged.items():
            said.append(f"merged: {', '.join(map(self._called, parts))} into {self._called(cluster)}")
        flows = [
            f"{counted(flow.size, 'item')} moved from {self._called(flow.source)} to {self._called(flow.target)}"
            for flow in self.flows
        ]
        if len(flows) > limit:
            rest = sum(flow.size for flow in self.flows[limit:])
            flows = [*flows[:limit], f"and {counted(rest, 'item')} in {len(self.flows) - limit} smaller moves"]
        return said + flows

    def _called(self, cluster: int) -> str:
        if cluster == _NONE:
            return "no cluster"
        name = self.names.get(cluster)
        return f"{cluster} ({name})" if name else str(cluster)

    def _went(self, cluster: int) -> str:
        parts = [f"{flow.size} to {self._called(flow.target)}" for flow in self.flows if flow.source == cluster]
        return "its items went " + ", ".join(parts) if parts else "its items are gone"


def change_report(
    before: tuple[Ids, Ids],
    after: tuple[Ids, Ids],
    *,
    changed: Iterable[int] = (),
    back: Iterable[int] = (),
    names: Mapping[int, str] | None = None,
    movers: Sequence[Mover] | None = None,
) -> ChangeReport:
    """Compare two states, each a list of items (ascending) and of their clusters (-1: none).

    changed : items whose file is another one now, or whose row says something else
    back : items that were gone before the first state, and may be there again
    names : what clusters are called
    movers : the items that moved, with reasons (``explain_movers``); found without reasons where None
    """
    were, are = _as_dict(before), _as_dict(after)
    both = were.keys() & are.keys()
    moved = sorted(item for item in both if were[item] != are[item])
    flows = Counter((were[item], are[item]) for item in moved)
    sizes_before = Counter(cluster for cluster in were.values() if cluster != _NONE)
    sizes_after = Counter(cluster for cluster in are.values() if cluster != _NONE)
    kept = Counter((were[item], are[item]) for item in both if were[item] != _NONE and are[item] != _NONE)
    split, merged = _split_and_merged(kept)
    every = sorted(sizes_before.keys() | sizes_after.keys())
    return ChangeReport(
        n_before=len(were),
        n_after=len(are),
        n_kept=len(both) - len(moved),
        n_moved=len(moved),
        n_new=len(are.keys() - were.keys()),
        n_gone=len(were.keys() - are.keys()),
        n_changed=len(set(changed) & both),
        sizes={cluster: (sizes_before[cluster], sizes_after[cluster]) for cluster in every},
        new_items=dict(sorted(Counter(are[item] for item in are.keys() - were.keys()).items())),
        flows=tuple(
            Flow(source, target, size)
            for (source, target), size in sorted(flows.items(), key=lambda part: (-part[1], part[0]))
        ),
        opened=tuple(sorted(sizes_after.keys() - sizes_before.keys())),
        closed=tuple(sorted(sizes_before.keys() - sizes_after.keys())),
        split=split,
        merged=merged,
        movers=tuple(Mover(item, were[item], are[item], "none") for item in moved) if movers is None else tuple(movers),
        names={cluster: name for cluster, name in (names or {}).items() if cluster in every},
        n_back=len(set(back) & (are.keys() - were.keys())),
    )


def _as_dict(state: tuple[Ids, Ids]) -> dict[int, int]:
    return dict(zip(state[0].tolist(), state[1].tolist(), strict=True))


def _split_and_merged(kept: Mapping[tuple[int, int], int]) -> tuple[dict[int, Any], dict[int, Any]]:
    """By the items that are in a cluster before and after."""
    totals = Counter[int]()
    for (source, _), size in kept.items():
        totals[source] += size
    split, merged = {}, {}
    for cluster in sorted(totals):
        parts = [(size, target) for (source, target), size in kept.items() if source == cluster]
        large = [
            target for size, target in sorted(parts, key=lambda p: (-p[0], p[1])) if size >= _PART * totals[cluster]
        ]
        if len(large) > 1:
            split[cluster] = tuple(sorted(large, key=lambda target: target != cluster))
    for cluster in sorted({target for _, target in kept}):
        sources = [
            source for (source, target), size in kept.items() if target == cluster and size > _MOST * totals[source]
        ]
        if len(sources) > 1:
            merged[cluster] = tuple(sorted(sources))
    return split, merged


def explain_movers(state: State, report: ChangeReport) -> tuple[Mover, ...]:
    """Why each item moved: what a person said of it, what became of its cluster, or to what it is closer now."""
    if not report.movers:
        return ()
    living = state.collection.living
    by_hand = {**living.held(), **living.placed()}
    linked = living.links().groups
    linked_items = {item for group in linked.values() for item in group}
    values, numbers = closeness_of_items(state, [one.item for one in report.movers])
    place = {cluster: n for n, cluster in enumerate(numbers)}
    told = []
    for row, one in enumerate(report.movers):
        here = float(values[row, place[one.target]]) if one.target in place else np.nan
        there = float(values[row, place[one.source]]) if one.source in place else np.nan
        reason, sentence = _reason(one, report, one.item in by_hand or one.item in linked_items, here, there)
        told.append(Mover(one.item, one.source, one.target, reason, sentence))
    return tuple(told)


def _reason(one: Mover, report: ChangeReport, by_hand: bool, here: float, there: float) -> tuple[str, str]:
    known = np.isfinite(here) and np.isfinite(there)
    close = f" (closeness {here:.2f}, and {there:.2f} to cluster {one.source})" if known else ""
    if by_hand:
        return "person", "a person moved, pinned or linked it"
    if one.target == _NONE:
        return "none", "the run puts it into no cluster"
    if one.source == _NONE:
        return "opened" if one.target in report.opened else "closer", "it was in no cluster"
    if one.source in report.closed:
        return "closed", f"its cluster {one.source} is not found any more"
    if one.target in report.opened:
        return "opened", f"it is part of cluster {one.target}, which is new{close}"
    if one.source in report.merged.get(one.target, ()):
        return "merged", f"most of cluster {one.source} is now part of {one.target}"
    if one.target in report.split.get(one.source, ()):
        return "split", f"a part of cluster {one.source} is now in {one.target}{close}"
    if known and here >= there:
        return "closer", f"it is closer to cluster {one.target}{close}"
    return "regrouped", f"its neighbours are in cluster {one.target} now{close}"


# --- what fits and additions tell and write down ---


def standing_before(collection: Store) -> Standing | None:
    """Where every item is in the newest run; None where there is no run."""
    newest = collection.runs.newest()
    return None if newest is None else collection.living.standing(newest.id)


def tell_changes(
    state: State, before: tuple[Ids, Ids], changed: Iterable[int] = (), back: Iterable[int] = ()
) -> ChangeReport:
    """What is different now from a state before, with a reason for every item that moved."""
    collection, standing = state.collection, state.standing
    names = {cluster: name for cluster, (name, _) in collection.living.said().items() if name is not None}
    names = _older_names(collection) | state.names | names
    report = change_report(before, (standing.ids, standing.clusters), changed=changed, back=back, names=names)
    return replace(report, movers=explain_movers(state, report))


def _older_names(collection: Store) -> dict[int, str]:
    """What clusters were called by the last runs that had them."""
    names: dict[int, str] = {}
    for run in collection.runs.fits()[-3:]:
        names |= {row.id: row.called for row in collection.runs.clusters(run.id) if row.called}
        names |= {cluster: kept.name for cluster, kept in collection.living.profiles(run.id).items()}
    return names


def record_update(
    collection: Store, kind: str, summary: str, run: Run, changes: ChangeReport | None, **more: Any
) -> Entry:
    """An entry for something that changed no word of a person's; there is nothing in it to undo."""
    detail: dict[str, Any] = {"run": run.id, **more}
    if changes is not None:
        told = changes.to_dict()
        detail["changes"] = {**told, "movers": told["movers"][:_MOST_MOVERS]}
        detail["clusters"] = sorted({*changes.opened, *changes.closed})
    with collection.history.record(kind, summary, detail=detail) as change:
        pass
    return collection.history.get(change.id)
