"""New items into the clusters that are there, without a refit, and what changed by it."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..collection.items import Problem
from ..collection.runs import Run
from ..collection.store import Store
from ..data.views import Views
from ..describe.profiles import confidence_of
from ..errors import StoreError
from ..features.base import extractor, extractor_names
from ..figures import counted
from ..types import Ids, Progress
from .clusters.changes import ChangeReport, record_update, tell_changes
from .clusters.living import closeness_of_items, refresh_profiles, settle
from .clusters.state import State
from .compute import Computed, came_with_source, compute_views, default_views, occasions
from .reading.map_layout import keep_map, place_late
from .run_views import TAGS
from .sources import choose_sources, read_sources

__all__ = ["FEWEST_TO_OPEN", "Added", "add_items"]

FEWEST_TO_OPEN = 5
"""Items that resemble each other and nothing else open a cluster where there are so many of them."""


@dataclass
class Added:
    """What came in, where it went, and what else changed."""

    run: Run | None
    """The run whose clusters they joined; None where there is none yet."""
    changes: ChangeReport | None
    sentence: str
    n_new: int
    n_moved: int
    """Items whose files are at another place now."""
    n_joined: int
    """New items in clusters that were there."""
    n_opened: int
    """New items in clusters that opened."""
    opened: list[int]
    strangers: list[int]
    """New items that resemble nothing, and are in no cluster."""
    said: list[str]
    bad: list[Problem] = field(default_factory=list)


@dataclass
class _Placed:
    """Labels of new items, what opened with them, and who goes where because of an edit."""

    waiting: set[int] = field(default_factory=set)
    """Items that had no label: those that are new, and those whose file changed."""
    labels: dict[int, int] = field(default_factory=dict)
    opened: set[int] = field(default_factory=set)
    adjusted: list[tuple[int, int, int | None]] = field(default_factory=list)
    strangers: set[int] = field(default_factory=set)
    model: Any = None


def add_items(
    collection: Store,
    source: Any = None,
    *,
    instead_of: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Added:
    """Bring a collection that is open for writing up to date, and put what is new into its clusters.

    source : a folder, table or file of features, new or known, with ``options`` as for ``Collection.create``; None
        looks again at every source there is
    instead_of : the path of a known source that ``source`` is now, for one that moved and changed on the way

    A file that is gone here and new there with the same bytes is the same item: all that was said of it stays. So is a
    folder, a table or a drive that is at another place now.

    The newest run places the new items: "ghf-art" learns them and may open clusters; other methods predict. What is
    unlike everything that is there (``methods.novelty``) is put into no cluster, or, with at least ``FEWEST_TO_OPEN``
    others like it, into a new one. Files that changed are placed again; pictures that repeat another go where that is.
    On the map new items lie among those most like them; the others stay where they are.
    Edits hold. Stopped at any moment, the same call finishes it.
    """
    collection.check_writable("adding")
    run = collection.runs.newest()
    sources, moved_from = choose_sources(collection, source, instead_of, options)
    if run is not None:
        _check_views(collection, run)  # refusals come before anything is written
    # a table is read as a whole or not at all, and where it is refused it was not moved either
    is_whole = moved_from is not None and sources[0].kind != "folder"
    with collection.transaction() if is_whole else nullcontext():
        if moved_from is not None:
            collection.whereabouts.replace_source(moved_from, sources[0].path, sources[0].root)
        if run is not None:
            standing = State(collection, run).standing
            before = collection.living.start_update(standing.ids, standing.clusters)
        were_gone = {item for one in collection.items.sources() for item in _gone(collection, one["id"])}
        said, bad, n_moved, changed = read_sources(collection, sources, progress)
    if run is None:
        computed = compute_views(collection, default_views(collection), n_jobs=n_jobs, progress=progress)
        n_moved += computed.n_recognised
        said.append(f"there are no clusters yet: manyview fit {collection.path}")
        return Added(
            None, None, counted(len(collection.items), "item"), 0, n_moved, 0, 0, [], [], said, [*bad, *computed.bad]
        )
    _forget_changed(collection, run)
    computed = _compute(collection, run, n_jobs, progress)
    n_moved += computed.n_recognised
    if progress is not None:
        progress("placing", 0, 1)
    state = State(collection, run)
    placed = _place(state, n_jobs)
    on_map = place_late(state, placed.waiting) if placed.waiting and state.views is not None else None
    with collection.transaction():
        added = _keep(state, before, placed, n_moved, changed, were_gone)
        if on_map is not None:
            keep_map(collection, run.id, on_map)
    added.said, added.bad = [*said, *added.said, *map(str, computed.notes)], [*bad, *computed.bad]
    if progress is not None:
        progress("placing", 1, 1)
    return added


def _gone(collection: Store, source_id: int) -> list[int]:
    found: list[int] = collection.items.numbers_of(source_id, "gone").tolist()
    return found


def _forget_changed(collection: Store, run: Run) -> None:
    """Labels of files that changed: their old rows are gone, so that they count as new."""
    labelled, _ = collection.runs.labels(run.id)
    kinds = {item.id: item.kind for item in collection.items}
    texts = dict(zip(collection.items.ids.tolist(), collection.items.texts(), strict=True))
    changed: set[int] = set()
    for name in _computed_views(collection, run):
        reads = extractor(name).reads
        missing = set(collection.missing_rows(name, run.views[name]).tolist()) & set(labelled.tolist())
        if reads in ("date", "place"):
            changed |= missing & occasions(collection, reads).keys()
            continue
        able = {"picture", "video"} if reads == "picture" else {"video"}
        changed |= {item for item in missing if (texts[item] if reads == "text" else kinds[item] in able)}
    collection.living.drop_labels(run.id, changed)


def _computed_views(collection: Store, run: Run) -> list[str]:
    """The views of a run that are made from files here."""
    names = [name for name in run.views if name != TAGS and name in extractor_names()]
    return [name for name in names if name in collection.view_names and not came_with_source(collection, name)]


def _compute(collection: Store, run: Run, n_jobs: int | None, progress: Progress | None) -> Computed:
    wanted = _computed_views(collection, run)
    computed = compute_views(collection, wanted, n_jobs=n_jobs, progress=progress) if wanted else Computed()
    _check_views(collection, run)
    return computed


def _check_views(collection: Store, run: Run) -> None:
    """Refuse where the run cannot place anything: at once, before a source is read."""
    for name, version in run.views.items():
        if name == TAGS:
            continue
        if name not in collection.view_names or collection.segments.info(name).version != version:
            raise StoreError(
                f"view {name!r} is not what it was when run {run.id} was made, so that run cannot place new items. "
                f"Fit again: manyview fit {collection.path}."
            )


# --- placing ---


def _place(state: State, n_jobs: int | None) -> _Placed:
    """Labels for the items that the run does not know."""
    placed = _Placed()
    collection, run, ids = state.collection, state.run, state.ids
    labelled, labels = collection.runs.labels(run.id)
    waiting = np.setdiff1d(ids, labelled)
    placed.waiting = set(waiting.tolist())
    if not waiting.size:
        return placed
    here, late = set(ids.tolist()), placed.waiting
    copies = {i.id: i.duplicate_of for i in collection.items if i.id in late and i.duplicate_of in here}
    fresh = np.array([item for item in waiting.tolist() if item not in copies], dtype=np.int64)
    if fresh.size:
        X = state.views
        if X is None:
            raise StoreError(f"the views of run {run.id} no longer exist. Fit again.")
        model = collection.runs.model(run.id)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # items that lack every view are counted below
            if hasattr(model, "partial_fit"):
                _learn(placed, model, X, ids, fresh, labels)
            else:
                _predict(state, placed, model, X, fresh, (labelled, labels), n_jobs)
    known = dict(zip(labelled.tolist(), labels.tolist(), strict=True))
    known |= placed.labels
    placed.labels |= {item: known.get(lead or -1, -1) for item, lead in copies.items()}
    return placed


def _learn(placed: _Placed, model: Any, X: Views, ids: Ids, fresh: Ids, labels: Ids) -> None:
    """A method that learns as items come."""
    model.partial_fit(X[np.searchsorted(ids, fresh)])
    found = model.labels_
    placed.model = model
    placed.labels.update(zip(fresh.tolist(), found.tolist(), strict=True))
    placed.opened = {int(label) for label in found if label >= 0} - set(labels.tolist())


def _predict(
    state: State, placed: _Placed, model: Any, X: Views, fresh: Ids, labels_of_run: tuple[Ids, Ids], n_jobs: int | None
) -> None:
    """A method that only predicts: the rest is up to the neighbours."""
    from ..methods.consensus.novelty import measure_strangeness

    ids = state.ids
    labelled, said = labels_of_run
    known, outside = labelled[said >= 0], labelled[said == -1]
    of_run = dict(zip(labelled.tolist(), said.tolist(), strict=True))
    rows = {name: np.searchsorted(ids, part) for name, part in (("known", known), ("fresh", fresh))}
    model.set_params(n_jobs=n_jobs)
    found = model.predict(X[rows["fresh"]]).astype(np.int64)
    both = np.concatenate([fresh, outside])  # earlier strangers wait for others of their kind
    measured = measure_strangeness(
        X[rows["known"]], X[np.searchsorted(ids, both)], scalings=getattr(model, "scalings_", None), n_jobs=n_jobs
    )
    strange = measured.strange.copy()
    strange[fresh.size :] = np.isfinite(measured.familiarity[fresh.size :])
    found[strange[: fresh.size]] = -1
    labels = dict(zip(fresh.tolist(), found.tolist(), strict=True))
    _open_groups(placed, measured, both, strange, max(of_run.values(), default=-1) + 1)
    made_later = set(of_run.values()) - set(range(int(model.n_clusters_))) - {-1}
    near = [known[row].tolist() for row in measured.neighbours[: fresh.size]]
    for item, neighbours in zip(fresh.tolist(), near, strict=True):
        if labels[item] >= 0:
            labels[item] = _majority([of_run[other] for other in neighbours], made_later, labels[item])
    placed.labels = {**labels, **placed.labels}
    placed.strangers = {item for item in fresh[strange[: fresh.size]].tolist() if placed.labels[item] == -1}
    placed.adjusted = _follow_splits(state, of_run, placed.labels, fresh, near)


def _open_groups(placed: _Placed, measured: Any, items: Ids, strange: NDArray[np.bool_], label: int) -> None:
    """Strangers that resemble each other open clusters."""
    rows = np.flatnonzero(strange)
    if not rows.size:
        return
    groups = measured.groups(rows)
    for group, size in sorted(Counter(groups.tolist()).items()):
        if size >= FEWEST_TO_OPEN:
            placed.opened.add(label)
            placed.labels.update(dict.fromkeys(items[rows[groups == group]].tolist(), label))
            label += 1


def _majority(labels: list[int], allowed: set[int], otherwise: int) -> int:
    """The one of the allowed labels that more than half of the neighbours have."""
    for label, count in Counter(labels).most_common(1):
        if label in allowed and 2 * count > len(labels):
            return label
    return otherwise


def _follow_splits(
    state: State,
    of_run: Mapping[int, int],
    labels: Mapping[int, int],
    fresh: Ids,
    near: list[list[int]],
) -> list[tuple[int, int, int | None]]:
    """New items of a label that a person has split go to the part most of their neighbours are in."""
    with_label = {row.id for row in state.collection.runs.clusters(state.run.id)}
    by_hand = set(state.collection.living.placed().values()) - with_label
    if not by_hand:
        return []
    standing = state.standing
    now = dict(zip(standing.ids.tolist(), standing.own.tolist(), strict=True))
    adjusted: list[tuple[int, int, int | None]] = []
    for item, neighbours in zip(fresh.tolist(), near, strict=True):
        same = [now[other] for other in neighbours if of_run[other] == labels[item]]
        part = _majority(same, by_hand, -1)
        if part >= 0 and 2 * same.count(part) > len(neighbours):
            adjusted.append((item, part, None))
    return adjusted


# --- keeping ---


def _keep(
    state: State, before: tuple[Ids, Ids], placed: _Placed, n_moved: int, changed: set[int], were_gone: set[int]
) -> Added:
    """Write everything down, and say what changed."""
    collection, run = state.collection, state.run
    living = collection.living
    identities = {label: living.new_cluster() for label in sorted(placed.opened)}
    living.add_labels(run.id, placed.labels, identities)
    living.adjust(run.id, placed.adjusted)
    if placed.model is not None:
        collection.runs.replace_model(run.id, placed.model)
    state = settle(state.moved())
    living.set_confidence(run.id, _confidence(state, sorted(placed.labels)))
    refresh_profiles(state)
    were = set(before[0].tolist())
    changes = tell_changes(state, before, (placed.waiting & were) | changed, were_gone)
    added = _told(run, changes, placed, were, set(identities.values()), n_moved)
    if placed.labels or changes.n_gone or changes.n_moved or n_moved:
        record_update(
            collection, "add", added.sentence, run, changes, strangers=sorted(added.strangers), opened=added.opened
        )
    living.end_update()
    return added


def _confidence(state: State, items: list[int]) -> dict[int, float | None]:
    """How sure the places of new items are, by the clusters as they are now; None where nothing is known."""
    if not items:
        return {}
    values, numbers = closeness_of_items(state, items)
    own = np.array(state.standing.of(items))[:, None] == np.array(numbers, dtype=np.int64)
    values = np.nan_to_num(values, nan=-np.inf)
    with np.errstate(invalid="ignore"):  # where nothing is known
        margin = np.max(values, axis=1, where=own, initial=-np.inf) - np.max(
            values, axis=1, where=~own, initial=-np.inf
        )
    sure = confidence_of(np.where(np.isfinite(margin), margin, np.nan))
    return {item: None if np.isnan(value) else float(value) for item, value in zip(items, sure, strict=True)}


def _told(run: Run, changes: ChangeReport, placed: _Placed, were: set[int], opened: set[int], n_moved: int) -> Added:
    joined = {cluster: n for cluster, n in changes.new_items.items() if cluster >= 0 and cluster not in opened}
    in_opened = sum(n for cluster, n in changes.new_items.items() if cluster in opened)
    outside = changes.new_items.get(-1, 0)
    strangers = sorted(placed.strangers - were)
    n_joined = sum(joined.values())
    parts = []
    if n_joined:
        parts.append(f"{n_joined} into {counted(len(joined), 'cluster')}")
    if opened:
        parts.append(f"{in_opened} opened {counted(len(opened), 'new cluster')}")
    if strangers:
        parts.append(f"{len(strangers)} resemble{'s' if len(strangers) == 1 else ''} nothing")
    if left := outside - len(strangers):
        parts.append(f"{left} {'has' if left == 1 else 'have'} nothing to go by")
    back = f", {changes.n_back} back" if changes.n_back else ""
    sentence = f"{changes.n_new - changes.n_back} new{back}" + (": " + ", ".join(parts) if parts else "")
    told = ((n_moved, "moved"), (changes.n_changed, "changed"), (changes.n_gone, "gone"))
    sentence += "".join(f"; {n} {word}" for n, word in told if n)
    return Added(run, changes, sentence, changes.n_new, n_moved, n_joined, in_opened, sorted(opened), strangers, [])
