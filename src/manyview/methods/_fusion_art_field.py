"""The field of FusionART: its arrays, how data are cut into blocks for it, and the drivers of its loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, is_sparse
from ..blocks import row_blocks, workers
from ..data.views import Views
from ._fusion_art_kernels import FREE, GRID, SKIP, Block, Field, Room, Rules, place_rows, present_rows, weigh

__all__ = [
    "FREE",
    "SKIP",
    "Channels",
    "Reader",
    "compact",
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
    "working_room",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

HISTORY_ROWS = 1024
FIRST_ROOM = 16
BLOCK_BYTES = 2**20
BLOCK_ROWS = 512

_OVER_CLUSTERS = {  # which axis of each array runs over clusters
    "corner": 0,
    "ceiling": 0,
    "counts": 1,
    "norm": 1,
    "divisor": 1,
    "reach": 1,
    "members": 1,
    "tag_sum": 1,
    "tag_square": 1,
    "spill": 1,
    "scatter": 1,
    "size": 0,
    "group": 0,
}


@dataclass(frozen=True)
class Channels:
    """Which view is which channel: content first, then tags, each kind in the order of the views."""

    views: tuple[int, ...]
    names: tuple[str, ...]
    widths: tuple[int, ...]
    n_content: int

    @classmethod
    def of(cls, kinds: dict[str, str], widths: dict[str, int]) -> Channels:
        names = tuple(kinds)
        content = [v for v, name in enumerate(names) if kinds[name] == "content"]
        views = (*content, *(v for v in range(len(names)) if v not in content))
        ordered = tuple(names[v] for v in views)
        return cls(views, ordered, tuple(widths[name] for name in ordered), len(content))

    @property
    def n_channels(self) -> int:
        return len(self.views)

    @property
    def content_at(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.widths[: self.n_content])]).astype(np.int64)

    @property
    def tags_at(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.widths[self.n_content :])]).astype(np.int64)

    def in_view_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values per channel, along the last axis, in the order of the views."""
        out = np.empty_like(values)
        out[..., list(self.views)] = values
        return out

    def in_channel_order(self, values: Any) -> Floats:
        return np.asarray(values, dtype=np.float64)[list(self.views)]


