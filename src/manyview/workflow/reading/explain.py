"""Ask a run of a collection about its clusters and items, from what is kept on disk."""

from __future__ import annotations

import numpy as np

from ...collection.runs import Run
from ...collection.store import Store
from ...describe.profiles import ClusterProfiles
from ...describe.reasons import ItemReason, explain_item
from ...errors import ParameterError
from ...methods.consensus.number import ClusterNumbers
from ..clusters.state import State
from ..run_views import describe_run

__all__ = ["VIEW_WORDS", "explain_in_run", "number_of_run", "profiles_of_run"]

VIEW_WORDS = {"embedding": "looks"}
"""What sentences call views whose names are for those who compute them; ``viewWord`` of the pages knows the same."""


def profiles_of_run(collection: Store, run: Run) -> ClusterProfiles:
    """The clusters as they are now, described anew with today's tags; labels are the clusters' numbers."""
    state = State(collection, run)
    return describe_run(state.views, state.labels, state.tags, state.words, weights=state.weights, names=state.names)


def number_of_run(run: Run) -> ClusterNumbers | None:
    """How the number of clusters of a run was found; None where it was given, or by a rule of its own."""
    kept = run.figures.get("number")
    return ClusterNumbers.from_dict(kept) if kept and kept.keys() >= {"candidates", "score", "eigenvalues"} else None


def explain_in_run(collection: Store, run: Run, item_id: int) -> ItemReason:
    """Why an item is where it is."""
    row = int(np.searchsorted(collection.items.ids, item_id))
    if row >= len(collection.items) or collection.items.ids[row] != item_id:
        raise ParameterError(f"item {item_id} is not in the collection any more.")
    return explain_item(profiles_of_run(collection, run), row, view_words=VIEW_WORDS)
