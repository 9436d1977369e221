"""Work that was stopped half way, on somebody's files or on a fit: no damage, the same command finishes it."""

from __future__ import annotations

import json
import os

from ...durable import only_one
from ...errors import Busy, StoreError
from .. import layout
from ..catalog import Catalog
from ..store import Store

__all__ = ["planned_files", "unfinished"]


def unfinished(path: str | os.PathLike[str]) -> list[str]:
    """What was stopped and is not finished yet, each in a sentence that says which command finishes it."""
    with Store.open(path) as collection:
        return _writing(collection) + _taking_back(collection) + _fitting(collection)


def _writing(collection: Store) -> list[str]:
    found = []
    for number, target in collection._catalog.rows("SELECT id, target FROM batches WHERE history_id IS NULL"):
        states = _states(collection._catalog, number)
        found.append(
            f"writing tags with `apply --to {target}` was stopped: {states.get('written', 0)} files are written, "
            f"{states.get('planned', 0)} were about to be. The originals are whole; `manyview apply "
            f"{collection.path} --to {target}` finishes it."
        )
    return found


def _taking_back(collection: Store) -> list[str]:
    rows = collection._catalog.rows(
        "SELECT batches.id, history_id FROM batches JOIN history ON history.id = history_id WHERE undone_by IS NULL"
    )
    found = []
    for number, entry in rows:
        states = _states(collection._catalog, number)
        if states.get("undone"):
            found.append(
                f"taking back entry {entry} was stopped or could not be done for every file: {states['undone']} files "
                f"are as they were, {states.get('written', 0)} are not yet. `manyview undo {collection.path} {entry}` "
                "finishes it."
            )
    return found


def _fitting(collection: Store) -> list[str]:
    found = []
    for about in sorted((collection.path / layout.WORK).glob("*/about.json")):
        try:
            with only_one(about.parent.with_name(f"{about.parent.name}.lock"), "the fit"):
                what = json.loads(about.read_text(encoding="utf-8"))["command"]
                n_bytes = sum(path.stat().st_size for path in about.parent.rglob("*") if path.is_file())
        except (Busy, StoreError, OSError, ValueError, KeyError, TypeError):  # it runs, or has just ended
            continue
        found.append(
            f"a fit was stopped; what it had found is kept ({n_bytes / 1e6:.1f} MB). `{what}` goes on from there while "
            "the collection is as it was, and any other fit takes it away."
        )
    return found


def _states(catalog: Catalog, batch: int) -> dict[str, int]:
    """How many files of a batch are in which state."""
    return dict(catalog.rows("SELECT state, count(*) FROM writes WHERE batch_id = ? GROUP BY state", (batch,)))


def planned_files(catalog: Catalog) -> set[str]:
    """Old versions that were to be kept when a writing was stopped: they may be there or not yet."""
    rows = catalog.rows("SELECT batch_id, kept FROM writes WHERE kept IS NOT NULL AND state = 'planned'")
    return {f"{layout.UNDO}/{batch}/{name}" for batch, name in rows}
