"""A forest that learns from sparse tags at several levels of abstraction (HML-RF)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.metadata_routing import UNUSED

from ...arrays import column_values
from ...blocks import Workers, workers
from ...data.checks import as_generator
from ...data.parameters import RUNNING, Choice, Constraints, Either, Flag, Given, Number
from ...data.tags import TagTable, as_tag_table
from ...data.views import Views
from ...errors import ViewError, ViewWarning
from ...figures import percent
from ...steps import still
from ..base import check_n_clusters, items_with_views, outside, say, warn_fewer, warn_idle
from ._bins import MAX_BINS, Bins, feature_quota, idle_views
from ._clusters import MOST_CLUSTERS, mean_codes, spectral_clusters
from ._leaf_size import find_leaf_size
from ._results import ForestResults, Labels
from ._soft_tags import soft_layers
from ._tag_layers import given_layers, induced_layers
from ._trees import Mates, grow_clustering_forest, grow_forest

__all__ = ["TagForest"]

_MIXED = 0.1
_TRIED = 100  # trees of a forest that is grown to try a size of leaves


class TagForest(ClusterMixin, ForestResults):
    """Cluster items by looks and sparse tags together, and score the tags they may lack (HML-RF).

    Trees split on the views' features; tags judge the splits, the abstract ones first, and a tag that is not there
    counts as unknown where the item's other tags speak for it. Items that end in the same leaves are alike. Choose it
    for dense features of pictures or text with few, incomplete tags each. Sparse 0/1 features split tags badly: a
    warning says so. Without tags it is a clustering forest (real items told from made-up ones).

    Parameters
    ----------
    n_clusters : None or int, default=None
        None takes the widest gap among the leading eigenvalues, up to 20 clusters.
    n_estimators : int, default=1000
        Trees (the paper's tau). Noise of the affinity falls with their square root.
    min_samples_leaf : int or "auto", default=3
        No leaf is smaller (phi). "auto" hides a fifth of the tags and takes, of 3, 5, 10 and 20, the size whose forest
        of up to 100 trees finds them again best; 3 where fewer than 20 tags can be hidden. Worth it where tags are few.
    min_samples_split : int, default=2
        Nodes of fewer items are leaves; twice ``min_samples_leaf`` is needed in any case.
    max_features : "sqrt", int, float or None, default="sqrt"
        Features tried per node (nu_try): root of all features, a number, a share, or all. Each view gets an equal
        part, at most its width and at least one.
    n_neighbors : int, default=20
        Neighbours kept per item in the graph, and asked for scores (kappa).
    hierarchy : None, TagHierarchy or list of layers, default=None
        None induces one from the tags; layers are lists of words, or of columns, most abstract first.
    n_layers : int, default=2
        Layers of an induced hierarchy (mu).
    use_hierarchy : bool, default=True
        False puts all tags in one layer: the paper's FlatTags. Best where specific tags tell most.
    use_correlations : bool, default=True
        Soft tags from co-occurrence and mutual exclusion. False is the paper's NoCorr.
    max_bins : int up to 255, or None, default=255
        Bins per feature. A feature with no more distinct values is cut between all of them. None keeps every cut-point
        of up to 65,535, for small data; slower.
    random_state : None, int or numpy Generator
    n_jobs : None or int
        Threads; None takes all cores. The result does not depend on it.
    verbose : int, default=0
        1 tells of progress, time and memory, on stderr.

    Attributes
    ----------
    labels_ : ndarray (n_items,), -1 for items that lack every view
    n_clusters_ : int
    cluster_centers_ : dict of view name to ndarray (n_clusters, n_features), means over the items that have the view
        (of all items where none of the cluster's has it)
    neighbors_ : CSR (n_items, n_items), the ``n_neighbors`` largest affinities of each item to others, largest first
    leaves_ : ndarray int32 (n_items, n_estimators), the leaf of each training item, -1 without views
    min_samples_leaf_ : int, what was used
    tag_names_ : list of str
    layers_ : list of ndarray, columns of the tags in each layer, most abstract first
    tags_, refused_ : CSR (n_items, n_tags), what was known in ``fit``: yes and no
    eigenvalues_ : ndarray, those of the graph that were looked at
    mixed_share_ : float, share of item places in large leaves whose tags no feature could tell apart
    forest_, bins_ : dict of ndarray, the nodes of all trees and the cut-points of all features

    Notes
    -----
    A tree takes O(nu n depth tags_per_item); the affinity O(n tau leaf_size). In ``fit`` memory is one byte per item
    and feature (codes); 8 bytes per item and tree and 17 per node (one for about every two items), of which the members
    of the leaves, 4 per item and tree, go before the clusters are looked for; 40 bytes per item and cluster for the
    eigenvectors; the graph, about 500 bytes an item at 20 neighbours; and a block. A model keeps 4 bytes per item and
    tree, and 17 per node. Nothing of n_items x n_items is made. Leaves have at most 2,000 items: larger pure nodes are
    halved on random features. Items that lack a view follow the side training learned, or both sides in proportion.
    There is no bootstrap: tags reach the affinity through the leaves of the items themselves, so scores of training
    items leave the item out instead.

    J. Wang, X. Zhu, S. Gong, "Discovering visual concept structure with sparse and incomplete tags", Artificial
    Intelligence 250, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import TagForest
    >>> rng = np.random.default_rng(0)
    >>> looks = rng.normal(size=(40, 5)) + 4 * (np.arange(40) % 2)[:, None]
    >>> tags = [["cat", "pet"] if i % 2 else ["oak"] for i in range(40)]
    >>> model = TagForest(n_clusters=2, n_estimators=50, random_state=0).fit(looks, tags)
    >>> bool(model.labels_[0] == model.labels_[2]), bool(model.labels_[0] == model.labels_[1])
    (True, False)
    >>> model.tag_names_, model.tag_scores(looks[:1], method="affinity").round(2).tolist()
    (['cat', 'oak', 'pet'], [[0.0, 1.0, 0.0]])
    """

    __metadata_request__fit: ClassVar[dict[str, str]] = {"tags": UNUSED}  # pipelines give it as y
    _constraints: ClassVar[Constraints] = {
        "n_clusters": Either(Number(integer=True, low=1), Choice(None)),
        "n_estimators": Number(integer=True, low=1, high=65_535),
        "min_samples_leaf": Either(Number(integer=True, low=1), Choice("auto")),
        "min_samples_split": Number(integer=True, low=2),
        "max_features": Either(Number(integer=True, low=1), Number(low=0, high=1, low_open=True), Choice("sqrt", None)),
        "n_neighbors": Number(integer=True, low=1),
        "hierarchy": Given("a TagHierarchy, layers of tags, or None"),
        "n_layers": Number(integer=True, low=1),
        "use_hierarchy": Flag(),
        "use_correlations": Flag(),
        "max_bins": Either(Number(integer=True, low=2, high=MAX_BINS), Choice(None)),
        **RUNNING,
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_estimators: int = 1000,
        min_samples_leaf: int | Literal["auto"] = 3,
        min_samples_split: int = 2,
        max_features: Any = "sqrt",
        n_neighbors: int = 20,
        hierarchy: Any = None,
        n_layers: int = 2,
        use_hierarchy: bool = True,
        use_correlations: bool = True,
        max_bins: int | None = MAX_BINS,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.max_features = max_features
        self.n_neighbors = n_neighbors
        self.hierarchy = hierarchy
        self.n_layers = n_layers
        self.use_hierarchy = use_hierarchy
        self.use_correlations = use_correlations
        self.max_bins = max_bins
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, tags: Any = None) -> TagForest:
        """Grow the forest and find the clusters.

        ``tags``: a ``TagTable``, a 0/1 matrix, a list of words per item, or one label per item (each then is a tag;
        None and NaN are none). In a pipeline they are its ``y``.
        """
        views = self._fit_views(X)
        table = self._tag_table(tags, views.n_items)
        has_any = items_with_views(views)
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters, int(has_any.sum()))
        elif not has_any.any():
            raise ViewError("every item lacks every view; there is nothing to learn from.")
        rng = as_generator(self.random_state)
        seeds = rng.integers(2**31, size=3)
        with workers(self.n_jobs) as threads:
            self.min_samples_leaf_ = self._leaf_size(views, table, rng, threads)
            self._learn(views, table, seeds, threads)
            mates = Mates(self.leaves_, self.forest_["leaf_start"], threads)
            self.neighbors_ = mates.nearest(int(self.n_neighbors), threads)
        del mates  # as large as the leaves; made again in a moment where somebody asks
        for name in idle_views(views, self._bins()):
            warn_idle(name, views.mask[:, views.position(name)], "no tree asks it")
        self._warn_of_mixed_leaves()
        self._cluster(views, has_any, int(seeds[2]))
        self._mates, self._views = [], views  # for scores; not saved
        return self

    def fit_predict(self, X: Any, tags: Any = None) -> Labels:
        """Grow the forest and give each item's cluster."""
        return self.fit(X, tags).labels_

    def _tag_table(self, tags: Any, n_items: int) -> TagTable:
        tags = column_values(tags)
        labels = tags.tolist() if isinstance(tags, np.ndarray) and tags.ndim == 1 else tags
        if isinstance(labels, (list, tuple)) and all(_is_missing(one) or np.isscalar(one) for one in labels):
            tags = [[] if _is_missing(label) else [str(label)] for label in labels]
        if tags is None:
            return TagTable.from_lists([[] for _ in range(n_items)])
        table = as_tag_table(tags, n_items)
        if table.yes.nnz == 0:
            warnings.warn(
                "no item carries any tag: items are clustered by their features alone.",
                ViewWarning,
                stacklevel=outside(),
            )
        return table

    def _layers(self, table: TagTable, seed: int) -> list[NDArray[np.intp]]:
        used = np.flatnonzero(table.yes.getnnz(axis=0))
        if not self.use_hierarchy or used.size == 0:
            return [used] if used.size else []
        if self.hierarchy is not None:
            return given_layers(table, self.hierarchy)
        groups = MOST_CLUSTERS if self.n_clusters is None else int(self.n_clusters)
        return induced_layers(table.yes, int(self.n_layers), groups, seed)

    def _leaf_size(self, views: Views, table: TagTable, rng: Any, threads: Workers) -> int:
        if self.min_samples_leaf != "auto":
            return int(self.min_samples_leaf)
        hiding, *seeds = rng.integers(2**31, size=3)
        fewer = {**self.get_params(), "n_estimators": min(_TRIED, int(self.n_estimators)), "verbose": 0}

        def scores(size: int, left: TagTable) -> Any:
            tried = TagForest(**fewer)
            tried.min_samples_leaf_ = size
            tried._learn(views, left, seeds, threads)
            return tried.tag_scores(method="leaf_frequency")

        size, recall = find_leaf_size(scores, table, int(hiding))
        if self.verbose:
            told = ", ".join(f"{share:.1%} with {tried}" for tried, share in recall.items())
            say(f"leaves of {size} items or more; hidden tags found again: {told or 'too few to tell'}")
        return size

    def _learn(self, views: Views, table: TagTable, seeds: Any, threads: Workers) -> None:
        """Layers and trees, with leaves of ``min_samples_leaf_``; no clusters yet."""
        self.tag_names_, self.tags_, self.refused_ = list(table.names), table.yes.copy(), table.no.copy()
        self.layers_ = self._layers(table, int(seeds[0]))
        items = np.flatnonzero(views.mask.any(axis=1)).astype(np.int32)
        self._grow(views, table, items, int(seeds[1]), threads)

    def _grow(self, views: Views, table: TagTable, items: Any, seed: int, threads: Workers) -> None:
        n_trees, widths = int(self.n_estimators), views.n_features
        if self.verbose:
            needed = views.n_items * (sum(widths.values()) * (1 if self.max_bins else 2) + 18 * n_trees)
            say(
                f"binning {sum(widths.values())} features, about {needed / 2**20:,.0f} MB; kernels compile on first use"
            )
        bins, codes = Bins.learn(views, self.max_bins, threads)
        layers = soft_layers(table, self.layers_, bool(self.use_correlations))
        settings: dict[str, Any] = {
            "seeds": [int(s.generate_state(1, np.uint64)[0]) for s in np.random.SeedSequence(seed).spawn(n_trees)],
            "min_leaf": self.min_samples_leaf_,
            "min_split": int(self.min_samples_split),
            "missing": bins.missing,
            "n_kept": views.n_items,
            "threads": threads,
            "report": _reporter(n_trees) if self.verbose else lambda: None,
        }
        view_start = np.concatenate([[0], np.cumsum(list(widths.values()))]).astype(np.int64)
        quota = feature_quota(self.max_features, widths, idle_views(views, bins))
        if layers:
            grown = grow_forest(codes, layers, items, quota, view_start, **settings)
        else:
            grown = grow_clustering_forest(codes, items, quota, view_start, **settings)
        forest, self.leaves_, self.mixed_share_ = grown
        self.forest_ = forest.state()
        self.bins_: dict[str, Any] = {"points": bins.points, "start": bins.start}
        self.mean_codes_ = codes  # replaced by means over clusters once there are some
        if self.verbose:
            say(f"{n_trees} trees of {forest.feature.size / n_trees:,.0f} nodes on average")

    def _warn_of_mixed_leaves(self) -> None:
        if self.layers_ and self.mixed_share_ > _MIXED:
            warnings.warn(
                f"{percent(self.mixed_share_)} of the items end in large leaves whose tags no feature tells apart: the "
                "views are too sparse or too unlike the tags for a forest. ConsensusClustering over views and tags "
                "does not need splits.",
                ViewWarning,
                stacklevel=outside(),
            )

    def _cluster(self, views: Views, has_any: Any, seed: int) -> None:
        """Normalised spectral clustering of the graph of nearest neighbours."""
        if self.verbose:
            say("eigenvectors of the graph of neighbours")
        wanted = None if self.n_clusters is None else int(self.n_clusters)
        given = (self.neighbors_, has_any, wanted, seed, self.n_jobs, self.leaves_)
        inside, found, self.eigenvalues_ = spectral_clusters(*given)
        kinds, found = np.unique(found, return_inverse=True)
        self.n_clusters_ = int(kinds.size)
        if wanted is not None:
            warn_fewer(kinds.size, wanted, "too many items share all their leaves.")
        self.labels_ = np.full(views.n_items, -1, dtype=np.intp)
        self.labels_[inside] = found
        codes = self.mean_codes_
        self.mean_codes_ = mean_codes(codes, self.labels_, self.n_clusters_, self._bins().missing)
        alone = np.flatnonzero(has_any & (self.labels_ < 0))
        if alone.size:
            self.labels_[alone] = self._nearest_centers(codes[:, alone])
        self.cluster_centers_ = views.means(self.labels_, self.n_clusters_)


def _is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ == "NAType" or (isinstance(label, float) and label != label)


def _reporter(n_trees: int) -> Callable[[], None]:
    """Tells of every tenth of the trees; the clock starts after the first, which may have compiled."""
    clock = {"done": 0, "started": 0.0}

    def report() -> None:
        clock["done"] += 1
        done = int(clock["done"])
        if done == 1:
            clock["started"] = time.perf_counter()
        elif done == n_trees or done * 10 // n_trees > (done - 1) * 10 // n_trees:
            each = (time.perf_counter() - clock["started"]) / (done - 1)
            left = still(each * (n_trees - done))
            say(f"tree {done} of {n_trees}, {1000 * each:,.1f} ms each{', ' * bool(left)}{left}")

    return report
