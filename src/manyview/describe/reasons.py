"""Why an item is where it is: which views pulled it there, and what it shares with the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..data.checks import check_number
from ..errors import ParameterError
from .likeness import over_views
from .profiles import ClusterProfiles, known_or_none
from .tag_shares import TagShare

__all__ = ["ItemReason", "LikeItem", "RunnerUp", "ViewPull", "explain_item"]

_TOLD = 3  # views and tags that a sentence names


@dataclass(frozen=True)
class ViewPull:
    """What one view says about an item's place.

    Closeness is 1 at the centre of a cluster, and 0 as far from it as items on average are from the middle of the
    collection.
    """

    view: str
    weight: float
    own: float | None
    """Closeness to the other members of its cluster; None where the view says nothing."""
    other: float | None
    """Closeness to the runner-up."""
    margin: float | None
    """own - other: positive where the view speaks for the item's place."""


@dataclass(frozen=True)
class RunnerUp:
    """The other cluster an item is closest to, over all views."""

    label: int
    name: str
    closeness: float


@dataclass(frozen=True)
class LikeItem:
    """A typical member, and how much the item is like it: 0 for two items picked blindly, 1 for equal ones."""

    item: int
    likeness: float


@dataclass(frozen=True)
class ItemReason:
    """Why an item is where it is."""

    item: int
    label: int
    """Its cluster; -1 for none."""
    cluster: str | None
    """The cluster's name."""
    size: int
    runner_up: RunnerUp | None
    margin: float | None
    """How much closer it is to its own cluster than to the runner-up, over all views; negative where it is less."""
    views: tuple[ViewPull, ...]
    """What each view says, in the views' order."""
    shared_tags: tuple[TagShare, ...]
    """Its tags that other members carry too, with the cluster's figures, the most telling first."""
    own_tags: tuple[str, ...]
    """Its tags that no other member carries."""
    exemplars: tuple[LikeItem, ...]
    """The typical members it is most like."""
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = asdict(self)
        for key in ("views", "shared_tags", "own_tags", "exemplars"):
            plain[key] = list(plain[key])
        return plain


def explain_item(
    profiles: ClusterProfiles, item: int, *, n_exemplars: int = 3, view_words: Mapping[str, str] | None = None
) -> ItemReason:
    """Say why an item is where it is: as data, and as one plain sentence (``str(reason)``).

    ``profiles`` come from ``cluster_profiles``; ``item`` is a row number. O(n_features) time for each exemplar of the
    cluster. What counts is closeness, view by view, whatever method made the clusters; where closeness alone would
    have put the item elsewhere, the sentence says so. ``view_words`` are what it calls views, where that is not their
    name.

    >>> import numpy as np
    >>> from manyview.describe.profiles import cluster_profiles
    >>> X = {"looks": np.array([[0.0], [0.1], [0.2], [5.0], [5.2], [2.0]])}
    >>> tags = [["dog"], ["dog"], [], ["cat"], ["cat"], ["cat"]]
    >>> print(explain_item(cluster_profiles(X, [0, 0, 0, 1, 1, 1], tags), 0))
    item 0 is in "dog" rather than in "cat" by looks (1.00 against -2.23). It shares the tag "dog", as do 2 of 2 tagged
    members. It is most like item 1.
    """
    n_items = profiles.n_items
    item = int(check_number("item", item, integer=True))
    if not -n_items <= item < n_items:
        raise ParameterError(f"there is no item {item}; items go from 0 to {n_items - 1}.")
    item %= n_items
    code = int(profiles.grouping.code[item])
    label = -1 if code < 0 else profiles.grouping.labels[code]
    shared, alone = _tags_of(profiles, item, code)
    views, runner_up, margin = _pulls(profiles, item)
    found: dict[str, Any] = {
        "item": item,
        "label": label,
        "cluster": None if code < 0 else profiles[label].name.name,
        "size": 0 if code < 0 else profiles[label].size,
        "runner_up": runner_up,
        "margin": margin,
        "views": views,
        "shared_tags": shared,
        "own_tags": alone,
        "exemplars": () if code < 0 else _exemplars(profiles, item, label, n_exemplars),
    }
    return ItemReason(**found, sentence=_sentence(profiles, view_words or {}, **found))


