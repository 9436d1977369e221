"""What fits and additions share: where things stood, what changed, and the entry in the history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..collection.history import Entry
from ..collection.living import Standing
from ..collection.runs import Run
from ..collection.store import Store
from ..types import Ids
from .changes import ChangeReport, change_report, explain_movers
from .state import State

__all__ = ["record_update", "standing_before", "tell_changes"]

_MOST_MOVERS = 1000
"""Items that a kept report names; their number is kept in any case."""


def standing_before(collection: Store) -> Standing | None:
    """Where every item is in the newest run; None where there is no run."""
    newest = collection.runs.newest()
    return None if newest is None else collection.living.standing(newest.id)


def tell_changes(state: State, before: tuple[Ids, Ids], changed: Iterable[int] = ()) -> ChangeReport:
    """What is different now from a state before, with a reason for every item that moved."""
    collection, standing = state.collection, state.standing
    names = {cluster: name for cluster, (name, _) in collection.living.said().items() if name is not None}
    names = _older_names(collection) | state.names | names
    report = change_report(before, (standing.ids, standing.clusters), changed=changed, names=names)
    return replace(report, movers=explain_movers(state, report))


def _older_names(collection: Store) -> dict[int, str]:
    """What clusters were called by the last runs that had them."""
    names: dict[int, str] = {}
    for run in collection.runs.fits()[-3:]:
        names |= {row.id: row.name for row in collection.runs.clusters(run.id) if row.name}
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
