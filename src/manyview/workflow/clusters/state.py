"""A run as it is at one moment, read once and handed down to everything that works on it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...collection.living import KeptProfile, Links, Standing
from ...collection.runs import Run
from ...collection.store import Store
from ...data.tags import TagTable
from ...data.views import Views
from ...errors import ParameterError
from ...types import Ids
from ..run_views import ItemWords, item_words, run_views

if TYPE_CHECKING:
    from .living import LiveCluster

__all__ = ["State"]


class State:
    """Where the items of a run are, and what is known of them; every part is read when it is first asked for.

    It shows one moment. Whoever writes goes on with another: ``State(...)``, or ``moved()`` where only places changed.
    """

    def __init__(self, collection: Store, run: Run | None = None, standing: Standing | None = None) -> None:
        """The run, or the newest fit; ``standing`` where it is known already."""
        self.collection = collection
        self.run = collection.runs.get() if run is None else run
        if standing is not None:
            self.standing = standing

    def moved(self) -> State:
        """The state after items were placed, or clusters named, while items, tags and views stayed as they are."""
        after = State(self.collection, self.run)
        for name in ("ids", "tags", "words", "views"):
            if name in self.__dict__:
                after.__dict__[name] = self.__dict__[name]
        return after

    # --- items ---

    @cached_property
    def ids(self) -> Ids:
        """The items of the collection, ascending: the rows of ``tags``, ``views``, ``words`` and ``labels``."""
        return self.collection.items.ids

    @cached_property
    def tags(self) -> TagTable:
        """What is known of their tags."""
        return self.collection.tagging.table(self.ids)

    @cached_property
    def words(self) -> ItemWords:
        """What names can be made of: what they are called, their texts, folders and dates, what pictures show."""
        return item_words(self.collection, self.run.figures.get("language"))

    @cached_property
    def views(self) -> Views | None:
        """The views the run used, as they are now; None where they are gone."""
        return run_views(self.collection, self.run, self.tags)

    @property
    def weights(self) -> dict[str, float] | None:
        """How much each of the views counts in the run; None where it does not say."""
        known = self.run.figures.get("view_weights")
        return {name: known.get(name, 0.0) for name in self.views.names} if known and self.views is not None else None

    # --- clusters ---

    @cached_property
    def standing(self) -> Standing:
        """Where every item is."""
        return self.collection.living.standing(self.run.id)

    @cached_property
    def labels(self) -> Ids:
        """The cluster of each item; -1 for items in none and for those not yet placed."""
        labels = np.full(self.ids.size, -1, dtype=np.int64)
        labels[np.searchsorted(self.ids, self.standing.ids)] = self.standing.clusters
        return labels

    @cached_property
    def profiles(self) -> tuple[dict[int, KeptProfile], list[int]]:
        """What is said of each cluster, and the clusters of which it had to be found anew."""
        from .living import find_profiles

        return find_profiles(self)

    @cached_property
    def clusters(self) -> list[LiveCluster]:
        """The clusters, largest first."""
        from .living import clusters_of

        return clusters_of(self)

    @property
    def names(self) -> dict[int, str]:
        """What they are called."""
        return {one.id: one.name for one in self.clusters}

    def cluster(self, number: int) -> LiveCluster:
        """A cluster that is there, or why it is not."""
        by_number = {one.id: one for one in self.clusters}
        if number in by_number:
            return by_number[number]
        living = self.collection.living
        merged = living.merged()
        if number in merged:
            raise ParameterError(f"cluster {number} was merged into {merged[number]}; name that one.")
        there = ", ".join(map(str, sorted(by_number)))
        what = "has no items now" if number in living.said() else "does not exist"
        raise ParameterError(f"cluster {number} {what}; the clusters of run {self.run.id} are {there}.")

    @cached_property
    def link_rows(self) -> list[tuple[int, int, int]]:
        """First item, second item, together (1) or apart (0)."""
        return self.collection.living.link_rows()

    @cached_property
    def links(self) -> Links:
        """The same as groups and pairs."""
        return Links(self.link_rows)
