"""Fusion ART with tag probabilities and adaptive channel weights (GHF-ART)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ...data.checks import as_generator, check_number
from ...data.parameters import RUNNING, Choice, Constraints, Either, Flag, Given, Number, check_parameters
from ...data.views import Views
from ...errors import ParameterError
from ...types import Places
from ..base import items_with_views, say
from ._field import (
    empty_field,
    field_of,
    found_groups,
    learn_rows,
    make_rules,
    place_items,
    set_reach,
    state_of,
    without_deserted,
)
from ._merge import absorb, check_alike
from ._reader import Reader
from ._results import FieldResults
from ._state import FREE, SKIP
from .settings import (
    check_bounds,
    check_groups,
    check_kinds,
    check_shares,
    check_tags,
    check_vigilance,
    data_bounds,
    large_enough,
    warn_silent_views,
)

__all__ = ["FusionART"]


_TRACKING = {None: 0, "printed": 1, "monotone": 2}


class FusionART(ClusterMixin, FieldResults):
    """Cluster a stream of items by several channels at once, in one pass, opening clusters as they are needed.

    Each item joins the cluster it resembles most, if it resembles it enough in every channel (``vigilance``); if
    there is none, it opens one. Content channels keep a box around what their members have in common, tag channels
    the probability of each tag. Channels whose members scatter less get a larger say. Choose it where items keep
    arriving, where the number of clusters is not known, where tags are sparse, or where a person has begun
    to sort: the old data are never needed again.

    Parameters
    ----------
    vigilance : float, list of floats or dict, default=0.1
        How well an item must match a cluster in each channel, between 0 and 1 (the paper's rho). A dict gives
        numbers by view, or for all views of a kind under "content" and "tags"; a view's own name comes first.
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
    random_state : None, int or numpy Generator
    n_jobs : None or int
        Threads of ``predict``; learning is sequential. The result does not depend on it.
    verbose : int, default=0

    Attributes
    ----------
    labels_ : ndarray (n_items,), of the last ``fit`` or ``partial_fit``; -1 for items that lack every view
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

    _constraints: ClassVar[Constraints] = {
        "vigilance": Given("a number from 0 to 1 for each view"),
        "choice": Number(low=0, low_open=True),
        "learning_rate": Number(low=0, high=1, low_open=True),
        "channels": Given("'auto' or a dict of view name to 'content' or 'tags'"),
        "contributions": Given("'adaptive' or a number for each view"),
        "tag_learning": Choice("probability", "fuzzy"),
        "match_tracking": Choice(*_TRACKING),
        "novelty": Flag(),
        "min_size": Either(Number(low=0, low_open=True), Choice(None)),
        "epochs": Number(integer=True, low=1),
        "shuffle": Flag(),
        "bounds": Given("None, or the lowest and highest value of content views"),
        **RUNNING,
    }
    checks_not_applicable: ClassVar[Mapping[str, str]] = {
        "check_row_order": "items are learned one after another, so their order is part of the method",
        "check_as_many_clusters_as_items": "the number of clusters follows from the vigilance and cannot be set",
    }
    _prune: ClassVar[bool] = True

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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> FusionART:
        """Forget everything and learn ``X`` in ``epochs`` passes.

        ``y`` holds a person's groups: one integer per item with -1 for unknown, lists of ids, or a dict of such
        lists. Each group opens a cluster at the mean of its members, who keep it; new clusters remain possible.
        """
        views = self._fit_views(X)
        self._check_parameters()
        self._start(views, from_data=True)
        has_any = items_with_views(views)
        rng = as_generator(self.random_state)
        reader = Reader(views, self._layout())
        labels, forced = self._take_groups(y, views, reader)
        forced[~has_any] = SKIP
        field, rules = self._open_field(reader)
        previous, spills = None, None
        if self.epochs > 1:
            spills = np.zeros((views.n_items, reader.channels.n_channels))
        for epoch in range(1, int(self.epochs) + 1):
            order = rng.permutation(views.n_items) if self.shuffle else None
            before = labels.copy()
            field = self._learn(
                field, learn_rows(field, rules, reader, order, forced, labels, previous, spills), labels
            )
            if self.verbose:
                moved = int((labels != before).sum())
                say(f"epoch {epoch} of {self.epochs}: {int(field.tally[0])} clusters, {moved} labels changed")
            self.n_iter_ = epoch
            field = without_deserted(field, labels)
            self._keep(field, labels)
            if epoch > 1 and np.array_equal(before, labels):
                break
            previous = np.where(forced == FREE, labels, -1)
        warn_silent_views(self.field_, reader.channels, views)
        if self.min_size is not None:
            allowed = large_enough(self.field_, self.min_size, warn=True)
            found = place_items(field, rules, reader, allowed, False, self.n_jobs)
            labels = np.where((forced == FREE) & has_any, found, labels)
        self.labels_ = labels.astype(np.intp)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> FusionART:
        """Learn more items, in the order they come; the first call starts an empty field.

        Any cut of the same rows into calls gives the same state, bit for bit. A group of ``y`` that is new opens a
        cluster at the mean of those of its members that are in this call, before anything else; members of
        a group that is known join its cluster, whatever the vigilance says.
        """
        first = not hasattr(self, "field_")
        views = self._fit_views(X) if first else self._new_views(X)
        self._check_parameters()
        if first:
            self._start(views, from_data=False)
        check_tags(views, self.channels_)
        has_any = items_with_views(views)
        reader = Reader(views, self._layout())
        labels, forced = self._take_groups(y, views, reader)
        forced[~has_any] = SKIP
        field, rules = self._open_field(reader)
        self._learn(field, learn_rows(field, rules, reader, None, forced, labels), labels)
        self.n_iter_ = 1
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Places:
        """Learn ``X`` and give each item's label."""
        return self.fit(X, y).labels_

    def predict(self, X: Any) -> Places:
        """The cluster of the largest choice value for each item; prototypes stay as they are.

        Views that are absent are skipped. With ``novelty=True`` items that match no cluster get -1.
        """
        views = self._new_views(X)
        check_tags(views, self.channels_)
        has_any = items_with_views(views)
        reader = Reader(views, self._layout())
        field, rules = self._open_field(reader)
        allowed = large_enough(self.field_, self.min_size)
        labels = place_items(field, rules, reader, allowed, bool(self.novelty), self.n_jobs)
        labels[~has_any] = -1
        return labels.astype(np.intp)

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

    def _check_parameters(self) -> None:
        check_parameters(self)
        check_shares(self.contributions, self.view_names_)

    def _start(self, views: Views, from_data: bool) -> None:
        """An empty field for these views, with the bounds of the data or those to begin a stream with."""
        self.channels_ = check_kinds(self.channels, views)
        check_vigilance(self.vigilance, self.channels_)
        check_tags(views, self.channels_)
        if isinstance(self.bounds, Mapping):
            for name in self.bounds:
                if self.channels_.get(name) != "content":
                    raise ParameterError(f"bounds names {name!r}, which is not a content view.")
        channels, bounds = self._layout(), []
        for v, name, width in zip(channels.views, channels.names, channels.widths, strict=True):
            if self.channels_[name] == "tags":
                continue
            given = check_bounds(self.bounds, name, width)
            if given is None:
                whole = data_bounds(views[name], views.mask[:, v]) if from_data else None
                given = (np.zeros(width), np.ones(width)) if whole is None else whole
            bounds.append(given)
        shares = np.full(channels.n_channels, 1.0 / channels.n_channels)
        self.groups_ = []
        self.tag_learning_ = self.tag_learning
        self._keep(empty_field(channels, bounds, shares), np.empty(0))

    def _open_field(self, reader: Reader | None) -> tuple[Any, Any]:
        """The field with room to grow, and the settings of now."""
        field = getattr(self, "_open", None)
        if field is None or field.tally is not self.field_["tally"]:
            field = field_of(self.field_)
        fixed = check_shares(self.contributions, self.view_names_)
        channels = self._layout()
        if fixed is not None:
            field.shares[:] = channels.in_channel_order(fixed)
        rules = make_rules(
            channels,
            channels.in_channel_order(check_vigilance(self.vigilance, self.channels_)),
            self.choice,
            self.learning_rate,
            adaptive=fixed is None,
            fuzzy=self.tag_learning_ == "fuzzy",
            tracking=_TRACKING[self.match_tracking],
            most_tags=0 if reader is None else reader.most_tags,
            prune=self._prune,
        )
        set_reach(field, rules)
        return field, rules

    def _learn(self, field: Any, fields: Iterator[Any], labels: NDArray[np.int64]) -> Any:
        """Run through a stretch of learning; what was learned is kept even if something stops it half-way."""
        try:
            for latest in fields:
                field = latest
        finally:
            self._keep(field, labels)
        return field

    def _keep(self, field: Any, labels: NDArray[Any]) -> None:
        self._open = field
        self.field_ = state_of(field)
        self.labels_ = labels.astype(np.intp, copy=False)
        self.n_clusters_ = int(field.tally[0])
        self.contributions_ = self._layout().in_view_order(field.shares)
        self.view_weights_ = self.contributions_

    def _take_groups(self, y: Any, views: Views, reader: Reader) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Open clusters for groups that are new; labels of their members, and which items are not free."""
        labels = np.full(views.n_items, -1, dtype=np.int64)
        forced = np.full(views.n_items, FREE, dtype=np.int64)
        has_any = views.mask.any(axis=1)
        groups = {name: rows[np.asarray(has_any)[rows]] for name, rows in check_groups(y, views).items()}
        new = {name: rows for name, rows in groups.items() if name not in self.groups_ and rows.size}
        numbers = {self.groups_.index(name): rows for name, rows in groups.items() if name in self.groups_}
        for number, rows in numbers.items():
            forced[rows] = int(np.flatnonzero(self.field_["group"] == number)[0])
        if new:
            field, rules = self._open_field(reader)
            first = len(self.groups_)
            field = found_groups(field, rules, reader, {first + at: rows for at, rows in enumerate(new.values())})
            self.groups_ = [*self.groups_, *new]
            self._keep(field, labels)
            for at, rows in enumerate(new.values()):
                labels[rows] = int(np.flatnonzero(self.field_["group"] == first + at)[0])
                forced[rows] = SKIP
        return labels, forced
