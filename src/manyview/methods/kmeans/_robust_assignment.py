"""What robust multi-view k-means does with some rows: label them, measure them, add them up. Symbols as in
``_robust_rounds``.

These are the tasks that an engine runs. Every one works on each row by itself, in float64 wherever something is
decided, and adds rows up one after another: nothing depends on which rows come together, or where.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...data.source import Rows
from ...engines.device import device_form
from ...types import Floats, Places
from . import _robust_kmeans_kernels as kernels
from ._scaled_views import Centroids, ScaledView, ViewFrame, open_view

__all__ = [
    "Costliest",
    "Frame",
    "Partial",
    "Round",
    "add_partials",
    "costly_leaf",
    "label_leaf",
    "open_views",
    "round_leaf",
    "smoothed_lengths",
    "sum_leaf",
]

T = TypeVar("T")


class Spare(Generic[T]):
    """A pool of buffers: touching new pages costs more than the arithmetic."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._free: list[T] = []  # threads may append and pop as they like

    def take(self) -> T:
        try:
            return self._free.pop()
        except IndexError:
            return self._make()

    def give(self, one: T) -> None:
        self._free.append(one)


@dataclass(frozen=True)
class Frame:
    """What all rounds and starts have in common, as far as rows are concerned. Arrays over views list them in order."""

    views: tuple[ViewFrame, ...]
    n_clusters: int
    rule: str
    eps: Floats
    key: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def label_type(self) -> np.dtype[Any]:
        """The narrowest that holds every label and -1."""
        return np.min_scalar_type(-self.n_clusters)


class _Desk:
    """Room to assign the rows of one leaf."""

    def __init__(self, n_clusters: int, product_type: np.dtype[np.floating], cost_type: np.dtype[np.floating]) -> None:
        self.n_clusters = n_clusters
        self._products = np.empty((0, n_clusters), dtype=product_type)
        self._costs = np.empty((0, n_clusters), dtype=cost_type)
        self._pairs = np.empty(0, dtype=np.intp)

    def products(self, n_rows: int) -> NDArray[np.floating]:
        """(n, K)"""
        if self._products.shape[0] < n_rows:
            self._products = np.empty((n_rows, self.n_clusters), dtype=self._products.dtype)
        return self._products[:n_rows]

    def costs(self, n_rows: int) -> NDArray[np.floating]:
        """(n, K), nothing so far"""
        if self._costs.shape[0] < n_rows:
            self._costs = np.empty((n_rows, self.n_clusters), dtype=self._costs.dtype)
        self._costs[:n_rows] = 0
        return self._costs[:n_rows]

    def pairs(self, n_rows: int) -> Places:
        """(2, n K), an item and a cluster that are still open"""
        size = 2 * n_rows * self.n_clusters
        if self._pairs.size < size:
            self._pairs = np.empty(size, dtype=np.intp)
        return self._pairs[:size].reshape(2, -1)


@dataclass
class Partial:
    """What some rows contribute to a round."""

    sums: list[Floats]  # per view (K, d_v), of D (x - f)
    mass: list[Floats]  # per view (K,), of D
    residual_sums: Floats  # per view, of e
    counts: NDArray[np.int64]  # (K,), items of positive weight
    n_moved: int = 0
    home: Spare[Partial] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"home": None}


def _no_rows(frame: Frame) -> Partial:
    K = frame.n_clusters
    return Partial(
        [np.empty((K, view.n_features)) for view in frame.views],
        [np.empty(K) for _ in frame.views],
        np.empty(len(frame.views)),
        np.empty(K, dtype=np.int64),
    )


class Tools:
    """Buffers that one leaf leaves to the next."""

    def __init__(self, frame: Frame) -> None:
        dtype = np.result_type(*(view.product_type for view in frame.views))
        cost_type = dtype if frame.rule == "literal" else np.dtype(np.float64)
        self.desks: Spare[_Desk] = Spare(lambda: _Desk(frame.n_clusters, dtype, cost_type))
        self.rooms: Spare[Partial] = Spare(lambda: _no_rows(frame))

    def empty_partial(self) -> Partial:
        room = self.rooms.take()
        for one in (*room.sums, *room.mass, room.residual_sums, room.counts):
            one.fill(0)
        room.n_moved, room.home = 0, self.rooms
        return room


@dataclass
class Round:
    """What the tasks of one pass over the rows are told. ``points`` are rounded to the types of the views."""

    frame: Frame
    points: Sequence[Floats]
    weights: Floats  # per view, what acts in this round
    first_lengths: Floats | None = None  # residuals before there are any, per view
    last: Sequence[Floats] | None = None  # points of the round before
    name: str = ""  # of this run and round, under which residuals are kept
    last_name: str = ""
    reseeded: dict[int, int] = field(default_factory=dict)  # items that were given to empty clusters after that round
    with_distances: bool = False
    n_wanted: int = 0
    tools: Tools | None = None

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in ("field", "last_centroids")}
        return kept | {"tools": None}

    @property
    def buffers(self) -> Tools:
        if self.tools is None:
            self.tools = Tools(self.frame)
        return self.tools

    @cached_property
    def field(self) -> Field:
        return make_field(self.frame, self.points)

    @cached_property
    def last_centroids(self) -> list[Centroids]:
        return [view.centroids(F) for view, F in zip(self.frame.views, self.last or (), strict=True)]


