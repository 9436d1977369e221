"""Who votes: everybody, but of items that occur very often one for all."""

from __future__ import annotations

import warnings

import numpy as np

from ...errors import ViewWarning
from ...types import Places
from ..base import outside, warn_fewer

__all__ = ["numbered", "representatives", "voters", "warn_if_few"]


def voters(kinds: Places, n_neighbours: int) -> Places:
    """Everybody, but only one of items that occur so often that they would be each other's only neighbours."""
    first = np.zeros(kinds.size, dtype=bool)
    first[np.unique(kinds, return_index=True)[1]] = True
    return np.flatnonzero(first | (np.bincount(kinds)[kinds] <= n_neighbours))


def representatives(kinds: Places, voting: Places) -> Places:
    """For every item the position among the voters of itself, or of the copy that voted for it."""
    position = np.full(kinds.size, -1, dtype=np.intp)
    position[voting] = np.arange(voting.size)
    first = np.unique(kinds, return_index=True)[1]
    return np.where(position >= 0, position, position[first[kinds]])


def numbered(kinds: Places) -> Places:
    """Kinds as numbers from 0 without gaps."""
    return np.unique(kinds, return_inverse=True)[1]


def warn_if_few(n_items: int, n_clusters: int) -> None:
    """Say so where clusters can have next to no items, or there are fewer items that differ than clusters."""
    warn_fewer(n_items, n_clusters)
    if n_clusters <= n_items < 3 * n_clusters:
        warnings.warn(
            f"{n_clusters} clusters of {n_items} different items: fewer than three each, so that the votes are almost "
            "as fine as the items. The clusters may mean little; ask for fewer.",
            ViewWarning,
            stacklevel=outside(),
        )
