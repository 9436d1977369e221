"""How the field of a FusionART begins and grows: what ``fit``, its shards and ``partial_fit`` have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.parameters import check_parameters
from ...data.views import Views
from ...errors import ParameterError
from ...types import Floats, Places
from ..base import say
from ._field import (
    empty_field,
    field_of,
    found_groups,
    learn_rows,
    make_rules,
    place_items,
    set_reach,
    state_of,
    without_deserted,
)
from ._reader import Reader
from ._results import FieldResults
from ._state import FREE, SKIP
from ._vigilance import USUAL
from .seen import Seen
from .settings import check_bounds, check_kinds, check_shares, check_tags, check_vigilance

__all__ = ["TRACKING", "GrowingField"]

TRACKING = {None: 0, "printed": 1, "monotone": 2}


class GrowingField(FieldResults):
    """The settings of a FusionART, and what it does with its field."""

    vigilance: Any
    choice: float
    learning_rate: float
    channels: Any
    contributions: Any
    tag_learning: str
    match_tracking: str | None
    epochs: int
    shuffle: bool
    bounds: Any
    n_jobs: int | None
    verbose: int
    _prune: bool = True

    def _check_parameters(self) -> None:
        check_parameters(self)
        check_shares(self.contributions, self.view_names_)

    def _is_auto(self) -> bool:
        return isinstance(self.vigilance, str) and self.vigilance == "auto"

    def _vigilances(self) -> Floats:
        """One number for each view."""
        return check_vigilance({"tags": self.tag_vigilance_} if self._is_auto() else self.vigilance, self.channels_)

    def _start(self, seen: Seen, from_data: bool) -> None:
        """An empty field for these views, with the bounds of the data or those to begin a stream with."""
        self.channels_ = check_kinds(self.channels, seen)
        if self._is_auto():
            self.tag_vigilance_ = USUAL
        self._vigilances()
        check_tags(seen, self.channels_)
        if isinstance(self.bounds, Mapping):
            for name in self.bounds:
                if self.channels_.get(name) != "content":
                    raise ParameterError(f"bounds names {name!r}, which is not a content view.")
        channels, bounds = self._layout(), []
        for name, width in zip(channels.names, channels.widths, strict=True):
            if self.channels_[name] == "tags":
                continue
            given = check_bounds(self.bounds, name, width)
            if given is None:
                given = seen.bounds(name) if from_data else (np.zeros(width), np.ones(width))
            bounds.append(given)
        shares = np.full(channels.n_channels, 1.0 / channels.n_channels)
        self.groups_ = []
        self.tag_learning_ = self.tag_learning
        self._keep(empty_field(channels, bounds, shares), np.empty(0))

    def _open_field(self, reader: Reader | None) -> tuple[Any, Any]:
        """The field with room to grow, and the settings of now."""
        field = getattr(self, "_open", None)
        if field is None or field.tally is not self.field_["tally"]:
            field = field_of(self.field_)
        fixed = check_shares(self.contributions, self.view_names_)
        channels = self._layout()
        if fixed is not None:
            field.shares[:] = channels.in_channel_order(fixed)
        rules = make_rules(
            channels,
            channels.in_channel_order(self._vigilances()),
            self.choice,
            self.learning_rate,
            adaptive=fixed is None,
            fuzzy=self.tag_learning_ == "fuzzy",
            tracking=TRACKING[self.match_tracking],
            most_tags=0 if reader is None else reader.most_tags,
            prune=self._prune,
        )
        set_reach(field, rules)
        return field, rules

    def _grow(self, views: Views, groups: Mapping[Any, Places], rng: np.random.Generator) -> NDArray[np.int64]:
        """Learn all items in ``epochs`` passes, from an empty field; the labels they get."""
        reader = Reader(views, self._layout())
        labels, forced = self._take_groups(groups, views, reader)
        forced[~views.mask.any(axis=1)] = SKIP
        field, rules = self._open_field(reader)
        previous = None
        spills = np.zeros((views.n_items, reader.channels.n_channels)) if self.epochs > 1 else None
        for epoch in range(1, int(self.epochs) + 1):
            order = rng.permutation(views.n_items) if self.shuffle else None
            before = labels.copy()
            field = self._learn(
                field, learn_rows(field, rules, reader, order, forced, labels, previous, spills), labels
            )
            if self.verbose:
                moved = int((labels != before).sum())
                say(f"epoch {epoch} of {self.epochs}: {int(field.tally[0])} clusters, {moved} labels changed")
            self.n_iter_ = epoch
            field = without_deserted(field, labels)
            self._keep(field, labels)
            if epoch > 1 and np.array_equal(before, labels):
                break
            previous = np.where(forced == FREE, labels, -1)
        return labels

    def _placed(self, views: Views, allowed: NDArray[np.bool_], novelty: bool = False) -> NDArray[np.int64]:
        """The winner among the allowed clusters for every item, by the threads of this process."""
        reader = Reader(views, self._layout())
        field, rules = self._open_field(reader)
        return place_items(field, rules, reader, allowed, novelty, self.n_jobs)

    def _learn(self, field: Any, fields: Iterator[Any], labels: NDArray[np.int64]) -> Any:
        """Run through a stretch of learning; what was learned is kept even if something stops it half-way."""
        try:
            for latest in fields:
                field = latest
        finally:
            self._keep(field, labels)
        return field

    def _keep(self, field: Any, labels: NDArray[Any]) -> None:
        self._open = field
        self.field_ = state_of(field)
        self.labels_ = labels.astype(np.intp, copy=False)
        self.n_clusters_ = int(field.tally[0])
        self.contributions_ = self._layout().in_view_order(field.shares)
        self.view_weights_ = self.contributions_

    def _take_groups(
        self, given: Mapping[Any, Places], views: Views, reader: Reader
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Open clusters for groups that are new; labels of their members, and which items are not free."""
        labels = np.full(views.n_items, -1, dtype=np.int64)
        forced = np.full(views.n_items, FREE, dtype=np.int64)
        has_any = views.mask.any(axis=1)
        groups = {name: rows[np.asarray(has_any)[rows]] for name, rows in given.items()}
        new = {name: rows for name, rows in groups.items() if name not in self.groups_ and rows.size}
        numbers = {self.groups_.index(name): rows for name, rows in groups.items() if name in self.groups_}
        for number, rows in numbers.items():
            forced[rows] = int(np.flatnonzero(self.field_["group"] == number)[0])
        if new:
            field, rules = self._open_field(reader)
            first = len(self.groups_)
            field = found_groups(field, rules, reader, {first + at: rows for at, rows in enumerate(new.values())})
            self.groups_ = [*self.groups_, *new]
            self._keep(field, labels)
            for at, rows in enumerate(new.values()):
                labels[rows] = int(np.flatnonzero(self.field_["group"] == first + at)[0])
                forced[rows] = SKIP
        return labels, forced
