"""What the loops of FusionART work on, as plain arrays: the field, the settings, a block of rows, room to work in.

Words and the paper's symbols: ``corner`` and ``ceiling`` are the two halves of a complement-coded content prototype
w; ``NORM`` is |w|; ``MEMBERS`` L; ``SPILL`` E, a bound on how far members lie below w; ``SCATTER`` D, the paper's
Difference; ``shares`` gamma. Channels are numbered content first, then tags: K = Kc + Kt. Arrays over clusters have
room for more than there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

GRID = 2.0**24
"""Content lives on multiples of 1 / GRID, so that its sums are exact."""
MARGIN = 1.0 + 1e-9
"""A bound on T may be wrong by rounding; with this margin pruning never changes a label."""
SLACK = 1.0 - 1e-12
"""Shares of tags are quotients of integers; one that equals the vigilance passes, however it was rounded."""
SMALL_NORM = 1e-6
REFRESH = 1024

N_CLUSTERS, PRESENTED, KEPT, STRIDE = 0, 1, 2, 3  # of Field.tally
NORM, DIVISOR, REACH, SPILL, SCATTER = 0, 1, 2, 3, 4  # of Field.figures
MEMBERS, TAG_SUM, TAG_SQUARE = 0, 1, 2  # of Field.numbers
FREE, SKIP = -1, -2
TRACK_PRINTED, TRACK_MONOTONE = 1, 2
TRACK_STEP = 1e-6


class Field(NamedTuple):
    """Everything that is learned; ``room`` is the number of clusters there is space for.

    ``figures``: NORM; DIVISOR, by which ``counts`` become w (0 where no tag was ever seen); REACH, NORM / (choice +
    NORM) for content and 1 / (DIVISOR (choice + NORM)) for tags; SPILL; SCATTER. ``numbers``: MEMBERS that have the
    channel; TAG_SUM and TAG_SQUARE, the paper's counts added up and their squares.
    """

    low: NDArray[Any]  # float64 (d,), bounds of each content feature, all content channels side by side
    high: NDArray[Any]
    stretch: NDArray[Any]  # float64 (d,): steps of the grid per unit of the data; 0 where a feature has no range
    corner: NDArray[Any]  # float32 (room, d), on the grid
    ceiling: NDArray[Any]  # float32 (room, d), one minus the upper corner
    counts: NDArray[Any]  # int32 (n_tags, room): members with the tag; the fuzzy way, w in steps of the grid
    figures: NDArray[Any]  # float64 (5, K, room)
    numbers: NDArray[Any]  # int64 (3, K, room)
    size: NDArray[Any]  # int64 (room,), all members
    group: NDArray[Any]  # int64 (room,), number of the person's group, or -1
    total_scatter: NDArray[Any]  # float64 (K,)
    seen_in: NDArray[Any]  # int64 (K,), clusters in which the channel was ever present
    shares: NDArray[Any]  # float64 (K,): gamma
    varies: NDArray[Any]  # bool (K,), can this channel tell items apart at all
    tally: NDArray[Any]  # int64 (4,): clusters, presentations, history rows, presentations per history row
    history: NDArray[Any]  # float64 (rows, K)
    history_at: NDArray[Any]  # int64 (rows,)


class Rules(NamedTuple):
    """The settings, in the form the loops want."""

    content_at: NDArray[Any]  # int64 (Kc + 1,), where each content channel begins
    tags_at: NDArray[Any]  # int64 (Kt + 1,)
    vigilance: NDArray[Any]  # float64 (K,)
    content_need: NDArray[Any]  # float64 (Kc,): smallest intersection that passes
    tag_need: NDArray[Any]  # float64 (Kt, most tags + 1): by the number of tags of the item, what its tags' counts need
    # for each member
    choice: float  # alpha
    rate: float  # beta
    adaptive: bool
    fuzzy: bool
    tracking: int
    prune: bool


class Block(NamedTuple):
    """Some rows of the data, content side by side and tags as lists."""

    coded: NDArray[Any]  # float32 (n, d), scaled to the bounds of the field and on the grid
    raw: NDArray[Any]  # float64 (n, d), as they came; (0, d) where no value lies outside the bounds
    has: NDArray[Any]  # bool (n, K)
    tag_start: NDArray[Any]  # int64 (n, Kt)
    n_tags: NDArray[Any]  # int64 (n, Kt)
    tag_ids: NDArray[Any]  # int64, rows of ``counts``


class Room(NamedTuple):
    """Space to work in."""

    overlap: NDArray[Any]  # int64 (Kt, room), sums of counts over the item's tags
    upper: NDArray[Any]  # float64 (room,)
    left: NDArray[Any]  # int64 (room + 1,)
    allowed: NDArray[Any]  # bool (room,), clusters that may win
    mark: NDArray[Any]  # bool (n_tags,), all False between uses
    match: NDArray[Any]  # float64 (K, room), for match tracking only
    limit: NDArray[Any]  # float64 (K,), likewise
