"""Consensus clustering: many short partitions and many neighbours vote, and one spectral step counts the votes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ...blocks import Workers, workers
from ...data.checks import as_generator, check_number
from ...data.parameters import RUNNING, Choice, Constraints, Either, Given, Number
from ...data.spaces import same_row_sums
from ...data.views import Views
from ...engines.base import Engine
from ...engines.choice import working
from ...errors import ViewWarning
from ...renamed import warn_renamed
from ...steps import expect, step
from ...types import Floats, Places
from ..base import MultiviewEstimator, aloud, check_n_clusters, items_with_views, outside, say
from ..preparation import Prepared, prepare
from ._electors import numbered, representatives, voters, warn_if_few
from ._graph import few_neighbours
from ._kinds import present_in
from ._landmarks import Fitted, choose_landmarks, place_items, place_rest
from ._members import check_members, check_previous, given_members, start_of
from ._points import Points, kinds_of, points_of
from ._say import different_stories, view_says
from ._vote import Outcome, vote
from .cost import cost_of_steps, number_of_landmarks, seconds_to_place, shape_of
from .levels import cut_levels, level_nodes, level_range, place_in_level, single_level

__all__ = ["ConsensusClustering"]

_SAY_OF_PREVIOUS = 1 / 3  # of the members that are made here


class ConsensusClustering(ClusterMixin, MultiviewEstimator):
    """Cluster items by the votes of many quick partitions and of neighbours, in every view and in all together.

    The choice when nothing is known about the data: one set of defaults, no labels, no view weights to set. Each view,
    and all views side by side, are cut by ten short k-means runs of K to 3K clusters; each also names every item's ten
    nearest neighbours. Both kinds of votes make one similarity; of many partitions (k-means on its eigenvectors, plain
    k-means) the one that holds together best what the votes put together is taken, after items have moved to where
    they gain most. Evidence accumulation (Fred and Jain 2005) in its spectral form (Fern and Brodley 2004) mixed with
    averaged neighbour graphs. Better than k-means on most collections, not on all: see the documentation.

    Parameters
    ----------
    n_clusters : int, default=8
    scale : "auto", "rank", "minmax" or None, default="auto"
        Dense features with long tails become normal quantiles of their ranks; others keep their spacing, in the range
        that ranks would give them. Or ("minmax") all are moved to a range of 2, or stay. Every view is then centred and
        given rows of mean length 1. Sparse views, and dense tables of counts, always become tf-idf, reduced to 100
        dimensions. "auto" begins with "rank" and 100 dimensions and takes another scaling (min-max, raw, roots,
        directions; 15, 30 or 60 dimensions) where a view's neighbours then agree at least a tenth better with the
        other views.
    alpha : float in [0, 1], default=0.6
        The share of the neighbours in the vote; the rest is the members'.
    members : int, or list, default=10
        Partitions made of each view and of all together. In a list there may also stand fitted clusterers of
        manyview, clusterers to be fitted on the same data, and arrays of labels (-1: no opinion); ``(member, weight)``
        gives one more or less weight than the 1 of the others. A number in the list says how many to make beside
        them (10).
    n_neighbors : int, default=10
        Nearest neighbours per item and space, but no more than a quarter of the different items (at least 3). Exact
        up to 8,000 items; above, sought in nearby cells.
    landmarks : "auto", int or None, default="auto"
        How many items vote. The others go where ``predict`` would put them: time and memory of the votes then do not
        grow with the collection, and views may lie on disk. "auto": 100,000, or as many as 2 GB have room for. None:
        all.
    previous : labels of an earlier clustering, one per item, or None
        To go on from it instead of starting afresh: -1 stands for items it did not know. It is a member with a third
        of the weight of all members made here together, a quarter of the members' vote; and where it has
        ``n_clusters`` clusters, they are one of the partitions, which is taken unless another is better by more than
        2 %. Clusters then change where the data say so clearly, not by chance.
    random_state : int, Generator or None, default=0
        The same data give the same clusters unless another seed is asked for; None draws one.
    n_jobs : int or None
        Threads; None takes all cores. The result does not depend on it.
    verbose : int, default=0
        1 reports the steps and their times.
    neighbours : int
        The old name of ``n_neighbors``; it goes with the next release.

    Attributes
    ----------
    labels_ : ndarray of int, -1 for items that lack every view
    n_clusters_ : int, fewer than asked only where fewer items differ
    cluster_centers_ : dict of view name to ndarray, the mean of the cluster's items in the units of the input
    cluster_sizes_ : ndarray of int
    member_labels_ : ndarray (n_items, n_members), -1 where a member leaves an item out
    member_sizes_ : ndarray, the number of clusters of each member
    eigenvalues_ : ndarray, falling; a gap after the K-th speaks for K
    association_ : float, how much of the votes stays inside clusters: the mean over clusters, 1 at best
    candidate_ : str, which of the partitions was taken
    scaling_agreement_ : dict of view name to dict of scaling to its agreement with the other views; empty unless
        ``scale`` is "auto" and there are two views
    view_scalings_ : dict of view name to the scaling that was taken, or the number of dimensions of words
    view_weights_ : ndarray (n_views,), the say of each view, summing to 1: equal unless one agrees with no other
    view_agreement_ : dict of view name to dict of other view name to how well they agree, 1 at best, 0 by chance; NaN
        where there are too few items to tell
    views_disagree_ : bool, whether views that each have structure tell different stories; a warning says so
    modularity_ : float, of the labels in the neighbour graph
    view_shares_ : dict of view name to the share of its neighbour pairs that ended in one cluster
    joined_share_ : float, the same for all views side by side
    levels_ : dict of arrays, the tree of coarser and finer clusters that ``cut`` cuts
    landmarks_ : ndarray of int, rising: the items that voted where not all did, else None. ``association_``,
        ``modularity_``, ``view_shares_`` and ``eigenvalues_`` are theirs alone

    Notes
    -----
    Time: ten partitions of n items per view (15 rounds of 2K centres, learned on samples above 100,000 items), 768 n d
    for neighbours, and 50 to 200 products of n (members + 20 views) for the eigenvectors: near-linear in n. Memory
    beside the input: the scaled views in float32, 2 bytes per item and member, 120 bytes per item and space for the
    neighbours, 20 (K + 2) bytes per item for the eigenvectors. A fitted model keeps the scaled rows of at most 100,000
    items, for ``predict``.

    An item without a view, or with an empty row in a sparse one, has no vote there and is placed by its other views.
    Of an item that occurs more than ``n_neighbors`` times one copy votes; equal items share a cluster.

    >>> from manyview import ConsensusClustering
    >>> from manyview.testing import separated_views
    >>> X, truth = separated_views()
    >>> model = ConsensusClustering(3).fit(X)
    >>> model.cluster_sizes_.tolist()
    [20, 20, 20]
    """

    _constraints: ClassVar[Constraints] = {
        "n_clusters": Number(integer=True, low=1),
        "scale": Choice("auto", "rank", "minmax", None),
        "alpha": Number(low=0, high=1),
        "members": Given("an integer of at least 1, or a list of labels and clusterers"),
        "n_neighbors": Number(integer=True, low=1),
        "landmarks": Either(Number(integer=True, low=1), Choice("auto", None)),
        "previous": Given("one label for each item"),
        **RUNNING,
        "neighbours": Either(Number(integer=True, low=1), Choice("deprecated")),
    }
    checks_not_applicable: ClassVar[Mapping[str, str]] = {
        "check_sparse_equals_dense": "a sparse view is read as words and becomes tf-idf, a dense one is scaled"
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        scale: str | None = "auto",
        alpha: float = 0.6,
        members: Any = 10,
        n_neighbors: int = 10,
        landmarks: Any = "auto",
        previous: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        neighbours: Any = "deprecated",
    ) -> None:
        self.n_clusters = n_clusters
        self.scale = scale
        self.alpha = alpha
        self.members = members
        self.n_neighbors = n_neighbors
        self.landmarks = landmarks
        self.previous = previous
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.neighbours = neighbours

    def fit(self, X: Any, y: Any = None) -> ConsensusClustering:
        """Find the clusters of ``X``: a ``Views``, a list or dict of matrices, or one 2-D array."""
        views = self._fit_views(X)
        if self.neighbours != "deprecated":
            warn_renamed("neighbours", "n_neighbors")
        n_members, entries = check_members(self.members)
        has_any = items_with_views(views)
        n_clusters = check_n_clusters(self.n_clusters, int(has_any.sum()))
        seed = int(as_generator(self.random_state).integers(2**31))
        given = given_members(entries, views)
        previous = None if self.previous is None else check_previous(self.previous, views.n_items)
        shape = shape_of(views)
        most = number_of_landmarks(self.landmarks, shape, n_clusters, n_members)
        self.landmarks_ = landmarks = choose_landmarks(has_any, views.mask, previous, most, seed)
        settings = (n_clusters, n_members, seed)
        with aloud(type(self).__name__, self.verbose), working(self.n_jobs) as engine:
            n_voting = views.n_items if landmarks is None else landmarks.size
            expect(cost_of_steps(shape, n_clusters, n_members, self.n_jobs, n_voting))
            if landmarks is None:
                self._fit_all(views, given, previous, *settings, engine)
                return self
            here = [replace(member, labels=member.labels[landmarks]) for member in given]
            before = None if previous is None else previous[landmarks]
            heard = self._fit_all(views[landmarks], here, before, *settings, engine)
            known = [*given, *(given_members([(previous, 1.0)], views) if len(heard) > len(given) else [])]
            with step("placing the rest", of=views.n_items - landmarks.size) as tick:
                self._place_rest(views, has_any, landmarks, [member.labels for member in known], tick, engine)
        return self

    def _fit_all(
        self,
        views: Views,
        given: list[Any],
        previous: Places | None,
        n_clusters: int,
        n_members: int,
        seed: int,
        engine: Engine,
    ) -> list[Any]:
        """Let every item vote, and store the results; the members from elsewhere that were heard."""
        asked = int(self.n_neighbors if self.neighbours == "deprecated" else self.neighbours)
        points = self._learn_points(views, n_clusters, engine.threads)
        everyone = np.flatnonzero(views.mask.any(axis=1))
        kinds = kinds_of(points.of(everyone))
        n_neighbours = few_neighbours(asked, int(kinds.max()) + 1)
        voting = voters(kinds, n_neighbours)
        electors = points.of(everyone[voting])
        if n_clusters == 1 or kinds.max() < n_clusters or not points.names:
            numbers = kinds[voting] if points.names and kinds.max() < n_clusters else np.zeros(voting.size, np.intp)
            outcome = None
            if (n_kinds := int(numbers.max()) + 1) < n_clusters:
                warn_if_few(n_kinds, n_clusters)
            few = np.arange(voting.size if numbers.any() else 1)  # one stands for all that are alike
            labels = numbers[few]
            self.state_ = {**electors.kept(few), "labels": labels}
        else:
            warn_if_few(electors.rows.shape[0], n_clusters)
            if previous is not None:
                weight = _SAY_OF_PREVIOUS * n_members * len(electors.spaces(at_least=2))
                given = given + given_members([(previous, weight)], views)
            here = [replace(member, labels=member.labels[everyone[voting]]) for member in given]
            start = None if previous is None else start_of(here[-1].labels, n_clusters)
            outcome = vote(
                electors,
                numbered(kinds[voting]),
                here,
                n_clusters=n_clusters,
                n_members=n_members,
                n_neighbours=n_neighbours,
                alpha=float(self.alpha),
                start=start,
                are_landmarks=self.landmarks_ is not None,
                seed=seed,
                engine=engine,
            )
            numbers = outcome.labels
            self.state_ = outcome.state
        source = np.full(views.n_items, -1, dtype=np.intp)
        source[everyone] = representatives(kinds, voting)
        self._store(views, numbers, source, outcome)
        return given

    def predict(self, X: Any) -> Places:
        """The cluster of each new item, by the votes it would have had; -1 for items that lack every view."""
        views = self._new_views(X)
        rows = np.flatnonzero(items_with_views(views))
        labels = np.full(views.n_items, -1, dtype=np.intp)
        if rows.size:
            with workers(self.n_jobs) as threads:
                placed, points = place_items(Fitted.of(self), views[rows], threads)
                labels[rows] = placed.labels
                if (level := getattr(self, "level_", None)) is not None and "vectors" in self.state_:
                    labels[rows] = place_in_level(self.levels_, self.state_, labels[rows], points, level, threads)
                elif level is not None:
                    labels[rows] = level_nodes(self.levels_, level)[placed.leaves]
        return labels

    def cut(self, n_clusters: int) -> Places:
        """The labels of the fitted items at a coarser or finer level: so many clusters, -1 for items in none.

        Levels are nested. Coarser ones come of merging the clusters with the strongest links between their items, down
        to 2; finer ones of splitting, up to three times the number of the fit, where every part has three items.
        """
        check_is_fitted(self)
        return cut_levels(self.levels_, check_number("n_clusters", n_clusters, integer=True, low=1))

    @property
    def level_range_(self) -> tuple[int, int]:
        """The smallest and the largest number of clusters that ``cut`` can give."""
        check_is_fitted(self, "levels_")
        return level_range(self.levels_)

    def at_level(self, n_clusters: int) -> ConsensusClustering:
        """A copy whose clusters, also in ``predict``, are those of ``cut``; it has no ``cluster_centers_``."""
        other = copy(self)
        other.labels_ = self.cut(n_clusters)
        other.n_clusters_ = int(n_clusters)
        other.cluster_sizes_ = np.bincount(other.labels_[other.labels_ >= 0], minlength=other.n_clusters_)
        other.level_ = other.n_clusters_
        other.__dict__.pop("cluster_centers_", None)
        return other

    def _learn_points(self, views: Views, n_clusters: int, threads: Workers) -> Points:
        """Scale every view; those that cannot act are named in a warning and left out."""
        with step("views"):
            prepared = prepare(views, self.scale, threads, n_clusters)
        self.scaling_agreement_, self.view_scalings_ = prepared.agreement, prepared.chosen
        self.active_views_ = prepared.acting
        acts = {name for name, _ in self.active_views_}
        self.scalings_ = {name: prepared.spaces[name] for name in views.names if name in acts}
        for name in views.names:
            if name not in acts:
                is_there = prepared.speaking[name].any()
                why = "is the same for every item" if is_there else "holds nothing that two items share"
                warnings.warn(f"view {name!r} {why}; it has no vote.", ViewWarning, stacklevel=outside())
            elif self.verbose and self.scale == "rank" and same_row_sums(views[name], views.present(name)):
                say(f"  rows of view {name!r} all have the same sum; scale='minmax' may suit proportions better")
        with step("say of the views"):
            says = self._weigh(views, prepared, n_clusters, threads)
        parts = [(prepared.points[name], prepared.speaking[name]) for name, _ in self.active_views_]
        has = present_in(views[[name for name, _ in self.active_views_]])
        return points_of(self.active_views_, views.n_items, parts, threads, says, has=has)

    def _weigh(self, views: Views, prepared: Prepared, n_clusters: int, threads: Workers) -> Floats:
        """How much say the views that vary have; a warning where they tell different stories."""
        found = view_says(views, prepared, n_clusters, threads)
        names = [name for name, _ in self.active_views_]
        self.says_ = dict(zip(names, found.weights.tolist(), strict=True))
        self.view_agreement_ = {
            name: {other: float(found.agreement[a, b]) for b, other in enumerate(names) if b != a}
            for a, name in enumerate(names)
        }
        self.view_weights_ = np.array([self.says_.get(name, 0.0) for name in views.names])
        if not self.view_weights_.any():  # no view says anything: all items are alike
            self.view_weights_[:] = 1.0
        self.view_weights_ /= self.view_weights_.sum()
        self.views_disagree_ = bool(found.apart)
        for group in found.apart:
            apart = [names[v] for v in group]
            warnings.warn(different_stories(apart, self.view_agreement_), ViewWarning, stacklevel=outside())
        return found.weights

    def _store(self, views: Views, numbers: Places, source: Places, outcome: Outcome | None) -> None:
        """Results for all items from those of the ones that voted; ``source`` says who stands for whom (-1: nobody)."""
        placed = source >= 0
        self.labels_ = np.full(views.n_items, -1, dtype=np.intp)
        self.labels_[placed] = numbers[source[placed]]
        self.n_clusters_ = int(numbers.max()) + 1
        self.cluster_sizes_ = np.bincount(self.labels_[placed], minlength=self.n_clusters_)
        self.cluster_centers_ = views.means(self.labels_, self.n_clusters_)
        self.level_: int | None = None  # predict answers at the level of the fit
        if outcome is None:
            self.levels_ = single_level(self.labels_)
        else:
            leaves = np.full(views.n_items, -1, dtype=np.int32)
            leaves[placed] = outcome.levels["leaves"][source[placed]]
            self.levels_ = {**outcome.levels, "leaves": leaves}
        labels = np.empty((numbers.size, 0), dtype=np.int16) if outcome is None else outcome.member_labels
        self.member_labels_ = np.full((views.n_items, labels.shape[1]), -1, dtype=labels.dtype)
        self.member_labels_[placed] = labels[source[placed]]
        self.member_sizes_ = np.empty(0, dtype=np.intp) if outcome is None else outcome.member_sizes
        self.eigenvalues_ = np.empty(0) if outcome is None else outcome.eigenvalues
        self.association_ = 1.0 if outcome is None else outcome.association
        self.candidate_ = "" if outcome is None else outcome.candidate
        self.modularity_ = 0.0 if outcome is None else outcome.modularity
        shares = {} if outcome is None else outcome.shares
        self.view_shares_ = {name: shares.get(name, 0.0) for name in views.names}
        self.joined_share_ = shares.get(None, 0.0)

    def _place_rest(
        self,
        views: Views,
        has_any: NDArray[np.bool_],
        landmarks: Places,
        given: list[NDArray[np.int32]],
        tick: Any,
        engine: Engine,
    ) -> None:
        """Results for all items from those of the landmarks, which are stored."""
        small = {"labels": self.labels_, "leaves": self.levels_["leaves"], "members": self.member_labels_}
        found = {name: np.full((views.n_items, *part.shape[1:]), -1, part.dtype) for name, part in small.items()}
        for name, part in small.items():
            found[name][landmarks] = part
        rest = has_any.copy()
        rest[landmarks] = False
        width, n_members = sum(self.n_features_per_view_.values()), small["members"].shape[1]
        row_bytes = 24.0 * (self.n_clusters_ + width) + 8.0 * n_members
        seconds = seconds_to_place(shape_of(views), n_members) * float(rest.mean())
        done = 0
        for items, placed in place_rest(Fitted.of(self), views, rest, given, row_bytes, seconds, engine):
            here = rest[items]
            found["labels"][items][here] = placed[here, 0]
            found["leaves"][items][here] = placed[here, 1]
            found["members"][items][here] = placed[here, 2:]
            done += int(here.sum())
            tick(done)
        self.labels_, self.member_labels_ = found["labels"], found["members"]
        self.levels_ = {**self.levels_, "leaves": found["leaves"]}
        self.cluster_sizes_ = np.bincount(self.labels_[self.labels_ >= 0], minlength=self.n_clusters_)
        self.cluster_centers_ = views.means(self.labels_, self.n_clusters_)
