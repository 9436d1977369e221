"""The clusters as they are now: what the newest run found, with everything a person said and everything added since."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...collection.living import KeptProfile
from ...collection.store import Store
from ...data.tags import TagTable, match_key
from ...describe._grouping import check_grouping
from ...describe.likeness import closeness_to_clusters
from ...describe.names import SEPARATOR
from ...describe.profiles import tag_figures
from ...types import Ids
from ..run_views import by_number, describe_run
from .state import State

__all__ = [
    "LiveCluster",
    "closeness_of_items",
    "clusters_of",
    "current_clusters",
    "find_profiles",
    "in_words_of_now",
    "refresh_profiles",
    "settle",
    "with_tags_of_now",
]


@dataclass(frozen=True)
class LiveCluster:
    """A cluster as it is now."""

    id: int
    """Its number, which stays its own across refits and is never given again."""
    name: str
    """A person's name for it, else the one it was given."""
    size: int
    is_pinned: bool
    is_named: bool
    """Is the name a person's?"""
    is_guess: bool
    """Is the name only guessed from what the pictures show? Then it ends with a question mark."""
    labels: tuple[int, ...]
    """The labels of the run that its items have."""
    profile: dict[str, Any] = field(repr=False)
    """What it is about; other clusters and items in it go by their numbers."""


def current_clusters(collection: Store, run_id: int | None = None) -> list[LiveCluster]:
    """The clusters of a run, the newest when none is named, as they are now; largest first.

    Profiles that were kept are shown only for the very members they were made of; others are made anew. Tags are
    counted as they are now.
    """
    state = State(collection, collection.runs.get_fit(run_id))
    return with_tags_of_now(state.clusters, state.tags, state.labels)


def with_tags_of_now(clusters: Iterable[LiveCluster], tags: TagTable, labels: Ids) -> list[LiveCluster]:
    """Clusters whose profiles count these tags: kept ones know the tags of the day they were made."""
    figures = tag_figures(tags, labels)
    return [replace(one, profile={**one.profile, **figures[one.id]}) for one in clusters]


def refresh_profiles(state: State) -> None:
    """Keep the names and profiles that had to be made anew."""
    found, fresh = state.profiles
    if fresh:
        state.collection.living.keep_profiles(state.run.id, {cluster: found[cluster] for cluster in fresh})


def clusters_of(state: State) -> list[LiveCluster]:
    """See ``State.clusters``."""
    standing, profiles, living = state.standing, state.profiles[0], state.collection.living
    said, merged = living.said(), living.merged()
    members = standing.members()
    found = []
    for cluster, items in members.items():
        name, pinned = said[cluster]
        kept = profiles[cluster]
        labels = np.unique(standing.labels[standing.clusters == cluster])
        found.append(
            LiveCluster(
                id=cluster,
                name=name or kept.name,
                size=items.size,
                is_pinned=pinned,
                is_named=name is not None,
                is_guess=name is None and bool(kept.profile.get("name", {}).get("is_guess")),
                labels=tuple(labels[labels >= 0].tolist()),
                profile=_up_to_date(kept.profile, cluster, members, merged),
            )
        )
    return sorted(found, key=lambda one: (-one.size, one.id))


def find_profiles(state: State) -> tuple[dict[int, KeptProfile], list[int]]:
    """See ``State.profiles``."""
    living, members = state.collection.living, state.standing.members()
    digests = {cluster: _digest(items) for cluster, items in members.items()}
    kept = living.profiles(state.run.id)
    found = {c: kept[c] for c, digest in digests.items() if c in kept and kept[c].members == digest}
    if len(found) < len(members):
        found |= {c: p for c, p in _as_the_run_says(state, digests).items() if c not in found}
    found = _with_words_of_now(found, state.collection.vocabulary.respelled())
    given = {c: name for c, (name, _) in living.said().items() if name is not None and c in members}
    taken = {name.casefold(): cluster for cluster, name in given.items()}
    # A cluster that was given a person's word by chance gets another name.
    found = {c: p for c, p in found.items() if c in given or taken.get(p.name.casefold(), c) == c}
    stale = sorted(members.keys() - found.keys())
    if stale:
        names = {cluster: one.name for cluster, one in found.items()} | given
        described = describe_run(state.views, state.labels, state.tags, state.words, weights=state.weights, names=names)
        for cluster in stale:
            one = described[cluster]
            found[cluster] = KeptProfile(digests[cluster], one.name.name, by_number(one.to_dict(), state.ids))
    return found, stale


def in_words_of_now(name: str, respelled: Mapping[str, str]) -> str:
    """A name made of tags, in the words that these are called by now, each once."""
    return SEPARATOR.join(dict.fromkeys(respelled.get(match_key(word), word) for word in name.split(SEPARATOR)))