@dataclass(frozen=True)
class Field:
    """The centroids of all views, prepared once for a pass."""

    centroids: Sequence[Centroids]
    norms: Floats  # (n_views, K)
    squares: NDArray[np.floating]  # (n_views, K), in the type of the products
    slack: Floats  # (n_views,), relative error of an inner product


def make_field(frame: Frame, points: Sequence[Floats]) -> Field:
    """Prepare points for a pass."""
    centroids = [view.centroids(F) for view, F in zip(frame.views, points, strict=True)]
    dtype = np.result_type(*(view.product_type for view in frame.views))
    norms = np.array([c.norms for c in centroids])
    slack = np.array([view.slack for view in frame.views]) + 4 * len(frame.views) * float(np.finfo(dtype).eps)
    return Field(centroids, norms, (norms**2).astype(dtype), slack)


def open_views(rows: Rows, frame: Frame) -> list[ScaledView]:
    """The views of some rows, which remember what they have computed about them."""
    key = ("views", frame.key)
    if key not in rows.made:
        rows.made[key] = [open_view(view, rows, frame.key) for view in frame.views]
    views: list[ScaledView] = rows.made[key]
    return views


@device_form("manyview.methods.kmeans.device.robust")
def round_leaf(rows: Rows, leaf: slice, shared: Round, labels: NDArray[Any]) -> tuple[Partial, NDArray[Any]]:
    """Assign rows, measure their residuals, and add them up for the next centroids."""
    rows, leaf = rows.in_place(leaf)
    frame, views = shared.frame, open_views(rows, shared.frame)
    if frame.rule == "literal":
        before = _lengths(rows, leaf, shared, labels)
        weight = np.array([0.5 * w / e for w, e in zip(shared.weights, before, strict=True)])
    else:
        weight = np.array([w * view.present[leaf] for w, view in zip(shared.weights, views, strict=True)])
    part, item_weight = shared.buffers.empty_partial(), rows["weight"][leaf]
    fresh = assign_block(views, leaf, shared, weight)
    lengths = [np.empty(labels.size, dtype=view.dtype) for view in views]
    for v, view in reversed(list(enumerate(views))):  # the last is still in the cache
        given = (leaf, fresh, item_weight, shared.field.centroids[v], float(frame.eps[v]))
        part.residual_sums[v] = view.lengths_and_sums(*given, lengths[v], part.sums[v], part.mass[v])
    rows.kept["lengths", frame.key, leaf.start] = (shared.name, lengths)
    part.counts += np.bincount(fresh[item_weight > 0], minlength=frame.n_clusters)
    part.n_moved = _count_moves(rows, leaf, shared, labels, fresh)
    return part, fresh.astype(frame.label_type)


def _count_moves(rows: Rows, leaf: slice, shared: Round, labels: NDArray[Any], fresh: Places) -> int:
    """How many rows are not where they were, or where they were put when clusters were empty."""
    before = labels.astype(np.intp)
    for item, cluster in shared.reseeded.items():
        if leaf.start <= item - rows.start < leaf.stop:
            before[item - rows.start - leaf.start] = cluster
    return int((fresh != before).sum())


def _lengths(rows: Rows, leaf: slice, shared: Round, labels: NDArray[Any]) -> list[Floats]:
    """Residuals of the round before: as they were kept, or from its labels and points again, which gives the same."""
    frame, views = shared.frame, open_views(rows, shared.frame)
    if shared.first_lengths is not None:
        return [np.where(view.present[leaf], e, np.inf) for view, e in zip(views, shared.first_lengths, strict=True)]
    name, kept = rows.kept.get(("lengths", frame.key, leaf.start), ("", None))
    if kept is not None and name == shared.last_name:
        return list(kept)
    return [
        smoothed_lengths(view, leaf, labels, rows["weight"][leaf], shared.last_centroids[v], float(frame.eps[v]))
        for v, view in enumerate(views)
    ]


def smoothed_lengths(
    view: ScaledView, rows: slice, labels: NDArray[Any], item_weight: Floats, centroids: Centroids, eps: float
) -> Floats:
    """Residuals of some rows, by the code that made them the first time: a loop without the sums is another loop to a
    compiler, which may round it in another way."""
    lengths = np.empty(labels.size, dtype=view.dtype)
    sums, mass = np.zeros(centroids.points.shape), np.zeros(centroids.points.shape[0])
    view.lengths_and_sums(rows, labels.astype(np.intp), item_weight, centroids, eps, lengths, sums, mass)
    return lengths


