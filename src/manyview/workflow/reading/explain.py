"""Ask a run of a collection about its clusters and items, from what is kept on disk."""

from __future__ import annotations

import numpy as np

from ...collection.runs import Run
from ...collection.store import Store
from ...describe.profiles import ClusterProfiles
from ...describe.reasons import ItemReason, explain_item
from ...errors import ParameterError
from ..clusters.state import State
from ..run_views import describe_run

__all__ = ["explain_in_run", "profiles_of_run"]


def profiles_of_run(collection: Store, run: Run) -> ClusterProfiles:
    """The clusters as they are now, described anew with today's tags; labels are the clusters' numbers."""
    state = State(collection, run)
    return describe_run(state.views, state.labels, state.tags, state.words, weights=state.weights, names=state.names)


def explain_in_run(collection: Store, run: Run, item_id: int) -> ItemReason:
    """Why an item is where it is."""
    row = int(np.searchsorted(collection.items.ids, item_id))
    if row >= len(collection.items) or collection.items.ids[row] != item_id:
        raise ParameterError(f"item {item_id} is not in the collection any more.")
    return explain_item(profiles_of_run(collection, run), row)
