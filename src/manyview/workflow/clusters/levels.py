"""The clusters of a run at a coarser or finer level: shown, or kept as a run of their own.

A run of "consensus" keeps a tree of clusters with its model. Every node of it has one identity, given when it is first
kept, so that numbers and names are the same whichever way a person came to a level.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...collection.runs import Run
from ...collection.store import Store
from ...describe.names import ClusterName
from ...describe.profiles import ClusterProfiles
from ...errors import ParameterError
from ...methods.consensus.levels import level_nodes, nodes_of_level
from ...types import Ids
from ..compute import Computed
from ..fit import Fitted, keep_run
from ..run_views import by_number, describe_run
from .changes import standing_before
from .living import LiveCluster, in_words_of_now
from .state import State

__all__ = ["Level", "Step", "cut_run", "keep_level", "level_clusters", "neighbouring_levels"]

Step = Literal["coarser", "finer"]


@dataclass(frozen=True)
class Level:
    """A run's items at one level."""

    ids: Ids
    labels: Ids
    """One per item: 0 to n_clusters - 1 at the level, more for clusters that additions opened, -1 for none."""
    n_clusters: int
    identities: dict[int, int]
    """Label -> cluster, for those that have been kept at some time."""
    names: dict[int, str]
    """Label -> name, where it is known from the run or follows from its parts."""
    nodes: dict[int, int]
    """Label -> node of the tree."""
    known: dict[int, tuple[int, str]]
    """Node -> cluster and name, of all that were ever kept."""
    model: Any
    """The fitted model at this level."""


def neighbouring_levels(run: Run) -> tuple[int | None, int | None]:
    """The next coarser and the next finer number of clusters; None where there is none.

    These are the numbers that were found together with the run's own, as far as they go; then 0.7 and 1.5 times as
    many.
    """
    if "levels" not in run.figures:
        return None, None
    low, now, high = run.figures["levels"]
    number = run.figures.get("number") or {}
    stops = sorted({number[key] for key in ("coarser", "n_clusters", "finer") if number.get(key)})
    below = [stop for stop in stops if low <= stop < now] or [max(low, min(now - 1, round(0.7 * now)))]
    above = [stop for stop in stops if now < stop <= high] or [min(high, max(now + 1, round(1.5 * now)))]
    return (below[-1] if below[-1] < now else None), (above[0] if above[0] > now else None)


def cut_run(collection: Store, run: Run, n_clusters: int, *, n_jobs: int | None = None) -> Level:
    """The items of a run, those that were added since among them, at a level with so many clusters."""
    model = _model(collection, run)
    levels = model.levels_
    moved = model.at_level(n_clusters).set_params(n_jobs=n_jobs)
    ids, now = collection.runs.labels(run.id)
    before, after = (level_nodes(levels, number) for number in (model.n_clusters_, n_clusters))
    parts = {label: np.unique(after[before == label]) for label in range(model.n_clusters_)}
    labels = np.where(now >= model.n_clusters_, now - model.n_clusters_ + n_clusters, -1)
    for label, found in parts.items():
        labels[now == label] = found[np.argmax(np.bincount(moved.labels_[moved.labels_ >= 0])[found])]
    there = np.isin(ids, levels["items"])
    rows = np.searchsorted(levels["items"], ids[there])
    as_fitted = model.labels_[rows] == now[there]  # not so for a file that changed since
    known = np.flatnonzero(there)[as_fitted]
    labels[known] = moved.labels_[rows[as_fitted]]
    torn = [label for label, found in parts.items() if found.size > 1]
    late = np.setdiff1d(np.flatnonzero(np.isin(now, torn)), known)
    if late.size:
        _place_late(collection, run, moved, (ids, now, labels), late, parts)
    return _named(collection, run, model, (ids, labels, n_clusters), moved)


def _model(collection: Store, run: Run) -> Any:
    """The model of a run that keeps levels."""
    if "levels" not in run.figures:
        raise ParameterError(
            f"run {run.id} ({run.method}) keeps no levels. Runs of consensus do: manyview fit {collection.path}."
        )
    return collection.runs.model(run.id)


def _place_late(
    collection: Store, run: Run, moved: Any, state: tuple[Ids, Ids, Ids], late: NDArray[np.intp], parts: dict[int, Any]
) -> None:
    """Items that were not in the fit, and whose cluster is split: a repeated picture goes with the one it repeats."""
    ids, now, labels = state
    leads = {item.id: item.duplicate_of for item in collection.items if item.duplicate_of is not None}
    X, there = State(collection, run).views, set(ids.tolist())
    alone = [row for row in late.tolist() if leads.get(int(ids[row])) not in there]
    if X is not None and alone:
        found = moved.predict(X[np.searchsorted(collection.items.ids, ids[alone])])
        for row, label in zip(alone, found.tolist(), strict=True):
            if label in parts[int(now[row])]:
                labels[row] = label
    for row in sorted(set(late.tolist()) - set(alone)):
        labels[row] = labels[np.searchsorted(ids, leads[int(ids[row])])]


