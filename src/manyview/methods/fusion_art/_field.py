"""The field of FusionART: its arrays, and the drivers of its loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import workers
from ...types import Floats, Places
from ._reader import Channels, Reader
from ._state import DIVISOR, GRID, MEMBERS, NORM, REACH, SCATTER, SLACK, TAG_SQUARE, Block, Field, Room, Rules

__all__ = [
    "empty_field",
    "field_of",
    "found_groups",
    "grown",
    "learn_rows",
    "make_rules",
    "place_items",
    "reweigh",
    "set_reach",
    "state_of",
    "without_deserted",
    "working_room",
]


HISTORY_ROWS = 1024
FIRST_ROOM = 16
_NARROWEST = 1e-300  # below that a feature counts as constant: the grid over its span would not be a number

_OVER_CLUSTERS = {  # which axis of each array runs over clusters
    "corner": 0,
    "ceiling": 0,
    "counts": 1,
    "figures": 2,
    "numbers": 2,
    "size": 0,
    "group": 0,
}


def empty_field(channels: Channels, bounds: list[tuple[Floats, Floats]], shares: Floats) -> Field:
    """A field without clusters. ``bounds``: low and high of every content channel."""
    low = np.concatenate([np.empty(0), *(low for low, _ in bounds)])
    high = np.concatenate([np.empty(0), *(high for _, high in bounds)])
    n_tags, kinds = int(channels.tags_at[-1]), channels.n_channels
    varies = np.zeros(kinds, dtype=bool)  # a tag channel does from its first tag on
    for k, (lows, highs) in enumerate(bounds):
        varies[k] = bool((highs - lows > _NARROWEST).any())
    return Field(
        low=low,
        high=high,
        stretch=_stretch(low, high),
        corner=np.zeros((FIRST_ROOM, low.size), dtype=np.float32),
        ceiling=np.zeros((FIRST_ROOM, low.size), dtype=np.float32),
        counts=np.zeros((n_tags, FIRST_ROOM), dtype=np.int32),
        figures=np.zeros((5, kinds, FIRST_ROOM)),
        numbers=np.zeros((3, kinds, FIRST_ROOM), dtype=np.int64),
        size=np.zeros(FIRST_ROOM, dtype=np.int64),
        group=np.full(FIRST_ROOM, -1, dtype=np.int64),
        total_scatter=np.zeros(kinds),
        seen_in=np.zeros(kinds, dtype=np.int64),
        shares=shares.astype(np.float64),
        varies=varies,
        tally=np.array([0, 0, 0, 1], dtype=np.int64),
        history=np.zeros((HISTORY_ROWS, kinds)),
        history_at=np.zeros(HISTORY_ROWS, dtype=np.int64),
    )


def _stretch(low: Floats, high: Floats) -> Floats:
    span = high - low
    return np.divide(GRID, span, out=np.zeros_like(span), where=span > _NARROWEST)


def state_of(field: Field) -> dict[str, NDArray[Any]]:
    """The field as a dict of arrays, cut to its clusters: what is saved, and complete."""
    n_clusters = int(field.tally[0])
    state = field._asdict()
    for name, axis in _OVER_CLUSTERS.items():
        state[name] = state[name][(slice(None),) * axis + (slice(n_clusters),)]
    return dict(state)


def field_of(state: dict[str, NDArray[Any]]) -> Field:
    """A field from its saved state, with room to grow."""
    n_clusters = state["size"].size
    wanted = FIRST_ROOM
    while wanted <= n_clusters:
        wanted *= 2
    own = {name: np.require(part, requirements="W") for name, part in state.items()}
    return _with_room(Field(**own), n_clusters, wanted)


def set_reach(field: Field, rules: Rules) -> None:
    """The bounds on T for the choice parameter of now, which may not be that of the last call."""
    n_content = rules.content_at.size - 1
    norm, divisor, reach = field.figures[NORM], field.figures[DIVISOR], field.figures[REACH]
    reach[:n_content] = norm[:n_content] / (rules.choice + norm[:n_content])
    below = divisor * (rules.choice + norm)
    np.divide(1.0, below[n_content:], out=reach[n_content:], where=divisor[n_content:] > 0)


def grown(field: Field) -> Field:
    """The same field with room for twice as many clusters."""
    return _with_room(field, field.size.size, 2 * field.size.size)


def _with_room(field: Field, n_clusters: int, room: int) -> Field:
    parts = {}
    for name, axis in _OVER_CLUSTERS.items():
        old = getattr(field, name)
        shape = list(old.shape)
        shape[axis] = room
        new = np.full(shape, -1 if name == "group" else 0, dtype=old.dtype)
        cut = (slice(None),) * axis + (slice(n_clusters),)
        new[cut] = old[cut]
        parts[name] = new
    return field._replace(**parts)


def without_deserted(field: Field, labels: NDArray[np.int64]) -> Field:
    """The field without the clusters that later epochs emptied; the others move up, and ``labels`` with them."""
    keep = field.size[: int(field.tally[0])] > 0
    if keep.all():
        return field
    labels[:] = np.append(np.cumsum(keep) - 1, -1)[labels]
    numbers = np.flatnonzero(keep)
    parts = {name: np.take(getattr(field, name), numbers, axis=axis) for name, axis in _OVER_CLUSTERS.items()}
    field.tally[0] = numbers.size
    return _with_room(field._replace(**parts), numbers.size, field.size.size)


def make_rules(
    channels: Channels,
    vigilance: Floats,
    choice: float,
    rate: float,
    *,
    adaptive: bool,
    fuzzy: bool,
    tracking: int,
    most_tags: int,
    prune: bool = True,
) -> Rules:
    """Settings as arrays. A match M = I / |x| passes where I is at least the smallest number whose quotient does.

    Of tags, where I is a count over the number of members L, the count has to be at least rho L |x|.
    """
    n_content = channels.n_content
    widths = np.array(channels.widths[:n_content], dtype=np.float64)
    return Rules(
        content_at=channels.content_at,
        tags_at=channels.tags_at,
        vigilance=vigilance,
        content_need=_least_passing(vigilance[:n_content], widths),
        tag_need=np.multiply.outer(vigilance[n_content:] * SLACK, np.arange(most_tags + 1)),
        choice=float(choice),
        rate=float(rate),
        adaptive=bool(adaptive),
        fuzzy=bool(fuzzy),
        tracking=int(tracking),
        prune=bool(prune),
    )


def _least_passing(vigilance: Any, size: Floats) -> Floats:
    """The smallest I for which I / size >= vigilance as computed, so that the loops need not divide."""
    need = np.asarray(vigilance * size, dtype=np.float64)
    divisor = np.maximum(size, 1.0)
    for _ in range(3):
        need = np.where(need / divisor >= vigilance, need, np.nextafter(need, np.inf))
    for _ in range(3):
        lower = np.nextafter(need, -np.inf)
        need = np.where(lower / divisor >= vigilance, lower, need)
    return np.where(size > 0, need, 0.0)


def working_room(field: Field) -> Room:
    """Space for the loops; as large as one cluster's row and a few numbers per cluster."""
    space, kinds = field.size.size, field.shares.size
    return Room(
        overlap=np.zeros((kinds, space), dtype=np.int64),
        upper=np.zeros(space),
        left=np.zeros(space + 1, dtype=np.int64),
        allowed=np.ones(space, dtype=bool),
        mark=np.zeros(field.counts.shape[0], dtype=bool),
        match=np.zeros((kinds, space)),
        limit=np.zeros(kinds),
    )