def _tags_of(profiles: ClusterProfiles, item: int, code: int) -> tuple[tuple[TagShare, ...], tuple[str, ...]]:
    if profiles.tags is None:
        return (), ()
    table = profiles.tags.table
    if code < 0:
        return (), tuple(table.words_of(item))
    start, stop = table.yes.indptr[item : item + 2]
    shares = profiles.tags.shares(code, table.yes.indices[start:stop].astype(np.intp))
    shares.sort(key=lambda share: (-round(share.score, 9), share.tag))
    return tuple(s for s in shares if s.count > 1), tuple(s.tag for s in shares if s.count == 1)


def _pulls(profiles: ClusterProfiles, item: int) -> tuple[tuple[ViewPull, ...], RunnerUp | None, float | None]:
    likeness = profiles.likeness
    if likeness is None:
        return (), None, None
    own, other = likeness.own[item].astype(np.float64), likeness.rival[item].astype(np.float64)
    views = tuple(
        ViewPull(
            view=name,
            weight=float(likeness.weights[v]),
            own=known_or_none(own[v]),
            other=known_or_none(other[v]),
            margin=known_or_none(own[v] - other[v]),
        )
        for v, name in enumerate(likeness.names)
    )
    position = int(likeness.runner_up[item])
    if position < 0:
        return views, None, None
    label = profiles.grouping.labels[position]
    value = float(over_views(other[None, :], likeness.weights)[0])
    return views, RunnerUp(label, profiles[label].name.name, value), known_or_none(likeness.margin[item])


def _exemplars(profiles: ClusterProfiles, item: int, label: int, limit: int) -> tuple[LikeItem, ...]:
    if profiles.likeness is None:
        return ()
    others = np.array([one for one in profiles[label].exemplars if one != item], dtype=np.intp)
    values = profiles.likeness.of_items([item], others)[0]
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.lexsort((others[known], -values[known].round(5)))][:limit]
    return tuple(LikeItem(int(others[i]), float(values[i])) for i in order)


def _sentence(profiles: ClusterProfiles, words: Mapping[str, str], **found: Any) -> str:
    parts = [_place(profiles, words, found), _tags(found), _like(profiles, found["exemplars"])]
    return " ".join(part for part in parts if part)


def _place(profiles: ClusterProfiles, words: Mapping[str, str], found: dict[str, Any]) -> str:
    name, runner_up, margin = profiles.item_name(found["item"]), found["runner_up"], found["margin"]
    if found["label"] < 0:
        nearest = "" if runner_up is None else f'; the closest is "{runner_up.name}" ({runner_up.closeness:.2f})'
        return f"{name} is in no cluster{nearest}."
    place = f'{name} is in "{found["cluster"]}"'
    if found["size"] == 1:
        nearest = "" if runner_up is None else f'; the next is "{runner_up.name}"'
        return f"{place} alone{nearest}."
    if margin is None:
        return f"{place}, the only cluster." if len(profiles) == 1 else f"{place}; no view says anything about it."
    told = sorted(
        (view for view in found["views"] if view.margin is not None and view.weight > 0),
        key=lambda view: -view.weight * view.margin,
    )
    for_it = [_figures(view, words) for view in told if view.margin > 0][:_TOLD]
    against_it = [_figures(view, words) for view in reversed(told) if view.margin <= 0][:_TOLD]
    if margin > 0 and for_it:
        doubt = f", although {_listed(against_it)} would rather put it there" if against_it else ""
        return f'{place} rather than in "{runner_up.name}" by {_listed(for_it)}{doubt}.'
    return f'{place}, although it is closer to "{runner_up.name}" by {_listed(against_it or for_it)}.'


def _figures(view: ViewPull, words: Mapping[str, str]) -> str:
    return f"{words.get(view.view, view.view)} ({view.own:.2f} against {view.other:.2f})"


def _tags(found: dict[str, Any]) -> str:
    shared = found["shared_tags"][:_TOLD]
    if not shared:
        return ""
    first = shared[0]
    words = _listed([f'"{share.tag}"' for share in shared])
    first_is = "as do" if len(shared) == 1 else "the first with"
    plural = "s" if len(shared) > 1 else ""
    return f"It shares the tag{plural} {words}, {first_is} {first.count} of {first.looked_at} tagged members."


def _like(profiles: ClusterProfiles, exemplars: tuple[LikeItem, ...]) -> str:
    if not exemplars:
        return ""
    return f"It is most like {_listed([profiles.item_name(one.item) for one in exemplars[:2]])}."


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
