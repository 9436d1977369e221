"""What a person may pass to FusionART, checked and brought to one form."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import holds_sparse
from ...data.checks import per_view_numbers
from ...data.views import Views
from ...errors import ParameterError, ViewError, ViewWarning
from ...types import Floats, Places
from ..base import outside
from ._reader import Channels
from .seen import Seen

__all__ = [
    "check_bounds",
    "check_groups",
    "check_kinds",
    "check_shares",
    "check_tags",
    "check_vigilance",
    "large_enough",
    "warn_one_for_all",
    "warn_silent_views",
]


KINDS = ("content", "tags")
_MANY = 20  # items from which one cluster for nearly all of them is worth a word
_NEARLY_ALL = 0.95


def check_kinds(channels: Any, seen: Seen) -> dict[str, str]:
    """View name -> "content" or "tags". A sparse view that becomes content without being asked for gets a warning."""
    sparse = {name: holds_sparse(matrix) for name, matrix in seen.views.items()}
    kinds = {name: "tags" if sparse[name] and seen.no_tag(name) is None else "content" for name in sparse}
    given = {} if isinstance(channels, str) and channels == "auto" else channels
    for name in sparse:
        if sparse[name] and kinds[name] == "content" and isinstance(given, Mapping) and name not in given:
            warnings.warn(
                f"view {name!r} is sparse but holds more than 0 and 1, so it is taken as content, where items that are "
                "mostly zeros all look alike and few clusters come out. If a number means that an item has something, "
                f"pass the view as tags: {name} > 0 in place of it; channels={{{name!r}: 'content'}} says that it is "
                "meant so.",
                ViewWarning,
                stacklevel=outside(),
            )
    if isinstance(channels, str) and channels == "auto":
        return kinds
    if not isinstance(channels, Mapping):
        raise ParameterError(
            f"channels must be 'auto' or a dict of view name to 'content' or 'tags', got {channels!r}."
        )
    for name, kind in channels.items():
        if name not in kinds:
            raise ParameterError(f"channels names view {name!r}, but the views are {', '.join(map(repr, kinds))}.")
        if kind not in KINDS:
            raise ParameterError(f"channels must say 'content' or 'tags' for view {name!r}, got {kind!r}.")
        kinds[name] = kind
    return kinds


def check_tags(seen: Seen, kinds: Mapping[str, str], instead: str | None = None) -> None:
    """Tag channels hold 0 and 1 and nothing else; an error names the view, the row and the value.

    ``instead`` says how the view is taken as something else; None: by ``channels``.
    """
    for name in seen.views.names:
        wrong = seen.no_tag(name) if kinds[name] == "tags" else None
        if wrong is not None:
            instead = instead or f"make it content with channels={{{name!r}: 'content'}}"
            raise ViewError(
                f"view {name!r} is a tag channel, where 1 means that the item has the tag and 0 that it does not, but "
                f"row {wrong.row} holds {wrong.value:g}. Pass 0 and 1 ({name} > 0 where any count is a yes), or "
                f"{instead}."
            )


def check_vigilance(vigilance: Any, kinds: Mapping[str, str]) -> Floats:
    """One number for each view, in the order of the views."""
    given = vigilance
    if isinstance(given, Mapping):
        by_kind = {name: given.get(kind, 0.1) for name, kind in kinds.items()}
        given = {**by_kind, **{key: value for key, value in given.items() if key in kinds or key not in KINDS}}
    return per_view_numbers("vigilance", given, tuple(kinds), high=1)


def check_shares(contributions: Any, names: tuple[str, ...]) -> Floats | None:
    """Fixed contributions that sum to one, in the order of the views; None where they adapt."""
    if isinstance(contributions, str) and contributions == "adaptive":
        return None
    shares = per_view_numbers("contributions", contributions, names, some_above_zero=True, instead="'adaptive' or ")
    return shares / shares.sum()


def check_bounds(bounds: Any, name: str, width: int) -> tuple[Floats, Floats] | None:
    """Low and high of every feature of one content view, or None where nothing was given for it."""
    if isinstance(bounds, Mapping):
        bounds = bounds.get(name)
    if bounds is None:
        return None
    try:
        low, high = (np.broadcast_to(np.asarray(side, dtype=np.float64), (width,)).copy() for side in bounds)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"bounds must be a pair (low, high) of numbers or of {width} numbers each for view {name!r}, or a dict of "
            f"such pairs; got {bounds!r}."
        ) from error
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise ParameterError(f"bounds for view {name!r} must be finite, low at most high.")
    return low, high


def check_groups(y: Any, views: Views) -> dict[Any, Places]:
    """A person's groups: name of the group -> rows of its members, in the order the groups shall be numbered.

    ``y`` is one integer per item (-1: unknown), or lists of ids (``Views.ids``), or a dict of such lists.
    """
    if y is None:
        return {}
    if isinstance(y, Mapping):
        return _rows_by_id(dict(y), views.ids)
    if isinstance(y, (list, tuple)) and y and all(isinstance(part, (list, tuple, set, np.ndarray)) for part in y):
        return _rows_by_id(dict(enumerate(y)), views.ids)
    numbers = np.asarray(y)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.shape != (views.n_items,):
        raise ParameterError(
            f"y must hold one integer for each of the {views.n_items} items (-1: unknown), or lists of ids; got shape "
            f"{numbers.shape}."
        )
    try:
        with np.errstate(invalid="ignore"):  # NaN is no whole number, which is seen below
            whole = numbers.astype(np.int64)
        good = numbers.dtype.kind in "iub" or bool((numbers.astype(np.float64) == whole).all())
    except (TypeError, ValueError):
        good = False
    if not good or (whole < -1).any():
        raise ParameterError("y must hold integers, the number of each item's group, and -1 where it is unknown.")
    return {int(number): np.flatnonzero(whole == number) for number in np.unique(whole[whole >= 0])}


def _rows_by_id(groups: dict[Any, Any], ids: NDArray[Any]) -> dict[Any, Places]:
    where = {identifier: row for row, identifier in enumerate(ids.tolist())}
    owner: dict[Any, Any] = {}
    found = {}
    for name, members in groups.items():
        listed = np.asarray(members).tolist() if isinstance(members, np.ndarray) else list(members)
        for member in listed:
            if member not in where:
                raise ParameterError(f"y: group {name!r} names item {member!r}, which is not among the ids of X.")
            if owner.setdefault(member, name) != name:
                raise ParameterError(f"y: item {member!r} is in group {owner[member]!r} and in group {name!r}.")
        if not isinstance(name, (str, int)):
            raise ParameterError(f"y: the name of a group must be a word or an integer, got {name!r}.")
        if listed:
            found[name] = np.array(sorted({where[member] for member in listed}), dtype=np.intp)
    return found


def large_enough(state: Mapping[str, NDArray[Any]], min_size: float | None, warn: bool = False) -> NDArray[np.bool_]:
    """Which clusters of a field may win: those of ``min_size`` and a person's groups, or all where none is so large."""
    sizes = state["size"]
    if min_size is None:
        return np.ones(sizes.size, dtype=bool)
    limit = min_size * sizes.sum() if min_size < 1 else min_size
    large = (sizes >= limit) | (state["group"] >= 0)
    if large.any():
        return large
    if warn:
        warnings.warn(
            f"no cluster has min_size={min_size} members (the largest has {sizes.max(initial=0)}), so all take part.",
            ViewWarning,
            stacklevel=outside(),
        )
    return np.ones(sizes.size, dtype=bool)


def warn_one_for_all(labels: Places, kinds: Mapping[str, str], views: Views) -> None:
    """A warning where all views are dense numbers and hardly an item is outside of one cluster."""
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    are_dense = all(kinds[name] == "content" and not holds_sparse(matrix) for name, matrix in views.items())
    if are_dense and sizes.sum() >= _MANY and sizes.max() >= _NEARLY_ALL * sizes.sum():
        warnings.warn(
            f"{sizes.max()} of {sizes.sum()} items are in one cluster: with the usual vigilance nearly everything "
            "matches it. Dense numbers take more, about vigilance={'content': 0.7}, learning_rate=0.1.",
            ViewWarning,
            stacklevel=outside(),
        )


def warn_silent_views(state: Mapping[str, NDArray[Any]], channels: Channels, views: Views) -> None:
    """Name the views that cannot tell items apart, and why."""
    for k, name in enumerate(channels.names):
        if not state["varies"][k]:
            if not views.mask[:, channels.views[k]].any():
                why = "is missing for every item"
            else:
                why = "is the same for every item" if k < channels.n_content else "holds no tag at all"
            warnings.warn(f"view {name!r} {why}; it gets weight 0.", ViewWarning, stacklevel=outside())