def sum_leaf(rows: Rows, leaf: slice, shared: Round, labels: NDArray[Any]) -> tuple[Partial, None]:
    """Sums of rows under given labels, every D = 1."""
    rows, leaf = rows.in_place(leaf)
    views, part = open_views(rows, shared.frame), shared.buffers.empty_partial()
    item_weight, places = rows["weight"][leaf], labels.astype(np.intp)
    for v, view in enumerate(views):
        view.add_differences(leaf, places, item_weight, shared.field.centroids[v], part.sums[v], part.mass[v])
    counted = places[(item_weight > 0) & (places >= 0)]
    part.counts += np.bincount(counted, minlength=shared.frame.n_clusters)
    return part, None


def add_partials(whole: Partial, part: Partial) -> Partial:
    """The sums of two parts, in the first of them."""
    for v in range(len(whole.sums)):
        whole.sums[v] += part.sums[v]
        whole.mass[v] += part.mass[v]
    whole.residual_sums += part.residual_sums
    whole.counts += part.counts
    whole.n_moved += part.n_moved
    if part.home is not None:
        part.home.give(part)
    return whole


class Costliest(NamedTuple):
    """Items that cost most where they are, the dearest first, the lowest number on ties."""

    items: Places
    costs: Floats
    labels: Places

    def merged(self, other: Costliest, n_wanted: int) -> Costliest:
        costs = np.concatenate([self.costs, other.costs])
        order = np.argsort(-costs, kind="stable")[:n_wanted]
        items, labels = np.concatenate([self.items, other.items]), np.concatenate([self.labels, other.labels])
        return Costliest(items[order], costs[order], labels[order])


def costly_leaf(rows: Rows, leaf: slice, shared: Round, labels: NDArray[Any]) -> tuple[Any, None]:
    """The rows that cost most where they are, less what smoothing adds; 1 for each before the first round."""
    rows, leaf = rows.in_place(leaf)
    frame, views = shared.frame, open_views(rows, shared.frame)
    cost = np.ones(labels.size) if shared.first_lengths is not None else np.zeros(labels.size)
    if shared.first_lengths is None:
        for v, (view, e) in enumerate(zip(views, _lengths(rows, leaf, shared, labels), strict=True)):
            cost += np.where(view.present[leaf], shared.weights[v] * np.maximum(e - 2 * frame.eps[v], 0), 0)
    here = np.flatnonzero((labels >= 0) & (rows["weight"][leaf] > 0) & (cost > 0))
    found = Costliest(here + leaf.start + rows.start, cost[here], labels[here].astype(np.intp))
    nobody = Costliest(found.items[:0], found.costs[:0], found.labels[:0])
    return (found.merged(nobody, shared.n_wanted), shared.n_wanted), None


def merge_costliest(whole: Any, part: Any) -> Any:
    return whole[0].merged(part[0], whole[1]), whole[1]


def label_leaf(rows: Rows, leaf: slice, shared: Round, labels: Any) -> tuple[Any, NDArray[Any]]:
    """Label rows by the smallest ``sum_v weights_v |x^v - f_k^v|``; with their distances per view if asked."""
    rows, leaf = rows.in_place(leaf)
    views = open_views(rows, shared.frame)
    weight = np.array([w * view.present[leaf] for w, view in zip(shared.weights, views, strict=True)])
    found = assign_block(views, leaf, shared, weight)
    if not shared.with_distances:
        return (), found.astype(shared.frame.label_type)
    each = np.arange(found.size)
    squares = [
        view.pair_squared_distances(leaf, each, found, shared.field.centroids[v]) for v, view in enumerate(views)
    ]
    return (), np.column_stack([found, *np.sqrt(squares)])


def assign_block(views: Sequence[ScaledView], rows: slice, shared: Round, weight: Floats) -> Places:
    """The cheapest cluster for each row, given each view's weight for each row (0 where it is missing).

    Products only propose: what their rounding leaves open is decided from differences in float64, the lowest cluster on
    ties.
    """
    field, rule, desk = shared.field, shared.frame.rule, shared.buffers.desks.take()
    n_rows = rows.stop - rows.start
    products, cost, doubt, pairs = desk.products(n_rows), desk.costs(n_rows), np.zeros(n_rows), desk.pairs(n_rows)
    for v, view in enumerate(views):
        view.products(rows, field.centroids[v], products)
        norms, slack, to = view.norms(rows), field.slack[v], (cost, doubt)
        if rule == "literal":
            kernels.add_literal(products, field.squares[v], field.norms[v].max(), norms, weight[v], slack, *to)
        else:
            kernels.add_exact(products, norms, field.norms[v], weight[v], slack, *to)
    labels = np.empty(n_rows, dtype=np.intp)
    n_open = kernels.cheapest(cost, doubt, labels, *pairs)
    if n_open:
        which, cluster = pairs[:, :n_open]
        pair_cost = np.zeros(n_open)
        for v, view in enumerate(views):
            apart = view.pair_squared_distances(rows, which, cluster, field.centroids[v])
            pair_cost += weight[v, which] * (apart if rule == "literal" else np.sqrt(apart))
        kernels.settle(which, cluster, pair_cost, labels)
    shared.buffers.desks.give(desk)
    return labels
