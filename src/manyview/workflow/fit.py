"""Fit a method to a collection: which views, which method, how many clusters, and why."""

from __future__ import annotations

import itertools
import os
import shlex
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..collection.living import Standing
from ..collection.runs import Run
from ..collection.store import Store
from ..data.views import Views
from ..describe.profiles import ClusterProfiles
from ..errors import ParameterError, StoreError
from ..figures import counted
from ..meaning.words import check_language
from ..methods.base import LackViews
from ..methods.consensus.cost import cost_of_number, cost_of_steps, number_of_landmarks, shape_of, usual_number
from ..methods.preparation import told
from ..steps import at_work, step
from ..types import Progress
from .clusters.changes import ChangeReport, record_update, standing_before, tell_changes
from .clusters.identity import Then, identities_of_labels
from .clusters.living import refresh_profiles, settle
from .clusters.state import State
from .compute import Computed
from .fitting.model import Earlier, fit_model, go_on, work_of
from .fitting.views import compute_named, named_views, versions_of
from .methods_table import Method, find_method
from .reading.map_layout import Drawn, cost_of_map, cost_of_profiles, draw_map, keep_map
from .run_views import by_number, describe_run, fit_views, item_words
from .transfer import annotations_of

__all__ = ["Fitted", "fit_collection", "keep_run"]

_RUNS_BACK = 4
"""Older runs whose clusters can come back."""
_ENOUGH_KNOWN = 2 / 3
"""A run is gone on from where so large a share of the items was in it."""
_NEXT_TO_NO_SAY = 0.05
"""Of the full say of a view."""
_OF_THE_RUN = ("n_clusters", "random_state", "n_jobs", "verbose", "previous", "neighbours")
"""Settings that are no defaults of a method, but belong to one run."""


@dataclass
class Fitted:
    """A run that was kept, and what there is to say about it."""

    run: Run
    said: list[str]
    computed: Computed
    profiles: ClusterProfiles = field(repr=False)
    changes: ChangeReport | None = field(default=None, repr=False)
    """What is different from the run before; None where this is the first."""


