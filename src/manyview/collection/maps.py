"""Maps of runs: where each item lies on a plane."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..types import Ids, Singles
from .catalog import Catalog, as_json
from .history import now

__all__ = ["KeptMap", "Maps"]


class KeptMap(NamedTuple):
    """A map as it was kept."""

    ids: Ids
    """The items on it, ascending."""
    places: Singles
    """(n, 2)"""
    made_at: str
    settings: dict[str, Any]


class Maps:
    """The maps in the catalogue, one of a run."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def get(self, run_id: int) -> KeptMap | None:
        """The map of a run, or None."""
        return self._read("WHERE run_id = ?", (run_id,))

    def newest(self) -> KeptMap | None:
        """The map of the newest run that has one, or None."""
        return self._read("ORDER BY run_id DESC LIMIT 1", ())

    def copy(self, from_run: int, to_run: int) -> None:
        """Give a run of the same items and views the map of another, where that has one."""
        kept = self.get(from_run)
        if kept is not None:
            self.keep(to_run, kept.ids, kept.places, kept.settings)

    def _read(self, which: str, given: tuple[int, ...]) -> KeptMap | None:
        row = self._catalog.row(f"SELECT items, places, made_at, settings FROM maps {which}", given)  # noqa: S608  ours
        if row is None:
            return None
        ids = np.frombuffer(row[0], dtype="<i8").astype(np.int64)
        return KeptMap(ids, np.frombuffer(row[1], dtype="<f4").reshape(-1, 2), row[2], json.loads(row[3]))

    def keep(self, run_id: int, ids: Ids, places: Singles, settings: Mapping[str, Any]) -> None:
        """Keep a map in place of the one the run had."""
        self._catalog.run(
            "INSERT OR REPLACE INTO maps (run_id, settings, items, places, made_at) VALUES (?, ?, ?, ?, ?)",
            (
                run_id,
                as_json(dict(settings)),
                ids.astype("<i8").tobytes(),
                places.astype("<f4").tobytes(),
                now(),
            ),
        )
