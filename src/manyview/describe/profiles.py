"""What each cluster is about: tags, typical and borderline items, cohesion and neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.checks import check_number
from ..data.hierarchy import TagHierarchy
from ..data.tags import TagTable, as_tag_table
from ..data.views import Views
from ..errors import ParameterError
from ..meaning.guesses import Guess
from ..types import Places
from ._grouping import Grouping, check_grouping
from .likeness import Likeness, measure_likeness, over_views
from .names import ClusterName, name_clusters
from .tag_shares import TagCounts, TagShare, count_tags
from .text_words import as_words, telling

__all__ = [
    "BorderlineItem",
    "ClusterProfile",
    "ClusterProfiles",
    "NearCluster",
    "ViewProfile",
    "cluster_profiles",
    "confidence_of",
    "known_or_none",
    "tag_figures",
]


N_TAGS = 12
"""As many tags are listed that a cluster has more often than the rest, and as many that it has less often."""
_LEAST_SAY = 0.25
"""Of the say that the views of the best known member have: with less, an item does not stand for its cluster."""


@dataclass(frozen=True)
class ViewProfile:
    """One view in one cluster. Likeness is 0 for two items picked blindly and 1 for equal ones."""

    view: str
    weight: float
    """The view's say in the whole clustering."""
    n_items: int
    """Members of which the view says something."""
    within: float | None
    """Mean likeness of two members; None where fewer than two speak."""
    between: float | None
    """Mean likeness of a member and an outsider; None where there is no outsider."""
    cohesion: float | None
    """``(within - between) / (1 - between)``, cut to [0, 1]: 0 no more alike than with outsiders, 1 all equal."""
    contribution: float
    """The view's part in setting this cluster apart, summing to 1 over the views: ``weight`` times the share of members
    that have the view times ``within - between``, where that is positive."""


@dataclass(frozen=True)
class BorderlineItem:
    """A member that lies close to another cluster."""

    item: int
    other: int
    """Label of the cluster that is next."""
    margin: float
    """How much closer it is to its own cluster than to that one, over all views; negative where it is less."""


@dataclass(frozen=True)
class NearCluster:
    """A cluster that resembles another, by the mean likeness of their members."""

    label: int
    likeness: float


@dataclass(frozen=True)
class ClusterProfile:
    """What one cluster is about. Items are row numbers."""

    label: int
    name: ClusterName
    size: int
    n_tagged: int
    """Members that carry any tag."""
    over: tuple[TagShare, ...]
    """Tags it has noticeably more often than the rest, the most surprising first."""
    under: tuple[TagShare, ...]
    """Tags it has noticeably less often than the rest."""
    words: tuple[TagShare, ...]
    """Words of its texts, the most telling first; no stop words."""
    exemplars: tuple[int, ...]
    """Members that are the most like the others and the least like outsiders, over all views, best first; at most half
    of them, so that a small cluster has borderline items too, and none that is nearer to another cluster than most."""
    borderline: tuple[BorderlineItem, ...]
    """Members with the smallest margin to another cluster, smallest first; none of them is an exemplar."""
    views: tuple[ViewProfile, ...]
    nearest: tuple[NearCluster, ...]

    @property
    def cohesion(self) -> float | None:
        """The views' cohesions, averaged by their say; None where no view has one."""
        values = np.array([[np.nan if view.cohesion is None else view.cohesion for view in self.views]])
        return known_or_none(over_views(values, np.array([view.weight for view in self.views]))[0])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = asdict(self)
        for key in ("over", "under", "words", "exemplars", "borderline", "views", "nearest"):
            plain[key] = list(plain[key])
        return {**plain, "name": self.name.to_dict(), "cohesion": self.cohesion}


@dataclass(frozen=True, repr=False)
class ClusterProfiles:
    """The profiles of all clusters, and what they were made from. Iterates over the profiles, largest cluster first.

    ``profiles[label]`` is one profile. Items with label -1 are in none; ``outside`` lists them.
    """

    clusters: Mapping[int, ClusterProfile]
    n_items: int
    outside: tuple[int, ...]
    view_weights: Mapping[str, float]
    item_names: tuple[str, ...] | None
    grouping: Grouping
    tags: TagCounts | None
    likeness: Likeness | None

    def __repr__(self) -> str:
        return f"ClusterProfiles({len(self)} clusters, {self.n_items} items, {len(self.outside)} in none)"

    def __len__(self) -> int:
        return len(self.clusters)

    def __iter__(self) -> Iterator[ClusterProfile]:
        return iter(sorted(self.clusters.values(), key=lambda one: (-one.size, one.label)))

    def __getitem__(self, label: int) -> ClusterProfile:
        try:
            return self.clusters[label]
        except KeyError:
            raise ParameterError(
                f"there is no cluster {label!r}; the labels are {', '.join(map(str, list(self.clusters)[:20]))}"
                f"{', ...' if len(self.clusters) > 20 else ''}."
            ) from None

    def item_name(self, item: int) -> str:
        """What an item is called; its row number where it has no name."""
        name = self.item_names[item] if self.item_names else ""
        return name or f"item {item}"

    @property
    def confidence(self) -> NDArray[np.float64] | None:
        """How sure each item's place is, see ``confidence_of``; None where there are no views."""
        return None if self.likeness is None else confidence_of(self.likeness.margin)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "n_items": self.n_items,
            "outside": list(self.outside),
            "view_weights": dict(self.view_weights),
            "clusters": [one.to_dict() for one in self],
        }