def learn_rows(
    field: Field,
    rules: Rules,
    reader: Reader,
    order: Places | None,
    forced: NDArray[np.int64],
    labels: NDArray[np.int64],
    previous: NDArray[np.int64] | None = None,
    spills: Floats | None = None,
) -> Iterator[Field]:
    """Present items one after another, in ``order`` or as they come; yields the field whenever its arrays changed.

    ``labels`` are written in place. ``previous`` and ``spills`` (items x channels) serve further epochs.
    """
    from ._learning_kernels import present_rows

    room = working_room(field)
    blocks = reader.blocks()
    coded = np.empty((blocks[0].stop if blocks else 0, field.low.size), dtype=np.float32)
    for rows in blocks:
        taken: Any = rows if order is None else order[rows]
        block = reader.block(taken, field, keep_raw=True, into=coded)
        found = labels[taken]
        before = np.full(found.size, -1, dtype=np.int64) if previous is None else previous[taken]
        own = np.zeros((1, field.shares.size)) if spills is None else spills[taken]
        done = 0
        while done < found.size:
            done = present_rows(field, rules, block, room, done, forced[taken], before, own, spills is not None, found)
            if done < found.size:
                field = grown(field)
                yield field
                alive = np.concatenate([room.allowed, np.ones(field.size.size - room.allowed.size, dtype=bool)])
                room = working_room(field)._replace(allowed=alive)
        labels[taken] = found
        if spills is not None:
            spills[taken] = own
        yield field


