"""Fusion ART with tag probabilities and adaptive channel weights (GHF-ART)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ...data.checks import as_generator, check_number
from ...data.chunks import cut_like
from ...data.parameters import RUNNING, Choice, Constraints, Either, Flag, Given, Number
from ...data.views import Views
from ...engines.choice import working
from ...engines.filing import views_in_files
from ...errors import ParameterError
from ...types import Places
from ..base import items_with_views
from ._field import learn_rows
from ._growing import TRACKING, GrowingField
from ._merge import absorb, check_alike
from ._reader import Reader
from ._shards import Shards
from ._state import SKIP
from ._vigilance import USUAL, find_vigilance
from .seen import Seen
from .settings import check_groups, check_tags, large_enough, warn_one_for_all, warn_silent_views

__all__ = ["FusionART"]


class FusionART(ClusterMixin, GrowingField):
    """Cluster a stream of items by several channels at once, in one pass, opening clusters as they are needed.

    Each item joins the cluster it resembles most, if it resembles it enough in every channel (``vigilance``); if
    there is none, it opens one. Content channels keep a box around what their members have in common, tag channels
    the probability of each tag. Channels whose members scatter less get a larger say. Choose it where items keep
    arriving, where the number of clusters is not known, where tags are sparse, or where a person has begun
    to sort: the old data are never needed again.

    Parameters
    ----------
    vigilance : float, list of floats, dict or "auto", default=0.1
        How well an item must match a cluster in each channel, between 0 and 1 (the paper's rho). A dict gives
        numbers by view, or for all views of a kind under "content" and "tags"; a view's own name comes first.
        "auto" makes a rule of the paper's reason for its own: ``fit`` tries up to 12 for the tags and takes the largest
        at which at most 2 % of the items are in clusters of less than 1 %, 0.1 where there is none.
    choice : float, default=0.01
        Favours narrow prototypes among equals (alpha).
    learning_rate : float, default=0.6
        How far a content prototype moves towards what it has in common with a new member (beta).
    channels : "auto" or dict of view name to "content" or "tags", default="auto"
        Sparse views of nothing but 0 and 1 are tags, all others content. A dict need not name every view.
    contributions : "adaptive", numbers or a dict of numbers, default="adaptive"
        The say of each view (gamma): learned from the scatter inside clusters, or fixed.
    tag_learning : "probability" or "fuzzy", default="probability"
        "fuzzy" lets absent tags fade, as the classic Fusion ART does.
    match_tracking : None, "monotone" or "printed", default=None
        Raise the vigilance after each cluster that fails for an item. "printed" is the paper's rule as it stands,
        which mostly lowers it; it is here for comparison.
    novelty : bool, default=False
        Whether ``predict`` answers -1 for items that match no cluster.
    min_size : None, int or float, default=None
        If given, ``fit`` ends with a second look at every item, and only clusters of at least so many members (a
        float below 1: such a share of all) take part, there and in ``predict``. A person's groups always do.
    epochs : int, default=1
        How often ``fit`` presents the data; later epochs take an item out of its cluster first.
    shuffle : bool, default=True
        Whether ``fit`` presents items in a random order. Results depend on the order; never trust that of a file.
    bounds : None, (low, high) or dict of view name to (low, high), default=None
        The range of content features. Without it ``fit`` takes the range of its data, and ``partial_fit`` on an
        empty field starts at 0 and 1. Bounds widen when a value falls outside, and prototypes are rescaled.
    shards : None or int, default=None
        If given, ``fit`` cuts the items into so many parts, one after the other, clusters each by itself, and merges
        what came out (``merge``). An approximation that can be spread: over threads, or by ``manyview.on`` over
        the workers of a cluster. The result depends on ``shards``, never on who works.
    random_state : None, int or numpy Generator
    n_jobs : None or int
        Threads of ``predict`` and of ``shards``; learning is sequential. The result does not depend on it.
    verbose : int, default=0

    Attributes
    ----------
    labels_ : ndarray (n_items,), of the last ``fit`` or ``partial_fit``; -1 for items that lack every view; a Dask
        array where a view was one
    n_clusters_ : int, clusters there are, whatever ``min_size`` is
    contributions_, view_weights_ : ndarray (n_views,), the say of each view, summing to 1
    contributions_history_ : ndarray (at most 1024, n_views), thinned out evenly as the stream goes on
    history_items_ : ndarray, after how many presentations each row of the history was taken
    cluster_centers_ : dict of view name to the middle of each box, or to a CSR matrix of tag probabilities
    cluster_boxes_ : dict of content view to (low, high), each (n_clusters, n_features), in the units of the input
    cluster_sizes_ : ndarray (n_clusters,)
    scatter_ : ndarray (n_clusters, n_views), the paper's Difference D; exact for tags, a close upper bound for content
    bounds_ : dict of content view to (low, high) as they are now
    channels_ : dict of view name to "content" or "tags"
    tag_vigilance_ : float, what "auto" found
    groups_ : list, the person's groups in the order of their clusters
    n_iter_ : int, epochs done
    field_ : dict of arrays, the complete state

    Notes
    -----
    An item costs ``O(J |tags| + (e + 1) d)`` for J clusters, d content features and the few clusters e whose
    content must be looked at; without tags to rule clusters out, e is up to J. Memory is O(J (2 d + n_tags)) and one
    block of rows, however long the stream: members are not stored.

    ``partial_fit`` gives the same state, bit for bit, however the same rows are cut into calls. An item without
    tags matches every cluster's tags; a missing view is skipped.

    L. Meng, A.-H. Tan, D. Xu, "Semi-supervised heterogeneous fusion for multimedia data co-clustering", IEEE TKDE
    26(9), 2014, with the Difference of tag channels, the update for new clusters and match tracking put right.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from manyview import FusionART
    >>> looks = np.array([[0.1, 0.9], [0.2, 0.8], [0.9, 0.1]])
    >>> tags = csr_matrix([[1, 1, 0], [1, 0, 0], [0, 0, 1]])
    >>> model = FusionART(shuffle=False).partial_fit({"looks": looks, "tags": tags})
    >>> model.labels_
    array([0, 0, 1])
    >>> model.partial_fit({"looks": looks[:1], "tags": tags[:1]}).cluster_sizes_
    array([3, 1])
    """

    _takes_chunks: ClassVar[bool] = True
    _constraints: ClassVar[Constraints] = {
        "vigilance": Given("a number from 0 to 1 for each view, or 'auto'"),
        "choice": Number(low=0, low_open=True),
        "learning_rate": Number(low=0, high=1, low_open=True),
        "channels": Given("'auto' or a dict of view name to 'content' or 'tags'"),
        "contributions": Given("'adaptive' or a number for each view"),
        "tag_learning": Choice("probability", "fuzzy"),
        "match_tracking": Choice(*TRACKING),
        "novelty": Flag(),
        "min_size": Either(Number(low=0, low_open=True), Choice(None)),
        "epochs": Number(integer=True, low=1),
        "shuffle": Flag(),
        "bounds": Given("None, or the lowest and highest value of content views"),
        "shards": Either(Number(integer=True, low=1), Choice(None)),
        **RUNNING,
    }
    checks_not_applicable: ClassVar[Mapping[str, str]] = {
        "check_row_order": "items are learned one after another, so their order is part of the method",
        "check_as_many_clusters_as_items": "the number of clusters follows from the vigilance and cannot be set",
    }

    def __init__(
        self,
        vigilance: Any = 0.1,
        *,
        choice: float = 0.01,
        learning_rate: float = 0.6,
        channels: Any = "auto",
        contributions: Any = "adaptive",
        tag_learning: str = "probability",
        match_tracking: str | None = None,
        novelty: bool = False,
        min_size: float | None = None,
        epochs: int = 1,
        shuffle: bool = True,
        bounds: Any = None,
        shards: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.vigilance = vigilance
        self.choice = choice
        self.learning_rate = learning_rate
        self.channels = channels
        self.contributions = contributions
        self.tag_learning = tag_learning
        self.match_tracking = match_tracking
        self.novelty = novelty
        self.min_size = min_size
        self.epochs = epochs
        self.shuffle = shuffle
        self.bounds = bounds
        self.shards = shards
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> FusionART:
        """Forget everything and learn ``X`` in ``epochs`` passes.

        ``y`` holds a person's groups: one integer per item with -1 for unknown, lists of ids, or a dict of such
        lists. Each group opens a cluster at the mean of its members, who keep it; new clusters remain possible.
        """
        given = self._fit_views(X)
        self._check_parameters()
        with working(self.n_jobs) as engine:
            # Learned in one piece, items come in any order: Dask arrays are then read from files.
            views = given if self.shards is not None else views_in_files(given, engine)
            self._start(Seen(views, engine), from_data=True)
            if self._is_auto() and "tags" in self.channels_.values():
                self.tag_vigilance_ = find_vigilance(self, views, y)
            free = items_with_views(views)
            groups, rng = check_groups(y, views), as_generator(self.random_state)
            parts = None if self.shards is None else Shards(views, int(self.shards), engine)
            labels = self._grow(views, groups, rng) if parts is None else parts.grow(self, groups, rng)
            warn_silent_views(self.field_, self._layout(), views)
            if self.min_size is not None:
                allowed = large_enough(self.field_, self.min_size, warn=True)
                found = self._placed(views, allowed) if parts is None else parts.place(self, allowed)
                for rows in groups.values():
                    free[rows] = False
                labels = np.where(free, found, labels)
        if isinstance(self.vigilance, float) and self.vigilance == USUAL:
            warn_one_for_all(labels, self.channels_, views)
        self.labels_ = cut_like(given, labels.astype(np.intp))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> FusionART:
        """Learn more items, in the order they come; the first call starts an empty field.

        Any cut of the same rows into calls gives the same state, bit for bit. A group of ``y`` that is new opens a
        cluster at the mean of those of its members that are in this call, before anything else; members of
        a group that is known join its cluster, whatever the vigilance says.
        """
        first = not hasattr(self, "field_")
        if first and self._is_auto():
            raise ParameterError("vigilance='auto' looks at all items: call fit before partial_fit, or give a number.")
        given = self._fit_views(X) if first else self._new_views(X)
        self._check_parameters()
        with self._within_reach(given) as views:
            seen = Seen(views)
            if first:
                self._start(seen, from_data=False)
            check_tags(seen, self.channels_)
            has_any = items_with_views(views)
            reader = Reader(views, self._layout())
            labels, forced = self._take_groups(check_groups(y, views), views, reader)
            forced[~has_any] = SKIP
            field, rules = self._open_field(reader)
            self._learn(field, learn_rows(field, rules, reader, None, forced, labels), labels)
        self.labels_, self.n_iter_ = cut_like(given, self.labels_), 1
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Places:
        """Learn ``X`` and give each item's label."""
        return self.fit(X, y).labels_

    def predict(self, X: Any) -> Places:
        """The cluster of the largest choice value for each item; prototypes stay as they are.

        Views that are absent are skipped. With ``novelty=True`` items that match no cluster get -1.
        """
        views = self._new_views(X)
        has_any = items_with_views(views)
        allowed, novelty = large_enough(self.field_, self.min_size), bool(self.novelty)
        if views.in_chunks:
            with working(self.n_jobs) as engine:
                check_tags(Seen(views, engine), self.channels_)
                n_parts = len(views[views.in_chunks[0]].chunks[0])
                labels = Shards(views, n_parts, engine).place(self, allowed, novelty)
        else:
            check_tags(Seen(views), self.channels_)
            labels = self._placed(views, allowed, novelty)
        labels[~has_any] = -1
        return cut_like(views, labels.astype(np.intp))

    @contextmanager
    def _within_reach(self, views: Views) -> Iterator[Views]:
        """Views whose rows can be read in any order: Dask arrays from files, for so long."""
        if not views.in_chunks:
            yield views
            return
        with working(self.n_jobs) as engine:
            yield views_in_files(views, engine)

    def merge(self, other: FusionART, *, tag_vigilance: float | None = None) -> Places:
        """Absorb the clusters of another model, grown on other items, largest first.

        Two clusters become one where each side's members match the other's tags by ``tag_vigilance`` on average
        (the vigilance of the channel if None) and the box around both passes the content vigilance. Clusters of
        two different groups of a person's stay apart; those of the same group join. Tag counts and
        their scatter are exact; content boxes are exact for ``learning_rate=1``, and their scatter stays an upper
        bound for any. O(J_self J_other d). The numbers of this model's clusters stay; ``labels_`` too.

        Returns the number that each cluster of ``other`` has here: ``merged[other.labels_]`` are its labels now.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        check_alike(self, other)
        if tag_vigilance is not None:
            tag_vigilance = check_number("tag_vigilance", tag_vigilance, low=0, high=1)
        field, rules = self._open_field(None)
        groups = list(self.groups_)
        field, numbers = absorb(field, rules, self._layout(), groups, other.field_, other.groups_, tag_vigilance)
        self.groups_ = groups
        self._keep(field, self.labels_)
        return numbers

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_open"}
