"""A fit in shards: a field is grown on each part of the items, wherever the engine says, and one absorbs the others."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data.source import Rows, RowSource, view_column
from ...data.views import Views
from ...engines.base import Engine, Plan, Span
from ...types import Places
from ..base import say
from ._field import field_of, place_items
from ._merge import absorb
from ._reader import Reader

__all__ = ["Shards"]


class Shards:
    """Consecutive parts of equal size of a ``Views``: a function of the number of items and of shards alone."""

    def __init__(self, views: Views, n_shards: int, engine: Engine) -> None:
        columns = {view_column(name): matrix for name, matrix in views.items()}
        self.engine, self.n_items = engine, views.n_items
        self.source = engine.place(RowSource({**columns, "mask": views.mask}))
        n_shards = min(n_shards, views.n_items)
        edges = [views.n_items * number // n_shards for number in range(n_shards + 1)]
        # A shard is learned item by item, so it is one leaf.
        self.plan = Plan(tuple(Span(a, b, (slice(0, b - a),)) for a, b in pairwise(edges)))

    def grow(self, model: Any, groups: Mapping[Any, Places], rng: np.random.Generator) -> NDArray[np.int64]:
        """Fields for all shards, each absorbed by those before it; the labels, in numbers of what came out."""
        spans = self.plan.spans
        sources = [rng] if len(spans) == 1 else rng.spawn(len(spans))
        orders = {span.start: source for span, source in zip(spans, sources, strict=True)}
        labels = np.empty(self.n_items, dtype=np.int64)
        begun = deepcopy(model)  # which goes on to change while later shards are learned
        results = self.engine.map(_grow_shard, self.source, self.plan, (begun, dict(groups), orders))
        for number, (span, (grown, state)) in enumerate(zip(spans, results, strict=True)):
            found = self.engine.read(state)
            self.engine.let_go([state])
            numbers = _absorbed(model, grown) if number else _adopted(model, grown)
            labels[span.start : span.stop] = np.append(numbers, -1)[found]
            if model.verbose:
                n_grown = grown.field["size"].size
                say(f"shard {number + 1} of {len(spans)}: {n_grown} clusters, {model.n_clusters_} with those before")
        model._keep(model._open_field(None)[0], labels)
        return labels

    def place(self, model: Any, allowed: NDArray[np.bool_], novelty: bool = False) -> NDArray[np.int64]:
        """The winner among the allowed clusters for every item, prototypes frozen."""
        results = self.engine.map(_place_shard, self.source, self.plan, (model, allowed, novelty))
        found = []
        for _, state in results:
            found.append(self.engine.read(state))
            self.engine.let_go([state])
        return np.concatenate(found)


class _Grown(NamedTuple):
    """What one shard has become."""

    field: dict[str, NDArray[Any]]
    groups: list[Any]
    n_iter: int


def _grow_shard(rows: Rows, leaf: slice, shared: Any, _: Any) -> tuple[_Grown, NDArray[np.int64]]:
    """Learn the items of a shard by a copy of the model, whose field is still empty."""
    begun, groups, orders = shared
    model, views = deepcopy(begun), _views_of(rows, begun.view_names_)
    model.verbose = 0
    stop = rows.start + views.n_items
    here = {name: items[(items >= rows.start) & (items < stop)] - rows.start for name, items in groups.items()}
    labels = model._grow(views, here, deepcopy(orders[rows.start]))
    return _Grown(model.field_, model.groups_, model.n_iter_), labels


def _place_shard(rows: Rows, leaf: slice, shared: Any, _: Any) -> tuple[None, NDArray[np.int64]]:
    begun, allowed, novelty = shared
    model = deepcopy(begun)
    reader = Reader(_views_of(rows, model.view_names_), model._layout())
    field, rules = model._open_field(reader)
    return None, place_items(field, rules, reader, allowed, novelty, 1)


def _views_of(rows: Rows, names: tuple[str, ...]) -> Views:
    matrices = tuple(rows[view_column(name)] for name in names)
    mask = np.asarray(rows["mask"])
    return Views._trusted(names, matrices, mask, np.arange(mask.shape[0]))


def _adopted(model: Any, grown: _Grown) -> Places:
    """The first shard's field is where the model begins, with the numbers it has."""
    model.groups_, model.n_iter_ = list(grown.groups), grown.n_iter
    model._keep(field_of(deepcopy(grown.field)), np.empty(0))
    return np.arange(model.n_clusters_)


def _absorbed(model: Any, grown: _Grown) -> Places:
    field, rules = model._open_field(None)
    groups = list(model.groups_)
    field, numbers = absorb(field, rules, model._layout(), groups, grown.field, grown.groups, None)
    model.groups_, model.n_iter_ = groups, max(model.n_iter_, grown.n_iter)
    model._keep(field, np.empty(0))
    return numbers
