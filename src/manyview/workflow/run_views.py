"""The views and words a run is made of: when it is fitted, and later, when more items are to be placed by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..collection.runs import Run
from ..collection.store import Store
from ..data.hierarchy import TagHierarchy
from ..data.tags import TagTable, match_key
from ..data.views import Views
from ..describe.profiles import ClusterProfiles, cluster_profiles
from ..errors import ParameterError
from ..figures import percent
from ..ingest.capture import FILE_TIME
from .looks import Looks, has_looks
from .methods_table import fewest_tagged, needs_of
from .path_words import words_of_path
from .vocabulary.tree import tag_hierarchy

__all__ = [
    "COUNTS",
    "TAGS",
    "ItemWords",
    "by_number",
    "describe_run",
    "fit_views",
    "item_words",
    "run_views",
    "tags_can_serve",
]

TAGS = "tags"
COUNTS = ("visual_words", "words")
"""Views that aplsa can count in. The first serves no other method unless it is named."""
ONLY_NAMED = (COUNTS[0], "date", "place")
"""Views that serve only where a person names them, or where there is no other."""
MOTIONS = ("motion", "motion_words")
"""Views that photographs cannot have."""
_FEWEST_ITEMS_OF_A_TAG = 2


def sensible_views(collection: Store) -> list[str]:
    """Every view there is, but for those that have to be named, and motion where photographs are among the clips."""
    there = [name for name in collection.view_names if name not in MOTIONS or only_clips_move(collection)]
    return [name for name in there if name not in ONLY_NAMED or len(there) == 1]


def only_clips_move(collection: Store) -> bool:
    """Is every item that can be looked at a clip? A view that photographs lack sets clips of the same apart from them.

    Measured (``benchmarks.quality clips``) on classes of which half are clips: NMI with the classes .43 with motion and
    .71 without it (scene8), .26 and .56 (flickr8k).
    """
    kinds = set(collection.reading.kinds())
    return "video" in kinds and "picture" not in kinds


def fit_views(
    collection: Store,
    named: Sequence[str] | None,
    method: str,
    tags: TagTable,
    tag_names: Sequence[str] | None = None,
) -> tuple[Views, list[str], list[str]]:
    """The views a fit uses, tags among them where they can serve; a sentence about them; the names of the tag columns.

    ``tags`` are those of all items, as the collection has them.
    ``tag_names`` are the columns the tags have to have, for a model that knows them so.
    """
    needs = needs_of(method)
    if named is None:
        chosen = sensible_views(collection)
    else:
        chosen = [name for name in named if name != TAGS]
    parts: dict[str, Any] = {}
    masks: dict[str, NDArray[np.bool_]] = {}
    if chosen:
        held = collection.views(chosen)
        parts |= dict(held.items())
        masks |= {name: held.mask[:, v] for v, name in enumerate(held.names)}
    said = [f"views: {', '.join(chosen)}" if chosen else "no computed views"]
    if named is None and set(MOTIONS) & set(collection.view_names) - set(chosen):
        said.append("motion is left out: photographs have none, and clips of the same would stand apart by that alone")
    if tag_names is None:
        usable, share = _usable_tags(tags)
    else:
        usable, share = _as_columns(tags, tag_names, _called_now(collection, tag_names)), 1.0
    if "tags" in needs:
        if not chosen:
            raise ParameterError(
                f"{method} learns from the tags what to look for in other views, but there is no other view."
            )
        said.append("tags teach the forest")
    elif "counts" in needs:
        pass
    elif TAGS in named if named is not None else _tell_apart(usable.yes) and share >= fewest_tagged(method):
        if usable.n_tags == 0 and tag_names is None:
            raise ParameterError("no tag is on two items, so the tags cannot serve as a view.")
        parts[TAGS] = usable.yes
        masks[TAGS] = np.diff(usable.yes.indptr) > 0  # an item without tags lacks the view: tags say nothing about it
        said.append(f"tags, {percent(share)} of the items have one that another has too")
    elif usable.n_tags and _tell_apart(usable.yes):
        said.append(f"tags are left out: only {percent(share)} of the items have one that another has too")
    elif usable.n_tags:
        said.append("tags are left out: all items that have one have the same")
    if not parts:
        raise ParameterError(
            f"{collection.path} has nothing to cluster by: no pictures, texts or ready features, and "
            f"{_why_not_by_tags(usable, share)}."
        )
    mask = np.column_stack([masks[name] for name in parts])
    X = Views(parts, ids=collection.items.ids, mask=mask)
    return X, ["; ".join(said) + "."], list(usable.names) if TAGS in parts else []


def _usable_tags(tags: TagTable) -> tuple[TagTable, float]:
    """Tags on at least two items, and the share of items that have one of them."""
    counts = np.asarray(tags.yes.sum(axis=0)).ravel()
    kept = np.flatnonzero(counts >= _FEWEST_ITEMS_OF_A_TAG)
    usable = TagTable.from_matrix(tags.yes[:, kept], names=[tags.names[tag] for tag in kept])
    return usable, float((np.diff(usable.yes.indptr) > 0).mean()) if usable.n_items else 0.0


def tags_can_serve(tags: TagTable) -> bool:
    """Whether items can be grouped by their tags alone."""
    return _tell_apart(_usable_tags(tags)[0].yes)


def _why_not_by_tags(usable: TagTable, share: float) -> str:
    if usable.n_tags and not _tell_apart(usable.yes):
        return "all items that have tags have the same"
    return f"tags on {percent(share)} of the items (a tag counts where two items have it)"


def _tell_apart(tags: Any) -> bool:
    """Whether some item has other tags than another that has any."""
    counts = np.diff(tags.indptr)
    held = np.asarray(tags.sum(axis=0)).ravel()
    return bool(((held > 0) & (held < (counts > 0).sum())).any())


def _called_now(collection: Store, names: Sequence[str]) -> list[str]:
    """What tags are called today; one that has gone into another of them keeps its name, which nobody has now."""
    vocabulary, own = collection.tagging.vocabulary(), {match_key(name) for name in names}
    called = []
    for name in names:
        number = collection.tagging.find(name)
        now = name if number is None else vocabulary[number]
        called.append(name if match_key(now) in own else now)
    return called


def _as_columns(tags: TagTable, names: Sequence[str], called: Sequence[str]) -> TagTable:
    """The tags a model knows, in its order; others are left out, one that nobody has any more is an empty column.

    ``called``: what they are called by now.
    """
    from scipy.sparse import csr_matrix

    known = {match_key(name): column for column, name in enumerate(tags.names)}
    places = [(known[match_key(name)], column) for column, name in enumerate(called) if match_key(name) in known]
    ones = np.ones(len(places), dtype=tags.yes.dtype)
    rows, columns = zip(*places, strict=True) if places else ((), ())
    chooser = csr_matrix((ones, (rows, columns)), shape=(tags.n_tags, len(names)))
    return TagTable.from_matrix(csr_matrix(tags.yes @ chooser), names=list(names))


def run_views(collection: Store, run: Run, tags: TagTable) -> Views | None:
    """The views a run used, as they are now; those that were removed since are left out."""
    there = [name for name in run.views if name == TAGS or name in collection.view_names]
    return fit_views(collection, there, run.method, tags, run.figures.get("tag_names"))[0] if there else None


class ItemWords(NamedTuple):
    """What names of clusters can be made of beside tags, one entry per item."""

    keys: list[str]
    """What the items are called."""
    texts: list[str] | None
    folders: list[list[str]]
    dates: list[list[str]]
    looks: Looks | None
    """What the pictures show; None where there are none."""
    hierarchy: TagHierarchy | None = None
    """Which tags stand above which, where any do."""

    def only(self, places: Any) -> ItemWords:
        """The same for some of the items."""

        def some(of: Sequence[Any]) -> list[Any]:
            return [of[place] for place in places]

        texts = None if self.texts is None else some(self.texts)
        looks = None if self.looks is None else self.looks.only(places)
        return ItemWords(some(self.keys), texts, some(self.folders), some(self.dates), looks, self.hierarchy)


def item_words(collection: Store, language: str | None = None) -> ItemWords:
    """The words that names of clusters can be made of; those guessed from pictures in a language, or the machine's."""
    texts = collection.items.texts()
    keys = [item.key for item in collection.items]
    told = zip(collection.reading.field("taken"), collection.reading.field("taken_from"), strict=True)
    taken = [when if isinstance(when, str) and source != FILE_TIME else "" for when, source in told]
    folders, dates = zip(*map(words_of_path, keys, taken), strict=True) if keys else ((), ())
    looks = Looks(collection, language) if has_looks(collection) else None
    said = [text or "" for text in texts] if any(texts) else None
    return ItemWords(keys, said, list(folders), list(dates), looks, tag_hierarchy(collection))


def describe_run(
    X: Views | None,
    labels: Any,
    tags: TagTable,
    words: ItemWords,
    *,
    weights: Mapping[str, float] | None = None,
    names: Mapping[int, str] | None = None,
) -> ClusterProfiles:
    """Names and profiles of clusters; ``weights`` say how much each view counts, ``names`` are given ones by label."""
    known = None if X is None or not weights else {name: weights.get(name, 0.0) for name in X.names}
    unnamed = set(np.unique(labels).tolist()) - {-1} - set(names or ())
    return cluster_profiles(
        X,
        labels,
        tags,
        view_weights=known,
        words=words.texts,
        folders=words.folders,
        dates=words.dates,
        guesses=None if words.looks is None else words.looks.guesses(labels, sorted(unnamed)),
        hierarchy=words.hierarchy,
        item_names=words.keys,
        names=names,
    )


def by_number(profile: dict[str, Any], ids: NDArray[np.int64]) -> dict[str, Any]:
    """A profile that names items by their number in the collection, which outlives the order of rows."""
    exemplars = [int(ids[row]) for row in profile["exemplars"]]
    borderline = [{**one, "item": int(ids[one["item"]])} for one in profile["borderline"]]
    return {**profile, "exemplars": exemplars, "borderline": borderline}
