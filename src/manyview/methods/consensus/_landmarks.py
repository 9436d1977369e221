"""Landmarks: the items that stand for all where there are too many for everybody to vote.

Landmarks vote among themselves as a smaller collection would; everybody else goes where ``predict`` would put a new
item, some ten thousand at a time on whatever engine works, so that neither time nor memory of the votes grows with the
collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers
from ...data.source import Rows, RowSource, source_of, view_column
from ...data.views import Views
from ...engines.base import Engine, cut
from ...types import Mask, Places
from ..preparation import place_in
from ._kinds import present_in
from ._points import points_of
from ._vote import Placed, place_new

__all__ = ["Fitted", "choose_landmarks", "place_items", "place_rest"]

_OF_A_KIND = 20
"""Landmarks from every combination of views, and from every earlier cluster, where there are so many."""
_BLOCK_BYTES = 256 * 2**20
"""Of a leaf, as its rows are reckoned; about half is held at a time. Every cell of landmarks is looked up once a leaf,
for however many items ask: some forty should."""


def choose_landmarks(has_any: Mask, mask: Mask, previous: Places | None, n_wanted: int, seed: int) -> Places | None:
    """Rising numbers of the items that vote; None where all do.

    Every combination of views that items have, and every earlier cluster, has its share of them, and at least twenty
    where it has so many items.
    """
    everyone = np.flatnonzero(has_any)
    if everyone.size <= n_wanted:
        return None
    kinds = np.unique(np.packbits(mask[everyone], axis=1), axis=0, return_inverse=True)[1].ravel()
    if previous is not None:
        kinds = kinds * (int(previous.max()) + 2) + previous[everyone] + 1
    kinds = np.unique(kinds, return_inverse=True)[1]
    sizes = np.bincount(kinds)
    shares = _shares(sizes, n_wanted)
    rng = np.random.default_rng([seed, everyone.size])
    order = np.argsort(kinds, kind="stable")
    edges = np.r_[0, np.cumsum(sizes)]
    drawn = [
        rng.choice(order[edges[kind] : edges[kind + 1]], share, replace=False) for kind, share in enumerate(shares)
    ]
    return everyone[np.sort(np.concatenate(drawn))]


def _shares(sizes: Places, n_wanted: int) -> list[int]:
    """Whole numbers in proportion to the sizes, by largest remainders, and at least twenty or all of each."""
    exact = sizes * (n_wanted / sizes.sum())
    shares = np.floor(exact).astype(np.intp)
    left = np.argsort(shares - exact, kind="stable")[: n_wanted - int(shares.sum())]
    shares[left] += 1
    return np.maximum(shares, np.minimum(sizes, _OF_A_KIND)).tolist()


class Fitted(NamedTuple):
    """What items that did not vote are placed by."""

    scalings: Mapping[str, dict[str, Any]]
    active_views: Sequence[tuple[str, int]]
    says: Mapping[str, float]
    state: dict[str, Any]
    levels: dict[str, Any]

    @classmethod
    def of(cls, model: Any) -> Fitted:
        says = getattr(model, "says_", {})  # models of the first edition gave every view the same
        return cls(model.scalings_, model.active_views_, says, model.state_, model.levels_)


def place_items(
    fitted: Fitted, views: Views, threads: Workers, given: Sequence[NDArray[np.int32]] | None = None
) -> tuple[Placed, NDArray[np.float32]]:
    """Where items that did not vote go, all of which have some view; and their points.

    ``given`` are their labels by the members that came from elsewhere, which are asked where it is None.
    """
    rows_of, speaking = place_in(fitted.scalings, views, threads)
    parts = [(rows_of[name], speaking[name]) for name, _ in fitted.active_views]
    weights = np.array([fitted.says.get(name, 1.0) for name, _ in fitted.active_views])
    has = present_in(views[[name for name, _ in fitted.active_views]])
    points = points_of(list(fitted.active_views), views.n_items, parts, threads, weights, fitted.state, has)
    return place_new(fitted.state, fitted.levels, points, views, threads, given), points.rows


def place_rest(
    fitted: Fitted,
    views: Views,
    rest: Mask,
    given: Sequence[NDArray[np.int32]],
    row_bytes: float,
    seconds_per_row: float,
    engine: Engine,
) -> Iterator[tuple[slice, NDArray[np.int32]]]:
    """The items that did not vote, wherever the engine works: for every span its label, leaf and members.

    A row for each item of the span, -1 throughout for those that are not of the rest.
    """
    source = source_of(views, np.ones(views.n_items))
    members = np.column_stack([np.empty((views.n_items, 0), dtype=np.int32), *given])
    source = RowSource(source.columns | {"rest": rest, "given": members}, row_bytes=source.row_bytes)
    plan = cut(views.n_items, row_bytes, _BLOCK_BYTES, seconds_per_row)
    results = engine.map(_place_leaf, engine.place(source), plan, (fitted, views.names))
    for span, (_, state) in zip(plan.spans, results, strict=True):
        yield slice(span.start, span.stop), engine.read(state)
        engine.let_go([state])


def _place_leaf(
    rows: Rows, leaf: slice, shared: tuple[Fitted, tuple[str, ...]], _: Any
) -> tuple[tuple[()], NDArray[np.int32]]:
    """Place the items of a leaf that did not vote."""
    fitted, names = shared
    which = np.flatnonzero(rows["rest"][leaf])
    matrices = tuple(rows.some(view_column(name), leaf) for name in names)
    ids = np.arange(rows.start + leaf.start, rows.start + leaf.stop)
    views = Views._trusted(names, matrices, rows["mask"][leaf].copy(), ids)[which]
    n_members = len(fitted.state.get("weights", ()))
    found = np.full((leaf.stop - leaf.start, 2 + n_members), -1, dtype=np.int32)
    if which.size:
        given = np.ascontiguousarray(rows["given"][leaf][which].T)
        placed = place_items(fitted, views, Workers(1, None), list(given))[0]
        found[which] = np.column_stack([placed.labels, placed.leaves, placed.members])
    return (), found