def fit_collection(
    collection: Store,
    method: str | None = None,
    n_clusters: int | None = None,
    *,
    views: Iterable[str] | None = None,
    annotations: str | os.PathLike[str] | None = None,
    seed: int = 0,
    fresh: bool = False,
    language: str | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Fitted:
    """Cluster a collection that is open for writing, and keep the run.

    method : a name of ``methods_table.METHODS``; None takes "consensus"
    n_clusters : None finds a number by what the neighbours of the items say; the run keeps how
    views : names of views, "tags" among them if the tags are to count; None takes all there are, after computing
        those that are there by default, and the tags where enough items have some
    annotations : another collection with tags, for "aplsa", which counts words of pictures (the view "visual_words",
        learned here) or of texts ("words"); it is only read
    fresh : do not go on from the run before, as "consensus" does where it is asked for the same again
    language : of the words that pictures without tags are named with, one of ``meaning.words.LANGUAGES``; None takes
        that of the machine

    Clusters that are found again keep their numbers (``identity``), and what a person said of them holds. Pictures that
    repeat another are left out of the fit and get the label of the one they repeat. A map is laid out and kept with
    the run; items stay about where they were on the map before.
    """
    collection.check_writable("a fit")
    chosen = find_method(method)
    method = chosen.name
    views = None if views is None else list(views)
    again = _command(collection, method, n_clusters, views, annotations, seed, fresh)
    language = check_language(language)
    if len(collection.items) < 2:
        raise ParameterError(
            f"{collection.path} has {counted(len(collection.items), 'item')}; clusters need at least two."
        )
    named = named_views(collection, chosen, views, annotations)
    computed = compute_named(collection, named, n_jobs, progress)
    tags, words = collection.tags, item_words(collection, language)
    try:
        X, said, tag_names = fit_views(collection, named, method, tags)
    except ParameterError as error:
        raise ParameterError(" ".join([str(error), *map(str, computed.notes)])) from None
    said += [str(note) for note in computed.notes if note.kind != "kept"]
    theirs = None
    if annotations is not None:
        theirs = annotations_of(collection, X.names[0], annotations, n_jobs=n_jobs, progress=progress)
        said.append(
            f"help comes from {os.fspath(annotations)}: {theirs.n_items} items with {len(theirs.names)} tags"
            + (f"; {theirs.n_bad} of its files could not be opened." if theirs.n_bad else ".")
        )
    started = time.perf_counter()
    rows, places = collection.items.fold()
    different, their_tags = X, tags
    if rows.size < places.size:
        different, their_tags = X[rows], tags[rows]
        n_repeated = places.size - rows.size
        many = f"{n_repeated} pictures repeat others and go where those go."
        said.append("1 picture repeats another and goes where that one goes." if n_repeated == 1 else many)
    settings: dict[str, Any] = {"n_clusters": n_clusters, "seed": seed, "views": list(X.names)}
    earlier = None if fresh else _earlier(collection, method, settings, X.ids)
    if earlier is not None:
        settings["continues"] = earlier.run_id
        said.append(
            f"goes on from run {earlier.run_id}, whose {earlier.n_clusters} clusters have a say; --fresh starts anew."
        )
        said += _changed_defaults(collection, earlier.run_id, chosen)
    costs = _costs(different, places.size, chosen, n_clusters, earlier, n_jobs)
    listening = at_work(f"fitting {method}", progress, costs)
    with work_of(collection, different, their_tags, theirs, settings | {"method": method}, earlier, again) as stages:
        with listening, collection.unlocked(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            if earlier is not None:
                before_labels = earlier.labels[rows]
                model, labels, why = go_on(
                    different, before_labels, n_clusters or earlier.n_clusters, seed, n_jobs, stages
                )
                number = earlier.number
            else:
                model, labels, why, number = fit_model(
                    different, their_tags, theirs, chosen, n_clusters, seed, n_jobs, stages
                )
            if hasattr(model, "levels_"):
                model.levels_["items"] = X.ids[rows]
            labels = np.asarray(labels)[places]
            weights = _view_weights(model, X.names)
            with step("names and profiles"):
                profiles = describe_run(X, labels, tags, words, weights=weights)
            drawn = _draw(collection, profiles, X.ids, seed, n_jobs)
        said += why + _about_views(model)
        heard = [one for one in caught if issubclass(one.category, UserWarning)]
        said += dict.fromkeys(str(one.message) for one in heard if not issubclass(one.category, LackViews))
        if any(issubclass(one.category, LackViews) for one in heard):
            said.append(_in_no_cluster(words.keys, np.flatnonzero(labels < 0).tolist()))
        if annotations is not None:
            settings["annotations"] = os.path.abspath(annotations)
        figures = {"n_items": X.n_items, "n_clusters": len(profiles), "said": said}
        figures |= {"view_weights": weights, "tag_names": tag_names, "language": language} | _figures(model, number)
        with collection.transaction():
            before = standing_before(collection)
            run, changes = keep_run(
                collection,
                profiles,
                (X.ids, labels, _identities(collection, before, X.ids, labels)),
                "run {run}: {method}, {clusters}",
                before,
                method=method,
                settings=settings,
                views=versions_of(collection, X.names),
                figures=figures,
                seconds=time.perf_counter() - started,
                model=model,
            )
            if drawn is not None:
                keep_map(collection, run.id, drawn)
    return Fitted(run, said, computed, profiles, changes)


def keep_run(
    collection: Store,
    profiles: ClusterProfiles,
    placed: tuple[NDArray[np.int64], NDArray[Any], Mapping[int, int]],
    summary: str,
    before: Standing | None,
    *,
    method: str,
    cut_from: int | None = None,
    **details: Any,
) -> tuple[Run, ChangeReport | None]:
    """Keep clusters as the run that counts, inside a transaction; what changed by it comes back with it.

    placed : the items that were described, ascending; their labels; which cluster each label continues
    before : where every item was; None where this is the first run
    cut_from : the run of which this is another level; such a step can be undone
    details : of ``Collection.save_run``
    """
    ids, labels, identities = placed
    run = collection.save_run(
        method,
        labels,
        ids,
        confidence=profiles.confidence,
        identities=identities,
        names={one.label: one.name.name for one in profiles},
        profiles={one.label: by_number(one.to_dict(), ids) for one in profiles},
        **details,
    )
    state = settle(State(collection, run))
    collection.living.end_update()  # an addition that was stopped: its items are in this run
    refresh_profiles(state)
    changes = None if before is None else tell_changes(state, (before.ids, before.clusters))
    told = summary.format(run=run.id, method=method, clusters=counted(len(profiles), "cluster"))
    if cut_from is None:
        record_update(collection, "fit", told, run, changes)
    else:
        record_update(collection, "level", told, run, changes, before=cut_from)
    return run, changes


def _draw(
    collection: Store,
    profiles: ClusterProfiles,
    ids: NDArray[np.int64],
    seed: int,
    n_jobs: int | None,
) -> Drawn | None:
    """The map, which goes on from the newest one there is; None where no view tells items apart."""
    if profiles.likeness is None:
        return None
    before = collection.maps.newest()
    drawn = draw_map(profiles.likeness, ids, before, seed=seed, n_jobs=n_jobs)
    return drawn if drawn.ids.size else None


def _command(
    collection: Store,
    method: str,
    n_clusters: int | None,
    views: list[str] | None,
    annotations: str | os.PathLike[str] | None,
    seed: int,
    fresh: bool,
) -> str:
    """What does this fit again, in a shell."""
    parts = ["manyview", "fit", str(collection.path), "-m", method, "--seed", str(seed)]
    parts += [] if n_clusters is None else ["-k", str(n_clusters)]
    parts += [part for name in views or () for part in ("--view", name)]
    parts += [] if annotations is None else ["--annotations", os.path.abspath(annotations)]
    return shlex.join(parts + ["--fresh"] * fresh)


def _costs(
    X: Views, n_items: int, method: Method, n_clusters: int | None, earlier: Earlier | None, n_jobs: int | None
) -> dict[str, float]:
    """Of the steps of a fit, in their order."""
    shape = shape_of(X)
    costs = cost_of_number(shape) if n_clusters is None and earlier is None and method.takes_k else {}
    if method.name == "consensus":
        reckoned = n_clusters or (usual_number(X.n_items) if earlier is None else earlier.n_clusters)
        costs |= cost_of_steps(shape, reckoned, 10, n_jobs, number_of_landmarks("auto", shape, reckoned, 10))
    after = {"names and profiles": cost_of_profiles(n_items, shape.width), "map": cost_of_map(n_items, shape.width)}
    return costs | after


def _earlier(collection: Store, method: str, settings: Mapping[str, Any], ids: NDArray[np.int64]) -> Earlier | None:
    """The newest run, if it was asked for the same and knows most of the items."""
    newest = collection.runs.newest()
    if method != "consensus" or newest is None or newest.method != method:
        return None
    if any(newest.settings.get(name) != value for name, value in settings.items()):
        return None
    known, said = collection.runs.labels(newest.id)
    labels = np.full(ids.size, -1, dtype=np.int64)
    there = np.isin(known, ids)
    labels[np.searchsorted(ids, known[there])] = said[there]
    n_clusters = np.unique(labels[labels >= 0]).size
    if n_clusters < 1 or (labels >= 0).mean() < _ENOUGH_KNOWN:
        return None
    return Earlier(newest.id, int(n_clusters), labels, newest.figures.get("number"))


def _changed_defaults(collection: Store, run_id: int, method: Method) -> list[str]:
    """A sentence where a run was made with other settings than the method has by itself now."""
    try:
        before = collection.runs.model(run_id).get_params(deep=False)
    except StoreError:  # the labels are enough to go on from
        return []
    now = method.make(None, 0, None).get_params(deep=False)
    changed = [
        f"{name} is {now[name]!r} (was {before[name]!r})"
        for name in now
        if name in before and name not in _OF_THE_RUN and repr(before[name]) != repr(now[name])
    ]
    return [f"the defaults have changed since run {run_id}: {', '.join(changed)}."] if changed else []


def _in_no_cluster(keys: Sequence[str], rows: Sequence[int]) -> str:
    """Which items lack every view."""
    shown = ", ".join(keys[row] for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
    return f"{counted(len(rows), 'item')} in no cluster, for want of any view: {shown}."


def _figures(model: Any, number: Any) -> dict[str, Any]:
    """What a run keeps of its model: how the number of clusters was found, its levels, how views were scaled."""
    figures = {} if number is None else {"number": number}
    if hasattr(model, "levels_"):
        fewest, most = model.level_range_
        figures["levels"] = [fewest, int(model.n_clusters_), most]
    if hasattr(model, "scaling_agreement_"):
        figures |= {"view_scalings": model.view_scalings_, "scaling_agreement": model.scaling_agreement_}
    return figures


def _about_views(model: Any) -> list[str]:
    """How views were scaled where not as usual, and which have next to no say."""
    if not hasattr(model, "scaling_agreement_"):
        return []
    said = told(model.view_scalings_, model.scaling_agreement_)
    silent = [name for name, say in getattr(model, "says_", {}).items() if say < _NEXT_TO_NO_SAY]
    said += [f"view {name} agrees with no other view and has next to no say." for name in silent]
    return said


def _identities(
    collection: Store, before: Standing | None, ids: NDArray[np.int64], labels: NDArray[Any]
) -> dict[int, int]:
    """Which clusters the labels of a new run continue."""
    if before is None:
        return {}
    living = collection.living
    older = [run.id for run in collection.runs.fits() if run.id < before.run_id][: -_RUNS_BACK - 1 : -1]
    states = itertools.chain([before], (living.standing(run_id) for run_id in older))
    return identities_of_labels(
        ids,
        np.asarray(labels, dtype=np.int64),
        (Then(state.ids, state.own) for state in states),
        by_hand=living.placed(),
        merged=living.merged(),
        first=[cluster for cluster, (name, pinned) in living.said().items() if name is not None or pinned],
    )


def _view_weights(model: Any, names: Sequence[str]) -> dict[str, float] | None:
    weights = getattr(model, "view_weights_", None)
    if weights is None or len(weights) != len(names):
        return None
    return {name: float(weight) for name, weight in zip(names, weights, strict=True)}
