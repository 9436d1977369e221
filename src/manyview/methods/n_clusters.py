"""How many clusters? What the neighbours of the items say, or the trials of a clusterer of yours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..data.checks import as_generator, check_choice, check_number
from ..data.views import Views
from ..errors import ParameterError
from .consensus.number import ClusterNumbers, count_clusters
from .halves import ClusterTrials, compare_halves

__all__ = ["ClusterNumbers", "ClusterTrials", "suggest_n_clusters"]


def suggest_n_clusters(
    X: Any,
    estimator: Any = None,
    *,
    candidates: Iterable[int] | None = None,
    by: str | None = None,
    n_repeats: int = 5,
    max_items: int = 20_000,
    fit_params: Mapping[str, Any] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> ClusterNumbers | ClusterTrials:
    """Suggest how many clusters ``X`` has, from its items alone or for a clusterer that takes ``n_clusters``.

    *Neighbours*: the views are prepared as ``ConsensusClustering`` prepares them, and the number is where the graph of
    nearest neighbours falls apart most clearly, in the region where its communities say; nothing is clustered. Rivals,
    a coarser and a finer number come with it. *Stability* and *held-out objective*: in each of ``n_repeats`` trials the
    items are cut into two random halves, and a copy of ``estimator`` is fitted to each. Each model labels the other's
    half, and its labels are compared with those found there (adjusted Rand index); suggested is the largest number
    whose agreement is, within its standard error, that of the best. Or each model's ``score`` on the other's half
    (where it has none, the squared distances to the means of its clusters, each view in units of its variance; squared
    distances become minus their logarithm) is taken; that usually grows with the number, so suggested is where it bends
    most.

    Parameters
    ----------
    X : Views, a list or dict of matrices, or one 2-D array
    estimator : a clusterer of manyview, or None
        For trials: None takes ``ConcatenatedKMeans(n_init=3)``.
    candidates : numbers to consider
        By default, for neighbours: from 3 (2 below 60 items, or with up to 32 columns) up to four times the
        communities; in trials: from 2 to the square root of the number of items, at most 100, ever sparser.
    by : "neighbours", "stability", "held_out" or None
        None asks the neighbours, unless an estimator is given: then its stability decides.
    n_repeats : int, default=5
        Of trials.
    max_items : int, default=20_000
        Larger collections are represented by so many random items; by 6,000 for neighbours.
    fit_params : dict or None
        What ``fit`` takes beside ``X`` (``annotations``, ``tags``, ``sample_weight``). What has one entry per item is
        cut with the items, by position; ``annotations``, whose rows are tags, are never cut.
    random_state : None, int or numpy Generator
    n_jobs : None or int
        Threads; passed to estimators that have it.
    verbose : int, default=0
        1 tells of every number tried, on stderr.

    Returns
    -------
    ClusterNumbers (neighbours) or ClusterTrials: both have ``n_clusters``, ``reason``, ``candidates``, ``plot(path)``.

    Notes
    -----
    Neighbours cost about a second, whatever the number of items; trials 2 x n_repeats fits on half the items for each
    candidate. T. Lange, V. Roth, M. Braun, J. Buhmann, "Stability-based validation of clustering solutions", Neural
    Computation 16, 2004; knees as in V. Satopaa et al., "Finding a kneedle in a haystack", 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import AcceleratedKMeans, suggest_n_clusters
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(np.eye(4) * 9, 30, axis=0) + rng.normal(size=(120, 4))
    >>> suggest_n_clusters(X, random_state=0).n_clusters
    4
    >>> suggest_n_clusters(X, AcceleratedKMeans(n_init=5), candidates=range(2, 8), random_state=0).n_clusters
    4
    """
    check_choice("by", by, ("neighbours", "stability", "held_out", None))
    repeats = check_number("n_repeats", n_repeats, integer=True, low=1)
    limit = check_number("max_items", max_items, integer=True, low=4)
    views, rng = Views(X), as_generator(random_state)
    if by == "neighbours" and estimator is not None:
        raise ParameterError("by='neighbours' clusters nothing, so leave estimator out; 'stability' tries it.")
    if by == "neighbours" or (by is None and estimator is None):
        seed = int(rng.integers(2**31))
        return count_clusters(views, candidates=candidates, max_items=limit, seed=seed, n_jobs=n_jobs)
    settings: dict[str, Any] = {"n_repeats": repeats, "max_items": limit, "fit_params": fit_params, "rng": rng}
    how = by or "stability"
    return compare_halves(views, estimator, how, candidates=candidates, n_jobs=n_jobs, verbose=verbose, **settings)