def empty_field(channels: Channels, bounds: list[tuple[Floats, Floats]], shares: Floats, fuzzy: bool) -> Field:
    """A field without clusters. ``bounds``: low and high of every content channel."""
    low = np.concatenate([np.empty(0), *(low for low, _ in bounds)])
    high = np.concatenate([np.empty(0), *(high for _, high in bounds)])
    n_tags, kinds = int(channels.tags_at[-1]), channels.n_channels
    per_tags = (kinds - channels.n_content, FIRST_ROOM)
    varies = np.ones(kinds, dtype=bool)
    for k, (lows, highs) in enumerate(bounds):
        varies[k] = bool((highs > lows).any())
    return Field(
        low=low,
        high=high,
        stretch=_stretch(low, high),
        corner=np.zeros((FIRST_ROOM, low.size), dtype=np.float32),
        ceiling=np.zeros((FIRST_ROOM, low.size), dtype=np.float32),
        counts=np.zeros((n_tags, FIRST_ROOM), dtype=np.float32 if fuzzy else np.int32),
        norm=np.zeros((kinds, FIRST_ROOM)),
        divisor=np.zeros(per_tags),
        reach=np.zeros((kinds, FIRST_ROOM)),
        members=np.zeros((kinds, FIRST_ROOM), dtype=np.int64),
        tag_sum=np.zeros(per_tags, dtype=np.int64),
        tag_square=np.zeros(per_tags, dtype=np.int64),
        spill=np.zeros((kinds, FIRST_ROOM)),
        scatter=np.zeros((kinds, FIRST_ROOM)),
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
    return np.divide(GRID, span, out=np.zeros_like(span), where=span > 0)


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
    return _with_room(Field(**state), n_clusters, wanted)


def set_reach(field: Field, rules: Rules) -> None:
    """The bounds on T for the choice parameter of now, which may not be that of the last call."""
    n_content = rules.content_at.size - 1
    norm, divisor = field.norm, field.divisor
    field.reach[:n_content] = norm[:n_content] / (rules.choice + norm[:n_content])
    field.reach[n_content:] = np.divide(
        1.0, divisor * (rules.choice + norm[n_content:]), out=np.zeros_like(divisor), where=divisor > 0
    )


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


def compact(field: Field, keep: NDArray[np.bool_]) -> Field:
    """The field without some of its clusters; the others move up."""
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
    """Settings as arrays. A match M = I / |x| passes where I is at least the smallest number whose quotient does."""
    n_content = channels.n_content
    widths = np.array(channels.widths[:n_content], dtype=np.float64)
    tag_need = [_least_passing(rho, np.arange(most_tags + 1, dtype=np.float64)) for rho in vigilance[n_content:]]
    return Rules(
        content_at=channels.content_at,
        tags_at=channels.tags_at,
        vigilance=vigilance,
        content_need=_least_passing(vigilance[:n_content], widths),
        tag_need=np.array(tag_need, dtype=np.float64).reshape(len(tag_need), most_tags + 1),
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


class Reader:
    """Cuts a ``Views`` into blocks: content of all channels side by side, tags as lists of numbers."""

    def __init__(self, views: Views, channels: Channels) -> None:
        self.channels = channels
        matrices = [views.values()[v] for v in channels.views]
        self.content = matrices[: channels.n_content]
        self.tags = [_without_zeros(matrix) for matrix in matrices[channels.n_content :]]
        self.has = views.mask[:, list(channels.views)]
        self.n_items = views.n_items
        self.row_bytes = 8.0 * float(channels.content_at[-1]) + 64

    @property
    def most_tags(self) -> int:
        """The largest number of tags that one item has in one channel."""
        return max((_most(matrix) for matrix in self.tags), default=0)

    def blocks(self, block_bytes: int = BLOCK_BYTES) -> list[slice]:
        return row_blocks(self.n_items, max(self.row_bytes, block_bytes / BLOCK_ROWS), block_bytes)

    def block(self, rows: Any) -> Block:
        """Some rows (a slice or integers), ready for the loops."""
        has = np.ascontiguousarray(self.has[rows])
        n_rows, at = has.shape[0], self.channels.content_at
        raw = np.empty((n_rows, int(at[-1])))
        for k, matrix in enumerate(self.content):
            part = matrix[rows]
            raw[:, at[k] : at[k + 1]] = part.toarray() if is_sparse(part) else part
        starts = np.zeros((len(self.tags), n_rows), dtype=np.int64)
        stops = np.zeros_like(starts)
        ids: list[NDArray[Any]] = []
        offset = 0
        for t, matrix in enumerate(self.tags):
            found, lengths = _tags_of(matrix, rows)
            stops[t] = offset + np.cumsum(lengths)
            starts[t] = stops[t] - lengths
            offset += found.size
            ids.append(found + self.channels.tags_at[t])
        joined = np.concatenate(ids) if ids else np.empty(0)
        return Block(raw, has, starts, stops, joined.astype(np.int64, copy=False))


def _tags_of(matrix: Matrix, rows: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Tag numbers of some rows, one row after another, and how many each row has."""
    if not is_sparse(matrix):
        part = np.nan_to_num(matrix[rows])
        at, found = np.nonzero(part)
        return found, np.bincount(at, minlength=part.shape[0])
    indptr = matrix.indptr
    if isinstance(rows, slice):
        pointers = indptr[rows.start : rows.stop + 1]
        return matrix.indices[pointers[0] : pointers[-1]], np.diff(pointers)
    starts = indptr[rows].astype(np.int64)
    lengths = indptr[rows + 1] - starts
    before = np.cumsum(lengths) - lengths
    return matrix.indices[np.repeat(starts - before, lengths) + np.arange(lengths.sum())], lengths


def _without_zeros(matrix: Matrix) -> Matrix:
    if is_sparse(matrix) and (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def _most(matrix: Matrix) -> int:
    if is_sparse(matrix):
        return int(np.diff(matrix.indptr).max(initial=0))
    return int(matrix.shape[1])


def working_room(field: Field) -> Room:
    """Space for the loops; as large as one cluster's row and a few numbers per cluster."""
    space, kinds = field.size.size, field.shares.size
    return Room(
        x=np.zeros(field.low.size, dtype=np.float32),
        overlap=np.zeros(field.divisor.shape, dtype=np.int32 if field.counts.dtype == np.int32 else np.float64),
        upper=np.zeros(space),
        allowed=np.ones(space, dtype=bool),
        mark=np.zeros(field.counts.shape[0], dtype=bool),
        match=np.zeros((kinds, space)),
        limit=np.zeros(kinds),
    )


def learn_rows(
    field: Field,
    rules: Rules,
    reader: Reader,
    order: Ints | None,
    forced: NDArray[np.int64],
    labels: NDArray[np.int64],
    previous: NDArray[np.int64] | None = None,
    spills: Floats | None = None,
) -> Iterator[Field]:
    """Present items one after another, in ``order`` or as they come; yields the field after every block.

    ``labels`` are written in place. ``previous`` and ``spills`` (items x channels) serve further epochs.
    """
    alive = np.ones(field.size.size, dtype=bool)
    room = working_room(field)
    for rows in reader.blocks():
        taken: Any = rows if order is None else order[rows]
        block = reader.block(taken)
        found = labels[taken]
        before = np.full(found.size, -1, dtype=np.int64) if previous is None else previous[taken]
        own = np.zeros((1, field.shares.size)) if spills is None else spills[taken]
        done = 0
        while done < found.size:
            done = present_rows(
                field, rules, block, room, done, forced[taken], before, own, spills is not None, found
            )
            if done < found.size:
                field = grown(field)
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

    def place(rows: slice) -> NDArray[np.int64]:
        labels = np.full(rows.stop - rows.start, -1, dtype=np.int64)
        room = working_room(field)
        room.allowed[:] = False
        room.allowed[: allowed.size] = allowed
        place_rows(field, rules, reader.block(rows), room, novelty, labels)
        return labels

    with workers(n_jobs) as threads:
        parts = list(threads.map(place, reader.blocks()))
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def reweigh(field: Field, rules: Rules) -> None:
    """Sums of D from the clusters, and the shares that follow."""
    n_clusters = int(field.tally[0])
    field.total_scatter[:] = field.scatter[:, :n_clusters].sum(axis=1)
    field.seen_in[:] = (field.members[:, :n_clusters] > 0).sum(axis=1)
    weigh(field, rules)


def found_groups(field: Field, rules: Rules, reader: Reader, groups: dict[int, Ints]) -> Field:
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
        block = reader.block(rows)
        for k in range(n_content):
            _found_content(field, rules, block, k, j)
        for k in range(n_content, reader.channels.n_channels):
            _found_tags(field, rules, block, k, j, n_content)
    reweigh(field, rules)
    return field


def _hold(field: Field, rules: Rules, reader: Reader, rows: Ints) -> None:
    from ._fusion_art_kernels import widen

    block = reader.block(rows)
    for row in range(rows.size):
        widen(field, rules, block.raw[row], block.has[row])


def _found_content(field: Field, rules: Rules, block: Block, k: int, j: int) -> None:
    from ._fusion_art_kernels import scale_row

    start, stop = int(rules.content_at[k]), int(rules.content_at[k + 1])
    rows = np.flatnonzero(block.has[:, k])
    if not rows.size:
        return
    coded = np.empty((rows.size, stop - start), dtype=np.float32)
    cut = slice(start, stop)
    for at, row in enumerate(rows):
        scale_row(block.raw[row, cut], field.low[cut], field.high[cut], field.stretch[cut], coded[at])
    mean = np.floor(coded.mean(axis=0, dtype=np.float64) * GRID + 0.5) / GRID
    field.corner[j, cut], field.ceiling[j, cut] = mean, 1.0 - mean
    width = float(stop - start)
    field.members[k, j], field.norm[k, j] = rows.size, width
    # Above w in one half is below it in the other, so the excess over both halves is the plain distance.
    field.spill[k, j] = np.abs(coded - mean).sum()
    field.scatter[k, j] = 2.0 * field.spill[k, j] / rows.size / width
    field.reach[k, j] = width / (rules.choice + width)


def _found_tags(field: Field, rules: Rules, block: Block, k: int, j: int, n_content: int) -> None:
    t = k - n_content
    has = block.has[:, k]
    if rules.fuzzy:
        has = has & (block.tag_stop[t] > block.tag_start[t])
    lists = [block.tag_ids[a:b] for a, b in zip(block.tag_start[t][has], block.tag_stop[t][has], strict=True)]
    if not lists:
        return
    n_members = len(lists)
    counts = np.bincount(np.concatenate(lists), minlength=field.counts.shape[0])
    total = int(counts.sum())
    field.members[k, j], field.tag_sum[t, j] = n_members, total
    if total == 0:
        return
    field.tag_square[t, j] = int((counts.astype(np.int64) ** 2).sum())
    scatter = 2.0 * (1.0 - float(field.tag_square[t, j]) / (float(n_members) * total))
    if rules.fuzzy:
        weights = np.floor(counts / n_members * GRID + 0.5) / GRID
        norm = float(weights.sum())
        excess = float(sum(norm - weights[ids].sum() for ids in lists))
        field.counts[:, j] += weights.astype(np.float32)
        field.divisor[t, j], field.norm[k, j], field.spill[k, j] = 1.0, norm, excess
        field.tag_square[t, j] = 0
        scatter = (total / n_members - norm + 2.0 * excess / n_members) / norm
    else:
        field.counts[:, j] += counts.astype(np.int32)
        field.divisor[t, j], field.norm[k, j] = n_members, total / n_members
    field.scatter[k, j] = scatter
    field.reach[k, j] = 1.0 / (field.divisor[t, j] * (rules.choice + field.norm[k, j]))
