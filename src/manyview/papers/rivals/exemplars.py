"""Affinity propagation on a linear kernel, as the RMKMC and HML-RF papers compare with."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...types import Floats, Places

__all__ = ["affinity_propagation", "linear_kernel"]

_TRIES = 12


def linear_kernel(rows: Any) -> Floats:
    """w_ij = x_i . x_j, equation (18) of the RMKMC paper."""
    return np.asarray(rows @ rows.T, dtype=np.float64)


def affinity_propagation(
    similarities: Floats, n_clusters: int | None = None, *, max_iter: int = 200, random_state: int = 0
) -> Places:
    """Exemplars by message passing (Frey and Dueck, Science 2007): the label of each item.

    The preference, an exemplar's similarity to itself, decides how many there are: the median similarity where no
    number is asked for; otherwise bisection looks for the preference that gives ``n_clusters``, or the number nearest
    to it that it met. Papers do not say how they set it.
    """
    from sklearn.cluster import AffinityPropagation

    median = float(np.median(similarities))

    def labels_at(preference: float) -> Places:
        model = AffinityPropagation(
            affinity="precomputed", preference=preference, max_iter=max_iter, random_state=random_state, copy=True
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(similarities).labels_.astype(np.intp)

    labels = labels_at(median)
    if n_clusters is None:
        return labels
    tried = [(abs(np.unique(labels).size - n_clusters), 0, labels)]
    # The number rises with the preference: step away from the median until it has passed the one asked for, then halve.
    above = np.unique(labels).size > n_clusters
    step = (float(similarities.max() - similarities.min()) or 1.0) * (-1.0 if above else 1.0)
    inner, outer, passed = median, median + step, False
    for turn in range(1, _TRIES):
        if tried[-1][0] == 0:
            break
        place = (inner + outer) / 2 if passed else outer
        labels = labels_at(place)
        count = np.unique(labels).size
        tried.append((abs(count - n_clusters), turn, labels))
        if (count > n_clusters) == above:
            inner = place
            outer = outer if passed else place + (place - median)
        else:
            passed, outer = True, place
    return min(tried, key=lambda one: one[:2])[2]
