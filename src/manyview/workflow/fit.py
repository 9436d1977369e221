"""Fit a method to a collection: which views, which method, how many clusters, and why."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..collection.collection import Collection
from ..collection.runs import Run
from ..data.tags import TagTable
from ..data.views import Views
from ..errors import ParameterError
from ..features.base import extractor_names
from .compute import Computed, Progress, came_with_source, compute_views, default_views
from .profiles import ClusterProfiles, cluster_profiles
from .transfer import Annotations, annotations_of, common_view

__all__ = ["METHODS", "Fitted", "ItemWords", "describe_run", "fit_collection", "fit_views", "item_words"]

METHODS = {
    "consensus": "many clusterings of every view, and what they agree on",
    "rmkmc": "robust k-means that weighs the views",
    "ghf-art": "one pass, finds the number of clusters itself",
    "aplsa": "topics of words, learned with the help of another collection's tags",
    "hml-rf": "a forest that learns from the tags",
    "cca": "looks and tags in one space, then k-means",
}
"""What ``fit`` can use, by the name the command line knows it by."""

TAGS = "tags"
_COUNTS = ("visual_words", "words")
"""Views that aplsa can count in. The first serves no other method unless it is named."""
_FEWEST_ITEMS_OF_A_TAG = 2
_FEWEST_TO_CHOOSE = 4
"""Items it takes to compare two halves of them."""
_MOST_TO_CHOOSE = 4000
"""Items that stand for all when the number of clusters is found: about a minute of one core."""
_FEWEST_TAGGED = 0.2
"""Tags serve as a view when so large a share of the items has one that another item has too."""


@dataclass
class Fitted:
    """A run that was kept, and what there is to say about it."""

    run: Run
    said: list[str]
    computed: Computed
    profiles: ClusterProfiles = field(repr=False)


def fit_collection(
    collection: Collection,
    method: str | None = None,
    n_clusters: int | None = None,
    *,
    views: Iterable[str] | None = None,
    annotations: str | os.PathLike[str] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Fitted:
    """Cluster a collection that is open for writing, and keep the run.

    method : one of ``METHODS``; None takes "consensus"
    n_clusters : None finds a number by the held-out objective
    views : names of views, "tags" among them if the tags are to count; None takes all there are, after computing
        those that are there by default, and the tags where enough items have some
    annotations : another collection with tags, for "aplsa", which counts words of pictures (the view "visual_words",
        learned here) or of texts ("words"); it is only read

    Pictures that repeat another are left out of the fit and get the label of the one they repeat.
    """
    method = method or "consensus"
    if method not in METHODS:
        raise ParameterError(f"there is no method {method!r}; there are {', '.join(METHODS)}.")
    if len(collection.items) < 2:
        raise ParameterError(f"{collection.path} has {len(collection.items)} items; clusters need at least two.")
    named = _named_views(collection, method, views, annotations)
    wanted = default_views(collection) if named is None else [name for name in named if name in _to_compute(collection)]
    computed = compute_views(collection, wanted, n_jobs=n_jobs, progress=progress) if wanted else Computed()
    if absent := [name for name in named or () if name != TAGS and name not in collection.view_names]:
        raise ParameterError(" ".join(computed.notes) or f"{collection.path} has no view {absent[0]!r}.")
    try:
        X, said = fit_views(collection, named, method)
    except ParameterError as error:
        raise ParameterError(" ".join([str(error), *computed.notes])) from None
    said += [note for note in computed.notes if "came with" not in note]
    theirs = None
    if annotations is not None:
        theirs = annotations_of(collection, X.names[0], annotations, n_jobs=n_jobs, progress=progress)
        said.append(
            f"help comes from {os.fspath(annotations)}: {theirs.n_items} items with {len(theirs.names)} tags"
            + (f"; {theirs.n_bad} of its files could not be opened." if theirs.n_bad else ".")
        )
    started = time.perf_counter()
    rows, places = collection.items.fold()
    if rows.size < places.size:
        said.append(f"{places.size - rows.size} pictures repeat others and go where those go.")
    if progress is not None:
        progress(f"fitting {method}", 0, 1)
    tags, words = collection.tags, item_words(collection)
    with collection.unlocked(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model, labels, why = _fit(X[rows], tags[rows], theirs, method, n_clusters, seed, n_jobs)
        labels = np.asarray(labels)[places]
        profiles = describe_run(X, labels, tags, words, model)
    said += why + list(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning)))
    settings: dict[str, Any] = {"n_clusters": n_clusters, "seed": seed, "views": list(X.names)}
    if annotations is not None:
        settings["annotations"] = os.path.abspath(annotations)
    run = collection.save_run(
        method,
        labels,
        X.ids,
        settings=settings,
        views=_versions(collection, X.names),
        figures={"n_clusters": len(profiles), "said": said},
        seconds=time.perf_counter() - started,
        model=model,
        names={one.label: one.name.name for one in profiles},
        profiles={one.label: _by_number(one.to_dict(), X.ids) for one in profiles},
    )
    if progress is not None:
        progress(f"fitting {method}", 1, 1)
    return Fitted(run, said, computed, profiles)


def _named_views(
    collection: Collection,
    method: str,
    views: Iterable[str] | None,
    annotations: str | os.PathLike[str] | None,
) -> tuple[str, ...] | None:
    """The views a person asked for, all of which there are or could be; None: whatever is sensible."""
    named = None if views is None else tuple(dict.fromkeys(views))
    if method != "aplsa" and annotations is not None:
        raise ParameterError("annotations help the method aplsa only; leave them out, or choose it.")
    if method == "aplsa":
        if annotations is None:
            raise ParameterError("aplsa learns from the tags of a second collection: --annotations OTHER.manyview.")
        named = (common_view(collection, annotations),) if named is None else named
        if len(named) != 1 or named[0] not in _COUNTS:
            raise ParameterError(f"aplsa counts in one view, {_COUNTS[0]!r} or {_COUNTS[1]!r}; got {', '.join(named)}.")
    there = {*collection.view_names, TAGS}
    for name in named or ():
        if name not in there and name not in extractor_names():
            could = [one for one in extractor_names() if one not in there]
            raise ParameterError(
                f"there is no view {name!r}; there are {', '.join(sorted(there))}, and could be {', '.join(could)}."
            )
    return named


def _to_compute(collection: Collection) -> set[str]:
    """Views that are computed, or brought up to date, when a person names them."""
    return {name for name in extractor_names() if name != TAGS and not came_with_source(collection, name)}


def fit_views(collection: Collection, named: Sequence[str] | None, method: str) -> tuple[Views, list[str]]:
    """The views a fit uses, tags among them where they can serve, and a sentence about them."""
    if named is None:
        there = collection.view_names
        chosen = [name for name in there if name != _COUNTS[0] or len(there) == 1]
    else:
        chosen = [name for name in named if name != TAGS]
    parts: dict[str, Any] = {}
    masks: dict[str, NDArray[np.bool_]] = {}
    if chosen:
        held = collection.views(chosen)
        parts |= dict(held.items())
        masks |= {name: held.mask[:, v] for v, name in enumerate(held.names)}
    said = [f"views: {', '.join(chosen)}" if chosen else "no computed views"]
    usable, share = _usable_tags(collection.tags)
    if method == "hml-rf":
        if not chosen:
            raise ParameterError("hml-rf learns from the tags what to look for in other views, and there is none.")
        said.append("tags teach the forest")
    elif method == "aplsa":
        pass
    elif TAGS in named if named is not None else share >= _FEWEST_TAGGED:
        if usable.n_tags == 0:
            raise ParameterError("no tag is on two items, so the tags cannot serve as a view.")
        parts[TAGS] = usable.yes
        masks[TAGS] = np.ones(usable.n_items, dtype=bool)
        if masks.keys() > {TAGS}:  # nothing is known of an item that has neither tags nor another view
            masks[TAGS] = (np.diff(usable.yes.indptr) > 0) | np.any([masks[name] for name in chosen], axis=0)
        else:
            masks[TAGS] = np.diff(usable.yes.indptr) > 0
        said.append(f"tags, {share:.0%} of the items have some")
    elif usable.n_tags:
        said.append(f"tags are left out: only {share:.0%} of the items have some")
    if not parts:
        raise ParameterError(
            f"{collection.path} has nothing to cluster by: no pictures, texts or ready features, and tags on "
            f"{share:.0%} of the items (a tag counts where two items have it)."
        )
    mask = np.column_stack([masks[name] for name in parts])
    return Views(parts, ids=collection.items.ids, mask=mask), ["; ".join(said) + "."]


def _usable_tags(tags: TagTable) -> tuple[TagTable, float]:
    """Tags on at least two items, and the share of items that have one of them."""
    counts = np.asarray(tags.yes.sum(axis=0)).ravel()
    kept = np.flatnonzero(counts >= _FEWEST_ITEMS_OF_A_TAG)
    usable = TagTable.from_matrix(tags.yes[:, kept], names=[tags.names[tag] for tag in kept])
    return usable, float((np.diff(usable.yes.indptr) > 0).mean()) if usable.n_items else 0.0


def _fit(
    X: Views,
    tags: TagTable,
    theirs: Annotations | None,
    method: str,
    n_clusters: int | None,
    seed: int,
    n_jobs: int | None,
) -> tuple[Any, NDArray[Any], list[str]]:
    """A fitted model, its labels, and how the number of clusters came about."""
    from ..methods.consensus import ConsensusClustering
    from ..methods.cross_modal import CrossModalClustering
    from ..methods.fusion_art import FusionART
    from ..methods.plsa import AnnotatedPLSA
    from ..methods.robust_kmeans import RobustMultiviewKMeans
    from ..methods.tag_forest import TagForest

    if method == "ghf-art":
        if n_clusters is not None:
            raise ParameterError("ghf-art finds the number of clusters itself; leave -k out, or choose another method.")
        model = FusionART(random_state=seed).fit(X)
        return model, model.labels_, [f"{model.n_clusters_} clusters, found by ghf-art."]
    why = []
    if n_clusters is None:
        n_clusters, sentence = _choose_number(X, seed, n_jobs)
        why.append(sentence)
    n_here = int(X.mask.any(axis=1).sum())
    if n_clusters > n_here:
        raise ParameterError(
            f"{n_clusters} clusters were asked for, but there {'is' if n_here == 1 else 'are'} only {n_here} different "
            f"{'item' if n_here == 1 else 'items'} with views. Ask for fewer."
        )
    common: dict[str, Any] = {"n_clusters": n_clusters, "random_state": seed, "n_jobs": n_jobs}
    if method == "hml-rf":
        model = TagForest(**common).fit(X, tags)
    elif method == "cca":
        model = CrossModalClustering(**common).fit(X)
    elif theirs is not None:
        model = AnnotatedPLSA(**common).fit(X, annotations=theirs.counts)
        usual = 1 / len(theirs.names)
        top = [", ".join(name for name, p in best if p >= usual) for best in model.top_tags(theirs.names, n=3)]
        why.append("their tags by label: " + "; ".join(f"{label}: {names}" for label, names in enumerate(top)) + ".")
    else:
        kind = ConsensusClustering if method == "consensus" else RobustMultiviewKMeans
        model = kind(**common).fit(X)
    n_found = np.unique(model.labels_[model.labels_ >= 0]).size
    if n_found < n_clusters:
        why.append(f"{n_found} of these {n_clusters} clusters {'has' if n_found == 1 else 'have'} items in them.")
    return model, model.labels_, why


def _choose_number(X: Views, seed: int, n_jobs: int | None) -> tuple[int, str]:
    from threadpoolctl import threadpool_limits

    from ..methods.n_clusters import suggest_n_clusters

    n_here = int(X.mask.any(axis=1).sum())
    if n_here < _FEWEST_TO_CHOOSE:
        what = "one different item is" if n_here == 1 else f"{n_here} different items are"
        return 1, f"one cluster: {what} too few to find a number by. Ask for more with -k."
    # Hundreds of small k-means: OpenMP threads that wait for each other on a busy machine cost ten times the work.
    with threadpool_limits(limits=1, user_api="openmp"):
        # Two large groups are often the most stable answer and seldom the wanted one; the knee is.
        found = suggest_n_clusters(
            X, by="held_out", max_items=_MOST_TO_CHOOSE, random_state=seed, n_jobs=n_jobs, n_repeats=3
        )
    return int(found.n_clusters), f"{found.n_clusters} clusters: {found.reason}"


class ItemWords(NamedTuple):
    """What the items are called, and their texts where any has one."""

    keys: list[str]
    texts: list[str] | None


def item_words(collection: Collection) -> ItemWords:
    """The words that names of clusters can be made of, one entry per item."""
    texts = collection.items.texts()
    return ItemWords([item.key for item in collection.items], [text or "" for text in texts] if any(texts) else None)


def describe_run(X: Views | None, labels: Any, tags: TagTable, words: ItemWords, model: Any = None) -> ClusterProfiles:
    """Names and profiles of the clusters of a run."""
    weights = getattr(model, "view_weights_", None)
    known = X is not None and weights is not None and len(weights) == len(X.names)
    return cluster_profiles(
        X,
        labels,
        tags,
        view_weights=weights if known else None,
        words=words.texts,
        item_names=words.keys,
    )


def _versions(collection: Collection, names: Iterable[str]) -> dict[str, str]:
    return {
        name: collection.segments.info(name).version if name in collection.view_names else "at the time"
        for name in names
    }


def _by_number(profile: dict[str, Any], ids: NDArray[np.int64]) -> dict[str, Any]:
    """A profile that names items by their number in the collection, which outlives the order of rows."""
    exemplars = [int(ids[row]) for row in profile["exemplars"]]
    borderline = [{**one, "item": int(ids[one["item"]])} for one in profile["borderline"]]
    return {**profile, "exemplars": exemplars, "borderline": borderline}
