"""Two fields become one: fields grown on shards of a collection are absorbed cluster by cluster."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ParameterError
from ...types import Floats, Places
from ._field import field_of, grown, reweigh, set_reach
from ._reader import Channels
from ._state import GRID, MEMBERS, NORM, SLACK, SMALL_NORM, SPILL, TAG_SQUARE, TAG_SUM, Field, Rules

__all__ = ["absorb", "check_alike"]


def check_alike(mine: Any, other: Any) -> None:
    """Do two models speak of the same views in the same way?"""
    facts = ("view_names_", "n_features_per_view_", "channels_")
    if any(getattr(mine, fact) != getattr(other, fact, None) for fact in facts):
        raise ParameterError("merge needs a FusionART fitted on the same views, widths and kinds of channels.")
    if mine.tag_learning_ != other.tag_learning_:
        raise ParameterError(
            f"merge needs the same tag_learning, got {mine.tag_learning_!r} and {other.tag_learning_!r}."
        )


def absorb(
    field: Field,
    rules: Rules,
    channels: Channels,
    groups: list[Any],
    other_state: dict[str, NDArray[Any]],
    other_groups: list[Any],
    tag_vigilance: float | None,
) -> tuple[Field, Places]:
    """Take the clusters of another field into this one, largest first; its state is not changed.

    ``groups`` gets the names of groups that are new. Returns the field and the number of each absorbed cluster.
    """
    other = field_of(deepcopy(other_state))
    _share_bounds(field, other, rules, channels)
    field.varies[:] |= other.varies
    n_other = int(other.tally[0])
    numbers = np.full(n_other, -1, dtype=np.intp)
    renamed = []
    for name in other_groups:
        if name not in groups:
            groups.append(name)
        renamed.append(groups.index(name))
    for b in np.argsort(-other.size[:n_other], kind="stable").tolist():
        group = renamed[int(other.group[b])] if other.group[b] >= 0 else -1
        a = _partner(field, rules, channels, other, b, group, tag_vigilance)
        if a < 0:
            if int(field.tally[0]) + 1 >= field.size.size:
                field = grown(field)
            a = int(field.tally[0])
            field.tally[0] += 1
        if group >= 0:
            field.group[a] = group
        _join(field, rules, channels, a, other, b)
        numbers[b] = a
    set_reach(field, rules)
    reweigh(field, rules)
    field.tally[1] += other.tally[1]
    return field, numbers


def _share_bounds(field: Field, other: Field, rules: Rules, channels: Channels) -> None:
    """Widen both fields to the bounds that hold both."""
    from ._learning_kernels import widen

    low, high = np.minimum(field.low, other.low), np.maximum(field.high, other.high)
    everywhere = np.ones(channels.n_channels, dtype=bool)
    for side in (field, other):
        for row in (low, high):
            widen(side, rules, row, everywhere)


def _partner(
    field: Field,
    rules: Rules,
    channels: Channels,
    other: Field,
    b: int,
    group: int,
    tag_vigilance: float | None,
) -> int:
    """The cluster of the largest choice value among those that cluster b may join; -1 if there is none."""
    n_clusters, n_content = int(field.tally[0]), channels.n_content
    if group >= 0 and (own := np.flatnonzero(field.group[:n_clusters] == group)).size:
        return int(own[0])
    # A cluster of another group of the person's is never joined.
    fits = np.ones(n_clusters, dtype=bool) if group < 0 else field.group[:n_clusters] < 0
    value = np.zeros(n_clusters)
    for k in range(channels.n_channels):
        norm = field.figures[NORM, k, :n_clusters]
        both = (field.numbers[MEMBERS, k, :n_clusters] > 0) & (other.numbers[MEMBERS, k, b] > 0)
        if k < n_content:
            cut = slice(int(rules.content_at[k]), int(rules.content_at[k + 1]))
            common = np.minimum(field.corner[:n_clusters, cut], other.corner[b, cut]).sum(axis=1, dtype=np.float64)
            common += np.minimum(field.ceiling[:n_clusters, cut], other.ceiling[b, cut]).sum(axis=1, dtype=np.float64)
            fits &= ~both | (common >= rules.content_need[k])
        else:
            t = k - n_content
            both &= (field.numbers[TAG_SUM, k, :n_clusters] > 0) & (other.numbers[TAG_SUM, k, b] > 0)
            common, least = _tag_overlap(field, rules, t, k, n_clusters, other, b)
            wanted = rules.vigilance[k] if tag_vigilance is None else tag_vigilance
            fits &= ~both | (least >= wanted * SLACK)
        value += np.where(both, field.shares[k] * common / (rules.choice + norm), 0.0)
    if not fits.any():
        return -1
    return int(np.argmax(np.where(fits, value, -1.0)))


def _tag_overlap(
    field: Field, rules: Rules, t: int, k: int, n_clusters: int, other: Field, b: int
) -> tuple[Floats, Floats]:
    """How much the members of b have in common with each prototype, and the lower of the two mean matches."""
    first, stop = int(rules.tags_at[t]), int(rules.tags_at[t + 1])
    known = first + np.flatnonzero(other.counts[first:stop, b])  # the others add nothing
    mine = field.counts[known, :n_clusters].astype(np.float64)
    theirs = other.counts[known, b].astype(np.float64)
    if rules.fuzzy:
        common = np.minimum(mine, theirs[:, None]).sum(axis=0) / GRID
        larger = np.maximum(field.figures[NORM, k, :n_clusters], other.figures[NORM, k, b])
        return common, common / np.maximum(larger, SMALL_NORM)
    product = theirs @ mine
    members = np.maximum(field.numbers[MEMBERS, k, :n_clusters], 1).astype(np.float64)
    sums = np.maximum(field.numbers[TAG_SUM, k, :n_clusters], 1).astype(np.float64)
    n_b, sum_b = (float(max(other.numbers[what, k, b], 1)) for what in (MEMBERS, TAG_SUM))
    least = np.minimum(product / (members * sum_b), product / (n_b * sums))
    return product / (members * n_b), least


def _join(field: Field, rules: Rules, channels: Channels, a: int, other: Field, b: int) -> None:
    """Add cluster b of the other field to cluster a, which may be empty still."""
    from ._learning_kernels import set_content_scatter

    n_content = channels.n_content
    field.size[a] += other.size[b]
    for k in range(channels.n_channels):
        if other.numbers[MEMBERS, k, b] == 0:
            continue
        fresh = field.numbers[MEMBERS, k, a] == 0
        field.numbers[MEMBERS, k, a] += other.numbers[MEMBERS, k, b]
        field.figures[SPILL, k, a] += other.figures[SPILL, k, b]
        if k < n_content:
            cut = slice(int(rules.content_at[k]), int(rules.content_at[k + 1]))
            for mine, theirs in ((field.corner, other.corner), (field.ceiling, other.ceiling)):
                mine[a, cut] = theirs[b, cut] if fresh else np.minimum(mine[a, cut], theirs[b, cut])
            norm = float(field.corner[a, cut].sum(dtype=np.float64) + field.ceiling[a, cut].sum(dtype=np.float64))
            width = float(cut.stop - cut.start)
            field.figures[NORM, k, a] = norm
            set_content_scatter(
                field.figures, field.total_scatter, field.numbers[MEMBERS, k, a], rules.choice, width, k, a
            )
        else:
            _join_tags(field, rules, k - n_content, k, a, other, b)


def _join_tags(field: Field, rules: Rules, t: int, k: int, a: int, other: Field, b: int) -> None:
    from ._learning_kernels import set_tag_scatter

    cut = slice(int(rules.tags_at[t]), int(rules.tags_at[t + 1]))
    mine, theirs = field.counts[cut, a], other.counts[cut, b]
    unseen = field.numbers[TAG_SUM, k, a] == 0
    if not rules.fuzzy:
        product = int(mine.astype(np.int64) @ theirs.astype(np.int64))
        field.numbers[TAG_SQUARE, k, a] += other.numbers[TAG_SQUARE, k, b] + 2 * product
        mine += theirs
    elif other.numbers[TAG_SUM, k, b] > 0:
        mine[:] = theirs if unseen else np.minimum(mine, theirs)
        field.figures[NORM, k, a] = float(mine.sum(dtype=np.float64)) / GRID
    field.numbers[TAG_SUM, k, a] += other.numbers[TAG_SUM, k, b]
    set_tag_scatter(field.figures, field.numbers, field.total_scatter, rules.choice, rules.fuzzy, k, a)
