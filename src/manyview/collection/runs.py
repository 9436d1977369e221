"""Runs of a collection: labels, clusters with identities that outlive a run, the fitted models, proposals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import durable
from ..errors import ParameterError, StoreError
from ..persist import load, save_with_modes
from ..types import Ids
from . import layout
from .catalog import Catalog, as_json
from .history import now
from .living import Living
from .proposals import NewProposal, Proposal, ProposalRows
from .tagging import Tagging

__all__ = ["ClusterRow", "Proposal", "Run", "Runs"]


class Run(NamedTuple):
    """One fit of one method, with its settings and figures."""

    id: int
    kind: str
    """"fit", or "suggest" for a run that made proposals."""
    method: str
    settings: dict[str, Any]
    views: dict[str, str]
    """Name -> version of the views it used."""
    figures: dict[str, Any]
    made_at: str
    seconds: float
    has_model: bool


class ClusterRow(NamedTuple):
    """A cluster of a run."""

    label: int
    """Its number in this run."""
    id: int
    """Its identity, which outlives the run."""
    name: str | None
    """A person's name for it, else the run's."""
    size: int
    is_pinned: bool
    profile: dict[str, Any]

    @property
    def called(self) -> str | None:
        """What it is called: one that goes by a number goes by that which outlives the run."""
        made = self.profile.get("name", {})
        return f"Group {self.id}" if made.get("source") == "number" and made["name"] == self.name else self.name


_SELECT = "SELECT id, kind, method, settings, views, figures, made_at, seconds, model IS NOT NULL FROM runs"


class Runs:
    """The runs that were kept, oldest first: iterate, count, look one up."""

    def __init__(self, catalog: Catalog, tagging: Tagging) -> None:
        self._catalog = catalog
        self.rows = ProposalRows(catalog, tagging)

    def __len__(self) -> int:
        return int(self._catalog.value("SELECT count(*) FROM runs"))

    def __iter__(self) -> Iterator[Run]:
        return iter([_run(row) for row in self._catalog.rows(f"{_SELECT} ORDER BY id")])

    def get(self, run_id: int | None = None, kind: str = "fit") -> Run:
        """The run of that number, or the newest of its kind."""
        if run_id is None:
            found = self.newest(kind)
        else:
            row = self._catalog.row(f"{_SELECT} WHERE id = ?", (int(run_id),))
            found = None if row is None else _run(row)
        if found is None:
            there = ", ".join(str(run.id) for run in self) or "none"
            if run_id is None and kind == "fit":
                raise ParameterError(
                    f"{self._catalog.root} has no run yet. Make one: `manyview fit {self._catalog.root}`."
                )
            if run_id is None and kind == "suggest":
                raise ParameterError(
                    f"{self._catalog.root} has no proposals yet. Make some: `manyview suggest {self._catalog.root}`."
                )
            what = "run yet" if run_id is None else f"run {run_id}"
            raise ParameterError(f"{self._catalog.root} has no {what}; its runs: {there}.")
        return found

    def get_fit(self, run_id: int | None = None) -> Run:
        """The same of runs that made clusters alone."""
        run = self.get(run_id)
        if run.kind != "fit":
            there = ", ".join(str(one.id) for one in self if one.kind == "fit") or "none"
            raise ParameterError(
                f"run {run.id} made proposals, not clusters. Name a run of `manyview fit`; there are {there}."
            )
        return run

    def newest(self, kind: str = "fit") -> Run | None:
        """The newest run of its kind, or None."""
        row = self._catalog.row(f"{_SELECT} WHERE kind = ? ORDER BY id DESC LIMIT 1", (kind,))
        return None if row is None else _run(row)

    def fits(self) -> list[Run]:
        """The runs that made clusters, oldest first."""
        return [_run(row) for row in self._catalog.rows(f"{_SELECT} WHERE kind = 'fit' ORDER BY id")]

    # --- keeping ---

    def save(
        self,
        method: str,
        ids: NDArray[np.int64],
        labels: NDArray[np.int64],
        *,
        settings: Mapping[str, Any] | None = None,
        views: Mapping[str, str] | None = None,
        figures: Mapping[str, Any] | None = None,
        seconds: float = 0.0,
        confidence: Iterable[float] | None = None,
        model: Any = None,
        identities: Mapping[int, int] | None = None,
        names: Mapping[int, str] | None = None,
        profiles: Mapping[int, Mapping[str, Any]] | None = None,
    ) -> Run:
        """Keep one fit: all of it, or nothing. See ``Collection.save_run``."""
        ids, labels = np.asarray(ids, dtype=np.int64), np.asarray(labels)
        if labels.shape != ids.shape or labels.dtype.kind not in "iu":
            raise ParameterError(f"labels must be one whole number per item, {ids.size} in all; got {labels.shape}.")
        sure = [None] * ids.size if confidence is None else [float(value) for value in confidence]
        known, named, described = dict(identities or {}), dict(names or {}), dict(profiles or {})
        with self._catalog.transaction():
            run_id = self._start("fit", method, settings, views, figures, seconds, model)
            self._catalog.run_many(
                "INSERT INTO labels (run_id, item_id, label, confidence) VALUES (?, ?, ?, ?)",
                zip([run_id] * ids.size, ids.tolist(), labels.tolist(), sure, strict=True),
            )
            for label in sorted(set(labels.tolist()) - {-1}):
                identity = known.get(label)
                if identity is None:
                    identity = self._catalog.run("INSERT INTO clusters DEFAULT VALUES")
                profile = described.get(label)
                self._catalog.run(
                    "INSERT INTO run_clusters (run_id, label, cluster_id, name, profile) VALUES (?, ?, ?, ?, ?)",
                    (run_id, label, identity, named.get(label), None if profile is None else as_json(dict(profile))),
                )
        return self.get(run_id)

    def _start(
        self,
        kind: str,
        method: str,
        settings: Mapping[str, Any] | None,
        views: Mapping[str, str] | None,
        figures: Mapping[str, Any] | None,
        seconds: float,
        model: Any,
    ) -> int:
        run_id = self._catalog.run(
            "INSERT INTO runs (kind, method, settings, views, figures, made_at, seconds) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (kind, method, *(as_json(dict(part or {})) for part in (settings, views, figures)), now(), float(seconds)),
        )
        if model is not None:
            self._save_model(run_id, model, str(run_id))
        return run_id

    def _save_model(self, run_id: int, model: Any, name: str) -> None:
        folder = self._catalog.root / layout.RUNS / name
        save_with_modes(model, folder, durable.PRIVATE_FILE, durable.PRIVATE_FOLDER)
        self._catalog.run("UPDATE runs SET model = ? WHERE id = ?", (name, run_id))

    def replace_model(self, run_id: int, model: Any) -> None:
        """Keep a model that has learned more; the old one stays until nobody reads it."""
        with self._catalog.transaction():
            name = str(self._catalog.value("SELECT model FROM runs WHERE id = ?", (self.get(run_id).id,)) or "")
            self._retire(name)
            self._save_model(run_id, model, f"{run_id}-{int(name.partition('-')[2] or 0) + 1}")

    def _retire(self, name: str) -> None:
        if name:
            self._catalog.run("INSERT OR REPLACE INTO retired (path) VALUES (?)", (f"{layout.RUNS}/{name}",))

    def folder(self, run_id: int) -> Path:
        """Where the model of a run lies."""
        name = self._catalog.value("SELECT model FROM runs WHERE id = ?", (run_id,))
        return self._catalog.root / layout.RUNS / str(name)

    def remove(self, run_id: int) -> None:
        """Forget a run; identities, names and decisions stay."""
        run = self.get(run_id)
        with self._catalog.transaction():
            for table in ("labels", "run_clusters", "proposals", "adjustments", "cluster_profiles"):
                self._catalog.run(f"DELETE FROM {table} WHERE run_id = ?", (run.id,))  # noqa: S608  one of these
            self._retire(str(self._catalog.value("SELECT model FROM runs WHERE id = ?", (run.id,)) or ""))
            self._catalog.run("DELETE FROM runs WHERE id = ?", (run.id,))

    # --- asking ---

    def model(self, run_id: int | None = None) -> Any:
        """The fitted model of a run."""
        run = self.get(run_id)
        if not run.has_model:
            raise StoreError(f"run {run.id} of {self._catalog.root} was kept without its model. Fit again to have one.")
        return load(self.folder(run.id))

    def labels(self, run_id: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The items a run labelled, ascending, and their labels; items that are gone since are left out."""
        rows = self._catalog.rows(
            "SELECT item_id, label FROM labels JOIN items ON items.id = item_id WHERE run_id = ? AND state = 'here' "
            "ORDER BY item_id",
            (self.get(run_id).id,),
        )
        table = np.array(rows, dtype=np.int64).reshape(-1, 2)
        return table[:, 0].copy(), table[:, 1].copy()

    def assignment(self, run_id: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The items of a run and the identity of each one's cluster (-1: none), with all that a person said."""
        standing = Living(self._catalog).standing(self.get(run_id).id)
        return standing.ids, standing.clusters

    def labelled(self, run_id: int) -> tuple[Ids, Ids]:
        """The items a run put into a cluster, and the cluster it put them into, before a person's edits."""
        rows = self._catalog.rows(
            "SELECT item_id, cluster_id FROM labels JOIN run_clusters USING (run_id, label) WHERE run_id = ?", (run_id,)
        )
        table = np.array(rows, dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def confidence(self, run_id: int) -> tuple[Ids, NDArray[np.float64]]:
        """The items of whose places a run says how sure it is, and how sure."""
        rows = self._catalog.rows(
            "SELECT item_id, confidence FROM labels WHERE run_id = ? AND confidence IS NOT NULL", (run_id,)
        )
        table = np.array(rows, dtype=np.float64).reshape(-1, 2)
        return table[:, 0].astype(np.int64), table[:, 1]

    def clusters(self, run_id: int | None = None) -> list[ClusterRow]:
        """The clusters of a run as the run made them, largest first; names given by a person stand before the run's."""
        rows = self._catalog.rows(
            "SELECT run_clusters.label, clusters.id, coalesce(clusters.name, run_clusters.name), "
            "(SELECT count(*) FROM labels JOIN items ON items.id = item_id WHERE labels.run_id = run_clusters.run_id "
            "AND labels.label = run_clusters.label AND state = 'here') AS size, is_pinned, profile "
            "FROM run_clusters JOIN clusters ON clusters.id = cluster_id WHERE run_id = ? ORDER BY size DESC, label",
            (self.get(run_id).id,),
        )
        return [
            ClusterRow(label, number, name, size, bool(pinned), json.loads(profile) if profile else {})
            for label, number, name, size, pinned, profile in rows
        ]

    # --- proposals ---

    def save_proposals(
        self,
        method: str,
        proposals: Iterable[Sequence[Any]],
        *,
        settings: Mapping[str, Any] | None = None,
        views: Mapping[str, str] | None = None,
        figures: Mapping[str, Any] | None = None,
        seconds: float = 0.0,
    ) -> Run:
        """Keep proposals as a run, in place of earlier ones.

        Rows of item, number of the tag, score, probability, reason and so on, as ``NewProposal`` lists them. What
        people answered is kept elsewhere and stays.
        """
        with self._catalog.transaction():
            run_id = self._start("suggest", method, settings, views, figures, seconds, None)
            self.rows.replace(run_id, (NewProposal(*row) for row in proposals))
        return self.get(run_id)

    def proposals(self, *, min_probability: float | None = None, top: int | None = None) -> list[Proposal]:
        """Open proposals, likely ones first: those nobody has answered, of items that are there and lack the tag."""
        return self.rows.find(self.get(kind="suggest").id, min_probability=min_probability, top=top)

    # --- what eval found ---

    def save_evaluation(self, settings: Mapping[str, Any], found: Mapping[str, Any]) -> int:
        """Keep what an evaluation found; its number."""
        return self._catalog.run(
            "INSERT INTO evaluations (made_at, settings, found) VALUES (?, ?, ?)",
            (now(), as_json(dict(settings)), as_json(dict(found))),
        )

    def evaluation(self) -> dict[str, Any] | None:
        """The newest evaluation with its settings and the time it was made, or None."""
        row = self._catalog.row("SELECT made_at, settings, found FROM evaluations ORDER BY id DESC LIMIT 1")
        return None if row is None else {"made_at": row[0], "settings": json.loads(row[1]), **json.loads(row[2])}


def _run(row: Any) -> Run:
    number, kind, method, settings, views, figures, made_at, seconds, has_model = row
    parts = [json.loads(text) for text in (settings, views, figures)]
    return Run(number, kind, method, parts[0], parts[1], parts[2], made_at, seconds, bool(has_model))
