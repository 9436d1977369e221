"""Ask a run of a collection about its clusters and items, from what is kept on disk."""

from __future__ import annotations

import numpy as np

from ..collection.collection import Collection
from ..collection.runs import Run
from ..data.views import Views
from ..errors import ParameterError
from .fit import TAGS, describe_run, fit_views, item_words
from .profiles import ClusterProfiles
from .reasons import ItemReason, explain_item

__all__ = ["explain_in_run", "profiles_of_run", "run_views"]


def run_views(collection: Collection, run: Run) -> Views | None:
    """The views a run used, as they are now; those that were removed since are left out."""
    there = [name for name in run.views if name == TAGS or name in collection.view_names]
    return fit_views(collection, there, run.method)[0] if there else None


def profiles_of_run(collection: Collection, run: Run) -> ClusterProfiles:
    """The clusters of a run, described anew with today's tags and names. Items that came later are in no cluster."""
    ids, labels = collection.runs.labels(run.id)
    here = collection.items.ids
    current = np.full(here.size, -1, dtype=np.int64)
    current[np.searchsorted(here, ids)] = labels
    return describe_run(run_views(collection, run), current, collection.tags, item_words(collection))


def explain_in_run(collection: Collection, run: Run, item_id: int) -> ItemReason:
    """Why an item is where it is."""
    row = int(np.searchsorted(collection.items.ids, item_id))
    if row >= len(collection.items) or collection.items.ids[row] != item_id:
        raise ParameterError(f"item {item_id} is not in the collection any more.")
    return explain_item(profiles_of_run(collection, run), row)
