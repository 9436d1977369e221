"""The clusters as they are now: what the newest run found, with everything a person said and everything added since."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..collection.living import KeptProfile, Standing
from ..collection.runs import Run
from ..collection.store import Store
from ..describe._grouping import check_grouping
from ..describe.likeness import closeness_to_clusters
from ..types import Ids
from .run_views import by_number, describe_run, item_words, run_views

__all__ = [
    "LiveCluster",
    "closeness_of_items",
    "clusters_of",
    "current_clusters",
    "labels_of_all",
    "refresh_profiles",
    "settle",
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
    labels: tuple[int, ...]
    """The labels of the run that its items have."""
    profile: dict[str, Any] = field(repr=False)
    """What it is about; other clusters and items in it go by their numbers."""


def current_clusters(collection: Store, run_id: int | None = None) -> list[LiveCluster]:
    """The clusters of a run, the newest when none is named, as they are now; largest first.

    Profiles that were kept are shown only for the very members they were made of; others are made anew.
    """
    run = collection.runs.get(run_id)
    return clusters_of(collection, run, collection.living.standing(run.id))


def clusters_of(collection: Store, run: Run, standing: Standing) -> list[LiveCluster]:
    """``current_clusters`` of a run whose items' places are known already."""
    return _live(collection, standing, _profiles(collection, run, standing)[0])


def refresh_profiles(collection: Store, run_id: int | None = None) -> None:
    """Keep the names and profiles that ``current_clusters`` would have to make anew."""
    run = collection.runs.get(run_id)
    found, fresh = _profiles(collection, run, collection.living.standing(run.id))
    if fresh:
        collection.living.keep_profiles(run.id, {cluster: found[cluster] for cluster in fresh})


def labels_of_all(collection: Store, standing: Standing) -> Ids:
    """The cluster of every item of the collection, in its order; -1 for items in none and for those not yet placed."""
    here = collection.items.ids
    labels = np.full(here.size, -1, dtype=np.int64)
    labels[np.searchsorted(here, standing.ids)] = standing.clusters
    return labels


def _live(collection: Store, standing: Standing, profiles: Mapping[int, KeptProfile]) -> list[LiveCluster]:
    said, merged = collection.living.said(), collection.living.merged()
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
                labels=tuple(labels[labels >= 0].tolist()),
                profile=_up_to_date(kept.profile, cluster, members, merged),
            )
        )
    return sorted(found, key=lambda one: (-one.size, one.id))


def _profiles(collection: Store, run: Run, standing: Standing) -> tuple[dict[int, KeptProfile], list[int]]:
    """What is said of each cluster, and of which it had to be found anew."""
    members = standing.members()
    digests = {cluster: _digest(items) for cluster, items in members.items()}
    kept = collection.living.profiles(run.id)
    found = {c: kept[c] for c, digest in digests.items() if c in kept and kept[c].members == digest}
    if len(found) < len(members):
        found |= {c: p for c, p in _as_the_run_says(collection, run, standing, digests).items() if c not in found}
    given = {c: name for c, (name, _) in collection.living.said().items() if name is not None and c in members}
    taken = {name.casefold(): cluster for cluster, name in given.items()}
    # A cluster that was given a person's word by chance gets another name.
    found = {c: p for c, p in found.items() if c in given or taken.get(p.name.casefold(), c) == c}
    stale = sorted(members.keys() - found.keys())
    if stale:
        names = {cluster: one.name for cluster, one in found.items()} | given
        described = describe_run(
            run_views(collection, run),
            labels_of_all(collection, standing),
            collection.tags,
            item_words(collection),
            weights=run.figures.get("view_weights"),
            names=names,
        )
        ids = collection.items.ids
        for cluster in stale:
            one = described[cluster]
            found[cluster] = KeptProfile(digests[cluster], one.name.name, by_number(one.to_dict(), ids))
    return found, stale


def _as_the_run_says(
    collection: Store, run: Run, standing: Standing, digests: Mapping[int, str]
) -> dict[int, KeptProfile]:
    """The profiles of the run itself, for clusters that are just what it found, with clusters by number."""
    rows = collection.runs.clusters(run.id)
    number = {row.label: row.id for row in rows}
    found = {}
    for row in rows:
        same = np.array_equal(standing.labels == row.label, standing.clusters == row.id)
        if same and row.profile.get("size") == row.size and row.id in digests:
            profile = dict(row.profile)
            profile["label"] = row.id
            profile["nearest"] = [{**one, "label": number.get(one["label"], -1)} for one in profile["nearest"]]
            profile["borderline"] = [{**one, "other": number.get(one["other"], -1)} for one in profile["borderline"]]
            found[row.id] = KeptProfile(digests[row.id], row.profile["name"]["name"], profile)
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


def closeness_of_items(
    collection: Store, run: Run, standing: Standing, items: Iterable[int]
) -> tuple[NDArray[np.float64], list[int]]:
    """Closeness of items to every cluster as it is now, (n, n_clusters), and the clusters' numbers; NaN: not known."""
    wanted = np.fromiter((int(item) for item in items), dtype=np.int64)
    X, labels = run_views(collection, run), labels_of_all(collection, standing)
    grouping = check_grouping(labels)
    if X is None or not grouping.n_clusters:
        return np.full((wanted.size, grouping.n_clusters), np.nan), list(grouping.labels)
    rows = np.searchsorted(collection.items.ids, wanted)
    values = closeness_to_clusters(X, grouping, rows, _weights(run, X.names))
    return values, list(grouping.labels)


def _weights(run: Run, names: Iterable[str]) -> dict[str, float] | None:
    known = run.figures.get("view_weights")
    return None if not known else {name: known.get(name, 0.0) for name in names}


def settle(collection: Store, run_id: int | None = None) -> list[int]:
    """Find a place for items that have to leave a cluster because of another in it; which items.

    An item (with all it is linked to) that must not be where another is goes to the cluster it is closest to among
    those that are free to it. Where there is none it stays in no cluster.
    """
    run = collection.runs.get(run_id)
    standing = collection.living.standing(run.id)
    links = collection.living.links()
    out = standing.ids[(standing.clusters == -1) & (standing.wanted >= 0)].tolist()
    homeless = sorted({links.leader(item) for item in out if item in links.groups[links.leader(item)]})
    if not homeless:
        return []
    now = dict(zip(standing.ids.tolist(), standing.clusters.tolist(), strict=True))
    groups = {leader: [item for item in links.groups[leader] if item in now] for leader in homeless}
    flat = [item for leader in homeless for item in groups[leader]]
    values, numbers = closeness_of_items(collection, run, standing, flat)
    settled, start = [], 0
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
            collection.living.adjust(run.id, [(item, place, rival) for item in group])
            now.update((item, place) for item in group)
            settled += group
    return settled