def place_items(
    field: Field, rules: Rules, reader: Reader, allowed: NDArray[np.bool_], novelty: bool, n_jobs: int | None
) -> NDArray[np.int64]:
    """The winning cluster of every item, prototypes frozen; blocks are shared out to threads."""

    from ._kernels import place_rows

    def place(rows: slice) -> NDArray[np.int64]:
        labels = np.full(rows.stop - rows.start, -1, dtype=np.int64)
        room = working_room(field)
        room.allowed[:] = False
        room.allowed[: allowed.size] = allowed
        place_rows(field, rules, reader.block(rows, field), room, novelty, labels)
        return labels

    with workers(n_jobs) as threads:
        parts = list(threads.map(place, reader.blocks()))
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def reweigh(field: Field, rules: Rules) -> None:
    """Sums of D from the clusters, and the shares that follow."""
    from ._learning_kernels import weigh

    n_clusters = int(field.tally[0])
    field.total_scatter[:] = field.figures[SCATTER, :, :n_clusters].sum(axis=1)
    field.seen_in[:] = (field.numbers[MEMBERS, :, :n_clusters] > 0).sum(axis=1)
    if rules.adaptive:
        weigh(field.shares, field.total_scatter, field.seen_in, field.varies)


def found_groups(field: Field, rules: Rules, reader: Reader, groups: dict[int, Places]) -> Field:
    """Open one cluster for each new group of a person's, at the mean of its members.

    ``groups``: number of the group -> rows of its members. D is exact here: a mean has no excess of its own.
    """
    n_content = reader.channels.n_content
    while field.size.size <= int(field.tally[0]) + len(groups):
        field = grown(field)
    for rows in groups.values():
        _hold(field, rules, reader, rows)
    for number, rows in groups.items():
        j = int(field.tally[0])
        field.tally[0] += 1
        field.group[j], field.size[j] = number, rows.size
        block = reader.block(rows, field)
        for k in range(n_content):
            _found_content(field, rules, block, k, j)
        for k in range(n_content, reader.channels.n_channels):
            _found_tags(field, rules, block, k, j, n_content)
    reweigh(field, rules)
    return field


def _hold(field: Field, rules: Rules, reader: Reader, rows: Places) -> None:
    from ._learning_kernels import widen

    block = reader.block(rows, field, keep_raw=True)
    for row in range(block.raw.shape[0]):
        widen(field, rules, block.raw[row], block.has[row])


def _found_content(field: Field, rules: Rules, block: Block, k: int, j: int) -> None:
    cut = slice(int(rules.content_at[k]), int(rules.content_at[k + 1]))
    rows = np.flatnonzero(block.has[:, k])
    if not rows.size:
        return
    coded = block.coded[rows, cut]
    mean = np.floor(coded.mean(axis=0, dtype=np.float64) * GRID + 0.5) / GRID
    field.corner[j, cut], field.ceiling[j, cut] = mean, 1.0 - mean
    width = float(cut.stop - cut.start)
    # Above w in one half is below it in the other, so the excess over both halves is the plain distance.
    spill = float(np.abs(coded - mean).sum())
    field.numbers[MEMBERS, k, j] = rows.size
    field.figures[:, k, j] = width, 0.0, width / (rules.choice + width), spill, 2.0 * spill / rows.size / width


def _found_tags(field: Field, rules: Rules, block: Block, k: int, j: int, n_content: int) -> None:
    starts, lengths = block.tag_start[:, k - n_content], block.n_tags[:, k - n_content]
    has = block.has[:, k] & (lengths > 0) if rules.fuzzy else block.has[:, k]
    lists = [block.tag_ids[start : start + length] for start, length in zip(starts[has], lengths[has], strict=True)]
    if not lists:
        return
    n_members = len(lists)
    counts = np.bincount(np.concatenate(lists), minlength=field.counts.shape[0])
    total = int(counts.sum())
    field.numbers[:2, k, j] = n_members, total
    if total == 0:
        return
    field.varies[k] = True
    if rules.fuzzy:
        steps = np.floor(counts / n_members * GRID + 0.5)
        field.counts[:, j] += steps.astype(np.int32)
        norm, divisor = float(steps.sum()) / GRID, GRID
        spill = float(sum(norm - steps[ids].sum() / GRID for ids in lists))
        scatter = (total / n_members - norm + 2.0 * spill / n_members) / norm
    else:
        field.counts[:, j] += counts.astype(np.int32)
        squares = int((counts.astype(np.int64) ** 2).sum())
        field.numbers[TAG_SQUARE, k, j] = squares
        norm, divisor, spill = total / n_members, float(n_members), 0.0
        scatter = 2.0 * (1.0 - squares / (float(n_members) * total))
    field.figures[:, k, j] = norm, divisor, 1.0 / (divisor * (rules.choice + norm)), spill, scatter