def _named(collection: Store, run: Run, model: Any, cut: tuple[Ids, Ids, int], moved: Any) -> Level:
    """A level with identities and names: those of nodes that are known, and the common words of merged ones."""
    ids, labels, n_clusters = cut
    levels, n_before = model.levels_, int(model.n_clusters_)
    kept = {row.label: row for row in collection.runs.clusters(run.id)}
    known = {int(node): (int(one[0]), str(one[1])) for node, one in (run.figures.get("nodes") or {}).items()}
    for label, node in enumerate(nodes_of_level(levels, n_before).tolist()):
        if label in kept:
            known[node] = kept[label].id, _own_name(kept[label])
    nodes = dict(enumerate(nodes_of_level(levels, n_clusters).tolist()))
    found = {label: known[node] for label, node in nodes.items() if node in known}
    found |= {c - n_before + n_clusters: (row.id, _own_name(row)) for c, row in kept.items() if c >= n_before}
    respelled = collection.vocabulary.respelled()
    names: dict[int, str] = {}
    for label, (_, name) in found.items():
        if name and (now := in_words_of_now(name, respelled)) not in names.values():
            names[label] = now
    before, after = (level_nodes(levels, number) for number in (n_before, n_clusters))
    for label in sorted(nodes.keys() - names.keys()):
        parts = [part for part in np.unique(before[after == label]).tolist() if part in kept]
        common = (
            _common_words([in_words_of_now(_own_name(kept[part]), respelled) for part in parts])
            if len(parts) > 1
            else ""
        )
        if common and common not in names.values():
            names[label] = common
    identities = {label: cluster for label, (cluster, _) in found.items()}
    return Level(ids, labels, n_clusters, identities, names, nodes, known, moved)


def _called(name: ClusterName, cluster: int | None) -> str:
    """What a cluster of a level is called: by its number only if it has one that lasts."""
    if name.source != "number":
        return name.name
    return "no name yet" if cluster is None else f"Group {cluster}"


def _own_name(row: Any) -> str:
    """What the run called a cluster, where that lasts."""
    return _lasting(row.profile.get("name", {"source": "number"}))


def _lasting(name: Mapping[str, Any]) -> str:
    """A name that stays with its cluster; nothing for a guess, or a mere number."""
    return "" if name.get("is_guess") or name["source"] == "number" else str(name["name"])


def _common_words(names: list[str]) -> str:
    """The words that all names have, in the order of the first; nothing where there are none."""
    words = [name.split(", ") for name in names]
    return (
        ", ".join(word for word in words[0] if all(word in other for other in words[1:]))
        if all(names) and words
        else ""
    )


def level_clusters(collection: Store, run: Run, n_clusters: int) -> tuple[Level, list[LiveCluster]]:
    """The clusters of a run at a level as it would be kept, largest first; -1 is the number of one that never was."""
    level = cut_run(collection, run, n_clusters)
    profiles = _described(State(collection, run), level)
    found = [
        LiveCluster(
            id=level.identities.get(one.label, -1),
            name=_called(one.name, level.identities.get(one.label)),
            size=one.size,
            is_pinned=False,
            is_named=False,
            is_guess=one.name.is_guess,
            labels=(one.label,),
            profile=by_number(one.to_dict(), level.ids),
        )
        for one in profiles
    ]
    return level, sorted(found, key=lambda one: (-one.size, one.labels))


def _described(state: State, level: Level) -> ClusterProfiles:
    """Names and profiles of the clusters at a level, whose items are rows of ``level.ids``."""
    rows = np.searchsorted(state.ids, level.ids)
    words = state.words.only(rows)
    views = None if state.views is None else state.views[rows]
    return describe_run(views, level.labels, state.tags[rows], words, weights=state.weights, names=level.names)


def keep_level(collection: Store, to: int | Step, *, n_jobs: int | None = None) -> Fitted:
    """Make a coarser or finer level of the newest run the run that counts; everything said of clusters holds.

    ``to`` is a number of clusters, or "coarser" or "finer" for the next one. Nothing is fitted: the tree is cut. It is
    one entry of the history; `undo` goes back to the level before.
    """
    collection.check_writable("a level")
    started, run = time.perf_counter(), collection.runs.get()
    n_clusters = to if isinstance(to, int) else _next(run, to)
    level = cut_run(collection, run, n_clusters, n_jobs=n_jobs)
    profiles = _described(State(collection, run), level)
    said = [f"{n_clusters} clusters: a level of run {run.id}, cut from its tree."]
    figures = {**run.figures, "n_items": int(level.ids.size), "n_clusters": len(profiles), "said": said}
    fewest, most = level.model.level_range_
    figures["levels"] = [fewest, n_clusters, most]
    with collection.transaction():
        names = {one.label: _lasting(one.name.to_dict()) for one in profiles}
        identities = {label: level.identities.get(label) or collection.living.new_cluster() for label in sorted(names)}
        known = {level.nodes[c]: (identities[c], name) for c, name in names.items() if c in level.nodes}
        figures["nodes"] = {str(node): list(one) for node, one in (level.known | known).items()}
        kept, changes = keep_run(
            collection,
            profiles,
            (level.ids, level.labels, identities),
            f"run {{run}}: {n_clusters} clusters, a level of run {run.id}",
            standing_before(collection),
            method=run.method,
            cut_from=run.id,
            settings={**run.settings, "level": n_clusters},
            views=run.views,
            figures=figures,
            seconds=time.perf_counter() - started,
            model=level.model,
        )
        collection.maps.copy(run.id, kept.id)
    return Fitted(kept, said, Computed(), profiles, changes)


def _next(run: Run, step: Step) -> int:
    coarser, finer = neighbouring_levels(run)
    found = coarser if step == "coarser" else finer
    if found is None and "levels" in run.figures:
        raise ParameterError(f"run {run.id} is at its {step[:-1]}st level. Fit with another number instead: -k.")
    return found or 0  # without levels, which is said where the tree is needed