def _with_words_of_now(found: dict[int, KeptProfile], respelled: Mapping[str, str]) -> dict[int, KeptProfile]:
    """Profiles named in the words of now; of those that would share a name only that of the largest cluster."""
    if not respelled:
        return found
    spelled: dict[str, tuple[int, KeptProfile]] = {}
    for cluster, one in sorted(found.items(), key=lambda entry: (-entry[1].profile["size"], entry[0])):
        name = one.profile["name"]
        if name["source"] == "tags":
            now = in_words_of_now(one.name, respelled)
            profile = {**one.profile, "name": {**name, "name": now, "words": now.split(SEPARATOR)}}
            one = one._replace(name=now, profile=profile)
        spelled.setdefault(one.name.casefold(), (cluster, one))
    return dict(sorted(spelled.values(), key=lambda entry: entry[0]))


def _as_the_run_says(state: State, digests: Mapping[int, str]) -> dict[int, KeptProfile]:
    """The profiles of the run itself, for clusters that are just what it found, with clusters by number."""
    standing, rows = state.standing, state.collection.runs.clusters(state.run.id)
    number = {row.label: row.id for row in rows}
    found = {}
    for row in rows:
        same = np.array_equal(standing.labels == row.label, standing.clusters == row.id)
        if same and row.profile.get("size") == row.size and row.id in digests:
            profile = dict(row.profile)
            profile["label"] = row.id
            profile["nearest"] = [{**one, "label": number.get(one["label"], -1)} for one in profile["nearest"]]
            profile["borderline"] = [{**one, "other": number.get(one["other"], -1)} for one in profile["borderline"]]
            if profile["name"]["source"] == "number":  # it goes by the number it is shown with
                name = f"Group {row.id}"
                profile["name"] = {**profile["name"], "name": name, "words": [name]}
            found[row.id] = KeptProfile(digests[row.id], profile["name"]["name"], profile)
    return found


def _up_to_date(
    profile: dict[str, Any], cluster: int, members: Mapping[int, Ids], merged: Mapping[int, int]
) -> dict[str, Any]:
    """A profile whose other clusters are there: one that was merged away goes by what it is part of now."""

    def now(other: int) -> int | None:
        other = merged.get(other, other)
        return other if other in members and other != cluster else None

    nearest: dict[int, Any] = {}
    for one in profile.get("nearest", ()):
        if (other := now(one["label"])) is not None:
            nearest.setdefault(other, {**one, "label": other})
    borderline = [
        {**one, "other": other} for one in profile.get("borderline", ()) if (other := now(one["other"])) is not None
    ]
    return {**profile, "nearest": list(nearest.values()), "borderline": borderline}


def _digest(items: Ids) -> str:
    return hashlib.blake2b(items.astype("<i8").tobytes(), digest_size=12).hexdigest()


def closeness_of_items(state: State, items: Iterable[int]) -> tuple[NDArray[np.float64], list[int]]:
    """Closeness of items to every cluster as it is now, (n, n_clusters), and the clusters' numbers; NaN: not known."""
    wanted = np.fromiter((int(item) for item in items), dtype=np.int64)
    X, grouping = state.views, check_grouping(state.labels)
    if X is None or not grouping.n_clusters:
        return np.full((wanted.size, grouping.n_clusters), np.nan), list(grouping.labels)
    rows = np.searchsorted(state.ids, wanted)
    values = closeness_to_clusters(X, grouping, rows, state.weights)
    return values, list(grouping.labels)


def settle(state: State) -> State:
    """Find a place for items that have to leave a cluster because of another in it; the state after that.

    An item (with all it is linked to) that must not be where another is goes to the cluster it is closest to among
    those that are free to it. Where there is none it stays in no cluster.
    """
    standing, collection = state.standing, state.collection
    links = collection.living.links()
    out = standing.ids[(standing.clusters == -1) & (standing.wanted >= 0)].tolist()
    homeless = sorted({links.leader(item) for item in out if item in links.groups[links.leader(item)]})
    if not homeless:
        return state
    now = dict(zip(standing.ids.tolist(), standing.clusters.tolist(), strict=True))
    groups = {leader: [item for item in links.groups[leader] if item in now] for leader in homeless}
    flat = [item for leader in homeless for item in groups[leader]]
    values, numbers = closeness_of_items(state, flat)
    is_settled, start = False, 0
    with collection.transaction():
        for leader in homeless:
            group = groups[leader]
            mean = np.nan_to_num(values[start : start + len(group)], nan=-np.inf).mean(axis=0)
            start += len(group)
            rivals = {other: item for other in links.apart[leader] for item in links.groups[other] if item in now}
            taken = {now[item] for other in rivals for item in links.groups[other] if item in now}
            order = [numbers[n] for n in np.argsort(-mean, kind="stable") if np.isfinite(mean[n])]
            place = next((cluster for cluster in order if cluster not in taken), None)
            home = int(standing.wanted[np.searchsorted(standing.ids, group[0])])
            rival = next((item for item in rivals.values() if now[item] == home), None)
            if place is None or rival is None:
                continue
            collection.living.adjust(state.run.id, [(item, place, rival) for item in group])
            now.update((item, place) for item in group)
            is_settled = True
    return state.moved() if is_settled else state
