"""Why items are where they are: worked out once for a state of the clusters, beside the requests."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ..collection.runs import Run
from ..describe.nearest_items import Found, NearestItems, nearest_of_all
from ..describe.profiles import ClusterProfiles
from ..describe.reasons import explain_item
from ..errors import ManyviewError
from ..workflow.collection import Collection
from ..workflow.reading.explain import VIEW_WORDS, profiles_of_run
from ..workflow.reading.index import Index
from . import models
from .members import member_facts

__all__ = ["AllReasons", "Explains", "Reasons"]

_PATIENCE = 0.4
"""Seconds that a page waits before it is told to ask again."""
_NEAR = 12
Told = tuple[models.Why | None, dict[str, list[Any]], bool]


class Explains(Protocol):
    """Says why an item is there, its neighbours by view, and whether both are still being worked out."""

    def about(self, index: Index, run: Run, item: int) -> Told: ...


class _Ready(NamedTuple):
    versions: tuple[int, ...]
    profiles: ClusterProfiles
    nearest: NearestItems | None


class Reasons:
    """Keeps what is needed to explain items of the newest states, one state at a time being worked out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._states: OrderedDict[tuple[int, ...], Future[_Ready]] = OrderedDict()

    def about(self, index: Index, run: Run, item: int) -> Told:
        """What is known, after a moment's patience."""
        key = _versions(index, run)
        with self._lock:
            future = self._states.get(key)
            if future is None:
                future = self._states[key] = Future()
                # Not a pool: a daemon does not keep the program from ending, and it only reads.
                threading.Thread(target=self._work, args=(future, run.id), daemon=True).start()
                while len(self._states) > 2:
                    self._states.popitem(last=False)[1].cancel()
        try:
            ready = future.result(timeout=_PATIENCE)
        except (NotYet, CancelledError):
            return None, {}, True
        except Exception:  # the views may be gone, or the collection be changing; the page does without
            with self._lock:
                self._states.pop(key, None)
            return None, {}, False
        if ready.versions != key:  # it changed between the question and the work
            return None, {}, True
        near = {} if ready.nearest is None else ready.nearest.of(index.row_of(item), _NEAR)
        return _why(index, run, ready.profiles, item), _near(index, near), False

    def _work(self, future: Future[_Ready], run_id: int) -> None:
        with self._turn:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(self._prepare(run_id))
            except Exception as error:  # told to whoever asks
                future.set_exception(error)

    def _prepare(self, run_id: int) -> _Ready:
        with Collection.open(self._path) as collection:
            index = Index(collection)
            run = collection.runs.get_fit(run_id)
            profiles = profiles_of_run(collection, run)
            likeness = profiles.likeness
            nearest = NearestItems(likeness) if likeness is not None else None
            return _Ready(_versions(index, run), profiles, nearest)


class AllReasons:
    """The reasons of all items of a collection that stays as it is, and some neighbours of each, worked out at once."""

    def __init__(self, index: Index, run: Run, n_near: int, most: int) -> None:
        self._profiles: ClusterProfiles | None = None
        self._near: list[Found] = []
        try:
            profiles = profiles_of_run(index.collection, run)
            if profiles.likeness is not None:
                self._near = nearest_of_all(profiles.likeness, profiles.grouping, n_near, most)
            self._profiles = profiles
        except ManyviewError:  # the views may be gone; the pages do without
            pass

    def about(self, index: Index, run: Run, item: int) -> Told:
        """What was worked out."""
        if self._profiles is None:
            return None, {}, False
        near = self._near[index.row_of(item)] if self._near else {}
        rounded = {view: [(row, round(value, 4)) for row, value in found] for view, found in near.items()}
        return _why(index, run, self._profiles, item), _near(index, rounded), False


def _versions(index: Index, run: Run) -> tuple[int, ...]:
    return (run.id, *(index.versions[part] for part in ("items", "runs", "edits")))


def _why(index: Index, run: Run, profiles: ClusterProfiles, item: int) -> models.Why:
    reason = explain_item(profiles, index.row_of(item), view_words=VIEW_WORDS, figures=False)
    names, other = index.cluster_names(run), reason.runner_up
    return models.Why(
        sentence=reason.sentence.encode("utf-8", "replace").decode(),
        views=[models.ViewPull(name=view.view, own=view.own, runner_up=view.other) for view in reason.views],
        runner_up=None
        if other is None
        else models.NearCluster(
            id=other.label,
            name=names.get(other.label, other.name),
            is_guess=other.label in index.guessed(run),
            closeness=other.closeness,
        ),
        margin=reason.margin,
    )


def _near(index: Index, near: Found) -> dict[str, list[Any]]:
    number = {row: int(index.ids[row]) for found in near.values() for row, _ in found}
    facts = member_facts(index, list(number.values()))
    return {
        view: [models.Neighbour(**facts[number[row]], closeness=value) for row, value in found]
        for view, found in near.items()
    }
