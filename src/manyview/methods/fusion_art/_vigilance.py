"""A vigilance for tags by the GHF-ART paper's own reason for its own: few items in small clusters."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np

from ...data.views import Views
from ...types import Places

__all__ = ["GRID", "USUAL", "few_in_small_clusters", "find_vigilance"]

GRID = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.34, 0.3, 0.25, 0.2, 0.15)
USUAL = 0.1
_SMALL, _FEW = 0.01, 0.02
"""A cluster is small with less than this share of the items; in small ones may be at most that share."""


def find_vigilance(model: Any, views: Views, y: Any) -> float:
    """The largest of ``GRID`` at which few items are in small clusters, ``USUAL`` where there is none.

    Every try has the settings of the model and the same order of items; small clusters stay as they are.
    """
    settings = {**model.get_params(), "min_size": None, "verbose": 0}
    for rho in GRID:
        tried = type(model)(**{**settings, "vigilance": {"tags": rho}, "random_state": deepcopy(model.random_state)})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model itself says it once
            labels = np.asarray(tried.fit(views, y).labels_)
        if few_in_small_clusters(labels):
            return rho
    return USUAL


def few_in_small_clusters(labels: Places) -> bool:
    """Whether at most 2 % of the items are in clusters of less than 1 % of them.

    >>> few_in_small_clusters(np.repeat([0, 1, 2], [99, 99, 2]))
    True
    >>> few_in_small_clusters(np.repeat([0, 1, 2, 3, 4], [65, 64, 64, 4, 3]))
    True
    >>> few_in_small_clusters(np.arange(200))
    False
    """
    sizes = np.bincount(labels[labels >= 0])
    n_items = sizes.sum()
    return bool(sizes[sizes < _SMALL * n_items].sum() <= _FEW * n_items)