def cluster_profiles(
    X: Any,
    labels: ArrayLike,
    tags: Any = None,
    *,
    view_weights: Any = None,
    words: Any = None,
    folders: Any = None,
    dates: Any = None,
    guesses: Mapping[int, Guess] | None = None,
    hierarchy: TagHierarchy | None = None,
    item_names: Sequence[str] | None = None,
    names: Mapping[int, str] | None = None,
    n_tags: int = N_TAGS,
    n_items: int = 12,
    n_jobs: int | None = None,
) -> ClusterProfiles:
    """Describe every cluster: name, tags, typical and borderline items, cohesion per view, nearest clusters.

    Parameters
    ----------
    X : Views or anything that becomes one; None takes the tags as the only view
    labels : one integer per item, -1 for items in no cluster
    tags : TagTable, lists of words or 0/1 matrix; unknown is not no: an item without tags does not count
    view_weights : numbers, a dict by view, or a fitted model, whose ``view_weights_`` are taken where it has them.
        Equal by default.
    words, folders, dates, guesses : for names where tags say nothing, see ``name_clusters``
    hierarchy : a tag that stands above several others can name a cluster where it describes it better than they do
    item_names : what the items are called, for reasons and reports
    names : label -> name, for clusters that their owner has named
    n_tags, n_items : how many tags and words, exemplars and borderline items a profile lists at most

    Returns
    -------
    ClusterProfiles

    Notes
    -----
    Three passes over the rows of X, a block at a time; O(n_items n_features n_clusters) time as matrix products, where
    a sparse row costs its entries only. Memory: a row per cluster, a block per thread, a few numbers per item.

    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.2], [2.0]])
    >>> found = cluster_profiles(X, [0, 0, 0, 1, 1, 1], [["dog"], ["dog"], [], ["cat"], ["cat"], ["cat"]])
    >>> found[1].name.name, found[1].size, found[1].borderline[0].item, found[1].borderline[0].other
    ('cat', 3, 5, 0)
    """
    n_tags = int(check_number("n_tags", n_tags, integer=True, low=0))
    n_shown = int(check_number("n_items", n_items, integer=True, low=0))
    table = None if tags is None else as_tag_table(tags)
    views = _as_views(X, table)
    grouping = check_grouping(labels, views.n_items if views is not None else table.n_items if table else None)
    if table is not None:
        as_tag_table(table, grouping.n_items)
    counts = None if table is None else count_tags(table, grouping)
    likeness = None if views is None else measure_likeness(views, grouping, view_weights, n_jobs)
    cohesion = None if likeness is None else likeness.cohesion()
    typical = [_exemplars(members, likeness) for members in grouping.members()]
    texts = None if words is None else as_words(words, grouping.n_items)
    spoken = None if texts is None else _telling_words(texts, grouping)
    told = table if table is None or hierarchy is None else hierarchy.raised(table)
    given = name_clusters(
        np.asarray(labels), told, words=texts, folders=folders, dates=dates, guesses=guesses, names=names
    )
    profiles = {}
    for c, (label, members) in enumerate(zip(grouping.labels, grouping.members(), strict=True)):
        exemplars = typical[c][: min(n_shown, (members.size + 1) // 2)]
        profiles[label] = ClusterProfile(
            label=label,
            name=given[label],
            size=int(grouping.sizes[c]),
            n_tagged=0 if counts is None else int(counts.tagged[c]),
            over=() if counts is None else tuple(counts.over(c, n_tags)),
            under=() if counts is None else tuple(counts.under(c, n_tags)),
            words=() if spoken is None else tuple(spoken.over(c, n_tags)),
            exemplars=tuple(exemplars.tolist()),
            borderline=_borderline(members, exemplars, likeness, grouping, n_shown),
            views=_views(c, likeness, cohesion),
            nearest=_nearest(c, likeness, grouping),
        )
    shares = {} if likeness is None else dict(zip(likeness.names, likeness.weights.tolist(), strict=True))
    return ClusterProfiles(
        clusters=profiles,
        n_items=grouping.n_items,
        outside=tuple(np.flatnonzero(grouping.code < 0).tolist()),
        view_weights=shares,
        item_names=None if item_names is None else tuple(map(str, item_names)),
        grouping=grouping,
        tags=counts,
        likeness=likeness,
    )


def tag_figures(tags: TagTable, labels: ArrayLike) -> dict[int, dict[str, Any]]:
    """The part of each cluster's profile that follows from tags alone, as ``ClusterProfile.to_dict`` has it."""
    grouping = check_grouping(labels, tags.n_items)
    counts = count_tags(tags, grouping)
    return {
        label: {
            "n_tagged": int(counts.tagged[c]),
            "over": [share.to_dict() for share in counts.over(c, N_TAGS)],
            "under": [share.to_dict() for share in counts.under(c, N_TAGS)],
        }
        for c, label in enumerate(grouping.labels)
    }


def confidence_of(margin: NDArray[np.float64]) -> NDArray[np.float64]:
    """How sure a place is: 0.5 where another cluster is as close as its own, more where it is farther.

    ``0.5 + margin``, cut to [0, 1]; NaN where nothing is known.
    """
    return np.clip(0.5 + margin.round(6), 0.0, 1.0)


def known_or_none(value: float) -> float | None:
    """A number, or None for NaN, which JSON does not have."""
    return None if np.isnan(value) else float(value)


def _telling_words(texts: TagTable, grouping: Grouping) -> TagCounts:
    """Counts of the words of texts that can tell something."""
    kept = np.flatnonzero(telling(texts))
    return count_tags(TagTable.from_matrix(texts.yes[:, kept], names=[texts.names[word] for word in kept]), grouping)


def _as_views(X: Any, table: TagTable | None) -> Views | None:
    if X is not None:
        return X if isinstance(X, Views) else Views(X)
    return None if table is None or not table.n_tags else Views({"tags": table.yes})


def _ranked(items: Places, score: NDArray[Any]) -> Places:
    """Items by rising score; rounding hides the last bits, which depend on the order of the sums. NaN comes last."""
    return items[np.lexsort((items, score.round(5)))]


def _exemplars(members: Places, likeness: Likeness | None) -> Places:
    """The members that say what a cluster is, best first: of the half that lies farthest from other clusters, those
    most like the others. What only a view of little say speaks of is none of them, such as a text among pictures.
    """
    if likeness is None:
        return members
    ranked = _ranked(members, -likeness.typical[members])
    margin = likeness.margin[ranked]
    known = np.isfinite(margin)
    is_far = ~known | (margin >= np.median(margin[known])) if known.any() else ~known
    say = np.isfinite(likeness.own[ranked]) @ likeness.weights
    chosen = ranked[is_far & (say >= _LEAST_SAY * say.max(initial=0.0))]
    return chosen if chosen.size else ranked


def _borderline(
    members: Places, exemplars: Places, likeness: Likeness | None, grouping: Grouping, limit: int
) -> tuple[BorderlineItem, ...]:
    if likeness is None:
        return ()
    rest = members[~np.isin(members, exemplars) & np.isfinite(likeness.margin[members])]
    return tuple(
        BorderlineItem(item, grouping.labels[likeness.runner_up[item]], float(likeness.margin[item]))
        for item in _ranked(rest, likeness.margin[rest])[:limit].tolist()
    )


def _views(cluster: int, likeness: Likeness | None, cohesion: NDArray[np.float64] | None) -> tuple[ViewProfile, ...]:
    if likeness is None or cohesion is None:
        return ()
    within, between = likeness.within[cluster], likeness.between[cluster]
    most = max(1, int(likeness.speaking[cluster].max(initial=0)))
    pull = np.nan_to_num(np.maximum(within - between, 0.0)) * likeness.weights * likeness.speaking[cluster] / most
    total = float(pull.sum())
    return tuple(
        ViewProfile(
            view=name,
            weight=float(likeness.weights[v]),
            n_items=int(likeness.speaking[cluster, v]),
            within=known_or_none(within[v]),
            between=known_or_none(between[v]),
            cohesion=known_or_none(cohesion[cluster, v]),
            contribution=float(pull[v] / total) if total > 0 else 0.0,
        )
        for v, name in enumerate(likeness.names)
    )


def _nearest(cluster: int, likeness: Likeness | None, grouping: Grouping) -> tuple[NearCluster, ...]:
    if likeness is None:
        return ()
    pairs = zip(likeness.nearest[cluster].tolist(), likeness.nearness[cluster].tolist(), strict=True)
    return tuple(NearCluster(grouping.labels[other], value) for other, value in pairs if other >= 0)
